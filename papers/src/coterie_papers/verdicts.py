"""What became of a paper's claim: five verdicts, and the rules by which numbers reach them.

Rules and their bounds stand in code before a number is seen. A rule gives a verdict with its reason in a few
words, as `Page.claim` takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

#: Means of a measure from 0 to 1 that are no further apart are a tie.
TIE = 0.01


class Verdict(StrEnum):
    """What became of a claim, in the words of the pages."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    OTHER_DATA = "other data"
    FAILS = "does not hold"
    CHANGED = "no longer true"

    @classmethod
    def of(cls, holds: bool) -> Verdict:
        """Of a rule that knows nothing between yes and no."""
        return cls.HOLDS if holds else cls.FAILS


#: What a reader must know about the verdicts that do not explain themselves.
MEANINGS = {
    Verdict.IN_PART: "true of most of what was compared, of one of two sentences, or but for ties",
    Verdict.OTHER_DATA: "not so on a data set that stands in for one that the paper had and we have not",
    Verdict.CHANGED: "true when it was written, and not of this program",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper said, what was measured, and what that makes of it."""

    group: str
    said: str
    measured: str
    verdict: Verdict
    reason: str


class Judgement(NamedTuple):
    """A verdict and its reason in a few words."""

    verdict: Verdict
    reason: str


def above(differences: Sequence[float], tie: float = TIE) -> Judgement:
    """Of a claim that one thing is above another everywhere; the differences are those that must be positive.

    It holds if all are above by more than a tie, and in part if more than half are, or if none is below.

    >>> above([0.2, 0.3])
    Judgement(verdict=<Verdict.HOLDS: 'holds'>, reason='above in 2 of 2')
    >>> above([0.2, 0.3, 0.01]).reason, above([0.2, 0.0, -0.3]).reason
    ('above in 2 of 3, 1 tie', 'above in 1 of 3, 1 tie, 1 below')
    """
    more = sum(d > tie for d in differences)
    less = sum(d < -tie for d in differences)
    ties = len(differences) - more - less
    parts = [f"above in {more} of {len(differences)}"]
    if ties:
        parts.append("1 tie" if ties == 1 else f"{ties} ties")
    if less:
        parts.append(f"{less} below")
    verdict = _by_count(more, len(differences))
    if verdict is Verdict.FAILS and not less:
        verdict = Verdict.IN_PART
    return Judgement(verdict, ", ".join(parts))


def alike(differences: Sequence[float], within: float) -> Judgement:
    """Of a claim that two things are alike everywhere: it holds if all differences are within the bound.

    >>> alike([0.01, -0.04, 0.2], within=0.05)
    Judgement(verdict=<Verdict.IN_PART: 'holds in part'>, reason='2 of 3 within 0.05')
    """
    near = sum(abs(d) <= within for d in differences)
    return Judgement(_by_count(near, len(differences)), f"{near} of {len(differences)} within {within:g}")


def on_stand_in(judged: Judgement, data: str) -> Judgement:
    """A verdict from data that stands in for the paper's: what does not hold there is not refuted.

    >>> on_stand_in(Judgement(Verdict.FAILS, "above in 1 of 5, 4 below"), "stackoverflow")
    Judgement(verdict=<Verdict.OTHER_DATA: 'other data'>, reason='stackoverflow: above in 1 of 5, 4 below')
    """
    verdict = Verdict.OTHER_DATA if judged.verdict is Verdict.FAILS else judged.verdict
    return Judgement(verdict, f"{data}: {judged.reason}")


def _by_count(n: int, total: int) -> Verdict:
    if not total:
        raise ValueError("a claim needs something to be judged by")
    if n == total:
        return Verdict.HOLDS
    return Verdict.IN_PART if 2 * n > total else Verdict.FAILS


def counted(claims: Sequence[Claim]) -> str:
    """How many claims have each verdict: ``11 claims: 7 holds · 3 holds in part · 1 does not hold``."""
    verdicts = [claim.verdict for claim in claims]
    counts = " · ".join(f"{verdicts.count(v)} {v}" for v in Verdict if v in verdicts)
    return f"{len(verdicts)} claims: {counts}"
