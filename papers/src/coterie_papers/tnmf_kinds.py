"""What the TNMF paper measures: growing vocabularies, densities of correlation, topics and their use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie_papers.bench.collections import Collection, collection
from coterie_papers.bench.kinds import iterations, kind, make, scores, timed
from coterie_papers.bench.trial import Trial
from coterie_papers.tnmf_lda import SampledLDA

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Rows whose pairs with all others are counted at a time.
_STRIP = 256
#: Top terms of a topic that coherence is measured on.
_TOP = 10


@kind("tnmf-statistics")
def statistics(trial: Trial) -> dict[str, Any]:
    """Numbers of texts, terms, different terms in a text and classes, and how many texts hold a term."""
    data = collection(trial.collection)
    texts = np.bincount(data.X.indices, minlength=data.X.shape[1])  # that hold each term
    at = _round_numbers(max(int(texts.max(initial=1)), 1))
    return {
        "about": data.about,
        "texts": data.X.shape[0],
        "terms": data.X.shape[1],
        "words": data.X.nnz / max(data.X.shape[0], 1),
        "classes": len(set(data.labels)),
        "rare": float(np.mean(texts < trial.setting("rare", 10))),
        "held_by": at,
        "terms_held": [int(np.count_nonzero(texts >= n)) for n in at],
    }


@kind("tnmf-growth")
def growth(trial: Trial) -> dict[str, Any]:
    """Terms that at least so many of the first n texts hold, for growing n, in shuffled order.

    `seen` are those of the terms that enough of the first `fixed` texts hold that occur among the first n:
    the vocabulary is then settled first, and looked for as texts come in.
    """
    X = collection(trial.collection).X
    order = np.random.default_rng(trial.seed).permutation(X.shape[0])
    least = trial.setting("least", 4)
    at = [n for n in _round_numbers(X.shape[0]) if n >= 100]
    fixed = min(trial.setting("fixed", X.shape[0]), X.shape[0])
    first, enough = (arrivals(X, order, n) for n in (1, least))
    settled = first[enough < fixed]
    return {
        "texts": at,
        "all": [int(np.count_nonzero(first < n)) for n in at],
        "enough": [int(np.count_nonzero(enough < n)) for n in at],
        "seen": [int(np.count_nonzero(settled < n)) for n in at if n <= fixed],
        "fixed": fixed,
    }


def arrivals(X: csr_matrix, order: Ints, n: int) -> Ints:
    """For each term the place in `order` of the n-th text that holds it; the number of texts if none does.

    >>> X = csr_matrix([[1, 0], [1, 1], [2, 0]])
    >>> arrivals(X, np.array([2, 1, 0]), 2).tolist()
    [1, 3]
    """
    columns = X[order].tocsc()  # row numbers are places now
    columns.sort_indices()
    start, length = columns.indptr[:-1].astype(np.int64), np.diff(columns.indptr)
    found = np.full(X.shape[1], X.shape[0])
    held = length >= n
    found[held] = columns.indices[start[held] + n - 1]
    return found


def _round_numbers(most: int) -> list[int]:
    """1, 2, 3, 5, 10, 20, … up to the given number, and the number itself."""
    steps = [m * 10**e for e in range(len(str(most))) for m in (1, 2, 3, 5)]
    return [*(n for n in steps if n < most), most]


@kind("tnmf-density")
def density(trial: Trial) -> dict[str, Any]:
    """Shares of pairs with a correlation: of terms by texts, of terms by co-occurrence, of texts by terms."""
    X = collection(trial.collection).X
    return {
        "by_texts": share_of_pairs(X.T.tocsr()),
        "by_company": share_of_pairs(company(X)),
        "of_texts": share_of_pairs(X),
        "occupied": X.nnz / max(X.shape[0] * X.shape[1], 1),
    }


def share_of_pairs(rows: csr_matrix) -> float:
    """Share of all pairs of rows, a row with itself too, that have a column in common.

    Rows must not be negative: then these are the pairs whose cosine is not zero. Pairs are counted for a few
    rows at a time, and none is kept.

    >>> share_of_pairs(csr_matrix([[1, 1, 0], [0, 2, 0], [0, 0, 3]]))  # 5 of 9
    0.5555555555555556
    """
    held = csr_matrix(rows, dtype=np.float64, copy=True)
    held.eliminate_zeros()
    held.data[:] = 1.0  # numbers of shared columns: nothing cancels or gets too small
    columns = held.T.tocsr()
    n = held.shape[0]
    pairs = sum((held[start : start + _STRIP] @ columns).nnz for start in range(0, n, _STRIP))
    return pairs / max(n * n, 1)


def company(X: csr_matrix) -> csr_matrix:
    """PPMI of terms with the terms that share texts with them."""
    from coterie.semantics import cooccurrence, ppmi

    return ppmi(cooccurrence(X))


@kind("tnmf-picture")
def picture(trial: Trial) -> dict[str, Any]:
    """Both correlations between some terms drawn at random, frequent terms first."""
    from coterie.linalg.rows import unit_rows

    X = collection(trial.collection).X
    drawn = min(trial.setting("terms", 100), X.shape[1])
    chosen = np.random.default_rng(trial.seed).choice(X.shape[1], drawn, replace=False)
    texts = np.bincount(X.indices, minlength=X.shape[1])
    chosen = chosen[np.lexsort((chosen, -texts[chosen]))]
    held = csr_matrix(X, dtype=np.float64, copy=True)
    held.data[:] = 1.0
    by_texts, by_company = (unit_rows(rows[chosen]) for rows in (held.T.tocsr(), company(X)))
    return {
        "by_texts": np.round((by_texts @ by_texts.T).toarray(), 3),
        "by_company": np.round((by_company @ by_company.T).toarray(), 3),
    }


@kind("tnmf-topics")
def topics(trial: Trial) -> dict[str, Any]:
    """Clusters against labels, a linear SVM on memberships, and how well top terms go together.

    `seconds` are CPU seconds of learning topics and of inferring the memberships of all texts once.
    `common` is the share of texts that hold a top term, on average.
    """
    from coterie.methods import topic_terms
    from coterie.metrics import coherence, svm_accuracy

    data = collection(trial.collection)
    model = make(trial)
    (found, memberships), seconds = timed(lambda: learn(model, data.X))
    if memberships is None:
        memberships = model.transform(data.X)
    tops = topic_terms(model, _TOP)
    held = np.bincount(data.X.indices, minlength=data.X.shape[1]) / data.X.shape[0]
    words = [[data.terms[i] for i in terms] for terms in tops]
    running = data.sequences()
    whole = max(int(running.lengths.max(initial=1)), 1)  # a window that no text is longer than
    return {
        **agreement(data.labels, found),
        "svm": svm_accuracy(unit(memberships), data.labels, random_state=trial.seed),
        "coherence": coherence(words, (running, data.terms), "npmi", window=whole),
        "common": float(held[np.concatenate(tops)].mean()) if any(map(len, tops)) else None,
        "used": len(np.unique(found)),
        "seconds": seconds,
        "iterations": iterations(model),
    }


@kind("tnmf-other")
def other(trial: Trial) -> dict[str, Any]:
    """Clusters of a method with another setting, against labels."""
    data = collection(trial.collection)
    return agreement(data.labels, make(trial).fit_predict(data.X))


def agreement(labels: Any, found: Ints) -> dict[str, float]:
    """Scores against labels, NMI by the arithmetic mean of the two entropies and by the geometric one.

    >>> round(agreement(["a", "a", "b", "b"], np.array([0, 1, 2, 3]))["nmi_geometric"] ** 2, 9)
    0.5
    """
    from coterie.metrics import clustering_scores

    both = clustering_scores(labels, found)
    return {**scores(labels, found), "nmi_geometric": float(np.sqrt(both.homogeneity * both.completeness))}


def learn(model: Any, X: csr_matrix) -> tuple[Ints, Floats | None]:
    """The cluster of each text, and its memberships where they fall out.

    Estimators infer memberships when they are fitted, for labels, and again when they are asked for them.
    That would double the time of TNMF, which learns without texts: it learns from counts alone here, and
    infers once. LDA by sampling has those of the sampler.
    """
    if isinstance(model, SampledLDA):
        memberships = model.fit(X).memberships_
        return strongest(memberships), memberships
    if not hasattr(model, "fit_cooccurrence"):
        return model.fit_predict(X), None
    from coterie.semantics import cooccurrence

    memberships = model.fit_cooccurrence(cooccurrence(X, diagonal=model.diagonal)).transform(X)
    return strongest(memberships), memberships


def strongest(memberships: Floats) -> Ints:
    """The topic that each text belongs to most; the largest topic for one that belongs to none.

    >>> strongest(np.array([[0.0, 2.0], [1.0, 3.0], [0.0, 0.0], [4.0, 0.0]])).tolist()
    [1, 1, 1, 0]
    """
    found = memberships.argmax(axis=1)
    some = memberships.any(axis=1)
    largest = np.bincount(found[some], minlength=memberships.shape[1]).argmax()
    return np.where(some, found, largest)


def unit(rows: Floats) -> Floats:
    """Rows at unit length; a row of zeros stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, where=length > 0, out=np.zeros_like(rows))


@kind("tnmf-words")
def words(trial: Trial) -> dict[str, Any]:
    """Top words of the topic that holds the most texts of a class, for the largest classes."""
    from coterie.methods import topic_terms

    data = collection(trial.collection)
    settings = dict(trial.settings)
    top, n_classes = settings.pop("top"), settings.pop("classes")
    model = make(Trial(trial.kind, trial.collection, trial.method, trial.k, trial.seed))
    found = learn(model, data.X)[0]
    tops = topic_terms(model, top)
    labels = np.array(data.labels)
    names, sizes = np.unique(labels, return_counts=True)
    shown = names[np.argsort(-sizes, kind="stable")[:n_classes]]
    best = [int(np.bincount(found[labels == name], minlength=trial.k).argmax()) for name in shown]
    return {
        "classes": [str(name) for name in shown],
        "usual": [_usual(data, labels == name, top) for name in shown],
        "words": [[data.terms[i] for i in tops[topic]] for topic in best],
        "share": [float(np.mean(labels[found == t] == name)) for t, name in zip(best, shown, strict=True)],
    }


def _usual(data: Collection, of_class: npt.NDArray[np.bool_], top: int) -> list[str]:
    """The terms that most texts of a class hold."""
    held = np.bincount(data.X[of_class].indices, minlength=data.X.shape[1])
    return [data.terms[i] for i in np.argsort(-held, kind="stable")[:top]]
