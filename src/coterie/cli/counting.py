"""Options that say which words of the texts count."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from coterie.errors import InputError

if TYPE_CHECKING:
    from coterie.corpus import Vectorizer

Command = TypeVar("Command", bound=Callable[..., Any])

_DROPPED = "urls,emails"
_MIN_DF, _MOST_WORDS = 2, 5

_OPTIONS = (
    click.option(
        "--stop-words",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Words to ignore, one on each line, besides those of the language. "
        'Each form is a word of its own: "card" leaves "cards".',
    ),
    click.option(
        "--drop",
        metavar="KINDS",
        default=_DROPPED,
        show_default=True,
        help="Kinds of words to ignore: urls, emails, numbers, hashtags, mentions, emoji; or none.",
    ),
    click.option(
        "--min-df",
        metavar="N",
        type=click.IntRange(1),
        default=_MIN_DF,
        show_default=True,
        help="Fewest texts in which a word must occur.",
    ),
    click.option(
        "--ngrams",
        metavar="N",
        type=click.IntRange(1, _MOST_WORDS),
        default=1,
        show_default=True,
        help='Longest sequence of words that counts as a term of its own; 2 also counts "credit card".',
    ),
)


def counting_options(command: Command) -> Command:
    """Add the options to a command; `vectorizer_of` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def vectorizer_of(
    language: Any, stop_words: Path | None, drop: str, min_df: int, ngrams: int
) -> Vectorizer | None:
    """What counts the words as asked for; None if nothing was asked for."""
    if stop_words is None and (drop, min_df, ngrams) == (_DROPPED, _MIN_DF, 1):
        return None
    from coterie.corpus import Vectorizer

    return Vectorizer(
        language,
        extra_stop_words=[] if stop_words is None else _words(stop_words),
        drop=_kinds(drop),
        min_df=min_df,
        ngrams=ngrams,
        fix_typos=True,
        skip_non_answers=True,
    )


def _words(file: Path) -> list[str]:
    """The words in a file; a line that begins with # is a remark."""
    from coterie.text import read_texts

    lines = [str(text).strip() for batch in read_texts(file, format="lines") for text in batch.texts]
    words = [line for line in lines if line and not line.startswith("#")]
    if phrases := [line for line in words if len(line.split()) > 1]:
        more = f" and {len(phrases) - 1:,} more" if len(phrases) > 1 else ""
        warnings.warn(
            f"{file}: {phrases[0][:60]!r}{more} have several words on a line and do nothing; "
            "put each word on a line of its own",
            stacklevel=2,
        )
    return words


def _kinds(names: str) -> Any:
    from coterie.text.tokens import Kind

    known = [kind for kind in get_args(Kind) if kind not in ("word", "unspaced")]
    singular = [name.strip().lower().removesuffix("s") for name in names.split(",") if name.strip()]
    if singular == ["none"]:
        return ()
    if wrong := [name for name in singular if name not in known]:
        plural = ", ".join(kind if kind == "emoji" else f"{kind}s" for kind in known)
        raise InputError(f"--drop must be none or some of {plural}; got {wrong[0][:60]!r}")
    return tuple(singular)
