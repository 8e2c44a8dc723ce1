"""Short texts whose topics are known because they were put there, and samples made of any texts."""

import numpy as np
from scipy.sparse import csr_matrix

from coterie.cluster.space import learn_space
from coterie.cluster.texts import FLOAT, Sample, Texts, take_sample
from coterie.engines import as_engine
from coterie.linalg.rows import unit_dense, unit_rows


def planted(n_rows=300, n_topics=5, *, own=12, common=20, words=6, noise=1, shares=None, seed=0):
    """Counts and truth: `words` words of a topic's `own` ones and `noise` of those that all topics share.

    Terms ``k·own … (k+1)·own`` belong to topic k, the last `common` to nobody.
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_topics, n_rows, p=shares)
    X = np.zeros((n_rows, n_topics * own + common))
    for row, topic in enumerate(truth):
        np.add.at(X[row], topic * own + rng.integers(own, size=words), 1)
        np.add.at(X[row], n_topics * own + rng.integers(common, size=noise), 1)
    return csr_matrix(X), truth


def corrupted(truth, share, seed=0):
    """Labels of which about `share` are drawn anew."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(truth)) < share, rng.integers(truth.max() + 1, size=len(truth)), truth)


def sample_of(X, text_vectors=None, weights=None, block=None, threads=1):
    """Texts as they are given: words are counts at unit length, vectors nothing if there are none."""
    counts = csr_matrix(X, dtype=np.float64)
    n_rows = counts.shape[0]
    text_vectors = (
        np.zeros((n_rows, 1)) if text_vectors is None else unit_dense(np.asarray(text_vectors, float))
    )
    weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float)
    blocks = []
    for a in range(0, n_rows, block or n_rows):
        some = slice(a, min(a + (block or n_rows), n_rows))
        parts = counts[some], unit_rows(counts[some]), text_vectors[some], weights[some]
        blocks.append(Texts(*(part.astype(FLOAT) for part in parts), a, np.arange(n_rows)[some]))
    return Sample(tuple(blocks), threads)


def sample_in_space(X, weights=None, dimensions=20):
    """Texts with the vectors that their own space gives them."""
    engine = as_engine(X, weights)
    space = learn_space(engine, dimensions)
    return take_sample(engine, space.words, lambda counts, _: space.text_vectors(counts))
