"""`NystromSemantics` with rows at unit length or not, other draws, and its time beside spherical k-means; writes docs/experiments.md.

`python benchmarks/nystrom.py` takes about ten minutes; what is done is kept in `run/nystrom`. Labels only score.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import numpy as np

from coterie import NystromSemantics, SphericalKMeans
from coterie.datasets.catalog import CATALOG
from coterie.engines import as_engine
from coterie.factor import nystrom
from coterie.semantics import TermGram
from coterie.weights import IdfWeights
from coterie_papers.bench.collections import checksums, collection, define, words_of
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.kinds import kind, scores
from coterie_papers.bench.markdown import table
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import run
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Trial, trial
from refinement import PAGE, write_section

STORE = Path(__file__).parents[1] / "run" / "nystrom" / "results.jsonl"
SEEN, FRESH = ("subreddits-10k-a", "searchsnippets"), ("wordnet-10k", "agnews", "stackoverflow")
COLLECTIONS = {"searchsnippets": "nystrom-searchsnippets", "agnews": "nystrom-agnews"}
RANKS = (20, 100)
SEEDS = range(3)
SAMPLED, MANY = 1000, 5000
TIMED, TIMED_METHODS, TIMED_RANKS, REPEATS = (
    "subreddits-10k-a",
    ("nystrom-pcor", "nystrom-assc_n"),
    (5, 100),
    5,
)

for _name, _defined in COLLECTIONS.items():
    define(_defined, _name, "all texts and terms", **words_of(CATALOG[_name]) | {"min_df": 1})

_UNIT = {"unit_rows": True}
#: Title, method and settings.
VARIANTS = {
    "rows as they are: before": ("nystrom-pcor", {"unit_rows": False}),
    "**rows at unit length: the default**": ("nystrom-pcor", _UNIT),
    "unit length, terms drawn uniformly": ("nystrom-pcor", {**_UNIT, "sampling": "uniform"}),
    "unit length, texts drawn instead of terms": ("nystrom-pcor", {**_UNIT, "of": "texts"}),
    "rows as they are, k-means": ("nystrom-pcor-kmeans", {"unit_rows": False}),
    "unit length, k-means": ("nystrom-pcor-kmeans", _UNIT),
}
BASELINE = "spherical k-means on idf, no space"


def counted(name: str) -> str:
    return COLLECTIONS.get(name, name)


@kind("nystrom-variant")
def variant(trial: Trial):
    """Clusters of idf-weighted texts in a space, against labels."""
    data = collection(trial.collection)
    X = IdfWeights().fit_transform(data.X)
    found = CONTENDERS[trial.method].make(trial.k, trial.seed, dict(trial.settings)).fit_predict(X)
    return scores(data.labels, found)


@kind("nystrom-times")
def times(trial: Trial):
    """CPU seconds of spherical k-means alone, of a space, and of clusters in it, one after the other."""
    data = collection(trial.collection)
    X = IdfWeights().fit_transform(data.X)
    semantics = trial.method.removeprefix("nystrom-")
    space = NystromSemantics(semantics, n_sampled=MANY, rank=trial.setting("rank"), random_state=trial.seed)

    def seconds(work):
        began = time.process_time()
        found = work()
        return found, time.process_time() - began

    def cluster(rows):
        return SphericalKMeans(trial.k, n_init=1, random_state=trial.seed).fit(rows)

    alone = seconds(lambda: cluster(X))[1]
    W, made = seconds(lambda: space.fit_transform(X))
    return {"alone": alone, "space": made, "clusters": seconds(lambda: cluster(W))[1]}


@kind("nystrom-former-time")
def former(trial: Trial):
    """CPU seconds of a space from dense columns of G and a full decomposition, as it was."""
    X = IdfWeights().fit_transform(collection(trial.collection).X)
    began = time.process_time()
    engine = as_engine(X)
    drawn = nystrom._drawn(nystrom._lengths(engine), MANY, np.random.RandomState(trial.seed))
    columns = TermGram.of(engine, "pcor").columns(drawn)
    values, vectors = nystrom._leading(columns[drawn], trial.setting("rank"))
    X @ (columns @ (vectors / np.sqrt(values)))
    return {"space": time.process_time() - began}


def trials():
    found = [
        trial("nystrom-times", TIMED, method, k=25, seed=seed, rank=rank)
        for seed in range(REPEATS)
        for method in TIMED_METHODS
        for rank in TIMED_RANKS
    ]
    found += [trial("nystrom-former-time", TIMED, rank=rank) for rank in TIMED_RANKS]
    for name in (*SEEN, *FRESH):
        k = len(set(collection(counted(name)).labels))
        for seed in SEEDS:
            found.append(trial("cluster", counted(name), "spherical-idf", k=k, seed=seed))
            found += [
                trial(
                    "nystrom-variant",
                    counted(name),
                    method,
                    k=k,
                    seed=seed,
                    sampled=SAMPLED,
                    rank=rank,
                    **settings,
                )
                for method, settings in VARIANTS.values()
                for rank in RANKS
            ]
    return found


def page(found: Results) -> str:
    columns = [(name, rank) for name in (*SEEN, *FRESH) for rank in RANKS]
    rows = []
    for title, (method, settings) in VARIANTS.items():
        cells, fresh = [], []
        for name, rank in columns:
            select = {"kind": "nystrom-variant", "collection": counted(name), "method": method, "rank": rank,
                      **{key: settings.get(key) for key in ("unit_rows", "sampling", "of")}}  # fmt: skip
            mean, spread = found.mean("nmi", **select), found.spread("nmi", **select)
            cells.append(f"{mean:.3f} ± {spread:.3f}")
            fresh += [mean] if name in FRESH else []
        rows.append((title, *cells, f"{np.mean(fresh):.3f}"))
    alone = [found.mean("nmi", collection=counted(name), method="spherical-idf") for name, _ in columns]
    rows.append(
        (BASELINE, *(f"{mean:.3f}" for mean in alone), f"{np.mean(alone[len(SEEN) * len(RANKS) :]):.3f}")
    )
    header = ("variant", *(f"{name}, k = {rank}" for name, rank in columns), "mean of fresh sets")
    return f"""## NystromSemantics: rows at unit length, draws, and time

NMI of clusters in the space of pcor, ℓ = {SAMPLED:,} sampled terms (or texts) and k columns, with idf weights before; mean and standard deviation
of {len(SEEDS)} draws. The number of clusters is that of the labels; spherical k-means with one start unless k-means is named. Unit length was found with
{" and ".join(SEEN)} in view; {", ".join(FRESH)} are fresh. All {len(VARIANTS)} variants that were run are listed.

{table(header, rows, raw=True)}

CPU seconds on {TIMED}, ℓ = {MANY:,}, one after the other in one process, medians of {REPEATS}; the last column is space and clusters
over spherical k-means alone. "Before" is the space from dense columns of G and a full decomposition (pcor, run once).

{times_table(found)}"""


def times_table(found: Results) -> str:
    rows = []
    for method in TIMED_METHODS:
        for rank in TIMED_RANKS:
            runs = [outcome.values for outcome in found.values("nystrom-times", method=method, rank=rank)]
            seconds = [median(run[name] for run in runs) for name in ("alone", "space", "clusters")]
            before = found.one("nystrom-former-time", rank=rank)["space"]
            ratio = median((run["space"] + run["clusters"]) / run["alone"] for run in runs)
            cells = [*(f"{part:.2f}" for part in seconds), f"{before:.1f}", f"{ratio:.1f}"]
            rows.append((f"{method.removeprefix('nystrom-')}, k = {rank}", *cells))
    return table(("", "spherical k-means alone", "space", "clusters in it", "space, before", "ratio"), rows)


def main() -> None:
    wanted = trials()
    with Store(STORE, checksums([counted(name) for name in (*SEEN, *FRESH)])) as store:
        run(wanted, store, workers=1, kinds=("nystrom",))
        write_section(PAGE, "nystrom", page(Results(wanted, store)))


if __name__ == "__main__":
    main()
