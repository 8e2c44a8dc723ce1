"""Shared by the commands: options for input files, standard input, and output that is safe for terminals."""

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
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coterie.text import TextSource

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx", "lines")
_DELIMITERS = {"\\t": "\t", "tab": "\t"}
#: Width of output that is not a terminal: a table in a file or a pipe need not fit a screen.
_WIDE = 140
_LONGEST_CELL = 200
_MOST_DIGITS = 18


# --- options


def parts(values: Iterable[str]) -> list[str]:
    """Values separated by commas or given one by one.

    >>> parts(["10,20", " 30 "])
    ['10', '20', '30']
    """
    return [part for value in values for given in value.split(",") if (part := given.strip())]


def numbers(values: Iterable[str], option: str) -> list[int]:
    """Integers separated by commas or given one by one; `option` is named in the error message.

    >>> numbers(["10,20"], "--topics")
    [10, 20]
    """
    given = parts(values)
    for part in given:
        if not is_integer(part):
            raise InputError(f"{option} must be an integer, got {part[:60]!r}")
    return [int(part) for part in given]


def is_integer(text: str) -> bool:
    """Whether these are digits, and not so many that no number of anything could have them."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str]:
    if not parts(values):
        raise click.BadParameter("it is empty", ctx, param)
    return parts(values)


def _named_delimiter(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else _DELIMITERS.get(value, value)


class Size(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A number of bytes, such as 500M or 4G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes that was typed."""
        match = re.fullmatch(r"(\d{1,12})\s*([KMGT]?)(?:i?B)?", str(value).strip(), re.IGNORECASE | re.ASCII)
        if match is None or int(match[1]) < 1:
            self.fail(f"{value!r} is not a size such as 500M or 4G", param, ctx)
        return int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ")


max_bytes_option = click.option(
    "--max-bytes", metavar="SIZE", type=Size(), default="4G", show_default=True,
    help="Largest size of a compressed file (gzip, Parquet, Excel) once it is unpacked.",
)  # fmt: skip


class RenamedOption(click.Option):
    """An option that still accepts its former name, which help and messages do not mention."""

    def __init__(self, names: Sequence[str], *, former: str, **settings: Any):
        super().__init__(names, **settings)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Register the former name together with the present one."""
        shown = self.opts
        self.opts = [*shown, self.former]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


def input_options(command: Decorated) -> Decorated:
    """Options that control how a file is read.

    The command receives `language`, a list, and the parameters of `open_source`: it takes them as
    ``**reading`` and passes them on to ``open_source(file, **reading)``.
    """
    options = [
        click.option(
            "--text", metavar="COLUMN",
            help="Column with the texts; detected by default. In JSON, a.b is the key b of the object a.",
        ),
        click.option(
            "--language", metavar="NAME", multiple=True, default=["english"], show_default=True,
            callback=_split, help="Language of the texts; separate several by commas.",
        ),
        click.option(
            "--skip-bad", is_flag=True, help="Skip rows that cannot be read, and report how many."
        ),
        click.option(
            "--bad-rows", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
            help="CSV file to write skipped rows to, with place and reason; implies --skip-bad.",
        ),
        click.option(
            "--max-bad", metavar="N", type=click.IntRange(1), default=10_000, show_default=True,
            help="Most rows that may be skipped; with one more, the command stops.",
        ),
        click.option(
            "--format", type=click.Choice(_FORMATS), help="File format; detected by default."
        ),
        click.option("--encoding", metavar="NAME", help="Text encoding; detected by default."),
        click.option(
            "--delimiter", metavar="CHARACTER", callback=_named_delimiter,
            help="Character between the cells of a row; detected by default.",
        ),
        click.option(
            "--no-header", is_flag=True, help="The first row is data; columns are named column_1, column_2 …"
        ),
        click.option(
            "--header-row", metavar="N", type=click.IntRange(1, 10**9),
            help="Row with the column names; by default the first that is not a title.",
        ),
        click.option(
            "--sheet", metavar="NAME|NUMBER",
            help="Sheet of an Excel file; by default the one with most text.",
        ),
        max_bytes_option,
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
    bad_rows: Path | None = None,
    max_bad: int = 10_000,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    no_header: bool = False,
    header_row: int | None = None,
    sheet: str | None = None,
    max_bytes: int = 1 << 32,
) -> TextSource:
    """The texts of files, read with the options of `input_options`; "-" is standard input."""
    from coterie.text import read_texts

    if str(file) == "-":
        _hint_to_end_typing()
    source = read_texts(
        file,
        text,
        format=format,  # type: ignore[arg-type]
        encoding=encoding,
        delimiter=delimiter,
        header=not no_header,
        skip_bad=skip_bad or bad_rows is not None,
        max_bad=max_bad,
        max_bytes=max_bytes,
        sheet=sheet,
        header_row=header_row,
    )
    if bad_rows is not None:
        _write_bad_rows(source, bad_rows)
    return source


def _write_bad_rows(source: TextSource, path: Path) -> None:
    """Write bad rows to a file as they are found; it is there once the command ends, also with an error."""
    from coterie.cli.bad_rows import BadRowsFile

    check_not_read(path, source, "--bad-rows")
    table = BadRowsFile(path, source.source_name)
    click.get_current_context().call_on_close(table.close)
    source.on_bad = table.write


def day_first_option(command: Decorated) -> Decorated:
    """The options --day-first and --month-first; the command gets `day_first`, None if neither is given."""
    return click.option(
        "--day-first/--month-first", default=None,
        help="How to read dates such as 3/4/2025; by default the other dates of the column decide.",
    )(command)  # fmt: skip


@contextmanager
def spooled(file: str | Path) -> Iterator[str | Path]:
    """A file that can be read repeatedly: standard input ("-") is copied to a temporary file."""
    if str(file) != "-":
        yield file
        return
    _hint_to_end_typing()
    from coterie.storage.temporary import TemporaryFolder, report_full

    with TemporaryFolder("input") as folder:
        copy = folder / "stdin"
        with report_full(), copy.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield copy
        except InputError as error:
            # users do not know about the copy
            raise error.replaced(str(copy), "standard input") from error


def _hint_to_end_typing() -> None:
    if sys.stdin.isatty():
        click.echo("coterie: reading texts from the terminal; press Ctrl-D to finish", err=True)


def report_reading(source: TextSource) -> None:
    """Report on standard error what was decided about a file, and how many rows were skipped, if any."""
    for note in source.notes:
        report_note(note.fact, note.option)
    if not source.skipped:
        return
    rows = "1 row" if source.skipped == 1 else f"{source.skipped:,} rows"
    click.echo(safe(f"skipped {rows} that could not be read; the first is {source.bad_rows[0]}"), err=True)


def report_note(fact: str, option: str) -> None:
    """Report on standard error what was decided, and the option that decides otherwise."""
    click.echo(safe(f"{fact[:1].upper()}{fact[1:]} ({option})."), err=True)


# --- output


def check_not_input(out: Path | None, file: str) -> None:
    """Refuse to write to the file that is being read."""
    if out is not None and out.exists() and file != "-" and Path(file).exists() and out.samefile(file):
        raise InputError(f"--out {out} is the input file; choose another file")


def check_not_read(out: Path | None, source: TextSource, option: str = "--out") -> None:
    """Refuse to write to one of the files that are being read."""
    for file in [source.path, *(place.path for place in getattr(source, "files", ()))]:
        if out is not None and out.exists() and os.path.isfile(file) and out.samefile(file):
            raise InputError(f"{option} {out} is one of the files to read; choose another file")


@contextmanager
def whole_file(target: str | Path) -> Iterator[Path]:
    """A temporary path to write to; on success it becomes `target`, otherwise it is removed.

    Behind a symbolic link, the file that it leads to is replaced; what is no file is refused.
    """
    path = Path(os.path.realpath(target) if os.path.islink(target) else target)
    if not Path(target).name or (os.path.exists(target) and not os.path.isfile(target)):
        raise InputError(f"cannot write {str(target)!r}: it is not a file; choose another name")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path.name}: folder {path.parent} does not exist; create it first")
    if run := _run_of(path):
        raise InputError(f"cannot write {path}: it belongs to the run in {run}; choose another file")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    except InputError as error:
        # the temporary name would mean nothing to users
        raise error.replaced(str(temporary), str(path)) from error
    except OSError as error:
        raise InputError(
            f"{path} could not be written: {error.strerror or error}; choose another file, or free some space"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _run_of(path: Path) -> Path | None:
    """The run folder that a file belongs to, if coterie wrote it there."""
    for folder in path.absolute().parents[:2]:
        if (folder / "run.json").is_file():
            from coterie.runs.record import OURS

            return folder if path.absolute().relative_to(folder).as_posix() in OURS else None
    return None


# Characters that a terminal would obey or hide: control characters, direction marks, zero-width characters
# and lone surrogates. The joiners used by emoji and Persian are kept.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_BREAKS = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")


def safe(text: str, most: int | None = None) -> str:
    r"""A text on one line without control sequences, cut to `most` characters.

    Line breaks and tabs become a space; other control characters and direction marks become escape codes.

    >>> safe("late\nparcel \x1b[2J\u202e")
    'late parcel \\x1b[2J\\u202e'
    >>> safe("where is my parcel", most=12)
    'where is my…'
    """
    if most is not None and len(text) > most:
        # cut first, so that a long text is not searched in vain
        text = text[: max(most - 1, 0)].rstrip() + "…"
    return _UNSAFE.sub(_number, _BREAKS.sub(" ", text))


def safe_lines(text: str) -> str:
    """The same for a text of several lines, which stay apart."""
    return "\n".join(map(safe, text.split("\n")))


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def console(stderr: bool = False) -> Console:
    """A console that lets closed pipes raise, and is wide if the output is not a terminal."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  # called while the exception is being handled

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
    """A table whose cells are shown literally, neither as markup nor as control sequences.

    Columns of numbers, and those named in `right`, are right-aligned. A cell with a style is a
    `rich.text.Text`. None is shown as a dash.
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
        shown.add_row(*(cell if isinstance(cell, Text) else Text(_formatted(cell, most)) for cell in row))
    return shown


def _numeric(cells: list[Any]) -> bool:
    known = [cell for cell in cells if cell not in (None, "")]
    return bool(known) and all(hasattr(cell, "__float__") for cell in known)


def _formatted(cell: Any, most: int) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str) or not hasattr(cell, "__float__"):
        return safe(str(cell), most)
    return f"{cell:,}" if hasattr(cell, "__index__") else f"{cell:,.3f}"


def print_json(result: Any) -> None:
    """Print dataclasses, mappings, sequences, arrays, paths and dates as JSON; nan becomes null.

    Characters are written literally if the output is UTF-8, except for those that `safe` escapes.
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
