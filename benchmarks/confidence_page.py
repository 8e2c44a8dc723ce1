"""The page docs/confidence.md, from the fits that `benchmarks/confidence.py` has kept."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from confidence import (
    ALONE,
    CHOSEN_ON,
    NEW,
    OTHER,
    PER_CLASS,
    SMALL,
    STARTS,
    STATIC,
    WEIGHT,
    Case,
    fitted,
    given,
    left_out,
    outcome,
    outcomes,
    source,
)  # fmt: skip
from coterie.topics import confidence
from coterie.topics.confidence import COEFFICIENTS, learn_confidence
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "confidence.md"
#: A text is sure from here on; fewer sure texts than this share of a set say nothing.
SURE, FEW = 0.8, 0.01
TENTHS, FIFTHS = np.linspace(0, 1, 11), np.linspace(0, 1, 6)


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


@dataclass(frozen=True)
class Bins:
    """By bin of confidence: the share of the texts, their mean confidence, and the share that is right.

    Each fit has the same weight.
    """

    mass: np.ndarray
    said: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, group, confidences, edges):
        sums = np.zeros((3, len(edges) - 1))
        for one, number in zip(group, confidences, strict=True):
            place = np.clip(np.searchsorted(edges, number, side="right") - 1, 0, len(edges) - 2)
            sums += [
                np.bincount(place, values, len(edges) - 1) / one.weights.sum() / len(group)
                for values in (one.weights, one.weights * number, one.right)
            ]
        return cls(*sums)

    @property
    def error(self):
        """The expected calibration error."""
        return float(np.abs(self.said - self.right).sum())

    def accuracy(self):
        """The share of right texts in each bin, as cells of a table."""
        return [
            percent(right / mass if mass > FEW / 2 else None)
            for right, mass in zip(self.right, self.mass, strict=True)
        ]


def percent(share):
    return "–" if share is None else f"{100 * share:.0f} %"


def mean(values):
    values = [value for value in values if value is not None]
    return float(np.mean(values)) if values else None


def groups(found, *kind):
    """Fits of each set of a kind: small or not, the method, and the number of topics."""
    kept = [one for one in found if one.case.kind == kind]
    return {
        name: [one for one in kept if one.case.name == name]
        for name in dict.fromkeys(o.case.name for o in kept)
    }


def numbers(group, without):
    """Confidence by coefficients that were fitted without the set."""
    return [one.by(without[source(one.case.name)]) for one in group]


def error(group, confidences):
    """The mean expected calibration error of fits."""
    return mean(Bins.of([one], [c], TENTHS).error for one, c in zip(group, confidences, strict=True))


# --- tables


def main_table(found, without):
    rows, scores = [], []
    for name, group in groups(found, False, ALONE, 1).items():
        shares = Score.of(group, [one.shares for one in group])
        fit = Score.of(group, [one.by() for one in group])
        out = Score.of(group, numbers(group, without))
        everyone = mean(one.right.sum() / one.weights.sum() for one in group)
        scores.append((everyone, shares, fit, out))
        rows.append([name, f"{int(group[0].weights.sum()):,}", _topics(group), *_cells(*scores[-1])])
    everyone = mean(score[0] for score in scores)
    parts = ("coverage", "right", "worst", "ranking")
    means = [Score(*(mean(getattr(score[i], part) for score in scores) for part in parts)) for i in (1, 2, 3)]
    rows.append(["**mean**", "", "", *_cells(everyone, *means)])
    return table(
        ["set", "texts", "topics", "all texts", "share ≥ .8: texts", "right", "in-sample: texts", "right",
         "left out: texts", "right", "worst start", "ranking by share", "by confidence"],
        rows, raw=True,
    ), scores  # fmt: skip


def _cells(everyone, shares, fit, out):
    figures = (
        everyone,
        shares.coverage,
        shares.right,
        fit.coverage,
        fit.right,
        out.coverage,
        out.right,
        out.worst,
    )
    return [*map(percent, figures), f"{shares.ranking:.2f}", f"{out.ranking:.2f}"]


def _topics(group):
    used = sorted({one.n_topics for one in group})
    return str(used[0]) if len(used) == 1 else f"{used[0]}–{used[-1]}"


def reliability_table(found, without):
    """Confidence against what was seen, each set with the same weight."""
    group = [one for fits in groups(found, False, ALONE, 1).values() for one in fits]
    bins = Bins.of(group, numbers(group, without), TENTHS)
    rows = [
        [f"{low:.1f} – {high:.1f}", percent(m), percent(s / m if m else None), percent(r / m if m else None)]
        for low, high, m, s, r in zip(TENTHS, TENTHS[1:], bins.mass, bins.said, bins.right, strict=False)
    ]
    return table(["confidence", "texts", "mean confidence", "right"], rows, raw=True)


def fifths_table(found, without, small):
    """For each set: the calibration error, and how many texts of each fifth of confidence are right."""
    by_method = [groups(found, small, method, 1) for method in (ALONE, STATIC)]
    rows, errors = [], []
    for name in by_method[0]:
        row, both = [name], []
        for fits in by_method:
            group = fits.get(name, [])
            confidences = numbers(group, without)
            both.append(error(group, confidences))
            row += [f"{both[-1]:.3f}", *Bins.of(group, confidences, FIFTHS).accuracy()]
        errors.append(both)
        rows.append(row)
    blank = [""] * (len(FIFTHS) - 1)
    alone, static = (f"{mean(column):.3f}" for column in zip(*errors, strict=True))
    rows.append(["**mean**", alone, *blank, static, *blank])
    fifths = [f"{low:.1f} – {high:.1f}" for low, high in pairwise(FIFTHS)]
    return table(["set", "error", *fifths, "static embedding: error", *fifths], rows, raw=True)


def halves_table(found, without):
    """Errors on each half of the sources, with and without the numbers of topics and texts."""
    kinds = {"all texts": (False, ALONE, 1), "static embedding": (False, STATIC, 1),
             "small": (True, ALONE, 1), "small, static embedding": (True, STATIC, 1)}  # fmt: skip
    halves = {
        title: [one for one in found if (source(one.case.name) in CHOSEN_ON) == inside]
        for title, inside in (("chosen on", True), ("confirmed on", False))
    }
    one_left_out = [left_out(found, by_size=False), without]
    rows = []
    for title, there in halves.items():
        other = next(group for name, group in halves.items() if name != title)
        sources = sorted({source(one.case.name) for one in there})
        other_half = [dict.fromkeys(sources, fitted(other, by_size)) for by_size in (False, True)]
        for how, coefficients in (("all other sources", one_left_out), ("the other half", other_half)):
            row = [title, how]
            for kind in kinds.values():
                group = [one for one in there if one.case.kind == kind]
                row += [f"{error(group, numbers(group, c)):.3f}" for c in coefficients]
            rows.append(row)
    header = ["half", "fitted to"]
    for title in kinds:
        header += [f"{title}: without sizes", "with"]
    return table(header, rows, raw=True)


def other_table(found, without):
    """New texts, other numbers of topics, and another method."""
    columns = [(NEW, 1), (ALONE, 0.5), (ALONE, 2), (OTHER, 1)]
    by_column = [groups(found, False, *column) for column in columns]
    rows, broken = [], []
    for name in by_column[0]:
        row = [name]
        for column, fits in zip(columns, by_column, strict=True):
            group = fits.get(name, [])
            if not group:
                row += ["", "", ""]
                continue
            score = Score.of(group, numbers(group, without))
            everyone = mean(o.right.sum() / o.weights.sum() for o in group)
            row += [percent(everyone), percent(score.coverage), percent(score.right)]
            if _bold(score.right):
                broken.append((column, name))
        rows.append(row)
    header = ["set"]
    for title in ("new texts", "half", "double", OTHER):
        header += [f"{title}: all texts", "sure", "right"]
    return table(header, rows, raw=True), broken


# --- figures in the text


def _listed(names):
    return ", ".join(names) or "none"


def seconds(case):
    """Texts, topics, and how long learning takes: the median of three."""
    kept = dict(np.load(case.file))
    asked = given(kept, int(kept["n_topics"]))
    taken = []
    for _ in range(3):
        start = time.process_time()
        learn_confidence(*asked, kept["weights"])
        taken.append(time.process_time() - start)
    return *asked[0].shape, float(np.median(taken))


def wander(found):
    """How far the confidence of a text moves with other opinions, by set."""
    first = [one for one in found if one.case == Case(one.case.name)]
    others = [outcome(one.case, random_state=1) for one in first]
    return [float(np.abs(a.by() - b.by()).mean()) for a, b in zip(first, others, strict=True)]


def _bold(right):
    return right is not None and right < SURE


def page():
    found = outcomes()
    without = left_out(found)
    by_set, scores = main_table(found, without)
    other, broken = other_table(found, without)
    names, moved = list(groups(found, False, ALONE, 1)), wander(found)

    def where(condition):
        return [name for name, score in zip(names, scores, strict=True) if condition(score)]

    def too_bold(*column):
        return _listed(name for where, name in broken if where == column)

    n_texts, n_topics, took = seconds(Case("stackoverflow"))
    PAGE.write_text(
        TEMPLATE.format(
            main=by_set, reliability=reliability_table(found, without), other=other, other_name=OTHER,
            fifths=fifths_table(found, without, False), small=fifths_table(found, without, True),
            halves=halves_table(found, without), sizes=_listed(f"{n:,}" for n in SMALL), per_class=PER_CLASS,
            sure=percent(SURE), few=percent(FEW), sets=len(names), starts=STARTS,
            opinions=f"{confidence._FEWEST} to {confidence._MOST}",
            coefficients=_listed(f"{c:g}" for c in COEFFICIENTS),
            weight_all=percent(WEIGHT[False, ALONE, 1] + WEIGHT[False, STATIC, 1]),
            weight_small=percent(WEIGHT[True, ALONE, 1] + WEIGHT[True, STATIC, 1]),
            weight_half=percent(WEIGHT[False, ALONE, 0.5]), weight_double=percent(WEIGHT[False, ALONE, 2]),
            held=len(where(lambda score: (score[3].right or 0) >= SURE)),
            failed=_listed(where(lambda score: _bold(score[3].right))),
            unsure=_listed(where(lambda score: score[3].right is None)),
            worst=_listed(where(lambda score: _bold(score[3].worst))),
            bold=_listed(where(lambda score: _bold(score[1].right))),
            seconds=f"{took:.1f}", texts=f"{n_texts:,}", topics=n_topics,
            moved=f"{mean(moved):.3f}", most_moved=f"{max(moved):.3f}",
            new=too_bold(NEW, 1), half=too_bold(ALONE, 0.5), double=too_bold(ALONE, 2), nmf=too_bold(OTHER, 1),
        ),
        encoding="utf-8",
    )  # fmt: skip


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
5. **Number of topics, and texts per topic.** Clusterings of many texts agree also where they are wrong, and many topics
   have more ways to be wrong.

A logistic model combines them: the first three as log-odds, the last two as logarithms. Its coefficients (constant, margin,
purity, mean purity, length, topics, texts per topic) are {coefficients}. They were fitted to the sets
below, all with the same weight: {weight_all} of it for all texts and as many topics as there are classes, {weight_small}
for small collections of {sizes} texts, {weight_half} for half and {weight_double} for twice as many topics. Topics that are
too broad for the classes are included on purpose: they make confidence cautious. Learning takes {seconds} s of one core
for {texts} texts in {topics} topics.

## Confidence and memberships

The memberships of a text (`TopicModel.transform`) sum to 1, and the largest is its confidence: those of the method are
raised to a power, which keeps their order. So the topic of a text has its largest membership, the second-best topic
the next, and a text with a confidence of 0.6 has 0.4 left for all other topics. Where this cannot be, the sum
counts: a confidence below 1 / number of topics makes all memberships nearly equal, and topics that tie stay equal. A
pinned text has a membership of 1, one without a known word of 0 everywhere.

## How well it is calibrated

A text is *right* if it belongs to the largest class of its topic, and *sure* if its number is at least
{sure}. Topics are those of `Coterie`, as many as there are classes, with {starts} restarts. *Share* is the largest
membership of the method. *In-sample* figures use the coefficients above; *left out* figures use coefficients fitted without any
set of the same source, which is what to expect for other texts. *Ranking* is the probability that, of a right and a wrong
text, the right one has the higher number. A dash means that no fit has more than {few} sure texts.

{main}

Of {sets} sets, {held} have at least {sure} of their sure texts right with coefficients fitted without them. Overconfident:
{failed}; with hardly any sure text: {unsure}. Overconfident in a single restart: {worst}. The share alone is overconfident
on {bold}.

## Of texts with a confidence of p, about p are right

With coefficients fitted without the set; each set has the same weight.

{reliability}

For a single set this holds less well. *Error* is the expected calibration error: the difference between confidence and the
share of right texts, by tenths of confidence, averaged over texts. The other columns are the share of right texts by
confidence; a dash means hardly any text.

{fifths}

## Small collections

{sizes} texts of each set, drawn at random from so many classes that there are about {per_class} texts of each or more. The mean over
the three sizes, with coefficients fitted without the set.

{small}

## How the features were chosen

The sources were cut into two halves beforehand. Candidates were compared on one half; of two that did about equally well
there, the number of texts alone and the numbers of topics and of texts per topic, the one that did better on the other half
was taken. Mean errors on each half, with coefficients fitted to all other sources, and to the other half alone:

{halves}

## New texts, other numbers of topics, another method

Topics learned from one half of the texts and confidence of the other half; half and twice as many topics as classes; and
`{other_name}` with as many, its memberships scaled to a sum of 1. All with coefficients fitted without the set.

{other}

## Limitations

- **Topics broader than the classes.** If two classes form one topic in every clustering, the texts cannot show it.
  Overconfident with half as many topics as classes: {half}; with twice as many: {double}; with as many, on new texts:
  {new}. Of dozens of fine classes some end up in one topic even if there are as many topics as classes.
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
