"""Delta tables: the files of the newest version, as the log says."""

import json

import polars as pl
import pytest

from coterie.errors import InputError
from coterie.text import read_texts


class Table:
    """A Delta table, written as the protocol says."""

    def __init__(self, folder, partitions=(), **settings):
        self.folder, self.version = folder, 0
        (folder / "_delta_log").mkdir(parents=True)
        meta = {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": "{}"}
        self.start = [
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2, **settings.pop("protocol", {})}},
            {"metaData": {**meta, "partitionColumns": list(partitions), "configuration": settings}},
        ]

    def file(self, name, **columns):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(columns).write_parquet(path)
        return name

    def commit(self, *actions):
        every = [*(self.start if not self.version else []), {"commitInfo": {}}, *actions]
        path = self.folder / "_delta_log" / f"{self.version:020d}.json"
        path.write_text("".join(json.dumps(action) + "\n" for action in every))
        self.version += 1


def add(path, values=None, **more):
    return {"add": {"path": path, "partitionValues": values or {}, "size": 1, "dataChange": True, **more}}


def remove(path):
    return {"remove": {"path": path, "deletionTimestamp": 1, "dataChange": True}}


def rows_of(path):
    return [row for batch in read_texts(path, "text") for row in batch.table.rows()]


def told(path):
    with pytest.raises(InputError) as error:
        rows_of(path)
    return str(error.value)


@pytest.fixture
def table(tmp_path):
    table = Table(tmp_path / "t")
    table.commit(add(table.file("a.parquet", text=["old"])))
    table.commit(add(table.file("b.parquet", text=["new"])), remove("a.parquet"))
    table.file("c.parquet", text=["never committed"])
    return table


def test_only_files_of_the_newest_version(table, tmp_path):
    assert rows_of(table.folder) == rows_of(f"{table.folder}/*") == [("new",)]
    assert rows_of(tmp_path) == [("new",)]  # also below another folder


def test_partitions(tmp_path):
    table = Table(tmp_path, ["team"])
    name = table.file("team=north west/a.parquet", text=["a"])
    table.commit(
        add(name.replace(" ", "%20"), {"team": "north west"}),
        add(table.file("b.parquet", text=["b"]), {"team": None}),
    )
    assert rows_of(tmp_path) == [("b", None), ("a", "north west")]


@pytest.mark.parametrize("parts", [1, 2])
def test_checkpoints(table, parts):
    log = table.folder / "_delta_log"
    kinds = {
        "add": pl.Struct(
            {
                "path": pl.String,
                "partitionValues": pl.List(pl.Struct({"key": pl.String, "value": pl.String})),
                "deletionVector": pl.Struct({"storageType": pl.String}),
            }
        ),
        "remove": pl.Struct({"path": pl.String}),
        "protocol": pl.Struct({"minReaderVersion": pl.Int32}),
        "metaData": pl.Struct({"id": pl.String, "partitionColumns": pl.List(pl.String)}),
    }
    rows = [
        {"protocol": {"minReaderVersion": 1}},
        {"metaData": {"id": "t", "partitionColumns": []}},
        {"add": {"path": "b.parquet", "partitionValues": []}},
        {"remove": {"path": "a.parquet"}},
    ]
    full = [{name: row.get(name) for name in kinds} for row in rows]
    for number in range(parts):
        name = (
            f"{1:020d}.checkpoint.{number + 1:010d}.{parts:010d}.parquet"
            if parts > 1
            else f"{1:020d}.checkpoint.parquet"
        )
        pl.DataFrame(full[number::parts], schema=kinds).write_parquet(log / name)
    for version in (0, 1):
        (log / f"{version:020d}.json").unlink()  # as cleaning up does
    assert rows_of(table.folder) == [("new",)]
    table.commit(add("c.parquet"))
    assert rows_of(table.folder) == [("new",), ("never committed",)]
    if parts > 1:
        (log / f"{1:020d}.checkpoint.{1:010d}.{2:010d}.parquet").unlink()
        assert "lacks version 0" in told(table.folder)


def test_what_cannot_be_read(table, tmp_path):
    table.commit(add("b.parquet", deletionVector={"storageType": "u", "cardinality": 1}))
    assert told(table.folder) == (
        f"the Delta table {table.folder} uses rows that are marked as deleted (deletion vectors), which coterie "
        "cannot read; write a copy without it, or pass the table that your Delta library gives"
    )
    mapped = Table(tmp_path / "m", **{"delta.columnMapping.mode": "name"})
    mapped.commit()
    assert "(column mapping)" in told(tmp_path / "m")
    newer = Table(
        tmp_path / "n", protocol={"minReaderVersion": 3, "readerFeatures": ["timestampNtz", "catalogManaged"]}
    )
    newer.commit()
    assert "uses catalogManaged, which" in told(tmp_path / "n")


def test_damaged_logs(table):
    (table.folder / "b.parquet").unlink()
    assert "lacks the file 'b.parquet'" in told(table.folder)
    log = table.folder / "_delta_log"
    (log / f"{1:020d}.json").write_text('{"add": {"nothing": 1}}\n')
    assert "is damaged: KeyError('path')" in told(table.folder)
    (log / f"{1:020d}.json").write_text("[1]\n")
    assert "is damaged" in told(table.folder)
    (log / f"{1:020d}.json").write_text("{")
    assert "is damaged" in told(table.folder)
    (log / f"{1:020d}.json").rename(log / f"{2:020d}.json")
    assert "lacks version 1" in told(table.folder)
    (log / f"{0:020d}.json").rename(log / "other")
    (log / f"{2:020d}.json").unlink()
    assert "without a log" in told(table.folder)


def test_a_log_leads_nowhere_else(table, tmp_path):
    pl.DataFrame({"text": ["secret"]}).write_parquet(tmp_path / "secret.parquet")
    table.commit(add("../secret.parquet"))
    assert "lacks the file '../secret.parquet'" in told(table.folder)


def test_an_empty_table(table):
    table.commit(remove("b.parquet"))
    assert told(table.folder) == f"the Delta table {table.folder} is empty: its newest version has no files"
