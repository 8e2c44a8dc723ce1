"""Sections of the page on statistical semantics: the method, data, NMI and time over rank and over size."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import bold, pm
from coterie_papers.figures import Curve, lines
from coterie_papers.nystrom_found import (
    BESIDE,
    CLUSTERERS,
    FOLLOWED,
    FULL,
    ITERATIONS,
    LARGE_BASELINES,
    SEMANTICS,
    SHOWN,
    Clusterer,
    Found,
)
from coterie_papers.page import Page

#: How few and how many terms are distinguished where both are of one method: colour, marker, dash.
_SAMPLED = (("#EE7733", "s", "--"), ("#332288", "D", "-"))


# --- the method


def method(found: Found, page: Page) -> None:
    """What the method is, a picture of what it changes, and how to use it."""
    (outcome,) = found.results.values("nystrom-cosines")
    name, values, settings = outcome.trial.collection, outcome.values, outcome.trial
    page.text(
        """
S. Seifzadeh, A. K. Farahat, M. S. Kamel, F. Karray: Short text clustering using statistical semantics.
WWW 2015 Companion.

## The method

Two short texts on one subject often have no word in common, and then every similarity that counts words is
0. Here texts are compared by `K = X G Xᵀ`, where G says which terms go together in the collection: `XᵀX`
(assc), its cosine (assc_n), covariance (cov) or Pearson correlation (pcor). G is large, so ℓ terms s are
drawn, the longer their columns the more often, and `G ≈ G[:,s] G[s,s]⁻¹ G[s,:]` (Nyström). The k leading
eigenpairs of `G[s,s] = Q Λ Qᵀ` make a text a row of k numbers, `W = X G[:,s] Q Λ^(-1/2)`, and any clusterer
can have it.
"""
    )
    parts = len(values["words_same"])
    centres = [(part + 0.5) / parts for part in range(parts)]
    curves = {
        title: [
            Curve(label, centres, values[f"{kind}_{which}"], marker="None")
            for which, label in (("same", "two texts of one class"), ("other", "of two classes"))
        ]
        for title, kind in (("words shared", "words"), ("in the space", "space"))
    }
    figure = lines(curves, x="cosine", y="share of pairs", columns=2, log_y=True)
    rank, sampled = settings.setting("rank"), settings.setting("sampled")
    page.figure(
        "cosines",
        f"How similar texts of {name} are by the words that they share, and in the space of pcor with ℓ = "
        f"{sampled:,} and k = {rank}. Of the pairs of one class {values['words_same_nothing']:.0%} share no "
        f"word; in the space their mean cosine is {values['space_same_mean']:.2f}, that of pairs of two "
        f"classes {values['space_other_mean']:.2f} (by words {values['words_same_mean']:.3f} and "
        f"{values['words_other_mean']:.3f}).",
        figure,
    )
    page.text(
        """
On a file of one's own, clustered by spherical k-means:

```sh
coterie fit tickets.csv --text subject --method nystrom --topics 20 --out run
```

and in Python, with any of the choices on this page:

```python
from sklearn.pipeline import make_pipeline
from coterie import NystromSemantics, SphericalKMeans, Vectorizer
from coterie.weights import IdfWeights

space = NystromSemantics("pcor", n_sampled=5000, rank=100, random_state=0)
model = make_pipeline(Vectorizer(), IdfWeights(), space, SphericalKMeans(20, random_state=0))
clusters = model.fit_predict(texts)
```
"""
    )


def data(found: Found, page: Page) -> None:
    """The collections."""
    page.text(
        """
## Data

The paper clusters unbalanced samples of 360,000 tweets in the 10 broad classes of a web directory (Zubiaga
and Ji 2013), which is not public: tweets may not be redistributed. Three data sets stand in. `snippets` are
results of web searches in 8 broad and unbalanced classes: the nearest to the paper, though with more words,
and with no more than 12,000 texts. `wordnet` has glosses, drawn at random from 45 unbalanced classes.
`subreddits` has titles of posts, at most 400 of each subreddit; a sample takes all titles of as many
subreddits as its size needs, 25 for each 10,000 texts, so that classes get more with the texts and not
larger. The number of clusters is that of the classes; the paper does not say what it took.

As in the paper stop words are left out, words are stemmed, and no rare term and no short text is left out,
but for texts that have no term at all. "By chance" is the NMI of the labels with themselves in a random
order.
"""
    )
    rows = []
    for name in dict.fromkeys([*found.ranked, *(n for listed in found.sizes.values() for n in listed)]):
        one = found.data(name)
        words, chance = f"{one['words']:.1f}", f"{one['chance']:.3f}"
        sizes = f"{one['smallest']:,} to {one['largest']:,}"
        rows.append((name, one["texts"], one["terms"], words, one["classes"], sizes, chance))
    page.table(
        ["collection", "texts", "terms", "terms in a text", "classes", "texts in a class", "by chance"],
        rows,
    )


def compared(page: Page) -> None:
    """What was done, and what had to be guessed."""
    page.text(
        f"""
## What is compared

X holds tf-idf (count × log N/df). Rows are brought to unit length; the paper does not say so, and rows of
raw length are beside them as a control. Some printed formulas lost exponents, and the lengths in L must be
squared ones; both are mended. W has negative entries, which NMF cannot have, and the paper does not say what
it did about them: here rows get unit length and their positive and negative parts stand side by side, 2k
columns. NMF is Algorithm 1 of the CIKM 2012 paper with λ = 1 and at most {ITERATIONS} iterations; k-means and
spherical k-means have one start a run. Ncut weights as printed are divided by the largest, which belongs to a
term of a single short text where no rare term is left out, and presses all others down; the same with the
95th percentile as scale is shown besides.

The text speaks of "rank 5" and of "rank 5k … 5000 words are selected (ℓ=5000) and the rank is also 5000":
most likely the k got lost, and claims about rank 5 are read so. Rank 5 itself is in all figures. The paper
prints no other numbers than those in the claims above, its figures cannot be read to the digit.

Seconds are CPU seconds of one core with one BLAS thread, from tf-idf rows on: the space and the clustering.
Each space is made for its rank alone. Few of many eigenpairs come from products with `G[s,s]`, which is
sparse but for an outer product; at k = ℓ it is decomposed as a whole.
"""
    )


# --- over rank


def ranks(found: Found, page: Page, clusterer: Clusterer) -> None:
    """NMI and time over rank for one clusterer: a table for each collection, and a figure but for k-means."""
    names = found.samples if clusterer == "nmf" else found.ranked
    page.text(f"## NMI and time over rank: {CLUSTERERS[clusterer]}")
    for name in names:
        runs = len(found.results.distinct("seed", "cluster", collection=name, method=BESIDE[clusterer][0]))
        drawn = "; ".join(
            f"ℓ = {sampled:,}: "
            + ", ".join(
                f"{_short(s)} {found.draws(name, s, sampled, clusterer)}"
                for s in found.semantics(name, clusterer, sampled=sampled)
            )
            for sampled in found.sampled(name, clusterer)
        )
        caption = (
            f"{name}, {CLUSTERERS[clusterer]}: mean and standard deviation over draws of terms ({drawn}; one "
            f"draw at k = ℓ) and of baselines over {runs} runs."
        )
        if clusterer == "kmeans":
            page.text(caption)
        else:
            page.figure(f"{clusterer}-{name}", caption, _rank_figure(found, name, clusterer))
        _rank_table(found, page, name, clusterer)


def _rank_figure(found: Found, name: str, clusterer: Clusterer) -> Any:
    """Panels of NMI above, of seconds below, one for each number of terms."""
    listed = found.sampled(name, clusterer)
    suffix = "-nmf" if clusterer == "nmf" else ""
    curves: dict[str, list[Curve]] = {}
    for value, what in (("nmi", "ℓ = {:,}"), ("seconds", "ℓ = {:,}, time")):
        for sampled in listed:
            tried = found.semantics(name, clusterer, sampled=sampled)
            every = sorted({k for s in tried for k in found.ranks(name, s, sampled, clusterer)})
            drawn = [
                Curve(m, [every[0], every[-1]], [found.baseline(name, m, value)[0]] * 2, marker="None")
                for m in BESIDE[clusterer]
            ]
            for semantics in tried:
                at = found.ranks(name, semantics, sampled, clusterer)
                points = [found.at(name, semantics, sampled, rank, value, clusterer) for rank in at]
                means, spreads = zip(*points, strict=True)
                band = spreads if value == "nmi" else None
                drawn.append(Curve(semantics + suffix, at, means, band, label=_short(semantics)))
            curves[what.format(sampled)] = drawn
    names = ["NMI"] * len(listed) + ["CPU seconds"] * len(listed)
    figure = lines(curves, x="rank k", y=names, columns=len(listed), log_x=True)
    _ticks(figure, len(listed))
    return figure


def _ticks(figure: Any, panels: int) -> None:
    """Ranks as people write them; panels of a row have one scale, logarithmic for time."""
    axes = figure.axes
    for ax in axes:
        at = sorted({rank for line in ax.get_lines() for rank in line.get_xdata()})
        ax.set_xticks(at, [f"{int(rank):,}" for rank in at], fontsize=7.5)
        ax.minorticks_off()
    for ax in axes[panels:]:
        logarithmic(ax)  # before limits are read: those of a linear axis may lie below zero
    for row in (axes[:panels], axes[panels:]):
        limits = [ax.get_ylim() for ax in row]
        for ax in row:
            ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def logarithmic(ax: Axes) -> None:
    """Seconds on a logarithmic axis, in figures that people read: 0.5, 1, 2."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _rank_table(found: Found, page: Page, name: str, clusterer: Clusterer) -> None:
    """A row for each number of terms and rank, a column for each association."""
    rows: list[list[Any]] = []
    for sampled in found.sampled(name, clusterer):
        tried = found.semantics(name, clusterer, sampled=sampled)
        for rank in sorted({k for s in tried for k in found.ranks(name, s, sampled, clusterer)}):
            means = {
                s: found.at(name, s, sampled, rank, "nmi", clusterer)
                for s in tried
                if rank in found.ranks(name, s, sampled, clusterer)
            }
            best = max(mean for mean, _ in means.values())
            cells = [
                None if s not in means
                else bold(_score(means[s])) if means[s][0] == best and len(means) > 1
                else _score(means[s])
                for s in SEMANTICS
            ]  # fmt: skip
            seconds = np.mean([found.at(name, s, sampled, rank, "seconds", clusterer)[0] for s in means])
            rows.append([f"ℓ = {sampled:,}, k = {rank:,}", *cells, f"{seconds:.1f}"])
    page.table([f"NMI, {name}", *map(_short, SEMANTICS), "CPU seconds"], rows)
    beside = ", ".join(
        f"{CONTENDERS[m].label} {_score(found.baseline(name, m))} in {seconds:.1f} s"
        for m in BESIDE[clusterer]
        for seconds, _ in [found.baseline(name, m, "seconds")]
    )
    page.text(f"Baselines on `{name}`: {beside}.")


def _short(semantics: str) -> str:
    return semantics.removeprefix("nystrom-")


def _score(both: tuple[float, float]) -> str:
    """Mean and standard deviation, or the mean alone of a single run."""
    mean, spread = both
    return pm(mean, spread, 3) if spread else f"{mean:.3f}"


def full(found: Found, page: Page) -> None:
    """All terms at full rank beside the draws."""
    many = found.size_sampled[-1]
    page.text(
        """
### All terms at full rank

Nothing drawn and nothing cut, X G Xᵀ of the two associations that are not centred equals W Wᵀ for W = X A Xᵀ
with a diagonal A: texts × texts, sparse, without eigenvectors. So at this size the matrix of all terms
needs no approximation. The two that are centred have no sparse form and are left out here. One run each.
"""
    )
    rows = []
    for name in found.samples:
        for semantics in FULL:
            rank = found.ranks(name, semantics, many)[-1]
            nmi, seconds = (found.at(name, semantics, many, rank, v)[0] for v in ("nmi", "seconds"))
            exact = found.full(name, semantics)
            took = found.full(name, semantics, "seconds")
            drawn = f"ℓ = {many:,}, k = {rank:,}"
            rows.append(
                (
                    name,
                    _short(semantics),
                    f"{exact:.3f}",
                    f"{took:.1f}",
                    drawn,
                    f"{nmi:.3f}",
                    f"{seconds:.1f}",
                )
            )
    header = [
        "collection",
        "association",
        "NMI, all terms",
        "seconds",
        "drawn",
        "NMI, drawn",
        "seconds, drawn",
    ]
    page.table(header, rows)


def draws(found: Found, page: Page) -> None:
    """What the way of drawing and the length of rows do."""
    few, many = found.size_sampled
    rank = found.size_rank
    listed = found.outcomes(found.ranked[0], variant="uniform", method=FOLLOWED, sampled=few)
    page.text(
        f"""
## Which terms are drawn

The paper draws terms in proportion to their lengths, so that important ones come in, and shows no other draw.
Beside it: a uniform draw, a draw of texts instead of terms (Farahat and Kamel, whom the paper follows), and
rows of raw length. Spherical k-means at k = {rank}, {len(listed)} draws at ℓ = {few:,}.
"""
    )
    rows: list[list[Any]] = []
    for name in found.ranked:
        for sampled in (few, many):
            for semantics in SHOWN:
                cells: list[Any] = []
                for variant in ("", "uniform", "texts", "raw"):
                    some = found.outcomes(name, variant=variant, method=semantics, sampled=sampled, rank=rank)
                    at = found.at(name, semantics, sampled, rank, variant=variant) if some else None
                    cells.append(None if at is None else _score(at))
                if sum(cell is not None for cell in cells) > 1:
                    rows.append([f"{name}, {_short(semantics)}, ℓ = {sampled:,}", *cells])
    page.table(["NMI", "by length", "uniform", "texts", "by length, raw rows"], rows)
    page.text("Rows of raw length over rank, pcor, against those of unit length:")
    rows = []
    for name in found.ranked:
        raw = sorted({one.trial.setting("rank") for one in found.outcomes(name, variant="raw")})
        rows += [
            [
                f"{name}, ℓ = {many:,}, k = {k}",
                _score(found.at(name, FOLLOWED, many, k)),
                _score(found.at(name, FOLLOWED, many, k, variant="raw")),
            ]
            for k in raw
        ]
    page.table(["NMI", "unit length", "raw"], rows)


def times(found: Found, page: Page) -> None:
    """Seconds side by side with spherical k-means alone."""
    runs = len(found.results.distinct("seed", "nystrom-beside"))
    many = found.size_sampled[-1]
    page.text(
        f"""
## Time beside spherical k-means

pcor with ℓ = {many:,}, spherical k-means alone and in the space directly after each other; medians of
{runs} runs.
"""
    )
    rows = []
    for name in found.ranked:
        for rank in sorted(found.results.distinct("rank", "nystrom-beside")):
            at = {"collection": name, "rank": rank}
            middle: Callable[[str], float] = lambda value, at=at: median(  # type: ignore[misc]  # noqa: E731
                found.results.numbers(value, "nystrom-beside", **at)
            )
            cells = [f"{middle(value):.2f}" for value in ("plain", "space", "clusters")]
            rows.append((f"{name}, k = {rank}", *cells, f"{middle('ratio'):.1f}"))
    page.table(["CPU seconds", "spherical k-means alone", "space", "clusters in it", "ratio"], rows)


# --- size


def sizes(found: Found, page: Page) -> None:
    """NMI and time over the number of texts."""
    page.text(
        f"""
## NMI and time over the size of the collection

pcor with spherical k-means at rank {found.size_rank}, and the baselines; one draw and one run each from the
second size on. The paper goes up to ℓ = k = 10,000. Rows of that rank would not fit into the memory of an
ordinary machine at 100,000 texts. NMI by chance falls as classes get more texts, so it is drawn with the
others. In the samples of reddit the number of classes grows with the texts, in those of wordnet it does not.
"""
    )
    shown = BESIDE["spherical"]
    curves: dict[str, list[Curve]] = {}
    for value, what in (("nmi", "{}"), ("seconds", "{}, time")):
        for source, names in found.sizes.items():
            texts = [found.data(name)["texts"] for name in names]
            drawn = [Curve(m, texts, [found.baseline(n, m, value)[0] for n in names]) for m in shown]
            for few, (colour, marker, dash) in zip(found.size_sampled, _SAMPLED, strict=True):
                drawn.append(
                    Curve(FOLLOWED, texts, [_followed(found, name, few, value)[0] for name in names],
                          label=f"pcor, ℓ = {few:,} + spherical k-means", colour=colour, marker=marker,
                          dash=dash)
                )  # fmt: skip
            if value == "nmi":
                chance = [found.data(name)["chance"] for name in names]
                drawn.append(Curve("by chance", texts, chance, colour="#BBBBBB", marker="None", dash="-"))
            curves[what.format(source)] = drawn
    figure = lines(
        curves, x="texts", y=["NMI"] * 2 + ["CPU seconds"] * 2, columns=2, log_x=True, size=(4.6, 3.0)
    )
    for number, ax in enumerate(figure.axes):
        texts = [found.data(name)["texts"] for name in list(found.sizes.values())[number % 2]]
        ax.set_xticks(texts, [f"{n / 1000:.0f}k" for n in texts])
        ax.minorticks_off()
        if number > 1:
            logarithmic(ax)
    page.figure("sizes", "NMI and CPU seconds over the number of texts.", figure)
    for names in found.sizes.values():
        for value, label, digits in (("nmi", "NMI", 3), ("seconds", "CPU seconds", 1)):
            _size_table(found, page, names, value, label, digits)


def _followed(found: Found, name: str, few: int, value: str = "nmi") -> tuple[float, float]:
    return found.at(name, FOLLOWED, few, found.size_rank, value)


def _size_table(found: Found, page: Page, names: list[str], value: str, label: str, digits: int) -> None:
    rows = {
        CONTENDERS[m].label: [found.baseline(name, m, value)[0] for name in names] for m in LARGE_BASELINES
    }
    for few in found.size_sampled:
        rows[f"pcor, ℓ = {few:,}"] = [_followed(found, name, few, value)[0] for name in names]
    pick = max if value == "nmi" else min
    best = [pick(column) for column in zip(*rows.values(), strict=True)]
    page.table(
        [label, *names],
        [
            (
                method,
                *(
                    bold(f"{one:.{digits}f}") if one == top else f"{one:.{digits}f}"
                    for one, top in zip(cells, best, strict=True)
                ),
            )
            for method, cells in rows.items()
        ],
    )


def ncut(found: Found, page: Page) -> None:
    """What Ncut weights and NMF with them cost at scale."""
    page.text(
        """
### NMF with Ncut weights at scale

The paper leaves this out for large collections, as it computes the similarity of all pairs of terms. The
weights need only the sums of its rows, Xᵀ(X·1), two passes over the texts. The matrix itself is sparse, and
the time of forming it is shown for comparison. Where no rare term is left out, λ = 1 leaves few clusters.
"""
    )
    rows = []
    for name in (name for names in found.sizes.values() for name in names):
        one = found.data(name)
        rows.append(
            (
                name,
                f"{one['weights_seconds']:.3f}",
                f"{one['affinity_seconds']:.2f}",
                f"{100 * one['affinity_density']:.2f} %",
                f"{found.baseline(name, 'nmf-ncut', 'seconds')[0]:.1f}",
                f"{found.baseline(name, 'nmf-ncut', 'used')[0]:.0f} of {one['classes']}",
            )
        )
    page.table(
        ["CPU seconds", "Ncut weights", "matrix of terms", "its non-zeros", "NMF + Ncut", "clusters used"],
        rows,
    )
