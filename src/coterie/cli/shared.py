"""What commands have in common: options of input files, standard input, and output safe for terminals."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coterie.text import TextSource

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "lines")
_DELIMITERS = {"\\t": "\t", "tab": "\t"}
#: Columns of a page that is not a terminal: a table in a file or a pipe need not be folded for a screen.
_WIDE = 140
_LONGEST_CELL = 200


# --- options


def parts(values: Iterable[str]) -> list[str]:
    """What was given with commas or one by one.

    >>> parts(["10,20", " 30 "])
    ['10', '20', '30']
    """
    return [part for value in values for given in value.split(",") if (part := given.strip())]


def numbers(values: Iterable[str], option: str) -> list[int]:
    """Whole numbers given with commas or one by one to that option.

    >>> numbers(["10,20"], "--topics")
    [10, 20]
    """
    found = parts(values)
    for part in found:
        if not part.isdecimal():
            raise InputError(f"{option} must be whole numbers, got {part!r}")
    return [int(part) for part in found]


def _split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str]:
    return parts(values)


def _named_delimiter(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else _DELIMITERS.get(value, value)


def input_options(command: Decorated) -> Decorated:
    """Options that say how a file is read.

    The command gets `language`, a list, and text, skip_bad, format, encoding, delimiter and no_header: with
    ``**reading`` it takes these six together, for ``open_source(file, **reading)``.
    """
    options = [
        click.option(
            "--text", metavar="COLUMN", help="Column of the texts; not needed if it is the only one."
        ),
        click.option(
            "--language", metavar="NAME", multiple=True, default=["english"], show_default=True,
            callback=_split, help="Language of the texts; several with commas.",
        ),
        click.option(
            "--skip-bad", is_flag=True, help="Leave out rows that cannot be read, and say how many."
        ),
        click.option(
            "--format", type=click.Choice(_FORMATS), help="Format of the file; by default told from it."
        ),
        click.option("--encoding", metavar="NAME", help="Encoding of the file; by default told from it."),
        click.option(
            "--delimiter", metavar="CHARACTER", callback=_named_delimiter,
            help="Between the cells of a row; by default told from the file.",
        ),
        click.option(
            "--no-header", is_flag=True, help="The first row is data; columns are column_1, column_2 …"
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def json_option(command: Decorated) -> Decorated:
    """The option --json; the command gets `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)


# --- input


def open_source(
    file: str | Path,
    text: str | None = None,
    *,
    skip_bad: bool = False,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    no_header: bool = False,
) -> TextSource:
    """The texts of a file as the options of `input_options` say; "-" is standard input."""
    from coterie.text import read_texts

    if str(file) == "-":
        _hint_to_end_typing()
    return read_texts(
        file,
        text,
        format=format,  # type: ignore[arg-type]
        encoding=encoding,
        delimiter=delimiter,
        header=not no_header,
        skip_bad=skip_bad,
    )


@contextmanager
def spooled(file: str | Path) -> Iterator[Path]:
    """A file that can be read more than once: standard input ("-") is copied, and gone afterwards."""
    if str(file) != "-":
        yield Path(file)
        return
    _hint_to_end_typing()
    with TemporaryDirectory(prefix="coterie-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "stdin")
        with copy.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield copy
        except InputError as error:
            # whoever reads the message knows nothing of a copy
            raise InputError(str(error).replace(str(copy), "standard input")) from error


def _hint_to_end_typing() -> None:
    if sys.stdin.isatty():
        click.echo("coterie: reading texts from the keyboard; Ctrl-D ends them", err=True)


def told_skipped(source: TextSource) -> None:
    """Say on standard error how many rows of a source were left out, if any, and which was the first."""
    if not source.skipped:
        return
    rows = (
        "1 row could not be read and was"
        if source.skipped == 1
        else f"{source.skipped:,} rows could not be read and were"
    )
    click.echo(safe(f"{rows} left out; the first is {source.bad_rows[0]}"), err=True)


# --- output


@contextmanager
def whole_file(target: str | Path) -> Iterator[Path]:
    """A path to write to; when all went well the file appears as `target`, else nothing is left."""
    path = Path(target)
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} to; make it first")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        # the temporary name would tell a person nothing
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}; name another file, or make room there"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


# What a terminal would obey or hide: control characters, marks that turn the direction of writing, characters
# without width, and halves of characters that cannot be written. The joiners of emoji and Persian stay.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_BREAKS = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")


def safe(text: str, most: int | None = None) -> str:
    r"""A text on one line in which nothing commands the terminal; at most so many characters.

    Line ends and tabs become a space, other control characters and marks of direction their number.

    >>> safe("late\nparcel \x1b[2J\u202e")
    'late parcel \\x1b[2J\\u202e'
    >>> safe("where is my parcel", most=12)
    'where is my…'
    """
    if most is not None and len(text) > most:
        # the end goes first, so that a long text is not looked through for nothing
        text = text[: max(most - 1, 0)].rstrip() + "…"
    return _UNSAFE.sub(_number, _BREAKS.sub(" ", text))


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def console(stderr: bool = False) -> Console:
    """A console that leaves closed pipes to the end of the command, and is wide where there is no screen."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  # called where the exception is being handled

    plain = Plain(stderr=stderr, highlight=False)
    if not plain.is_terminal and "COLUMNS" not in os.environ:
        plain.width = _WIDE
    return plain


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str | None = None,
    caption: str | None = None,
    right: Iterable[str] = (),
    most: int = _LONGEST_CELL,
) -> Table:
    """A table of cells as they are, nothing in them taken as markup or as a command to the terminal.

    Columns of numbers stand on the right, as do those named in `right`. A cell may be a `rich.text.Text`, if
    it has a style. None is shown as a dash, and "" as nothing.
    """
    from rich.table import Table
    from rich.text import Text

    def plain(line: str | None) -> Text | None:
        return None if line is None else Text(safe(line))

    listed = [list(row) for row in rows]
    shown = Table(title=plain(title), caption=plain(caption), title_justify="left", caption_justify="left")
    for number, heading in enumerate(headings):
        numeric = heading in right or _numeric([row[number] for row in listed])
        shown.add_column(Text(safe(heading)), justify="right" if numeric else "left")
    for row in listed:
        shown.add_row(*(cell if isinstance(cell, Text) else Text(_spelled(cell, most)) for cell in row))
    return shown


def _numeric(cells: list[Any]) -> bool:
    known = [cell for cell in cells if cell not in (None, "")]
    return bool(known) and all(hasattr(cell, "__float__") for cell in known)


def _spelled(cell: Any, most: int) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str) or not hasattr(cell, "__float__"):
        return safe(str(cell), most)
    return f"{cell:,}" if hasattr(cell, "__index__") else f"{cell:,.3f}"


def print_json(result: Any) -> None:
    """Print dataclasses, mappings, sequences, arrays, paths and dates as JSON; nan becomes null.

    Characters are written as they are where the output can take them, but for those that `safe` changes.
    """
    utf8 = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "") == "utf8"
    written = json.dumps(_plain(result), indent=2, ensure_ascii=not utf8, allow_nan=False)
    click.echo(re.sub(_UNSAFE, lambda m: "\n" if m[0] == "\n" else f"\\u{ord(m[0]):04x}", written))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
