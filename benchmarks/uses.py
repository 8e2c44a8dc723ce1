"""How well search, expansion and recommendation work.

    python benchmarks/uses.py [run [STEP …] | page]

Steps are retrieval, expansion and recommendation; what is done is kept in build/uses.json. `page` writes the tables of
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
from scipy.sparse import csr_matrix, vstack
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from coterie import TopicModel, datasets
from coterie.linalg.rows import unit_dense
from coterie.metrics.classification import split
from coterie.semantics import GRAMS
from coterie.topics import search as searching
from coterie.topics.recommend import diverse
from coterie.topics.related import Terms
from coterie.topics.search import Kernel, Search, query_counts

ROOT = Path(__file__).parents[1]
PAGE, KEPT = ROOT / "docs" / "uses.md", ROOT / "build" / "uses.json"
CHOSEN = ("stackoverflow", "banking77", "tweet")
CONFIRMED = ("agnews-test", "searchsnippets", "clinc150", "it-tickets", "googlenews-ts", "classic4")
TEXTS, QUERIES, DEPTH = 5_000, 300, 100
#: Terms added by an expansion, as by default.
ADDED = 10
LENGTHS = ((1, 2), (3, 4), (5, 8), (9, 10**9))
#: Subreddits, their titles that are fitted and others, users of each, titles that a user read, and candidates.
SUBREDDITS, FITTED, ASKED, USERS, HISTORIES, CANDIDATES = 200, 50, 40, 5, (1, 3, 10), 100
PROFILES, DIVERSITIES = ("tf-idf", "vectors", "tf-idf and vectors"), (0.0, 0.3)


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


def ways() -> dict[str, Callable[[searching.Counted], searching.Way]]:
    """Those that can be asked for, with each kernel."""
    kernels = {f"kernel {kind}": kernel_of(kind) for kind in GRAMS}
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


# --- expansion


def expanded(terms: Terms, row: csr_matrix) -> csr_matrix:
    """A row of counts with the terms that `expand` adds, as counts of less than one."""
    own = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    own |= {added.term: added.weight for added in terms.added(row, ADDED)}
    columns = np.array(sorted(own), dtype=np.int32)
    return row_of(columns, np.array([own[column] for column in columns]), row.shape[1])


def expansion(kept: dict, save: Callable[[], None]) -> None:
    for name in (*CHOSEN, *CONFIRMED):
        if name in kept:
            continue
        data = Held(name)
        terms, figures = Terms(data.model), {}
        for kind, queries in data.queries().items():
            more = [(expanded(terms, query), label) for query, label in queries]
            for by in ("bm25", "tf-idf"):
                search = Search(data.model, data.collection, by)
                figures[f"{by}, {kind}"] = [data.judged(search, queries)[1], data.judged(search, more)[1]]
        kept[name] = {"retrieval": figures, "classification": classified(data, terms)}
        print(name, kept[name], flush=True)
        save()


def classified(data: Held, terms: Terms) -> list[list[float]]:
    """For each range of lengths: test texts, and the accuracy without and with expansion of all texts."""
    counts = data.model.vectorizer_.transform(data.texts)
    counts.sort_indices()
    codes = np.unique(data.labels, return_inverse=True)[1]
    train, test = split(codes, 0.2, 0)
    more = vstack([expanded(terms, row) for row in counts], format="csr")
    right = []
    for some in (counts, more):
        rows = TfidfTransformer(sublinear_tf=False).fit(some[train]).transform(some)
        machine = LinearSVC(random_state=0, max_iter=10_000).fit(rows[train], codes[train])
        right.append(machine.predict(rows[test]) == codes[test])
    n_terms = np.diff(counts.indptr)[test]
    ranges = [(n_terms >= least) & (n_terms <= most) for least, most in LENGTHS]
    return [[int(at.sum()), *(float(found[at].mean()) for found in right)] for at in ranges if at.any()]


# --- recommendation


def recommendation(kept: dict, save: Callable[[], None]) -> None:
    """Users of subreddits: some titles read, one held out among titles of other subreddits."""
    if kept:
        return
    data = datasets.load("reddit")
    random = np.random.default_rng(0)
    texts, labels = np.array(data.texts, dtype=object), np.array(data.labels)
    names, sizes = np.unique(labels, return_counts=True)
    subreddits = random.permutation(names[sizes >= FITTED + ASKED])[:SUBREDDITS]
    drawn = {
        name: random.permutation(np.flatnonzero(labels == name))[: FITTED + ASKED] for name in subreddits
    }
    model = TopicModel(50).fit([text for rows in drawn.values() for text in texts[rows[:FITTED]]])
    features = {name: features_of(model, texts[rows[FITTED:]]) for name, rows in drawn.items()}
    hits: dict[str, dict[str, list[list[float]]]] = {"chosen": {}, "confirmed": {}}
    for number, name in enumerate(subreddits):
        part = hits["chosen" if number % 2 else "confirmed"]
        for _ in range(USERS):
            own = random.permutation(ASKED)
            others = random.choice([other for other in subreddits if other != name], CANDIDATES - 1)
            places = [(other, random.integers(ASKED)) for other in others]
            for profile in PROFILES:
                rows = np.stack(
                    [features[name][profile][own[0]]] + [features[o][profile][at] for o, at in places]
                )
                for history in HISTORIES:
                    read = features[name][profile][own[1 : history + 1]].sum(axis=0, keepdims=True)
                    relevance = rows @ unit_dense(read)[0]
                    for diversity in DIVERSITIES:
                        # ties, as of texts that share no word, are broken at random
                        order = random.permutation(CANDIDATES)
                        best = order[
                            diverse(rows[order], relevance[order], np.arange(CANDIDATES), 10, diversity)
                        ]
                        near = rows[best] @ rows[best].T
                        said = [float(0 in best), float((near.sum() - np.trace(near)) / 90)]
                        part.setdefault(f"{profile}, {history}, {diversity}", []).append(said)
    kept |= {
        part: {case: np.mean(each, axis=0).tolist() for case, each in cases.items()}
        for part, cases in hits.items()
    }
    kept["users"] = {part: len(next(iter(cases.values()))) for part, cases in hits.items()}
    print(json.dumps(kept, indent=1), flush=True)
    save()


def features_of(model: TopicModel, texts: np.ndarray) -> dict[str, np.ndarray]:
    """Texts as unit rows in each of the profiles."""
    counts, space = model.vectorizer_.transform(list(texts)), model.state.edited.scorer.method.space
    words, vectors = space.words(counts).toarray(), np.asarray(space.text_vectors(counts))
    return {
        "tf-idf": words,
        "vectors": vectors,
        "tf-idf and vectors": np.hstack([words, vectors]) / np.sqrt(2),
    }


# --- the page

_MARKS = "<!-- written by benchmarks/uses.py -->", "<!-- end of uses -->"
_KINDS = {"text": "a whole text", "two words": "two words of a text"}


def page(kept: dict) -> str:
    """The tables of the page."""
    return "\n\n".join([_of_retrieval(kept["retrieval"]), _of_recommendation(kept["recommendation"])])


def _of_retrieval(kept: dict) -> str:
    groups = {"chosen": CHOSEN, "confirmed": CONFIRMED}
    ranked = list(next(iter(kept.values()))["ways"])

    def mean(way: str, kind: str, sets: tuple[str, ...], at: int = 1) -> float:
        return float(np.mean([kept[name]["ways"][way][kind][at] for name in sets]))

    ranked.sort(key=lambda way: -np.mean([mean(way, kind, CHOSEN) for kind in _KINDS]))
    heads = [f"{kind}, {group}" for kind in _KINDS.values() for group in groups]
    rows = [
        [f"`{way}`", *(f"{mean(way, kind, sets):.3f}" for kind in _KINDS for sets in groups.values())]
        for way in ranked
    ]
    own = [[name, *(f"{mean(way, 'text', (name,)):.3f}" for way in ranked)] for name in (*CHOSEN, *CONFIRMED)]
    return f"""## Search

{QUERIES} texts of each set ask for texts of their class among up to {TEXTS:,} others: nDCG@10, the mean over {len(CHOSEN)}
sets by which ways were chosen ({", ".join(CHOSEN)}) and over {len(CONFIRMED)} others ({", ".join(CONFIRMED)}). A query is a whole text, or two
of its words.

{_table(["way", *heads], rows)}

The same for each set, a whole text as the query.

{_table(["set", *(f"`{way}`" for way in ranked)], own)}

Collections with queries and judgements of their own (CACM, CISI, CRAN, MED) are not at hand, and effects of expansion are not
measured yet."""


def _of_recommendation(kept: dict) -> str:
    rows = [
        [profile, str(history), f"{diversity:g}"]
        + [f"{value:.3f}" for part in ("chosen", "confirmed") for value in kept[part][case]]
        for profile in PROFILES
        for history in HISTORIES
        for diversity in DIVERSITIES
        if (case := f"{profile}, {history}, {diversity}")
    ]
    heads = ["profile", "titles read", "diversity", "hit@10, chosen", "alike", "hit@10, confirmed", "alike"]
    return f"""## Recommendation

A user has read some titles of one subreddit of `reddit`; another one is among {CANDIDATES} candidates, of which the others are from
other subreddits. A hit is the right one among the first ten. "Alike" is the mean cosine of these ten.
{kept["users"]["chosen"]} users chose the default, {kept["users"]["confirmed"]} users of other subreddits confirm it.

{_table(heads, rows)}"""


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- main

STEPS = {"retrieval": retrieval, "expansion": expansion, "recommendation": recommendation}


def main() -> None:
    """Measure what is not measured yet, or write the page."""
    warnings.simplefilter("ignore", UserWarning)
    KEPT.parent.mkdir(exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}

    def save() -> None:
        KEPT.write_text(json.dumps(kept))

    if sys.argv[1:] == ["page"]:
        begin, end = _MARKS
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        tail = rest.partition(end)[2]
        PAGE.write_text(f"{head}{begin}\n\n{page(kept)}\n\n{end}{tail}", encoding="utf-8")
        return
    for step in sys.argv[2:] or STEPS:
        STEPS[step](kept.setdefault(step, {}), save)


if __name__ == "__main__":
    main()
