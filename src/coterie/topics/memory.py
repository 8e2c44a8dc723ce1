"""What a large fit needs in memory: nothing of it grows with the number of texts.

Terms × topics, terms × dimensions and pairs of terms are in memory, texts are on disk.
`benchmarks/scaling.py` compares the estimate with what fits took.
"""

from __future__ import annotations

from coterie.engines import Cluster
from coterie.errors import InputError
from coterie.semantics import MOST_PAIRS

#: Bytes of the program itself, with its libraries, and of the texts and counts that a thread works on.
_PROGRAM, _THREAD = 350_000_000, 130_000_000
#: Bytes of a pair of terms while vectors are learned: a number and a column, and both again transposed.
_PAIR = 24
#: Arrays of terms × dimensions while vectors are learned, in bytes of a number; each thread adds a sum.
_VECTORS, _SUM = 24, 4
#: Arrays of terms × topics while topics are described, in bytes of a number.
_TOPICS = 48
#: Dimensions of vectors, and a number of topics for those who let it be estimated.
_DIMENSIONS, _MANY_TOPICS = 110, 100


def needed(n_terms: int, n_topics: int, threads: int) -> int:
    """About how many bytes a fit takes with so many threads.

    >>> needed(200_000, 100, 2) < 2_000_000_000 < needed(1_000_000, 100, 2)
    True
    """
    pairs = min(MOST_PAIRS, n_terms * n_terms // 2)
    vectors = _PAIR * pairs + n_terms * _DIMENSIONS * (_VECTORS + _SUM * threads)
    topics = n_terms * (n_topics * _TOPICS + 8 * _DIMENSIONS)
    return _PROGRAM + threads * _THREAD + max(vectors, topics)


def check_memory(cluster: Cluster, n_terms: int, n_topics: object) -> None:
    """Refuse a fit that needs more memory than the cluster may take."""
    if cluster.memory is None:
        return
    many = n_topics if isinstance(n_topics, int) else _MANY_TOPICS
    threads = cluster.threads if cluster.workers is None else 1  # a worker is one core
    asked = needed(n_terms, many, threads)
    if asked > cluster.memory:
        each = "this process" if cluster.workers is None else "this process and each worker"
        raise InputError(
            f"{n_terms:,} terms and {many:,} topics need about {asked / 1e9:.1f} GB in {each}, more than the "
            f"{cluster.memory / 1e9:.1f} GB that are allowed",
            python="allow more memory, use fewer threads, or leave out rare terms with Vectorizer(min_df=…)",
            command="raise --memory, use fewer --workers, or leave out rare terms with --min-df",
        )
