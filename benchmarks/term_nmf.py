"""`TermNMF` with and without damping, from several starts and with other similarities; writes docs/experiments.md.

`python benchmarks/term_nmf.py` takes about half an hour; what is done is kept in `run/term_nmf`. Labels only score.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coterie import TermNMF
from coterie.datasets.catalog import CATALOG
from coterie.factor import steps
from coterie_papers.bench.collections import checksums, define, words_of
from coterie_papers.bench.contenders import CONTENDERS, Contender
from coterie_papers.bench.markdown import table
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import run
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import trial
from refinement import PAGE, write_section

STORE = Path(__file__).parents[1] / "run" / "term_nmf" / "results.jsonl"
#: On the first two the settings were chosen, on the others they were only confirmed.
SEEN, FRESH = ("stackoverflow", "titles"), ("searchsnippets", "agnews", "googlenews-ts", "banking77")
TOPICS = (20, 60)
SEEDS = range(3)


def counted(name: str) -> str:
    """The collection of a set, as the SDM 2013 paper has its own: terms that ten texts hold, all of titles."""
    return name if name == "titles" else f"term-{name}"


for _name in (*SEEN, *FRESH):
    if _name != "titles":
        define(
            counted(_name), _name, "terms in ten texts or more", **words_of(CATALOG[_name]) | {"min_df": 10}
        )


class Undamped(TermNMF):
    """What `TermNMF` was: full steps, of which the iterate with the lowest objective is kept."""

    def _factorise(self, S, random):
        if self.init == "random":
            U = random.uniform(size=(S.shape[0], self.n_topics))
        else:
            U = self._start(S, random)
        best, lowest = U, np.inf
        self.objective_ = []
        SU = S @ U
        while not steps.settled(self.objective_, self.max_iter, self.tol, steps.PATIENCE):
            U = steps.clipped(SU, U.T @ U, 0.0)
            SU, gram = S @ U, U.T @ U
            self.objective_.append(float(np.sum(gram * gram)) - 2.0 * float(np.sum(U * SU)))
            if self.objective_[-1] < lowest:
                best, lowest = U, self.objective_[-1]
        self.components_ = np.ascontiguousarray(best.T)
        self.n_iter_ = len(self.objective_)


def _made(cls, **fixed):
    return lambda k, seed, settings: cls(k, **{"random_state": seed, **fixed, **settings})


_FORMER = {"diagonal": False, "max_iter": 100, "tol": 1e-4}
#: Name and title of each variant, and how it is made.
VARIANTS = {
    "undamped-random": ("undamped, U(0, 1)", _made(Undamped, **_FORMER, init="random")),
    "undamped-rows": ("undamped, rows of S: `term-nmf` before", _made(Undamped, **_FORMER, init="rows")),
    "undamped-svd": (
        "undamped, singular vectors: `TermNMF()` before",
        _made(Undamped, **_FORMER, init="svd"),
    ),
    "damped-random": ("damped, random", _made(TermNMF, init="random", diagonal=True)),
    "damped-rows": ("damped, rows of S", _made(TermNMF, init="rows", diagonal=True)),
    "damped-svd": ("damped, singular vectors", _made(TermNMF, init="svd", diagonal=True)),
    "no-diagonal": ("damped, random, no diagonal", _made(TermNMF, init="random", diagonal=False)),
    "exact": ("damped, random, tol 1e-8", _made(TermNMF, init="random", diagonal=True, tol=1e-8)),
    "ppmi": ("S = PPMI itself", _made(TermNMF, init="random", similarity="ppmi", diagonal=True)),
    "texts": ("S = cosine of the texts of terms", _made(TermNMF, init="random", similarity="texts")),
    "pearson": ("S = correlation of the texts of terms", _made(TermNMF, init="random", similarity="pearson")),
}
for _name, (_title, _make) in VARIANTS.items():
    CONTENDERS[_name] = Contender(_name, _title, "#000000", _make)


def trials():
    """Every variant on every set; singular vectors have no seed."""
    return [
        trial("cluster", counted(name), variant, k=k, seed=seed)
        for name in (*SEEN, *FRESH)
        for k in TOPICS
        for variant in VARIANTS
        for seed in (SEEDS if not variant.endswith("svd") else SEEDS[:1])
    ]


def page(found: Results) -> str:
    columns = [(name, k) for name in (*SEEN, *FRESH) for k in TOPICS]
    rows = []
    for variant, (title, _) in VARIANTS.items():
        cells, fresh, spreads = [], [], []
        for name, k in columns:
            select = {"collection": counted(name), "method": variant, "k": k}
            mean, spread = found.mean("nmi", **select), found.spread("nmi", **select)
            cells.append(f"{mean:.3f} ± {spread:.3f}" if not variant.endswith("svd") else f"{mean:.3f}")
            spreads.append(spread)
            fresh += [mean] if name in FRESH else []
        seconds, iterations = found.mean("seconds", method=variant), found.mean("iterations", method=variant)
        rows.append((title, *cells, f"{np.mean(fresh):.3f}", f"{np.mean(spreads):.3f}", f"{iterations:.0f}",
                     f"{seconds:.1f}"))  # fmt: skip
    header = ("variant", *(f"{name} {k}" for name, k in columns), "mean of fresh sets", "mean spread",
              "iterations", "CPU s")  # fmt: skip
    lines = f"""## TermNMF with damped steps

NMI, mean and standard deviation of {len(SEEDS)} seeds, with 20 and 60 topics. Terms in ten texts or more, all terms of titles. Damping,
the scale of the random start and the diagonal were found with {" and ".join(SEEN)} in view; {", ".join(FRESH)}
are fresh: they only confirm. All {len(VARIANTS)} variants that were run are listed. The last rows replace the similarity of terms."""
    return lines + "\n\n" + table(header, rows, raw=True)


def main() -> None:
    wanted = trials()
    with Store(STORE, checksums([counted(name) for name in (*SEEN, *FRESH)])) as store:
        run(wanted, store, workers=1, kinds=("term_nmf",))
        write_section(PAGE, "term_nmf", page(Results(wanted, store)))


if __name__ == "__main__":
    main()
