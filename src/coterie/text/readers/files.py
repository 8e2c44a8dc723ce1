"""Many files as one source: read one after the other, in the order of their paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.text.readers.alike import First, same_types
from coterie.text.readers.formats import Format, format_by_name
from coterie.text.readers.places import Found, Place
from coterie.text.readers.remote import called
from coterie.text.readers.rows import Batch, NoRows, Options
from coterie.text.readers.source import KEPT_BAD_ROWS, Note, TextSource

#: Notes about the files after the first that are kept.
_MOST_NOTES = 20


@dataclass
class TextFiles(TextSource):
    """The texts of several files, batch by batch; a batch never has rows of two files.

    The first file that has rows decides what is not given: the format, the delimiter, the sheet and the
    column of the texts, which all files must have. Other columns may be missing in some files, where they are
    null. `layout` is that of the first file.
    """

    files: list[Place] = field(default_factory=list)
    #: Columns of all files, if they were looked up: then each batch has all of them.
    columns: dict[str, pl.DataType] = field(default_factory=dict)
    links: int = 0

    @classmethod
    def of(
        cls,
        path: str | Path | Sequence[str | Path],
        found: Found,
        column: str | None,
        format: Format | None,
        options: Options,
        **settings: Any,
    ) -> TextFiles:
        """The source of files that were found; refused if their names say that the formats differ."""
        if format is None:
            _check_formats(found.places)
        name = path if isinstance(path, str | Path) else found.places[0].path
        return cls(name, column, format, options, **settings, files=found.places, links=found.links)

    @property
    def source_name(self) -> str:
        """The pattern or folder; of a list, its first file and how many there are."""
        if self.path != self.files[0].path or len(self.files) == 1:
            return called(self.path)
        return f"{called(self.path)} and {len(self.files) - 1:,} more"

    @property
    def asked_for(self) -> list[str | Path]:
        """What was named: a pattern or a folder, or each file of a list."""
        listed = self.path == self.files[0].path
        return [file.path for file in self.files] if listed else [self.path]

    @property
    def may_grow(self) -> bool:
        """Whether later files may have further columns."""
        return True

    def plain_bytes(self) -> int | None:
        """The size of all files; None if some are compressed or remote."""
        total = 0
        for file in self.files:
            size = TextSource(file.path).plain_bytes()
            if size is None:
                return None
            total += size
        return total

    def parts(self) -> list[TextSource]:
        """Each file as a source of its own, read as the first of them; the order is that of the rows."""
        for file in self.files:
            source = self._part(file, None)
            for batch in source:
                first = _first(source, batch)
                return [self._part(each, first) for each in self.files]
        raise NoRows(f"no row of {self.source_name} could be read")

    def __iter__(self) -> Iterator[Batch]:
        self.skipped, self.bad_rows, self.notes, self.layout = 0, [], [], None
        if self.links:
            links = "1 link to a folder was" if self.links == 1 else f"{self.links:,} links to folders were"
            self.notes.append(Note(f"{links} not followed", "name the folder itself to read it"))
        first: First | None = None
        schema, seen = dict(self.columns), ""
        for file in self.files:
            source = self._part(file, first)
            source.already, source.on_bad = self.skipped, self.on_bad
            try:
                for batch in source:
                    if first is None:
                        first, self.layout = _first(source, batch), source.layout
                        self.notes += source.notes
                    table = same_types(batch.table, schema, source.source_name, seen or "other files")
                    schema, seen = {**schema, **table.schema, **schema}, seen or source.source_name
                    yield replace(batch, table=self._complete(table))
            finally:
                self._take_over(source)
        if first is None:
            raise self._nothing()

    def with_all_columns(self) -> TextFiles:
        """The same source, each batch with the columns of all files; their first rows are read twice."""
        columns: dict[str, pl.DataType] = {}
        for source in self.parts():
            for batch in source:
                columns = {**columns, **batch.table.schema, **columns}
                break
        return replace(self, columns=columns)

    def _complete(self, table: pl.DataFrame) -> pl.DataFrame:
        late = [pl.lit(None, dtype).alias(n) for n, dtype in self.columns.items() if n not in table.schema]
        return (
            table.with_columns(late)[list(dict.fromkeys([*self.columns, *table.columns]))] if late else table
        )

    def _part(self, file: Place, first: First | None) -> TextSource:
        """One of the files."""
        options, column = self.options, self.column
        if first is not None:
            column, sheet = first.column, first.sheet if options.sheet is None else options.sheet
            options = replace(options, delimiter=options.delimiter or first.delimiter, sheet=sheet)
        return TextSource(
            file.path,
            column,
            self.format,
            options,
            self.skip_bad,
            self.batch_rows,
            max_bad=self.max_bad,
            one_of_many=True,
            like=first,
            values=file.values,
        )

    def _take_over(self, source: TextSource) -> None:
        """Count and keep the bad rows of a file, and the notes that say something new."""
        self.skipped += source.skipped
        self.bad_rows += source.bad_rows[: KEPT_BAD_ROWS - len(self.bad_rows)]
        known = {note.fact for note in self.notes}
        new = [note for note in source.notes if note.fact not in known]
        named = [replace(note, fact=f"{source.source_name}: {note.fact}") for note in new]
        self.notes += named[: max(_MOST_NOTES - len(self.notes), 0)]

    def _nothing(self) -> InputError:
        if self.skipped:
            return NoRows(
                f"no row of {self.source_name} could be read; the first error is {self.bad_rows[0]}"
            )
        return NoRows(f"{self.source_name} has no rows: all {len(self.files):,} files are empty")


def _first(source: TextSource, batch: Batch) -> First:
    layout = source.layout
    assert layout is not None
    assert layout.column is not None
    return First(
        source.source_name,
        layout.format,
        layout.encoding if layout.encoding and not layout.encoding.startswith("utf") else None,
        layout.delimiter,
        layout.sheet if len(layout.sheets) > 1 else None,
        layout.column,
        batch.texts.dtype != pl.String,
        dict(batch.table.schema),
    )


def _check_formats(places: Sequence[Place]) -> None:
    """Refuse files whose names stand for several formats, before any of them is read."""
    seen: dict[Format, str] = {}
    for place in places:
        kind = format_by_name(place.path)
        if kind is not None:
            seen.setdefault(kind, place.path)
        if len(seen) > 1:
            one, other = map(called, list(seen.values())[:2])
            raise InputError(
                f"{one} and {other} have different formats; files that are read together must have the same",
                python="choose some with a pattern such as 'logs/*.csv', or set format='csv'",
                command="choose some with a pattern such as 'logs/*.csv', or set --format csv",
            )
