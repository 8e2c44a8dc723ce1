"""Tables of Dask: partition by partition, with the topics of the same texts in a list."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coterie import TopicModel
from coterie.engines import Cluster
from coterie.errors import InputError
from coterie.text.inputs import text_batches
from coterie.text.readers.stream import PartitionStream
from engine_fits import small_blocks, write_texts

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    write_texts(path, 600)
    return pd.read_csv(path)


@pytest.fixture(scope="module")
def listed(frame):
    """The model of the same texts in a list."""
    return TopicModel(4).fit(frame["title"].tolist(), date=frame["day"].tolist())


def arrays(model, folder):
    model.save(folder)
    return (folder / "model" / "arrays.safetensors").read_bytes()


def test_a_column_and_a_table_give_the_topics_of_a_list(frame, listed, tmp_path):
    expected = arrays(listed, tmp_path / "list")
    table = dd.from_pandas(frame, npartitions=7)
    for name, texts, given in (
        ("column", table["title"], {}),
        ("table", table, {"text": "title", "date": "day"}),
    ):
        model = TopicModel(4).fit(texts, **given)
        assert arrays(model, tmp_path / name) == expected
    assert str(model.over_time()) == str(listed.over_time())
    assert model.columns.text == "title"


@pytest.mark.process
def test_workers_compute_the_partitions_and_learn_from_them(frame, tmp_path, monkeypatch):
    small_blocks(monkeypatch.setattr)
    listed = TopicModel(4).fit(frame["title"].tolist())  # in the same blocks
    (tmp_path / "shared").mkdir()
    (tmp_path / "seen").mkdir()
    seen = str(tmp_path / "seen")

    def computed(partition):
        Path(seen, str(os.getpid())).touch()
        return partition

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local,
        distributed.Client(local) as client,
    ):
        pids = set(map(str, client.run(os.getpid).values()))
        table = dd.from_pandas(frame, npartitions=7).map_partitions(computed, meta=frame.head(0))
        cluster = Cluster(client, folder=tmp_path / "shared")
        model = TopicModel(4).fit(table, text="title", cluster=cluster)
        computed_by = {path.name for path in (tmp_path / "seen").iterdir()}
        assert computed_by
        assert computed_by <= pids
        assert arrays(model, tmp_path / "dask") == arrays(listed, tmp_path / "list")


def test_one_partition_at_a_time_is_computed(frame, tmp_path):
    def computed(partition):
        (tmp_path / str(partition["id"].iloc[0])).touch()
        return partition

    table = dd.from_pandas(frame, npartitions=6).map_partitions(computed, meta=frame.head(0))
    many = []
    for batch in PartitionStream("", reader=table, text="title"):
        many.append(len(list(tmp_path.iterdir())))
        assert len(batch.texts) == 100
    assert many == [1, 2, 3, 4, 5, 6]


def test_large_partitions_are_divided_and_empty_ones_left_out(frame):
    some = frame.head(10)
    table = dd.concat([dd.from_pandas(some.head(0), npartitions=1), dd.from_pandas(some, npartitions=1)])
    batches = list(PartitionStream("", reader=table, text="title", batch_rows=4))
    assert [len(batch.texts) for batch in batches] == [4, 4, 2]
    assert [text for batch in batches for text in batch.texts] == some["title"].fillna("").tolist()
    (nothing,) = PartitionStream("", reader=dd.from_pandas(some.head(0), npartitions=1), text="title")
    assert not len(nothing.texts)


def test_texts_of_a_table_are_assigned_like_those_of_a_list(frame, listed):
    table = dd.from_pandas(frame, npartitions=3)
    expected = listed.predict(frame["title"].tolist()).tolist()
    assert listed.predict(table["title"]).tolist() == expected
    fitted = TopicModel(4).fit(table, text="title")
    assert fitted.predict(table).tolist() == expected
    assert [len(batch) for batch in text_batches(table, "title")] == [200, 200, 200]


def test_faults_are_told(frame):
    table = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(InputError, match="has no column 'subject'"):
        TopicModel(4).fit(table, text="subject")

    def broken(partition):
        raise ValueError("the bucket is gone")

    with pytest.raises(
        InputError, match="partition 0 of the table could not be computed: the bucket is gone"
    ):
        TopicModel(4).fit(table.map_partitions(broken, meta=frame.head(0)), text="title")


def test_dask_is_not_imported_to_recognise_it():
    code = (
        "import sys; from coterie import TopicModel; TopicModel(2).fit(['late parcel', 'my refund'] * 9); "
        "print([name for name in sys.modules if name.split('.')[0] == 'dask'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
