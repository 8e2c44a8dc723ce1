"""The number of topics read from the data, on labelled sets and on subsets of them; writes docs/experiments.md.

`python benchmarks/n_topics.py` takes about ten minutes on one core. Labels only score, and fit the coefficients of
`coterie.cluster.n_topics`; errors are also given for coefficients fitted without any set of the same source.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import coo_matrix, diags, identity

from coterie import Vectorizer, datasets
from coterie.cluster import n_topics as rule
from coterie.linalg.rows import unit_rows
from coterie.semantics import cooccurrence, ppmi
from coterie.weights import idf
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "experiments.md"
#: Set, number of classes drawn at random (0: all), largest number of texts drawn at random (0: all).
PROBLEMS = (
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
)
#: Sets that are the same texts, differently prepared, are one source.
SOURCE = {"agnews-test": "agnews"}
#: Distance, in octaves, up to which a number on the grid counts as the labelled one when fitting; and the ridge.
NEAR, RIDGE = 0.35, 0.05


@dataclass
class Measured:
    name: str
    source: str
    n_texts: int
    n_classes: int
    structure: float
    shuffled: float
    agreement: rule.Agreement
    recipe: int
    seconds: float


# --- problems


def _draw(number: int, draw: int, loaded: dict) -> tuple[str, list[str], list[str]]:
    name, n_classes, n_rows = PROBLEMS[number]
    data = loaded.setdefault(name, datasets.load(name))
    random = np.random.RandomState(1000 * draw + number)
    _, labels = np.unique(data.labels, return_inverse=True)
    rows = np.arange(len(labels))
    if n_classes:
        sizes = np.bincount(labels)
        least = 400 if name == "reddit" else min(10, np.sort(sizes)[-n_classes])
        chosen = random.choice(np.flatnonzero(sizes >= least), n_classes, replace=False)
        rows = rows[np.isin(labels, chosen)]
    if n_rows and len(rows) > n_rows:
        rows = np.sort(random.choice(rows, n_rows, replace=False))
    title = f"{name}, {n_classes} classes" if n_classes else name
    return title, [data.texts[i] for i in rows], [data.labels[i] for i in rows]


def _counts(name: str, texts: list[str]):
    if name == "titles":
        vectorizer = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False, min_df=2)
    else:
        vectorizer = Vectorizer(min_df=2, **({"language": "zh"} if name == "thucnews20k" else {}))
    return vectorizer.fit_transform(texts).tocsr().astype(float)


def _distinct(X):
    """One row of each kind that is not empty, in the order in which they first come."""
    codes = np.random.RandomState(3).standard_normal((X.shape[1], 2))
    _, first = np.unique(np.round(X @ codes, 9), axis=0, return_index=True)
    first = np.sort(first)
    return first[np.diff(X.indptr)[first] > 0]


def embed(X, dimensions: int = 100, over: int = 10, power: int = 4, probes: int = 128):
    """Text vectors from word co-occurrence, by randomised SVD: rows of UΣ."""
    random = np.random.default_rng(0)
    company = unit_rows((unit_rows(ppmi(cooccurrence(X))) + identity(X.shape[1])).tocsr())
    texts = unit_rows((X @ diags(idf(X))).tocsr())
    probe = random.standard_normal((X.shape[1], probes)) / np.sqrt(probes)
    length = np.sqrt(((texts @ (company @ probe)) ** 2).sum(axis=1))
    texts = (diags(np.divide(1.0, length, where=length > 0, out=np.zeros_like(length))) @ texts).tocsr()
    back, texts_back = company.T.tocsr(), texts.T.tocsr()
    dimensions = min(dimensions, min(X.shape) - over - 2)
    right = random.standard_normal((X.shape[1], dimensions + over))
    for turn in range(power + 1):
        left, _ = np.linalg.qr(texts @ (company @ right))
        right = back @ (texts_back @ left)
        if turn < power:
            right, _ = np.linalg.qr(right)
    inner, values, _ = np.linalg.svd(right.T, full_matrices=False)
    return (left @ inner[:, :dimensions]) * values[:dimensions]


def _shuffled(X):
    """All tokens shuffled over texts of the same lengths."""
    tokens = np.repeat(X.indices, X.data.astype(int))
    text = np.repeat(np.arange(X.shape[0]), np.asarray(X.sum(axis=1)).ravel().astype(int))
    dealt = np.random.RandomState(5).permutation(tokens)
    return coo_matrix((np.ones(len(dealt)), (text, dealt)), shape=X.shape).tocsr()


def _measure(number: int, draw: int, loaded: dict) -> Measured:
    name = PROBLEMS[number][0]
    title, texts, labels = _draw(number, draw, loaded)
    X = _counts(name, texts)
    kept = _distinct(X)
    vectors, X = rule.unit_float_rows(embed(X)[kept]), X[kept]
    random = np.random.RandomState(0)
    start = time.process_time()
    structure = rule.structure_ratio(X, random)
    found = rule.agreement(vectors, random)
    seconds = time.process_time() - start
    shuffled = rule.structure_ratio(_shuffled(X), random)
    recipe = stability_rule(vectors, np.random.RandomState(0))
    source = SOURCE.get(name, name)
    return Measured(title, source, len(kept), len(set(labels)), structure, shuffled, found, recipe, seconds)


# --- the rule this one is compared with


def stability_rule(vectors, random, pull: float = 0.01) -> int:
    """Size-weighted best Jaccard of clusters of two halves, over that of a Gaussian cloud; the largest wins."""
    rows = rule._sample(vectors, 5000, random)
    grid = np.array([k for k in rule.GRID if k <= len(rows) // 6 and k not in (7, 14)])
    cloud = rule._gaussian_cloud(rows, random)
    real, null = (np.array([_jaccard(some, k, random) for k in grid]) for some in (rows, cloud))
    octave = np.log2(grid)
    score = rule._smooth(octave, (real - null) / np.sqrt(np.maximum(1 - null, 0.02)), 0.25)
    return int(grid[np.argmax(score - pull * (octave - octave.mean()) ** 2)])


def _jaccard(rows, k: int, random, halvings: int = 3) -> float:
    found = []
    for _ in range(halvings):
        order = random.permutation(len(rows))
        one, other = rows[order[::2]], rows[order[1::2]]
        mine, theirs = (rule._centers(half, k, 1, random) for half in (one, other))
        cell = (one @ mine.T).argmax(axis=1) * k + (one @ theirs.T).argmax(axis=1)
        both = np.bincount(cell, minlength=k * k).reshape(k, k).astype(float)
        sizes = both.sum(axis=1)
        best = (both / np.maximum(sizes[:, None] + both.sum(axis=0) - both, 1)).max(axis=1)
        found.append((sizes * best).sum() / len(one))
    return float(np.mean(found))


# --- coefficients


def fit(problems: list[Measured]):
    """Coefficients under which numbers near the labelled one are most plausible: a conditional logit.

    A source with many problems counts with the square root of their number. The term for clear-cut clusters is no part
    of the fit: it was chosen on planted topics.
    """
    count = Counter(p.source for p in problems)
    share = np.array([count[p.source] ** -0.5 for p in problems])
    cases = [_case(p) for p in problems]

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

    return minimize(loss, np.zeros(len(rule.COEFFICIENTS)), jac=True, method="L-BFGS-B").x


def _case(problem: Measured):
    octave = np.log2(problem.agreement.n_clusters)
    width = np.log(np.gradient(octave))  # a density over log K, not a probability of grid points
    near = np.exp(-0.5 * ((octave - np.log2(problem.n_classes)) / NEAR) ** 2)
    return rule.features(problem.agreement), width, near


def answers(problems: list[Measured], coefficients):
    """The answer for each problem; `coefficients` for each source."""
    return [rule.read_off(p.agreement, coefficients[p.source], p.structure) for p in problems]


# --- the page


def _errors(numbers, problems):
    return np.abs(np.log2(np.array(numbers) / [p.n_classes for p in problems]))


def _baseline(name, numbers, problems):
    errors = _errors(numbers, problems)
    within = (errors <= np.log2(1.5)).mean()
    return [
        name,
        len(problems),
        f"{errors.mean():.2f}",
        f"{np.median(errors):.2f}",
        f"{within:.2f}",
        "–",
        "–",
        "–",
    ]


def _summary(name, found, problems):
    inside = np.mean([a.low <= p.n_classes <= a.high for a, p in zip(found, problems, strict=True)])
    width = np.median([a.high / a.low for a in found])
    best = [_errors([a.n_topics, *a.peaks], [p]).min() for a, p in zip(found, problems, strict=True)]
    cells = _baseline(name, [a.n_topics for a in found], problems)
    return cells[:-3] + [f"{inside:.2f}", f"×{width:.1f}", f"{np.mean(best):.2f}"]


def report(problems: list[Measured], others: list[Measured]) -> str:
    sources = sorted({p.source for p in problems})
    fitted = fit(problems)
    package = dict.fromkeys(sources, rule.COEFFICIENTS)
    without = {s: fit([p for p in problems if p.source != s]) for s in sources}
    shipped, left_out = answers(problems, package), answers(problems, without)
    rules = [
        _summary("this rule, coefficients of the package", shipped, problems),
        _summary("this rule, source left out", left_out, problems),
        _summary("this rule, other draws, coefficients of the package", answers(others, package), others),
        _summary("this rule, other draws, source left out", answers(others, without), others),
        _baseline(
            "half-to-half Jaccard against a Gaussian null, largest value",
            [p.recipe for p in problems],
            problems,
        ),
        _baseline("the same, other draws", [p.recipe for p in others], others),
        _baseline("always 12", [12] * len(problems), problems),
        _baseline("always 32", [32] * len(problems), problems),
    ]
    rows = [
        [p.name, p.n_texts, p.n_classes, a.n_topics, f"{a.low}–{a.high}", ", ".join(map(str, a.peaks)) or "–"]
        + [
            b.n_topics,
            f"{b.low}–{b.high}",
            p.recipe,
            f"{p.structure:.2f}",
            f"{p.shuffled:.2f}",
            f"{p.seconds:.1f}",
        ]
        for p, a, b in zip(problems, shipped, left_out, strict=True)
    ]
    header = ["rule", "problems", "mean error", "median", "within ×1.5", "K in interval", "median width"]
    head = ["set", "texts", "K", "choice", "interval", "peaks", "source left out", "interval", "Jaccard rule"]
    every = problems + others
    real, shuffled = [p.structure for p in every], [p.shuffled for p in every]
    seconds = [p.seconds for p in every]
    return f"""## How many topics

{len(problems)} problems from {len(sources)} sources, K from {min(p.n_classes for p in problems)} to {max(p.n_classes for p in problems)}; the error is |log₂(K̂/K)|. Identical texts count once.
Subsets are random classes and rows with fixed seeds. "Source left out": coefficients fitted without any problem of the
same source. "Other draws": other classes and rows of the same sets (some texts are in both), which were not used in any
fit; bandwidths, ridge and the mass of the interval were chosen on the first draw.

{table(header + ["best of choice and peaks"], rules)}

Coefficients fitted in this run: {", ".join(f"{c:.2f}" for c in fitted)}; in the package: {", ".join(map(str, rule.COEFFICIENTS))}.
Verdict "structured" (ratio above {rule.UNSTRUCTURED}), both draws: {sum(r > rule.UNSTRUCTURED for r in real)} of {len(every)} real sets, {sum(r > rule.UNSTRUCTURED for r in shuffled)} of {len(every)} with shuffled tokens.
Smallest ratio of a real set {min(real):.2f}, largest of a shuffled one {max(shuffled):.2f}.
Seconds are processor time on one thread, without the embedding: median {np.median(seconds):.1f}, largest {max(seconds):.1f}.

{table(head + ["ratio", "ratio shuffled", "s"], rows)}"""


def write(section: str) -> None:
    """Put the section between its marker and the next one, and touch nothing else."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Experiments\n"
    body = f"<!-- n_topics -->\n{section.strip()}\n"
    pattern = re.compile(r"<!-- n_topics -->\n.*?(?=\n<!-- |\Z)", re.DOTALL)
    page = pattern.sub(lambda _: body, page) if pattern.search(page) else f"{page.rstrip()}\n\n{body}"
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    loaded: dict = {}
    draws: tuple[list[Measured], list[Measured]] = [], []
    for draw, measured in enumerate(draws):
        for number, (_, n_classes, n_rows) in enumerate(PROBLEMS):
            if draw and not (n_classes or n_rows):
                continue  # nothing is drawn
            measured.append(_measure(number, draw, loaded))
            print(draw, measured[-1].name, f"{measured[-1].seconds:.1f} s", flush=True)
    write(report(*draws))


if __name__ == "__main__":
    main()
