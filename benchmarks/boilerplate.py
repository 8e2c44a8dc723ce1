"""What is left out of texts as they come, and what that does to topics.

    python benchmarks/boilerplate.py

Plants closings, notices, device lines and markup into labelled sets, looks for boilerplate in every labelled set
as it is, and times a fit with and without the search, each in a process of its own. Writes the tables of
docs/reliability.md; takes about half an hour on one core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from coterie import TopicModel, datasets
from coterie.corpus import Vectorizer, vectorizer
from coterie.errors import InputError
from coterie.metrics import accuracy, nmi
from coterie.topics.collection import TextStore
from coterie.topics.fitting import find_boilerplate
from coterie_papers.bench.collections import words_of
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by benchmarks/boilerplate.py -->", "<!-- end of boilerplate -->"
PLANTED = ("banking77", "clinc150")
#: Texts of a set that are looked at, and of the set that is timed.
MOST, TIMED = 5_000, 100_000
SEEDS = (0, 1, 2, 3, 4)

NOTICE = (
    "This message is confidential and intended for the exclusive use of the addressee. "
    "If you received it in error, please notify the sender and delete it."
)
FIRST = [
    *("Ana", "Paul", "Adam", "Maria", "Jonas", "Lucie", "Omar", "Ingrid", "Tomas", "Elena", "Hugo", "Priya"),
    *(
        "Chen",
        "Olga",
        "Pedro",
        "Nadia",
        "Felix",
        "Greta",
        "Ivan",
        "Yuki",
        "Marta",
        "Sven",
        "Aisha",
        "Diego",
        "Nora",
    ),
]
LAST = [
    *("Silva", "Moreau", "Smith", "Keller", "Novak", "Rossi", "Haddad", "Larsen", "Weber", "Costa", "Dubois"),
    *("Kumar", "Wong", "Petrov", "Lopez", "Hansen", "Brandt", "Meyer", "Sato", "Kowalski"),
]
#: Words that only the planted parts have in these sets.
PLANTED_WORDS = frozenset(
    [
        "regards",
        "iphone",
        "confidential",
        "intended",
        "exclusive",
        "addressee",
        "notify",
        "sender",
        "nbsp",
        "br",
    ]
) | {name.lower() for name in (*FIRST, *LAST)}


@dataclass(frozen=True)
class Dirt:
    """Shares of the texts that get each part, the number of names, and what stands before a part."""

    closing: float
    device: float
    notice: float
    html: float
    names: int
    join: str

    def __str__(self) -> str:
        parts = f"closing {self.closing:.0%}, device {self.device:.0%}, notice {self.notice:.0%}"
        where = "same line" if self.join == " " else "own line"
        return f"{parts}, HTML {self.html:.0%}; {self.names} names; {where}"


HEAVY = Dirt(0.15, 0.15, 0.10, 0.10, 8, " ")
VARIANTS = (HEAVY, Dirt(0.12, 0.05, 0.05, 0.05, 500, " "), Dirt(0.15, 0.15, 0.10, 0.10, 500, "\n"))


def planted(texts: list[str], dirt: Dirt, seed: int = 0) -> list[str]:
    """The texts, some of them with a closing, a device line, a notice or markup, whatever they are about."""
    rng = np.random.default_rng(seed)
    every = [f"{first} {last}" for first in FIRST for last in LAST]
    names = [every[61 * number % len(every)] for number in range(dirt.names)]
    made = []
    for given in texts:
        text = given
        if rng.random() < dirt.closing:
            text = f"{text}{dirt.join}Kind regards, {names[rng.integers(len(names))]}"
        if rng.random() < dirt.device:
            text = f"{text}{dirt.join}Sent from my iPhone"
        if rng.random() < dirt.notice:
            text = f"{text}{dirt.join}{NOTICE}"
        if rng.random() < dirt.html:
            text = f"<p>{text}</p><br/>&nbsp;"
        made.append(text)
    return made


def made_of_it(model: TopicModel) -> int:
    """Topics with a planted word among their first five."""
    return sum(
        not PLANTED_WORDS.isdisjoint(term.lower() for term in topic.terms[:5]) for topic in model.topics
    )


# --- planted parts


def planted_rows(name: str) -> list[list[object]]:
    """The set as it is, with planted parts left out, and with planted parts counted."""
    data = datasets.load(name)
    k = len(set(data.labels))
    cases = [("as it is", data.texts, False)]
    cases += [(str(dirt), planted(data.texts, dirt), False) for dirt in VARIANTS]
    cases += [(f"{HEAVY}; counted", planted(data.texts, HEAVY), True)]
    rows = []
    for what, texts, keep in cases:
        fixed = TopicModel(k, keep_boilerplate=keep).fit(texts)
        estimated = TopicModel(keep_boilerplate=keep).fit(texts)
        scores = (accuracy(data.labels, fixed.labels_), nmi(data.labels, fixed.labels_))
        found = fixed.boilerplate_.texts
        rows.append([name, what, found, made_of_it(estimated), len(estimated.topics), *map(_three, scores)])
        print(*rows[-1], flush=True)
    return rows


# --- sets as they are


def counts(texts: list[str], words: dict[str, object], clean: bool) -> tuple[object, object, int, str]:
    """Terms and counts, and what was left out of how many texts."""
    model = TopicModel(vectorizer=Vectorizer(**words), keep_boilerplate=not clean)
    model.vectorizer_ = Vectorizer(**words)
    found = find_boilerplate(model, TextStore(texts))
    with patch.object(
        vectorizer, "without_markup", vectorizer.without_markup if clean else lambda given: given
    ):
        corpus = model.vectorizer_.fit_corpus(texts, boilerplate=found)
    return corpus.vocabulary.terms, corpus.unfolded(), found.texts, str(found)


def scores_of(texts: list[str], labels: list[str], words: dict[str, object], clean: bool) -> str:
    """Accuracy and NMI with as many topics as classes, the mean of the seeds."""
    found = []
    for seed in SEEDS:
        model = TopicModel(
            len(set(labels)), vectorizer=Vectorizer(**words), keep_boilerplate=not clean, random_state=seed
        )
        with patch.object(
            vectorizer, "without_markup", vectorizer.without_markup if clean else lambda given: given
        ):
            model.fit(texts)
        found.append((accuracy(labels, model.labels_), nmi(labels, model.labels_)))
    return " / ".join(f"{value:.3f}" for value in np.mean(found, axis=0))


def set_rows() -> list[list[object]]:
    """What is left out of every labelled set, and accuracy / NMI without and with that."""
    rows = []
    for name in datasets.names():
        try:
            data = datasets.load(name)
        except InputError:
            continue
        chosen = np.random.default_rng(0).permutation(len(data))[:MOST]
        texts, labels = [data.texts[at] for at in chosen], [data.labels[at] for at in chosen]
        words = words_of(data)
        before, after = counts(texts, words, False), counts(texts, words, True)
        changed = _changed(texts)
        same = before[0] == after[0] and (before[1] != after[1]).nnz == 0
        both = ("", "") if same else (scores_of(texts, labels, words, c) for c in (False, True))
        rows.append([name, len(texts), changed, after[2], after[3] or "nothing", *both])
        if same:
            rows[-1][-2:] = ["same counts", "same counts"]
        print(*rows[-1], flush=True)
    return rows


def _changed(texts: list[str]) -> int:
    import polars as pl

    given = pl.Series(texts)
    return int((vectorizer.without_markup(given) != given).sum())


# --- time


def seconds(keep: bool) -> float:
    """Of a fit of many texts in a process of its own, the faster of two."""
    command = [sys.executable, __file__, "--time", json.dumps(keep)]
    return min(
        float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(2)
    )


def timed(keep: bool) -> None:
    """Print the processor's seconds of one fit."""
    texts = datasets.load("reddit").texts[:TIMED]
    begun = time.process_time()
    TopicModel(100, keep_boilerplate=keep).fit(texts)
    print(time.process_time() - begun)


def planted_part() -> str:
    """Topics of texts into which something was planted."""
    rows = [row for name in PLANTED for row in planted_rows(name)]
    return f"""Parts that were planted, and topics afterwards. **Left out of**: texts of which something was left out. **Made of it**: topics
with a planted word among their first five. **Estimated**: the estimated number of topics. Accuracy and NMI are those of as many
topics as there are classes.

{table(["set", "planted", "left out of", "made of it", "estimated", "accuracy", "NMI"], rows)}"""


def sets_part() -> str:
    """All sets as they are."""
    header = ["set", "texts", "with markup or entities", "left out of", "left out", "before", "after"]
    return f"""Every labelled set as it is, at most {MOST:,} texts drawn at random, with as many topics as classes: accuracy / NMI, the
mean over random states {", ".join(map(str, SEEDS))}. Where the counts are the same, so is everything else.

{table(header, set_rows())}"""


def time_part() -> str:
    """What the search costs."""
    without, with_search = seconds(True), seconds(False)
    return f"""A fit of {TIMED:,} Reddit titles with 100 topics, seconds of the processor, the faster of two processes: {without:.0f} without
the search, {with_search:.0f} with it, {with_search / without:.2f} times as many."""


def _three(value: float) -> str:
    return f"{value:.3f}"


def main() -> None:
    """Measure, and write the tables."""
    if "--time" in sys.argv:
        timed(json.loads(sys.argv[-1]))
        return
    written: list[str] = []
    for part in (planted_part, sets_part, time_part):
        written.append(part())
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        text = "\n\n".join(["", *written, ""])
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
