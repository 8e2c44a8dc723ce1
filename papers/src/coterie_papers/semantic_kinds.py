"""What is measured for the Semantic-NMF paper: fits with their words, the data, and cosines of embeddings."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags

from coterie import SemanticNMF, semantics, weights
from coterie.corpus.sequences import Sequences
from coterie.engines import Engine
from coterie.errors import InputError
from coterie.estimator import Array
from coterie.factor import steps_semantic as steps
from coterie.factor.rows import RowFactor
from coterie.factor.semantic import MultiplicativeNMF
from coterie.linalg.rows import unit_rows
from coterie.metrics.windows import WindowCounts, count_windows
from coterie_papers.bench.collections import COLLECTIONS, Collection, collection
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.kinds import iterations, kind, scores, timed
from coterie_papers.bench.trial import Trial

Ints = npt.NDArray[np.int64]

#: Words to each side that count as context, and the shift of the mutual information: the paper's.
WINDOW, NEGATIVES = 10, 2
#: The collection whose windows say how words go together outside, and how many words a window has.
OUTSIDE, OUTSIDE_WINDOW = "reddit", 5
#: Top words of a topic or class.
TOP = 30
#: The scores that the paper has.
MEASURED = ("nmi", "ari")
#: Pairs of texts drawn for a distribution of cosines.
_PAIRS = 20_000
#: Where the header of a message ends, or nearly.
_HEADER = re.compile(r"\bLines: [0-9]")
_QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}


class PlainNMF(SemanticNMF):
    """SeNMF without its second half: with no associations of terms the updates are those of NMF."""

    def fit(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None, cooccurrence: Any = None
    ) -> Self:
        """Learn from documents × terms; `cooccurrence` is ignored."""
        return super().fit(X, y, sample_weight, csr_matrix((X.shape[1], X.shape[1])))


class PrintedSemanticNMF(SemanticNMF):
    """SeNMF with every step as long as printed, also where that raises the objective."""

    def _descend(
        self, rows: Engine, M: csr_matrix, Z: RowFactor, terms: steps.TermFactors
    ) -> tuple[steps.TermFactors, list[float]]:
        norm_of_m, norm_of_x = float(M.multiply(M).sum()), rows.sum(steps.squared_norm)
        objective: list[float] = []
        while len(objective) < self.max_iter:
            XtZ, ZtZ = Z.update(rows, partial(steps.move_texts, terms=terms))
            sums = steps.TextSums(XtZ, ZtZ, norm_of_x)
            terms = steps.TermFactors.of(steps.update_terms(terms, sums), terms.S, M)
            terms = steps.TermFactors(terms.W, steps.update_core(terms), terms.MW, terms.WtW)
            objective.append(steps.semantic_objective(terms, sums, norm_of_m))
        return terms, objective


@lru_cache(maxsize=1)
def cooccurrence(name: str) -> csr_matrix:
    """How often terms of a collection stand near each other; words that are no terms take up no place."""
    found = collection(name)
    return semantics.window_cooccurrence(found.sequences().known(), found.X.shape[1], WINDOW)


@lru_cache(maxsize=1)
def cooccurrence_outside(name: str, some: int | None) -> csr_matrix:
    """The same counts from the outside texts; of `some` of them only, if given."""
    return semantics.window_cooccurrence(_outside_words(name, some).known(), _n_terms(name), WINDOW)


def fitted(trial: Trial) -> tuple[Any, float]:
    """The method of a trial fitted to its collection, and the CPU seconds of that.

    The setting `counts` says where SeNMF has its co-occurrence from: windows of the texts themselves unless
    it is "outside", for windows of other texts, or "texts", for the number of texts that hold both terms.
    """
    data = collection(trial.collection)
    settings: dict[str, Any] = {}
    if trial.setting("iterations"):
        settings = {"max_iter": trial.setting("iterations"), "tol": trial.setting("tol", 0.0)}
    extra: dict[str, Any] = {}
    if trial.method.startswith("senmf"):
        extra["cooccurrence"] = _counts(trial)
    model = CONTENDERS[trial.method].make(trial.k, trial.seed, settings)
    return timed(lambda: model.fit(data.X, **extra))


def _counts(trial: Trial) -> csr_matrix | None:
    counts = trial.setting("counts")
    if counts == "texts":
        return None  # what SeNMF counts by itself
    if counts == "outside":
        return cooccurrence_outside(trial.collection, trial.setting("outside"))
    return cooccurrence(trial.collection)


# --- fits


@kind("semantic-scores")
def scored(trial: Trial) -> dict[str, Any]:
    """Scores alone, for collections and co-occurrence without words to be judged."""
    model, seconds = fitted(trial)
    return _scores(trial, model, seconds)


@kind("semantic-fit")
def fit(trial: Trial) -> dict[str, Any]:
    """Scores, and the top words of each topic with how they go together outside."""
    data = collection(trial.collection)
    model, seconds = fitted(trial)
    last = _last(model)
    topics = [np.argsort(-topic, kind="stable")[:TOP] for topic in last.components_]
    outside = outside_counts(trial.collection, trial.setting("outside"))
    judged = [_together(terms, outside) for terms in topics]
    return {
        **_scores(trial, model, seconds),
        "topics": [[data.terms[j] for j in terms] for terms in topics],
        "topic_pmi": [found[0] for found in judged],
        "pmi": float(np.mean([found[0] for found in judged])),
        "pmi_of_met": float(np.nanmean([found[1] for found in judged])),
        "met": float(np.mean([found[2] for found in judged])),
    }


def _scores(trial: Trial, model: Any, seconds: float) -> dict[str, Any]:
    """Scores of the clusters as the paper takes them, and with the other scale of topics (`unit_topics`).

    `criterion` is what the method makes small; runs are compared by it. SeNMF keeps how it got there.
    """
    data, last = collection(trial.collection), _last(model)
    values: dict[str, Any] = scores(data.labels, last.labels_)
    values |= {"seconds": seconds, "iterations": iterations(model)}
    if trial.method.startswith("spherical"):
        return {**values, "criterion": -last.objective_[-1]}
    other = scores(data.labels, unit_topics(model, data.X))
    values |= {"criterion": last.objective_[-1]} | {f"{name}_unit_topics": other[name] for name in MEASURED}
    if trial.method.startswith("senmf"):
        values["objective"] = [float(f"{value:.9g}") for value in last.objective_]
    return values


def unit_topics(model: MultiplicativeNMF, X: csr_matrix) -> Ints:
    """The topic of each text where columns of W have unit length, and Z takes up their lengths."""
    strength = model.transform(X) * model.topic_lengths_
    return np.where(strength.any(axis=1), strength.argmax(axis=1), model.fallback_)


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


@kind("semantic-curve")
def curve(trial: Trial) -> dict[str, Any]:
    """The objective after each iteration alone."""
    model, seconds = fitted(trial)
    return {"objective": model.objective_, "seconds": seconds}


@lru_cache(maxsize=1)
def outside_counts(name: str, some: int | None) -> WindowCounts:
    """Windows of the outside texts that hold each two terms of a collection; of `some` texts only, if given.

    Trials come ordered by collection, so that a process counts once for each.
    """
    words = _outside_words(name, some)
    ones = np.ones(len(words), dtype=np.int64)
    return count_windows(words, _n_terms(name), width=OUTSIDE_WINDOW, weights=ones, as_gensim=False)


def _n_terms(name: str) -> int:
    return int(collection(name).X.shape[1])


@lru_cache(maxsize=1)
def _outside_words(name: str, some: int | None) -> Sequences:
    """The outside texts as terms of a collection."""
    vectorizer = collection(name).vectorizer or COLLECTIONS[name]().vectorizer
    if vectorizer is None:
        raise InputError(f"the collection {name!r} has no way to cut other texts into its terms")
    return vectorizer.sequences(_outside_texts(OUTSIDE, some))


@lru_cache(maxsize=1)
def _outside_texts(name: str, some: int | None) -> list[str]:
    from coterie.datasets import load

    texts = load(name).texts
    if some is None or some >= len(texts):
        return texts
    rows = np.random.default_rng(0).choice(len(texts), some, replace=False)
    return [texts[i] for i in rows]


def _together(terms: Ints, outside: WindowCounts) -> tuple[float, float, float]:
    """Mean PMI of all pairs of terms, of the pairs that ever meet outside, and the share of these.

    About a pair that never meets, nothing is known but that it is rare: it counts as 0.
    """
    counts = outside.together[terms][:, terms].toarray() / outside.n_windows
    pairs = np.triu_indices(len(terms), 1)
    alone = np.diagonal(counts)
    met = counts[pairs] > 0
    both, expected = counts[pairs][met], np.outer(alone, alone)[pairs][met]
    pmi = np.log(both / expected)
    return float(pmi.sum() / max(len(met), 1)), float(pmi.mean()) if met.any() else np.nan, float(met.mean())


# --- data


@kind("semantic-sizes")
def sizes(trial: Trial) -> dict[str, Any]:
    """What the paper's table of data sets has."""
    data = collection(trial.collection)
    n, d = data.X.shape
    _, classes = np.unique(data.labels, return_counts=True)
    associations = semantics.ppmi(cooccurrence(trial.collection), shift=NEGATIVES)
    return {
        "texts": n,
        "terms": d,
        "classes": len(classes),
        "balance": float(classes.min() / classes.max()),
        "entries": data.X.nnz,
        "filled_x": data.X.nnz / (n * d),
        "filled_m": associations.nnz / d**2,
        "squared_norm_of_m": float(associations.power(2).sum()),
        "about": data.about,
        "with_header": float(np.mean([_HEADER.search(text) is not None for text in data.texts])),
    }


@kind("semantic-data")
def data_and_outside(trial: Trial) -> dict[str, Any]:
    """The sizes, and what the outside texts know of the terms."""
    some = trial.setting("outside")
    outside = outside_counts(trial.collection, some)
    found = sizes(trial)
    associations = semantics.ppmi(cooccurrence_outside(trial.collection, some), shift=NEGATIVES)
    return {
        **found,
        "filled_m_outside": associations.nnz / found["terms"] ** 2,
        "outside_windows": outside.n_windows,
        "outside_terms": float((outside.together.diagonal() > 0).mean()),
    }


@kind("semantic-outside")
def outside_size(_: Trial) -> dict[str, Any]:
    """How large the outside corpus is, in words between spaces."""
    from coterie.datasets import load

    texts = load(OUTSIDE).texts
    return {"texts": len(texts), "words": sum(len(text.split()) for text in texts)}


# --- cosines


@kind("semantic-cosines")
def cosines(trial: Trial) -> dict[str, Any]:
    """Cosines between embeddings of top words, and of texts: of one class, and for comparison of two.

    The paper has columns of Z at unit length, and so W takes up their lengths. Texts are pairs drawn at
    random; words are all pairs of the top words of each class.
    """
    data = collection(trial.collection)
    model, seconds = fitted(trial)
    Z = model.transform(data.X)
    W = model.components_.T * np.divide(
        model.topic_lengths_, np.linalg.norm(model.components_, axis=1),
        where=model.components_.any(axis=1), out=np.zeros(trial.k),
    )  # fmt: skip
    _, classes = np.unique(data.labels, return_inverse=True)
    tops = class_words(data, classes)
    within = np.concatenate([np.stack(np.triu_indices(TOP, 1)) + TOP * c for c in range(len(tops))], axis=1)
    everything = np.stack(np.triu_indices(tops.size, 1))
    across = everything[:, everything[0] // TOP != everything[1] // TOP]
    random = np.random.default_rng(0)
    same, other = _pairs_of_texts(classes, random)
    return {
        "seconds": seconds,
        "words": _summary(_cosine(W[tops.ravel()], within)),
        "words_across": _summary(_cosine(W[tops.ravel()], across)),
        "texts": _summary(_cosine(Z, same)),
        "texts_across": _summary(_cosine(Z, other)),
        "class_words": [[data.terms[j] for j in terms[:10]] for terms in tops],
    }


def class_words(data: Collection, classes: Ints) -> Ints:
    """Columns of the terms with the largest sum of tf-idf in each class, classes × words."""
    rows = unit_rows((data.X @ diags(weights.idf(data.X))).tocsr())
    sums = [np.asarray(rows[classes == c].sum(axis=0)).ravel() for c in range(classes.max() + 1)]
    return np.argsort(-np.stack(sums), axis=1, kind="stable")[:, :TOP]


def _pairs_of_texts(classes: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of different texts drawn at random, of one class and of two."""
    pairs = random.integers(len(classes), size=(2, 40 * _PAIRS))
    alike = classes[pairs[0]] == classes[pairs[1]]
    return (pairs[:, alike & (pairs[0] != pairs[1])][:, :_PAIRS], pairs[:, ~alike][:, :_PAIRS])


def _cosine(vectors: Array, pairs: Ints) -> Array:
    """Cosine of each pair of rows; 0 where a row is zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, length, where=length > 0, out=np.zeros_like(vectors))
    return np.asarray(np.einsum("pk,pk->p", unit[pairs[0]], unit[pairs[1]]))


def _summary(values: Array) -> dict[str, float]:
    found = {name: float(np.quantile(values, share)) for name, share in _QUANTILES.items()}
    return {**found, "mean": float(values.mean())}
