"""How honest confidence is: of the texts of labelled sets that get a confidence, how many are where they belong.

    python benchmarks/confidence.py run [--set NAME ...]
    python benchmarks/confidence.py fit
    python benchmarks/confidence.py page

`run` fits topics and keeps them in `run/confidence`, one file for each fit, so that a run that was stopped goes on
where it was; delete a file to run it again. It takes a few minutes on one core. `fit` prints the
coefficients of `coterie.topics.confidence`; labels are used there, and to score. `page` writes docs/confidence.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from coterie import Coterie, Vectorizer, datasets
from coterie.linalg.canonical import canonical
from coterie.methods import make
from coterie.topics import confidence
from coterie.topics.confidence import COEFFICIENTS, learn_confidence
from coterie_papers.bench.collections import words_of
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "confidence.md"
CACHE = Path(__file__).parents[1] / "run" / "confidence"
SETS = (
    "searchsnippets", "stackoverflow", "tweet", "agnews-test", "agnews", "googlenews-ts", "titles", "thucnews20k",
    "debian", "sample", "classic4", "reuters4", "wordnet", "reddit",
)  # fmt: skip
#: Sets that are the same texts, differently prepared, are one source.
SOURCE = {"agnews-test": "agnews"}
#: Most texts of a set; more are drawn at random. Of reddit so many classes are drawn first.
MOST_TEXTS, REDDIT_CLASSES = 20_000, 30
#: Topics of half of the texts, and confidence of the other half.
NEW = "new"
ASKED = ("memberships", "vectors", "n_words")
#: A second method, whose memberships are of another kind.
OTHER, OTHER_SETS = (
    "nmf-ncut",
    ("searchsnippets", "stackoverflow", "tweet", "agnews-test", "debian", "sample"),
)

#: Starts of `Coterie` with as many topics as classes; two with other numbers.
STARTS = 3
#: How much of the weight of a set goes to fits with so many topics as a multiple of the classes.
WEIGHT = {0.5: 0.25, 1: 0.5, 2: 0.25}
#: A text is sure from here on; fewer sure texts than this share of a set say nothing.
SURE, FEW = 0.8, 0.01
BINS = np.linspace(0, 1, 11)


@dataclass(frozen=True)
class Case:
    """A fit: a set, a method, the number of topics as a multiple of that of the classes, and the seed."""

    name: str
    method: str
    multiple: float
    seed: int

    @property
    def file(self):
        return CACHE / f"{self.name}@{self.method}-{self.multiple:g}-{self.seed}.npz"


def cases(name):
    found = [Case(name, "coterie", 1, seed) for seed in range(STARTS)]
    found += [Case(name, "coterie", multiple, seed) for multiple in (0.5, 2) for seed in range(2)]
    return found + ([Case(name, OTHER, 1, 0)] if name in OTHER_SETS else [])


# --- run


def drawn(name):
    """Texts and labels of a set, or of a part of it that was drawn at random."""
    data = datasets.load(name)
    random = np.random.RandomState(0)
    labels = np.unique(data.labels, return_inverse=True)[1]
    rows = np.arange(len(labels))
    if name == "reddit":
        sizes = np.bincount(labels)
        rows = rows[
            np.isin(labels, random.choice(np.flatnonzero(sizes >= 400), REDDIT_CLASSES, replace=False))
        ]
    if len(rows) > MOST_TEXTS:
        rows = np.sort(random.choice(rows, MOST_TEXTS, replace=False))
    return [data.texts[row] for row in rows], np.unique(labels[rows], return_inverse=True)[1], data


def counts(data, texts):
    return Vectorizer(**words_of(data)).fit_transform(texts).tocsr()


def keep(file, **arrays):
    """Write as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with part.open("wb") as out:
        np.savez(out, **arrays)
    part.replace(file)


def run(names):
    """Every fit that is not there yet."""
    warnings.simplefilter("ignore")  # a topic that stays empty is part of the figure
    for name in names:
        missing = [case for case in [*cases(name), Case(name, NEW, 1, 0)] if not case.file.exists()]
        if missing:
            texts, labels, data = drawn(name)
            X = counts(data, texts)
        for case in missing:
            if case.method == NEW:
                half = np.random.RandomState(5).permutation(len(labels)) % 2 == 0
                measure(case, X, labels, half, ~half)
            else:
                measure(case, X, labels, np.ones(len(labels), dtype=bool))
            print(case.file.stem, flush=True)


def measure(case, X, labels, fitted, scored=None):
    """Keep what confidence asks for: of the distinct texts that were fitted, and of others that are scored."""
    n_topics = max(2, round(case.multiple * (labels.max() + 1)))
    space = Coterie(n_topics, random_state=case.seed).fit(X[fitted])
    model = make(case.method, n_topics, case.seed).fit(X[fitted]) if case.method == OTHER else space
    found = canonical(X[fitted])
    arrays = _asked(model, space, found.X[:, np.argsort(found.columns)])
    topics = arrays["memberships"].argmax(axis=1)[found.rows]
    together = np.zeros((n_topics, labels.max() + 1))
    np.add.at(together, (topics, labels[fitted]), 1)
    majority = together.argmax(axis=1)
    arrays["weights"] = found.weights
    if scored is None:
        arrays["right"] = np.bincount(found.rows, majority[topics] == labels[fitted], len(found.weights))
    else:
        others = _asked(model, space, X[scored])
        arrays["right"] = (majority[others["memberships"].argmax(axis=1)] == labels[scored]).astype(float)
        arrays |= {f"new_{key}": value for key, value in others.items()}
    keep(case.file, **arrays)


def _asked(model, space, X):
    memberships, text_vectors = model.transform(X), space.embed(X)
    total = memberships.sum(axis=1, keepdims=True)
    return {
        "memberships": (memberships / np.where(total > 0, total, 1)).astype(np.float32),
        "vectors": text_vectors.astype(np.float32),
        "n_words": np.diff(X[:, space.term_weights_ > 0].indptr),
    }


# --- what came out


@dataclass(frozen=True)
class Outcome:
    """The distinct texts of a fit: what confidence is made of, and how many of the texts are where they belong.

    `right[i]` of `weights[i]` texts are in the class that most texts of their topic are in.
    """

    case: Case
    n_topics: int
    evidence: np.ndarray
    known: np.ndarray
    shares: np.ndarray
    confidence: np.ndarray
    right: np.ndarray
    weights: np.ndarray

    def by(self, coefficients):
        """Confidence by other coefficients."""
        scores = coefficients[0] + self.evidence @ coefficients[1:]
        return np.where(self.known, 1 / (1 + np.exp(-scores)), 0.0)


def outcome(case, random_state=0):
    kept = dict(np.load(case.file))
    fitted = [kept[key].astype(float) for key in ASKED]
    learned = learn_confidence(*fitted, kept["weights"], random_state=random_state)
    new = case.method == NEW
    scored = [kept[f"new_{key}"].astype(float) for key in ASKED] if new else fitted
    return Outcome(
        case, scored[0].shape[1], learned.evidence(*scored), scored[0].any(axis=1), scored[0].max(axis=1),
        learned.of(*scored), kept["right"], np.ones(len(scored[0])) if new else kept["weights"],
    )  # fmt: skip


def outcomes():
    """Of every fit that was kept."""
    wanted = [case for name in SETS for case in [*cases(name), Case(name, NEW, 1, 0)]]
    return [outcome(case) for case in wanted if case.file.exists()]


def source(name):
    return SOURCE.get(name, name)


# --- fit


def fitted(found):
    """Coefficients by weighted logistic regression: each source weighs the same."""
    found = [one for one in found if one.case.method == "coterie"]
    rows, right, wrong = [], [], []
    for one in found:
        alike = sum(o.case.name == one.case.name and o.case.multiple == one.case.multiple for o in found)
        sets = len({o.case.name for o in found if source(o.case.name) == source(one.case.name)})
        scale = WEIGHT[one.case.multiple] / alike / sets / one.weights[one.known].sum()
        rows.append(np.insert(one.evidence[one.known], 0, 1.0, axis=1))
        right.append(scale * one.right[one.known])
        wrong.append(scale * (one.weights - one.right)[one.known])
    return _logistic(np.concatenate(rows), np.concatenate(right), np.concatenate(wrong))


def _logistic(rows, right, wrong):
    """Newton's method."""
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ ((right + wrong) * share - right)
        curve = (rows.T * ((right + wrong) * share * (1 - share))) @ rows
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    return found


def left_out(found):
    """For each source, coefficients that were fitted without it."""
    sources = sorted({source(one.case.name) for one in found})
    return {name: fitted([one for one in found if source(one.case.name) != name]) for name in sources}


# --- page


@dataclass(frozen=True)
class Score:
    """Over fits of one set: share of texts that are `SURE`, how many of them are right (also in the worst fit)."""

    coverage: float
    right: float | None
    worst: float | None
    ranking: float

    @classmethod
    def of(cls, group, confidences):
        sure = [number >= SURE for number in confidences]
        mass = np.array([one.weights[some].sum() for one, some in zip(group, sure, strict=True)])
        right = np.array([one.right[some].sum() for one, some in zip(group, sure, strict=True)])
        totals = np.array([one.weights.sum() for one in group])
        enough = mass > FEW * totals
        ranking = np.mean(
            [_ranking(c, one.right, one.weights) for one, c in zip(group, confidences, strict=True)]
        )
        return cls(
            float(np.mean(mass / totals)),
            float(right.sum() / mass.sum()) if enough.any() else None,
            float((right / np.maximum(mass, 1))[enough].min()) if enough.any() else None,
            float(ranking),
        )


def _ranking(number, right, weights):
    """The chance that of a right and a wrong text the right one has the higher confidence (AUC)."""
    _, place = np.unique(number, return_inverse=True)
    right, wrong = np.bincount(place, right), np.bincount(place, weights - right)
    below = np.cumsum(wrong) - wrong
    return float(((below + wrong / 2) @ right) / max(right.sum() * wrong.sum(), 1e-9))


def percent(share):
    return "–" if share is None else f"{100 * share:.0f} %"


def mean(values):
    values = [value for value in values if value is not None]
    return float(np.mean(values)) if values else None


def groups(found, method, multiple):
    """Fits of each set by a method and a number of topics."""
    kept = [one for one in found if (one.case.method, one.case.multiple) == (method, multiple)]
    return {
        name: [one for one in kept if one.case.name == name]
        for name in dict.fromkeys(o.case.name for o in kept)
    }


def main_table(found, without):
    rows, scores = [], []
    for name, group in groups(found, "coterie", 1).items():
        shares = Score.of(group, [one.shares for one in group])
        fit = Score.of(group, [one.confidence for one in group])
        out = Score.of(group, [one.by(without[source(name)]) for one in group])
        everyone = mean(one.right.sum() / one.weights.sum() for one in group)
        scores.append((everyone, shares, fit, out))
        rows.append([name, f"{int(group[0].weights.sum()):,}", _topics(group), *_cells(*scores[-1])])
    everyone = mean(score[0] for score in scores)
    means = [
        Score(
            *(
                mean(getattr(score[i], part) for score in scores)
                for part in ("coverage", "right", "worst", "ranking")
            )
        )
        for i in (1, 2, 3)
    ]
    rows.append(["**mean**", "", "", *_cells(everyone, *means)])
    return table(
        ["set", "texts", "topics", "all texts", "share ≥ .8: texts", "right", "in-sample: texts", "right",
         "left out: texts", "right", "worst start", "ranking by share", "by confidence"],
        rows, raw=True,
    ), scores  # fmt: skip


def _cells(everyone, shares, fit, out):
    figures = [
        everyone,
        shares.coverage,
        shares.right,
        fit.coverage,
        fit.right,
        out.coverage,
        out.right,
        out.worst,
    ]
    return [*map(percent, figures), f"{shares.ranking:.2f}", f"{out.ranking:.2f}"]


def _topics(group):
    used = sorted({one.n_topics for one in group})
    return str(used[0]) if len(used) == 1 else f"{used[0]}–{used[-1]}"


def reliability_table(found, without):
    """Confidence against what was seen, each set with the same weight."""
    kept = groups(found, "coterie", 1)
    mass, said, right = np.zeros((3, len(BINS) - 1))
    for name, group in kept.items():
        for one in group:
            number = one.by(without[source(name)])
            place = np.clip(np.searchsorted(BINS, number, side="right") - 1, 0, len(BINS) - 2)
            scale = 1 / one.weights.sum() / len(group) / len(kept)
            mass += np.bincount(place, scale * one.weights, len(mass))
            said += np.bincount(place, scale * one.weights * number, len(mass))
            right += np.bincount(place, scale * one.right, len(mass))
    rows = [
        [f"{low:.1f} – {high:.1f}", percent(m), percent(s / m if m else None), percent(r / m if m else None)]
        for low, high, m, s, r in zip(BINS, BINS[1:], mass, said, right, strict=False)
    ]
    return table(["confidence", "texts", "mean confidence", "right"], rows, raw=True)


def other_table(found, without):
    """Other numbers of topics, and another method."""
    columns = [(NEW, 1), ("coterie", 0.5), ("coterie", 2), (OTHER, 1)]
    by_column = [groups(found, *column) for column in columns]
    rows, broken = [], []
    for name in by_column[0]:
        row = [name]
        for (method, multiple), column in zip(columns, by_column, strict=True):
            group = column.get(name, [])
            if not group:
                row += ["", "", ""]
                continue
            score = Score.of(group, [one.by(without[source(name)]) for one in group])
            row += [
                percent(mean(o.right.sum() / o.weights.sum() for o in group)),
                percent(score.coverage),
                percent(score.right),
            ]
            if _bold(score.right):
                broken.append((method, multiple, name))
        rows.append(row)
    header = ["set"]
    for title in ("new texts", "half", "double", OTHER):
        header += [f"{title}: all texts", "sure", "right"]
    return table(header, rows, raw=True), broken


def _listed(names):
    return ", ".join(names) or "none"


def seconds(case):
    """Texts, topics, and how long learning takes: the median of three."""
    kept = dict(np.load(case.file))
    taken = []
    for _ in range(3):
        start = time.process_time()
        learn_confidence(*(kept[key] for key in ASKED), kept["weights"])
        taken.append(time.process_time() - start)
    return *kept["memberships"].shape, float(np.median(taken))


def wander(found):
    """How far the confidence of a text moves with other opinions, by set."""
    first = [one for one in found if one.case == Case(one.case.name, "coterie", 1, 0)]
    others = [outcome(one.case, random_state=1) for one in first]
    return [float(np.abs(a.confidence - b.confidence).mean()) for a, b in zip(first, others, strict=True)]


def page():
    found = outcomes()
    without = left_out(found)
    by_set, scores = main_table(found, without)
    other, broken = other_table(found, without)
    names, moved = list(groups(found, "coterie", 1)), wander(found)

    def where(condition):
        return [name for name, score in zip(names, scores, strict=True) if condition(score)]

    def too_bold(method, multiple):
        return _listed(name for *column, name in broken if column == [method, multiple])

    n_texts, n_topics, took = seconds(Case("stackoverflow", "coterie", 1, 0))
    PAGE.write_text(
        TEMPLATE.format(
            main=by_set, reliability=reliability_table(found, without), other=other, other_name=OTHER,
            sure=percent(SURE), few=percent(FEW), sets=len(names), starts=STARTS,
            opinions=f"{confidence._FEWEST} to {confidence._MOST}",
            coefficients=_listed(f"{c:g}" for c in COEFFICIENTS),
            weight_1=percent(WEIGHT[1]), weight_half=percent(WEIGHT[0.5]), weight_double=percent(WEIGHT[2]),
            held=len(where(lambda score: (score[3].right or 0) >= SURE)),
            failed=_listed(where(lambda score: _bold(score[3].right))),
            unsure=_listed(where(lambda score: score[3].right is None)),
            worst=_listed(where(lambda score: _bold(score[3].worst))),
            bold=_listed(where(lambda score: _bold(score[1].right))),
            seconds=f"{took:.1f}", texts=f"{n_texts:,}", topics=n_topics,
            moved=f"{mean(moved):.3f}", most_moved=f"{max(moved):.3f}",
            new=too_bold(NEW, 1), half=too_bold("coterie", 0.5), double=too_bold("coterie", 2), nmf=too_bold(OTHER, 1),
        ),
        encoding="utf-8",
    )  # fmt: skip


def _bold(right):
    return right is not None and right < SURE


TEMPLATE = """# Confidence

<!-- written by benchmarks/confidence.py -->

Each assigned text has a confidence between 0 and 1: the estimated probability that it belongs to the largest class of its
topic. It is learned without labels, for the topics of any method, by `coterie.topics.confidence`.

## How it is computed

1. **Stability.** Halves of the texts are clustered again, {opinions} times, into as many clusters as there are topics. The
   *purity* of a text is the share of its topic in the clusters that the text falls into: 1 if all their texts are in its
   topic, 0 if no more than among all texts.
2. **Margin.** The lead of the first topic of the text over the second.
3. **Mean purity of all texts.** If the clusterings disagree about everything, nothing is certain, not even a text on
   which all of them agree.
4. **Length.** A text with few words is less certain: 1 / (known words + 1).

A logistic model combines the four, the first three as log-odds. Its coefficients (constant, margin, purity, mean purity,
length) are {coefficients}. They were fitted to the sets below, all with the same
weight: {weight_1} of it for as many topics as there are classes, {weight_half} for half and {weight_double} for twice as
many. Topics that are too broad for the classes are included on purpose: they make confidence cautious. Learning takes
{seconds} s of one core for {texts} texts in {topics} topics.

## How well it is calibrated

A text is *right* if it belongs to the largest class of its topic, and *sure* if its number is at least
{sure}. Topics are those of `Coterie`, as many as there are classes, with {starts} restarts. *Share* is the largest
membership alone. *In-sample* figures use the coefficients above; *left out* figures use coefficients fitted without any
set of the same source, which is what to expect for other texts. *Ranking* is the probability that, of a right and a wrong
text, the right one has the higher number. A dash means that no fit has more than {few} sure texts.

{main}

Of {sets} sets, {held} have at least {sure} of their sure texts right with coefficients fitted without them. Overconfident:
{failed}; with hardly any sure text: {unsure}. Overconfident in a single restart: {worst}. The share alone is overconfident
on {bold}.

## Of texts with a confidence of p, about p are right

With coefficients fitted without the set; each set has the same weight.

{reliability}

## New texts, other numbers of topics, another method

Topics learned from one half of the texts and confidence of the other half; half and twice as many topics as classes; and
`{other_name}` with as many, its memberships scaled to a sum of 1. All with coefficients fitted without the set.

{other}

## Limitations

- **Topics broader than the classes.** If two classes form one topic in every clustering, the texts cannot show it.
  Overconfident with half as many topics as classes: {half}; with twice as many: {double}; with as many, on new texts:
  {new}.
- **Other methods** are judged with coefficients fitted to `Coterie`. Overconfident for `{other_name}`: {nmf}.
- **Labels are one way to group texts.** If words group them in another way, confidence refers to the grouping by words:
  the most certain texts of `sample` are those in German and in French, whatever they are about.
- **It is cautious.** Some sets have mostly right texts and few sure ones; that is the price for not being overconfident on
  others.
- **The clusterings are random.** With another random state the confidence of a text changes by {moved} on average, and by
  {most_moved} on the set where it changes most.
- The figures are based on {sets} sets, which were also used to choose the features; other kinds of texts may differ from
  them by more than these sets differ from each other.
"""


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "fit", "page"])
    parser.add_argument("--set", nargs="+", choices=SETS, default=SETS, dest="sets")
    chosen = parser.parse_args(arguments)
    if chosen.what == "run":
        run(chosen.sets)
    elif chosen.what == "fit":
        print("COEFFICIENTS =", tuple(fitted(outcomes()).round(2).tolist()))
    else:
        page()


if __name__ == "__main__":
    main(sys.argv[1:])
