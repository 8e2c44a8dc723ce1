"""From a file to a run folder every row is read once, every text tokenised once, every distinct text scored once.

Whoever adds a pass makes these counts grow.
"""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from coterie import TopicModel
from coterie.cluster import Coterie
from coterie.corpus.encoder import Encoder
from coterie.methods import fitted
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.text.readers import TextSource

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
    assert counts == {"passes": 1, "tokenised": len(texts), "scored": run.info["distinct"]}
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
    assert counts == {"scored": distinct}
