"""Every method on growing parts of `reddit`, and `hals` beside scikit-learn's coordinate descent.

`python methods.py CASE` runs one case and prints a line of JSON; `python methods.py` prints the report.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from coterie_papers.bench.markdown import table
from harness import peak_megabytes, reset_peak

#: Doublings of 10,000 rows up to 640,000; every other one, as each takes its time.
SIZES = [10_000 * 4**i for i in range(4)]
TOPICS = 20
TERMS = 20_000
#: Iterations of the shorter run; the longer one has more of them the fewer rows there are. Their difference is
#: free of what is done once.
SHORT = 2


def _baseline(name):
    from coterie import baselines

    return getattr(baselines, name)


def _method(name, iterations):
    """An estimator that does just so many iterations."""
    import coterie

    many = {"max_iter": iterations, "tol": 0.0, "random_state": 0}
    makers = {
        "NMF clip": lambda: coterie.NMF(TOPICS, solver="clip", **many),
        "NMF hals": lambda: coterie.NMF(TOPICS, solver="hals", **many),
        "NMF divergence": lambda: coterie.NMF(TOPICS, loss="divergence", **many),
        "TermNMF": lambda: coterie.TermNMF(TOPICS, **many),
        "SemanticNMF": lambda: coterie.SemanticNMF(TOPICS, init="rows", **many),
        "SphericalKMeans": lambda: coterie.SphericalKMeans(TOPICS, n_init=1, **many),
        "RLSI": lambda: _baseline("RLSI")(TOPICS, **many),
        "OrthogonalNMF": lambda: _baseline("OrthogonalNMF")(TOPICS, init="rows", **many),
        "SymmetricNMF": lambda: _baseline("SymmetricNMF")(TOPICS, **many),
        "GibbsLDA": lambda: _baseline("GibbsLDA")(TOPICS, n_iter=iterations, random_state=0),
        "NystromSemantics": lambda: coterie.NystromSemantics(random_state=0),
    }
    return makers[name]()


METHODS = [
    "NMF clip", "NMF hals", "NMF divergence", "TermNMF", "SemanticNMF", "SphericalKMeans",
    "RLSI", "OrthogonalNMF", "SymmetricNMF", "GibbsLDA", "NystromSemantics",
]  # fmt: skip


def _counts(size):
    """Texts × terms of a random part of the titles, kept in a file between runs."""
    from scipy.sparse import load_npz, save_npz

    path = Path(tempfile.gettempdir()) / f"coterie-benchmark-counts-{size}.npz"
    if not path.exists():
        from coterie.corpus import Vectorizer
        from coterie.datasets import load

        texts = load("reddit").texts
        chosen = np.random.RandomState(0).permutation(len(texts))[:size]
        save_npz(
            path, Vectorizer(max_terms=TERMS).fit_transform([texts[i] for i in chosen]), compressed=False
        )
    return load_npz(path)


def growth_case(name, size):
    X = _counts(size)
    reset_peak()
    if name == "NystromSemantics":  # nothing is iterated
        return {"each": _fit_seconds(name, SHORT, X)[0], "peak": peak_megabytes()}
    long = SHORT + min(max(SIZES[-1] // size, 4), 32)
    _fit_seconds(name, SHORT, X)  # the first fit pays for loading and for fresh memory
    (short_run, done), (long_run, done_later) = (_fit_seconds(name, n, X) for n in (SHORT, long))
    return {"each": (long_run - short_run) / max(done_later - done, 1), "peak": peak_megabytes()}


def _fit_seconds(name, iterations, X):
    """Seconds of learning, without the memberships that `fit` gives at its end, and the iterations it did."""
    from threadpoolctl import threadpool_limits

    model = _method(name, iterations)
    documents = model._documents(X, None)
    start = time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        model._learn(documents.engine, np.random.RandomState(0))
    return time.perf_counter() - start, getattr(model, "n_iter_", iterations)


def memory_case():
    """TermNMF at 20,000 terms: a dense S alone would take 3.2 GB."""
    X = _counts(SIZES[-1])
    from coterie import TermNMF, semantics

    reset_peak()
    start = time.perf_counter()
    TermNMF(TOPICS, max_iter=30, tol=0.0).fit(X)
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    entries = semantics.ppmi(semantics.cooccurrence(X)).nnz
    return {"terms": X.shape[1], "entries": entries, "seconds": seconds, "peak": peak}


def solver_case(dataset, topics):
    """The objective that scikit-learn and hals reach in the same time from the same start."""
    from scipy.sparse import diags
    from sklearn.decomposition import NMF as SklearnNMF

    from coterie import NMF, weights
    from coterie.corpus import Vectorizer
    from coterie.datasets import load
    from coterie.engines import as_engine
    from coterie.factor import steps
    from coterie.linalg.svd import nonnegative_start

    X = Vectorizer(min_df=2).fit_transform(load(dataset).texts)
    Y = (X @ diags(weights.idf(X))).tocsr()
    l2 = 1.0
    U = nonnegative_start(as_engine(Y), topics)
    V = steps.clipped(Y @ U, U.T @ U, l2)
    n_rows, n_terms = Y.shape
    energy = float(Y.multiply(Y).sum())

    def objective(V, U):
        return steps.euclidean_objective(energy, U, Y.T @ V, V.T @ V, l2)

    warnings.simplefilter("ignore")
    theirs = SklearnNMF(
        topics, init="custom", solver="cd", alpha_W=l2 / n_terms, alpha_H=l2 / n_rows, l1_ratio=0.0,
        tol=0.0, max_iter=100,
    )  # fmt: skip
    start = time.perf_counter()
    W = theirs.fit_transform(Y, W=V.copy(), H=np.ascontiguousarray(U.T))
    budget = time.perf_counter() - start
    ours, spent, done, too_many = np.inf, 0.0, 0, 0
    # as many iterations as fit: double them until they are too many, then halve the gap
    while not too_many or too_many - done > max(1, done // 50):
        iterations = (done + too_many) // 2 if too_many else max(2 * done, 1)
        model = NMF(topics, weights=None, solver="hals", l2=l2, init=U.T, max_iter=iterations, tol=0.0)
        start = time.perf_counter()
        model.fit(Y)
        took = time.perf_counter() - start
        if took > budget:
            too_many = iterations
        else:
            ours, spent, done = model.objective_[-1], took, iterations
    return {
        "start": objective(V, U), "theirs": objective(W, theirs.components_.T), "ours": ours,
        "budget": budget, "spent": spent, "iterations": done,
    }  # fmt: skip


def _run(*case):
    out = subprocess.run(
        [sys.executable, __file__, *map(str, case)], capture_output=True, text=True, check=False
    )
    if out.returncode:
        raise RuntimeError(f"{case} failed:\n{out.stderr}")
    return json.loads(out.stdout.splitlines()[-1])


def _growth():
    rows = []
    for name in METHODS:
        runs = {size: _run("growth", name, size) for size in SIZES}
        if any(run["each"] <= 0 for run in runs.values()):
            raise RuntimeError(f"{name}: more iterations took less time; is something else running?")
        exponent = np.polyfit(np.log(SIZES), np.log([runs[s]["each"] for s in SIZES]), 1)[0]
        memory = np.polyfit(SIZES, [runs[s]["peak"] for s in SIZES], 1)[0] * 1e6 / 1000
        cells = [f"{runs[size]['each'] * 1000:,.0f}" for size in SIZES]
        rows.append([name, *cells, f"{exponent:.2f}", f"{runs[SIZES[-1]]['peak']:,.0f}", f"{memory:.1f}"])
        print(rows[-1], file=sys.stderr)
    header = ["", *(f"{size // 1000}k rows, ms" for size in SIZES), "exponent", "peak MB", "kB a row"]
    return table(header, rows)


def _solvers():
    rows = []
    for dataset in ("searchsnippets", "stackoverflow"):
        for topics in (20, 100):
            run = _run("solver", dataset, topics)
            gain = (run["start"] - run["ours"]) / max(run["start"] - run["theirs"], 1e-12)
            rows.append(
                [
                    f"{dataset}, {topics} topics",
                    f"{run['budget']:.1f}",
                    f"{run['theirs']:,.0f}",
                    f"{run['ours']:,.0f}",
                ]
                + [f"{run['iterations']}", f"{gain:.3f}"]
            )
            print(rows[-1], file=sys.stderr)
    header = ["", "seconds", "scikit-learn", "hals", "hals iterations", "descent of hals / of scikit-learn"]
    return table(header, rows)


def report():
    """The section of docs/benchmarks.md."""
    memory = _run("memory")
    return "\n\n".join(
        [
            "## Methods on growing collections",
            f"Random parts of `reddit`, the {TERMS:,} most frequent terms, {TOPICS} topics. Time of one iteration "
            "(of the whole fit for NystromSemantics), and the fitted exponent of its growth with the number of rows.",
            _growth(),
            f"TermNMF at {memory['terms']:,} terms and {memory['entries']:,} associations: peak memory "
            f"{memory['peak']:,.0f} MB, {memory['seconds']:.0f} s for 30 iterations. A dense matrix of terms × terms "
            f"alone would take {memory['terms'] ** 2 * 8 / 1e9:.1f} GB.",
        ]
    )


def report_solvers():
    """The section of docs/benchmarks.md on coordinate descent."""
    return "\n\n".join(
        [
            "## Coordinate descent beside scikit-learn",
            "The objective `‖Y − VUᵀ‖² + λ(‖U‖² + ‖V‖²)` (idf weights, λ = 1) after the same time from the same "
            "start: scikit-learn's `cd` gets 100 iterations, `hals` as many as fit into that time.",
            _solvers(),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(report(), report_solvers(), sep="\n\n")
    else:
        case, *arguments = sys.argv[1:]
        cases = {
            "growth": lambda name, size: growth_case(name, int(size)),
            "memory": memory_case,
            "solver": lambda dataset, topics: solver_case(dataset, int(topics)),
        }
        print(json.dumps(cases[case](*arguments)))
