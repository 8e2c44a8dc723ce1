"""How honest confidence is: of the texts of labelled sets that get a confidence, how many are where they belong.

    python benchmarks/confidence.py run [--set NAME ...]
    python benchmarks/confidence.py fit
    python benchmarks/confidence.py page

`run` fits topics and keeps them in `run/confidence`, one file for each fit, so that a run that was stopped goes on
where it was; delete a file to run it again. It takes about half an hour of one core. `fit` prints the
coefficients of `coterie.topics.confidence`; labels are used there, and to score. `page` writes docs/confidence.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.sparse import csr_matrix, diags

from coterie import Coterie, Vectorizer, datasets
from coterie.embeddings import vectors_of
from coterie.linalg.canonical import canonical
from coterie.methods import make
from coterie.topics.confidence import COEFFICIENTS, N_KEPT, learn_confidence, n_known, size_evidence
from coterie_papers.bench.collections import words_of

CACHE = Path(__file__).parents[1] / "run" / "confidence"
SETS = (
    "searchsnippets", "stackoverflow", "tweet", "agnews-test", "agnews", "googlenews-ts", "titles", "thucnews20k",
    "debian", "sample", "classic4", "reuters4", "wordnet", "reddit", "banking77", "clinc150", "clinc150-domain",
    "it-tickets",
)  # fmt: skip
#: Sets that are the same texts, differently prepared or labelled, are one source.
SOURCE = {"agnews-test": "agnews", "clinc150-domain": "clinc150"}
#: Features were chosen on these sources, and confirmed on the others.
CHOSEN_ON = (
    "agnews",
    "banking77",
    "debian",
    "it-tickets",
    "sample",
    "searchsnippets",
    "thucnews20k",
    "tweet",
)
#: Most texts of a set; more are drawn at random. Of reddit so many classes are drawn first.
MOST_TEXTS, REDDIT_CLASSES = 20_000, 30
#: Texts of small collections; so many classes are drawn first that there are about so many texts of each.
SMALL, PER_CLASS = (300, 1_000, 2_000), 25
#: `Coterie` alone and with the static embedding; topics of half of the texts, and confidence of the other half.
ALONE, STATIC, NEW = "coterie", "static", "new"
#: A second method, whose memberships are of another kind.
OTHER, OTHER_SETS = (
    "nmf-ncut",
    ("searchsnippets", "stackoverflow", "tweet", "agnews-test", "debian", "sample"),
)

#: Starts of `Coterie` with as many topics as classes.
STARTS = 2
#: How much of the weight of a set goes to collections of each kind: whole or small, alone or with embeddings,
#: with half and twice as many topics as classes.
WEIGHT = {
    (False, ALONE, 1): 0.3, (False, STATIC, 1): 0.2, (True, ALONE, 1): 0.15, (True, STATIC, 1): 0.15,
    (False, ALONE, 0.5): 0.1, (False, ALONE, 2): 0.1,
}  # fmt: skip


#: Distinct texts of each fit that coefficients are fitted to.
MOST_ROWS = 3_000


@dataclass(frozen=True)
class Case:
    """A fit: a set, a method, the number of topics as a multiple of that of the classes, the seed, and how many
    texts were drawn (0 for all)."""

    name: str
    method: str = ALONE
    multiple: float = 1
    seed: int = 0
    texts: int = 0

    @property
    def file(self):
        return CACHE / f"{self.name}@{self.method}-{self.multiple:g}-{self.seed}-{self.texts}.npz"

    @property
    def kind(self):
        return self.texts > 0, self.method, self.multiple


def cases(name):
    found = [Case(name, seed=seed) for seed in range(STARTS)]
    found += [Case(name, STATIC), Case(name, multiple=0.5), Case(name, multiple=2), Case(name, NEW)]
    found += [Case(name, OTHER)] if name in OTHER_SETS else []
    sizes = [n for n in SMALL if (name, n) != ("sample", 2_000)]  # it has fewer texts
    return found + [Case(name, method, texts=n) for n in sizes for method in (ALONE, STATIC)]


# --- run


@dataclass(frozen=True)
class Collection:
    """Texts of a set with their labels, counts of words and stop words, and embeddings when asked for."""

    texts: list
    labels: np.ndarray
    X: csr_matrix
    stop_word_counts: csr_matrix

    @cached_property
    def embeddings(self):
        return np.asarray(vectors_of("static", self.texts))


def drawn(name, most):
    """A set, or a part of it that was drawn at random."""
    data = datasets.load(name)
    random = np.random.RandomState(most)
    labels = np.unique(data.labels, return_inverse=True)[1]
    rows = np.arange(len(labels))
    if name == "reddit":
        large = np.flatnonzero(np.bincount(labels) >= 400)
        rows = rows[np.isin(labels, np.random.RandomState(0).choice(large, REDDIT_CLASSES, replace=False))]
    if most in SMALL:
        there = np.unique(labels[rows])
        classes = random.choice(there, min(len(there), most // PER_CLASS), replace=False)
        rows = rows[np.isin(labels[rows], classes)]
    if len(rows) > most:
        rows = np.sort(random.choice(rows, most, replace=False))
    texts = [data.texts[row] for row in rows]
    vectorizer = Vectorizer(**words_of(data))
    X = vectorizer.fit_transform(texts).tocsr()
    labels = np.unique(labels[rows], return_inverse=True)[1]
    return Collection(texts, labels, X, vectorizer.stop_word_counts(texts))


def keep(file, **arrays):
    """Write as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with part.open("wb") as out:
        np.savez(out, **arrays)
    part.replace(file)


def run(names):
    """Every fit that is not there yet."""
    warnings.simplefilter("ignore")  # a topic that stays empty is part of the figure
    for name in names:
        missing = [case for case in cases(name) if not case.file.exists()]
        for most in dict.fromkeys(case.texts for case in missing):
            collection = drawn(name, most or MOST_TEXTS)
            for case in [case for case in missing if case.texts == most]:
                measure(case, collection)
                print(case.file.stem, flush=True)


def measure(case, collection):
    """Keep what confidence asks for: of the distinct texts that were fitted, and of others that are scored."""
    X, labels = collection.X, collection.labels
    fitted = np.ones(len(labels), dtype=bool)
    if case.method == NEW:
        fitted = np.random.RandomState(5).permutation(len(labels)) % 2 == 0
    n_topics = max(2, round(case.multiple * (labels.max() + 1)))
    embeddings = collection.embeddings if case.method == STATIC else None
    space = Coterie(n_topics, random_state=case.seed, embeddings=embeddings)
    space.fit(X[fitted], stop_word_counts=collection.stop_word_counts[fitted])
    model = make(case.method, n_topics, case.seed).fit(X[fitted]) if case.method == OTHER else space
    found = canonical(X[fitted])
    if embeddings is not None:
        texts = np.arange(len(found.rows))
        together = csr_matrix((np.ones(len(texts)), (found.rows, texts)))
        embeddings = (diags(1 / found.weights) @ (together @ embeddings)).astype(np.float32)
    arrays = _asked(model, space, found.X[:, np.argsort(found.columns)], embeddings)
    topics = arrays["topics"][found.rows]
    counted = np.zeros((len(model.components_), labels.max() + 1))
    np.add.at(counted, (topics, labels[fitted]), 1)
    majority = counted.argmax(axis=1)
    arrays |= {"weights": found.weights, "n_topics": len(counted)}
    if case.method == NEW:
        others = _asked(model, space, X[~fitted], None)
        arrays["right"] = (majority[others["topics"]] == labels[~fitted]).astype(float)
        arrays |= {f"new_{key}": value for key, value in others.items()}
    else:
        arrays["right"] = np.bincount(found.rows, majority[topics] == labels[fitted], len(found.weights))
    keep(case.file, **arrays)


def _asked(model, space, X, embeddings):
    """The topic of each text, its share and the next best, the vector and the number of words."""
    given = {} if embeddings is None else {"embeddings": embeddings}
    memberships = model.transform(X, **given)
    total = memberships.sum(axis=1, keepdims=True)
    memberships = np.pad(memberships / np.where(total > 0, total, 1), ((0, 0), (0, 1)))
    best = -np.partition(-memberships, 1, axis=1)[:, :2]
    return {
        "topics": memberships.argmax(axis=1),
        "first": best[:, 0].astype(np.float32),
        "second": best[:, 1].astype(np.float32),
        "vectors": space.embed(X, **given).astype(np.float32),
        "n_words": np.diff(X[:, space.term_weights_ > 0].indptr),
    }


# --- what came out


@dataclass(frozen=True)
class Outcome:
    """The distinct texts of a fit: what confidence is made of, and how many of the texts are where they belong.

    `right[i]` of `weights[i]` texts are in the class that most texts of their topic are in. `size` is the
    evidence that all texts share.
    """

    case: Case
    n_topics: int
    evidence: np.ndarray
    size: tuple
    known: np.ndarray
    shares: np.ndarray
    right: np.ndarray
    weights: np.ndarray

    def by(self, coefficients=COEFFICIENTS):
        """Confidence by some coefficients."""
        factors, sizes = coefficients[1:N_KEPT], coefficients[N_KEPT:]
        scores = coefficients[0] + self.evidence @ factors + np.dot(self.size, sizes)
        return np.where(self.known, 1 / (1 + np.exp(-scores)), 0.0)


def outcome(case, random_state=0):
    kept = dict(np.load(case.file))
    n_topics = int(kept["n_topics"])
    fitted = given(kept, n_topics)
    learned = learn_confidence(*fitted, kept["weights"], random_state=random_state)
    new = case.method == NEW
    scored = given(kept, n_topics, "new_") if new else fitted
    used = len(np.unique(fitted[0].argmax(axis=1)[fitted[0].any(axis=1)]))
    return Outcome(
        case, n_topics, learned.evidence(*scored), size_evidence(used, n_known(*fitted, kept["weights"])),
        scored[0].any(axis=1), scored[0].max(axis=1), kept["right"],
        np.ones(len(scored[0])) if new else kept["weights"],
    )  # fmt: skip


def given(kept, n_topics, prefix=""):
    """What confidence asks for. Only the first two memberships of a text matter, so only they were kept."""
    topics, first, second = (kept[prefix + key] for key in ("topics", "first", "second"))
    memberships = np.zeros((len(topics), max(n_topics, 2)), dtype=np.float32)
    rows = np.arange(len(topics))
    memberships[rows, (topics + 1) % memberships.shape[1]] = second
    memberships[rows, topics] = first
    return memberships, kept[prefix + "vectors"].astype(float), kept[prefix + "n_words"]


def outcomes():
    """Of every fit that was kept."""
    return [outcome(case) for name in SETS for case in cases(name) if case.file.exists()]


def source(name):
    return SOURCE.get(name, name)


# --- fit


def fitted(found, by_size=True):
    """Coefficients by weighted logistic regression: each source weighs the same.

    Without `by_size` the numbers of topics and texts are left out.
    """
    found = [one for one in found if one.case.kind in WEIGHT]
    alike = Counter((one.case.name, one.case.kind) for one in found)
    sets = Counter(source(name) for name in {one.case.name for one in found})
    rows, right, wrong = [], [], []
    for one in found:
        name, kind = one.case.name, one.case.kind
        some = np.flatnonzero(one.known)
        some = some[:: -(-len(some) // MOST_ROWS)]  # their order says nothing of what they are about
        scale = WEIGHT[kind] / alike[name, kind] / sets[source(name)] / one.weights[some].sum()
        size = np.tile(one.size, (len(some), 1))[:, : 2 * by_size]
        rows.append(np.hstack([np.ones((len(some), 1)), one.evidence[some], size]))
        right.append(scale * one.right[some])
        wrong.append(scale * (one.weights - one.right)[some])
    coefficients = _logistic(np.concatenate(rows), np.concatenate(right), np.concatenate(wrong))
    return np.pad(coefficients, (0, len(COEFFICIENTS) - len(coefficients)))


def _logistic(rows, right, wrong):
    """Newton's method."""
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ ((right + wrong) * share - right)
        curve = (rows.T * ((right + wrong) * share * (1 - share))) @ rows
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    return found


def left_out(found, by_size=True):
    """For each source, coefficients that were fitted without it."""
    sources = sorted({source(one.case.name) for one in found})
    return {
        name: fitted([one for one in found if source(one.case.name) != name], by_size) for name in sources
    }


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "fit", "page"])
    parser.add_argument("--set", nargs="+", choices=SETS, default=SETS, dest="sets")
    chosen = parser.parse_args(arguments)
    if chosen.what == "run":
        run(chosen.sets)
    elif chosen.what == "fit":
        print("COEFFICIENTS =", tuple(fitted(outcomes()).round(2).tolist()))
    else:
        from confidence_page import page

        page()


if __name__ == "__main__":
    main(sys.argv[1:])
