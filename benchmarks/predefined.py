"""How well predefined topics find their texts.

    python benchmarks/predefined.py [NAME …]

Of each labelled set a random sample of 5,000 texts. Its classes are given as topics: by name, by name and three words,
or by three example texts. The words are the most distinctive ones of a sample of 20 texts a class; the examples are drawn
at random. Labels are used for these and for scores, never for learning. Compared with the nearest name by the static
embedding, with the former seed words, which held their texts to the end, with topics that know nothing, matched with the
classes one to one, and with a classifier that knows the labels of four fifths. Writes docs/predefined.md.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from coterie import Coterie, Vectorizer, datasets
from coterie.cluster import coterie as method
from coterie.cluster import refining
from coterie.cluster.predefined import FREE, Predefined, _sums
from coterie.embeddings import STATIC, vectors_of
from coterie.linalg.rows import unit_dense
from coterie.metrics import accuracy
from coterie.topics.predefined import checked_topics, evidence
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "predefined.md"
KEPT = Path(__file__).parents[1] / "build" / "predefined.json"
BEGIN, END = "<!-- written by benchmarks/predefined.py -->", "<!-- end of predefined -->"
CHOSEN = ("stackoverflow", "clinc150-domain")
CONFIRMED = ("agnews-test", "searchsnippets", "it-tickets", "banking77", "clinc150")
GIVEN = ("name", "name and words", "examples")
SAMPLE, WORDS, EXAMPLES = 20, 3, 3
TEXTS, RESTARTS = 5_000, 2


class Labelled:
    """A labelled set, counted and embedded."""

    def __init__(self, name: str):
        data = datasets.load(name)
        some = np.random.default_rng(0).permutation(len(data.texts))[:TEXTS]
        self.texts = [data.texts[at] for at in some]
        self.classes = sorted(set(data.labels))
        self.truth = np.searchsorted(self.classes, [data.labels[at] for at in some])
        self.vectorizer = Vectorizer(min_df=2, fix_typos=True, skip_non_answers=True)
        self.counts = self.vectorizer.fit_transform(self.texts)
        self.stop_words = self.vectorizer.stop_word_counts(self.texts)
        self.embeddings = vectors_of(STATIC, self.texts)

    def topics(self, given: str) -> dict[str, object]:
        """The classes as predefined topics."""
        names = [re.sub(r"[\W_]+", " ", label).strip() for label in self.classes]
        if given == "name":
            return dict.fromkeys(names)
        if given == "examples":
            rows = self.sample(EXAMPLES, 2)
            return {n: {"examples": [self.texts[r] for r in of]} for n, of in zip(names, rows, strict=True)}
        return {n: [*n.split(), *words] for n, words in zip(names, self.distinctive(), strict=True)}

    def sample(self, n: int, seed: int) -> list[np.ndarray]:
        random = np.random.default_rng(seed)
        return [random.permutation(np.flatnonzero(self.truth == k))[:n] for k in range(self.n)]

    def distinctive(self) -> list[list[str]]:
        used = [np.asarray((self.counts[rows] > 0).mean(axis=0)).ravel() for rows in self.sample(SAMPLE, 1)]
        shares = np.maximum(np.stack(used), 1e-9)
        best = np.argsort(-shares * np.log(shares / shares.mean(axis=0)), axis=1, kind="stable")
        return [[self.vectorizer.vocabulary_.display[c] for c in row[:WORDS]] for row in best]

    @property
    def n(self) -> int:
        return len(self.classes)


def learned(data: Labelled, topics: dict[str, object] | None, n_topics: int, static: bool) -> np.ndarray:
    """The topic of each text."""
    known = None
    if topics is not None:
        known = evidence(checked_topics(topics), data.vectorizer, STATIC if static else None)
    model = Coterie(n_topics, restarts=RESTARTS, embeddings=data.embeddings if static else None)
    return model.fit(data.counts, predefined=known, stop_word_counts=data.stop_words).labels_


def seeded(data: Labelled, topics: dict[str, object], n_topics: int, static: bool) -> np.ndarray:
    """The same with the former seed words: every word is one, and its texts are held to the end."""
    begin = Predefined.begin

    def by_any_word(known, counts):
        return begin(replace(known, is_words=np.ones(len(known.topics), dtype=bool)), counts)

    def of_texts(known, texts, begun, space, view):
        return unit_dense(texts.sum(lambda block: _sums(block, begun[block.rows], known.n_topics)))

    with (
        patch.object(Predefined, "begin", by_any_word),
        patch.object(Predefined, "centers", of_texts),
        patch.object(refining, "_HELD", refining._CYCLES),
        patch.object(method, "find_topics", lambda *given: refining.find_topics(*given[:4])),  # not anchored
    ):
        return learned(data, topics, n_topics, static)


def nearest_name(data: Labelled, topics: dict[str, object]) -> np.ndarray:
    """The topic whose embedding is nearest: that of its name and words, or the mean of its examples."""
    known = evidence(checked_topics(topics), data.vectorizer, STATIC)
    assert known is not None
    assert known.vectors is not None
    sums = np.zeros((known.n_topics, known.vectors.shape[1]))
    np.add.at(sums, known.topics, unit_dense(known.vectors))
    return (unit_dense(data.embeddings) @ unit_dense(sums).T).argmax(axis=1)


def supervised(data: Labelled) -> float:
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=300))
    return float(cross_val_score(model, data.texts, data.truth, cv=5).mean())


def half(data: Labelled, found: np.ndarray, given: list[int]) -> list[float]:
    """Share of the given classes' texts in their topics, of those topics' texts in their class, ARI of others."""
    inside = np.isin(data.truth, given)
    wanted = np.full(data.n, FREE)
    wanted[given] = np.arange(len(given))
    right = found == wanted[data.truth]
    others = adjusted_rand_score(data.truth[~inside], found[~inside])
    return [float(right[inside].mean()), float(right[found < len(given)].mean()), float(others)]


def held(data: Labelled, topics: dict[str, object], found: np.ndarray) -> float:
    """Of the texts with words of one predefined topic alone, the share that is in that topic."""
    known = evidence(checked_topics(topics), data.vectorizer)
    assert known is not None
    begun = known.begin(data.counts)
    return float((found == begun)[begun != FREE].mean())


def measured(name: str) -> dict[str, object]:
    """All figures of one set but the supervised one."""
    data = Labelled(name)
    free = {static: learned(data, None, data.n, static) for static in (False, True)}
    some = list(range(0, data.n, 2))
    others = ~np.isin(data.truth, some)
    result: dict[str, object] = {
        "classes": data.n,
        "unsupervised": [float(accuracy(data.truth, free[static])) for static in (False, True)],
        "others": float(adjusted_rand_score(data.truth[others], free[False][others])),
    }
    for given in GIVEN:
        topics = data.topics(given)
        ways = {"learned": learned, **({"seeded": seeded} if given != "examples" else {})}
        figures: dict[str, object] = {"nearest": float((nearest_name(data, topics) == data.truth).mean())}
        for way, find in ways.items():
            found = {static: find(data, topics, data.n, static) for static in (False, True)}
            figures[way] = [float((found[static] == data.truth).mean()) for static in (False, True)]
            if given != "name":
                first = dict(list(topics.items())[::2])
                part = find(data, first, data.n, False)
                stays = held(data, first, part) if given != "examples" else None
                figures[f"half {way}"] = [*half(data, part, some), stays]
        print(name, given, json.dumps(figures), flush=True)
        result[given] = figures
    return result


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def page(kept: dict[str, dict]) -> str:
    """The tables of docs/predefined.md."""
    only, parts = [], []
    for name in [name for name in (*CHOSEN, *CONFIRMED) if name in kept]:
        one = kept[name]
        title = f"{name} ({one['classes']})" + (" *" if name in CHOSEN else "")
        for given in GIVEN:
            figures = one[given]
            seeds = figures.get("seeded", [None, None])
            only.append(
                [
                    title,
                    given,
                    *map(percent, (*figures["learned"], *seeds, figures["nearest"], *one["unsupervised"])),
                    percent(one.get("supervised")),
                ]
            )
            for way, words in (("learned", "predefined"), ("seeded", "former seeds")):
                if f"half {way}" in figures:
                    row = figures[f"half {way}"]
                    parts.append([title, given, words, *map(percent, row), percent(one["others"])])
    first = table(
        ["set (classes)", "given", "only these", "static", "former seeds", "static", "nearest by embedding"]
        + ["unsupervised", "static", "supervised"],
        only,
    )
    second = table(
        [
            "set (classes)",
            "given",
            "method",
            "recall",
            "precision",
            "ARI of others",
            "stay",
            "ARI unsupervised",
        ],
        parts,
    )
    return (
        f"### Only these\n\nAccuracy in %.\n\n{first}\n\n### Half of the classes, plus new topics\n\n"
        "Every other class in alphabetical order is given, and as many topics are asked for as there are classes; no "
        f"embedding. In %.\n\n{second}"
    )


def main() -> None:
    """Measure the sets that are named, or all, and write the page."""
    names = sys.argv[1:] or [*CHOSEN, *CONFIRMED]
    KEPT.parent.mkdir(exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    warnings.simplefilter("ignore", UserWarning)
    for name in names:
        if name not in kept:
            kept[name] = measured(name)
            KEPT.write_text(json.dumps(kept))
    for name in names:
        if "supervised" not in kept[name]:
            kept[name]["supervised"] = supervised(Labelled(name))
            KEPT.write_text(json.dumps(kept))
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(kept)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
