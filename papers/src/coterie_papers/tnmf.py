"""TNMF (SDM 2013): topics from the correlation of terms, compared with topics from texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie_papers import tnmf_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.collections import present
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.later import later, later_trials
from coterie_papers.page import Page
from coterie_papers.tnmf_claims import (
    HEADLINE,
    METHODS,
    OWN_QUESTIONS,
    PAPER_DENSITY,
    PAPER_SIZES,
    PREPARED_TWEETS,
    TITLES,
    TUNED,
    claims,
    headline,
    labelled,
)
from coterie_papers.tnmf_scores import (
    OTHERWISE,
    classification,
    clusters,
    methods_of,
    otherwise,
    over,
    with_spread,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "TNMF: topics from the correlation of terms (SDM 2013)"

RUNS = 10
SIZES = PAPER_SIZES
#: What stands in for the paper's Question data, for the small version and the full one.
QUESTIONS = {True: ("stackoverflow-2k", "searchsnippets-1k"), False: ("stackoverflow", "searchsnippets")}
SNIPPET_RUNS = 5
RAW_TWEETS, RAW_QUESTIONS = "tweet-all", "stackoverflow-all"
#: Number of topics for the table of words, as in the paper.
WORDS = 20
#: Texts over which the paper lets the vocabulary grow, and in how many of them a term must be.
GROWN, LEAST = 100_000, 4

# What the paper says: texts, terms, terms in a text, classes
PAPER_DATA: dict[str, tuple[int, int, float, int | None]] = {
    "Tweet": (4520, 2502, 8.5958, None),
    "Title": (2630, 1403, 5.2684, 9),
    "Question": (36219, 4956, 5.8092, 34),
}


OTHER_RUNS = 3


def trials(quick: bool) -> list[Trial]:
    """All that the page needs, what takes longest first."""
    questions, snippets = QUESTIONS[quick]
    many = "reddit-20k" if quick else "reddit-all"
    sizes, runs, few = ((5, 10), 2, 1) if quick else (SIZES, RUNS, OTHER_RUNS)
    words = sizes[-1] if quick else WORDS
    own = [name for name in (OWN_QUESTIONS[quick],) if present(name)]
    described = (*own, TITLES, questions, snippets, PREPARED_TWEETS, RAW_TWEETS, RAW_QUESTIONS, many)
    return [
        *(one for k in reversed(sizes) for one in _topics(questions, k, runs, few)),
        *(one for k in reversed(sizes[::2]) for one in _topics(snippets, k, min(runs, SNIPPET_RUNS), few)),
        *_topics(PREPARED_TWEETS, words, runs, runs),
        *(one for name in own for k in reversed(sizes) for one in _topics(name, k, few, few)),
        *titles_trials(quick),
        *(
            trial("tnmf-other", name, method, k=sizes[0], seed=seed, **different)
            for method, different, _ in OTHERWISE
            for name in (TITLES, questions, snippets)
            for seed in range(few)
        ),
        trial("tnmf-growth", many, fixed=20_000 if quick else GROWN, least=LEAST),
        *(trial("tnmf-statistics", name) for name in described),
        *(trial("tnmf-density", name) for name in (PREPARED_TWEETS, TITLES, questions)),
        trial("tnmf-picture", PREPARED_TWEETS, terms=100),
        *(
            trial("tnmf-words", PREPARED_TWEETS, method, k=words, classes=4, top=5)
            for method in METHODS
            if method != "symnmf"  # the paper has none of its words
        ),
        *later_trials(("tnmf-e", "tnmf-i"), dict.fromkeys((TITLES, questions), sizes[0]), quick),
    ]


def titles_trials(quick: bool) -> list[Trial]:
    """Topics of the paper's own data, methods of the headline first."""
    sizes, runs = ((5, 10), 2) if quick else (SIZES, RUNS)
    return [
        trial("tnmf-topics", TITLES, method, k=k, seed=seed)
        for method in dict.fromkeys((*HEADLINE, *METHODS, *TUNED))
        for k in sizes
        for seed in range(runs)
    ]


def _topics(name: str, k: int, runs: int, tuned_runs: int) -> list[Trial]:
    """Topics of data that stands in for the paper's; its figures of Question have no SymNMF."""
    many = {method: runs for method in METHODS if method != "symnmf"} | dict.fromkeys(TUNED, tuned_runs)
    return [
        trial("tnmf-topics", name, method, k=k, seed=seed) for method, n in many.items() for seed in range(n)
    ]


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    page.headline(headline(results))
    _method(results, page)
    page.claims_here()
    claims(results, page)
    _data(results, page)
    _vocabulary(results, page)
    _density(results, page)
    clusters(results, page)
    otherwise(results, page)
    classification(results, page)
    _words(results, page)
    later(results, page)
    _time(results, page)


# --- the method, the data


def _method(results: Results, page: Page) -> None:
    page.text(
        """
X. Yan, J. Guo, S. Liu, X. Cheng, Y. Wang: Learning topics in short texts by non-negative matrix factorization
on term correlation matrix. SDM 2013.

## The method

Texts of ten words share too few words to be compared. Terms can be compared all the same, by
co-occurrence. A term's row is its positive pointwise mutual information with each term that shares texts with
it, and S holds the cosines between these rows. Topics are

`min ‖S − UUᵀ‖²`, with U (terms × topics) not negative, found by `U ← ½ U + ½ max(S U (UᵀU)⁻¹, 0)`.

The texts come in only then. With U fixed, each text x has its memberships v by itself: TNMF_E minimises
`‖x − Uv‖²`, clipped at zero, TNMF_I the I-divergence `D(x ‖ Uv)`, by Newton's method.
"""
    )
    (drawn,) = results.values("tnmf-picture")
    n = len(drawn.values["by_texts"])
    page.figure(
        "correlation",
        f"Cosines of {n} terms of {drawn.trial.collection} drawn at random, the most frequent first: left, "
        "of the texts that hold them; right, of their co-occurrence, which is S. White is exactly zero.",
        _pictures({"by texts": drawn.values["by_texts"], "by co-occurrence": drawn.values["by_company"]}),
    )
    page.text(
        """
With your own file:

```sh
coterie fit news.csv --text title --method term-nmf --topics 20 --out run
```

In Python it is `coterie.TermNMF(20)` on counts, and `TermNMF(20, inference="divergence")` for TNMF_I. The
half step, the random start and the diagonal of the counts are those of the first author's code
(`code/tnmf` of github.com/xiaohuiyan/xiaohuiyan.github.io); the paper's Algorithm 1 has the whole step alone,
which goes back and forth.
"""
    )


def _data(results: Results, page: Page) -> None:
    titles, *questions = labelled(results)
    classes = ", ".join(f"`{name}` with {_fact(results, name, 'classes')} classes" for name in questions)
    rare = _fact(results, titles, "rare")
    own = (
        ""
        if set(questions) & set(OWN_QUESTIONS.values())
        else ("They are not on this machine; `coterie data fetch baiduqa` gets them for the next run. ")
    )
    page.text(
        f"""
## Data

`{titles}` is the paper's own Title data. Its Question data are 36,219 of the questions from Baidu Zhidao that
the first author has published since (`data/baiduQA.txt` of github.com/xiaohuiyan/BTM), which ones is not
known. {own}Used here: {classes}. In many titles of Stack Overflow the name of the class is one of the words,
which favours single words as idf weighs them. `{PREPARED_TWEETS}` stands in for the paper's Tweet data.

The paper removes terms that fewer than 10 texts hold; of the terms of the published titles, {rare:.0%} are
that rare.
"""
    )
    rows: list[tuple[Any, ...]] = []
    for said, names in (("Tweet", [PREPARED_TWEETS]), ("Title", [titles]), ("Question", questions)):
        rows.append(
            (f"{said}, paper", *PAPER_DATA[said][:2], f"{PAPER_DATA[said][2]:.2f}", PAPER_DATA[said][3])
        )
        for name in names:
            words = f"{_fact(results, name, 'words'):.2f}"
            rows.append((f"{name}, here", _fact(results, name, "texts"), _fact(results, name, "terms"), words,
                         _fact(results, name, "classes")))  # fmt: skip
    page.table(["data", "texts", "terms", "different terms in a text", "classes"], rows)
    names = results.distinct("collection", "tnmf-statistics")
    page.text("\n".join(f"- `{name}`: {_fact(results, name, 'about')}." for name in names))


def _fact(results: Results, name: str, what: str) -> Any:
    return results.one("tnmf-statistics", collection=name)[what]


def _vocabulary(results: Results, page: Page) -> None:
    from coterie_papers.figures import Curve, lines

    (grown,) = results.values("tnmf-growth")
    name, found = grown.trial.collection, grown.values
    least, fixed = grown.trial.setting("least"), found["fixed"]
    at = found["texts"]
    page.text(
        f"""
## Vocabulary against collection size

`{name}`, {at[-1]:,} texts in shuffled order. The paper draws the vocabulary of 100,000 tweets as they
come in, without terms that fewer than {least} hold, and does not say when these are removed. Both readings
are drawn: a term counts once {least} of the texts so far hold it; or the terms that {least} of the first
{fixed:,} texts hold are settled first, and one of them counts once it was seen.
"""
    )
    curves = [
        Curve("all terms so far", at, found["all"]),
        Curve(f"held by {least} or more texts so far", at, found["enough"]),
        Curve(f"seen so far, held by {least} or more of {fixed:,}", at[: len(found["seen"])], found["seen"]),
    ]
    page.figure(
        "growth",
        "Terms against texts. A line at 45° would grow as fast as the collection.",
        lines({name: curves}, x="texts", y="terms", log_x=True, log_y=True, size=(6.4, 4.2)),
    )
    page.table(
        ["texts", *(curve.name for curve in curves)],
        [
            (n, found["all"][i], found["enough"][i], found["seen"][i] if i < len(found["seen"]) else None)
            for i, n in enumerate(at)
            if str(n).strip("0") == "1" or n == at[-1]
        ],
    )
    raw = [labelled(results)[0], RAW_TWEETS, RAW_QUESTIONS, name]
    held = [
        Curve(other, _fact(results, other, "held_by"), _shares(_fact(results, other, "terms_held")))
        for other in raw
    ]
    page.figure(
        "frequencies",
        "How many texts hold a term: share of the terms that at least so many texts hold.",
        lines(
            {"": held},
            x="texts that hold a term",
            y="share of terms",
            log_x=True,
            log_y=True,
            size=(6.4, 4.2),
        ),
    )


def _shares(counts: list[int]) -> list[float]:
    return [count / counts[0] for count in counts]


# --- density


def _density(results: Results, page: Page) -> None:
    page.text(
        """
## Density of correlation

Two terms are correlated by texts if a text holds both. They are correlated by co-occurrence if their rows
of PPMI share a term, one that goes with either more often than chance. Two texts are correlated if they
share a term. Density is the share of pairs, each with itself too, that are correlated. They are counted
exactly, by sparse products for a few rows at a time; no matrix of all pairs is ever held.
"""
    )
    said = ("Tweet, paper", None, *(f"{share:.4f}" for share in PAPER_DENSITY), None)
    rows = [
        (f"{found.trial.collection}, here", *(f"{found.values[name]:.4f}" for name in
         ("occupied", "by_texts", "by_company", "of_texts")))
        for found in results.values("tnmf-density")
    ]  # fmt: skip
    page.table(
        ["data", "texts × terms", "terms, by texts", "terms, by co-occurrence", "texts"], [said, *rows]
    )


def _pictures(matrices: dict[str, list[list[float]]]) -> Figure:
    """Matrices of cosines: shades by their root, as most are small; zero is white."""
    import numpy as np
    from matplotlib.colors import PowerNorm

    from coterie_papers.figures import look, panels

    with look():
        figure, axes = panels(len(matrices), 2, (4.2, 4.0))
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            values = np.ma.masked_equal(np.array(matrix), 0.0)
            shown = ax.imshow(
                values, cmap="viridis_r", norm=PowerNorm(0.5, 0.0, 1.0), interpolation="nearest"
            )
            ax.grid(visible=False)
            ax.set(title=title, xlabel="term", ylabel="term")
        figure.colorbar(shown, ax=axes, label="cosine", shrink=0.85, ticks=[0, 0.05, 0.2, 0.5, 1])
    return figure


# --- words, time


def _words(results: Results, page: Page) -> None:
    read = results.distinct("method", "tnmf-words")
    found = {method: results.one("tnmf-words", method=method) for method in read}
    (k,) = results.distinct("k", "tnmf-words")
    (name,) = results.distinct("collection", "tnmf-words")
    page.text(
        f"""
## Top words

The paper's Table 2 has four topics of its Tweet data. Here are those of `{name}`: for its four largest
classes, the topic (K = {k}, first run) that holds most of their texts, with its five top words. Labels choose
which topics are shown, not how they are learned. The second column has the terms that most texts of the class
hold. The paper shows no words of SymNMF.
"""
    )
    first = found[read[0]]
    page.table(
        ["class", "usual terms", *(CONTENDERS[method].label for method in read)],
        [
            (label, " ".join(first["usual"][i]), *(" ".join(found[method]["words"][i]) for method in read))
            for i, label in enumerate(first["classes"])
        ],
    )
    page.text(
        """
The paper judges topics by reading them. Here are numbers: coherence, the mean NPMI of pairs of a topic's ten
top words with texts as windows (−1 … 1), and how common a top word is, the share of texts that hold it.
"""
    )
    names = [PREPARED_TWEETS, *labelled(results)]
    smallest = {other: min(results.distinct("k", "tnmf-topics", collection=other)) for other in names}
    rows = []
    for method in (*METHODS, *TUNED):
        row: list[Any] = [CONTENDERS[method].label]
        for other, at in smallest.items():
            if method not in methods_of(results, other):
                row += [None, None]
                continue
            where = {"kind": "tnmf-topics", "collection": other, "method": method, "k": at}
            row.append(with_spread(results, "coherence", **where))
            row.append(f"{100 * results.mean('common', **where):.2f}")
        rows.append(row)
    header = ["method"]
    for other, at in smallest.items():
        header += [f"{other}, K = {at}, coherence", "common (%)"]
    page.table(header, rows)


def _time(results: Results, page: Page) -> None:
    name = labelled(results)[1]
    minutes = sum(outcome.seconds for outcome in results.outcomes) / 60
    page.text(
        f"""
## Time

CPU seconds of one core, with one BLAS thread, to learn topics of `{name}` and infer the memberships of its
texts once. All trials of this page took {minutes:.1f} CPU minutes.
"""
    )
    found = {method: over(results, "seconds", name, method) for method in methods_of(results, name)}
    at = found[METHODS[0]][0]
    page.table(
        ["CPU seconds", *(f"K = {k}" for k in at)],
        [(CONTENDERS[m].label, *(f"{s:.2f}" for s in means)) for m, (_, means, _) in found.items()],
    )
