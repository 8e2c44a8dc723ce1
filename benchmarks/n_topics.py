"""The number of topics read from the data, on labelled sets and parts of them; writes docs/experiments.md.

`python benchmarks/n_topics.py` takes about twenty minutes on one core. What is measured is kept in run/n_topics, a file for
each problem; delete them after a change to how it is measured. Labels only score, and fit the coefficients of
`coterie.cluster.n_topics`; errors are given for coefficients fitted without any set of the same source.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize

from coterie import Vectorizer, datasets
from coterie.cluster import n_topics as rule
from coterie.cluster.space import learn_space, terms_that_count
from coterie.cluster.structure import IN_COMMON, UNSTRUCTURED, _dealt_out, in_common_ratio, structure_ratio
from coterie.engines import Block, as_engine
from coterie.engines.threads import one_blas_thread
from coterie.linalg.canonical import canonical
from coterie_papers.bench.markdown import table
from refinement import PAGE, write_section

KEPT = Path(__file__).parents[1] / "run" / "n_topics"
#: Set, number of classes drawn at random (0: all), largest number of texts drawn at random (0: all).
LARGE = (
    [("titles", 0, 0), ("searchsnippets", 0, 0), ("searchsnippets", 3, 0), ("stackoverflow", 0, 0)]
    + [("stackoverflow", 12, 6000), ("stackoverflow", 5, 0), ("stackoverflow", 2, 0)]
    + [("tweet", 0, 0), ("tweet", 30, 0), ("tweet", 12, 0)]
    + [("googlenews-ts", k, 0) for k in (0, 75, 30, 12, 5)]
    + [("agnews", 0, 0), ("agnews", 2, 0), ("agnews-test", 0, 3000), ("agnews-test", 3, 0)]
    + [("thucnews20k", 0, 0), ("thucnews20k", 5, 0), ("thucnews20k", 3, 4000)]
    + [("debian", 0, 20000), ("debian", 30, 10000), ("debian", 12, 8000), ("debian", 5, 4000)]
    + [("classic4", 0, 0), ("classic4", 2, 0), ("reuters4", 0, 0), ("reuters4", 3, 0)]
    + [("wordnet", 0, 20000), ("wordnet", 12, 8000), ("wordnet", 5, 4000)]
    + [("reddit", 150, 0), ("reddit", 60, 0), ("reddit", 30, 6000), ("reddit", 12, 0), ("reddit", 5, 0)]
    + [("banking77", k, 0) for k in (0, 40, 12)]
    + [("clinc150", k, 0) for k in (0, 75, 30, 12)]
    + [("it-tickets", 0, 0), ("it-tickets", 4, 6000)]
)
#: Sets of which small collections are drawn: so many texts of at most so many classes.
SMALL = (
    "banking77", "clinc150", "it-tickets", "tweet", "agnews", "searchsnippets", "stackoverflow", "googlenews-ts", "titles",
    "thucnews20k", "debian", "reddit", "classic4", "reuters4", "wordnet",
)  # fmt: skip
SIZES, MOST_CLASSES, DRAWS = (300, 1_000, 2_000), 12, 2
#: Classes with fewer texts are not drawn.
LEAST = {"reddit": 200, "tweet": 10, "googlenews-ts": 10}
#: Sets that are the same texts, differently prepared, are one source.
SOURCE = {"agnews-test": "agnews"}
INTENTS = ("banking77", "clinc150")
#: The half of the sources on which the first choice of features was made.
FIRST_HALF = ("banking77", "debian", "reddit", "wordnet", "classic4", "reuters4", "stackoverflow", "titles")
#: Distance, in octaves, up to which a number on the grid counts as the labelled one when fitting; and the ridge.
NEAR, RIDGE = 0.35, 0.05
#: The rule before this one: coefficients, the mass of its interval, and what makes a peak.
FORMER, FORMER_MASS, FORMER_PEAK = (4.8, 7.7, 5.7, -2.75), 0.72, 0.10


# --- problems


@dataclass(frozen=True)
class Problem:
    """A set or a part of it; `number` is its place in LARGE, or the number of texts of a small collection."""

    name: str
    draw: int
    number: int
    small: bool

    @property
    def source(self) -> str:
        return SOURCE.get(self.name, self.name)

    @property
    def key(self) -> str:
        if self.small:
            return f"small-{self.name}-{self.number}-{self.draw}"
        return f"big-{self.name}-{LARGE[self.number][1]}-{self.draw}-{self.number}"

    @property
    def title(self) -> str:
        classes = MOST_CLASSES if self.small else LARGE[self.number][1]
        return f"{self.name}, {classes} classes" if classes else self.name

    def rows(self, labels):
        if self.small:
            random = np.random.default_rng(self.draw)
            classes = np.flatnonzero(np.bincount(labels) >= LEAST.get(self.name, 1))
            chosen = random.choice(classes, min(MOST_CLASSES, len(classes)), replace=False)
            rows = np.flatnonzero(np.isin(labels, chosen))
            return np.sort(random.choice(rows, min(self.number, len(rows)), replace=False))
        _, n_classes, n_rows = LARGE[self.number]
        random, rows = np.random.RandomState(1000 * self.draw + self.number), np.arange(len(labels))
        if n_classes:
            sizes = np.bincount(labels)
            least = 400 if self.name == "reddit" else min(10, np.sort(sizes)[-n_classes])
            chosen = random.choice(np.flatnonzero(sizes >= least), n_classes, replace=False)
            rows = rows[np.isin(labels, chosen)]
        if n_rows and len(rows) > n_rows:
            rows = np.sort(random.choice(rows, n_rows, replace=False))
        return rows


def problems():
    for draw in range(DRAWS):
        for number, (name, n_classes, n_rows) in enumerate(LARGE):
            if not draw or n_classes or n_rows:  # otherwise nothing is drawn
                yield Problem(name, draw, number, small=False)
        for n_texts in SIZES:
            yield from (Problem(name, draw, n_texts, small=True) for name in SMALL)


@dataclass
class Measured:
    """What is known of a problem; `in_common` is asked for only where the first sign is missing."""

    problem: Problem
    n_classes: int
    structure: float
    in_common: float | None
    shuffled: tuple[float, float]
    agreement: rule.Agreement

    @property
    def source(self) -> str:
        return self.problem.source

    @property
    def structured(self) -> bool:
        return self.structure > UNSTRUCTURED or (self.in_common or 0) > IN_COMMON


def _counts(name: str, texts: list[str]):
    if name == "titles":
        vectorizer = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False, min_df=2)
    else:
        vectorizer = Vectorizer(min_df=2, **({"language": "zh"} if name == "thucnews20k" else {}))
    return vectorizer.fit_transform(texts).tocsr().astype(float)


def _measure(problem: Problem, loaded: dict) -> dict:
    """As `Coterie` does it with random state 0."""
    data = loaded.setdefault(problem.name, datasets.load(problem.name))
    _, labels = np.unique(data.labels, return_inverse=True)
    chosen = problem.rows(labels)
    ordered = canonical(_counts(problem.name, [data.texts[i] for i in chosen]))
    documents = as_engine(ordered.X, ordered.weights)
    known = terms_that_count(documents)
    space = learn_space(documents.mapped(lambda b: Block(b.X[:, known], b.weights, b.start)), 100)
    counts = ordered.X[:, known].astype(np.float32)
    vectors = rule.unit_float_rows(space.text_vectors(counts).astype(np.float32))
    used = np.flatnonzero(vectors.any(axis=1))
    counts, random = counts[used], np.random.RandomState(0)
    with one_blas_thread():
        structure = structure_ratio(counts, random)
        found = rule.agreement(vectors[used], counts, random)
        in_common = in_common_ratio(counts, random) if structure <= UNSTRUCTURED else None
        dealt = _dealt_out(counts.astype(float), np.random.RandomState(5))
        dealt, random = dealt[np.diff(dealt.indptr) > 0], np.random.RandomState(0)
        shuffled = structure_ratio(dealt, random), in_common_ratio(dealt, random)
    curves = {name: getattr(found, name).tolist() for name in ("n_clusters", "texts", "cloud", "words")}
    said = {"structure": structure, "in_common": in_common, "shuffled": shuffled, "n_texts": len(used)}
    return {"n_classes": len(set(labels[chosen].tolist()))} | said | curves


def measured(problem: Problem, loaded: dict) -> Measured:
    kept = KEPT / f"{problem.key}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_measure(problem, loaded)), encoding="utf-8")
        print(kept.stem, flush=True)
    known = json.loads(kept.read_text(encoding="utf-8"))
    curves = [np.array(known[name]) for name in ("n_clusters", "texts", "cloud", "words")]
    verdict = known["structure"], known["in_common"], tuple(known["shuffled"])
    return Measured(problem, known["n_classes"], *verdict, rule.Agreement(*curves, known["n_texts"]))


# --- coefficients


def fit(found: list[Measured]):
    """Coefficients under which numbers near the labelled one are most plausible: a conditional logit.

    A source with many problems counts with the square root of their number. The term for clear-cut clusters is no part
    of the fit: it was chosen on planted topics.
    """
    count = Counter(p.source for p in found)
    share = np.array([count[p.source] ** -0.5 for p in found])
    cases = [_case(p) for p in found]

    def loss(w):
        value, slope = RIDGE * (w @ w) / 2, RIDGE * w
        for (columns, width, near), weight in zip(cases, share * len(share) / share.sum(), strict=True):
            linear = columns @ w + width
            plausible = np.exp(linear - linear.max())
            plausible /= plausible.sum()
            right = plausible * near
            value -= weight * np.log(right.sum())
            slope = slope - weight * columns.T @ (right / right.sum() - plausible)
        return value, slope

    return minimize(loss, np.zeros(cases[0][0].shape[1]), jac=True, method="L-BFGS-B").x


def _case(problem: Measured):
    octave = np.log2(problem.agreement.n_clusters)
    width = np.log(np.gradient(octave))  # a density over log K, not a probability of grid points
    near = np.exp(-0.5 * ((octave - np.log2(problem.n_classes)) / NEAR) ** 2)
    return rule.features(problem.agreement), width, near


def answers(found: list[Measured], coefficients, structured=lambda p: p.structured):
    """The answer for each problem; `coefficients` for each source."""
    out = []
    for p in found:
        estimate = rule.read_off(p.agreement, coefficients[p.source], p.structure)
        out.append(estimate if structured(p) else rule.unstructured(estimate))
    return out


def left_out(found: list[Measured]):
    """For each source: coefficients fitted without it."""
    return {source: fit([p for p in found if p.source != source]) for source in {p.source for p in found}}


def former(agreement):
    """What the rule before this one looked at."""
    octave = np.log2(agreement.n_clusters)
    curves = np.stack([agreement.texts, rule._excess(agreement)], axis=1)
    return np.column_stack([rule._smooth(octave, curves, rule._BANDWIDTH), octave / 4, (octave / 4) ** 2])


def _first_sign(problem: Measured) -> bool:
    """The verdict of the rule before."""
    return problem.structure > UNSTRUCTURED


# --- the page


def _errors(numbers, found):
    return np.abs(np.log2(np.array(numbers) / [p.n_classes for p in found]))


def _summary(name, answered, found, some=lambda p: True):
    pairs = [(a, p) for a, p in zip(answered, found, strict=True) if some(p)]
    answered, found = zip(*pairs, strict=True)
    errors = _errors([a.n_topics for a in answered], found)
    inside = np.mean([a.low <= p.n_classes <= a.high for a, p in pairs])
    width = np.mean([np.log2(a.high / a.low) for a in answered])
    best = np.mean([_errors([a.n_topics, *a.peaks], [p]).min() for a, p in pairs])
    within = (errors <= np.log2(1.5)).mean()
    figures = [errors.mean(), np.median(errors), within, inside, width, best]
    return [name, len(pairs), *(f"{figure:.2f}" for figure in figures)]


PARTS = {
    "whole sets and parts of them": lambda p: not p.problem.small,
    "banking77 and clinc150 by intent, and parts": lambda p: not p.problem.small and p.source in INTENTS,
    **{
        f"small: {n} texts, at most {MOST_CLASSES} classes": lambda p, n=n: (
            p.problem.small and p.problem.number == n
        )
        for n in SIZES
    },
    "first half of the sources": lambda p: p.source in FIRST_HALF,
    "second half of the sources": lambda p: p.source not in FIRST_HALF,
}


def report(found: list[Measured]) -> str:
    sources = sorted({p.source for p in found})
    fitted = fit(found)
    shipped = answers(found, dict.fromkeys(sources, rule.COEFFICIENTS))
    without = answers(found, left_out(found))
    halves = {s: fit([p for p in found if (p.source in FIRST_HALF) != (s in FIRST_HALF)]) for s in sources}
    crossed = answers(found, halves)
    with patch.multiple(rule, features=former, MASS=FORMER_MASS, PEAK=FORMER_PEAK):
        before = answers(found, dict.fromkeys(sources, FORMER), _first_sign)
        before_without = answers(found, left_out(found), _first_sign)
    always = [_constant(k, found) for k in (12, 32)]
    rules = [
        _summary("this rule, source left out", without, found),
        *(_summary(f"— {name}", without, found, part) for name, part in PARTS.items()),
        _summary("this rule, fitted on the other half of the sources", crossed, found),
        _summary("this rule, coefficients of the package", shipped, found),
        _summary("rule before, source left out", before_without, found),
        _summary("rule before, coefficients as they were", before, found),
        *(_summary(f"— {name}", before, found, part) for name, part in PARTS.items()),
        *always,
    ]
    rows = [
        [p.problem.title, p.agreement.n_texts, p.n_classes, a.n_topics, f"{a.low}–{a.high}"]
        + [
            ", ".join(map(str, a.peaks)) or "–",
            b.n_topics,
            f"{b.low}–{b.high}",
            c.n_topics,
            f"{c.low}–{c.high}",
        ]
        + [f"{p.structure:.2f}"]
        for p, a, b, c in zip(found, shipped, without, before, strict=True)
        if not p.problem.small and not p.problem.draw
    ]
    header = ["rule", "problems", "mean error", "median", "within ×1.5", "K in interval", "width, octaves"]
    head = [
        "set",
        "texts",
        "K",
        "choice",
        "interval",
        "peaks",
        "source left out",
        "interval",
        "rule before",
        "interval",
    ]
    first = [p.structure for p in found]
    asked = [p for p in found if p.in_common is not None]
    dealt = [p.shuffled for p in found]
    return f"""## How many topics

{len(found)} problems from {len(sources)} sources, K from {min(p.n_classes for p in found)} to {max(p.n_classes for p in found)}: whole sets, random classes of them, and small collections, two
draws each. The error is |log₂(K̂/K)|; a verdict of "no structure" counts as K̂ = 1. Identical texts count once. "Source left
out": coefficients fitted without any problem of the same source. What words of held-out texts add was chosen on one half
of the sources ({", ".join(FIRST_HALF)})
and confirmed on the other; the last two terms, the mass of the interval and the height of a peak were chosen on all.

{table(header + ["best of choice and peaks"], rules)}

Coefficients fitted in this run: {", ".join(f"{c:.2f}" for c in fitted)}; in the package: {", ".join(map(str, rule.COEFFICIENTS))}.

Verdict: the second singular value is more than {UNSTRUCTURED} times that of shuffled tokens for {sum(r > UNSTRUCTURED for r in first)} of {len(found)} problems. For
{sum(p.structured for p in asked)} of the other {len(asked)}, more than {IN_COMMON:g} times as many texts as with shuffled words have two words in common (the fewest: {min(p.in_common for p in asked):.1f}
times). With shuffled tokens {sum(s > UNSTRUCTURED for s, _ in dealt)} and {sum(c > IN_COMMON for _, c in dealt)} of {len(found)} pass the one and the other; the largest values are {max(s for s, _ in dealt):.2f} and {max(c for _, c in dealt):.2f}.

The first draw of whole sets and of parts; the figure at the end is the ratio of singular values:

{table([*head, "ratio"], rows)}"""


def _constant(number: int, found: list[Measured]):
    errors = _errors([number] * len(found), found)
    figures = errors.mean(), np.median(errors), (errors <= np.log2(1.5)).mean()
    return [f"always {number}", len(found), *(f"{figure:.2f}" for figure in figures), "–", "–", "–"]


def main() -> None:
    loaded: dict = {}
    write_section(PAGE, "n_topics", report([measured(problem, loaded) for problem in problems()]))


if __name__ == "__main__":
    main()
