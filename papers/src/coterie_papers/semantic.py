"""Semantic-NMF (SIGIR 2017): texts and the company of their words factorised together."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie_papers import semantic_kinds
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.page import Page
from coterie_papers.semantic_figures import boxes, convergence

TITLE = "Semantic-NMF (SIGIR 2017)"

METHODS = ("spherical-idf", "nmf-plain", "onmf", "senmf")
MEASURES = {"nmi": "NMI", "ari": "ARI"}
#: Topics that each collection has classes, and runs from different starts.
CLASSES = {"classic4": 4, "reuters4": 4, "ng20": 20}
RUNS = {"classic4": 50, "reuters4": 50, "ng20": 20}
PRINTED_RUNS = 3
LARGER = (100, 200, 300)
#: Iterations of the runs, as many as the paper's figure shows, and of the fits with many topics.
ITERATIONS, ITERATIONS_LARGER = 100, 50

# What the paper says: texts, words, classes, balance, % non-zero of X and of M
PAPER_DATA = {
    "classic4": ("CLASSIC4", 7095, 5896, 4, 0.323, 0.59, 2.41),
    "reuters4": ("REUTERS", 6387, 16921, 4, 0.080, 0.25, 0.47),
    "ng20": ("NG20", 18846, 26214, 20, 0.628, 0.59, 1.80),
}
# its Table 2: mean, spread, and the run with the best criterion, in the order of METHODS
PAPER_SCORES = {
    ("classic4", "nmi"): ((0.60, 0.02, 0.59), (0.53, 0.006, 0.53), (0.50, 0.005, 0.50), (0.74, 0.004, 0.74)),
    ("classic4", "ari"): ((0.47, 0.01, 0.46), (0.45, 0.003, 0.45), (0.42, 0.004, 0.42), (0.69, 0.02, 0.73)),
    ("reuters4", "nmi"): ((0.40, 0.05, 0.38), (0.35, 0.0004, 0.35), (0.36, 0.004, 0.36), (0.61, 0.02, 0.62)),
    ("reuters4", "ari"): ((0.21, 0.10, 0.18), (0.13, 0.001, 0.13), (0.15, 0.02, 0.15), (0.57, 0.02, 0.58)),
    ("ng20", "nmi"): ((0.48, 0.02, 0.52), (0.42, 0.02, 0.44), (0.41, 0.01, 0.42), (0.52, 0.02, 0.53)),
    ("ng20", "ari"): ((0.30, 0.03, 0.33), (0.23, 0.02, 0.26), (0.20, 0.01, 0.20), (0.33, 0.01, 0.34)),
}  # fmt: skip
# mean PMI of top words of SeNMF and NMF, and the words of the Wikipedia that it counted
PAPER_PMI = {"classic4": (2.59, 1.89), "reuters4": (1.7, 1.21), "ng20": (2.64, 1.49)}
PAPER_OUTSIDE = 2_000_000_000

#: Share of the whole fall of the objective that, made in half the iterations, we call convergence.
CONVERGED = 0.95
#: An NMI that is lower by no more than this is as good.
SLIGHTLY = 0.02
#: A mean PMI that is higher by no more than this is not.
SAME_PMI = 0.01
#: A rise by less than this share of the objective is rounding.
_ROUNDING = 1e-9


def trials(quick: bool) -> list[Trial]:
    """All that the page needs, ordered by collection: what belongs to one is prepared once a process."""
    listed = [trial("semantic-outside", "")]
    # the largest first, so that no long trial is left for the end
    for name in sorted(CLASSES, key=lambda name: -PAPER_DATA[name][2]):
        listed += _quick_trials(name) if quick else _full_trials(name)
    return listed


def _full_trials(name: str) -> list[Trial]:
    k = CLASSES[name]
    return [
        *(
            trial("semantic-cosines", name, method, k=topics, iterations=ITERATIONS_LARGER)
            for topics in (*reversed(LARGER), k)
            for method in ("senmf", "nmf-plain")
        ),
        *_fits(name, k, RUNS[name], PRINTED_RUNS, ITERATIONS, None),
    ]


def _quick_trials(name: str) -> list[Trial]:
    small, k = f"{name}-quick", CLASSES[name]
    return [
        *(
            trial("semantic-cosines", small, method, k=topics, iterations=10)
            for topics in (40, k)
            for method in ("senmf", "nmf-plain")
        ),
        *_fits(small, k, 2, 1, 30, 50_000),
    ]


def _fits(name: str, k: int, runs: int, printed: int, iterations: int, outside: int | None) -> list[Trial]:
    listed = [trial("semantic-data", name, outside=outside)]
    for method in reversed(METHODS):
        # spherical k-means stops by itself
        length = {} if method.startswith("spherical") else {"iterations": iterations}
        listed += [
            trial("semantic-fit", name, method, k=k, seed=seed, outside=outside, **length)
            for seed in range(runs)
        ]
    return listed + [
        trial("semantic-curve", name, "senmf-printed", k=k, seed=seed, iterations=iterations)
        for seed in range(printed)
    ]


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    found = results.distinct("collection", "semantic-data")
    names = [name for base in CLASSES for name in found if _base(name) == base]
    _data(results, page, names)
    _scores(results, page, names)
    _curves(results, page, names)
    _cosines(results, page, names)
    _words(results, page, names)


def _base(name: str) -> str:
    """The collection that a small one was drawn from."""
    return name.removesuffix("-quick")


# --- data


def _data(results: Results, page: Page, names: list[str]) -> None:
    listed = "\n".join(f"- `{n}`: {results.one('semantic-data', collection=n)['about']};" for n in names)
    wide = PAPER_DATA["ng20"]
    page.text(
        f"""
M. Ailem, A. Salah, M. Nadif: Non-negative matrix factorization meets word embedding. SIGIR 2017.

## Data

The paper's three collections: tf-idf, rows of unit length. It says nothing else about
how words were taken from texts, so this was guessed from the size of its vocabularies: stop words, numbers
and addresses are left out, words are stemmed (its table of words shows stems), and terms are

{listed}

For `ng20` the vocabulary fits with the headers of the messages left in; each text comes on one line, so that
headers could not be cut off cleanly anyway. Words are in company if they stand at most
{semantic_kinds.WINDOW} words apart, words that are no terms left out before. Whether the paper's window of
ten is to each side, and what takes up a place in it, is a guess too: the one nearest to its three shares of
non-zeros in M. M is positive mutual information shifted by log {semantic_kinds.NEGATIVES}. The paper's share
of non-zeros in X of NG20 means {wide[5] / 100 * wide[2]:.0f} different words in a text, which is a lot, and
equals that of CLASSIC4: perhaps a slip.
"""
    )
    rows: list[tuple[Any, ...]] = []
    for name in names:
        label, texts, words, classes, balance, x, m = PAPER_DATA[_base(name)]
        rows.append((f"{label}, paper", texts, words, classes, f"{balance:.3f}", f"{x:.2f}", f"{m:.2f}"))
        here = results.one("semantic-data", collection=name)
        rows.append((
            f"{name}, here", here["texts"], here["terms"], here["classes"], f"{here['balance']:.3f}",
            f"{100 * here['filled_x']:.2f}", f"{100 * here['filled_m']:.2f}",
        ))  # fmt: skip
    page.table(["data", "texts", "words", "classes", "balance", "% non-zero in X", "% non-zero in M"], rows)


# --- clusters


def _scores(results: Results, page: Page, names: list[str]) -> None:
    runs = ", ".join(f"{len(results.distinct('seed', 'semantic-fit', collection=n))} on `{n}`" for n in names)
    length = results.distinct("iterations", "semantic-fit", method="senmf")[0]
    page.text(
        f"""
## Clusters

NMI and ARI of runs from different starts ({runs}; the paper made 50 everywhere), mean ± standard deviation,
and in brackets the run whose own criterion is best. K is the number of classes. All methods see the same
rows, and the three factorisations start from spherical k-means with the same seeds and make {length}
iterations; the paper does not say how many it makes, its figure shows 100. NMF is SeNMF without its second
half, ONMF has Z orthogonal (Yoo & Choi). Memberships have columns of unit length before the largest is taken.
"""
    )
    rows: list[list[Any]] = []
    for name in names:
        for value, label in MEASURES.items():
            means = {m: results.mean(value, "semantic-fit", collection=name, method=m) for m in METHODS}
            best = max(means, key=lambda m: means[m])
            cells = [_cell(results, value, name, m) for m in METHODS]
            marked = [bold(c) if m == best else c for m, c in zip(METHODS, cells, strict=True)]
            more = means["senmf"] - means["nmf-plain"]
            rows.append([f"{name}, {label}", *marked, f"{more:+.2f}"])
            said = PAPER_SCORES[_base(name), value]
            cells = [f"*{mean:.2f} ± {spread:g} ({best:.2f})*" for mean, spread, best in said]
            rows.append([Raw("*paper*"), *map(Raw, cells), Raw(f"*{said[-1][0] - said[1][0]:+.2f}*")])
    page.table(["data", *(CONTENDERS[m].label for m in METHODS), "SeNMF over NMF"], rows)
    page.text("CPU seconds of one fit, one BLAS thread, the start included:")
    page.table(
        ["data", *(CONTENDERS[m].label for m in METHODS)],
        [
            (n, *(f"{results.mean('seconds', 'semantic-fit', collection=n, method=m):.2f}" for m in METHODS))
            for n in names
        ],
    )
    for name in names:
        _score_claims(results, page, name)


def _cell(results: Results, value: str, name: str, method: str) -> str:
    at = {"collection": name, "method": method}
    mean, spread = results.mean(value, "semantic-fit", **at), results.spread(value, "semantic-fit", **at)
    best = results.best(value, "criterion", "semantic-fit", **at)
    return f"{pm(mean, spread)} ({best:.2f})"


def _score_claims(results: Results, page: Page, name: str) -> None:
    means = {
        (m, value): results.mean(value, "semantic-fit", collection=name, method=m)
        for m in METHODS
        for value in MEASURES
    }
    paper = {
        (m, value): PAPER_SCORES[_base(name), value][i][0]
        for i, m in enumerate(METHODS)
        for value in MEASURES
    }

    def told(numbers: dict[tuple[str, str], float], methods: tuple[str, ...]) -> str:
        return "; ".join(
            f"{MEASURES[value]} "
            + ", ".join(f"{CONTENDERS[m].label} {numbers[m, value]:.2f}" for m in methods)
            for value in MEASURES
        )

    def above(first: str, others: tuple[str, ...]) -> bool:
        return all(means[first, value] > means[other, value] for other in others for value in MEASURES)

    where = PAPER_DATA[_base(name)][0]
    two = ("senmf", "nmf-plain")
    page.claim(f"{where}: SeNMF clusters better than NMF ({told(paper, two)})", told(means, two),
               above("senmf", ("nmf-plain",)))  # fmt: skip
    page.claim(f"{where}: SeNMF clusters better than all others ({told(paper, METHODS)})",
               told(means, METHODS), above("senmf", METHODS[:-1]))  # fmt: skip
    said, at = PAPER_SCORES[_base(name), "nmi"][-1], {"collection": name, "method": "senmf"}
    best = results.best("nmi", "criterion", "semantic-fit", **at)
    page.claim(
        f"{where}: the run of SeNMF with the best criterion clusters no worse than the mean of the runs "
        f"(NMI {said[2]:.2f}, {said[0]:.2f})",
        f"NMI {best:.2f}, {means['senmf', 'nmi']:.2f} ± {results.spread('nmi', 'semantic-fit', **at):.2f} "
        f"(called worse if more than {SLIGHTLY} below)",
        best >= means["senmf", "nmi"] - SLIGHTLY,
    )
    rest = ("spherical-idf", "nmf-plain", "onmf")
    page.claim(f"{where}: spherical k-means clusters better than NMF and ONMF ({told(paper, rest)})",
               told(means, rest), above("spherical-idf", rest[1:]))  # fmt: skip


# --- convergence


def _curves(results: Results, page: Page, names: list[str]) -> None:
    page.text(
        """
## Convergence

The objective of SeNMF over the iterations, all runs. Nothing proves that the printed update of W lowers it;
here a step that would raise it is shortened, so that the objective cannot rise. The same runs with steps as
long as printed tell whether that is ever needed.
"""
    )
    safe = {n: _objectives(results, "semantic-fit", n, "senmf") for n in names}
    printed = {n: _objectives(results, "semantic-curve", n, "senmf-printed") for n in names}
    page.figure(
        "convergence",
        "Objective of SeNMF over the iterations: all runs, and a few with updates as printed.",
        convergence({n: {"senmf": safe[n], "senmf-printed": printed[n]} for n in names}),
    )
    length = min(len(way) for n in names for way in safe[n])
    half = length // 2
    rises = {n: [_rises(way) for way in printed[n]] for n in names}
    page.claim(
        "the printed updates lower the objective in every iteration",
        "; ".join(
            f"{n}: {sum(rises[n])} rises in {sum(map(len, printed[n])):,} iterations of {len(rises[n])} runs"
            for n in names
        ),
        not any(sum(found) for found in rises.values()),
    )
    shares = {n: [_fallen(way, half) for way in safe[n]] for n in names}
    page.claim(
        f"SeNMF converges within {length} iterations",
        f"share of the whole fall at iteration {half}, mean and lowest of the runs: "
        + "; ".join(f"{n} {np.mean(some):.1%}, {min(some):.1%}" for n, some in shares.items())
        + f" (called converged from {CONVERGED:.0%} in every run)",
        all(min(some) >= CONVERGED for some in shares.values()),
    )


def _objectives(results: Results, kind: str, name: str, method: str) -> list[list[float]]:
    return [o.values["objective"] for o in results.values(kind, collection=name, method=method)]


def _rises(way: list[float]) -> int:
    return int((np.diff(way) > _ROUNDING * np.abs(way[:-1])).sum())


def _fallen(way: list[float], at: int) -> float:
    """The share of the whole fall that was made at an iteration; all of it where there was none."""
    whole = way[0] - way[-1]
    return (way[0] - way[at - 1]) / whole if whole > 0 else 1.0


# --- cosines


def _cosines(results: Results, page: Page, names: list[str]) -> None:
    length = results.distinct("iterations", "semantic-cosines")[0]
    page.text(
        f"""
## Embeddings

Cosines between rows of W for the {semantic_kinds.TOP} words with the largest sum of tf-idf in a class, all
pairs of a class, and between rows of Z for 20,000 random pairs of texts of one class; boxes hold the middle
half, whiskers reach from 5 % to 95 %. One run each, {length} iterations. Z has columns of unit length and W
takes up their lengths: cosines depend on that, and the paper does not say what it did for these figures.
"""
    )
    for what, label in (("words", "top words"), ("texts", "texts")):
        ks = {n: sorted(results.distinct("k", "semantic-cosines", collection=n)) for n in names}
        found = {
            n: {m: [(k, _cosine(results, n, m, k)[what]) for k in ks[n]] for m in ("nmf-plain", "senmf")}
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
            nmf, senmf = (_cosine(results, name, m, k) for m in ("nmf-plain", "senmf"))
            cells = [f"{c[w]['mean']:.2f} ({c[f'{w}_across']['mean']:.2f})" for w in ("words", "texts")
                     for c in (nmf, senmf)]  # fmt: skip
            rows.append((f"{name}, K = {k}", *cells))
    page.table(["data", "words, NMF", "words, SeNMF", "texts, NMF", "texts, SeNMF"], rows)
    for what, label in (("words", "top words of a class"), ("texts", "texts of a class")):
        for name in names:
            _cosine_claim(results, page, name, what, label)


def _cosine(results: Results, name: str, method: str, k: int) -> dict[str, Any]:
    return results.one("semantic-cosines", collection=name, method=method, k=k)


def _cosine_claim(results: Results, page: Page, name: str, what: str, label: str) -> None:
    ks = sorted(results.distinct("k", "semantic-cosines", collection=name))
    medians = {k: [_cosine(results, name, m, k)[what]["median"] for m in ("senmf", "nmf-plain")] for k in ks}
    page.claim(
        f"{PAPER_DATA[_base(name)][0]}: {label} are closer under SeNMF than under NMF at every K",
        "median cosine, SeNMF and NMF: "
        + "; ".join(f"K = {k}: {a:.3f}, {b:.3f}" for k, (a, b) in medians.items()),
        all(a > b for a, b in medians.values()),
    )


# --- words


def _words(results: Results, page: Page, names: list[str]) -> None:
    outside = results.one("semantic-outside")
    some = results.distinct("outside", "semantic-data")[0]
    drawn = "" if some is None else f" Of these, {some:,} at random were counted."
    windows = results.one("semantic-data", collection=names[0])["outside_windows"]
    known = "; ".join(
        f"{results.one('semantic-data', collection=n)['outside_terms']:.0%} of the terms of `{n}`"
        for n in names
    )
    page.text(
        f"""
## Words of topics

The paper measures how the {semantic_kinds.TOP} top words of a topic go together by their mutual information
(PMI) in windows of five words in all of the English Wikipedia, two billion words. The largest text at hand
that is none of the three collections is `{semantic_kinds.OUTSIDE}`: {outside["texts"]:,} titles with
{outside["words"]:,} words.{drawn} It has {windows:,} windows of {semantic_kinds.OUTSIDE_WINDOW} words and
knows {known}. Its limits: it is {PAPER_OUTSIDE / outside["words"]:.0f} times smaller than Wikipedia was, its
texts are short, colloquial and about other things, and so many pairs of words never meet. What such a pair
counts the paper does not say; here it matters. So there are two numbers: with such pairs counted as 0, which
favours frequent words, and over the pairs that meet alone, which favours rare ones. Only where both agree
there is a conclusion. Means of all topics and runs, and in brackets the run with the best criterion:
"""
    )
    rows = []
    for name in names:
        for m in METHODS:
            at = {"collection": name, "method": m}
            cells = [
                f"{results.mean(v, 'semantic-fit', **at):.2f} "
                f"({results.best(v, 'criterion', 'semantic-fit', **at):.2f})"
                for v in ("pmi", "pmi_of_met")
            ]
            rows.append((f"{name}, {CONTENDERS[m].label}", *cells,
                         f"{results.mean('met', 'semantic-fit', **at):.0%}"))  # fmt: skip
        _pmi_claim(results, page, name)
    page.table(["topics of", "PMI, others 0", "PMI of pairs that meet", "pairs that meet"], rows)
    for name in names:
        if CLASSES[_base(name)] == CLASSES["classic4"]:
            _top_words(results, page, name)


def _pmi_claim(results: Results, page: Page, name: str) -> None:
    two = ("senmf", "nmf-plain")
    means = [
        [results.mean(value, "semantic-fit", collection=name, method=m) for m in two]
        for value in ("pmi", "pmi_of_met")
    ]
    higher = [a > b + SAME_PMI for a, b in means]
    said = PAPER_PMI[_base(name)]
    page.claim(
        f"{PAPER_DATA[_base(name)][0]}: top words of SeNMF go together more than those of NMF "
        f"(PMI {said[0]}, {said[1]})",
        f"PMI {means[0][0]:.3f}, {means[0][1]:.3f} with pairs that never meet as 0; "
        f"{means[1][0]:.3f}, {means[1][1]:.3f} without them",
        higher[0] if higher[0] == higher[1] else None,  # numbers that disagree conclude nothing
    )


def _top_words(results: Results, page: Page, name: str) -> None:
    page.text(
        f"Top 20 words of the topics on `{name}`, from the run with the best criterion, topics by PMI (pairs "
        "that never meet as 0); words are shown as texts write them, stems were counted:"
    )
    rows = []
    for m in ("senmf", "nmf-plain"):
        runs = results.values("semantic-fit", collection=name, method=m)
        best = min(runs, key=lambda run: run.values["criterion"]).values
        topics = sorted(zip(best["topic_pmi"], best["topics"], strict=True), reverse=True)
        rows += [(CONTENDERS[m].label, f"{pmi:.2f}", " ".join(terms[:20])) for pmi, terms in topics]
    page.table(["method", "PMI", "words"], rows)
