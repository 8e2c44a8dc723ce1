"""From the centres of k-means to topics: two refinements, kept where there is evidence for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.cluster.fusion import View
from coterie.cluster.judging import Judge
from coterie.cluster.leave_one_out import Coefficients, LeaveOneOut
from coterie.cluster.mixture import CONCENTRATION, refine_by_mixture
from coterie.cluster.seeding import FREE
from coterie.cluster.texts import Floats, Ints, Sample, Texts
from coterie.linalg.rows import unit_dense
from coterie.progress import counted

#: Refined topics are given up if texts left out tell them less well by this share of their variance.
_CLEARLY = 0.05
#: How often the two refinements follow each other.
_CYCLES = 2


@dataclass(frozen=True)
class Seen:
    """Texts by their vectors and, with a `view`, by their embeddings; then a judge compares partitions."""

    texts: Sample
    view: View | None = None
    judge: Judge | None = None


@dataclass(frozen=True)
class Found:
    """What tells topics apart, how sharply, and what words and embeddings tell of them."""

    coefficients: Coefficients
    sharpness: float
    view: View | None
    refined: bool = False
    bits: float = 0.0


def find_topics(seen: Seen, centers: Floats, seeds: Ints, refine: bool | Literal["auto"]) -> Found:
    """Topics around centres. Texts of a seed stay with it meanwhile.

    With embeddings the judge decides how far refinement goes: the mixture keeps to what words and embeddings
    both say, the classifier after it goes by words first. Where the embeddings tell clearly less of its
    topics, the mixture's are kept, and a text goes to the nearest centre.
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
        if early.contradicts(late):
            kept = _around(texts, _centers_of(texts, mixed, n_topics), mixed)
            return Found(kept, CONCENTRATION, seen.view, bits=early.bits)
        return Found(fitted, others.sharpness(refined, fitted), seen.view, True, late.bits)
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


def decision(found: Sequence[Found], best: Found) -> str:
    """What was chosen and why, in a sentence."""
    if best.view is None:
        return "the embeddings do not fit the texts and are not used"
    share = f"the embeddings count for {best.view.share:.0%}"
    if not best.bits:
        return share
    told = f"{best.bits:.2f} bits about a text's topic are told by texts left out"
    others = [other.bits for other in found if other is not best]
    against = f", against {max(others):.2f} with another share" if others else ""
    stage = "refined by words" if best.refined else "not refined by words, which the embeddings contradict"
    return f"{share}; topics are {stage}; {told}{against}"


def _around(texts: Sample, centers: Floats, labels: Ints) -> Coefficients:
    """A text goes to the nearest centre; words count only by their vectors."""
    sizes = texts.sum(lambda block: np.bincount(labels[block.rows], block.weights, len(centers)))
    terms = np.zeros((texts.n_terms, len(centers)))
    return Coefficients(terms, centers.T.copy(), sizes / max(sizes.sum(), 1e-300))


def _centers_of(texts: Sample, labels: Ints, n_topics: int) -> Floats:
    def sums(block: Texts) -> Floats:
        member = np.zeros((len(block.weights), n_topics), dtype=block.text_vectors.dtype)
        member[np.arange(len(member)), labels[block.rows]] = block.weights
        return member.T @ block.text_vectors

    return unit_dense(texts.sum(sums))
