"""How well levels of topics follow labelled hierarchies, and how often a level is offered where there is none.

    python benchmarks/levels.py [NAME …]

Labelled sets are fitted once; each level that is offered is compared with the classes, and with a fit of as many
topics. Where a set has classes of two levels, those whose number is nearest to that of the groups are taken. Texts
without groups are drawn in three ways, texts with groups in one. Writes the tables of docs/levels.md.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from coterie import TopicModel, datasets
from coterie.metrics.clustering import accuracy, ari, nmi
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "levels.md"
KEPT = Path(__file__).parents[1] / "build" / "levels.json"
BEGIN, END = "<!-- written by benchmarks/levels.py: {} -->", "<!-- end of {} -->"
TEXTS, SEED, DRAWS = 22_500, 0, 20
#: Labelled sets, and numbers of topics that are fitted.
LABELLED: dict[str, tuple[int | str, ...]] = {
    "clinc150": ("auto", 150, 60),
    "agnews": (40,),
    "stackoverflow": (50,),
    "debian": ("auto",),
    "reddit": ("auto",),
}
#: Subreddits of the reddit sample.
SUBREDDITS = 100


# --- labelled sets


def sampled(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """Texts, and their classes by the name of the labelling."""
    data = datasets.load(name)
    chosen = np.arange(len(data.texts))
    if name == "reddit":
        largest = [label for label, _ in Counter(sorted(data.labels)).most_common(SUBREDDITS)]
        chosen = np.flatnonzero(np.isin(np.array(data.labels), largest))
    chosen = np.sort(np.random.default_rng(SEED).permutation(chosen)[:TEXTS])
    labels = {"classes": data.labels}
    if name == "clinc150":
        labels = {"intents": data.labels, "domains": datasets.load("clinc150-domain").labels}
    return [data.texts[at] for at in chosen], {
        kind: [own[at] for at in chosen] for kind, own in labels.items()
    }


def scores(truth: list[str], found: np.ndarray) -> list[float]:
    known = found >= 0
    own = np.unique(truth, return_inverse=True)[1][known]
    return [float(measure(own, found[known])) for measure in (ari, nmi, accuracy)]


def measured(name: str, n_topics: int | str) -> list[dict[str, object]]:
    """One fit: a row for each level."""
    texts, labels = sampled(name)
    begin = time.process_time()
    model = TopicModel(n_topics).fit(texts)
    fitted = time.process_time() - begin
    begin = time.process_time()
    levels = model.levels
    seconds = time.process_time() - begin
    rows: list[dict[str, object]] = []
    for level in levels:
        last = level is levels[-1]
        kind = min(labels, key=lambda one: abs(np.log(len(set(labels[one])) / len(level))))
        flat = None if last else TopicModel(len(level)).fit(texts)
        rows.append(
            {
                "set": name,
                "fit": n_topics,
                "groups": len(level),
                "agreement": level.agreement,
                "chance": level.chance,
                "labels": f"{len(set(labels[kind]))} {kind}",
                "nested": scores(labels[kind], level.of(model.labels_)),
                "flat": None if flat is None else scores(labels[kind], flat.labels_),
                "cost": seconds / fitted,
                "names": [group.label for group in level.groups[:6]],
            }
        )
    return rows


# --- drawn texts


def words(n_words: int) -> list[str]:
    return [
        "".join("bdfgklmnprtv"[int(d, 12)] + "o" for d in np.base_repr(n + 144, 12)) + "k"
        for n in range(n_words)
    ]


def drawn(random: np.random.Generator, groups: int, per_group: int, shared: int) -> list[str]:
    """Texts of four words of their topic, `shared` words of its group, and two words that all use."""
    spelled, n_topics = words(3_000), groups * per_group
    texts = []
    for _ in range(100 * n_topics):
        topic = int(random.integers(n_topics))
        numbers = [
            *(topic * 10 + random.choice(10, 4, replace=False)),
            *(2_000 + random.integers(60, size=2)),
        ]
        numbers += [*(1_000 + topic // per_group * 12 + random.choice(12, shared, replace=False))]
        texts.append(" ".join(spelled[int(number)] for number in numbers))
    return texts


def unigrams(random: np.random.Generator) -> list[str]:
    """The words of clinc150, dealt out at random to texts of the same lengths."""
    texts = datasets.load("clinc150").texts
    chosen = [texts[at].split() for at in random.permutation(len(texts))[:2_000]]
    dealt = iter(random.permutation([word for text in chosen for word in text]).tolist())
    return [" ".join(next(dealt) for _ in text) for text in chosen]


DRAWN: dict[str, tuple[Callable[[np.random.Generator], list[str]], int, int]] = {
    "16 topics without groups": (lambda random: drawn(random, 1, 16, 0), 16, 0),
    "40 topics without groups": (lambda random: drawn(random, 1, 40, 0), 40, 0),
    "words of clinc150 dealt out at random, 20 topics asked for": (unigrams, 20, 0),
    "4 groups of 4 topics": (lambda random: drawn(random, 4, 4, 1), 16, 4),
    "5 groups of 8 topics": (lambda random: drawn(random, 5, 8, 1), 40, 5),
}


def drawn_levels(kind: str) -> dict[str, object]:
    make, n_topics, true = DRAWN[kind]
    found = []
    for seed in range(DRAWS):
        model = TopicModel(n_topics).fit(make(np.random.default_rng(seed)))
        found.append([len(level) for level in model.levels[:-1]])
    return {"texts": kind, "true": true, "found": found}


# --- the page


def labelled_table(rows: list[dict]) -> str:
    def said(values: list[float] | None) -> list[str]:
        return ["–"] * 3 if values is None else [f"{value:.2f}" for value in values]

    headings = [
        "set", "topics asked for", "groups", "agreement", "by chance", "compared with", "ARI", "NMI", "accuracy",
        "flat ARI", "flat NMI", "flat accuracy",
    ]  # fmt: skip
    return table(
        headings,
        [
            [
                row["set"], str(row["fit"]), str(row["groups"]) + ("" if row["agreement"] else " (topics)"),
                *(["–", "–"] if row["agreement"] is None else [f"{row[key]:.2f}" for key in ("agreement", "chance")]),
                row["labels"], *said(row["nested"]), *said(row["flat"]),
            ]
            for row in rows
        ],
    )  # fmt: skip


def drawn_table(rows: list[dict]) -> str:
    def right(row: dict) -> int:
        return sum(found == ([row["true"]] if row["true"] else []) for found in row["found"])

    return table(
        ["texts", "draws", "a level offered", "exactly the groups that are there"],
        [
            [row["texts"], str(len(row["found"])), str(sum(map(bool, row["found"]))), str(right(row))]
            for row in rows
        ],
    )


def write(kept: dict[str, dict]) -> None:
    labelled = [row for key, rows in kept["labelled"].items() for row in rows]
    costs = [row["cost"] for row in labelled]
    parts = {
        "labelled": labelled_table(labelled)
        + f"\n\nThe levels took {100 * max(costs):.1f} % of the time of the fit at most."
        if labelled
        else "",
        "drawn": drawn_table(list(kept["drawn"].values())),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, after = text.split(begin)[0], text.split(end)[1]
        text = f"{before}{begin}\n\n{part}\n\n{end}{after}"
    PAGE.write_text(text, encoding="utf-8")


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"labelled": {}, "drawn": {}}
    KEPT.parent.mkdir(exist_ok=True)
    tasks = [("drawn", kind, lambda kind=kind: drawn_levels(kind)) for kind in DRAWN if kind in names]
    tasks += [
        ("labelled", f"{name} {fit}", lambda name=name, fit=fit: measured(name, fit))
        for name, fits in LABELLED.items()
        if name in names
        for fit in fits
    ]
    for part, key, task in tasks:
        kept[part][key] = task()
        print(key, json.dumps(kept[part][key]), flush=True)
        KEPT.write_text(json.dumps(kept))
    write(kept)


if __name__ == "__main__":
    main(sys.argv[1:] or [*DRAWN, *LABELLED])
