"""docs/quality.md from the results that `quality.py run` left behind; nothing is computed here but means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev

from contenders import COMPARED
from coterie_papers.bench.markdown import NONE, table
from coterie_papers.bench.store import Store
from quality import LIMIT, MAIN, SETS, STORE, TOO_LONG, result

PAGE = Path(__file__).parents[1] / "docs" / "quality.md"
NOT_RUN = "not run"
#: Methods for short texts that came after the papers; their table can be written without the rest of the page.
LATER = (
    "coterie", "gsdmm", "gsdmm-plus", "gsdmm-plus-unmerged", "btm", "ptm", "anchor-words", "wc-nmtf", "seanmf"
)  # fmt: skip
MARKS = "<!-- later methods -->", "<!-- end of later methods -->"


@dataclass(frozen=True)
class Measure:
    """How a measure is read from the runs of a method on a set, shown, and ranked."""

    key: str
    title: str
    about: str
    places: int = 1
    scale: float = 100.0
    spread: bool = True
    larger: bool = True

    def value(self, runs):
        """Mean over seeds; the median for seconds and memory, which single runs may spoil."""
        values = [self.scale * run[self.key] for run in runs]
        return (fmean if self.larger else median)(values)

    def shown(self, value, runs=()):
        spread = stdev([self.scale * run[self.key] for run in runs]) if self.spread and len(runs) > 1 else 0.0
        sd = f" ± {spread:.{self.places}f}" if self.spread and len(runs) > 1 else ""
        return f"{value:,.{self.places}f}{sd}"


MEASURES = (
    Measure("accuracy", "Accuracy", "Share of texts in the right topic when each label is given one topic, in %."),
    Measure("nmi", "NMI", "Normalised mutual information of labels and topics, in %."),
    Measure("ari", "ARI", "Adjusted Rand index, in %; 0 for random topics."),
    Measure("npmi", "Coherence, NPMI", "Mean NPMI of the ten top terms of a topic, in windows of ten words of the "
            "same texts, times 100."),
    Measure("c_v", "Coherence, C_V", "The measure C_V of the ten top terms, times 100. It also rewards terms that avoid "
            "each other; read it beside NPMI."),
    Measure("diversity", "Diversity", "Share of different terms among the ten top terms of all topics, in %.", spread=False),
    Measure("cpu", "Seconds", "Processor seconds of one fit on one core, after tokenising, median. For methods on "
            "embeddings the time of embedding the texts is in it.", scale=1.0, spread=False, larger=False),
    Measure("megabytes", "Memory", "Largest resident memory of the process during a fit in MB, median: interpreter, "
            "libraries and texts included; the embedding model is not loaded.", places=0, scale=1.0, spread=False, larger=False),
)  # fmt: skip

HEAD = """# Quality

Written by `make quality`; nothing here is typed by hand.

Every method gets the same texts, and the number of labels as its number of topics. Labels are used only for scoring. Methods
on counts get the same counts, those of `Vectorizer(min_df=2)`. Each method has one set of parameters for all sets:
its defaults, or what the notes say. The defaults of coterie were chosen by comparing variants on these and other
labelled sets, so its figures here are not those of fresh data. MiniLM and WordLlama are embeddings that were trained on
other texts, so they use more than the collection. MiniLM is a model for English. How coterie does with embeddings beside its
parts, on intents and tickets, and on small collections, is in [experiments](experiments.md#embeddings-beside-their-parts).
"""

NOTES = """
- GSDMM: α = β = 0.1, 30 rounds, from one random start, as many clusters as labels.
- GSDMM+ begins with 500 clusters, as in its authors' program, and merges them down to the number of labels; where nothing is merged,
  it begins with as many clusters as labels.
- BTM is the one of coterie: α = 50 / K, β = 0.01, pairs of different terms of a text, 100 rounds. PTM has ten pseudo-documents for
  each topic, α = 0.1, β = 0.01 and 500 rounds. Anchor words, WC-NMTF and SeaNMF have their defaults.
- LDA (scikit-learn) is variational with its defaults; LDA (tomotopy) samples 500 rounds with α = 0.1, η = 0.1.
- The biterm topic model of bitermplus has α = 50 / K, β = 0.01, windows of 15 words and 100 rounds.
- NMF over keywords is made after KeyNMF: a text is its 25 words whose embedding is nearest to that of the text.
- NMF with Ncut weights is the paper's algorithm, which divides weights by the largest; with the robust scale they are
  divided by their 95th percentile, so that one rare term does not press all others.
- BERTopic runs its own UMAP, and k-means in place of HDBSCAN because the number of topics is given.
- Clusters without terms of their own (k-means on embeddings) get those that rank first by p(w|k)·log(p(w|k)/p(w)).
- Topics that no text belongs to are left out of coherence and diversity.
- The machine did other work at the same time. Processor time does not see that; still, read ratios, not seconds.
"""


def known(store):
    """All that is known: the runs of each method on each set, and why there are not more of them."""
    return {(method, name): result(store, method, name) for method in COMPARED for name in SETS}


def marked(rows, measure):
    """Rows of (text, value): the best of each column in bold, all of those that look the same."""
    columns = list(zip(*rows, strict=True))
    for column in columns:
        values = [value for _, value in column if value is not None]
        best = (max if measure.larger else min)(values, default=None)
        spelled = None if best is None else measure.shown(best)
        yield [
            f"**{text}**" if value is not None and measure.shown(value) == spelled else text
            for text, value in column
        ]


def by_set(found, measure, names, methods):
    """One measure: methods as rows, sets as columns."""
    rows = []
    for method in methods:
        row = []
        for name in names:
            runs, _ = found[method, name]
            value = measure.value(runs) if runs else None
            row.append((measure.shown(value, runs), value) if runs else (NONE, None))
        rows.append(row)
    columns = list(marked(rows, measure))
    body = [
        [COMPARED[m].title, *cells_] for m, cells_ in zip(methods, zip(*columns, strict=True), strict=True)
    ]
    return table(["", *names], body, raw=True)


def means(found, names, methods):
    """The mean over sets of each measure; only for methods that have a result on every one of them."""
    rows, whole = [], [m for m in methods if all(found[m, name][0] for name in names)]
    for method in whole:
        row = []
        for measure in MEASURES:
            value = fmean(measure.value(found[method, name][0]) for name in names)
            row.append((measure.shown(value), value))
        rows.append(row)
    if not rows:
        return "No method has results on all of them yet."
    columns = [next(iter(marked([[row[i]] for row in rows], measure))) for i, measure in enumerate(MEASURES)]
    seeds = [_seeds(found, method, names) for method in whole]
    body = [
        [COMPARED[m].title, *cells_, n]
        for m, cells_, n in zip(whole, zip(*columns, strict=True), seeds, strict=True)
    ]
    return table(["", *(measure.title for measure in MEASURES), "seeds"], body, raw=True)


def _seeds(found, method, names):
    counts = sorted({len(found[method, name][0]) for name in names})
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"


def gaps(found, names, methods):
    """What is missing and why, method by method."""
    reasons = {}
    for method in methods:
        for name in names:
            runs, why = found[method, name]
            if not runs:
                where = reasons.setdefault(why or NOT_RUN, {})
                where.setdefault(COMPARED[method].title, []).append(f"`{name}`")
    spelled = {TOO_LONG: f"More than {LIMIT} processor seconds, and stopped", NOT_RUN: "Not run"}
    return "\n\n".join(
        f"{spelled.get(why, f'Failed ({why})')}: "
        + "; ".join(f"{m} on {', '.join(n)}" for m, n in where.items())
        + "."
        for why, where in reasons.items()
    )


def later(found):
    """Later methods for short texts beside coterie."""
    about = (
        "What was published for short texts after the four papers, without an embedding, beside coterie in one run: means over "
        f"{', '.join(f'`{name}`' for name in MAIN)}. [Notes](#notes) has the settings; nothing was tuned."
    )
    accuracy = next(measure for measure in MEASURES if measure.key == "accuracy")
    methods = [method for method in LATER if any(found[method, name][0] for name in MAIN)]
    return "\n\n".join([
        MARKS[0], "## Later methods for short texts", about, means(found, MAIN, methods),
        "Accuracy on each set:", by_set(found, accuracy, MAIN, methods),
        *([missing] if (missing := gaps(found, MAIN, methods)) else []), MARKS[1],
    ])  # fmt: skip


def page(store):
    found = known(store)
    methods = [method for method in COMPARED if any(found[method, name][0] for name in SETS)]
    names = [name for name in SETS if any(found[method, name][0] for method in methods)]
    parts = [HEAD.strip()]
    parts += [
        "## Means",
        f"Over {', '.join(f'`{name}`' for name in MAIN)}; units as below.",
        means(found, MAIN, methods),
    ]
    if set(names) != set(MAIN):
        about = f"Over all {len(names)} sets, for the methods that have results on all of them."
        parts += [about, means(found, names, methods)]
    parts.append(later(found))
    for measure in MEASURES:
        sd = " Mean ± standard deviation over seeds." if measure.spread else ""
        parts += [f"## {measure.title}", measure.about + sd, by_set(found, measure, names, methods)]
    parts += ["## Notes", NOTES.strip()]
    missing = gaps(found, names, methods)
    return "\n\n".join([*parts, *([f"## Gaps\n\n{missing}"] if missing else [])]) + "\n"


def write():
    with Store(STORE) as store:
        PAGE.write_text(page(store), encoding="utf-8")


def write_later():
    """The table of later methods alone, in the page that is there."""
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    with Store(STORE) as store:
        table_of_later = later(known(store))
    PAGE.write_text(before + table_of_later + rest.split(MARKS[1])[1], encoding="utf-8")
