"""How many topics there are: the numbers at which two halves of the texts, clustered apart, agree.

Collections have more than one right scale, so the answer is a choice with an interval, other plausible
numbers and a curve to plot; never one silent number. Nothing here looks at labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.held_out import Halving, Words
from coterie.cluster.structure import FEWEST, IN_COMMON, UNSTRUCTURED, in_common_ratio, structure_ratio
from coterie.engines.threads import one_blas_thread, ordered_map, usable_threads
from coterie.estimator import Array
from coterie.linalg.rows import unit_dense
from coterie.progress import counted

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Numbers of clusters tried: even steps in the logarithm, wider where runs are dear and curves smooth.
GRID = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 72, 96, 128, 176, 256)
#: Coefficients of `features`, fitted to labelled sets as a conditional logit (``benchmarks/n_topics.py``).
COEFFICIENTS = (10.3, 8.8, 4.5, 16.8, -9.7, -5.3, 3.9)
#: Excess over the cloud from which halves count as all but equal, and what full equality is worth. Chosen,
#: not fitted: few real collections get there, but where clusters are that clear their number is no guess.
CLEAR, CLEAR_GAIN = 0.95, 5.0
#: Share of the plausibility that the interval holds.
MASS = 0.8
#: A peak is a local maximum with at least this share of the largest plausibility.
PEAK = 0.03

#: A cluster has at least this many texts on average: K goes up to the number of texts over this.
_TEXTS_PER_CLUSTER = 6
#: Texts looked at, for all K alike: agreement grows with the number of texts.
_ROWS = 6_000
#: Beyond so many clusters the cloud hardly agrees with itself, and is not measured any more.
_LAST_CLOUD = 57
#: Bandwidth, in octaves of K, of the smoothing of curves.
_BANDWIDTH = 0.4
#: A peak closer to the choice than this many octaves is no other scale.
_APART = 0.35
#: Axes of the embedding that are looked at for the smallest K.
_FEWEST_AXES = 8
#: Outside these numbers of texts, more or fewer of them say nothing about the number of topics.
_FEW_TEXTS, _MANY_TEXTS = 300, 30_000
#: The cloud leaves at least this much to be won: below, the difference is noise.
_LEAST = 0.05
#: Sweeps of k-means, and the share of the objective below which a sweep is the last.
_SWEEPS, _TOLERANCE = 12, 2e-4


@dataclass(frozen=True)
class NumberOfTopics:
    """A number of topics, and how sure it is.

    Attributes
    ----------
    n_topics
        The choice. 1 where the texts show no structure or are too few.
    low, high
        The interval: between them lies `MASS` of the plausibility. Without structure it goes from 1 to the
        number that would have been chosen; with too few texts, to their number.
    peaks
        Other plausible scales, best first; they may lie outside the interval.
    curve
        Pairs of a number of topics and its plausibility, the largest being 1: ready to plot over log K.
    structured
        False where the texts show no more than the same words dealt out at random.
    structure
        Second singular value of the texts over that of shuffled tokens: the first thing the verdict asks.
    """

    n_topics: int
    low: int
    high: int
    peaks: tuple[int, ...]
    curve: tuple[tuple[int, float], ...]
    structured: bool
    structure: float

    def _repr_html_(self) -> str:
        from coterie.figures.plots import curve_figure

        return curve_figure(self)._repr_html_()

    def _repr_svg_(self) -> str:
        from coterie.figures.plots import curve_figure

        return curve_figure(self)._repr_svg_()


@dataclass(frozen=True)
class Agreement:
    """What clusterings of two halves of the texts have in common, for each number of clusters.

    `texts` is their adjusted Rand index, and `cloud` that of a Gaussian cloud with their mean and covariance,
    in which every cut is arbitrary. `words` is what the clusters of one half say about the words of the
    other: bits a word, beyond what a single cluster says. `n_texts` is the number of all texts.
    """

    n_clusters: Ints
    texts: Array
    cloud: Array
    words: Array
    n_texts: int


def choose_n_topics(
    vectors: npt.ArrayLike,
    counts: csr_matrix,
    random: np.random.RandomState,
    *,
    largest: int | None = None,
) -> NumberOfTopics:
    """Read the number of topics from distinct texts.

    1. Verdict: are the words of texts more than words dealt out at random? If not, one topic is the answer.
       Two signs are looked for: a contrast among all texts (`structure_ratio`), and where there is none,
       texts with two words in common (`in_common_ratio`), which a few hundred short texts show as well.
    2. For each K of a grid cluster two random halves, assign each half by both sets of centres, and take the
       agreement (`agreement`). Structure is found again; an arbitrary cut is not. A Gaussian cloud tells
       what agreement data without clusters reach. Clusters of one half also predict the words of the other:
       up to the number of topics each further cluster helps more than beyond it.
    3. Plausibility of K is the exponential of a linear form in these curves, log K and the number of texts
       (`features`). Seven coefficients, the same for all data. Halves that agree all but perfectly settle the
       matter (`clear_cut`).
    4. The choice is the median of the plausibility over log K, which errs least in the mean (its top errs
       more); the interval is the narrowest one around it that holds `MASS`.

    Rows must be distinct texts: copies of one text would agree with themselves whatever the clusters. For the
    same reason there are no weights here. Rows of zeros are left out.

    Parameters
    ----------
    vectors
        The embedding of each text, rows of unit length (or zeros).
    counts
        Texts × terms, the same rows.
    random
        Draws halves, starts and shuffles. The same state and the same order of rows give the same answer.
    largest
        Largest number of topics to consider; beyond the end of `GRID` nothing is tried.

    >>> random = np.random.RandomState(0)
    >>> topic = np.arange(300) % 3
    >>> words = np.stack([random.choice(30, size=6) + 30 * k for k in topic])
    >>> counts = csr_matrix((np.ones(1800), words.ravel(), np.arange(0, 1801, 6)), shape=(300, 90))
    >>> vectors = np.eye(3)[topic] + 0.1 * random.standard_normal((300, 3))
    >>> choose_n_topics(vectors, counts, random).n_topics
    3
    """
    rows = unit_float_rows(vectors)
    used = np.flatnonzero(rows.any(axis=1))
    if _n_directions(rows[used]) < FEWEST or largest == 1:
        return NumberOfTopics(1, 1, max(1, min(len(used), largest or len(used))), (), ((1, 1.0),), False, 1.0)
    # threads inside such small products would only get in each other's way, and sums must have one order
    counts = csr_matrix(counts)[used]
    with one_blas_thread():
        structure = structure_ratio(counts, random)
        measured = agreement(rows[used], counts, random, largest)
    estimate = read_off(measured, COEFFICIENTS, structure)
    if structure > UNSTRUCTURED or in_common_ratio(counts, random) > IN_COMMON:
        return estimate
    return unstructured(estimate)


def unstructured(estimate: NumberOfTopics) -> NumberOfTopics:
    """One topic. Nothing shown is not nothing there: the scales that would be read off are kept as peaks."""
    peaks = (estimate.n_topics, *estimate.peaks)
    return replace(estimate, n_topics=1, low=1, high=estimate.n_topics, peaks=peaks, structured=False)


def unit_float_rows(vectors: npt.ArrayLike) -> Floats:
    """Rows at unit length in single precision, zeros where a row has no direction."""
    unit: Floats = unit_dense(np.asarray(vectors, dtype=np.float64)).astype(np.float32)
    return unit


def _n_directions(rows: Floats) -> int:
    """How many different rows there are, by one number each: comparing whole rows takes long."""
    return len(np.unique(np.round(rows @ np.cos(np.arange(rows.shape[1], dtype=np.float32)), 5)))


# --- agreement of halves


def agreement(
    vectors: Floats, counts: csr_matrix, random: np.random.RandomState, largest: int | None = None
) -> Agreement:
    """How far clusterings of two halves agree, for texts and for the cloud, along the grid.

    Every other halving sees only the 2K widest axes: K clusters need no more, and the rest blurs a few large
    ones, while with all axes many small ones show. Small K are cheap and their runs noisy, so they get more
    halvings and starts. Where the cloud is not measured it is continued as it falls, with the root of K.
    """
    sample = _sample(len(vectors), _ROWS, random)
    rows, words = _by_spread(np.ascontiguousarray(vectors[sample])), Words.of(counts, sample)
    top = max(2, min(len(vectors) // _TEXTS_PER_CLUSTER, largest or GRID[-1]))
    grid = [k for k in GRID if k <= top]
    nowhere = _gaussian_cloud(rows, random)
    # each K has a seed of its own, so that threads may take them in any order
    seeds = random.randint(np.iinfo(np.int32).max, size=len(grid))

    def measured(task: tuple[int, int]) -> tuple[float, float, float | None]:
        k, seed = task
        own = np.random.RandomState(seed)
        starts, halvings, null_halvings = _effort(k)
        halved = list(_halved(rows, k, starts, halvings, own))
        null = (
            _mean_agreement(_halved(nowhere, k, starts, null_halvings, own), k) if k <= _LAST_CLOUD else None
        )
        return _mean_agreement(halved, k), words.told(halved[0], k) - words.told(halved[0].merged(), 1), null

    # the largest first: they take longest, and nobody should wait for them at the end
    tasks = list(zip(grid, seeds.tolist(), strict=True))[::-1]
    answers = ordered_map(measured, tasks, usable_threads(None))
    found = list(counted(answers, "estimating the number of topics", len(tasks)))[::-1]
    texts, told, null = zip(*found, strict=True)
    cloud: list[float] = []
    for k, value in zip(grid, null, strict=True):
        cloud.append(value if value is not None else cloud[-1] * (grid[len(cloud) - 1] / k) ** 0.5)
    return Agreement(np.array(grid), np.array(texts), np.array(cloud), np.array(told), len(vectors))


def _effort(n_clusters: int) -> tuple[int, int, int]:
    """Starts of k-means, halvings of the texts, halvings of the cloud."""
    if n_clusters <= 12:
        return 3, 4, 4
    return (2, 4, 2) if n_clusters <= _LAST_CLOUD else (1, 2, 0)


def _by_spread(rows: Floats) -> Floats:
    """The same rows along their principal axes, the widest first."""
    _, axes = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
    return np.ascontiguousarray(rows @ axes[:, ::-1].astype(np.float32))


def _sample(n_rows: int, n: int, random: np.random.RandomState) -> Ints:
    if n_rows <= n:
        return np.arange(n_rows)
    drawn: Ints = np.sort(random.choice(n_rows, n, replace=False))
    return drawn


def _gaussian_cloud(rows: Floats, random: np.random.RandomState) -> Floats:
    """Directions of a Gaussian cloud with the mean and the covariance of the rows."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    _, scale, axes = np.linalg.svd(centred, full_matrices=False)
    drawn = random.standard_normal((len(rows), len(scale))) * (scale / np.sqrt(len(rows)))
    return unit_float_rows(drawn @ axes + rows.mean(axis=0, dtype=np.float64))


def _halved(
    rows: Floats, n_clusters: int, starts: int, halvings: int, random: np.random.RandomState
) -> Iterator[Halving]:
    for turn in range(halvings):
        n_axes = max(2 * n_clusters, _FEWEST_AXES) if turn % 2 else rows.shape[1]
        seen = unit_float_rows(rows[:, :n_axes]) if n_axes < rows.shape[1] else rows
        order = random.permutation(len(rows))
        first, second = order[: len(rows) // 2], order[len(rows) // 2 :]
        one, other = seen[first], seen[second]
        ours, theirs = (_centers(half, n_clusters, starts, random) for half in (one, other))
        yield Halving(
            (first, second),
            ((one @ ours.T).argmax(axis=1), (other @ theirs.T).argmax(axis=1)),
            ((one @ theirs.T).argmax(axis=1), (other @ ours.T).argmax(axis=1)),
        )


def _mean_agreement(halvings: Iterable[Halving], n_clusters: int) -> float:
    """Mean adjusted Rand index of own and foreign clusters over both halves."""
    pairs = [pair for halving in halvings for pair in zip(halving.own, halving.foreign, strict=True)]
    return float(np.mean([_adjusted_rand(one, other, n_clusters) for one, other in pairs]))


def _adjusted_rand(one: Ints, other: Ints, n_clusters: int) -> float:
    """Adjusted Rand index: pairs together in both, corrected for chance; 1 where both are one cluster."""
    table = np.bincount(one * n_clusters + other, minlength=n_clusters**2).reshape(n_clusters, n_clusters)
    both, rows, columns = (float((n * (n - 1)).sum()) for n in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / max(len(one) * (len(one) - 1), 1)
    possible = (rows + columns) / 2 - chance
    return (both - chance) / possible if possible > 1e-9 else 1.0


def _centers(rows: Floats, n_clusters: int, starts: int, random: np.random.RandomState) -> Floats:
    """Spherical k-means in short: hundreds of small runs need no more than the cuts they tend to."""
    runs = [_settled(rows, _seeded(rows, n_clusters, random)) for _ in range(starts)]
    return max(runs, key=lambda run: run[0])[1]


def _seeded(rows: Floats, n_clusters: int, random: np.random.RandomState) -> Floats:
    """Greedy k-means++: of a few rows drawn by their distance to the centres, the one that leaves least."""
    centers = np.empty((n_clusters, rows.shape[1]), dtype=np.float32)
    centers[0] = rows[random.randint(len(rows))]
    left = np.maximum(1 - rows @ centers[0], 0)
    for k in range(1, n_clusters):
        running = np.cumsum(left, dtype=np.float64)
        drawn = np.searchsorted(running, random.uniform(size=3) * running[-1], side="right")
        drawn = np.minimum(drawn, len(rows) - 1)
        remaining = np.minimum(np.maximum(1 - rows @ rows[drawn].T, 0), left[:, None])
        best = int(remaining.sum(axis=0).argmin())
        centers[k], left = rows[drawn[best]], remaining[:, best]
    return centers


def _settled(rows: Floats, centers: Floats) -> tuple[float, Floats]:
    """Sweeps until they gain little; an empty cluster keeps its centre. Mean cosine, and centres."""
    before = -np.inf
    each, ends = np.ones(len(rows), dtype=np.float32), np.arange(len(rows) + 1)
    for _ in range(_SWEEPS):
        cosines = rows @ centers.T
        nearest = cosines.argmax(axis=1)
        reached = float(cosines[ends[:-1], nearest].mean())
        if reached - before < _TOLERANCE * abs(reached):
            break
        before = reached
        member = csr_matrix((each, nearest, ends), shape=(len(rows), len(centers)))
        sums = np.asarray(member.T @ rows)
        length = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        centers = np.divide(sums, length, where=length > 1e-6, out=centers.copy())
    return reached, centers


# --- from agreement to an answer


def features(measured: Agreement) -> Array:
    """What makes a number of clusters plausible: one row a number, one column a coefficient.

    Agreement; how much more an octave of K tells about words up to here than beyond; the squared share won of
    what a cloud without clusters leaves to be won, which says more the more clusters there are; log₂K / 4
    and its square, which weigh the ends of the grid against its middle; and both times the logarithm of the
    number of texts, since more texts tend to be on more topics.
    """
    octave = np.log2(measured.n_clusters)
    curves = measured.texts, _bend(octave, measured.words), _excess(measured) ** 2 * octave / 4
    smooth = _smooth(octave, np.stack(curves, axis=1), _BANDWIDTH)
    scale = np.stack([octave / 4, (octave / 4) ** 2], axis=1)
    size = np.log2(np.clip(measured.n_texts, _FEW_TEXTS, _MANY_TEXTS) / 2048) / 2
    return np.hstack([smooth, scale, scale * size])


def _bend(octave: Array, curve: Array) -> Array:
    """What a curve gains in the octave before each number less what it gains in the octave after.

    It starts from 0 at one cluster, and goes on after its end as in the last octave.
    """
    at, values = np.concatenate([[0.0], octave]), np.concatenate([[0.0], curve])
    last = values[-1] - np.interp(at[-1] - 1, at, values)
    after = np.interp(octave + 1, at, values) + np.maximum(octave + 1 - at[-1], 0) * last
    bend: Array = 2 * curve - np.interp(octave - 1, at, values) - after
    return bend


def _smooth(at: Array, curves: Array, bandwidth: float) -> Array:
    kernel = np.exp(-0.5 * ((at[:, None] - at) / bandwidth) ** 2)
    return (kernel / kernel.sum(axis=1, keepdims=True)) @ curves


def clear_cut(measured: Agreement) -> Array:
    """What is added to the linear form where two halves give all but the same clusters."""
    return CLEAR_GAIN * np.maximum(_excess(measured) - CLEAR, 0) / (1 - CLEAR)


def _excess(measured: Agreement) -> Array:
    return (measured.texts - measured.cloud) / np.maximum(1 - measured.cloud, _LEAST)


def read_off(measured: Agreement, coefficients: npt.ArrayLike, structure: float) -> NumberOfTopics:
    """The choice, the interval and the peaks of the plausibility, a density over log K.

    Peaks are those with and without what clear-cut clusters add: one clear-cut scale does not make another
    implausible, and is plausible itself.
    """
    linear = features(measured) @ np.asarray(coefficients)
    grid, density = measured.n_clusters, _scaled(linear + clear_cut(measured))
    octave = np.log2(grid)
    fine = np.linspace(octave[0], octave[-1], 1 + max(1, int((octave[-1] - octave[0]) * 32)))
    height = np.exp(
        np.interp(fine, octave, np.log(np.maximum(density, 1e-12)))
    )  # log-linear between the grid
    mass = height / height.sum()
    chosen = int(np.searchsorted(np.cumsum(mass), 0.5))
    n_topics = round(2 ** fine[chosen])
    first, last = _narrowest(mass, chosen)
    low, high = int(np.floor(2 ** fine[first] + 1e-9)), int(np.ceil(2 ** fine[last] - 1e-9))
    curve = tuple((int(k), float(score)) for k, score in zip(grid, density, strict=True))
    both = dict.fromkeys(_peaks(grid, density) + _peaks(grid, _scaled(linear)))
    peaks = tuple(k for k in both if abs(np.log2(k / n_topics)) > _APART)
    return NumberOfTopics(n_topics, min(low, n_topics), max(high, n_topics), peaks, curve, True, structure)


def _scaled(linear: Array) -> Array:
    """The exponential, the largest being 1."""
    return np.exp(linear - linear.max())


def _peaks(grid: Ints, density: Array) -> list[int]:
    """Numbers more plausible than their neighbours on the grid, best first."""
    around = np.concatenate([[-np.inf], density, [-np.inf]])
    local = np.flatnonzero((density > around[:-2]) & (density >= around[2:]) & (density >= PEAK))
    return [int(grid[i]) for i in local[np.argsort(-density[local], kind="stable")]]


def _narrowest(mass: Array, inside: int) -> tuple[int, int]:
    """First and last index of the narrowest range around `inside` that holds `MASS`."""
    total = np.concatenate([[0.0], np.cumsum(mass)])
    ends = np.searchsorted(total, np.minimum(total[: inside + 1] + MASS * total[-1], total[-1]) - 1e-12)
    enough = total[ends] - total[: inside + 1] >= MASS * total[-1] - 1e-9
    width = np.where(enough, np.maximum(ends - 1, inside) - np.arange(inside + 1), len(mass))
    first = int(width.argmin())
    return first, min(first + int(width[first]), len(mass) - 1)
