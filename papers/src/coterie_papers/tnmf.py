"""TNMF (SDM 2013): topics from the correlation of terms, compared with topics from texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie_papers import tnmf_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.page import Page
from coterie_papers.tnmf_claims import (
    MEASURES,
    METHODS,
    PAPER_DENSITY,
    PREPARED_TWEETS,
    TITLES,
    claims,
    labelled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "TNMF: topics from the correlation of terms (SDM 2013)"

RUNS = 10
SIZES = (20, 40, 60, 80, 100)
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


#: Settings that are compared with those of the page: method, what is different, how it is called.
OTHERWISE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("lda", {"alpha": None}, "LDA, prior of topics 50 / K"),
    ("gnmf", {"regularization": 0.01}, "GNMF, penalty 0.01"),
    ("symnmf", {"max_iter": 300}, "SymNMF, up to 300 rounds"),
    ("tnmf-e", {"init": "random"}, "TNMF_E, start from random numbers"),
)
OTHER_RUNS = 3


def trials(quick: bool) -> list[Trial]:
    """All that the page needs, what takes longest first."""
    questions = "stackoverflow-2k" if quick else "stackoverflow"
    many = "reddit-20k" if quick else "reddit-all"
    sizes, runs, other_runs = ((5, 10), 2, 1) if quick else (SIZES, RUNS, OTHER_RUNS)
    words = sizes[-1] if quick else WORDS
    described = (TITLES, questions, PREPARED_TWEETS, RAW_TWEETS, RAW_QUESTIONS, many)
    return [
        *(
            trial("tnmf-topics", name, method, k=k, seed=seed)
            for k in reversed(sizes)
            for name in (questions, TITLES)
            for method in METHODS
            for seed in range(runs)
        ),
        *(
            trial("cluster", name, method, k=sizes[0], seed=seed, **different)
            for method, different, _ in OTHERWISE
            for name in (TITLES, questions)
            for seed in range(other_runs)
        ),
        trial("tnmf-growth", many, fixed=20_000 if quick else GROWN, least=LEAST),
        *(trial("tnmf-statistics", name) for name in described),
        *(trial("tnmf-density", name) for name in (PREPARED_TWEETS, TITLES, questions)),
        trial("tnmf-picture", PREPARED_TWEETS, terms=100),
        *(trial("tnmf-words", questions, method, k=words, classes=4, top=5) for method in METHODS),
    ]


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    _data(results, page)
    _vocabulary(results, page)
    _density(results, page)
    _clusters(results, page)
    _otherwise(results, page)
    _classification(results, page)
    _words(results, page)
    _time(results, page)
    claims(results, page)


# --- data


def _data(results: Results, page: Page) -> None:
    titles, questions = labelled(results)
    classes = _fact(results, questions, "classes")
    page.text(
        f"""
X. Yan, J. Guo, S. Liu, X. Cheng, Y. Wang: Learning topics in short texts by non-negative matrix factorization
on term correlation matrix. SDM 2013.

## Data

`{titles}` is the paper's own Title data. Its Question data, from a Chinese site, is not at hand:
`{questions}` stands in for it, questions of programmers in English, with {classes} classes. Its Tweet data is
not at hand either: `{PREPARED_TWEETS}` stands in for it.
"""
    )
    rows: list[tuple[Any, ...]] = []
    for said, name in (("Tweet", PREPARED_TWEETS), ("Title", titles), ("Question", questions)):
        rows.append(
            (f"{said}, paper", *PAPER_DATA[said][:2], f"{PAPER_DATA[said][2]:.2f}", PAPER_DATA[said][3])
        )
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

Two terms are correlated by texts if a text holds both. They are correlated by company if their rows of PPMI
share a term, one that goes with either more often than chance. Two texts are correlated if they share a term.
Density is the share of pairs, each with itself too, that are correlated. They are counted exactly, by sparse
products for a few rows at a time; no matrix of all pairs is ever held.
"""
    )
    said = ("Tweet, paper", None, *(f"{share:.4f}" for share in PAPER_DENSITY), None)
    rows = [
        (f"{found.trial.collection}, here", *(f"{found.values[name]:.4f}" for name in
         ("occupied", "by_texts", "by_company", "of_texts")))
        for found in results.values("tnmf-density")
    ]  # fmt: skip
    page.table(["data", "texts × terms", "terms, by texts", "terms, by company", "texts"], [said, *rows])
    (drawn,) = results.values("tnmf-picture")
    n = len(drawn.values["by_texts"])
    page.figure(
        "correlation",
        f"Correlation of {n} terms of {drawn.trial.collection} drawn at random, the most frequent first; "
        "white is exactly zero.",
        _pictures({"by texts": drawn.values["by_texts"], "by company": drawn.values["by_company"]}),
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


# --- clusters, classification


def _clusters(results: Results, page: Page) -> None:
    from coterie_papers.figures import Curve, lines

    runs = len(results.distinct("seed", "tnmf-topics"))
    page.text(
        f"""
## Clustering

A text belongs to the topic with its largest membership. Mean of {runs} runs that differ in their seed; bands
and ± are standard deviations. One setting serves both collections. What the paper leaves open or we do
otherwise:

- LDA: Gibbs sampling, 500 rounds, prior 0.1 on the topics of a text and 0.1 on the terms of a topic. The
  paper tuned them by hand and does not give them.
- NMF_E: idf weights, as the paper's remark on its topics implies; ℓ2 penalty 1 on both factors, least squares
  clipped at zero, start from random texts.
- NMF_I: binary texts, no penalty, multiplicative steps, random start.
- GNMF: idf weights, 5 neighbours by cosine, penalty 3, start from spherical k-means. The paper tuned the
  penalty to each set, and took 0.01 where 0, which is plain NMF, was best.
- SymNMF: idf weights, cosine, no more than 60 rounds of descent.
- TNMF: starts from what random terms are correlated with, not from random numbers. TNMF_E and TNMF_I share
  their topics and differ in the inference for texts, which are binary.
"""
    )
    for name in labelled(results):
        curves = {
            shown: [Curve(m, *_over(results, measure, name, m)) for m in METHODS]
            for measure, shown in MEASURES.items()
        }
        page.text(f"### {name}")
        page.figure(
            f"clusters-{name}",
            f"Clusters of {name} against its classes, mean and standard deviation of {runs} runs.",
            lines(curves, x="number of topics K", y=list(MEASURES.values())),
        )
        for measure, shown in MEASURES.items():
            _scores(results, page, name, measure, shown)


def _otherwise(results: Results, page: Page) -> None:
    """What other settings would give: no claim rests on a sentence alone."""
    (k,) = results.distinct("k", "cluster")
    names = labelled(results)
    page.text(f"### Other settings\n\nNMI for K = {k} with another setting, and with that of this page.")
    rows = []
    for method, different, called in OTHERWISE:
        row: list[str] = [called]
        for name in names:
            (key, value), *_ = different.items()
            other = {"kind": "cluster", "collection": name, "method": method, key: value}
            usual = {"kind": "tnmf-topics", "collection": name, "method": method, "k": k}
            row += [_with_spread(results, "nmi", **where) for where in (other, usual)]
        rows.append(row)
    page.table(["", *(f"{name}, {which}" for name in names for which in ("other", "this page"))], rows)


def _with_spread(results: Results, value: str, **where: Any) -> str:
    """Mean and standard deviation; a single run has none."""
    mean = results.mean(value, **where)
    several = len(results.numbers(value, **where)) > 1
    return pm(mean, results.spread(value, **where), 3) if several else f"{mean:.3f}"


def _over(results: Results, value: str, name: str, method: str) -> tuple[list[int], list[float], list[float]]:
    """Numbers of topics in rising order, means and spreads."""
    found = zip(*results.over("k", value, "tnmf-topics", collection=name, method=method), strict=True)
    at, means, spreads = zip(*sorted(found), strict=True)
    return list(at), list(means), list(spreads)


def _scores(results: Results, page: Page, name: str, value: str, shown: str, *, spread: bool = True) -> None:
    """A row for each method, a column for each number of topics; the best of a column is bold."""
    found = {method: _over(results, value, name, method) for method in METHODS}
    at = found[METHODS[0]][0]
    rows = []
    for method, (_, means, spreads) in found.items():
        cells: list[str | Raw] = [CONTENDERS[method].label]
        for i, mean in enumerate(means):
            cell = pm(mean, spreads[i], 3) if spread else f"{mean:.3f}"
            best = mean == max(other[1][i] for other in found.values())
            cells.append(bold(cell) if best else cell)
        rows.append(cells)
    page.table([shown, *(f"K = {k}" for k in at)], rows)


def _classification(results: Results, page: Page) -> None:
    from coterie_papers.figures import Curve, lines

    page.text(
        """
## Classification

Accuracy of a linear support vector machine (LIBLINEAR, C = 1) on the memberships of texts, trained on four
fifths of them. Rows are brought to unit length, so that no method profits from its scale; the paper does not
say. Each run has another split, the same for all methods. Topics are learned from all texts, without labels.
Memberships of GNMF are those of texts without their neighbours, as a new text would have them.
"""
    )
    names = labelled(results)
    page.figure(
        "classification",
        "Accuracy of a linear SVM on held-out texts, mean and standard deviation over runs.",
        lines(
            {name: [Curve(m, *_over(results, "svm", name, m)) for m in METHODS] for name in names},
            x="number of topics K",
            y="accuracy",
            size=(4.8, 3.4),
        ),
    )
    for name in names:
        _scores(results, page, name, "svm", f"{name}, accuracy")


# --- words, time


def _words(results: Results, page: Page) -> None:
    found = {method: results.one("tnmf-words", method=method) for method in METHODS}
    (k,) = results.distinct("k", "tnmf-words")
    (name,) = results.distinct("collection", "tnmf-words")
    page.text(
        f"""
## Top words

For four classes of `{name}`, spread evenly over the alphabet, the topic (K = {k}, first run) that holds most
of their texts, with its five top words. Labels choose which topics are shown, not how they are learned. The
paper shows none of SymNMF; here they are the mean of a topic's texts.
"""
    )
    classes = found[METHODS[0]]["classes"]
    page.table(
        ["class", *(CONTENDERS[method].label for method in METHODS)],
        [
            (label, *(" ".join(found[method]["words"][i]) for method in METHODS))
            for i, label in enumerate(classes)
        ],
    )
    page.text(
        """
The paper judges topics by reading them. Here are numbers: coherence, the mean NPMI of pairs of a topic's ten
top words with texts as windows (−1 … 1), and how common a top word is, the share of texts that hold it.
"""
    )
    first = min(results.distinct("k", "tnmf-topics"))
    rows = []
    for method in METHODS:
        row: list[Any] = [CONTENDERS[method].label]
        for collection in labelled(results):
            where = {"kind": "tnmf-topics", "collection": collection, "method": method, "k": first}
            row.append(_with_spread(results, "coherence", **where))
            row.append(f"{100 * results.mean('common', **where):.2f}")
        rows.append(row)
    header = [f"K = {first}"]
    for collection in labelled(results):
        header += [f"{collection}, coherence", f"{collection}, common (%)"]
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
    found = {method: _over(results, "seconds", name, method) for method in METHODS}
    at = found[METHODS[0]][0]
    page.table(
        ["CPU seconds", *(f"K = {k}" for k in at)],
        [(CONTENDERS[m].label, *(f"{s:.2f}" for s in means)) for m, (_, means, _) in found.items()],
    )
