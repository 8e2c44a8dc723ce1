"""Small random documents × terms matrices for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def count_matrices(max_rows=8, max_terms=7, max_count=3):
    """Small matrices of counts with empty rows and columns among them."""
    shapes = st.tuples(st.integers(1, max_rows), st.integers(1, max_terms))
    entries = st.sampled_from([0, 0, 0, *range(1, max_count + 1)])
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=entries))


def with_weights(matrices):
    """A matrix and how many texts each of its rows stands for."""
    return matrices.flatmap(
        lambda X: st.tuples(st.just(X), hnp.arrays(np.int64, len(X), elements=st.integers(1, 4)))
    )
