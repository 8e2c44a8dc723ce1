"""`Coterie` with embeddings beside its parts: counts alone, and k-means on the embeddings; writes docs/experiments.md.

`python benchmarks/parts.py run` measures what is not in run/parts/results.jsonl yet, `page` writes the section. Embeddings
that are not installed are left out. Labels only score; the number of topics is that of the labels.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from contenders import COMPARED, embedded, unit
from coterie import Coterie, Vectorizer, datasets
from coterie.cluster import coterie as method
from coterie.cluster import refining
from coterie.cluster.judging import Predictions
from coterie.metrics import accuracy, nmi
from coterie_papers.bench.collections import words_of
from coterie_papers.bench.markdown import table
from refinement import PAGE, write_section

RESULTS = Path(__file__).parents[1] / "run" / "parts" / "results.jsonl"
SETS = (
    "banking77", "clinc150", "clinc150-domain", "it-tickets", "searchsnippets", "stackoverflow", "tweet", "googlenews-ts",
    "agnews", "titles", "reuters4", "classic4",
)  # fmt: skip
SMALL = (
    "banking77",
    "it-tickets",
    "tweet",
    "agnews",
    "searchsnippets",
    "clinc150",
    "stackoverflow",
    "googlenews-ts",
)
SIZES, DRAWS, MOST_CLASSES = (300, 1_000, 2_000), 5, 12
EMBEDDINGS = {"static": "wordllama", "MiniLM": "minilm"}
#: Sets in Chinese, of which a model for English knows nothing, and sets that have not been embedded by it.
WITHOUT_MINILM = ("titles", "reuters4", "clinc150-domain", "classic4")
SEEDS, SEEDS_OF_VARIANTS = 5, 2


@dataclass(frozen=True)
class Problem:
    """A data set, or a draw of so many of its texts from at most twelve classes."""

    name: str
    texts: int = 0
    draw: int = 0

    @property
    def title(self) -> str:
        return f"{self.name} {self.texts} {self.draw}" if self.texts else self.name

    def rows(self, labels: np.ndarray) -> np.ndarray:
        if not self.texts:
            return np.arange(len(labels))
        random, classes = np.random.default_rng(self.draw), np.unique(labels)
        kept = random.choice(classes, min(MOST_CLASSES, len(classes)), replace=False)
        rows = np.flatnonzero(np.isin(labels, kept))
        return np.sort(random.choice(rows, min(self.texts, len(rows)), replace=False))


WHOLE = [Problem(name) for name in SETS]
DRAWN = [Problem(name, texts, draw) for draw in range(DRAWS) for texts in SIZES for name in SMALL]


def fitted(data, n_topics, seed, *patches, **settings):
    with ExitStack() as stack:
        for target, name, value in patches:
            stack.enter_context(patch.object(target, name, value))
        model = Coterie(n_topics, random_state=seed, embeddings=data.get("vectors"), **settings)
        return model.fit(data["X"], stop_word_counts=data["stop words"]).labels_


def clusters(data, n_topics, seed):
    return KMeans(n_topics, n_init=10, random_state=seed).fit_predict(unit(data["vectors"]))


def flattened(data, n_topics, seed):
    """What BERTopic does when the number of topics is given: k-means in five dimensions of UMAP."""
    from umap import UMAP

    reduced = UMAP(15, 5, min_dist=0.0, metric="cosine", random_state=seed).fit_transform(data["vectors"])
    return KMeans(n_topics, n_init=10, random_state=seed).fit_predict(reduced)


def last_of(found, trust):
    return found[-1]


COUNTS, PARTS, DEFAULT = "**counts**", "k-means on the embeddings", "**counts and embeddings**"
BERTOPIC = "UMAP and k-means, as BERTopic does"
ONE_SHARE = (refining, "LARGE_SHARE", 0.0)
ALWAYS = (Predictions, "contradicts", lambda *_: False)
ALONE = {
    "counts, not refined": lambda *given: fitted(*given, refine=False),
    "counts, always refined": lambda *given: fitted(*given, refine=True),
    COUNTS: fitted,
}
WITH = {PARTS: clusters, DEFAULT: fitted}
VARIANTS = {
    BERTOPIC: flattened,
    "one share, always refined": lambda *given: fitted(*given, refine=True),
    "one share, refined by evidence": lambda *given: fitted(*given, ONE_SHARE),
    "share by evidence, always refined": lambda *given: fitted(*given, ALWAYS),
    "share of 80 %, refined by evidence": lambda *given: fitted(*given, (method, "best_of", last_of)),
}


def embeddings_of(problem: Problem) -> Iterator[str]:
    for name, model in EMBEDDINGS.items():
        needs = COMPARED["coterie-minilm" if model == "minilm" else "coterie-static"].needs
        known = RESULTS.parents[1] / "quality" / "embeddings" / f"{model}-quality-{problem.name}.npy"
        installed = known.exists() or all(_installed(module) for module in needs)
        if installed and not (model == "minilm" and problem.name in WITHOUT_MINILM):
            yield name


def _installed(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def cases(problem: Problem) -> Iterator[tuple[str, str, int]]:
    """Embedding, variant and seed; small collections have other draws in place of seeds."""
    once = 1 if problem.texts else 0
    for variant in ALONE:
        yield from (("", variant, seed) for seed in range(once or SEEDS))
    for name in embeddings_of(problem):
        for variant in WITH:
            yield from ((name, variant, seed) for seed in range(once or SEEDS))
        for variant in VARIANTS:
            if variant != BERTOPIC or (name == "MiniLM" and _installed("umap")):
                yield from ((name, variant, seed) for seed in range(once or SEEDS_OF_VARIANTS))


def known_results() -> dict[tuple[str, str, str, int], tuple[float, float]]:
    found = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else ():
        one = json.loads(line)
        found[one["problem"], one["embedding"], one["variant"], one["seed"]] = one["acc"], one["nmi"]
    return found


def run(names) -> None:
    known = known_results()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    run_of = {**ALONE, **WITH, **VARIANTS}
    for problem in [one for one in (*WHOLE, *DRAWN) if not names or one.name in names]:
        missing = [case for case in cases(problem) if (problem.title, *case) not in known]
        if not missing:
            continue
        data = datasets.load(problem.name)
        labels = np.array(data.labels, dtype=object).astype(str)
        rows = problem.rows(labels)
        texts, truth = [data.texts[i] for i in rows], np.unique(labels[rows], return_inverse=True)[1]
        vectorizer = Vectorizer(**words_of(data))
        counts = {"X": vectorizer.fit_transform(texts), "stop words": vectorizer.stop_word_counts(texts)}
        for embedding, variant, seed in missing:
            given = dict(counts)
            if embedding:
                whole, _ = embedded(EMBEDDINGS[embedding], f"quality-{problem.name}", data.texts)
                given["vectors"] = whole[rows]
            found = run_of[variant](given, int(truth.max()) + 1, seed)
            line = {
                "problem": problem.title, "embedding": embedding, "variant": variant, "seed": seed,
                "acc": accuracy(truth, found), "nmi": nmi(truth, found),
            }  # fmt: skip
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")
        print(problem.title, flush=True)


# --- the page


def mean_of(known, problem, embedding, variant):
    """Mean ACC and NMI over seeds, in %; None where nothing was run."""
    runs = [score for key, score in known.items() if key[:3] == (problem.title, embedding, variant)]
    return tuple(100 * np.mean(runs, axis=0)) if runs else None


def shown(score) -> str:
    return "–" if score is None else f"{score[0]:.1f}/{score[1]:.1f}"


def by_set(known, embedding) -> str:
    variants = [
        v
        for v in (*ALONE, *WITH, *VARIANTS)
        if any(key[1] in ("", embedding) and key[2] == v for key in known)
    ]
    rows, means = [], []
    for problem in WHOLE:
        scores = [
            mean_of(known, problem, "" if variant in ALONE else embedding, variant) for variant in variants
        ]
        if scores[len(ALONE)] is None or scores[0] is None:
            continue
        named = dict(zip(variants, scores, strict=True))
        better = max(named[COUNTS][1], named[PARTS][1])
        gap = named[DEFAULT][1] - better if named[DEFAULT] else 0.0
        rows.append((problem.name, *map(shown, scores), f"{gap:+.1f}"))
        means.append(scores)
    every = [
        shown(None if None in column else tuple(np.mean(column, axis=0)))
        for column in zip(*means, strict=True)
    ]
    rows.append(("mean", *every, ""))
    header = ("set", *variants, "NMI against the better part")
    return table(header, rows, raw=True)


def by_size(known) -> str:
    rows = []
    for texts in SIZES:
        problems = [one for one in DRAWN if one.texts == texts]
        for embedding in EMBEDDINGS:
            cells = []
            for variant in (*ALONE, *WITH, *VARIANTS):
                scores = [
                    mean_of(known, one, "" if variant in ALONE else embedding, variant) for one in problems
                ]
                cells.append(shown(tuple(np.mean([s for s in scores if s], axis=0)) if any(scores) else None))
            rows.append((f"{texts:,}", embedding, *cells))
    return table(("texts", "embeddings", *ALONE, *WITH, *VARIANTS), rows, raw=True)


def below(known) -> str:
    """How often the default is worse than its better part by more than a point of NMI, and by how much at worst."""
    lines = []
    for embedding in EMBEDDINGS:
        for title, problems in (("whole sets", WHOLE), ("small collections", DRAWN)):
            gaps = []
            for problem in problems:
                parts = [
                    mean_of(known, problem, "", COUNTS),
                    mean_of(known, problem, embedding, PARTS),
                ]
                both = mean_of(known, problem, embedding, DEFAULT)
                if both and all(parts):
                    gaps.append(both[1] - max(part[1] for part in parts))
            if gaps:
                worse = sum(gap < -1 for gap in gaps)
                lines.append(
                    f"- {embedding}, {title}: more than one point below in {worse} of {len(gaps)}, {min(gaps):+.1f} at worst, "
                    f"{fmean(gaps):+.1f} in the mean."
                )
    return "\n".join(lines)


TEXT = f"""## Embeddings beside their parts

ACC / NMI in %. Each set with the number of its labels as number of topics, mean of {SEEDS} seeds ({SEEDS_OF_VARIANTS} for variants).
Rules were chosen with such figures of all these sets in view, so none of them is fresh data. "One share, always refined" is
what earlier versions did, with counts alone too. The last column is the NMI of counts and embeddings less that of the better
of counts alone and k-means on the embeddings. Where a set comes without stop words, they say nothing."""

SMALL_TEXT = f"""### Small collections

Means over {len(SMALL)} sets and {DRAWS} draws of each: texts drawn at random from at most {MOST_CLASSES} classes. Many are subsets of the
sets above, so they are no fresh evidence."""


def page() -> None:
    known = known_results()
    parts = [TEXT]
    for embedding in EMBEDDINGS:
        parts += [f"### {embedding} embeddings", by_set(known, embedding)]
    parts += [SMALL_TEXT, by_size(known), "### Below the better part", below(known)]
    write_section(PAGE, "parts", "\n\n".join(parts))


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        page() if sys.argv[1:2] == ["page"] else run(sys.argv[2:])
