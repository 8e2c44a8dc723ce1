"""Ncut-weighted NMF (CIKM 2012): term weights from the company of terms, and clusters of titles."""

from __future__ import annotations

from typing import Any

from coterie_papers import ncut_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.page import Page

TITLE = "Ncut-weighted NMF (CIKM 2012)"

METHODS = ("kmeans-idf", "rlsi-idf", "rlsi-ncut", "nmf-01", "nmf-idf", "nmf-ncut")
MEASURES = {"purity": "purity", "nmi": "NMI", "ari": "ARI"}
LABELLED, TWEETS, RAW = "titles-01", "tweet-01", "tweet-all"
RUNS = 10
SIZES = (3, 5, 7, 9, 12, 15, 20, 30)
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
#: Number of topics for the table of words: the paper's for tweets, the number of classes for titles.
WORDS = {TWEETS: 15, LABELLED: 9}

# What the paper says
PAPER_DATA = {"Tweets": (4520, 2502, 8.5958, None), "Titles": (2630, 1403, 5.2684, 9)}
PAPER_TF_IS_1 = 0.96
PAPER_IDF_IS_HIGHEST = 0.65
PAPER_CLASSES = 9

# What we call the same: the paper has words where these are numbers
MOSTLY = 0.5
SLIGHTLY = 0.05
BELL_SKEW, BELL_KURTOSIS = 0.5, 1.0


def trials(quick: bool) -> list[Trial]:
    """All that the page needs."""
    runs = 2 if quick else RUNS
    sizes = (3, 9) if quick else SIZES
    penalties = (0.1, 1.0, 10.0) if quick else PENALTIES
    return [
        *(trial("ncut-statistics", name) for name in (LABELLED, TWEETS, RAW)),
        *(trial("ncut-weights", name) for name in (RAW, TWEETS, LABELLED)),
        *(
            trial("ncut-words", name, method, k=k, seed=seed, top=5, classes=4)
            for name, k in WORDS.items()
            for method in METHODS
            for seed in range(runs)
        ),
        *(
            trial("cluster", LABELLED, method, k=k, seed=seed)
            for k in sizes
            for method in METHODS
            for seed in range(runs)
        ),
        *(
            trial("cluster", LABELLED, "nmf-ncut", k=PAPER_CLASSES, seed=seed, l2=l2)
            for l2 in penalties
            for seed in range(runs)
        ),
    ]


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    _data(results, page)
    _weights(results, page)
    _words(results, page)
    _clusters(results, page)
    _penalty(results, page)


def _data(results: Results, page: Page) -> None:
    page.text(
        """
X. Yan, J. Guo, S. Liu, X. Cheng, Y. Wang: Clustering short text using Ncut-weighted non-negative matrix
factorization. CIKM 2012.

## Data

`titles` is the paper's own Titles data. Its Tweets data is not public: `tweet` stands in for it, from the
same weeks of 2011 and with known classes, but smaller.
"""
    )
    rows: list[tuple[Any, ...]] = [(f"{name}, paper", *sizes) for name, sizes in PAPER_DATA.items()]
    for name in (LABELLED, TWEETS, RAW):
        found = results.one("ncut-statistics", collection=name)
        rows.append(
            (f"{name}, here", found["texts"], found["terms"], f"{found['words']:.4f}", found["classes"])
        )
    page.table(["data", "texts", "terms", "different terms in a text", "classes"], _four_digits(rows))
    page.text(
        "\n".join(
            f"- `{name}`: {results.one('ncut-statistics', collection=name)['about']}."
            for name in (LABELLED, TWEETS, RAW)
        )
    )
    found = results.one("ncut-statistics", collection=LABELLED)
    said = PAPER_DATA["Titles"]
    page.claim(
        f"Titles has {said[0]:,} texts, {said[1]:,} terms, {said[2]} words in a text and {said[3]} classes",
        f"{found['texts']:,}, {found['terms']:,}, {found['words']:.4f} and {found['classes']}",
        (found["texts"], found["terms"], round(found["words"], 4), found["classes"]) == said,
    )


def _four_digits(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row) for row in rows]


# --- weights of terms


def _weights(results: Results, page: Page) -> None:
    from coterie_papers.figures import histograms

    raw, prepared = (results.one("ncut-weights", collection=name) for name in (RAW, TWEETS))
    page.text(
        """
## Weights of terms

Ncut weights are d^(−1/2) of a term's degree d in the graph of terms that share texts, divided by the largest.
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
    for name in (RAW, TWEETS, LABELLED):
        found = results.one("ncut-weights", collection=name)
        rows += [
            (name, label, *(f"{found[f'{kind}_{what}']:.2f}" for what in ("skew", "kurtosis", "flatness")))
            for kind, label in (("idf", "idf"), ("ncut", "Ncut"))
        ]
    page.table(["data", "weight", "skewness", "excess kurtosis", "flatness"], rows)
    page.text("Flatness is the entropy of the histogram in parts of the largest possible: 1 is a flat one.")
    raw = results.one("ncut-weights", collection=RAW)
    page.claim(
        f"about {PAPER_TF_IS_1:.0%} of tf values are 1, so tf tells little",
        f"{raw['tf_is_1']:.1%} on {RAW}",
        raw["tf_is_1"] >= PAPER_TF_IS_1 - SLIGHTLY,
    )
    page.claim(
        f"about {PAPER_IDF_IS_HIGHEST:.0%} of terms share one idf value, the highest",
        f"{raw['idf_is_highest']:.1%} share {raw['idf_highest']:.2f} on {RAW}",
        raw["idf_is_highest"] > MOSTLY,
    )
    for name in (TWEETS, LABELLED):
        found = results.one("ncut-weights", collection=name)
        page.claim(
            "Ncut weights are distributed much flatter than idf",
            f"{name}: flatness {found['ncut_flatness']:.3f} against {found['idf_flatness']:.3f}",
            found["ncut_flatness"] > found["idf_flatness"],
        )
        page.claim(
            "the distribution of Ncut weights resembles a Gaussian",
            f"{name}: skewness {found['ncut_skew']:.2f}, excess kurtosis {found['ncut_kurtosis']:.2f} "
            f"(called Gaussian up to {BELL_SKEW} and {BELL_KURTOSIS})",
            abs(found["ncut_skew"]) <= BELL_SKEW and abs(found["ncut_kurtosis"]) <= BELL_KURTOSIS,
        )


def _moves(results: Results, page: Page) -> None:
    tweets = results.one("ncut-weights", collection=TWEETS)
    page.text(
        """
### Terms with the largest rank moves

Rank 1 is the largest weight; terms of equal weight share the mean of their ranks. The last column is the
share of the texts with the term that belong to one class, its largest: 1 for a term that tells a class for
certain.
"""
    )
    page.table(
        ["term", "idf (rank)", "Ncut weight (rank)", "move", "largest class"],
        [
            (term, f"{idf:.3f} ({before:.0f})", f"{ncut:.3f} ({after:.0f})", f"{move:+.0f}", f"{share:.2f}")
            for term, idf, before, ncut, after, move, share in tweets["up"] + tweets["down"][::-1]
        ],
    )
    for name in (TWEETS, LABELLED):
        found = results.one("ncut-weights", collection=name)
        page.claim(
            "terms that Ncut ranks higher than idf tell more about the topic than those it ranks lower",
            f"{name}: of the texts with one of the {found['judged']} terms that move up most, "
            f"{found['share_up']:.0%} belong to one class; down, {found['share_down']:.0%}",
            found["share_up"] > found["share_down"],
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
        first = {m: results.one("ncut-words", collection=name, method=m, seed=0)["matched"] for m in METHODS}
        rows = [
            (f"{row[0]} ({row[1]} texts)", " ".join(row[2]), *(" ".join(first[m][i][3]) for m in METHODS))
            for i, row in enumerate(first["nmf-ncut"])
        ]
        page.table(["class", "usual terms", *(CONTENDERS[m].label for m in METHODS)], rows)
    page.text(
        "Coherence of all topics, NPMI of the top five terms over the texts themselves, mean ± standard "
        "deviation of the runs:"
    )
    rows = []
    for name, k in WORDS.items():
        values = {m: _both(results, "npmi", "ncut-words", collection=name, method=m) for m in METHODS}
        best = max(values, key=lambda m: values[m][0])
        cells = [bold(pm(*values[m])) if m == best else pm(*values[m]) for m in METHODS]
        rows.append((f"{name}, K = {k}", *cells))
        if name == TWEETS:
            ranking = ", ".join(f"{CONTENDERS[m].label} {values[m][0]:.2f}" for m in METHODS)
            page.claim(
                "NMF + Ncut gives the most readable topics", f"NPMI on {name}: {ranking}", best == "nmf-ncut"
            )
    page.table(["data", *(CONTENDERS[m].label for m in METHODS)], rows)


def _both(results: Results, value: str, kind: str, **select: Any) -> tuple[float, float]:
    return results.mean(value, kind, **select), results.spread(value, kind, **select)


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
bands and ± are the standard deviation. The K of the paper's Figure 3 are not in its text. NMF is Algorithm 1
with λ = 1, started from random texts, with the misprinted line for U mended. The paper names no parameters of
RLSI: they are those of this package. k-means is one start on idf-weighted rows that are not normalised.
"""
    )
    page.figure(
        "clusters",
        f"Purity, NMI and ARI over the number of clusters, mean and standard deviation of {runs} runs.",
        lines(
            {
                name: [Curve(m, *results.over("k", value, method=m, **at)) for m in METHODS]
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
    _cluster_claims(results, page, sizes, at)


def _score_rows(results: Results, value: str, sizes: list[int], at: dict[str, Any]) -> list[list[Any]]:
    best = {k: max(METHODS, key=lambda m, k=k: results.mean(value, method=m, k=k, **at)) for k in sizes}  # type: ignore[misc]
    rows = []
    for m in METHODS:
        cells = [pm(*_both(results, value, "cluster", method=m, k=k, **at)) for k in sizes]
        marked = [bold(cell) if best[k] == m else cell for k, cell in zip(sizes, cells, strict=True)]
        rows.append([CONTENDERS[m].label, *marked])
    return rows


def _cluster_claims(results: Results, page: Page, sizes: list[int], at: dict[str, Any]) -> None:
    def wins(a: str, b: str, ks: list[int]) -> tuple[int, int]:
        """At how many K and measures the mean of a is above that of b, and of how many."""
        pairs = [(k, value) for k in ks for value in MEASURES]
        higher = sum(
            results.mean(value, method=a, k=k, **at) > results.mean(value, method=b, k=k, **at)
            for k, value in pairs
        )
        return higher, len(pairs)

    def claim(said: str, better: str, others: list[str], ks: list[int]) -> None:
        found = {other: wins(better, other, ks) for other in others}
        told = ", ".join(f"{CONTENDERS[o].label} at {n} of {total}" for o, (n, total) in found.items())
        page.claim(
            said,
            f"{CONTENDERS[better].label} has the higher mean than {told} (K and measure)",
            all(n == total for n, total in found.values()),
        )

    above = [k for k in sizes if k > 3]
    said = "NMF + Ncut outperforms {} in all measures, most of all for K above 3"
    claim(said.format("k-means, NMF and RLSI with other weights"), "nmf-ncut",
          ["kmeans-idf", "nmf-01", "nmf-idf", "rlsi-idf"], above)  # fmt: skip
    claim(said.format("RLSI + Ncut"), "nmf-ncut", ["rlsi-ncut"], above)
    claim("RLSI + Ncut is a great improvement over RLSI + idf", "rlsi-ncut", ["rlsi-idf"], sizes)
    over = {m: [results.mean(value, method=m, **at) for value in MEASURES] for m in ("nmf-idf", "nmf-01")}
    pairs = list(zip(MEASURES.values(), *over.values(), strict=True))
    page.claim(
        "NMF + idf is slightly better than NMF + 01",
        "over all K, " + ", ".join(f"{name} {idf:.2f} against {binary:.2f}" for name, idf, binary in pairs),
        all(idf > binary for _, idf, binary in pairs),
    )
    worst = {m: wins(m, "kmeans-idf", sizes) for m in METHODS if m != "kmeans-idf"}
    page.claim(
        "k-means is the worst on short texts",
        ", ".join(f"{CONTENDERS[m].label} above it at {n} of {total}" for m, (n, total) in worst.items()),
        all(n == total for n, total in worst.values()),
    )


def _penalty(results: Results, page: Page) -> None:
    at: dict[str, Any] = {"collection": LABELLED, "method": "nmf-ncut", "k": PAPER_CLASSES}
    penalties = [l2 for l2 in results.distinct("l2", "cluster", **at) if l2 is not None]
    page.text(f"### The penalty λ\n\nNMF + Ncut on `{LABELLED}`, K = {PAPER_CLASSES}:")
    page.table(
        ["measure", *(f"λ = {l2:g}" for l2 in penalties)],
        [
            (name, *(pm(*_both(results, value, "cluster", l2=l2, **at)) for l2 in penalties))
            for value, name in {**MEASURES, "used": "clusters used"}.items()
        ],
    )
    means = {l2: results.mean("nmi", l2=l2, **at) for l2 in penalties}
    furthest = max(penalties, key=lambda l2: abs(means[l2] - means[1.0]))
    page.claim(
        "λ between 0.1 and 10 changes the results slightly",
        f"NMI {means[1.0]:.2f} at λ = 1, {means[furthest]:.2f} at λ = {furthest:g} "
        f"(called slight up to {SLIGHTLY})",
        abs(means[furthest] - means[1.0]) <= SLIGHTLY,
    )
