"""Counts that react to filters, colours of points, and what sets texts apart: compared with plain counting."""

import struct

import numpy as np
import polars as pl
import pytest
from explore_runs import WORDS, client_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_explore_read import get, ready

from coterie.explore.counts import log_likelihood
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.topics import TopicModel

TEAMS, CITIES = ["north", "south", "a:b"], ["Rome", "Oslo"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    names = list(WORDS)
    kinds = [names[number % 4] for number in range(240)]
    folder = tmp_path_factory.mktemp("counts")
    frame = pl.DataFrame(
        {
            "text": [" ".join(rng.choice(WORDS[name], 4, replace=False)) for name in kinds],
            "date": [f"2024-{number % 6 + 1:02}-{number % 28 + 1:02}" for number in range(240)],
            "class": kinds,
            "team": [TEAMS[int(at)] if at < 3 else "" for at in rng.integers(0, 4, 240)],
            "city": rng.choice(CITIES, 240),
            "id": list(range(240)),
            "same": ["x"] * 240,
        }
    )
    frame.write_csv(folder / "texts.csv")
    source = read_texts(folder / "texts.csv", "text")
    fit_run(source, folder / "runs" / "run", TopicModel(4), date="date", class_column="class", edits=())
    return folder, frame


@pytest.fixture(scope="module")
def asked(table):
    with client_of(table[0] / "runs") as client:
        ready(client)
        yield client, table[1]


def counted(client, path="counts", **query):
    answer = client.get(f"/api/runs/run/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_columns_of_few_values_are_counted_and_no_others(asked):
    client, frame = asked
    found = counted(client)
    assert found["total"] == 240
    assert [(one["name"], one["is_class"]) for one in found["columns"]] == [
        ("class", True), ("team", False), ("city", False),
    ]  # fmt: skip
    for column in found["columns"]:
        plain = dict(frame[column["name"]].value_counts().iter_rows())
        plain.pop("", None)
        assert {value["name"]: value["count"] for value in column["values"]} == plain
        sizes = [value["texts"] for value in column["values"]]
        assert sizes == sorted(sizes, reverse=True)
    months = found["over_time"]
    assert months["every"] == "month" or months["every"] == "week"
    assert sum(period["count"] for period in months["periods"]) == 240
    assert all(a["last"] < b["first"] for a, b in zip(months["periods"], months["periods"][1:], strict=False))


filters = st.fixed_dictionaries(
    {
        "team": st.sets(st.sampled_from(TEAMS)),
        "city": st.sets(st.sampled_from(CITIES)),
        "class": st.sets(st.sampled_from(list(WORDS))),
        "since": st.none() | st.sampled_from(["2024-02-03", "2024-05-01"]),
        "q": st.sampled_from(["", "parcel", "card"]),
    }
)


@given(filters)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_kind_is_counted_without_its_own_filter(asked, wanted):
    client, frame = asked
    numbers = {column["name"]: column["column"] for column in counted(client)["columns"]}
    query = {
        "only": [f"{numbers[name]}:{value}" for name in ("team", "city") for value in sorted(wanted[name])],
        "class": sorted(wanted["class"]),
        "q": wanted["q"],
        **({"since": wanted["since"]} if wanted["since"] else {}),
    }
    found = counted(client, **query)

    def plain(without):
        rows = frame
        for name in ("team", "city", "class"):
            if name != without and wanted[name]:
                rows = rows.filter(pl.col(name).is_in(sorted(wanted[name])))
        if without != "date" and wanted["since"]:
            rows = rows.filter(pl.col("date") >= wanted["since"])
        return rows.filter(pl.col("text").str.contains(wanted["q"]))

    assert found["total"] == len(plain(None)) == counted(client, "texts", limit=1, **query)["total"]
    for column in found["columns"]:
        counts = dict(plain(column["name"])[column["name"]].value_counts().iter_rows())
        assert [value["count"] for value in column["values"]] == [
            counts.get(value["name"], 0) for value in column["values"]
        ]
    assert sum(period["count"] for period in found["over_time"]["periods"]) == len(plain("date"))
    assert sum(topic["count"] for topic in found["topics"]) == len(plain(None))


def test_topics_are_counted_without_the_topic_that_is_chosen(asked):
    client, _ = asked
    every = counted(client, since="2024-03-01")
    assert sum(topic["count"] > 0 for topic in every["topics"]) == 4
    one = every["topics"][0]["id"]
    assert counted(client, since="2024-03-01", topic=one)["topics"] == every["topics"]


def test_points_tell_the_group_they_are_coloured_by(asked):
    client, frame = asked
    found = counted(client)
    team = next(column for column in found["columns"] if column["name"] == "team")
    months = [period["name"] for period in found["over_time"]["periods"]]
    names = [value["name"] for value in team["values"]]

    def groups(colour):
        body = client.get("/api/runs/run/map", params={"colour": colour}).content
        n, _, _, there = struct.unpack("<4I", body[:16])
        assert (n, there) == (240, 1)
        assert len(body) == 16 + n * (4 + 4 + 4 + 2 + 2 + 1)
        return np.frombuffer(body, "<u4", n, 16 + 8 * n), np.frombuffer(body, "<i2", n, 16 + 12 * n)

    rows, codes = groups(team["column"])
    assert [names[code] if code >= 0 else "" for code in codes] == frame["team"][rows].to_list()
    rows, codes = groups("date")
    if found["over_time"]["every"] == "month":
        assert [months[code] for code in codes] == frame["date"][rows].str.slice(0, 7).to_list()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/runs/run/map?colour=0", "no column 0 of few values to colour by"),
        ("/runs/run/counts?only=999:x", "no column 999 of few values"),
        ("/runs/run/counts?only=team", "only"),
        ("/runs/run/map?colour=team", "colour"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(asked, path, said):
    assert said in get(asked[0], path, status=422)["error"]


def test_contrasts_name_what_the_texts_have_more_than_the_rest(asked):
    client, frame = asked
    chosen = frame.filter(pl.col("class") == "shipping")
    found = counted(client, "contrasts", **{"class": "shipping"})
    assert (found["total"], found["rest"]) == (len(chosen), 240 - len(chosen))
    assert {word["name"] for word in found["words"]} <= set(WORDS["shipping"])
    assert len(found["words"]) >= 3
    for word in found["words"]:
        assert word["count"] == chosen["text"].str.contains(word["name"]).sum()
        assert word["share"] == pytest.approx(word["count"] / len(chosen), abs=1e-4)
        assert word["rest"] == 0
    top = found["topics"][0]
    assert top["share"] > 0.9 > 0.1 > top["rest"]
    assert sum(period["count"] for period in found["periods"]) == len(chosen)
    assert found["columns"] == []  # the class is what they were filtered by
    word = counted(client, "contrasts", q="parcel")
    assert [value["name"] for value in word["columns"][0]["values"]] == ["shipping"]


def test_contrasts_leave_out_what_the_texts_were_filtered_by(asked):
    client, _ = asked
    class_number = next(
        one["column"] for one in counted(client, "counts")["columns"] if one["name"] == "class"
    )
    for asked_for in ({"class": "shipping"}, {"only": f"{class_number}:shipping"}):
        found = counted(client, "contrasts", **asked_for)
        assert "class" not in {column["name"] for column in found["columns"]}
        assert found["periods"]
    assert counted(client, "contrasts", since="2024-03-01")["periods"] == []


def test_counts_say_how_many_match_in_all_topics(asked):
    client, frame = asked
    wanted = frame["text"].str.contains("parcel").sum()
    topics = {one["id"]: one["count"] for one in counted(client, "counts", q="parcel")["topics"]}
    empty = min(topics, key=topics.get)
    found = counted(client, "counts", q="parcel", topic=empty)
    assert (found["total"], found["in_all_topics"]) == (topics[empty], wanted)


def test_nothing_sets_all_texts_or_no_text_apart(asked):
    client, _ = asked
    assert counted(client, "contrasts")["words"] == []
    none = counted(client, "contrasts", q="nosuchword")
    assert (none["total"], none["words"], none["topics"]) == (0, [], [])


@given(st.integers(1, 50), st.integers(1, 50), st.data())
def test_the_likelihood_is_symmetric_and_0_only_for_equal_shares(n, m, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    one = float(log_likelihood(np.array([float(a)]), n, np.array([float(b)]), m)[0])
    other = float(log_likelihood(np.array([float(b)]), m, np.array([float(a)]), n)[0])
    assert one == pytest.approx(other)
    assert (abs(one) < 1e-9) == (a * m == b * n)
