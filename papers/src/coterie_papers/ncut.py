"""Ncut-weighted NMF (CIKM 2012): term weights from co-occurrence, and clusters of titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie_papers import ncut_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.collections import present
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.later import later, later_trials
from coterie_papers.ncut_claims import (
    LABELLED,
    MEASURES,
    METHODS,
    PAPER_CLASSES,
    PAPER_DATA,
    PAPER_SCORES,
    PAPER_SIZES,
    RAW,
    TWEETS,
    TWEETS_OF_AUTHOR,
    claims,
    headline,
    tweets,
)
from coterie_papers.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Ncut-weighted NMF (CIKM 2012)"

#: The methods whose words are shown, as in the paper.
READ = tuple(method for method in METHODS if method != "kmeans-idf-unit")
FACTORISED = ("nmf-01", "nmf-idf", "nmf-ncut")
RUNS = 10
#: The paper's numbers of clusters, and two larger ones.
SIZES = (*PAPER_SIZES, 20, 30)
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
#: Number of topics for the table of words: the paper's for tweets, the number of classes for titles.
WORDS = {TWEETS: 15, LABELLED: 9}


def trials(quick: bool) -> list[Trial]:
    """All that the page needs."""
    runs = range(2 if quick else RUNS)
    sizes = (3, 9) if quick else SIZES
    penalties = (0.1, 1.0, 10.0) if quick else PENALTIES
    fetched = [TWEETS_OF_AUTHOR] if present(TWEETS_OF_AUTHOR) else []
    return [
        *(trial("ncut-statistics", name) for name in (LABELLED, TWEETS, RAW, *fetched)),
        *(trial("ncut-weights", name) for name in (RAW, TWEETS, LABELLED, *fetched)),
        trial("ncut-bounds", LABELLED),
        *(
            trial("ncut-criterion", LABELLED, method, k=PAPER_CLASSES, seed=seed)
            for method in FACTORISED
            for seed in runs
        ),
        *(
            trial("ncut-words", name, method, k=k, seed=seed, top=5, classes=4)
            for name, k in WORDS.items()
            for method in READ
            for seed in runs
        ),
        *(
            trial("cluster", LABELLED, method, k=k, seed=seed)
            for k in sizes
            for method in METHODS
            for seed in runs
        ),
        *(
            trial("cluster", LABELLED, method, k=PAPER_CLASSES, seed=seed, l2=l2)
            for method in FACTORISED
            for l2 in penalties
            for seed in runs
        ),
        *(
            trial("cluster", LABELLED, "nmf-ncut", k=PAPER_CLASSES, seed=seed, l2=l2, unit_columns=True)
            for l2 in penalties
            for seed in runs
        ),
        *later_trials(("nmf-ncut",), {LABELLED: PAPER_CLASSES}, quick),
    ]


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    page.headline(headline(results))
    _method(results, page)
    page.claims_here()
    claims(results, page)
    _data(results, page)
    _weights(results, page)
    _criterion(results, page)
    _words(results, page)
    _clusters(results, page)
    _penalty(results, page)
    later(results, page)


# --- the method, the data


def _method(results: Results, page: Page) -> None:
    page.text(
        """
X. Yan, J. Guo, S. Liu, X. Cheng, Y. Wang: Clustering short text using Ncut-weighted non-negative matrix
factorization. CIKM 2012.

## The method

In a short text nearly every word occurs once, and most words occur in few texts: tf and idf hardly
distinguish them. The paper weights a term by its co-occurrence instead. Terms are the nodes of a graph, and
an edge weighs as many texts as two terms share: `S = XXᵀ`, with X terms × texts, zeros and ones. A term
whose edges sum to d has the weight `d^(−1/2)`, divided by the largest of all. Then `Y = D^(−1/2)X` is
factorised:

`min ‖Y − UV‖² + λ(‖U‖² + ‖V‖²)`, with U (terms × clusters) and V (clusters × texts) not negative.

A text belongs to the cluster with the largest entry in its column of V. Without λ, and with U that gives each
term to one cluster, this is the normalised cut of the graph of terms (Theorem 1): clusters of terms with few
edges between them.
"""
    )
    found = results.one("ncut-weights", collection=LABELLED)
    page.figure(
        "method",
        "The terms of the titles: weight against the number of texts that hold a term. idf knows nothing "
        "else; Ncut is lower for a term that stands in longer texts.",
        _scatter(found["held_by"], found["ncut"], results.one("ncut-statistics", collection=LABELLED)),
    )
    page.text(
        """
With your own file:

```sh
coterie fit news.csv --text title --method nmf-ncut --topics 12 --out run
coterie topics run --of-term budget    # terms are clustered too: the topics that use a term
```

In Python it is `coterie.NMF(12, weights="ncut", solver="clip", init="rows")` on counts.
"""
    )


def _scatter(held_by: list[int], ncut: list[float], data: dict[str, Any]) -> Figure:
    """Ncut weights and idf of the same terms, each divided by its largest."""
    import numpy as np

    from coterie_papers.figures import NEUTRAL, legend, look, panels

    held = np.asarray(held_by, float)
    idf = np.log(data["texts"] / held)
    with look():
        figure, (ax,) = panels(1, 1, (6.4, 3.6))
        ax.plot(held, ncut, "o", color=NEUTRAL[0], markersize=2.5, alpha=0.6, label="Ncut weight")
        ax.plot(
            held, idf / idf.max(), "_", color=NEUTRAL[1], markersize=6, label="idf, divided by the largest"
        )
        ax.set_xscale("log")
        ax.set(xlabel="texts that hold the term", ylabel="weight")
        legend(figure, [ax])
    return figure


def _data(results: Results, page: Page) -> None:
    of_author = [name for name in tweets(results) if name != TWEETS]
    nearer = (
        f"`{TWEETS_OF_AUTHOR}` is a sample of them."
        if of_author
        else "They are not on this machine; `coterie data fetch onlinebtm-tweets` gets them for the next run."
    )
    page.text(
        f"""
## Data

`titles-01` is the paper's own Titles data. Its Tweets data is not public: `tweet-01`, from the same weeks of
2011 and with known classes, but smaller, stands in for it. Tweets that the paper's first author cleaned for
another paper are nearer (`sample-data` of github.com/xiaohuiyan/OnlineBTM), without classes and without a
licence. {nearer}
"""
    )
    rows: list[tuple[Any, ...]] = []
    stand_in = {"Tweets": (TWEETS, RAW, *of_author), "Titles": (LABELLED,)}
    for said, sizes in PAPER_DATA.items():
        rows.append((f"{said}, paper", *sizes))
        for name in stand_in[said]:
            found = results.one("ncut-statistics", collection=name)
            rows.append((f"{name}, here", *(found[value] for value in _FACTS)))
    page.table(["data", "texts", "terms", "different terms in a text", "classes"], _four_digits(rows))
    page.text(
        "\n".join(
            f"- `{name}`: {results.one('ncut-statistics', collection=name)['about']}."
            for name in (LABELLED, TWEETS, RAW, *of_author)
        )
    )
    found = results.one("ncut-statistics", collection=LABELLED)
    sizes = tuple(round(found[value], 4) for value in _FACTS)
    same = "All sizes of the titles are the paper's" if sizes == PAPER_DATA["Titles"] else "Sizes differ"
    page.text(
        f"{same}. The paper removes words that fewer than 6 texts hold, and texts of fewer than 4 words; the "
        f"published titles have words that {found['rarest']} of them holds, and {found['short']:.1%} of them "
        "have fewer than 4."
    )


_FACTS = ("texts", "terms", "words", "classes")


def _four_digits(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row) for row in rows]


# --- weights of terms


def _weights(results: Results, page: Page) -> None:
    from coterie_papers.figures import histograms

    raw, prepared = (results.one("ncut-weights", collection=name) for name in (RAW, TWEETS))
    page.text(
        """
## Weights of terms

The paper shows tf and idf before rare terms are left out, and Ncut weights after: so does the figure, with
idf in both forms.
"""
    )
    tf = raw["tf"]
    edges = [value - 0.5 for value in tf["values"]] + [tf["values"][-1] + 0.5]
    page.figure(
        "weights",
        "Distribution of weights in the tweets: tf and idf with all words, idf and Ncut with the words that "
        "six tweets or more hold.",
        histograms(
            {
                "tf, all words": (tf["times"], edges),
                "idf, all words": (raw["idf_counts"], raw["idf_edges"]),
                "idf, prepared": (prepared["idf_counts"], prepared["idf_edges"]),
                "Ncut, prepared": (prepared["ncut_counts"], prepared["ncut_edges"]),
            },
            x=["occurrences in a text", "idf (natural logarithm)", "idf (natural logarithm)", "Ncut weight"],
            y=["pairs of text and term", "terms", "terms", "terms"],
            columns=2,
            log_y=[True, False, False, False],
        ),
    )
    _distributions(results, page)
    _moves(results, page)


def _distributions(results: Results, page: Page) -> None:
    rows = []
    for name in (RAW, *tweets(results), LABELLED):
        found = results.one("ncut-weights", collection=name)
        rows += [
            (name, label, *(f"{found[f'{kind}_{what}']:.2f}" for what in ("skew", "kurtosis", "flatness")))
            for kind, label in (("idf", "idf"), ("ncut", "Ncut"))
        ]
    page.table(["data", "weight", "skewness", "excess kurtosis", "flatness"], rows)
    page.text("Flatness is the entropy of the histogram in parts of the largest possible: 1 is a flat one.")


def _moves(results: Results, page: Page) -> None:
    tweets = results.one("ncut-weights", collection=TWEETS)
    page.text(
        """
### Terms with the largest rank moves

Rank 1 is the largest weight; terms of equal weight share the mean of their ranks. The last column is the
share of the texts with the term that belong to one class, its largest: 1 for a term that occurs in one
class only.
"""
    )
    page.table(
        ["term", "idf (rank)", "Ncut weight (rank)", "move", "largest class"],
        [
            (term, f"{idf:.3f} ({before:.0f})", f"{ncut:.3f} ({after:.0f})", f"{move:+.0f}", f"{share:.2f}")
            for term, idf, before, ncut, after, move, share in tweets["up"] + tweets["down"][::-1]
        ],
    )


# --- words of topics


def _words(results: Results, page: Page) -> None:
    page.text(
        """
## Words of topics

Top five terms of the topics that match the four largest classes, from the first run of each method. A class
is matched with the topic that has the highest F1 with it; the second column has the terms that most texts of
the class hold. Classes only choose what is shown.
"""
    )
    for name, k in WORDS.items():
        page.text(f"`{name}`, K = {k}:")
        first = {m: results.one("ncut-words", collection=name, method=m, seed=0)["matched"] for m in READ}
        rows = [
            (f"{row[0]} ({row[1]} texts)", " ".join(row[2]), *(" ".join(first[m][i][3]) for m in READ))
            for i, row in enumerate(first["nmf-ncut"])
        ]
        page.table(["class", "usual terms", *(CONTENDERS[m].label for m in READ)], rows)
    page.text(
        "Coherence of all topics, NPMI of the top five terms over the texts themselves, mean ± standard "
        "deviation of the runs:"
    )
    rows = []
    for name, k in WORDS.items():
        values = {m: _both(results, "npmi", "ncut-words", collection=name, method=m) for m in READ}
        best = max(values, key=lambda m: values[m][0])
        cells = [bold(pm(*values[m])) if m == best else pm(*values[m]) for m in READ]
        rows.append((f"{name}, K = {k}", *cells))
    page.table(["data", *(CONTENDERS[m].label for m in READ)], rows)


def _both(results: Results, value: str, kind: str, **select: Any) -> tuple[float, float]:
    return results.mean(value, kind, **select), results.spread(value, kind, **select)


# --- the criterion


def _criterion(results: Results, page: Page) -> None:
    found = results.one("ncut-bounds", collection=LABELLED)
    page.text(
        f"""
## The cut of the graph of terms

The criterion is `Ncut = ½ Σ S(G_k, rest) / S(G_k, all)`: what share of a cluster's edges leaves it, summed
over clusters, halved. Theorem 1 says that a U of whole terms has `min_V ‖Y − UV‖² = ‖Y‖² − K + 2 Ncut`. The
table has the criterion when each term goes to its strongest topic (`titles-01`, K = {PAPER_CLASSES}), and for
clusters of the same sizes drawn at random.
"""
    )
    at: dict[str, Any] = {"kind": "ncut-criterion", "collection": LABELLED}
    page.table(
        ["method", "Ncut", "drawn at random"],
        [
            (CONTENDERS[m].label, *(pm(*_both(results, v, method=m, **at)) for v in ("ncut", "at_random")))
            for m in FACTORISED
        ],
    )
    page.text(
        f"""
A corollary says which λ are of any use, before anything is fitted. `D^(−1/2)XXᵀD^(−1/2)` has the largest
eigenvalue 1, whatever the texts, so the largest singular value of `D^(−1/2)X` is 1 (here
{found["unscaled"]:.6f}), and that of Y, divided by the largest weight, is the root of the smallest degree:
√{found["least_degree"]:.0f}, measured {found["largest"]:.4f}. With both factors free, λ takes its value off
every singular value of Y. So zero is the only minimum for λ ≥ √(smallest degree); `NMF` warns of it. With 01
the limit is {found["largest_01"]:.1f}, with idf {found["largest_idf"]:.1f}. Where rare words are kept, a word
alone in a text has degree 1, and the paper's λ = 1 already leaves nothing.
"""
    )


# --- clusters of titles


def _clusters(results: Results, page: Page) -> None:
    from coterie_papers.figures import Curve, lines

    at: dict[str, Any] = {"collection": LABELLED, "l2": None}
    sizes = results.distinct("k", "cluster", **at)
    runs = len(results.distinct("seed", "cluster", **at))
    page.text(
        f"""
## Clusters of titles

Purity, NMI and ARI on `{LABELLED}` over the number of clusters, mean of {runs} runs from different starts;
bands and ± are the standard deviation. K = {", ".join(map(str, PAPER_SIZES))} are those of the paper's Figure
3; larger ones are ours, and no claim rests on them. Its numbers, read off the vector graphics of the author's
PDF, stand in italics and are drawn dashed; a dash is a bar that was not read. NMF is Algorithm 1 with λ = 1,
started from random texts, with the misprinted line for U mended. The paper names no parameters of RLSI: they
are those of this package. It does not say whether k-means sees rows of their own length or of length 1, so
both are here, with one start each. On rows of their own length most texts fall into one cluster near the
origin, which is why ARI is close to 0; that is not what the paper's k-means did.
"""
    )
    page.figure(
        "clusters",
        f"Purity, NMI and ARI over the number of clusters, mean and standard deviation of {runs} runs.",
        lines(
            {
                name: [
                    *(Curve(m, *results.over("k", value, method=m, **at)) for m in METHODS),
                    *(
                        Curve(m, PAPER_SIZES, said, theirs=True)
                        for (of, m), said in PAPER_SCORES.items()
                        if of == value
                    ),
                ]
                for value, name in MEASURES.items()
            },
            x="number of clusters K",
            y=list(MEASURES.values()),
        ),
    )
    for value, name in MEASURES.items():
        page.text(f"{name}:")
        page.table(["method", *(f"K = {k}" for k in sizes)], _score_rows(results, value, sizes, at))
    page.text("CPU seconds of one fit, one BLAS thread:")
    page.table(
        ["method", *(f"K = {k}" for k in sizes)],
        [
            (CONTENDERS[m].label, *(f"{results.mean('seconds', method=m, k=k, **at):.2f}" for k in sizes))
            for m in METHODS
        ],
    )


def _score_rows(results: Results, value: str, sizes: list[int], at: dict[str, Any]) -> list[list[Any]]:
    means = {(m, k): results.mean(value, method=m, k=k, **at) for m in METHODS for k in sizes}
    rows: list[list[Any]] = []
    for m in METHODS:
        cells = [pm(*_both(results, value, "cluster", method=m, k=k, **at)) for k in sizes]
        best = [means[m, k] == max(means[other, k] for other in METHODS) for k in sizes]
        rows.append(
            [CONTENDERS[m].label, *(bold(cell) if b else cell for cell, b in zip(cells, best, strict=True))]
        )
        if (value, m) in PAPER_SCORES:
            said = dict(zip(PAPER_SIZES, PAPER_SCORES[value, m], strict=True))
            rows.append([Raw("*paper*"), *(Raw(f"*{said[k]:.3f}*") if k in said else None for k in sizes)])
    return rows


def _penalty(results: Results, page: Page) -> None:
    at: dict[str, Any] = {"collection": LABELLED, "k": PAPER_CLASSES}
    penalties = [l2 for l2 in results.distinct("l2", "cluster", method="nmf-ncut", **at) if l2 is not None]
    page.text(
        f"""
### The penalty λ

NMI on `{LABELLED}`, K = {PAPER_CLASSES}. "Unit topics" brings the columns of U to unit length in every
iteration (`NMF(unit_columns=True)`): λ then pushes nothing to zero. That the paper did so is a guess.
"""
    )
    rows: list[tuple[str, str, bool | None]] = [(m, CONTENDERS[m].label, None) for m in FACTORISED]
    rows.append(("nmf-ncut", "NMF + Ncut, unit topics", True))
    page.table(
        ["NMI", *(f"λ = {l2:g}" for l2 in penalties)],
        [
            (
                called,
                *(
                    pm(*_both(results, "nmi", "cluster", method=m, l2=l2, unit_columns=unit, **at))
                    for l2 in penalties
                ),
            )
            for m, called, unit in rows
        ],
    )
