"""How well names of topics point to their topics, against labels of the three first terms.

    python benchmarks/names.py [NAME …]

Every labelled set that is here is fitted with as many topics as it has classes, at most 150, and a sample of 20,000 texts
if it has more. A name is right if, taken as a text, it leads to its topic among all: by the model itself, and by the
static embedding, for which a topic is the mean of its texts. Writes the table of docs/names.md.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

from coterie import TopicModel, Vectorizer, datasets
from coterie.embeddings import STATIC, static_installed, vectors_of
from coterie.topics import editing
from coterie.topics.labels import topic_labels
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "names.md"
KEPT = Path(__file__).parents[1] / "build" / "names.json"
BEGIN, END = "<!-- written by benchmarks/names.py -->", "<!-- end of names -->"
TEXTS, TOPICS, SEED = 20_000, 150, 0


def measured(name: str) -> dict[str, object]:
    """One data set: how often names and labels of three terms lead to their topics, and what names cost."""
    data = datasets.load(name)
    chosen = np.random.default_rng(SEED).permutation(len(data.texts))[:TEXTS]
    texts = [data.texts[at] for at in chosen]
    n_topics = min(len(set(data.labels)), TOPICS)
    language = "chinese" if data.language.startswith("zh") else "english"
    words = (
        Vectorizer(language, tokenizer="whitespace", min_df=2)
        if data.tokenised and language == "chinese"
        else None
    )
    seconds: list[float] = []
    original = editing.topic_names

    def timed(*given, **settings):
        begin = time.process_time()
        found = original(*given, **settings)
        seconds.append(time.process_time() - begin)
        return found

    begin = time.process_time()
    with patch.object(editing, "topic_names", timed):
        model = TopicModel(n_topics, language=language, vectorizer=words).fit(texts)
    total = time.process_time() - begin
    ids = [topic.id for topic in model.topics]
    display = model.vectorizer_.vocabulary_.display
    terms = [[display[column] for column in columns] for columns in model.state.description.terms]
    names = [topic.label for topic in model.topics]
    plain = topic_labels(terms, ids, {})
    return {
        "set": name,
        "topics": len(ids),
        "phrases": float(np.mean([", " not in label for label in names])),
        "words": float(np.mean([len(re.findall(r"\w+", label)) for label in names])),
        "model": [float(np.mean(model.predict(labels) == np.array(ids))) for labels in (plain, names)],
        "embedding": by_embedding(model, texts, [plain, names]) if language == "english" else None,
        "ratio": total / (total - sum(seconds)),
    }


def by_embedding(model: TopicModel, texts: list[str], labelled: list[list[str]]) -> list[float] | None:
    """The share of labels whose nearest topic is their own."""
    if not static_installed():
        return None
    vectors = unit(vectors_of(STATIC, texts))
    ids = np.array([topic.id for topic in model.topics])
    centers = unit(np.array([vectors[model.labels_ == topic].mean(axis=0) for topic in ids]))
    return [
        float(np.mean(ids[np.argmax(unit(vectors_of(STATIC, labels)) @ centers.T, axis=1)] == ids))
        for labels in labelled
    ]


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def page(found: list[dict[str, object]]) -> str:
    """The table, and the means of its columns."""
    rows = [row(one) for one in found]
    both = [one for one in found if one["embedding"]]
    mean = {
        "set": "mean of all",
        "topics": "",
        **{key: np.mean([one[key] for one in found]) for key in ("phrases", "words", "ratio")},
        "model": np.mean([one["model"] for one in found], axis=0),
        "embedding": np.mean([one["embedding"] for one in both], axis=0) if both else None,
    }
    headings = [
        "set", "topics", "model, three terms", "model, name", "embedding, three terms", "embedding, name",
        "names that are one phrase", "words in a name", "time of the fit with / without",
    ]  # fmt: skip
    return table(headings, [*rows, row(mean)])


def row(one) -> list[str]:
    percent = [f"{100 * value:.0f} %" for value in one["model"]]
    percent += (
        [f"{100 * value:.0f} %" for value in one["embedding"]] if one["embedding"] is not None else ["–", "–"]
    )
    return [
        one["set"],
        str(one["topics"]),
        *percent,
        f"{100 * one['phrases']:.0f} %",
        f"{one['words']:.1f}",
        f"{one['ratio']:.3f}",
    ]


def main(names: list[str]) -> None:
    found = {one["set"]: one for one in json.loads(KEPT.read_text())} if KEPT.exists() else {}
    for name in names:
        found[name] = measured(name)
        print(json.dumps(found[name]), flush=True)
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(list(found.values())))
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    ordered = [found[name] for name in sorted(found)]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(ordered)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    here = datasets.describe().filter(pl.col("path").is_not_null())["name"].to_list()
    main(sys.argv[1:] or here)
