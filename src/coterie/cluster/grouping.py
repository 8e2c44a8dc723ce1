"""Groups of topics that two halves of the vocabulary find alike.

Topics are grouped by the words they share. Words of one half of the vocabulary say nothing about words of the
other unless topics have something in common, so what one half proposes the other can judge. Nothing here
looks at labels, or at single texts: counts of words in topics are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage

from coterie.engines.threads import one_blas_thread
from coterie.estimator import Array
from coterie.linalg.rows import unit_dense

Ints = npt.NDArray[np.int64]

#: Fewer topics than this are not grouped, and there are at least so many groups.
FEWEST_TOPICS, FEWEST_GROUPS = 8, 3
#: Halvings of the vocabulary, and clouds that tell what chance gives.
_HALVINGS, _CLOUDS = 16, 30
#: Numbers of groups tried, in even steps of the logarithm up to half the number of topics.
_STEPS = 24
#: The fewest groups that reach this part of the best agreement are taken.
_NEARLY = 0.9
#: A grouping is offered if its agreement is above that of clouds by so much, and by so many deviations.
_EXCESS, _DEVIATIONS = 0.05, 3.0
#: Most frequent words that are looked at.
_WORDS = 20_000
#: The cloud has at most this part of its spread in common between halves.
_IN_COMMON = 0.9


@dataclass(frozen=True)
class Grouping:
    """A group number for each topic, and the evidence for the groups.

    `agreement` is the correlation between being in one group, by one half of the vocabulary, and being alike,
    by the other. `chance` is what topics scattered in a cloud, without groups, would reach.
    """

    groups: Ints
    agreement: float
    chance: float

    @property
    def evidence(self) -> tuple[float, float]:
        """Agreement and chance."""
        return self.agreement, self.chance


def nested_groupings(counts: Array) -> list[Grouping]:
    """Groups of topics, groups of these groups, and so on while there is evidence; the finest first.

    Each grouping numbers the groups of the one before, the first the topics.

    1. Topics are profiles of words: roots of shares, less what they have of the mean profile.
    2. Each half of the vocabulary gives a tree of topics (Ward's linkage) and a table of how alike they are.
       A cut of one tree is judged by the table of the other half, for both halves and many halvings.
    3. The same is done for clouds in which similarities spread as among the topics, but without any groups.
    4. Of the numbers of groups that come near the best agreement, and that clouds do not come near, the
       smallest is taken. The groups are those of a tree of all words.

    `counts` are topics × words; words are in an order that does not depend on the texts' order.

    >>> random = np.random.RandomState(0)
    >>> shared = np.repeat(random.gamma(0.1, size=(4, 400)), 5, axis=0)
    >>> counts = random.poisson(20 * shared + 20 * random.gamma(0.1, size=(20, 400)))
    >>> [grouping.groups.tolist() for grouping in nested_groupings(counts)]
    [[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]]
    """
    counts = _frequent(np.asarray(counts, dtype=np.float64))
    found: list[Grouping] = []
    with one_blas_thread():
        while (grouping := _grouping(counts)) is not None:
            found.append(grouping)
            merged = np.zeros((int(grouping.groups.max()) + 1, counts.shape[1]))
            np.add.at(merged, grouping.groups, counts)
            counts = merged
    return found


def _frequent(counts: Array) -> Array:
    totals = counts.sum(axis=0)
    if len(totals) <= _WORDS:
        return counts
    return np.ascontiguousarray(counts[:, np.sort(np.argsort(-totals, kind="stable")[:_WORDS])])


def _grouping(counts: Array) -> Grouping | None:
    """The groups of some topics; None if there is no evidence for any."""
    if len(counts) < FEWEST_TOPICS:
        return None
    most = len(counts) // 2
    sizes = np.unique(np.round(np.geomspace(FEWEST_GROUPS, most, _STEPS)).astype(np.int64))
    halved = [(_alike(counts[:, half]), _alike(counts[:, ~half])) for half in _halves(counts.shape[1])]
    reached = np.mean([_judged(*tables, sizes) for tables in halved], axis=0)
    clouds = np.stack([_judged(*tables, sizes) for tables in _clouds(halved)])
    chance = clouds.mean(axis=0)
    beyond = reached - chance >= np.maximum(_EXCESS, _DEVIATIONS * clouds.std(axis=0))
    offered = np.flatnonzero(beyond & (reached >= _NEARLY * reached.max()))
    if not len(offered):
        return None
    chosen = int(offered[0])
    groups = _cuts(_alike(counts), sizes[chosen : chosen + 1])[0]
    return Grouping(groups, float(reached[chosen]), float(chance[chosen]))


def _halves(n_words: int) -> npt.NDArray[np.bool_]:
    random = np.random.RandomState(0)
    return np.stack([random.permutation(n_words) < n_words // 2 for _ in range(_HALVINGS)])


def _alike(counts: Array) -> Array:
    """Cosines of the profiles of topics.

    Topics use more or less of the words that all have in common, and in the two halves of the vocabulary the
    more in one the less in the other: enough to look alike in both. So what profiles have of their mean is
    left out, each as much as it has.
    """
    profiles = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    mean = unit_dense(profiles.mean(axis=0, keepdims=True))
    unit = unit_dense(profiles - (profiles @ mean.T) @ mean)
    return np.asarray(unit @ unit.T)


def _cuts(alike: Array, sizes: Ints) -> Ints:
    """Groups of topics for each number of groups, cut from one tree; the group of the first topic is 0."""
    n_topics = len(alike)
    pairs = np.triu_indices(n_topics, 1)
    links = linkage(np.sqrt(np.maximum(2 - 2 * alike[pairs], 0.0)), "ward")
    now, cuts = np.arange(n_topics), {}
    for step, (one, other, *_) in enumerate(links):
        cuts[n_topics - step] = now
        now = np.where((now == one) | (now == other), n_topics + step, now)
    return np.stack([_numbered(cuts[int(size)]) for size in sizes])


def _numbered(groups: Ints) -> Ints:
    """The same groups, numbered in the order in which they appear."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first)), dtype=np.int64)[inverse]


def _judged(one: Array, other: Array, sizes: Ints) -> Array:
    """For each number of groups: how well groups by one table go with what is alike by the other."""
    return (_correlations(_cuts(one, sizes), other) + _correlations(_cuts(other, sizes), one)) / 2


def _correlations(cuts: Ints, alike: Array) -> Array:
    first, second = np.triu_indices(len(alike), 1)
    together = (cuts[:, first] == cuts[:, second]).astype(np.float64)
    together -= together.mean(axis=1, keepdims=True)
    values = alike[first, second] - alike[first, second].mean()
    spread = np.sqrt((together**2).sum(axis=1) * (values**2).sum())
    return np.asarray(together @ values / np.maximum(spread, 1e-12))


def _clouds(halved: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Pairs of tables of topics without groups, that have as much in common as the tables of two halves.

    A topic has a place, Gaussian along axes as wide as those that both halves show, and for each half some
    directions of its own, which stand for words that tell nothing about the other half.
    """
    n_topics = len(halved[0][0])
    pairs = np.triu_indices(n_topics, 1)
    widths, common, apart = np.zeros(n_topics), 0.0, 0.0
    for one, other in halved:
        common += float(np.cov(one[pairs], other[pairs])[0, 1]) / len(halved)
        apart += float(np.var(one[pairs] - other[pairs])) / 2 / len(halved)
        widths += (_widths(one, other) + _widths(other, one)) / 2 / len(halved)
    widths = np.maximum(widths, 0.0) / n_topics
    # products of two places vary by the sum of squared widths
    widths *= np.sqrt(max(common, 0.0)) / max(float(np.sqrt((widths**2).sum())), 1e-12)
    widths *= min(1.0, _IN_COMMON / max(float(widths.sum()), 1e-12))
    shared = float(widths.sum())
    n_own = int(np.clip((1 - shared**2) / max(apart, 1e-12), 2, 4 * n_topics))
    random = np.random.RandomState(0)

    def table(places: Array) -> Array:
        own = random.standard_normal((n_topics, n_own)) * np.sqrt((1 - shared) / n_own)
        rows = np.hstack([places, own])
        unit = unit_dense(rows - rows.mean(axis=0))
        return np.asarray(unit @ unit.T)

    tables = []
    for _ in range(_CLOUDS):
        places = random.standard_normal((n_topics, n_topics)) * np.sqrt(widths)
        tables.append((table(places), table(places)))
    return tables


def _widths(one: Array, other: Array) -> Array:
    """How far the axes of one table explain the other, the widest first; the diagonal says nothing."""
    hollow = [table - np.diag(np.diag(table)) for table in (one, other)]
    _, axes = np.linalg.eigh(hollow[0])
    return np.asarray(np.einsum("ij,ij->j", axes, hollow[1] @ axes)[::-1])
