"""How well search, expansion and recommendation work.

    python benchmarks/uses.py [run [STEP or SET …] | page]

Steps are retrieval, judged, expansion and recommendation; what is done is kept in build/uses.json. SETs narrow retrieval and
expansion to them. `page` writes the tables of docs/uses.md. Rules, settled before the figures were seen:

- The default of `search` is the way with the highest mean nDCG@10 over the sets CHOSEN and both kinds of queries; the
  sets CONFIRMED were not looked at before. The same rule decides the kernel that `by="kernel"` means.
- Collections with queries and judgements (those of `coterie.datasets.names("retrieval")` that are here) choose nothing: they
  show how the ways rank where relevance was judged by people.
- Expansion helps texts of some length if it raises the mean over CHOSEN and the mean over CONFIRMED by EFFECT or more, and
  harms them if both fall by that; otherwise it makes no difference that counts. A set counts for a length with LEAST texts.
- The default of `recommend` is the profile with the highest mean hit@10 over the users of CHOSEN subreddits.
- Labels are used for scores only.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
EFFECT, LEAST = 0.01, 20
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

    def each(self, search: Search, queries: list[tuple[csr_matrix, str]]) -> np.ndarray:
        """Average precision, nDCG@10 and recall@100 of each query."""
        return np.array([measures(ranked(search, query, self.distinct == label)) for query, label in queries])


def ranked(search: Search, query: csr_matrix, relevant: np.ndarray) -> np.ndarray:
    """Which texts are relevant, the best first."""
    return relevant[np.argsort(-search.scores(query)[:, 0], kind="stable")]


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


def retrieval(kept: dict, save: Callable[[], None], sets: Sequence[str]) -> None:
    for name in sets:
        if name in kept:
            continue
        data = Held(name)
        queries, figures = data.queries(), {}
        for way, made in ways().items():
            with patch.dict(searching.WAYS, {way: made}):
                search = Search(data.model, data.collection, way)
            figures[way] = {
                kind: data.each(search, some).mean(axis=0).tolist() for kind, some in queries.items()
            }
            print(name, way, figures[way], flush=True)
        kept[name] = {"queries": len(queries["text"]), "ways": figures}
        save()


# --- collections with queries and judgements


def judged(kept: dict, save: Callable[[], None], sets: Sequence[str]) -> None:
    """MAP, nDCG@10 and recall@100 of each way, over the queries with a known word and a relevant text."""
    here = datasets.describe().filter(kind="retrieval").drop_nulls("path")["name"]
    for name in here:
        if name in kept:
            continue
        queries, figures = {}, {}
        data = datasets.load_retrieval(name)
        model = TopicModel(10).fit(data.texts)
        assert model.collection is not None
        rows = model.collection.corpus.rows
        for number in sorted({query for query, _ in data.relevant}):
            texts = rows[[text for query, text in data.relevant if query == number]]
            relevant = np.isin(np.arange(len(model.collection.first)), texts)
            counts = query_counts(model, data.queries[number])
            if counts.nnz and relevant.any():
                queries[number] = counts, relevant
        for way, made in ways().items():
            with patch.dict(searching.WAYS, {way: made}):
                search = Search(model, model.collection, way)
            each = [measures(ranked(search, *query)) for query in queries.values()]
            figures[way] = np.mean(each, axis=0).tolist()
            print(name, way, figures[way], flush=True)
        kept[name] = {"texts": len(data.texts), "queries": len(queries), "ways": figures}
        save()


# --- expansion


def expanded(terms: Terms, row: csr_matrix) -> csr_matrix:
    """A row of counts with the terms that `expand` adds, as counts of less than one."""
    own = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    own |= {added.term: added.weight for added in terms.added(row, ADDED)}
    columns = np.array(sorted(own), dtype=np.int32)
    return row_of(columns, np.array([own[column] for column in columns]), row.shape[1])


def expansion(kept: dict, save: Callable[[], None], sets: Sequence[str]) -> None:
    for name in sets:
        if name in kept:
            continue
        data = Held(name)
        terms = Terms(data.model)
        figures: dict[str, list[list[float]]] = {}
        queries = data.queries()["text"]
        lengths = np.array([query.nnz for query, _ in queries])
        more = [(expanded(terms, query), label) for query, label in queries]
        for by in ("bm25", "tf-idf"):
            search = Search(data.model, data.collection, by)
            without, with_it = (data.each(search, some)[:, 1] for some in (queries, more))
            figures[f"search by {by}"] = by_length(lengths, without, with_it)
        kept[name] = figures | {"classification": classified(data, terms)}
        print(name, kept[name], flush=True)
        save()


def by_length(lengths: np.ndarray, without: np.ndarray, with_it: np.ndarray) -> list[list[float]]:
    """For each of the LENGTHS: how many texts, and the mean without and with expansion.

    >>> by_length(np.array([1, 2, 9]), np.array([0.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.5]))
    [[2, 0.5, 1.0], [0, 0.0, 0.0], [0, 0.0, 0.0], [1, 0.5, 0.5]]
    """
    rows = []
    for least, most in LENGTHS:
        at = (lengths >= least) & (lengths <= most)
        means = [float(values[at].mean()) if at.any() else 0.0 for values in (without, with_it)]
        rows.append([int(at.sum()), *means])
    return rows


def classified(data: Held, terms: Terms) -> list[list[float]]:
    """By length: test texts, and the accuracy of a linear SVM without and with expansion of all texts."""
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
    return by_length(np.diff(counts.indptr)[test], right[0].astype(float), right[1].astype(float))


# --- recommendation


def recommendation(kept: dict, save: Callable[[], None], sets: Sequence[str]) -> None:
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
    parts = [_of_retrieval(kept["retrieval"]), _of_judged(kept["judged"]), _of_expansion(kept["expansion"])]
    return "\n\n".join([*parts, _of_recommendation(kept["recommendation"])])


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

{_table(["set", *(f"`{way}`" for way in ranked)], own)}"""


def _of_judged(kept: dict) -> str:
    """Queries with relevance judgements; names the collections that were not on the machine."""
    absent = [name for name in datasets.names("retrieval") if name not in kept]
    missing = (
        f"Not on the machine that measured: {', '.join(absent)} (`coterie data fetch {absent[0]}`)."
        if absent
        else ""
    )
    rows = [
        [
            name,
            f"{found['texts']:,}",
            str(found["queries"]),
            f"`{way}`",
            *(f"{value:.3f}" for value in values),
        ]
        for name, found in kept.items()
        for way, values in sorted(found["ways"].items(), key=lambda one: -one[1][0])
    ]
    heads = ["collection", "texts", "queries", "way", "MAP", "nDCG@10", "recall@100"]
    table = f"\n\n{_table(heads, rows)}" if rows else ""
    return f"""## Search where people judged what is relevant

SMART collections with queries, over the queries that have a relevant text. {missing}{table}"""


def _of_expansion(kept: dict) -> str:
    """For each use and length the means without and with expansion, and what the rule says."""
    rows = []
    for use in ("search by bm25", "search by tf-idf", "classification"):
        for number, (least, most) in enumerate(LENGTHS):
            means = [_mean_of(kept, use, number, sets) for sets in (CHOSEN, CONFIRMED)]
            cells = [cell for mean in means for cell in mean.cells()]
            rows.append(
                [use, f"{least} or more" if most > 100 else f"{least} to {most}", *cells, _verdict(means)]
            )
    heads = [
        "use",
        "known terms",
        *(f"{part}{what}" for part in ("chosen: ", "confirmed: ") for what in ("sets", "without", "with")),
        "so it",
    ]
    return f"""## Expansion by length of text

What the {ADDED} terms of `model.expand` change: nDCG@10 of a search with whole texts as queries, and the accuracy of a linear SVM
on tf-idf with all texts expanded. The rule, set before: it helps or harms if the means over the chosen and over the other sets both
change by {EFFECT} or more; a set counts for a length with {LEAST} texts of it.

{_table(heads, rows)}"""


@dataclass(frozen=True)
class Mean:
    """The mean over some sets, without and with expansion."""

    sets: int
    without: float
    with_it: float

    def cells(self) -> list[str]:
        return [
            str(self.sets),
            *(f"{value:.3f}" if self.sets else "–" for value in (self.without, self.with_it)),
        ]


def _mean_of(kept: dict, use: str, number: int, sets: Sequence[str]) -> Mean:
    rows = [kept[name][use][number] for name in sets if name in kept and kept[name][use][number][0] >= LEAST]
    return Mean(len(rows), *(np.mean(rows, axis=0)[1:].tolist() if rows else (0.0, 0.0)))


def _verdict(means: Sequence[Mean]) -> str:
    """What the rule says.

    >>> _verdict([Mean(3, 0.5, 0.52), Mean(6, 0.5, 0.51)]), _verdict([Mean(3, 0.5, 0.52), Mean(6, 0.5, 0.505)])
    ('helps', 'makes no difference')
    >>> _verdict([Mean(3, 0.5, 0.48), Mean(6, 0.5, 0.4)]), _verdict([Mean(3, 0.5, 0.6), Mean(0, 0.0, 0.0)])
    ('harms', 'cannot be told')
    """
    if not all(mean.sets for mean in means):
        return "cannot be told"
    changes = [round(mean.with_it - mean.without, 9) for mean in means]
    if min(changes) >= EFFECT:
        return "helps"
    return "harms" if max(changes) <= -EFFECT else "makes no difference"


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

STEPS = {"retrieval": retrieval, "judged": judged, "expansion": expansion, "recommendation": recommendation}


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
    sets = [name for name in sys.argv[2:] if name not in STEPS] or (*CHOSEN, *CONFIRMED)
    for step in [name for name in sys.argv[2:] if name in STEPS] or STEPS:
        STEPS[step](kept.setdefault(step, {}), save, sets)


if __name__ == "__main__":
    main()
