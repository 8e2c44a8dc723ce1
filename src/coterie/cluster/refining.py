"""From the centres of k-means to topics: two refinements, kept where there is evidence for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix

from coterie.cluster.fusion import LARGE_SHARE, View, learn_view
from coterie.cluster.judging import Counts, Embeddings, Judge, Predictions
from coterie.cluster.leave_one_out import Coefficients, LeaveOneOut
from coterie.cluster.mixture import CONCENTRATION, mixture_coefficients, refine_by_mixture
from coterie.cluster.predefined import FREE
from coterie.cluster.space import Space
from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts, take_sample
from coterie.embeddings import Vectors
from coterie.engines import Engine
from coterie.progress import counted

#: Counts of the stop words of some rows, by their numbers.
CountsOfRows = Callable[[Ints], csr_matrix]

#: Refined topics are given up if texts left out tell them less well by this share of their variance.
_CLEARLY = 0.05
#: How often the two refinements follow each other, and how often texts stay meanwhile where they begin.
_CYCLES, _HELD = 2, 1
#: How much the centre that a topic began with counts beside what was learned: it keeps to its subject.
_PULL = 0.25


@dataclass(frozen=True)
class Representation:
    """Texts by their vectors and, with a `view`, by their embeddings; a judge compares partitions of them."""

    texts: Sample
    idf: Floats
    view: View | None = None
    judge: Judge | None = None


@dataclass(frozen=True)
class Found:
    """Coefficients of topics, their sharpness, and how well held-out texts confirm them."""

    coefficients: Coefficients
    sharpness: float
    view: View | None
    refined: bool = False
    predicted: Predictions | None = None


def representations(
    documents: Engine,
    space: Space,
    dimensions: int,
    vectors: Vectors | None,
    stop_words: CountsOfRows | None,
    *,
    judged: bool,
) -> list[Representation]:
    """The texts to learn from, by their vectors and, if there are any, their embeddings.

    Embeddings that can be trusted are tried with two shares, and are the witness of the judge. Without them
    the stop words are.
    """
    alone = take_sample(documents, space.words, lambda counts, _: space.text_vectors(counts))
    rows = alone.gather(lambda block: block.numbers)
    view = None
    if vectors is not None:
        weights = alone.gather(lambda block: block.weights)
        view = learn_view(alone.counts(), vectors[rows], weights, dimensions)
    if vectors is None or view is None or not view.share:
        counts = stop_words(rows).astype(FLOAT) if judged and stop_words is not None else None
        return [
            Representation(
                alone, space.weights, judge=None if counts is None else Judge(alone, Counts(counts))
            )
        ]
    if not judged:
        return [_with_embeddings(documents, space, vectors, view, None)]
    judge = Judge(alone, Embeddings(view.turned(vectors[rows]).astype(FLOAT)))
    shares = [view.share, *([LARGE_SHARE] if view.share < LARGE_SHARE else [])]
    return [
        _with_embeddings(documents, space, vectors, replace(view, share=share), judge) for share in shares
    ]


def _with_embeddings(
    documents: Engine, space: Space, vectors: Vectors, view: View, judge: Judge | None
) -> Representation:
    def text_vectors(counts: csr_matrix, rows: Ints) -> Floats:
        return view.fused(space.text_vectors(counts), vectors[rows])

    return Representation(take_sample(documents, space.words, text_vectors), space.weights, view, judge)


def find_topics(
    given: Representation,
    centers: Floats,
    begin: Ints,
    refine: bool | Literal["auto"],
    anchored: bool = False,
) -> Found:
    """Topics around centres. Texts that `begin` in a topic stay there at first.

    Topics that are `anchored` are drawn to the centre they began with, and are refined in any case: how they
    began says more than a witness.

    The mixture weighs words and vectors; the classifier after it relies mostly on words. If the witness
    clearly confirms the topics of the mixture more, the classifier is undone.
    """
    texts, n_topics = given.texts, len(centers)
    labels = texts.gather(lambda block: nearest(block, centers))
    labels = np.where(begin == FREE, labels, begin)
    # texts without a term that counts have nothing to refine by
    if refine is False or not texts.sum(lambda block: float(block.weights.sum())):
        return Found(_around(texts, centers, labels), CONCENTRATION, given.view)
    others = LeaveOneOut(texts, n_topics)
    pull = _PULL * centers.T.astype(FLOAT) if anchored else None
    refined, mixed = labels, labels
    for cycle in counted(range(_CYCLES), "refining topics"):
        refined = refine_by_mixture(texts, refined, n_topics, pull)
        held = begin if cycle < _HELD else np.full_like(begin, FREE)
        refined = np.where(held == FREE, refined, held)
        mixed = mixed if cycle else refined
        refined = others.settle(refined, held, pull)
    fitted = others.fit(refined)
    if pull is not None:
        fitted = replace(fitted, axes=fitted.axes + pull)
    predicted = None
    if given.judge is not None:
        early, predicted = (given.judge.predictions(found, n_topics) for found in (mixed, refined))
        if not anchored and early.contradicts(predicted):
            kept = mixture_coefficients(texts, mixed, n_topics, given.idf)
            return Found(kept, others.sharpness(mixed, kept), given.view, predicted=early)
    if refine == "auto" and given.view is None and not anchored:
        before = others.fit(labels)
        if others.explained(labels, before) > others.explained(refined, fitted) + _CLEARLY:
            return Found(before, others.sharpness(labels, before), given.view)
    return Found(fitted, others.sharpness(refined, fitted), given.view, True, predicted)


def nearest(block: Texts, centers: Floats) -> Ints:
    """The centre with the largest cosine to each text; a centre of zeros has none."""
    cosines = block.text_vectors @ centers.T
    cosines[:, ~centers.any(axis=1)] = -np.inf
    return np.asarray(cosines.argmax(axis=1))


def best_of(found: Sequence[Found], trust: float) -> Found:
    """The topics that words and embeddings confirm most; `trust` is the weight of the embeddings."""
    return max(
        found, key=lambda one: 0.0 if one.predicted is None else float(one.predicted.bits[0] @ [1.0, trust])
    )


def decision(found: Sequence[Found], best: Found, embeddings: bool) -> str:
    """What was chosen and why, in a sentence or two; empty if there was nothing to choose."""
    undone = best.predicted is not None and not best.refined
    sentences = []
    if embeddings and best.view is None:
        sentences.append("The embeddings do not fit the texts and are not used.")
    if best.view is not None:
        others = [other.view.share for other in found if other is not best and other.view is not None]
        tried = f": with {others[0]:.0%}, held-out texts are predicted worse" if others else ""
        sentences.append(f"The embeddings count for {best.view.share:.0%}{tried}.")
    if undone:
        witness = "stop words" if best.view is None else "embeddings"
        sentences.append(f"The last step of the refinement was undone: the {witness} speak against it.")
    return " ".join(sentences)


def _around(texts: Sample, centers: Floats, labels: Ints) -> Coefficients:
    """A text goes to the nearest centre; words count only by their vectors."""
    sizes = texts.sum(lambda block: np.bincount(labels[block.rows], block.weights, len(centers)))
    terms = np.zeros((texts.n_terms, len(centers)))
    return Coefficients(terms, centers.T.copy(), sizes / max(sizes.sum(), 1e-300))
