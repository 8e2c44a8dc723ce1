"""Rows are chosen and sorted as a plain reading of the table says; texts come from disk."""

import csv
import datetime as dt
import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.explore.opened import OpenedRun
from coterie.explore.search import Words, folded
from coterie.explore.selection import Filters
from coterie.runs import fit_run, open_run
from coterie.runs.record import TABLE
from coterie.text import read_texts
from coterie.topics import TopicModel

WORDS = {
    "post": ["parcel", "courier", "depot", "tracking", "doorstep", "van"],
    "money": ["refund", "invoice", "card", "payment", "receipt", "tax"],
    "account": ["password", "username", "captcha", "token", "browser", "cookie"],
}
ODD = ["", "zzz", "Café REFUND", "<script>alert(1)</script> refund", "=cmd() refund", "港股缩量回调 refund"]


def write(path, names=("id", "when", "kind", "text")):
    rng = np.random.default_rng(0)
    with open(path, "w", newline="", encoding="utf-8") as file:
        sheet = csv.writer(file)
        sheet.writerow(names)
        for number in range(180):
            name = list(WORDS)[number % 3]
            text = " ".join(rng.choice(WORDS[name], rng.integers(2, 6), replace=False))
            text = ODD[number // 10] if number % 10 == 0 and number // 10 < len(ODD) else text
            when = (
                ""
                if number % 17 == 0
                else str(dt.date(2024, 1, 1) + dt.timedelta(days=int(number * 7 % 200)))
            )
            sheet.writerow([number, when, "" if number % 13 == 0 else name, text])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    source = read_texts(write(folder / "texts.csv"), "text")
    fit_run(source, folder / "run", TopicModel(3), date="when", class_column="kind", edits=())
    return folder / "run"


@pytest.fixture(scope="module")
def opened(folder):
    return OpenedRun(open_run(folder), "run", "0" * 16)


@pytest.fixture(scope="module")
def table(folder):
    return pl.read_parquet(folder / TABLE).with_row_index("row")


def plain(text):
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", bare).lower()


def expected(table, filters):
    """The rows that filters choose, read off the table one by one."""
    found = []
    for row in table.iter_rows(named=True):
        day = dt.date.fromisoformat(row["when"]) if row["when"] else None
        holds = [
            # a text without a known word is answered with the largest topic and counts in none
            not filters.topics or (row["topic"] in filters.topics and row["reason"] != "no known word"),
            filters.least is None or np.float32(row["confidence"]) >= np.float32(filters.least),
            filters.most is None or np.float32(row["confidence"]) <= np.float32(filters.most),
            not filters.classes or row["kind"] in filters.classes,
            filters.since is None or (day is not None and day >= filters.since),
            filters.until is None or (day is not None and day <= filters.until),
            not filters.rows or row["row"] in filters.rows,
            filters.known is None or (row["reason"] != "no known word") == filters.known,
            all(
                any(word.startswith(plain(wanted)) for word in plain(row["text"] or "").split())
                for wanted in filters.q.split()
            ),
        ]
        if all(holds):
            found.append(row["row"])
    return found


DATES = st.none() | st.dates(dt.date(2023, 12, 1), dt.date(2024, 9, 1))
FILTERS = st.builds(
    Filters,
    q=st.sampled_from(["", "", "ref", "REFUND", "tax inv", "cafe", "qqq"]),
    topics=st.sets(st.integers(0, 4), max_size=2).map(lambda s: tuple(sorted(s))),
    least=st.none() | st.floats(0, 1),
    most=st.none() | st.floats(0, 1),
    classes=st.sets(st.sampled_from(["post", "money", "nobody"]), max_size=2).map(lambda s: tuple(sorted(s))),
    since=DATES,
    until=DATES,
    rows=st.sets(st.integers(0, 300), max_size=60).map(lambda s: tuple(sorted(s))),
    known=st.none() | st.booleans(),
)


@pytest.mark.slow
@given(FILTERS)
def test_filters_choose_what_the_table_says(opened, table, filters):
    chosen = opened.selection().chosen(filters)
    rows = list(range(180)) if chosen is None else chosen.tolist()
    assert rows == expected(table, filters)
    mask = opened.selection().mask(filters)
    assert mask is None or np.flatnonzero(mask).tolist() == rows


@pytest.mark.parametrize("sort", ["row", "confidence", "topic", "date", "class", "length", "match"])
@pytest.mark.parametrize("descending", [False, True])
def test_orders_are_stable_and_what_is_missing_comes_last(opened, table, sort, descending):
    rows = opened.selection().ordered(Filters(), sort, descending).tolist()
    assert sorted(rows) == list(range(180))
    places = {topic: place for place, topic in enumerate(opened.ids)}
    keys = {
        "row": lambda row: row["row"],
        "confidence": lambda row: float(np.float32(row["confidence"])),
        "topic": lambda row: places.get(row["topic"]),
        "date": lambda row: row["when"] or None,
        "class": lambda row: row["kind"] or None,
        "length": lambda row: len(row["text"] or ""),
        "match": lambda row: 0,
    }
    values = [keys[sort](row) for row in table.iter_rows(named=True)]
    there = [row for row in range(180) if values[row] is not None]
    levels = sorted({values[row] for row in there}, reverse=descending)
    ranked = [row for level in levels for row in there if values[row] == level]  # equal ones as they came
    assert rows == [*ranked, *(row for row in range(180) if values[row] is None)]


def test_a_page_has_the_texts_of_its_rows(opened, table):
    rows = np.array([20, 3, 0, 179])
    for text, row in zip(opened.texts.at(rows), rows.tolist(), strict=True):
        cells = table.row(row, named=True)
        assert (text.row, text.text, text.topic) == (row, cells["text"] or "", cells["topic"])
        assert (text.second, text.class_, text.date) == (
            cells["second"],
            cells["kind"] or None,
            cells["when"] or None,
        )
        assert text.confidence == pytest.approx(cells["confidence"], abs=1e-4)
        reason = "; ".join(
            part
            for part in (
                text.note,
                ", ".join(text.words),
                f"related: {', '.join(text.related)}" if text.related else "",
            )
            if part
        )
        assert reason == cells["reason"]
        marked = {text.text[a:b].lower() for a, b, kind in text.marks if kind == "word"}
        assert len(marked) == len(text.words)


def test_long_texts_are_cut_in_pages_and_whole_by_themselves(tmp_path):
    long = "tea " * 600 + "kettle"
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text", *["kettle tea", "milk tea"] * 5, long]) + "\n", encoding="utf-8")
    run = fit_run(read_texts(path, "text"), tmp_path / "run", TopicModel(1), edits=())
    opened = OpenedRun(run, "run", "0" * 16)
    page = opened.texts.at(np.array([0, 10]), Filters(q="kettle"))
    assert [text.cut for text in page] == [False, True]
    assert len(page[1].text) == 2000
    assert page[0].marks[0] == (0, 6, "query")
    whole = opened.texts.at(np.array([10]), Filters(q="kettle"), whole=True)[0]
    assert (whole.cut, whole.text) == (False, long)
    assert (2400, 2406, "query") in whole.marks


def test_columns_may_be_called_anything(tmp_path):
    path = write(tmp_path / "texts.csv", names=("*", "^a$", "text\nx", "topic"))
    run = fit_run(
        read_texts(path, "topic"),
        tmp_path / "run",
        TopicModel(3),
        date="^a$",
        class_column="text\nx",
        edits=(),
    )
    opened = OpenedRun(run, "run", "0" * 16)
    text = opened.texts.at(np.array([1]))[0]
    assert text.class_ == "money"
    assert text.date == "2024-01-08"
    assert opened.rows().cells(np.array([1])).columns[:4] == ["*", "^a$", "text\nx", "topic"]
    assert opened.rows().cells(np.array([1]))["*"].to_list() == ["1"]
    assert len(opened.selection().chosen(Filters(classes=("money",)))) > 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_texts_that_came_as_tokens(tmp_path, kind):
    rows = [["late parcel", "van"], ["card", "refund"], [], ["van", "late parcel"], *[["card", "refund"]] * 3]
    frame = pl.DataFrame({"text": rows * 5})
    path = tmp_path / f"texts.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_ndjson(path)
    run = fit_run(read_texts(path, "text"), tmp_path / "run", TopicModel(2), edits=())
    opened = OpenedRun(run, "run", "0" * 16)
    first, empty = opened.texts.at(np.array([0, 2]))
    assert (first.text, empty.text) == ("late parcel van", "")
    assert {first.text[a:b] for a, b, _ in first.marks} == set(first.words) == {"late parcel", "van"}
    assert opened.counted.wait(60), opened.counted.problem
    assert len(opened.selection().chosen(Filters(q="parcel"))) == 10


def test_dates_and_classes_that_are_not_there_are_told(tmp_path):
    run = fit_run(read_texts(write(tmp_path / "t.csv"), "text"), tmp_path / "run", TopicModel(2), edits=())
    opened = OpenedRun(run, "run", "0" * 16)
    for filters, what in (
        (Filters(since=dt.date(2024, 1, 1)), "dates"),
        (Filters(classes=("a",)), "classes"),
    ):
        with pytest.raises(InputError, match=what):
            opened.selection().chosen(filters)
    assert opened.texts.at(np.array([0]))[0].date is None


def test_a_damaged_table_is_told(folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "run")
    (copy / TABLE).write_bytes((copy / TABLE).read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged"):
        OpenedRun(open_run(copy), "run", "0" * 16).rows()


# --- words


LETTERS = st.sampled_from(list("aAbß éÉe\u0301İIıﬁ'-.+#\"<(\\[^$ \n\u200b港股가각ㄱñN"))


def fold(text):
    return pl.DataFrame({"x": [text]}, schema={"x": pl.String}).select(folded(pl.col("x"))).item()


@given(st.lists(LETTERS, max_size=20).map("".join), st.lists(LETTERS, max_size=4).map("".join))
def test_words_are_found_as_a_plain_reading_finds_them(text, query):
    words = Words.of(query)
    found = bool(words.within(pl.Series([fold(text)], dtype=pl.String))[0])
    if words.parts:
        inside = all(fold(part).split() == [] or fold(part).split()[0] in fold(text) for part in words.parts)
        assert inside or not found
        if found:
            assert words.spans(text) or not text.isascii()
    for start, end in words.spans(text):
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("refund", "No REFUNDS here", ["REFUND"]),
        ("fund", "refund", []),
        ("cafe", "Le Cafe\u0301 noir", ["Cafe\u0301"]),
        ("CAFÉ", "cafés", ["café"]),
        ("c++", "C++ and c", ["C++"]),
        ("缩量", "港股缩量回调", ["缩量"]),
        ('"late parcel"', "parcel late, late  parcels", ["late  parcel"]),
        ("late parcel", "parcel late", ["parcel", "late"]),
        ("<b>", "a <B> c", ["<B>"]),
        ("fine", "ﬁne", ["ﬁne"]),
        ("👍", "ok 👍🏽", ["👍"]),
    ],
)
def test_where_words_stand(query, text, marked):
    words = Words.of(query)
    assert [text[a:b] for a, b in words.spans(text)] == marked
    assert bool(words.within(pl.Series([fold(text)]))[0]) == bool(marked)
