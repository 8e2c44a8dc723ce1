"""The measured sections of the Semantic-NMF page: clusters, convergence, embeddings, words."""

from __future__ import annotations

from math import log10
from typing import Any

from coterie_papers import semantic_kinds
from coterie_papers.bench.collections import SOURCES
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.page import Page
from coterie_papers.semantic_claims import (
    BOTH,
    MEASURES,
    METHODS,
    PAPER_ITERATIONS,
    PAPER_SCORES,
    base,
    collections,
    cosine,
    objectives,
)
from coterie_papers.semantic_figures import boxes, curves

#: Words of the Wikipedia that the paper counted.
PAPER_OUTSIDE = 2_000_000_000
#: The methods that have a scale of topics to choose.
FACTORISED = METHODS[1:]
#: Collections with few enough topics for all of them to be shown.
_SHOWN = ("classic4", "reuters4")


# --- clusters


def clusters(results: Results, page: Page) -> None:
    """The paper's table of scores, with its numbers under ours."""
    names = collections(results)
    runs = ", ".join(f"{len(results.distinct('seed', 'semantic-fit', collection=n))} on `{n}`" for n in names)
    most, tol = (results.distinct(s, "semantic-fit", method="senmf")[0] for s in ("iterations", "tol"))
    page.text(
        f"""
## Clusters

NMI and ARI of runs from different starts ({runs}; the paper made 50 everywhere), mean ± standard deviation,
and in brackets the run whose own criterion is best. K is the number of classes. All methods see the same
rows, and the three factorisations start from spherical k-means with the same seeds. The paper does not say
how many iterations it makes, but its small spreads are those of runs that have converged: here a run ends
when an iteration (for ONMF, ten) lowers the objective by no more than {_power(tol)} of it, after {most:,} at
the latest. NMF is SeNMF without M, ONMF has Z orthogonal (Yoo & Choi).
"""
    )
    page.table(
        ["data", *(CONTENDERS[m].label for m in METHODS), "SeNMF over NMF"],
        [row for name in names for value in MEASURES for row in _score_rows(results, name, value)],
    )
    page.text(_below_others(results, names))
    page.text(
        "Iterations of a run, mean and in brackets the most, and CPU seconds of a fit with one BLAS thread, "
        f"the start included. {_at_the_limit(results, names, most)}"
    )
    page.table(
        ["data", *(CONTENDERS[m].label for m in METHODS)],
        [(name, *(_effort(results, name, m) for m in METHODS)) for name in names],
    )


def _below_others(results: Results, names: list[str]) -> str:
    """For collections where SeNMF is not the best, how far each method is from the paper's NMI."""
    told = []
    for name in names:
        at: dict[str, Any] = {"kind": "semantic-fit", "collection": name}
        means = [results.mean("nmi", method=m, **at) for m in METHODS]
        if means[-1] < max(means):
            said = [mean for mean, _, _ in PAPER_SCORES[base(name), "nmi"]]
            apart = zip(METHODS, means, said, strict=True)
            differences = ", ".join(f"{CONTENDERS[m].label} {mean - was:+.2f}" for m, mean, was in apart)
            told.append(f"Where SeNMF is not the best, on `{name}`, NMI less the paper's is: {differences}.")
    return " ".join(told) or "SeNMF has the highest NMI on each collection."


def _power(share: float) -> str:
    """A power of ten: 10⁻⁸."""
    return "10" + str(round(log10(share))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _score_rows(results: Results, name: str, value: str) -> list[list[Any]]:
    at: dict[str, Any] = {"kind": "semantic-fit", "collection": name}
    means = {m: results.mean(value, method=m, **at) for m in METHODS}
    best = max(means, key=lambda m: means[m])
    cells = [_cell(results, value, method=m, **at) for m in METHODS]
    marked = [bold(c) if m == best else c for m, c in zip(METHODS, cells, strict=True)]
    said = PAPER_SCORES[base(name), value]
    return [
        [f"{name}, {MEASURES[value]}", *marked, f"{means['senmf'] - means['nmf-plain']:+.2f}"],
        [Raw("*paper*"), *_printed_cells(name, value), Raw(f"*{said[-1][0] - said[1][0]:+.2f}*")],
    ]


def _printed_cells(name: str, value: str) -> list[Raw]:
    """The paper's scores, in the order of the methods."""
    said = PAPER_SCORES[base(name), value]
    return [Raw(f"*{mean:.2f} ± {spread:g} ({best:.2f})*") for mean, spread, best in said]


def _cell(results: Results, value: str, **at: Any) -> str:
    """Mean, spread, and the run with the best criterion."""
    best = results.best(value, "criterion", **at)
    return f"{pm(results.mean(value, **at), results.spread(value, **at))} ({best:.2f})"


def _effort(results: Results, name: str, method: str) -> str:
    at: dict[str, Any] = {"kind": "semantic-fit", "collection": name, "method": method}
    made = results.numbers("iterations", **at)
    return f"{made.mean():.0f} ({made.max():.0f}), {results.mean('seconds', **at):.1f} s"


def _at_the_limit(results: Results, names: list[str], most: int) -> str:
    """Which runs had not come to rest when they had to stop."""
    told = []
    for name in names:
        for m in FACTORISED:
            made = results.numbers("iterations", "semantic-fit", collection=name, method=m)
            if (made == most).any():
                told.append(f"{(made == most).sum()} of {len(made)} of {CONTENDERS[m].label} on `{name}`")
    return f"Stopped by the limit: {', '.join(told)}." if told else "None was stopped by the limit."


# --- the same with other choices


def other_choices(results: Results, page: Page) -> None:
    """What changes with the scale of topics, and with co-occurrence from other texts."""
    names = collections(results)
    page.text(
        """
### W at unit length

The paper brings the columns of Z to unit length before the largest entry of a row is taken, and so does the
table above. Xu, Liu & Gong, whom it cites for NMF, bring the columns of W to unit length instead, so that Z
takes up their lengths. The factorisations are the same, only the clusters are read off differently:
"""
    )
    page.table(
        ["data", "at unit length", *(CONTENDERS[m].label for m in FACTORISED)],
        [row for name in names for value in MEASURES for row in _scale_rows(results, name, value)],
    )
    runs = ", ".join(
        f"{len(results.distinct('seed', 'semantic-scores', collection=n))} on `{n}`" for n in names
    )
    outside = semantic_kinds.OUTSIDE
    page.text(
        f"""
### M from other texts

The paper proposes, as future work, to take M from a large external corpus. Here it comes from the titles of
`{outside}` (runs: {runs}; Z at unit length), which are short and about other things. M outweighs X in the
objective, so that topics which fit the titles can win over those of the texts:
"""
    )
    rows = []
    for name in names:
        known = results.one("semantic-data", collection=name)
        for label, kind, share in (
            ("the texts themselves", "semantic-fit", known["filled_m"]),
            (outside, "semantic-scores", known["filled_m_outside"]),
        ):
            scores = (_cell(results, v, kind=kind, collection=name, method="senmf") for v in MEASURES)
            rows.append((name, label, f"{share:.2%}", *scores))
    page.table(["data", "M from", "non-zero entries in M", *MEASURES.values()], rows)


def _scale_rows(results: Results, name: str, value: str) -> list[list[Any]]:
    """Scores with either factor at unit length, and the paper's."""
    at: dict[str, Any] = {"kind": "semantic-fit", "collection": name}
    label = f"{name}, {MEASURES[value]}"
    return [
        [label, "Z", *(_cell(results, value, method=m, **at) for m in FACTORISED)],
        [label, "W", *(_cell(results, f"{value}_unit_topics", method=m, **at) for m in FACTORISED)],
        [Raw("*paper*"), None, *_printed_cells(name, value)[1:]],
    ]


def matrices(results: Results, page: Page) -> None:
    """The paper's own counts, if they were there."""
    names = [n for n in results.distinct("collection", "semantic-scores") if n not in collections(results)]
    page.text("### The paper's own counts")
    if not names:
        page.text(
            "The counts of REUTERS and NG20 that the paper used are public, as matrices by Deng Cai without "
            "the terms; they were not on the machine that wrote this page, but `coterie data fetch "
            "reuters-matrix` and `coterie data fetch ng20-matrix` fetch them, and the next run has them here."
        )
        return
    page.text(
        "Deng Cai's matrices of REUTERS and NG20 are those of the paper. They come without the terms, so "
        "that there are no windows: M is from the numbers of texts that hold two terms."
    )
    methods = [m for m in METHODS if m in results.distinct("method", "semantic-scores", collection=names)]
    rows: list[list[Any]] = []
    for name in names:
        at: dict[str, Any] = {"kind": "semantic-scores", "collection": name}
        for value, label in MEASURES.items():
            cells = [_cell(results, value, method=m, **at) for m in methods]
            rows.append([f"{name}, {label}, {len(results.distinct('seed', **at))} runs", *cells])
            said = PAPER_SCORES[_printed(name), value]
            rows.append([Raw("*paper*"), *(Raw(f"*{said[METHODS.index(m)][0]:.2f}*") for m in methods)])
    page.table(["data", *(CONTENDERS[m].label for m in methods)], rows)


def _printed(matrix: str) -> str:
    """The collection of the paper's table that a matrix has the counts of."""
    return {"reuters-matrix": "reuters4", "ng20-matrix": "ng20"}[SOURCES[matrix][0]]


# --- convergence


def convergence(results: Results, page: Page) -> None:
    """The objective over the iterations."""
    names = collections(results)
    page.text(
        f"""
## Convergence

The objective of SeNMF over the iterations, all runs; the paper's figure shows the first {PAPER_ITERATIONS}.
Nothing proves that the printed update of W lowers the objective; here a step that would raise it is
shortened, so that it cannot rise. A few of the runs with steps as long as printed tell whether that is ever
needed.
"""
    )
    page.figure(
        "convergence",
        f"Objective of SeNMF over the iterations: all runs, and the first {PAPER_ITERATIONS} iterations of a "
        "few with updates as printed.",
        curves({
            n: {
                "senmf": objectives(results, "semantic-fit", n, "senmf"),
                "senmf-printed": objectives(results, "semantic-curve", n, "senmf-printed"),
            }
            for n in names
        }),
    )  # fmt: skip


# --- embeddings


def cosines(results: Results, page: Page) -> None:
    """How near words and texts of a class are to each other."""
    names = collections(results)
    most = results.distinct("iterations", "semantic-cosines")[0]
    page.text(
        f"""
## Embeddings

Cosines between rows of W for the {semantic_kinds.TOP} words with the largest sum of tf-idf in a class, all
pairs of a class, and between rows of Z for 20,000 random pairs of texts of one class; boxes hold the middle
half, whiskers reach from 5 % to 95 %. One run each, of at most {most} iterations, as these fits take long;
NG20 goes without K = 200 for the same reason. Z has columns of unit length and W takes up their lengths:
cosines depend on that, and the paper does not say what it did for these figures. With as few topics as
classes cosines are high for any method, as the paper says, so claims are judged by the larger K.
"""
    )
    for what, label in (("words", "top words"), ("texts", "texts")):
        ks = {n: sorted(results.distinct("k", "semantic-cosines", collection=n)) for n in names}
        found = {
            n: {m: [(k, cosine(results, n, m, k)[what]) for k in ks[n]] for m in reversed(BOTH)}
            for n in names
        }
        page.figure(
            f"cosines-{what}", f"Cosines between embeddings of {label} of the same class, over K.",
            boxes(found, x="number of topics K", y="cosine similarity"),
        )  # fmt: skip
    page.text(
        "Closeness within a class says little if everything moves closer. Mean cosine of pairs of one class, "
        "and in brackets of pairs of two classes:"
    )
    rows = []
    for name in names:
        for k in sorted(results.distinct("k", "semantic-cosines", collection=name)):
            nmf, senmf = (cosine(results, name, m, k) for m in reversed(BOTH))
            cells = [f"{c[w]['mean']:.2f} ({c[f'{w}_across']['mean']:.2f})" for w in ("words", "texts")
                     for c in (nmf, senmf)]  # fmt: skip
            rows.append((f"{name}, K = {k}", *cells))
    page.table(["data", "words, NMF", "words, SeNMF", "texts, NMF", "texts, SeNMF"], rows)


# --- words


def words(results: Results, page: Page) -> None:
    """How top words go together outside, and the words themselves."""
    names = collections(results)
    _about_outside(results, page, names)
    rows = []
    for name in names:
        for m in METHODS:
            at: dict[str, Any] = {"kind": "semantic-fit", "collection": name, "method": m}
            cells = [
                f"{results.mean(v, **at):.2f} ({results.best(v, 'criterion', **at):.2f})"
                for v in ("pmi", "pmi_of_met")
            ]
            rows.append((f"{name}, {CONTENDERS[m].label}", *cells, f"{results.mean('met', **at):.0%}"))
    page.table(["topics of", "PMI, others 0", "PMI of pairs that meet", "pairs that meet"], rows)
    for name in names:
        if base(name) in _SHOWN:
            _top_words(results, page, name)


def _about_outside(results: Results, page: Page, names: list[str]) -> None:
    outside = results.one("semantic-outside")
    some = results.distinct("outside", "semantic-data")[0]
    drawn = "" if some is None else f" Of these, {some:,} at random were counted."
    windows = results.numbers("outside_windows", "semantic-data") / 1e6
    known = ", ".join(
        f"{results.one('semantic-data', collection=n)['outside_terms']:.0%} of the terms of `{n}`"
        for n in names
    )
    page.text(
        f"""
## Words of topics

The paper measures how the {semantic_kinds.TOP} top words of a topic go together by their mutual information
(PMI) in windows of five words in all of the English Wikipedia, two billion words. The largest text at hand
that is none of the three collections is `{semantic_kinds.OUTSIDE}`: {outside["texts"]:,} titles with
{outside["words"]:,} words.{drawn} It has {windows.min():.1f} to {windows.max():.1f} million windows of
{semantic_kinds.OUTSIDE_WINDOW} words, as words are cut differently for each collection, and knows {known}.
Its limits: it is {PAPER_OUTSIDE / outside["words"]:.0f} times smaller than Wikipedia was, its
texts are short, colloquial and about other things, and so many pairs of words never meet. The paper does not
say what such a pair counts; here it matters. So there are two numbers: with such pairs counted as 0, which
favours frequent words, and over the pairs that meet alone, which favours rare ones. A claim holds if both
agree. Means of all topics and runs, and in brackets the run with the best criterion:
"""
    )


def _top_words(results: Results, page: Page, name: str) -> None:
    page.text(
        f"Top 20 words of the topics on `{name}`, from the run with the best criterion, topics by PMI (pairs "
        "that never meet as 0); words are shown as texts write them, stems were counted:"
    )
    rows = []
    for m in BOTH:
        runs = results.values("semantic-fit", collection=name, method=m)
        best = min(runs, key=lambda run: run.values["criterion"]).values
        topics = sorted(zip(best["topic_pmi"], best["topics"], strict=True), reverse=True)
        rows += [(CONTENDERS[m].label, f"{pmi:.2f}", " ".join(terms[:20])) for pmi, terms in topics]
    page.table(["method", "PMI", "words"], rows)
