"""Options of `coterie fit` that name topics beforehand."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from coterie.cli.shared import RenamedOption
from coterie.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])

#: Bytes of a file of predefined topics.
_LARGEST = 1 << 24

_OPTIONS = (
    click.option(
        "--seed-words", cls=RenamedOption, former="--seed", metavar='"NAME: WORD, WORD"', multiple=True,
        help="Name and words of a topic you expect; repeatable.",
    ),
    click.option(
        "--predefined", metavar="FILE", type=click.Path(path_type=Path),
        help="JSON or TOML file of topics you expect: for each name a list of words, a description, or an "
        "object with words, description and examples.",
    ),
    click.option(
        "--only-predefined", is_flag=True,
        help="Find no other topics than those of --predefined and --seed-words.",
    ),
)  # fmt: skip


def predefined_options(command: Command) -> Command:
    """Add the options to a command; `predefined_of` takes the first two."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def predefined_of(seed_words: tuple[str, ...], file: Path | None) -> dict[str, Any] | None:
    """Predefined topics: those of the file in their order, then those of --seed-words."""
    topics = {} if file is None else read_predefined(file)
    for name, words in _by_name(seed_words).items():
        if name in topics:
            raise InputError(f"{name!r} is in --predefined and in --seed-words; omit one")
        topics[name] = words
    return topics or None


def number_of_topics(n_topics: Any, predefined: dict[str, Any] | None, only: bool) -> Any:
    """The number of topics, which is that of predefined ones if only those are wanted."""
    if not only:
        return n_topics
    if predefined is None:
        raise InputError("--only-predefined needs topics; name them with --predefined or --seed-words")
    if n_topics not in ("auto", len(predefined)):
        raise InputError(
            f"--only-predefined finds {len(predefined)} topics, but --topics says {n_topics}; omit one"
        )
    return len(predefined)


def read_predefined(path: Path) -> dict[str, Any]:
    """The topics in a JSON or TOML file; what is said about each is checked by the fit."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check --predefined") from None
    if len(data) > _LARGEST:
        raise InputError(f"{path} has more than {_LARGEST:,} bytes, too many for a list of topics")
    kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
    try:
        text = data.decode("utf-8-sig")
        found = tomllib.loads(text) if kind == "TOML" else json.loads(text, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not {kind}: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(found, dict) or not found:
        raise InputError(f'{path} has no topics; it must look like {{"billing": ["invoice", "refund"]}}')
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which each key stands once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r:.100} is there twice")
    return found


def _by_name(options: tuple[str, ...]) -> dict[str, list[str]]:
    """Words by the name of their topic, from "name: word, word" or name=word,word."""
    by_name: dict[str, list[str]] = {}
    for option in options:
        name, separator, words = re.sub("[:=]", "\0", option, count=1).partition("\0")
        listed = [word for part in words.split(",") if (word := part.strip())]
        if not separator or not name.strip() or not listed:
            raise InputError(f'--seed-words must look like "billing: invoice, refund", got {option!r}')
        by_name.setdefault(name.strip(), []).extend(listed)
    return by_name
