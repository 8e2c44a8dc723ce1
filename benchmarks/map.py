"""How well layouts of the map keep neighbours, and what they cost: writes docs/map.md.

    python benchmarks/map.py [--million]

Trustworthiness: texts that are near on the map are near by their vectors. Continuity: texts near by their vectors
are near on the map. Both are between 0 and 1, for the 15 nearest of a sample of 5,000 texts. UMAP needs umap-learn,
which coterie does not install.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import TSNE, trustworthiness

from coterie import TopicModel, datasets
from coterie.map.landmarks import Landmarks
from coterie.topics.describe import read_topics
from former_map import former_layout

_SETS = ("banking77", "clinc150", "stackoverflow", "reddit")
_TEXTS, _SAMPLE, _NEAR = 20_000, 5_000, 15
_DOCS = Path(__file__).parents[1] / "docs" / "map.md"
_KEPT = Path(__file__).parents[1] / "build" / "map.json"


def main() -> None:
    """Measure each set, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--million", action="store_true", help="place a million texts, too")
    parser.add_argument("--results", type=Path, default=_KEPT, help="what was measured already is kept here")
    asked = parser.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = json.loads(asked.results.read_text()) if asked.results.exists() else {}
    for name in _SETS:
        if name not in kept:
            kept[name] = measure(name)
            asked.results.write_text(json.dumps(kept, indent=1))
            print(name, json.dumps(kept[name]), flush=True)
    if asked.million and "million" not in kept:
        kept["million"] = million()
        asked.results.write_text(json.dumps(kept, indent=1))
    _DOCS.write_text(page(kept), encoding="utf-8")


def measure(name: str) -> dict[str, Any]:
    """All layouts of one set."""
    texts = list(dict.fromkeys(datasets.load(name).texts))
    rng = np.random.default_rng(0)
    texts = [texts[at] for at in rng.permutation(len(texts))[:_TEXTS]]
    spent = {"learn": 0.0, "place": 0.0}
    with _watched(spent):
        begun = time.process_time()
        model = TopicModel().fit(texts)
        whole = time.process_time() - begun
    assert model.collection is not None
    assert model.state.scores is not None
    described = model.state.description
    reading = read_topics(
        model.collection.corpus.engine, model.state.edited.scorer, {}, model.collection.embeddings
    )
    assert reading.sample is not None
    sample = reading.sample
    ours = model.state.scores.position[sample.rows].astype(np.float64)
    known = np.isfinite(ours[:, 0])
    vectors, topics = sample.vectors[known], sample.topics[known]
    shares = described.sizes / described.sizes.sum()
    some = rng.permutation(len(vectors))[:_SAMPLE]
    former = former_layout(described.centers, shares, vectors, topics, sample.memberships[known])
    layouts = {"former": former[some], "coterie": ours[known][some]}
    seconds = {"coterie": spent["learn"] + spent["place"]}
    for method, place in (("UMAP", _umap), ("t-SNE", _tsne)):
        begun = time.process_time()
        found = place(vectors[some])
        if found is not None:
            layouts[method], seconds[method] = found, time.process_time() - begun
    return {
        "texts": len(vectors),
        "topics": len(described.sizes),
        "fit": whole,
        "seconds": seconds,
        "scores": {
            method: [
                float(trustworthiness(vectors[some], at, n_neighbors=_NEAR)),
                float(trustworthiness(at, vectors[some], n_neighbors=_NEAR)),
            ]
            for method, at in layouts.items()
        },
    }


class _watched:
    """Adds up the seconds of the processor that landmarks take, in all threads."""

    def __init__(self, spent: dict[str, float]):
        self.spent, self.learn, self.place = spent, Landmarks.learn, Landmarks.place

    def __enter__(self) -> None:
        def timed(name: str, function: Any) -> Any:
            def call(*values: Any) -> Any:
                begun = time.thread_time()
                try:
                    return function(*values)
                finally:
                    self.spent[name] += time.thread_time() - begun

            return call

        Landmarks.learn = timed("learn", self.learn)  # type: ignore[method-assign]
        Landmarks.place = timed("place", self.place)  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        Landmarks.learn, Landmarks.place = self.learn, self.place  # type: ignore[method-assign]


def _umap(vectors: Any) -> Any:
    try:
        from umap import UMAP  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return UMAP(metric="cosine", random_state=0).fit_transform(vectors)


def _tsne(vectors: Any) -> Any:
    return TSNE(metric="cosine", init="pca", random_state=0, n_jobs=1).fit_transform(vectors)


def million() -> dict[str, float]:
    """Lay out landmarks and place a million made-up texts among them, some at a time as a fit does."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((60, 100))
    draw = lambda n: centers[rng.integers(0, 60, n)] + rng.standard_normal((n, 100))  # noqa: E731
    first = draw(32_768)
    keys = rng.integers(0, 1 << 62, len(first)).astype(np.uint64)
    begun = time.process_time()
    marks = Landmarks.learn(first, keys, first[:, :2])
    learned = time.process_time() - begun
    placed = 0.0
    for _ in range(250):
        vectors = draw(4_000)
        begun = time.process_time()
        marks.place(vectors)
        placed += time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"learn": learned, "place": placed, "megabytes": peak}


def page(kept: dict[str, Any]) -> str:
    """The page of the documentation."""
    sets = [name for name in _SETS if name in kept]
    methods = [m for m in ("former", "coterie", "UMAP", "t-SNE") if m in kept[sets[0]]["scores"]]
    lines = [
        "# The map",
        "",
        "Written by `benchmarks/map.py`. Texts lie by their neighbours: 4,000 texts, the landmarks, are laid out so that the",
        "30 nearest of each by their vectors lie around it (t-SNE, with no chance in it), and every other text is put among",
        "its nearest landmarks. So a text that comes later has a place and moves no other.",
        "",
        "*Trustworthiness* / *continuity* of the 15 nearest in a sample of 5,000 texts: of those near on the map, how far they",
        "are near by their vectors, and the reverse; 1 is perfect. *former* is the layout of topics as discs. UMAP and t-SNE",
        "(umap-learn and scikit-learn with their defaults, cosine) lay out the sample alone, which is easier than all texts.",
        "",
        "| set | texts | topics | " + " | ".join(methods) + " |",
        "|---|---|---|" + "---|" * len(methods),
    ]
    for name in sets:
        one = kept[name]
        cells = [" / ".join(f"{value:.3f}" for value in one["scores"][m]) for m in methods]
        lines.append(f"| {name} | {one['texts']:,} | {one['topics']} | " + " | ".join(cells) + " |")
    timed = [m for m in methods if m != "former"]
    lines += [
        "",
        "Seconds of the processor, on a busy machine with two cores. UMAP and t-SNE are timed for the sample, coterie for all",
        "texts; the first UMAP includes its own compilation. The last column compares the map with the rest of the fit.",
        "",
        "| set | fit with the map | " + " | ".join(timed) + " | the map adds |",
        "|---|---|" + "---|" * (len(timed) + 1),
    ]
    for name in sets:
        one = kept[name]
        own = one["seconds"]["coterie"]
        cells = [f"{one['seconds'][m]:.1f}" for m in timed]
        added = 100 * own / (one["fit"] - own)
        lines.append(f"| {name} | {one['fit']:.1f} | " + " | ".join(cells) + f" | {added:.0f} % |")
    if "million" in kept:
        one = kept["million"]
        lines += [
            "",
            f"A million texts of 100 dimensions: {one['learn']:.1f} seconds for the landmarks and {one['place']:.0f} for the",
            f"places of all texts, at most {one['megabytes']:,.0f} MB in the process. Threads share the texts.",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
