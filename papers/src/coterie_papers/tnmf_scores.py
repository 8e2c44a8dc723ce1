"""The parts of the TNMF page with scores: clusters, other settings, classification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.page import Page
from coterie_papers.tnmf_claims import (
    ALL_MEASURES,
    HEADLINE,
    MEASURES,
    METHODS,
    PAPER_QUESTION,
    PAPER_TITLE,
    TITLES,
    TUNED,
    distances,
    labelled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Settings that are compared with those of the page: method, what is different, how it is called.
OTHERWISE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("tnmf-e", {"similarity": "texts"}, "TNMF_E, S: cosine of the texts that hold two terms"),
    ("tnmf-e", {"similarity": "pearson"}, "TNMF_E, S: correlation of the texts that hold two terms"),
    ("tnmf-e", {"similarity": "ppmi"}, "TNMF_E, S: PPMI of two terms itself"),
    ("tnmf-e", {"diagonal": False}, "TNMF_E, counts without their diagonal"),
    ("tnmf-e", {"init": "rows"}, "TNMF_E, start from the similarities of random terms"),
    ("tnmf-e", {"weights": "idf"}, "TNMF_E, idf weights for the memberships"),
    ("lda", {"alpha": None}, "LDA, priors 50 / K and 0.1"),
)


def clusters(results: Results, page: Page) -> None:
    """Clusters of each collection against its classes."""
    runs = len(results.distinct("seed", "tnmf-topics", collection=TITLES, method="tnmf-e"))
    page.text(
        f"""
## Clustering

A text belongs to the topic with its largest membership. Mean of {runs} runs that differ in their seed, or of
as many as a table says; ± is the standard deviation. Purity and ARI are as the paper defines them. Its
printed NMI divides by the arithmetic mean of both entropies; its figures agree with the geometric mean, as in
the work it cites (Strehl and Ghosh), and so NMI is shown by both and judged by the geometric one. Rows in
italics are the paper's, read off the vector graphics of the author's PDF as far as that was done. That mean,
and what LDA and GNMF are here, were chosen because they agree with the paper's numbers on its Title data.

- LDA: Gibbs sampling, 500 rounds, α = 0.05, β = 0.01, a text has the topics of the last round. The paper does
  not give its priors; these are the author's in the paper on biterms (WWW 2013). "Tuned" is α = β = 0.1 and
  the most likely shares, which our labels favour.
- NMF_E: idf weights, as the paper's remark on its topics implies; ℓ2 penalty 1 on both factors, least squares
  clipped at zero, start from random texts.
- NMF_I: binary texts, no penalty, multiplicative steps, random start.
- GNMF: idf weights, 5 neighbours by cosine, penalty 0.01, start from random texts: the paper took 0.01 where
  0 was best. "Tuned" is penalty 3 and a start from spherical k-means, which our labels favour.
- SymNMF: idf weights, cosine, no more than 60 rounds of descent. The paper has it on Title alone.
- TNMF as above, at most 300 iterations. TNMF_E and TNMF_I share their topics; texts are binary.
"""
    )
    for name in labelled(results):
        page.text(f"### {name}")
        page.figure(f"clusters-{name}", _caption(name), _curves(results, name))
        for measure, shown in ALL_MEASURES.items():
            _scores(results, page, name, measure, shown)
        if name == TITLES:
            _distances(results, page)


def _caption(name: str) -> str:
    said = (
        "those of the same data in the paper"
        if name == TITLES
        else "those of Question, which is another data set, for the order of the methods alone"
    )
    return f"Clusters of {name} against its classes, mean and standard deviation; dashed lines are {said}."


def _curves(results: Results, name: str) -> Figure:
    """Methods as the paper has them, and its numbers; those that we tuned are in the tables alone."""
    from coterie_papers.figures import Curve, lines

    printed = _printed(name)
    return lines(
        {
            shown: [
                *(Curve(m, *over(results, measure, name, m)) for m in _drawn(results, name)),
                *(
                    Curve(m, list(said), list(said.values()), theirs=True)
                    for (of, m), said in printed.items()
                    if of == measure
                ),
            ]
            for measure, shown in MEASURES.items()
        },
        x="number of topics K",
        y=list(MEASURES.values()),
    )


def _printed(name: str) -> dict[tuple[str, str], dict[int, float]]:
    """What the paper printed for these data, or those that they stand in for."""
    return PAPER_TITLE if name == TITLES else PAPER_QUESTION


def methods_of(results: Results, name: str) -> list[str]:
    """The methods that were tried on a collection, those of the paper first."""
    found = results.distinct("method", "tnmf-topics", collection=name)
    return [method for method in (*METHODS, *TUNED) if method in found]


def _drawn(results: Results, name: str) -> list[str]:
    """The methods as the paper has them; those that we tuned would make a figure too full."""
    return [method for method in methods_of(results, name) if method not in TUNED]


def _distances(results: Results, page: Page) -> None:
    """How far the paper's own data is from the paper's own figure."""
    found = distances(results)
    at = list(found[HEADLINE[0]])
    if not at:
        return
    page.text("NMI (geometric mean) here minus that of the paper's Figure 5, on the same data:")
    page.table(
        ["method", *(f"K = {k}" for k in at)],
        [(CONTENDERS[m].label, *(f"{found[m][k]:+.3f}" for k in at)) for m in HEADLINE],
    )


def otherwise(results: Results, page: Page) -> None:
    """What other settings would give: no claim rests on a sentence alone."""
    (k,) = results.distinct("k", "tnmf-other")
    names = labelled(results)
    page.text(
        f"""
### Other settings

NMI (geometric mean) for K = {k} with another setting of TNMF_E or LDA; the first lines are those of this
page. The paper compares S by co-occurrence with S by texts in its pictures alone; here it is in numbers.
"""
    )
    rows: list[list[str]] = []
    for method in dict.fromkeys(method for method, _, _ in OTHERWISE):
        usual = {"kind": "tnmf-topics", "method": method, "k": k}
        cells = [with_spread(results, "nmi_geometric", collection=name, **usual) for name in names]
        rows.append([f"{CONTENDERS[method].label}, this page", *cells])
    for method, different, called in OTHERWISE:
        ((key, value),) = different.items()
        other = {"kind": "tnmf-other", "method": method, key: value}
        cells = [with_spread(results, "nmi_geometric", collection=name, **other) for name in names]
        rows.append([called, *cells])
    page.table(["", *names], rows)


def with_spread(results: Results, value: str, **where: Any) -> str:
    """Mean and standard deviation; a single run has none."""
    mean = results.mean(value, **where)
    several = len(results.numbers(value, **where)) > 1
    return pm(mean, results.spread(value, **where), 3) if several else f"{mean:.3f}"


def over(results: Results, value: str, name: str, method: str) -> tuple[list[int], list[float], list[float]]:
    """Numbers of topics in rising order, means and spreads."""
    found = zip(*results.over("k", value, "tnmf-topics", collection=name, method=method), strict=True)
    at, means, spreads = zip(*sorted(found), strict=True)
    return list(at), list(means), list(spreads)


def _scores(results: Results, page: Page, name: str, value: str, shown: str, *, spread: bool = True) -> None:
    """A row for each method, a column for each number of topics; the best of a column is bold."""
    found = {method: over(results, value, name, method) for method in methods_of(results, name)}
    at = found[METHODS[0]][0]
    printed = _printed(name)
    rows: list[list[Any]] = []
    for method, (_, means, spreads) in found.items():
        runs = len(results.distinct("seed", "tnmf-topics", collection=name, method=method))
        cells: list[str | Raw] = [f"{CONTENDERS[method].label} ({runs} runs)"]
        for i, mean in enumerate(means):
            cell = pm(mean, spreads[i], 3) if spread else f"{mean:.3f}"
            best = mean == max(other[1][i] for other in found.values())
            cells.append(bold(cell) if best else cell)
        rows.append(cells)
        if (value, method) in printed:
            said = printed[value, method]
            called = "*paper*" if name == TITLES else "*paper, Question*"
            rows.append([Raw(called), *(Raw(f"*{said[k]:.3f}*") if k in said else None for k in at)])
    page.table([shown, *(f"K = {k}" for k in at)], rows)


def classification(results: Results, page: Page) -> None:
    """A classifier on the memberships of texts."""
    from coterie_papers.figures import Curve, lines

    page.text(
        """
## Classification

Accuracy of a linear support vector machine (LIBLINEAR, C = 1) on the memberships of texts, trained on four
fifths of them. Rows are brought to unit length, so that no method profits from its scale; the paper does not
say. Each run has another split, the same for all methods. Topics are learned from all texts, without labels.
Memberships of GNMF are those of texts without their neighbours, as a new text would have them. The paper's
Figures 7 and 8 are there as pictures alone, so their numbers are not here.
"""
    )
    names = labelled(results)
    page.figure(
        "classification",
        "Accuracy of a linear SVM on held-out texts, mean and standard deviation over runs.",
        lines(
            {
                name: [Curve(m, *over(results, "svm", name, m)) for m in _drawn(results, name)]
                for name in names
            },
            x="number of topics K",
            y="accuracy",
            size=(4.2, 3.4),
        ),
    )
    for name in names:
        _scores(results, page, name, "svm", f"{name}, accuracy")
