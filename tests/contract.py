"""Inputs and comparisons that the tests of all estimators share."""

import numpy as np
from scipy.sparse import csr_matrix


def degenerate_inputs():
    """Matrices at the edge of sense, with names."""
    some = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=float)
    return [
        ("empty rows", csr_matrix(np.vstack([some, np.zeros((2, 4))]))),
        ("empty columns", csr_matrix(np.hstack([some, np.zeros((3, 2))]))),
        ("fewer distinct rows than topics", csr_matrix(np.repeat(some[:2], 4, axis=0))),
        ("one row", csr_matrix(some[:1])),
        ("one column", csr_matrix(np.array([[1.0], [2.0], [0.0]]))),
        ("all equal rows", csr_matrix(np.ones((5, 4)))),
        ("nothing at all", csr_matrix((4, 3))),
    ]


def same_topics(one, other):
    """Whether two partitions are equal but for the names of their parts."""
    pairs = set(zip(list(one), list(other), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))
