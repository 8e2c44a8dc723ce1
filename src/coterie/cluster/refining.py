"""From the centres of k-means to topics: two refinements, kept where there is evidence for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.cluster.fusion import View
from coterie.cluster.judging import Judge, Told
from coterie.cluster.leave_one_out import Coefficients, LeaveOneOut
from coterie.cluster.mixture import CONCENTRATION, mixture_coefficients, refine_by_mixture
from coterie.cluster.seeding import FREE
from coterie.cluster.texts import Floats, Ints, Sample, Texts
from coterie.progress import counted

#: Refined topics are given up if texts left out tell them less well by this share of their variance.
_CLEARLY = 0.05
#: How often the two refinements follow each other.
_CYCLES = 2


@dataclass(frozen=True)
class Seen:
    """Texts by their vectors and, with a `view`, by their embeddings; then a judge compares partitions."""

    texts: Sample
    idf: Floats
    view: View | None = None
    judge: Judge | None = None


@dataclass(frozen=True)
class Found:
    """What tells topics apart, how sharply, and what words and embeddings tell of them."""

    coefficients: Coefficients
    sharpness: float
    view: View | None
    refined: bool = False
    told: Told | None = None


def find_topics(seen: Seen, centers: Floats, seeds: Ints, refine: bool | Literal["auto"]) -> Found:
    """Topics around centres. Texts of a seed stay with it meanwhile.

    With embeddings the judge decides how far refinement goes. The mixture keeps to what words and embeddings
    both say; the classifier after it goes by words first. Where the embeddings tell clearly less of its
    topics, those of the mixture are kept.
    """
    texts, n_topics = seen.texts, len(centers)
    labels = texts.gather(lambda block: nearest(block, centers))
    labels = np.where(seeds == FREE, labels, seeds)
    # texts without a term that counts have nothing to refine by
    if refine is False or not texts.sum(lambda block: float(block.weights.sum())):
        return Found(_around(texts, centers, labels), CONCENTRATION, seen.view)
    others = LeaveOneOut(texts, n_topics)
    refined, mixed = labels, labels
    for cycle in counted(range(_CYCLES), "refining topics"):
        refined = refine_by_mixture(texts, refined, n_topics)
        refined = np.where(seeds == FREE, refined, seeds)
        mixed = mixed if cycle else refined
        refined = others.settle(refined, seeds)
    fitted = others.fit(refined)
    if seen.judge is not None:
        early, late = (seen.judge.ask(found, n_topics) for found in (mixed, refined))
        if early.clearly_more_than(late, words=0.0, embeddings=1.0):
            kept = mixture_coefficients(texts, mixed, n_topics, seen.idf)
            return Found(kept, others.sharpness(mixed, kept), seen.view, told=early)
        return Found(fitted, others.sharpness(refined, fitted), seen.view, True, late)
    if refine == "auto":
        before = others.fit(labels)
        if others.explained(labels, before) > others.explained(refined, fitted) + _CLEARLY:
            return Found(before, others.sharpness(labels, before), seen.view)
    return Found(fitted, others.sharpness(refined, fitted), seen.view, True)


def nearest(block: Texts, centers: Floats) -> Ints:
    """The centre with the largest cosine to each text; a centre of zeros has none."""
    cosines = block.text_vectors @ centers.T
    cosines[:, ~centers.any(axis=1)] = -np.inf
    return np.asarray(cosines.argmax(axis=1))


def best_of(found: Sequence[Found], trust: float) -> Found:
    """The topics that words and embeddings tell most of, if embeddings count so much beside words."""
    return max(found, key=lambda one: 0.0 if one.told is None else float(one.told.bits[0] @ [1.0, trust]))


def decision(found: Sequence[Found], best: Found) -> str:
    """What was chosen and why, in a sentence or two."""
    if best.view is None:
        return "The embeddings do not fit the texts and are not used."
    share = f"The embeddings count for {best.view.share:.0%}"
    if best.told is None:
        return f"{share}."
    if other := next((other.view for other in found if other is not best and other.view), None):
        share += f" ({other.share:.0%} predicts texts left out less well)"
    if best.refined:
        return f"{share}; topics are refined by words."
    return f"{share}; topics are not refined by words, which the embeddings contradict."


def _around(texts: Sample, centers: Floats, labels: Ints) -> Coefficients:
    """A text goes to the nearest centre; words count only by their vectors."""
    sizes = texts.sum(lambda block: np.bincount(labels[block.rows], block.weights, len(centers)))
    terms = np.zeros((texts.n_terms, len(centers)))
    return Coefficients(terms, centers.T.copy(), sizes / max(sizes.sum(), 1e-300))
