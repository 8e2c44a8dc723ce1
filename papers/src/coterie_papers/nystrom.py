"""Statistical semantics with Nyström (WWW 2015): clusters in spaces of sampled terms, 10k to 100k texts."""

from __future__ import annotations

from coterie_papers import nystrom_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.nystrom_found import (
    BASELINES,
    BESIDE,
    FOLLOWED,
    FULL,
    ITERATIONS,
    SEMANTICS,
    Found,
)
from coterie_papers.page import Page

TITLE = "Short text clustering using statistical semantics (WWW 2015)"

RUNS = 10
#: What there is to learn about: the classes of each collection, which is the number of clusters.
CLASSES = {
    "subreddits-2k-a": 5, "subreddits-2k-b": 5, "subreddits-4k": 10, "subreddits-10k-a": 25,
    "subreddits-10k-b": 25, "subreddits-20k": 50, "subreddits-50k": 125, "subreddits-100k": 250,
    "wordnet-2k": 45, "wordnet-4k": 45, "wordnet-10k": 45, "wordnet-20k": 45, "wordnet-50k": 45,
    "wordnet-100k": 45,
}  # fmt: skip
#: Samples of two sizes or more, in this order, for the small version and the full one.
SAMPLES = {
    True: (("subreddits-2k-a", "subreddits-2k-b", "wordnet-2k"), ("subreddits-4k", "wordnet-4k")),
    False: (
        ("subreddits-10k-a", "subreddits-10k-b", "wordnet-10k"),
        (
            *("subreddits-20k", "subreddits-50k", "subreddits-100k"),
            *("wordnet-20k", "wordnet-50k", "wordnet-100k"),
        ),
    ),
}


def trials(quick: bool) -> list[Trial]:
    """All that the page needs, what takes longest first."""
    small, large = SAMPLES[quick]
    return [
        *_large_trials(quick, large[::-1]),
        *(one for name in small for one in _rank_trials(quick, name)),
        *_space_trials(quick, small[0]),
        *(
            trial("nystrom-full", name, semantics, k=CLASSES[name], seed=seed)
            for name in small[:2]
            for semantics in FULL
            for seed in range(1 if quick else 3)
        ),
        *(
            _baseline(name, m, seed)
            for name in small
            for m in BASELINES
            for seed in range(3 if quick else RUNS)
        ),
        *(trial("nystrom-data", name) for name in (*small, *large)),
    ]


def _rank_trials(quick: bool, name: str) -> list[Trial]:
    """Spaces of few and of many terms at several ranks, with so many draws of terms each.

    The more terms are drawn, the longer it takes and the less the draws differ. Glosses have spherical
    k-means alone. Where most terms are drawn, only the first sample has all semantics.
    """
    ranks = "5,20,100" if quick else "5,10,20,50,100,200,500,1000"
    nmf_ranks = "5,20" if quick else "5,20,50,100,200"
    glosses = name.startswith("wordnet")
    if quick:  # the most are more than titles have, so that this is seen too
        sampled = {500: 2, 100: 2} if glosses else {5000: 1, 500: 2, 100: 2}
    else:
        sampled = {10_000: 1, 5000: 1, 1000: 2} if glosses else {10_000: 1, 5000: 2, 1000: 2}
    return [
        trial("nystrom", name, semantics, k=CLASSES[name], seed=seed, sampled=few, iterations=ITERATIONS,
              ranks=ranks, nmf_ranks="" if glosses else nmf_ranks)
        for few, draws in sampled.items()
        for semantics in (SEMANTICS if few < 10_000 or name.endswith("-a") else (FOLLOWED,))
        for seed in range(draws)
    ]  # fmt: skip


def _large_trials(quick: bool, names: tuple[str, ...]) -> list[Trial]:
    """The followed semantics at one rank, and the baselines, in large collections."""
    found = []
    for name in names:
        found += [
            trial("nystrom", name, FOLLOWED, k=CLASSES[name], sampled=few, iterations=ITERATIONS,
                  ranks="100" if quick else "200", nmf_ranks="")
            for few in ((100, 500) if quick else (1000, 5000))
        ]  # fmt: skip
        found += [_baseline(name, m, 0) for m in BASELINES]
    return found


def _space_trials(quick: bool, name: str) -> list[Trial]:
    pairs = ((100, 5), (100, 100)) if quick else ((1000, 5), (1000, 1000), (5000, 5), (5000, 1000))
    return [
        trial("nystrom-space", name, FOLLOWED, k=CLASSES[name], sampled=few, rank=rank) for few, rank in pairs
    ]


def _baseline(name: str, method: str, seed: int) -> Trial:
    settings = {"max_iter": ITERATIONS} if method in BESIDE["nmf"] else {}
    return trial("cluster", name, method, k=CLASSES[name], seed=seed, **settings)


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    from coterie_papers import nystrom_sections as sections
    from coterie_papers.nystrom_claims import claims

    found = Found(results)
    _data(found, page)
    _method(page)
    sections.ranks(found, page, "spherical")
    sections.full(found, page)
    sections.ranks(found, page, "nmf")
    sections.space(found, page)
    sections.sizes(found, page)
    sections.ncut(found, page)
    claims(found, page)


def _data(found: Found, page: Page) -> None:
    page.text(
        """
S. Seifzadeh, A. K. Farahat, M. S. Kamel, F. Karray: Short text clustering using statistical semantics.
WWW 2015 Companion.

## Data

The paper clusters samples of 360,000 labelled tweets (Zubiaga and Ji 2013), which cannot be had: tweets may
not be passed on. Two data sets stand in. `reddit` has titles of posts, at most 400 of each subreddit. A
sample takes all titles of as many of the largest subreddits as its size needs, in a random order: 25
for each 10,000 texts. The two small samples share no subreddit; the first is part of the larger ones. So
classes get more with the texts, and not larger. `wordnet` has glosses, and there every sample is drawn at
random from the same 45 unbalanced classes, as in the paper, which has 10. The number of clusters is that of
the classes in all experiments; the paper does not say what it took.

As in the paper stop words are left out, words are stemmed, and no rare term and no short text is left out,
but for texts that have no term at all. "By chance" is the NMI of the labels with themselves in a random
order.
"""
    )
    rows = []
    for name in dict.fromkeys([*found.ranked, *(n for listed in found.sizes.values() for n in listed)]):
        data = found.data(name)
        words = f"{data['words']:.1f}"
        rows.append((name, data["texts"], data["terms"], words, data["classes"], data["chance"]))
    page.table(
        ["collection", "texts", "terms", "different terms in a text", "classes", "NMI by chance"], rows
    )


def _method(page: Page) -> None:
    page.text(
        f"""
## What is compared

X holds tf-idf (count × log N/df), rows not normalised. Of all terms, ℓ are drawn with probabilities in
proportion to their lengths, and the space they span is cut at rank k: texts become rows W of k numbers. Some
printed formulas lost exponents, and the lengths in L must be squared ones; both are mended. W has negative
entries, which NMF cannot have, and the paper does not say what it did about them: here rows get unit length
and their positive and negative parts stand side by side, 2k columns. NMF is Algorithm 1 of the CIKM 2012
paper with λ = 1 and at most {ITERATIONS} iterations; k-means and spherical k-means have one start a run. The
paper draws the better two semantics, pcor and assc_n; here are all four.

Ncut weights as printed are divided by the largest, which belongs to a term of a single short text where no
rare term is left out, and presses all others down. The same with the 95th percentile as scale is shown
besides.

Seconds are CPU seconds of one core with one BLAS thread: drawing, columns, eigenvectors and clustering, from
tf-idf rows on. A space is made once at the highest rank, and its first columns are the space of each lower
one. So the time at a low rank is that of clustering there and of the space at the highest rank; a table below
says what a space at a low rank costs on its own.
"""
    )
