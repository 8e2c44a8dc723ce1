"""How well search, expansion and recommendation work.

    python benchmarks/uses.py [run [STEP …] | page]

Steps are retrieval, expansion and recommend; what is done is kept in build/uses.json. `page` writes the tables of
docs/uses.md. Rules, settled before the figures were seen:

- The default of `search` is the way with the highest mean nDCG@10 over the sets CHOSEN and both kinds of queries; the
  sets CONFIRMED were not looked at before. The same rule decides the kernel that `by="kernel"` means.
- The default of `recommend` is the profile with the highest mean hit@10 over the users of CHOSEN subreddits.
- Labels are used for scores only.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_matrix

from coterie import TopicModel, datasets
from coterie.semantics import GRAMS
from coterie.topics import search as searching
from coterie.topics.search import Kernel, Search, query_counts

ROOT = Path(__file__).parents[1]
PAGE, KEPT = ROOT / "docs" / "uses.md", ROOT / "build" / "uses.json"
CHOSEN = ("stackoverflow", "banking77", "tweet")
CONFIRMED = ("agnews-test", "searchsnippets", "clinc150", "it-tickets", "googlenews-ts", "classic4")
TEXTS, QUERIES, DEPTH = 5_000, 300, 100
#: Terms added by an expansion, as by default.
ADDED = 10
LENGTHS = ((1, 2), (3, 4), (5, 8), (9, 10**9))


class Held:
    """A labelled set: a model of some texts, and others to ask with."""

    def __init__(self, name: str):
        data = datasets.load(name)
        self.random = np.random.default_rng(0)
        some = self.random.permutation(len(data.texts))[: TEXTS + QUERIES]
        texts = [data.texts[at] for at in some]
        labels = np.array([data.labels[at] for at in some])
        self.texts, self.asked = texts[QUERIES:], texts[:QUERIES]
        self.labels, self.wanted = labels[QUERIES:], labels[:QUERIES]
        self.model = TopicModel(10).fit(self.texts)
        assert self.model.collection is not None
        self.collection = self.model.collection
        self.distinct = self.labels[self.collection.first]

    def queries(self) -> dict[str, list[tuple[csr_matrix, str]]]:
        """Whole texts, and two of their words, each with the class; those without a known word are left out."""
        kinds: dict[str, list[tuple[csr_matrix, str]]] = {"text": [], "two words": []}
        for text, label in zip(self.asked, self.wanted, strict=True):
            counts = query_counts(self.model, text)
            if not counts.nnz or not (self.distinct == label).any():
                continue
            kinds["text"].append((counts, label))
            two = self.random.permutation(counts.indices)[:2]
            kinds["two words"].append((row_of(np.sort(two), np.ones(len(two)), counts.shape[1]), label))
        return kinds

    def judged(self, search: Search, queries: list[tuple[csr_matrix, str]]) -> list[float]:
        """Mean average precision, nDCG@10 and recall@100."""
        each = []
        for query, label in queries:
            order = np.argsort(-search.scores(query)[:, 0], kind="stable")
            each.append(measures(self.distinct[order] == label))
        return np.mean(each, axis=0).tolist()


def row_of(columns: np.ndarray, values: np.ndarray, n_terms: int) -> csr_matrix:
    return csr_matrix((values.astype(float), columns, [0, len(columns)]), shape=(1, n_terms))


def measures(relevant: np.ndarray) -> list[float]:
    """Average precision, nDCG@10 and recall@100 of a ranking.

    >>> [round(value, 3) for value in measures(np.array([True, False, True]))]
    [0.833, 0.92, 1.0]
    """
    ranks = np.flatnonzero(relevant) + 1
    precision = np.arange(1, len(ranks) + 1) / ranks
    gain = 1 / np.log2(np.arange(2, 12))
    best = gain[: min(len(ranks), 10)].sum()
    return [
        float(precision.mean()),
        float(gain[: len(relevant[:10])][relevant[:10]].sum() / best),
        float(relevant[:DEPTH].sum() / min(len(ranks), DEPTH)),
    ]


# --- retrieval


def kernel_of(kind: str) -> Callable[[searching.Counted], searching.Way]:
    return type(f"Kernel_{kind}", (Kernel,), {"kind": kind})


def ways() -> dict[str, tuple[Callable[[searching.Counted], searching.Way], ...]]:
    """Those that can be asked for, with each kernel."""
    kernels = {f"kernel {kind}": (kernel_of(kind),) for kind in GRAMS}
    return {name: way for name, way in searching.WAYS.items() if name != "kernel"} | kernels


def retrieval(kept: dict, save: Callable[[], None]) -> None:
    for name in (*CHOSEN, *CONFIRMED):
        if name in kept:
            continue
        data = Held(name)
        queries, figures = data.queries(), {}
        for way, made in ways().items():
            with patch.dict(searching.WAYS, {way: made}):
                search = Search(data.model, data.collection, way)
            figures[way] = {kind: data.judged(search, some) for kind, some in queries.items()}
            print(name, way, figures[way], flush=True)
        kept[name] = {"queries": len(queries["text"]), "ways": figures}
        save()


# --- main

STEPS = {"retrieval": retrieval}


def main() -> None:
    """Measure what is not measured yet, or write the page."""
    warnings.simplefilter("ignore", UserWarning)
    KEPT.parent.mkdir(exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}

    def save() -> None:
        KEPT.write_text(json.dumps(kept))

    for step in sys.argv[2:] or STEPS:
        STEPS[step](kept.setdefault(step, {}), save)


if __name__ == "__main__":
    main()
