"""Texts in memory: whatever holds them in Python gives the same series."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.text.inputs import choose_column, clean, known_length, text_batches, text_column

TEXTS = ["a cat", "", "=1+1", "漢字 👍🏽", 'line\nbreak, "quotes" \0 nul']
TOKENS = [["a", "cat"], [], ["漢字"], [""], ["x"]]


class Text(str):
    """A string of another class, as some libraries have."""


def read(source, column=None, rows=50_000):
    return [text for batch in text_batches(source, column, rows) for text in batch.to_list()]


HOLDERS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda texts: (text for text in texts),
    "iterator": iter,
    "dict keys": lambda texts: dict.fromkeys(texts).keys(),
    "subclass": lambda texts: [Text(text) for text in texts],
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "numpy scalars": lambda texts: list(map(np.str_, texts)),
    "polars": pl.Series,
    "polars categorical": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "polars object": lambda texts: pl.Series(texts, dtype=pl.Object),
    "pandas": pd.Series,
    "pandas object": lambda texts: pd.Series(texts, dtype=object, index=range(len(texts), 0, -1)),
    "pandas arrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "pandas categorical": lambda texts: pd.Series(texts, dtype="category"),
    "pandas index": pd.Index,
    "arrow": pa.array,
    "arrow large": lambda texts: pa.array(texts, pa.large_string()),
    "arrow view": lambda texts: pa.array(texts, pa.string_view()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:2], [], texts[2:]], pa.string()),
}
TABLES = {
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "arrow": pa.table,
    "arrow batch": pa.RecordBatch.from_pydict,
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("rows", [1, 2, 5, 50_000])
def test_every_holder_gives_the_same_texts(holder, rows):
    batches = list(text_batches(HOLDERS[holder](TEXTS), None, rows))
    assert [text for batch in batches for text in batch.to_list()] == TEXTS
    assert all(batch.dtype == pl.String and 0 < len(batch) <= rows for batch in batches)


def test_numpy_strings():
    assert read(np.array(["a", "漢字"])) == ["a", "漢字"]
    assert read(np.array(["a", "b"], dtype="O")[::-1]) == ["b", "a"]
    assert read(np.ma.array(["a", "b"], mask=[False, True])) == ["a", ""]
    assert read(np.array(["a", "b"], dtype=np.dtypes.StringDType())) == ["a", "b"]


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    make = TABLES[kind]
    assert read(make({"id": list(range(5)), "text": TEXTS}), "text", rows=2) == TEXTS
    assert read(make({"text": TEXTS})) == TEXTS  # the only column need not be named
    assert read(make({"id": [1, 2], "text": ["a", None]}), "text") == ["a", ""]
    with pytest.raises(
        InputError, match=r"^the table has no column 'Text'; it has 'id', 'text'; did you mean 'text'\?$"
    ):
        read(make({"id": [1], "text": ["a"]}), "Text")
    with pytest.raises(
        InputError,
        match=r"^the table has several columns: 'id', 'text'; pass the one with the texts, such as table\['text'\]$",
    ):
        read(make({"id": [1], "text": ["a"]}))


@pytest.mark.parametrize("name", ["column_names", "columns", "schema", "iloc"])
def test_column_names_that_are_also_attributes(name):
    for make in TABLES.values():
        assert read(make({name: ["a"], "other": ["b"]}), "other") == ["b"]


def test_column_names_that_are_no_strings():
    assert read(pd.DataFrame([["a", 1], ["b", 2]]), "0") == ["a", "b"]
    assert read(pd.DataFrame(["a", "b"])) == ["a", "b"]


def test_columns_of_the_same_name():
    for table in (
        pd.DataFrame([["a", "b"]], columns=["text", "text"]),
        pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]),
    ):
        with pytest.raises(InputError, match="the table has 2 columns called 'text'; rename all but one"):
            read(table, "text")
    with pytest.raises(InputError, match="the table has no columns"):
        read(pl.DataFrame())


TOKEN_HOLDERS = {
    "lists": list,
    "tuples": lambda tokens: [tuple(t) for t in tokens],
    "tuple of lists": tuple,
    "arrays": lambda tokens: [np.array(t, dtype=object) for t in tokens],
    "generator": iter,
    "pandas": pd.Series,
    "polars": pl.Series,
    "polars object": lambda tokens: pl.Series(tokens, dtype=pl.Object),
    "arrow": pa.array,
    "numpy": lambda tokens: pd.Series(tokens).to_numpy(),
}


@pytest.mark.parametrize("holder", TOKEN_HOLDERS)
@pytest.mark.parametrize("rows", [1, 2, 50_000])
def test_tokens(holder, rows):
    batches = list(text_batches(TOKEN_HOLDERS[holder](TOKENS), None, rows))
    assert [tokens for batch in batches for tokens in batch.to_list()] == TOKENS
    assert all(batch.dtype == pl.List(pl.String) for batch in batches)


@pytest.mark.parametrize("make", [list, iter, pd.Series, pl.Series, pa.array])
def test_missing_tokens(make):
    assert read(make([["a"], None, ["b"], None, None]), rows=2) == [["a"], [], ["b"], [], []]
    assert read(pl.Series([["a", None], [None]])) == [["a"], []]
    assert read(pl.Series([["a", "b"]], dtype=pl.Array(pl.String, 2))) == [["a", "b"]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, float("nan"), pd.NA, pd.NaT, np.float32("nan")], [""] * 5),
        (
            [3, 2.5, True, np.int8(4), np.float64(0.5), np.bool_(False)],
            ["3", "2.5", "True", "4", "0.5", "False"],
        ),
        (np.array([1, 2]), ["1", "2"]),
        (pl.Series([1.5, None, float("nan")]), ["1.5", "", ""]),
        (pd.Series([1.5, None]), ["1.5", ""]),
        (pd.Series(["a", None, np.nan]), ["a", "", ""]),
        (pa.array(["a", None]), ["a", ""]),
        (pl.Series([None, None]), ["", ""]),
        (pl.Series([datetime.date(2024, 5, 1)]), ["2024-05-01"]),
        (pl.Series([decimal.Decimal("1.50")]), ["1.50"]),
    ],
)
def test_missing_texts_are_empty_and_numbers_their_spelling(values, expected):
    assert read(values) == expected


@pytest.mark.parametrize("empty", [[], (), iter([]), np.array([], dtype=object), pl.Series([], dtype=pl.String),
                                   pd.Series([], dtype=object), pa.array([], pa.string()), pl.DataFrame({"text": []})])  # fmt: skip
def test_no_texts_are_one_empty_batch(empty):
    (batch,) = text_batches(empty)
    assert (len(batch), batch.dtype) == (0, pl.String)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "one text",
            r"got a single string; put it in a list, or read a file with coterie\.text\.read_texts",
        ),
        (b"one text", "got a single string"),
        (csr_matrix([[1, 0]]), r"got a sparse matrix; pass the texts themselves"),
        (bytearray(b"abc"), "must be a list of texts, got bytearray"),
        ({"a": "text"}, "must be a list of texts, got dict"),
        ({"a", "b"}, "must be a list of texts, got set"),
        (None, "must be a list of texts, got NoneType"),
        (7, "must be a list of texts, got int"),
        (["a", b"b"], "text 1 must be a string, got bytes: \"b'b'\""),
        (["a", {"b": 1}], "text 1 must be a string, got dict"),
        (["a", datetime.date(2024, 5, 1)], "text 1 must be a string, got date: '2024-05-01'"),
        (["a", ["b"]], "text 0 must be a list of tokens like the others, got 'a'"),
        ([["a"], ["b", 7]], "text 1 must be a list of strings, but contains 7"),
        ([["a"], [["b"]]], r"text 1 must be a list of strings, but contains \['b'\]"),
        (["a", "b\ud800c"], r"text 1 contains half a character \(a lone surrogate\): 'b\\ud800c'"),
        (["a", 7, "\udcff"], "text 2 contains half a character"),
        ([["a"], ["b", "\ud800"]], "text 1 contains half a character"),
        (np.array("text"), r"texts must be one column, got an array of shape \(\)"),
        (np.array([["a"], ["b"]]), r"texts must be one column, got an array of shape \(2, 1\)"),
        (pl.Series("s", [b"a"]), "column 's' contains Binary, not texts"),
        (pl.Series("s", [{"a": 1}]), "column 's' contains Struct.*, not texts"),
        (pl.Series("s", [[[1]]]), "column 's' contains List.*, not texts"),
        (pl.Series("s", [[b"a"]]), "column 's' contains List.*, not texts"),
        (pl.Series("s", [datetime.timedelta(1)]), "column 's' contains Duration.*, not texts"),
        (pa.array([b"a"]), "contains Binary, not texts"),
    ],
)
def test_what_holds_no_texts_is_told(source, message):
    with pytest.raises(InputError, match=message) as caught:
        read(source)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=message):
        Vectorizer().fit(source)


def test_messages_count_from_the_first_batch_on():
    with pytest.raises(InputError, match="text 4 must be a string, got bytes"):
        read(["a", "b", "c", "d", b"e"], rows=2)
    with pytest.raises(InputError, match="text 2 must be a string, got list"):
        read(["a", "b", ["c"]], rows=2)
    with pytest.raises(InputError, match="text 2 must be a list of tokens"):
        read([["a"], ["b"], "c"], rows=2)


def test_a_column_of_no_table():
    with pytest.raises(InputError, match="column='text' needs a table, but the texts are of type list"):
        read(["a"], "text")


def test_generators_are_read_no_further_than_needed():
    taken = []
    batches = text_batches((taken.append(i) or str(i) for i in range(10)), None, 3)
    assert next(batches).to_list() == ["0", "1", "2"]
    assert taken == [0, 1, 2]


def test_known_length():
    for sized in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pl.Series(["a", "b"]), pd.Series(["a", "b"]),
                  pa.array(["a", "b"]), pa.table({"t": ["a", "b"]}), pd.DataFrame({"t": ["a", "b"]})):  # fmt: skip
        assert known_length(sized) == 2
    for unknown in (iter(["a"]), pl.LazyFrame({"t": ["a"]}), np.array("a"), 7, None):
        assert known_length(unknown) is None


def test_choose_column():
    assert choose_column(["a"], None) == "a"
    assert choose_column(["a", "b"], "b") == "b"
    with pytest.raises(InputError, match=r"^file\.csv has no column 'c'; it has 'a', 'b'$"):
        choose_column(["a", "b"], "c", "file.csv")
    with pytest.raises(InputError, match=r"'n11' and 88 more$"):
        choose_column([f"n{i}" for i in range(100)], "c")


def test_series_keep_their_names():
    for dtype in (pl.String, pl.Object, pl.Categorical):
        assert text_column(pl.Series("name", ["a"], dtype=dtype)).name == "name"


@given(
    st.lists(st.text() | st.none() | st.integers() | st.floats() | st.booleans(), max_size=20),
    st.integers(1, 5),
)
def test_batches_together_are_the_whole(values, rows):
    whole = clean(values).to_list()
    assert read(values, rows=rows) == read(iter(values), rows=rows) == whole
    assert len(whole) == len(values)
    assert all(isinstance(text, str) for text in whole)


@given(st.lists(st.text(), max_size=20))
def test_texts_are_not_changed(texts):
    for make in (list, iter, pl.Series, pa.array, np.array) if texts else (list,):
        if make is np.array:
            texts = [text.rstrip("\0") for text in texts]  # numpy fills its strings up with these
        assert read(make(texts)) == texts
