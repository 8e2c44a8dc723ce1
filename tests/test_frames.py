"""Tables of pandas, polars, Arrow and DuckDB go in, and tables of the same kind come out."""

import datetime as dt
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import TopicModel, read_texts
from coterie.errors import InputError
from coterie.frames import Shape, as_polars, table_of, unique
from coterie.text.readers.stream import TableStream

TEXTS = ["late parcel depot", "parcel lost depot", None, "refund my card", "card refund money"] * 6
N = len(TEXTS)
ROWS = {
    "id": list(range(N)),
    "subject": TEXTS,
    "created": [dt.datetime(2025, 1, 1) + dt.timedelta(days=5 * i) for i in range(N)],
    "team": ["support", "billing"] * (N // 2),
}
INDEX = [f"row {i}" for i in range(N)]


def pandas_table():
    return pd.DataFrame(ROWS, index=INDEX)


def duckdb_table():
    rows = pl.DataFrame(ROWS).to_arrow()
    return duckdb.from_arrow(rows)


TABLES = {
    "pandas": (pandas_table, pd.DataFrame),
    "polars": (lambda: pl.DataFrame(ROWS), pl.DataFrame),
    "lazy": (lambda: pl.LazyFrame(ROWS), pl.DataFrame),
    "arrow": (lambda: pa.table(ROWS), pa.Table),
    "arrow reader": (lambda: pa.table(ROWS).to_reader(), pa.Table),
    "duckdb": (duckdb_table, pl.DataFrame),
    "duckdb result": (lambda: duckdb_table().project("*").to_arrow_reader(7), pa.Table),
    "lazy query": (
        lambda: pl.LazyFrame(ROWS).with_columns(pl.col("subject").str.strip_chars()),
        pl.DataFrame,
    ),
}


@pytest.fixture(scope="module")
def plain():
    return TopicModel(n_topics=2).fit(TEXTS)


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=2).fit(pandas_table(), text="subject", date="created", classes="team")


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_goes_in_and_its_kind_comes_out(plain, kind):
    make, out = TABLES[kind]
    model = TopicModel(n_topics=2).fit(make(), text="subject", date="created", classes="team")
    assert model.labels_.tolist() == plain.labels_.tolist()
    answers = model.assign(make()).frame()
    for frame in (answers, model.topics.frame(), model.over_time(), model.changes(), model.by_class()):
        assert type(frame) is out
    same = plain.assign(TEXTS).frame()
    assert pl.DataFrame(answers)["label"].to_list() == same["label"].to_list()
    assert model.predict(make()).tolist() == plain.predict(TEXTS).tolist()
    assert np.array_equal(model.transform(make()), plain.transform(TEXTS))
    assert np.array_equal(model.embed(make()), plain.embed(TEXTS))
    counts = plain.over_time(ROWS["created"], "month")
    assert pl.DataFrame(model.over_time(every="month"))["texts"].to_list() == counts["texts"].to_list()


def test_pandas_keeps_its_index_and_tells_missing_topics(model):
    answers = model.assign(pandas_table().iloc[::-1]).frame()
    assert answers.index.tolist() == INDEX[::-1]
    assert answers.loc["row 0", "label"] == model.topics[0].label
    assert answers["topic"].isna().sum() == 6
    assert answers["topic"].dtype == "Int64"
    assert pandas_table().join(answers)["reason"].notna().all()
    column = model.assign(pandas_table()["subject"]).frame()
    pd.testing.assert_frame_equal(column, answers.loc[INDEX])


def test_what_is_said_of_a_list_has_the_kind_that_was_fitted(model, plain):
    assert isinstance(model.assign(["my card"]).frame(), pd.DataFrame)
    assert isinstance(model.assign(pl.Series(["my card"])).frame(), pl.DataFrame)
    assert isinstance(plain.assign(["my card"]).frame(), pl.DataFrame)
    assert isinstance(plain.assign(pd.Series(["my card"])).frame(), pd.DataFrame)
    periods = model.over_time("created", "month", classes="team")
    assert periods["period"].dtype.kind == "M"
    assert set(periods["class"]) == {"support", "billing"}


def test_dates_and_classes_are_those_of_the_fit_a_column_or_values(model, plain):
    by_team = model.by_class()
    pd.testing.assert_frame_equal(by_team, model.by_class("team"))
    pd.testing.assert_frame_equal(by_team, model.by_class(ROWS["team"]))
    pd.testing.assert_frame_equal(model.changes(), model.changes("created"))
    pd.testing.assert_frame_equal(model.changes(classes="team"), model.changes(classes=ROWS["team"]))
    given = TopicModel(n_topics=2).fit(TEXTS, date=ROWS["created"], classes=pd.Series(ROWS["team"]))
    assert given.by_class().equals(plain.by_class(ROWS["team"]))
    assert given.over_time().equals(plain.over_time(ROWS["created"]))
    with pytest.raises(InputError, match=r'dates are needed, one per text; pass them, or .*date="created"'):
        plain.over_time()
    with pytest.raises(InputError, match=r"classes are needed, one per text"):
        plain.by_class()
    with pytest.raises(InputError, match=r"has no column 'teams'; it has .*; did you mean 'team'"):
        model.by_class("teams")
    with pytest.raises(InputError, match="'team' names a column, but the texts were no table"):
        plain.by_class("team")


def test_a_file_has_columns_too(plain, tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "tickets.csv")
    file = tmp_path / "tickets.csv"
    model = TopicModel(n_topics=2).fit(read_texts(file, "subject"), date="created", classes="team")
    assert model.by_class().equals(plain.by_class(ROWS["team"]))
    assert model.over_time(every="month").equals(plain.over_time(ROWS["created"], "month"))
    assert model.by_class("id")["class"].n_unique() == N
    with pytest.raises(InputError, match=r"tickets\.csv has no column 'made'; it has 'id', 'subject'"):
        TopicModel(n_topics=2).fit(read_texts(file, "subject"), date="made")
    with pytest.raises(InputError, match=r"text='subject' names the column of a table, but .* TextSource"):
        TopicModel(n_topics=2).fit(read_texts(file, "subject"), text="subject")


def test_the_column_is_guessed_and_said(plain):
    with pytest.warns(UserWarning, match="the texts are in column 'subject', judging by its values; text="):
        model = TopicModel(n_topics=2).fit(pandas_table())
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert model.predict(pandas_table()).tolist() == plain.predict(TEXTS).tolist()  # remembered, not guessed
    with pytest.warns(UserWarning, match="in column 'subject'"):
        plain.assign(pandas_table())
    numbers = pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]})
    with pytest.raises(InputError, match="no column that looks like texts; it has 'a', 'b'; text="):
        TopicModel().fit(numbers)
    assert len(plain.assign(pd.DataFrame({"anything": ["my card"]}))) == 1  # the only column


def test_a_saved_model_remembers_the_column(model, tmp_path):
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd.testing.assert_frame_equal(
            again.assign(pandas_table()).frame(), model.assign(pandas_table()).frame()
        )
    again.save(tmp_path / "again")
    assert TopicModel.load(tmp_path / "again").columns.text == "subject"


@pytest.mark.parametrize(
    ("table", "given", "message"),
    [
        (pandas_table(), {"text": "subjct"}, "has no column 'subjct'; it has .*; did you mean 'subject'"),
        (pandas_table(), {"text": "subject", "date": "day"}, "has no column 'day'"),
        (pandas_table(), {"text": 7}, "the name of a column must be a string, got 7"),
        (pd.DataFrame([["a", "b"]], columns=["t", "t"]), {"text": "t"}, "has 2 columns called 't'"),
        (pd.DataFrame(), {}, "the table has no columns"),
        (TEXTS, {"text": "subject"}, "text='subject' names the column of a table, but the texts are of type list"),
        (TEXTS, {"date": "created"}, "date='created' names a column, but the texts are no table"),
        (TEXTS, {"classes": ["a"]}, "classes must have one value per text: got 1 for 30 texts"),
        (pd.DataFrame({"t": [{"a": 1}], "u": [1]}), {"text": "t"}, "text 0 must be a string, got dict"),
        (pd.DataFrame({"t": pd.to_datetime(["2025-01-01"])}), {}, "text 0 must be a string, got Timestamp"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(table, given, message):
    with pytest.raises(InputError, match=message):
        TopicModel(n_topics=2).fit(table, **given)


def test_a_table_without_the_fitted_column_is_refused(model):
    with pytest.raises(
        InputError, match="no column 'subject', which held the texts in the fit; it has 'a', 'b'"
    ):
        model.predict(pd.DataFrame({"a": ["x"], "b": ["y"]}))


def test_a_failed_fit_leaves_the_columns_as_they_were(model):
    before = model.columns
    with pytest.raises(InputError):
        model.fit(pl.DataFrame(ROWS), text="nothing")
    assert model.columns is before


MISSING = {
    "none": pd.Series(TEXTS, dtype=object),
    "nan": pd.Series([np.nan if text is None else text for text in TEXTS], dtype=object),
    "pd.NA": pd.Series([pd.NA if text is None else text for text in TEXTS], dtype=object),
    "str": pd.Series(TEXTS, dtype="str"),
    "string": pd.Series(TEXTS, dtype="string"),
    "arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "category": pd.Series(TEXTS, dtype="category"),
}


@pytest.mark.parametrize("kind", MISSING)
def test_every_kind_of_column_and_missing_value_counts_alike(plain, kind):
    table = pd.DataFrame({"n": range(N), "subject": MISSING[kind]})
    assert plain.predict(table["subject"]).tolist() == plain.predict(TEXTS).tolist()
    assert table_of(table).polars()["subject"].to_list() == TEXTS


def test_numbers_among_texts_are_texts(plain):
    assert plain.assign(pd.Series(["my card", 3, 2.5, True], dtype=object)).topic[0] == 1


def test_columns_of_several_levels_and_numbered_ones(plain):
    table = pandas_table()
    levels = table.set_axis(pd.MultiIndex.from_tuples([("ticket", name) for name in table.columns]), axis=1)
    for name in ("ticket.subject", ("ticket", "subject")):
        model = TopicModel(n_topics=2).fit(levels, text=name, classes=("ticket", "team"))
        assert model.labels_.tolist() == plain.labels_.tolist()
        assert model.by_class().equals(model.by_class("ticket.team"))
    numbered = table.set_axis(range(4), axis=1)
    assert TopicModel(n_topics=2).fit(numbered, text=1).labels_.tolist() == plain.labels_.tolist()
    rows = table.set_index(["team", "id"])
    assert plain.assign(rows["subject"]).frame().index.equals(rows.index)


def test_columns_of_one_name_elsewhere_do_no_harm(plain):
    twice = pandas_table().set_axis(["a", "subject", "a", "a_2"], axis=1)
    assert TopicModel(n_topics=2).fit(twice, text="subject").labels_.tolist() == plain.labels_.tolist()
    assert table_of(twice).polars().columns == ["a", "subject", "a_3", "a_2"]
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array(["x"]), pa.array([2])], names=["a", "t", "a"])
    assert table_of(arrow).names == ("a", "t", "a")


def test_texts_in_polars_are_not_copied():
    frame = pl.DataFrame(ROWS)
    assert table_of(frame).data is frame
    table = pandas_table()
    assert table_of(table).data is table


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "b", ""]), max_size=8))
def test_names_are_made_unique_and_the_first_keep_theirs(names):
    found = unique(names)
    assert len(set(found)) == len(names)
    for name in set(names):
        assert found[names.index(name)] == name


values = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
columns = st.one_of(
    st.lists(values, min_size=1, max_size=6),
    st.lists(st.one_of(st.none(), st.integers(-9, 9)), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=6),
    st.lists(st.lists(st.text("ab", max_size=3), min_size=1, max_size=3), min_size=1, max_size=6),
)


@settings(max_examples=100, deadline=None)
@given(columns)
def test_a_table_survives_the_way_to_pandas_and_back(values):
    frame = pl.DataFrame({"x": values})
    there = Shape("pandas").of(frame)
    back = as_polars(there["x"])
    if frame["x"].dtype == pl.Date:
        back = back.cast(pl.Date)
    if frame["x"].dtype == pl.Null:
        back = back.cast(pl.Null)
    assert back.to_list() == values


def test_the_only_column_must_be_the_fitted_one_too():
    model = TopicModel(n_topics=2).fit(pd.DataFrame({"subject": TEXTS}))
    with pytest.raises(
        InputError, match="the table has no column 'subject', which held the texts in the fit"
    ):
        model.assign(pd.DataFrame({"number": [1, 2]}))
    assert len(model.assign(pd.Series(TEXTS[:2], name="number"))) == 2


def batches(rows, schema=None):
    """A reader that says how many batches were asked for."""
    asked = []

    def each():
        for start in range(0, N, 5):
            asked.append(start)
            yield pa.RecordBatch.from_pylist(
                [{k: v[i] for k, v in rows.items()} for i in range(start, min(start + 5, N))]
            )

    return pa.RecordBatchReader.from_batches(schema or pa.table(rows).schema, each()), asked


def test_record_batches_are_a_stream():
    reader, asked = batches(ROWS)
    source = TableStream("", reader=reader, text="subject", batch_rows=10)
    stream = iter(source)
    assert next(stream).texts.to_list() == [text or "" for text in TEXTS[:10]]
    assert asked == [0, 5]
    assert [len(batch.texts) for batch in stream][-1] == (N % 10 or 10)
    with pytest.raises(InputError, match="already read, which is possible once"):
        next(iter(source))


def test_record_batches_that_cannot_be_used():
    with pytest.raises(InputError, match=r"has no column 'subjct'; it has .*did you mean 'subject'"):
        TopicModel(n_topics=2).fit(batches(ROWS)[0], text="subjct")
    with pytest.raises(InputError, match=r"has no column 'day'"):
        TopicModel(n_topics=2).fit(batches(ROWS)[0], text="subject", date="day")
    with pytest.raises(InputError, match="no texts were given"):
        TopicModel(n_topics=2).fit(pa.table({"text": pa.array([], pa.string())}).to_reader())

    def lost():
        yield pa.RecordBatch.from_pylist([{"text": "a"}])
        raise OSError("the connection was lost")

    with pytest.raises(InputError, match="could not be read: the connection was lost"):
        TopicModel(n_topics=2).fit(
            pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), lost())
        )


def test_a_model_of_record_batches_is_saved_with_its_rows(tmp_path):
    model = TopicModel(n_topics=2).fit(duckdb_table().to_arrow_reader(), text="subject", classes="team")
    model.save(tmp_path / "run")
    assert pl.read_parquet(tmp_path / "run" / "assignments.parquet")["team"].to_list() == ROWS["team"]
