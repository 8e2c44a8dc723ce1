"""From a file to a run folder every row is read once, every text tokenised once, every distinct text scored once.

Whoever adds a pass makes these counts grow.
"""

import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from coterie import TopicModel
from coterie.cluster import Coterie
from coterie.corpus.encoder import Encoder
from coterie.errors import InputError
from coterie.methods import fitted
from coterie.report.page import content_of
from coterie.runs import edits_of, fit_run, open_run, relabel
from coterie.storage.state import read_state
from coterie.text import read_texts
from coterie.text.readers import TextSource
from coterie.topics import Edit
from coterie.topics import edits as log

POOLS = [
    ["parcel", "courier", "depot", "van", "late", "lost"],
    ["refund", "invoice", "card", "tax", "money", "bank"],
    ["password", "captcha", "token", "cookie", "login", "mail"],
]


def tickets(n_texts=400, seed=0):
    """Texts of three topics, some of them several times, none of them beyond doubt."""
    rng = np.random.default_rng(seed)
    texts = [
        " ".join([*rng.choice(POOLS[i % 3], 3, replace=False), *rng.choice(POOLS[(i + 1) % 3], 1)])
        for i in range(n_texts)
    ]
    return [*texts, *texts[:80], "", "xyzzy"]


@pytest.fixture
def counts(monkeypatch):
    """How often a source was begun, and how many texts were tokenised and scored."""
    found = Counter()

    def counted(owner, name, key, size):
        original = getattr(owner, name)

        def wrapped(self, *args, **kwargs):
            found[key] += size(*args)
            return original(self, *args, **kwargs)

        monkeypatch.setattr(owner, name, wrapped)

    counted(TextSource, "__iter__", "passes", lambda: 1)
    counted(Encoder, "encode", "tokenised", len)
    counted(Coterie, "score_rows", "scored", lambda X, *_: X.shape[0])
    counted(fitted.BorrowedSpace, "score", "scored", lambda X, *_: X.shape[0])
    return found


#: How a topic's name is written is looked up in so many texts at most.
SPELLED = 40


@pytest.mark.slow
@pytest.mark.parametrize("method", ["coterie", "nmf-idf", "spherical-kmeans"])
@pytest.mark.parametrize("batch_rows", [37, 20_000])
def test_a_fit_looks_at_every_text_once(tmp_path, counts, method, batch_rows):
    texts = tickets()
    pl.DataFrame(
        {
            "subject": texts,
            "day": ["2024-01-01", "2024-02-01"] * (len(texts) // 2),
            "team": ["a", "b"] * (len(texts) // 2),
        }
    ).write_csv(tmp_path / "tickets.csv")
    source = read_texts(tmp_path / "tickets.csv", "subject", batch_rows=batch_rows)
    run = fit_run(
        source, tmp_path / "run", TopicModel(n_topics=3, method=method), date="day", class_column="team"
    )
    # words that nobody else used were encoded, too: copies are told by their words
    assert run.info["data"]["texts"] == len(texts)
    assert 0 <= counts.pop("tokenised") - len(texts) <= SPELLED * len(run.model.topics)
    assert counts == {"passes": 1, "scored": run.info["distinct"]}
    assert run.info["distinct"] < len(texts) - 70
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_the_counts_see_a_second_look(tmp_path, counts):
    """What the test above relies on."""
    model = TopicModel(n_topics=3).fit(tickets())
    before = dict(counts)
    model.assign(["late parcel", "refund"])
    assert counts["tokenised"] == before["tokenised"] + 2
    assert counts["scored"] == before["scored"] + 2


def test_labels_are_changed_without_looking_at_texts(tmp_path, counts):
    pl.DataFrame({"subject": tickets()}).write_csv(tmp_path / "tickets.csv")
    run = fit_run(read_texts(tmp_path / "tickets.csv"), tmp_path / "run", TopicModel(n_topics=3))
    counts.clear()
    run.model.edits.rename(0, "Post")
    run.save()
    run.model.edits.undo()
    run.save()
    assert not counts


def test_undo_returns_to_what_there_was_without_a_look(counts):
    model = TopicModel(n_topics=3).fit(tickets())
    before = model.state
    model.edits.merge(0, 1)
    assert model.state.scores is not before.scores
    counts.clear()
    model.edits.undo()
    assert model.state is before
    assert not counts


def test_an_edit_scores_every_distinct_text_once(counts):
    model = TopicModel(n_topics=3).fit(tickets())
    distinct = model.collection.corpus.n_distinct
    counts.clear()
    model.edits.merge(0, 1)
    assert counts.pop("tokenised") <= SPELLED * len(model.topics)
    assert counts == {"scored": distinct}


def test_a_row_that_cannot_be_read_costs_no_second_look(tmp_path, counts):
    """It used to be taken for a collection without words that two texts share."""
    (tmp_path / "tickets.csv").write_text(
        "id,subject\n" + "\n".join(f"{i},late parcel {i}" for i in range(50)) + "\n1,2,3\n"
    )
    with pytest.raises(InputError, match="line 52"):
        fit_run(
            read_texts(tmp_path / "tickets.csv", "subject", batch_rows=10), tmp_path / "run", TopicModel(2)
        )
    assert counts["passes"] == 1
    assert counts["tokenised"] <= 50


def test_skipped_rows_of_all_batches_are_counted(tmp_path):
    lines = ["id,subject"]
    for number, text in enumerate(tickets()):
        lines += [f"{number},{text}"] + ["1,2,3,4"] * (number % 17 == 0)
    (tmp_path / "tickets.csv").write_text("\n".join(lines))
    bad = lines.count("1,2,3,4")
    source = read_texts(tmp_path / "tickets.csv", "subject", batch_rows=40, skip_bad=True)
    run = fit_run(source, tmp_path / "run", TopicModel(n_topics=3))
    assert bad > 20
    assert run.info["data"]["skipped"] == source.skipped == bad
    assert content_of((tmp_path / "run" / "report.html").read_text())["facts"]["skipped"] == bad


# --- labels, the fast way and the slow one


def without_times(folder):
    """The files of a run, without when it was made and how long that took."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    record = json.loads(files.pop("run.json"))
    report = content_of(files.pop("report.html").decode())
    for name in ("made", "seconds", "files"):
        record.pop(name)
    report["facts"].pop("made")
    report.pop("seconds")
    files.pop("edits.json"), files.pop("model/state.json")
    state = read_state(folder / "model", "model")
    edits = [replace(edit, made="") for edit in log.loads(state.pop("edits"))]
    assert edits == [replace(edit, made="") for edit in edits_of(folder)]
    return files, record, report, repr(state), edits


@pytest.mark.slow
@pytest.mark.parametrize("label", ["Post", "  =1+1 ", "card, refund, money"])
def test_renaming_writes_what_a_full_save_writes(tmp_path, monkeypatch, label):
    texts = tickets()
    pl.DataFrame({"subject": texts, "topic": range(len(texts))}).write_csv(tmp_path / "tickets.csv")
    fit_run(read_texts(tmp_path / "tickets.csv", "subject"), tmp_path / "fast", TopicModel(n_topics=3))
    shutil.copytree(tmp_path / "fast", tmp_path / "slow")
    done = relabel.rename(tmp_path / "fast", 1, label)
    assert [topic.label for topic in done.changed][:1] == [label.strip()] or label.startswith("card")
    slow = open_run(tmp_path / "slow")
    slow.with_texts().edits.rename(1, label)
    monkeypatch.setattr("coterie.runs.run.only_renames", lambda *_: False)
    slow.save()
    assert without_times(tmp_path / "fast") == without_times(tmp_path / "slow")
    reopened = open_run(tmp_path / "fast")
    assert reopened.model.topics == open_run(tmp_path / "slow").model.topics
    assert set(reopened.table["label"].drop_nulls()) == {topic.label for topic in reopened.model.topics}


def test_only_renames_take_the_fast_way():
    name, other = Edit("rename", label="a"), Edit("rename", label="b")
    merge = Edit("merge")
    assert relabel.only_renames([merge], [merge, name])
    assert relabel.only_renames([merge, name], [merge])
    assert relabel.only_renames([name], [other])
    assert not relabel.only_renames([name], [name, merge])
    assert not relabel.only_renames([merge], [])
    assert not relabel.only_renames([name, merge], [merge])
