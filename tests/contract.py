"""The registry of methods as test cases, inputs that every method must survive, and exact comparisons."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from coterie import methods
from coterie.engines import Block
from coterie.estimator import DocumentEstimator

#: Rounds and starts enough for the promises, fewer than by default.
_FEW = {"restarts": 2, "n_init": 2, "n_iter": 60, "max_iter": 60, "n_start": 50}
#: Methods that are sampled by tomotopy, an optional package.
IN_TOMOTOPY = ("lda", "ptm")
#: Other ways through a registered method: its name, and the settings that choose the way.
VARIANTS = {
    "nmf, hals": ("nmf", {"solver": "hals", "init": "svd", "weights": "idf"}),
    "nmf, divergence": ("nmf", {"loss": "divergence", "solver": "hals", "init": "random", "weights": None}),
    "term-nmf, divergence": ("term-nmf", {"inference": "divergence", "init": "svd"}),
    "semantic-nmf, rows": ("semantic-nmf", {"init": "rows", "weights": "binary"}),
    "graph-nmf, rows": ("graph-nmf", {"init": "rows", "edges": "binary", "weights": None}),
    "onmf, rows": ("onmf", {"init": "rows", "weights": None}),
    "rlsi, counts": ("rlsi", {"weights": None}),
    "symmetric-nmf, ncut": ("symmetric-nmf", {"weights": "ncut"}),
    "nystrom, all terms": ("nystrom", {"kind": "assc_n", "n_sampled": None, "rank": 3}),
    "nystrom, few terms": ("nystrom", {"kind": "cov", "n_sampled": 9, "rank": 5}),
}


def skip_without_tomotopy(name):
    """Skip the test of a method whose sampler is not installed."""
    if name in IN_TOMOTOPY:
        pytest.importorskip("tomotopy", reason="tomotopy, of the extra lda, is not installed")


def cases():
    """Names that `make` knows: every registered method, and the other ways through some."""
    return [*methods.names(), *VARIANTS]


def make(name, n_topics=3, **settings):
    """An unfitted method that does not take long."""
    name, variant = VARIANTS.get(name, (name, {}))
    settings = variant | settings
    model = methods.make(name, n_topics, random_state=0)
    for step in steps(model):
        known = step.get_params()
        step.set_params(**{key: value for key, value in (_FEW | settings).items() if key in known})
    return model


def steps(model):
    """The steps of a pipeline, or the estimator itself."""
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def estimators():
    """Name and factory of every estimator behind a method: itself, or the steps of a pipeline.

    Only these take engines and weights; a pipeline takes a matrix.
    """
    found, seen = [], set()
    for name in cases():
        parts = steps(make(name))
        for number, part in enumerate(parts):
            if isinstance(part, DocumentEstimator) and repr(part) not in seen:
                seen.add(repr(part))
                title = name if len(parts) == 1 else f"{name}:{type(part).__name__}"
                found.append(
                    (title, lambda name=name, number=number, **given: steps(make(name, **given))[number])
                )
    return found


def blocks_of(X, weights, size):
    """Row blocks of `size` rows."""
    starts = range(0, X.shape[0], size)
    return [Block(X[a : a + size], weights[a : a + size], a) for a in starts]


def degenerate_inputs():
    """Matrices at the edge of sense, with names."""
    some = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=float)
    return [
        ("empty rows", csr_matrix(np.vstack([some, np.zeros((2, 4))]))),
        ("empty columns", csr_matrix(np.hstack([some, np.zeros((3, 2))]))),
        ("fewer distinct rows than topics", csr_matrix(np.repeat(some[:2], 4, axis=0))),
        ("one row", csr_matrix(some[:1])),
        ("one column", csr_matrix(np.array([[1.0], [2.0], [0.0]]))),
        ("one cell", csr_matrix(np.ones((1, 1)))),
        ("all equal rows", csr_matrix(np.ones((5, 4)))),
        ("rank one", csr_matrix(np.outer([1.0, 2.0, 3.0], [1.0, 2.0]))),
        ("nothing at all", csr_matrix((4, 3))),
    ]


def learned(model):
    """Everything that was learned, step by step."""
    return [
        {name: value for name, value in vars(step).items() if name.endswith("_")} for step in steps(model)
    ]


def assert_same(one, other, where=""):
    """Two values, whatever they are made of, are equal to the last bit."""
    if dataclasses.is_dataclass(one):
        one, other = vars_of(one), vars_of(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name, value in one.items():
            assert_same(value, other[name], f"{where} {name}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{where} {number}")
    elif issparse(one):
        np.testing.assert_array_equal(one.toarray(), other.toarray(), err_msg=where)
    else:
        np.testing.assert_array_equal(one, other, err_msg=where)


def vars_of(value):
    """The fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def same_topics(one, other):
    """Whether two partitions are equal but for the names of their parts."""
    pairs = set(zip(list(one), list(other), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))
