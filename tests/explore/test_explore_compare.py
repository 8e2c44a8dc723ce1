"""Two runs side by side: the rules on tables of flows, and on runs that were edited."""

import shutil

import numpy as np
import pytest
from explore_runs import change, finished, make_run, write_texts
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coterie.topics.fates import fates

tables = arrays.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 30))


def compared(client, a, b):
    answer = client.get("/api/compare", params={"a": a, "b": b})
    assert answer.status_code == 200, answer.text
    return answer.json()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_nothing_moves_between_a_run_and_itself(sizes):
    found = fates(np.diag(sizes))
    assert found.moved == 0
    assert found.kept == [(i, i) for i in range(len(sizes))]
    assert (found.born, found.gone, found.merged, found.split) == ([], [], {}, {})


@given(tables)
def test_every_topic_has_a_fate_and_the_other_direction_tells_the_same(flows):
    found, back = fates(flows), fates(flows.T)
    assert found.born == back.gone
    assert found.gone == back.born
    assert found.merged == back.split
    assert found.split == back.merged
    assert {(j, i) for i, j in found.kept} == set(back.kept) or _ties(flows)
    assert 0 <= found.moved <= flows.sum()
    linked = {j for j in range(flows.shape[1]) if j not in found.born}
    told = {j for _, j in found.kept} | set(found.merged) | {j for to in found.split.values() for j in to}
    assert told <= linked


def _ties(flows):
    return any(len(set(line[line > 0])) < (line > 0).sum() for line in (*flows, *flows.T))


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_topics_changes_nothing(flows, random):
    order = list(range(len(flows)))
    random.shuffle(order)
    found, mixed = fates(flows), fates(flows[order])
    assert mixed.moved == found.moved
    assert mixed.born == found.born
    assert sorted(order[i] for i in mixed.gone) == found.gone
    assert {j: sorted(order[i] for i in of) for j, of in mixed.merged.items()} == found.merged


def test_a_topic_that_is_made_of_pieces_is_born_and_one_that_falls_apart_is_gone():
    flows = np.array([[8, 0, 2], [0, 8, 2], [2, 2, 0]])
    found = fates(flows)
    assert found.born == [2]
    assert found.gone == [2]
    assert found.kept == [(0, 0), (1, 1)]
    assert found.moved == 2 + 2 + 2


def test_a_run_is_the_same_as_itself(client):
    found = compared(client, "run", "run")
    assert found["same_texts"]
    assert found["moved"] == 0
    assert found["common"] == sum(flow["count"] for flow in found["flows"]) == 160
    assert [(kept["from"], kept["to"], kept["share"]) for kept in found["kept"]] == [
        (i, i, 1.0) for i in (t["id"] for t in found["a"])
    ]
    assert not any(found[name] for name in ("born", "gone", "merged", "split"))


@pytest.mark.slow
@pytest.mark.parametrize("by_row", [True, False])
def test_edits_are_seen_for_what_they_are(client, folder, by_row):
    for name in ("merged", "split"):
        shutil.copytree(folder / "run", folder / name)
    assert finished(client, change(client, run="merged", kind="merge", topics=[0, 1]))["state"] == "done"
    assert finished(client, change(client, run="split", kind="split", topics=[2], parts=2))["state"] == "done"
    if not by_row:
        _forget_fingerprints(folder)
    found = compared(client, "run", "merged")
    assert found["same_texts"] is by_row
    assert found["merged"] == [{"into": 0, "from": [0, 1]}] or found["merged"] == [
        {"into": 0, "from": [1, 0]}
    ]
    assert (found["moved"], found["split"], found["born"], found["gone"]) == (0, [], [], [])
    back = compared(client, "merged", "run")
    assert back["split"][0]["from"] == 0
    assert sorted(back["split"][0]["into"]) == [0, 1]
    found = compared(client, "run", "split")
    assert found["split"][0]["from"] == 2
    assert len(found["split"][0]["into"]) == 2
    assert found["merged"] == []
    smaller = min(topic["size"] for topic in found["b"] if topic["id"] in found["split"][0]["into"])
    assert found["moved"] == smaller


def _forget_fingerprints(folder):
    import json

    for number, name in enumerate(("run", "merged", "split")):
        path = folder / name / "run.json"
        info = json.loads(path.read_text())
        info["data"]["sha256"] = f"{number}" * 64
        path.write_text(json.dumps(info))


def test_other_texts_have_little_in_common(client, folder, tmp_path):
    make_run(folder / "other", write_texts(tmp_path / "other.csv", 80, seed=9))
    found = compared(client, "run", "other")
    assert not found["same_texts"]
    assert 0 < found["common"] < 80
    assert found["common"] == sum(flow["count"] for flow in found["flows"])


def test_runs_that_are_not_there(client):
    assert client.get("/api/compare", params={"a": "run", "b": "none"}).status_code == 404
    assert client.get("/api/compare", params={"a": "run"}).status_code == 422
    assert client.get("/api/compare", params={"a": "run", "b": "run", "c": "1"}).status_code == 422
