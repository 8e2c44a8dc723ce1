"""What each part of the refinement of `Coterie` adds, over all sets; writes docs/experiments.md.

`python benchmarks/refinement.py` takes about a quarter of an hour. All variants of a set and a seed start from the
same clusters. Labels only score.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from coterie import datasets
from coterie.cluster import coterie as method
from coterie.cluster import leave_one_out, mixture
from coterie.cluster.leave_one_out import LeaveOneOut
from coterie.cluster.mixture import refine_by_mixture
from coterie.cluster.refining import nearest
from coterie.cluster.space import learn_space
from coterie.cluster.texts import take_sample
from coterie.corpus import Vectorizer
from coterie.engines import as_engine
from coterie.linalg.spherical import spherical_kmeans
from coterie.metrics import accuracy, ari, nmi
from coterie_papers.bench.collections import words_of
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "experiments.md"
#: Set, number of classes drawn at random (0: all), number of texts drawn at random (0: all).
SETS = (
    *(
        (name, 0, 0)
        for name in ("searchsnippets", "stackoverflow", "tweet", "googlenews-ts", "agnews", "titles")
    ),
    *((name, 0, 0) for name in ("agnews-test", "thucnews20k", "classic4", "reuters4")),
    ("debian", 0, 20_000),
    ("wordnet", 0, 20_000),
    ("reddit", 40, 0),
    ("reddit", 150, 0),
)
SEEDS = range(5)


class Start:
    """A set, ready to be refined: texts, and clusters by k-means for each seed."""

    def __init__(self, name: str, n_classes: int, n_rows: int, dimensions: int = 100):
        texts, labels, data = _draw(name, n_classes, n_rows)
        self.truth = np.unique(labels, return_inverse=True)[1]
        self.K = int(self.truth.max()) + 1
        counts = Vectorizer(**words_of(data)).fit_transform(texts)
        documents = as_engine(counts)
        known = method.terms_that_count(documents)
        documents = as_engine(counts[:, known])
        space = learn_space(documents, dimensions)
        self.texts = take_sample(documents, space.words, lambda X, _: space.text_vectors(X))
        starts = 10 * int(np.clip(method._MANY_TEXTS // len(texts), 1, method._MORE_STARTS))
        self.labels = []
        for seed in SEEDS:
            random = np.random.RandomState(seed)
            found = spherical_kmeans(
                self.texts.as_engine(), self.K, random, n_init=starts, tol=method._TOLERANCE
            )
            self.labels.append(self.texts.gather(lambda block, c=found.centers: nearest(block, c)))


def _draw(name: str, n_classes: int, n_rows: int) -> tuple[list[str], np.ndarray, datasets.Dataset]:
    data = datasets.load(name)
    labels, random = np.array(data.labels, dtype=object).astype(str), np.random.RandomState(0)
    rows = np.arange(len(labels))
    if n_classes:
        rows = rows[np.isin(labels, random.choice(np.unique(labels), n_classes, replace=False))]
    if n_rows:
        rows = np.sort(random.choice(rows, min(n_rows, len(rows)), replace=False))
    return [data.texts[i] for i in rows], labels[rows], data


def mixture_alone(start, labels):
    return refine_by_mixture(start.texts, labels, start.K)


def classifier_alone(start, labels):
    return LeaveOneOut(start.texts, start.K).settle(labels)


def cycles(number):
    def run(start, labels):
        others = LeaveOneOut(start.texts, start.K)
        for _ in range(number):
            labels = others.settle(refine_by_mixture(start.texts, labels, start.K))
        return labels

    return run


def nothing_left_out(start, labels):
    others = LeaveOneOut(start.texts, start.K)
    others.leverage = np.zeros_like(others.leverage)
    for _ in range(2):
        labels = others.settle(refine_by_mixture(start.texts, labels, start.K))
    return labels


def patched(run, **constants):
    """A variant with other constants: `mixture__NAME=value` or `leave_one_out__NAME=value`."""
    modules = {"mixture": mixture, "leave_one_out": leave_one_out}

    def changed(start, labels):
        with ExitStack() as stack:
            for key, value in constants.items():
                module, _, name = key.partition("__")
                stack.enter_context(patch.object(modules[module], name, value))
            return run(start, labels)

    return changed


VARIANTS = {
    "k-means alone": lambda start, labels: labels,
    "mixture": mixture_alone,
    "mixture without its guard": patched(mixture_alone, mixture___STILL_EVEN=0.0),
    "classifier": classifier_alone,
    "mixture, classifier": cycles(1),
    "**twice: the default**": cycles(2),
    "three times": cycles(3),
    "twice, without the guard": patched(cycles(2), mixture___STILL_EVEN=0.0),
    "twice, no text left out": nothing_left_out,
    "twice, penalty 1": patched(cycles(2), leave_one_out___PENALTY=1.0),
    "twice, penalty 10": patched(cycles(2), leave_one_out___PENALTY=10.0),
    "twice, hardly any vectors in the classifier": patched(cycles(2), leave_one_out___DIRECTIONS=0.05),
    "twice, vectors with full weight": patched(cycles(2), leave_one_out___DIRECTIONS=1.0),
}
OTHER_DIMENSIONS = (50, 150)


def measure() -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for name, n_classes, n_rows in SETS:
        title = f"{name} {n_classes}" if n_classes else name
        start = Start(name, n_classes, n_rows)
        for variant, run in VARIANTS.items():
            _score(found, variant, title, start, run)
        for dimensions in OTHER_DIMENSIONS:
            other = Start(name, n_classes, n_rows, dimensions)
            _score(found, f"twice, {dimensions} dimensions", title, other, cycles(2))
        print(
            title,
            {variant: np.mean(sets[title], axis=0).round(3) for variant, sets in found.items()},
            flush=True,
        )
    return found


def _score(found, variant, title, start, run):
    scores = found.setdefault(variant, {}).setdefault(title, [])
    for labels in start.labels:
        z = run(start, labels.copy())
        scores.append((accuracy(start.truth, z), nmi(start.truth, z), ari(start.truth, z)))


def page(found) -> str:
    titles = list(next(iter(found.values())))
    lines = [
        "## What each part of the refinement adds",
        "",
        f"ACC / NMI in %, mean of {len(SEEDS)} seeds; all variants of a set and a random state start from the same clusters. The",
        "last columns are means over all sets, with ARI, and the largest standard deviation of ACC over seeds.",
        "Sets with a number are that many classes drawn at random; debian and wordnet are 20,000 texts of each.",
        "Penalty, weight of vectors, number of rounds and the guard were chosen with such figures, one value",
        "for all sets; labels are not used otherwise.",
        "",
    ]
    rows = []
    for variant, sets in found.items():
        means = {title: np.mean(sets[title], axis=0) * 100 for title in titles}
        every = np.mean(list(means.values()), axis=0)
        spread = max(np.std([score[0] for score in sets[title]]) * 100 for title in titles)
        cells = [f"{means[title][0]:.1f}/{means[title][1]:.1f}" for title in titles]
        rows.append((variant, *cells, f"{every[0]:.1f}/{every[1]:.1f}/{every[2]:.1f}", f"{spread:.1f}"))
    return "\n".join(lines) + "\n" + table(("variant", *titles, "mean ACC/NMI/ARI", "sd"), rows, raw=True)


def main() -> None:
    with threadpool_limits(limits=1, user_api="blas"):
        text = page(measure())
    write_section(PAGE, "refinement", text)


def write_section(page: Path, name: str, text: str) -> None:
    """Write a part of a page between its marks, in place of what was there."""
    old = page.read_text() if page.exists() else "# Experiments\n"
    section = f"<!-- {name} -->\n{text}\n<!-- /{name} -->"
    pattern = re.compile(f"<!-- {name} -->.*<!-- /{name} -->", re.DOTALL)
    page.write_text(
        pattern.sub(lambda _: section, old) if pattern.search(old) else f"{old.rstrip()}\n\n{section}\n"
    )


if __name__ == "__main__":
    main()
