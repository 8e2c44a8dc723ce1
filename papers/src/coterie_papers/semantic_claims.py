"""What the Semantic-NMF paper printed and concluded, held against the results.

The texts and classes are the paper's own on all three collections; only how words were cut from them is a
guess. So what does not hold there does not hold. The paper's PMI comes from Wikipedia, which is not here:
that is the one place where other data stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie_papers import semantic_kinds
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.results import Results
from coterie_papers.page import Page
from coterie_papers.verdicts import TIE, Judgement, Verdict, above, alike, on_stand_in

METHODS = ("spherical-idf", "nmf-plain", "onmf", "senmf")
BOTH = ("senmf", "nmf-plain")
MEASURES = {"nmi": "NMI", "ari": "ARI"}

# What the paper says: texts, words, classes, balance, % non-zero of X and of M
PAPER_DATA = {
    "classic4": ("CLASSIC4", 7095, 5896, 4, 0.323, 0.59, 2.41),
    "reuters4": ("REUTERS", 6387, 16921, 4, 0.080, 0.25, 0.47),
    "ng20": ("NG20", 18846, 26214, 20, 0.628, 0.59, 1.80),
}
#: Its Table 2: mean, spread, and the run with the best criterion, in the order of METHODS.
PAPER_SCORES = {
    ("classic4", "nmi"): ((0.60, 0.02, 0.59), (0.53, 0.006, 0.53), (0.50, 0.005, 0.50), (0.74, 0.004, 0.74)),
    ("classic4", "ari"): ((0.47, 0.01, 0.46), (0.45, 0.003, 0.45), (0.42, 0.004, 0.42), (0.69, 0.02, 0.73)),
    ("reuters4", "nmi"): ((0.40, 0.05, 0.38), (0.35, 0.0004, 0.35), (0.36, 0.004, 0.36), (0.61, 0.02, 0.62)),
    ("reuters4", "ari"): ((0.21, 0.10, 0.18), (0.13, 0.001, 0.13), (0.15, 0.02, 0.15), (0.57, 0.02, 0.58)),
    ("ng20", "nmi"): ((0.48, 0.02, 0.52), (0.42, 0.02, 0.44), (0.41, 0.01, 0.42), (0.52, 0.02, 0.53)),
    ("ng20", "ari"): ((0.30, 0.03, 0.33), (0.23, 0.02, 0.26), (0.20, 0.01, 0.20), (0.33, 0.01, 0.34)),
}  # fmt: skip
#: Mean PMI of top words of SeNMF and NMF.
PAPER_PMI = {"classic4": (2.59, 1.89), "reuters4": (1.7, 1.21), "ng20": (2.64, 1.49)}
#: Where the curves of its Figure 1 begin, and how many iterations they show.
PAPER_OBJECTIVE = {"classic4": 4.18e6, "reuters4": 1.09e7, "ng20": 1.96e7}
PAPER_ITERATIONS = 100

#: Share of the whole fall of the objective from which on we say that a run has converged.
CONVERGED = 0.95
#: A score that is lower by no more than this is no worse.
SLIGHTLY = 0.02
#: Fewest topics at which cosines say anything: the paper calls them high for any method with few topics.
MANY = 100
#: A rise by less than this share of the objective is rounding.
_ROUNDING = 1e-9

CLUSTERS, CONVERGENCE = "On clusters", "On convergence"
EMBEDDINGS, WORDS = "On embeddings", "On the words of topics"


def base(name: str) -> str:
    """The collection that a small one was drawn from."""
    return name.removesuffix("-quick")


def collections(results: Results) -> list[str]:
    """The collections of the results, in the order of the paper."""
    found = results.distinct("collection", "semantic-data")
    return [name for said in PAPER_DATA for name in found if base(name) == said]


def headline(results: Results) -> str:
    """SeNMF and NMF beside the paper's numbers, on all three collections."""
    told = []
    for name in collections(results):
        said = PAPER_SCORES[base(name), "nmi"]
        found = {m: results.mean("nmi", "semantic-fit", collection=name, method=m) for m in BOTH}
        told.append(
            f"{PAPER_DATA[base(name)][0]} {found['senmf']:.2f} against {found['nmf-plain']:.2f} "
            f"(paper: {said[-1][0]:.2f} against {said[1][0]:.2f})"
        )
    return f"NMI of SeNMF against NMF on the paper's three collections: {', '.join(told)}"


def claims(results: Results, page: Page) -> None:
    """Write all claims."""
    for name in collections(results):
        _of_clusters(results, page, name)
    _of_convergence(results, page)
    for what, label in (("words", "top words of a class"), ("texts", "texts of a class")):
        for name in collections(results):
            _of_cosines(results, page, name, what, label)
    for name in collections(results):
        _of_words(results, page, name)


# --- clusters


def _of_clusters(results: Results, page: Page, name: str) -> None:
    at: dict[str, Any] = {"kind": "semantic-fit", "collection": name}
    means = {(m, value): results.mean(value, method=m, **at) for m in METHODS for value in MEASURES}
    paper = {
        (m, value): PAPER_SCORES[base(name), value][i][0] for i, m in enumerate(METHODS) for value in MEASURES
    }
    where = PAPER_DATA[base(name)][0]

    def claim(said: str, better: str, others: Sequence[str]) -> None:
        differences = [means[better, v] - max(means[other, v] for other in others) for v in MEASURES]
        named = [m for m in METHODS if m == better or m in others]
        page.claim(
            CLUSTERS,
            f"{where}: {said} ({_told(paper, named)})",
            _told(means, named),
            *above(differences),
        )

    claim("SeNMF clusters better than NMF", "senmf", ["nmf-plain"])
    claim("SeNMF clusters better than all others", "senmf", METHODS[:-1])
    claim("spherical k-means clusters better than NMF and ONMF", "spherical-idf", ["nmf-plain", "onmf"])
    said = PAPER_SCORES[base(name), "nmi"][-1]
    best = results.best("nmi", "criterion", method="senmf", **at)
    mean = means["senmf", "nmi"]
    page.claim(
        CLUSTERS,
        f"{where}: the run of SeNMF with the lowest objective clusters no worse than the mean of the runs "
        f"(NMI {said[2]:.2f}, {said[0]:.2f})",
        f"NMI {best:.2f}, {mean:.2f} ± {results.spread('nmi', method='senmf', **at):.2f}",
        *no_worse(best - mean),
    )


def no_worse(difference: float) -> Judgement:
    """Of a claim that a score is no worse than another."""
    judged = alike([min(difference, 0.0)], SLIGHTLY)
    return Judgement(judged.verdict, f"{difference:+.3f}, allowed {-SLIGHTLY:g}")


def _told(numbers: dict[tuple[str, str], float], methods: Sequence[str]) -> str:
    return "; ".join(
        f"{label} " + ", ".join(f"{CONTENDERS[m].label} {numbers[m, value]:.2f}" for m in methods)
        for value, label in MEASURES.items()
    )


# --- convergence


def objectives(results: Results, kind: str, name: str, method: str) -> list[list[float]]:
    """The objective after each iteration, of each run."""
    return [o.values["objective"] for o in results.values(kind, collection=name, method=method)]


def _of_convergence(results: Results, page: Page) -> None:
    names = collections(results)
    printed = {n: objectives(results, "semantic-curve", n, "senmf-printed") for n in names}
    rises = {n: sum(map(_rises, ways)) for n, ways in printed.items()}
    length = {n: sum(map(len, ways)) for n, ways in printed.items()}
    total = sum(rises.values())
    page.claim(
        CONVERGENCE,
        "the printed updates lower the objective in every iteration",
        "; ".join(
            f"{n}: {rises[n]} rises in {length[n]:,} iterations of {len(printed[n])} runs" for n in names
        ),
        Verdict.of(total == 0),
        f"{total} rises in {sum(length.values()):,} iterations",
    )
    ways = {n: objectives(results, "semantic-fit", n, "senmf") for n in names}
    shares = {n: float(np.mean([_fallen(way, PAPER_ITERATIONS) for way in ways[n]])) for n in names}
    page.claim(
        CONVERGENCE,
        f"SeNMF converges within {PAPER_ITERATIONS} iterations",
        f"share of the whole fall of the objective in {PAPER_ITERATIONS} iterations, mean of the runs: "
        + ", ".join(f"{n} {share:.1%}" for n, share in shares.items())
        + f"; {CONVERGED:.0%} is called converged",
        *_converged(list(shares.values())),
    )


def _converged(shares: Sequence[float]) -> Judgement:
    """Of a claim that runs have converged on each collection."""
    judged = above([share - CONVERGED for share in shares], tie=0.0)
    return Judgement(judged.verdict, f"lowest {min(shares):.1%}")


def _rises(way: Sequence[float]) -> int:
    return int((np.diff(way) > _ROUNDING * np.abs(way[:-1])).sum())


def _fallen(way: Sequence[float], at: int) -> float:
    """The share of the whole fall that was made at an iteration; all of it where there was none."""
    whole = way[0] - way[-1]
    return (way[0] - way[min(at, len(way)) - 1]) / whole if whole > 0 else 1.0


# --- embeddings


def cosine(results: Results, name: str, method: str, k: int) -> dict[str, Any]:
    """The cosines of one fit."""
    return results.one("semantic-cosines", collection=name, method=method, k=k)


def _of_cosines(results: Results, page: Page, name: str, what: str, label: str) -> None:
    ks = sorted(results.distinct("k", "semantic-cosines", collection=name))
    many = [k for k in ks if k >= MANY] or ks[-1:]
    medians = {k: [cosine(results, name, m, k)[what]["median"] for m in BOTH] for k in many}
    page.claim(
        EMBEDDINGS,
        f"{PAPER_DATA[base(name)][0]}: {label} are closer under SeNMF than under NMF",
        "median cosine, SeNMF and NMF: "
        + "; ".join(f"K = {k}: {a:.3f}, {b:.3f}" for k, (a, b) in medians.items()),
        *above([a - b for a, b in medians.values()]),
    )


# --- words


def _of_words(results: Results, page: Page, name: str) -> None:
    (all_senmf, all_nmf), (met_senmf, met_nmf) = (
        [results.mean(value, "semantic-fit", collection=name, method=m) for m in BOTH]
        for value in ("pmi", "pmi_of_met")
    )
    said = PAPER_PMI[base(name)]
    page.claim(
        WORDS,
        f"{PAPER_DATA[base(name)][0]}: top words of SeNMF go together more than those of NMF "
        f"(PMI {said[0]}, {said[1]})",
        f"PMI {all_senmf:.3f}, {all_nmf:.3f} with pairs that never meet as 0; "
        f"{met_senmf:.3f}, {met_nmf:.3f} without them",
        *on_stand_in(_by_two([all_senmf - all_nmf, met_senmf - met_nmf]), semantic_kinds.OUTSIDE),
    )


def _by_two(differences: Sequence[float]) -> Judgement:
    """Of a claim measured in two ways: it holds if it does in both, and in part if in one."""
    more = sum(d > TIE for d in differences)
    verdict = (Verdict.FAILS, Verdict.IN_PART, Verdict.HOLDS)[more]
    return Judgement(verdict, ("by neither number", "by one of two numbers", "by both numbers")[more])
