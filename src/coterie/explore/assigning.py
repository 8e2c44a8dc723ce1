"""A whole file of new texts given the topics of a run: a table to download, and how many each topic got."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

from coterie.explore.guard import Invalid
from coterie.explore.schemas_changes import MOST_COLUMNS, Assigned, AssignedTopic, AssignFileRequest, Upload
from coterie.explore.uploads import Uploads
from coterie.explore.worker import Named
from coterie.explore.workspace import Workspace
from coterie.runs.writing import added_names, assigned_table
from coterie.storage.tables import SheetWriter
from coterie.text.readers.rows import Options


def assign_file(workspace: Workspace, uploads: Uploads, id: str, request: AssignFileRequest) -> Assigned:
    """Assign the texts of an uploaded file; the table waits beside it until the file is removed."""
    opened = workspace.get(request.run)
    file = uploads.take(id)
    try:
        check_column(file.shown, request.text)
        source = _source(file.path, file.shown, request.text, workspace.max_bytes)
        sizes: Counter[int] = Counter()
        texts, sure = 0, 0.0
        with SheetWriter(file.assigned) as sheet:
            for batch in source:
                table = assigned_table(opened.model, batch.table, batch.texts)
                names = added_names(batch.table.columns)
                sizes.update(table[names["topic"]].drop_nulls().to_list())
                sure += float(table[names["confidence"]].cast(pl.Float64).sum())
                texts += len(table)
                sheet.write(table)
    finally:
        uploads.give_back(id)
    known = sum(sizes.values())
    return Assigned(
        texts=texts,
        without=texts - known,
        skipped=source.skipped,
        confidence=round(sure / max(known, 1), 4),
        topics=[
            AssignedTopic(
                id=topic.id,
                label=topic.label,
                count=sizes[topic.id],
                share=round(sizes[topic.id] / max(texts, 1), 5),
                before=round(topic.share, 5),
            )
            for topic in sorted(opened.topics, key=lambda topic: (-sizes[topic.id], topic.id))
        ],
    )


def _source(path: Path, shown: Upload, text: str, max_bytes: int) -> Named:
    """The rows of an uploaded file, read as it was when it was looked at."""
    options = Options(
        shown.encoding,
        shown.delimiter,
        max_bytes=max_bytes,
        sheet=shown.sheet,
        header_row=shown.header_row,
    )
    return Named(path, text, shown.format, options, skip_bad=True, name=shown.name)


def check_column(upload: Upload, wanted: str | None) -> None:
    """Whether there is such a column, as far as is known before the file is read as a whole."""
    known = [column.name for column in upload.columns]
    if wanted is not None and wanted not in known and len(known) < MOST_COLUMNS:
        raise Invalid(f"{upload.name} has no column {wanted[:60]!r}; it has {', '.join(known)[:300]}")
