"""`coterie.spark.assign` in a Spark session on this machine; `make spark` installs what that needs."""

import random
import shutil
import sys
from datetime import datetime
from decimal import Decimal

import polars as pl
import pytest

from coterie import TopicModel, open_run, spark
from coterie.errors import InputError
from typed import typed

SUBJECTS = (
    "parcel late courier driver tracking delivery missing street",
    "refund money card charged invoice twice payment bank",
    "password login account email reset locked code phone",
    "kettle broken lid leaks kitchen warranty spare handle",
)


def tickets(n, seed):
    draw = random.Random(seed)
    texts = [f"my {' '.join(draw.sample(SUBJECTS[i % 4].split(), 4))}" for i in range(n)]
    return pl.DataFrame({"id": range(n), "subject": texts})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    tickets(200, 1).write_csv(folder / "tickets.csv")
    done = typed("coterie fit tickets.csv --text subject --topics 4 --out run", folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="module")
def session():
    pytest.importorskip("pyspark", reason="pyspark is not installed: make spark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("coterie")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def rows_of(session):
    """Rows with columns of types that only Spark and Arrow have between them, and one called topic."""
    texts = [*tickets(50, 2)["subject"].to_list(), "", None, "zzz qqq"]
    return [
        (i, text, {"a": i}, Decimal(i) / 4, datetime(2025, 1, 1, i % 24), [f"tag {i}"], "theirs")
        for i, text in enumerate(texts)
    ]


SCHEMA = "id int, subject string, extra map<string,int>, price decimal(10,2), at timestamp, tags array<string>, topic string"
COLUMNS = ["coterie_topic", "label", "confidence", "second", "reason"]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", ["folder", "run", "model"])
def test_all_rows_come_back_with_the_answers_of_the_model(session, folder, given):
    run = open_run(folder / "run")
    model = {"folder": folder / "run", "run": run, "model": run.model}[given]
    rows = rows_of(session)
    frame = session.createDataFrame(rows, SCHEMA).repartition(3)
    found = sorted(spark.assign(frame, model, text="subject").collect(), key=lambda row: row["id"])
    assert [tuple(row)[:7] for row in found] == rows
    assert found[0].asDict().keys() == {*[part.split()[0] for part in SCHEMA.split(", ")], *COLUMNS}
    answers = run.model.assign([row[1] for row in rows]).polars()
    assert [tuple(row)[7:] for row in found] == answers.rows()
    assert found[-1]["coterie_topic"] is None
    assert found[0]["coterie_topic"] is not None


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_column_of_the_run_is_the_default_and_confidence_may_be_demanded(session, folder):
    run = open_run(folder / "run")
    frame = session.createDataFrame(rows_of(session), SCHEMA)
    found = spark.assign(frame, run, min_confidence=0.99).orderBy("id").collect()
    wanted = run.model.assign([row[1] for row in rows_of(session)], min_confidence=0.99).polars()
    assert [row["coterie_topic"] for row in found] == wanted["topic"].to_list()
    assert spark.assign(frame.select("subject"), TopicModel.load(folder / "run" / "model")).count() == len(
        found
    )


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_loads_the_model_once(session, folder):
    frame = session.createDataFrame(rows_of(session), SCHEMA).repartition(6)
    assigned = spark.assign(frame, folder / "run", text="subject")
    assert assigned.count() == 53

    def loaded(batches):
        import os

        import pyarrow as pa

        from coterie.spark import _LOADED

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "models": [len(_LOADED)]})

    seen = frame.mapInArrow(loaded, "pid long, models long").collect()
    assert {row["models"] for row in seen} == {1}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_column_that_is_not_there_is_named(session, folder):
    frame = session.createDataFrame([(1, "late parcel")], "id int, title string")
    with pytest.raises(InputError, match="the DataFrame has no column 'subjct'"):
        spark.assign(frame, folder / "run", text="subjct")
    with pytest.raises(InputError, match="the DataFrame has several columns"):
        spark.assign(frame, folder / "run")
    with pytest.raises(InputError, match="model must be a TopicModel"):
        spark.assign(frame, 3, text="title")
    with pytest.raises(InputError, match="min_confidence must be a number from 0 to 1"):
        spark.assign(frame, folder / "run", text="title", min_confidence=2)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r'pip install "coterie\[spark\]"'):
        spark.assign(None, "run")


def test_what_is_no_spark_frame_is_refused():
    pytest.importorskip("pyspark", reason="pyspark is not installed: make spark")
    with pytest.raises(InputError, match=r"must be a pyspark\.sql\.DataFrame"):
        spark.assign(pl.DataFrame({"subject": ["late parcel"]}), "run")
