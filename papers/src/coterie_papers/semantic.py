"""Semantic-NMF (SIGIR 2017): texts and the co-occurrence of their words, factorised together."""

from __future__ import annotations

from math import log
from typing import Any

from coterie_papers import semantic_kinds
from coterie_papers.bench.collections import present
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.later import SLOW_FOR_LONG, later, later_trials
from coterie_papers.page import Page
from coterie_papers.semantic_claims import (
    METHODS,
    PAPER_DATA,
    PAPER_ITERATIONS,
    PAPER_OBJECTIVE,
    base,
    claims,
    collections,
    headline,
)
from coterie_papers.semantic_figures import scheme
from coterie_papers.semantic_sections import clusters, convergence, cosines, matrices, other_choices, words

TITLE = "Semantic-NMF (SIGIR 2017)"

#: Topics that each collection has classes, and runs from different starts.
CLASSES = {"classic4": 4, "reuters4": 4, "ng20": 20}
RUNS = {"classic4": 50, "reuters4": 50, "ng20": 5}
OUTSIDE_RUNS = {"classic4": 10, "reuters4": 10, "ng20": 1}
PRINTED_RUNS = 3
#: Larger numbers of topics, the paper's; one is left out where a fit takes minutes.
LARGER = {"classic4": (100, 200, 300), "reuters4": (100, 200, 300), "ng20": (100, 300)}
#: Where a run stops: after so many iterations, or when one lowers the objective by no more than this share.
ITERATIONS, TOLERANCE = 1000, 1e-8
#: The same for the fits with many topics, which take as long in an iteration as others in a hundred.
ITERATIONS_LARGER = 50
#: Matrices of the paper's own counts, which may not be on this machine: topics, and runs.
MATRICES = {"reuters4-matrix": (4, 10), "ng20-matrix": (20, 3)}
MATRIX_METHODS = ("spherical-idf", "nmf-plain", "senmf")
#: Where later methods are tried; NG20 takes some of them an hour.
LATER_ON = ("classic4", "reuters4")
#: CLASSIC4 with all tokens as terms, for comparison.
TOKENS = "classic4-tokens"
#: Texts of the outside corpus that the small version counts.
_SOME = 50_000


def trials(quick: bool) -> list[Trial]:
    """All that the page needs, ordered by collection: what belongs to one is prepared once a process."""
    listed = [trial("semantic-outside", "")]
    # the largest first, so that no long trial is left for the end
    for name in sorted(CLASSES, key=lambda name: -PAPER_DATA[name][2]):
        listed += _quick_trials(name) if quick else _full_trials(name)
    few = {f"{name}-quick" if quick else name: CLASSES[name] for name in LATER_ON}
    listed += later_trials(("nmf-plain", "senmf"), few, quick, without=SLOW_FOR_LONG)
    return listed if quick else listed + _matrix_trials()


def _full_trials(name: str) -> list[Trial]:
    k = CLASSES[name]
    return [
        *_fits(name, k, RUNS[name], ITERATIONS, None),
        *_cosines(name, (*reversed(LARGER[name]), k), ITERATIONS_LARGER),
        *_outside(name, k, OUTSIDE_RUNS[name], ITERATIONS, None),
        *_printed(name, k, PRINTED_RUNS, PAPER_ITERATIONS),
    ]


def _quick_trials(name: str) -> list[Trial]:
    small, k = f"{name}-quick", CLASSES[name]
    return [
        *_cosines(small, (40, k), 10),
        *_fits(small, k, 2, 30, _SOME),
        *_outside(small, k, 1, 30, _SOME),
        *_printed(small, k, 1, 30),
    ]


def _cosines(name: str, ks: tuple[int, ...], iterations: int) -> list[Trial]:
    return [
        trial("semantic-cosines", name, method, k=k, iterations=iterations, tol=TOLERANCE)
        for k in ks
        for method in ("senmf", "nmf-plain")
    ]


def _fits(name: str, k: int, runs: int, iterations: int, outside: int | None) -> list[Trial]:
    return [
        trial("semantic-data", name, outside=outside),
        *([trial("semantic-sizes", name.replace("classic4", TOKENS))] if base(name) == "classic4" else []),
        *(
            trial("semantic-fit", name, m, k=k, seed=seed, outside=outside, **_length(m, iterations))
            for m in reversed(METHODS)
            for seed in range(runs)
        ),
    ]


def _length(method: str, iterations: int) -> dict[str, Any]:
    """Where a method stops; spherical k-means does by itself."""
    return {} if method.startswith("spherical") else {"iterations": iterations, "tol": TOLERANCE}


def _outside(name: str, k: int, runs: int, iterations: int, outside: int | None) -> list[Trial]:
    """SeNMF with co-occurrence from the outside texts."""
    length = _length("senmf", iterations)
    return [
        trial("semantic-scores", name, "senmf", k=k, seed=seed, counts="outside", outside=outside, **length)
        for seed in range(runs)
    ]


def _printed(name: str, k: int, runs: int, iterations: int) -> list[Trial]:
    return [
        trial("semantic-curve", name, "senmf-printed", k=k, seed=seed, iterations=iterations)
        for seed in range(runs)
    ]


def _matrix_trials() -> list[Trial]:
    """Fits of the paper's own counts, where these are on this machine."""
    here = [name for name in MATRICES if present(name)]
    return [
        trial("semantic-scores", name, method, k=MATRICES[name][0], seed=seed, counts="texts",
              **_length(method, ITERATIONS))
        for name in here
        for method in MATRIX_METHODS
        for seed in range(MATRICES[name][1])
    ]  # fmt: skip


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    page.headline(headline(results))
    _method(page)
    page.claims_here()
    claims(results, page)
    _data(results, page)
    clusters(results, page)
    other_choices(results, page)
    matrices(results, page)
    convergence(results, page)
    _objective(results, page)
    cosines(results, page)
    words(results, page)
    later(
        results,
        page,
        "These texts are long: BTM, which goes over all pairs of words of a text, and PTM are left out, as "
        "is NG20. SeNMF counts co-occurrence in whole texts here, as the others do, and makes its usual "
        "iterations.",
    )


# --- the method, the data


def _method(page: Page) -> None:
    page.text(
        f"""
M. Ailem, A. Salah, M. Nadif: Non-negative matrix factorization meets word embedding. SIGIR 2017.

## The method

NMF explains texts by topics, and knows nothing of words but which texts hold them. Word embeddings such as
word2vec know which words stand near each other, and factorise, in effect, a matrix of terms × terms: M has
the mutual information of two terms in windows of {semantic_kinds.WINDOW} words, minus log
{semantic_kinds.NEGATIVES}, or zero where that is negative. Semantic-NMF (SeNMF) factorises both matrices at
once, with one matrix W for the terms of both:

`min ½‖X − ZWᵀ‖² + ½‖M − WSWᵀ‖²`, with Z (texts × topics), W (terms × topics) and S (topics × topics) not
negative.

X has the tf-idf of the texts, rows of unit length. The factors take turns in multiplicative updates, starting
from spherical k-means. A text belongs to the topic with the largest entry in its row of Z, after the columns
of Z have been brought to unit length. Without M it is NMF.
"""
    )
    page.figure("method", "Both matrices have the terms in common, and so share W.", scheme())
    page.text(
        """
With your own file:

```sh
coterie fit news.csv --text title --method semantic-nmf --topics 4 --out run
```

The command counts which terms stand in the same text. For texts that are longer than a few words the paper's
windows are sharper, in Python:

```python
from coterie import SemanticNMF
from coterie.corpus import Vectorizer

vectorizer = Vectorizer(min_df=3)
X = vectorizer.fit_transform(texts)
model = SemanticNMF(4).fit(X, cooccurrence=vectorizer.sequences(texts).known())
```
"""
    )


def _data(results: Results, page: Page) -> None:
    names = collections(results)
    found = {n: results.one("semantic-data", collection=n) for n in names}
    classic, _, news = found.values()
    tokens, said = results.one("semantic-sizes"), PAPER_DATA["ng20"]
    listed = "\n".join(f"- `{n}`: {found[n]['about']};" for n in names)
    page.text(
        f"""
## Data

The texts and classes are those of the paper's three collections; the words had to be cut from them again.
The paper says no more than tf-idf and rows of unit length, so the rest is guessed from the number of its
terms. Stop words, numbers and addresses are left out, words are stemmed (its table of words shows stems), and
terms are

{listed}

The matrix of CLASSIC4 that the paper used is by V. Tunali (dataminingresearch.com), whose program takes words
to be runs of letters and leaves out those with fewer than three. It has 247,159 entries, ours has
{classic["entries"]:,}. With all tokens as terms, ours would have {tokens["terms"]:,} terms and
{tokens["entries"]:,} entries, {tokens["filled_x"]:.2%} of X, and {tokens["filled_m"]:.2%} of M would not be
zero: the numbers of terms and of entries are nearer to the paper's now, the shares are not.

For NG20 the number of terms fits only with the headers of the messages left in. They could be cut off:
{news["with_header"]:.1%} of the messages have a line `Lines:` with a number, which is the last of the header
or near it.

Two words co-occur if they stand at most {semantic_kinds.WINDOW} words apart, once words that are no terms
have been left out. Whether the paper's window of ten reaches to each side, and what takes up a place in it,
is a guess too. The paper's share of non-zero entries in X of NG20 would be {said[5] / 100 * said[2]:.0f}
different terms in a text, where we find {news["entries"] / news["texts"]:.0f}, and equals its share for
CLASSIC4: probably a slip.
"""
    )
    rows: list[tuple[Any, ...]] = []
    for name in names:
        label, texts, terms, classes, balance, x, m = PAPER_DATA[base(name)]
        rows.append((f"{label}, paper", texts, terms, classes, f"{balance:.3f}", f"{x:.2f}", f"{m:.2f}"))
        here = found[name]
        rows.append((
            f"{name}, here", here["texts"], here["terms"], here["classes"], f"{here['balance']:.3f}",
            f"{100 * here['filled_x']:.2f}", f"{100 * here['filled_m']:.2f}",
        ))  # fmt: skip
    page.table(["data", "texts", "terms", "classes", "balance", "% non-zero in X", "% non-zero in M"], rows)


# --- the level of the objective


def _objective(results: Results, page: Page) -> None:
    """½‖M‖² with either logarithm, beside where the paper's curves begin."""
    page.text(
        """
Nearly all of the objective is ½‖M‖², which a few topics cannot explain. So its level tells which logarithm is
in M: in base 2, ‖M‖² is 2.08 times as large. As the number of non-zero entries in M differs between the paper
and here, the last three columns divide by it. The levels of CLASSIC4 and REUTERS imply base 2, that of NG20
fits neither. Here the logarithm is the natural one. It hardly matters for the clusters: with either, F is
nearly all ½‖M‖².
"""
    )
    rows = []
    for name in collections(results):
        said, known = PAPER_DATA[base(name)], results.one("semantic-data", collection=name)
        level = PAPER_OBJECTIVE[base(name)]
        printed = 2 * level / (said[6] / 100 * said[2] ** 2)
        square = known["squared_norm_of_m"]
        each = square / (known["filled_m"] * known["terms"] ** 2)
        rows.append((
            name, f"{level:.3g}", f"{square / 2:.3g}", f"{square / 2 / log(2) ** 2:.3g}",
            f"{printed:.1f}", f"{each:.1f}", f"{each / log(2) ** 2:.1f}",
        ))  # fmt: skip
    page.table(
        ["data", "F, start of the paper's curve", "½‖M‖², natural log", "½‖M‖², base 2",
         "mean square of an entry, paper", "natural log", "base 2"],
        rows,
    )  # fmt: skip
