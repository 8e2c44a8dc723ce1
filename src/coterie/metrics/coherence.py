"""Coherence of topics in a reference corpus, and diversity of topics.

1. Count the windows of the reference corpus in which each top term, and each pair of them, occurs.
2. Compute one number per topic from the counts of its terms.

The numbers are those of gensim's ``CoherenceModel``; where gensim gives nan, this gives a defined value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.errors import InputError, shown
from coterie.metrics.arguments import Weights, read_weights
from coterie.metrics.windows import WindowCounts, count_windows

Topics: TypeAlias = Iterable[Sequence[str]]
Texts: TypeAlias = Iterable[Sequence[str]] | tuple[Sequences, Sequence[str]]
Floats: TypeAlias = npt.NDArray[np.float64]

#: Added to the probability of two terms together so that its logarithm exists (Röder et al. 2015; gensim).
EPSILON = 1e-12


@overload
def coherence(
    topics: Topics,
    texts: Texts,
    measure: str = ...,
    *,
    top_n: int = ...,
    window: int | None = ...,
    per_topic: Literal[False] = ...,
    weights: Weights | None = ...,
    as_gensim: bool = ...,
) -> float: ...


@overload
def coherence(
    topics: Topics,
    texts: Texts,
    measure: str = ...,
    *,
    top_n: int = ...,
    window: int | None = ...,
    per_topic: Literal[True],
    weights: Weights | None = ...,
    as_gensim: bool = ...,
) -> Floats: ...


def coherence(
    topics: Topics,
    texts: Texts,
    measure: str = "c_v",
    *,
    top_n: int = 10,
    window: int | None = None,
    per_topic: bool = False,
    weights: Weights | None = None,
    as_gensim: bool = True,
) -> float | Floats:
    """Coherence of topics: how much their top terms occur together in a reference corpus.

    Parameters
    ----------
    topics
        For each topic its terms, the most important first. A term given twice counts once. A topic with no
        term or one term has coherence 0.
    texts
        The reference corpus, the fitted texts or any others: lists of tokens, or a pair of `Sequences` and
        the list of terms that names each id. A term that never occurs in it is treated as if it occurred in
        exactly one window, alone.
    measure
        - ``"u_mass"``: log of the probability of a term given one above it in the topic; at most about 0.
        - ``"c_uci"`` or ``"pmi"``: mean pointwise mutual information of two terms.
        - ``"c_npmi"`` or ``"npmi"``: the same, normalised to −1 … 1.
        - ``"c_v"``: cosine of each term's normalised mutual informations with those of the whole topic. Terms
          that never occur together are similar, too, and score high: combine it with another measure.
    top_n
        How many terms of each topic to use.
    window
        Length of the sliding window in tokens; a text that is not longer is one window.
        None: the whole text for u_mass, 10 for c_uci and c_npmi, 110 for c_v.
    per_topic
        Return an array with the coherence of each topic instead of their mean.
    weights
        How often each text counts, a whole number: weight n is the same as the text given n times.
    as_gensim
        How to count a term that occurs in a window more than once. True: as gensim does, for comparison with
        most published numbers; it misses the term from when its first occurrence leaves the window until it
        enters again. False: as defined in the literature, while any occurrence is in the window. Both are the
        same for texts that are not longer than the window.

    Examples
    --------
    >>> texts = [["cat", "purrs"], ["cat", "purrs"], ["dog", "barks"], ["dog", "barks"]]
    >>> topics = [["cat", "purrs"], ["cat", "barks"]]
    >>> coherence(topics, texts, "npmi", per_topic=True).round(2)
    array([ 1.  , -0.95])
    >>> round(coherence(topics[:1], texts, "pmi"), 4)  # log(1/2 / (1/2 · 1/2)) = log 2
    0.6931
    """
    rule = find_measure(measure)
    # a window longer than the longest text that fits into memory sees no more
    width = rule.window if window is None else min(at_least_one(window, "window"), 1 << 40)
    at_least_one(top_n, "top_n")
    tops = [list(dict.fromkeys(terms))[:top_n] for terms in read_topics(topics)]
    column = {term: number for number, term in enumerate(dict.fromkeys(t for terms in tops for t in terms))}
    reference = as_columns(texts, column)
    text_weights = read_weights(weights, len(reference))
    counts = count_windows(reference, len(column), width=width, weights=text_weights, as_gensim=as_gensim)
    values = np.array([score([column[term] for term in terms], counts, rule) for terms in tops])
    return values if per_topic else float(values.mean())


def diversity(topics: Topics, top_n: int = 25) -> float:
    """Share of distinct terms among the top terms of all topics: 1 when no term is used twice.

    0 when the topics have no terms at all.

    Examples
    --------
    >>> diversity([["cat", "purrs"], ["cat", "sleeps"]])
    0.75
    """
    at_least_one(top_n, "top_n")
    terms = [term for topic in read_topics(topics) for term in topic[:top_n]]
    return len(set(terms)) / len(terms) if terms else 0.0


# -- from arguments to columns


def read_topics(topics: Topics) -> list[list[str]]:
    """The topics as lists of terms; there must be one."""
    lists = read_lists(topics, "topics", "a list of terms")
    if not lists:
        raise InputError("topics must contain at least one topic, got none")
    return [list(terms) for terms in lists]


def as_columns(texts: Texts, column: dict[str, int]) -> Sequences:
    """The reference corpus with each token as its column; a token outside the topics is `UNKNOWN`."""
    if isinstance(texts, tuple) and len(texts) == 2 and isinstance(texts[0], Sequences):
        encoded, terms = texts
        if (n_ids := int(encoded.ids.max(initial=UNKNOWN)) + 1) > len(terms):
            raise InputError(
                f"texts must name each of the {n_ids} ids of the Sequences, got {len(terms)} terms"
            )
        columns = np.array([*(column.get(term, UNKNOWN) for term in terms), UNKNOWN], dtype=np.int32)
        reference = Sequences(columns[encoded.ids], encoded.offsets)  # an id −1 is the last of the columns
    else:
        reference = Sequences.from_tokens(read_lists(texts, "texts", "a list of tokens"), column)
    if not len(reference):
        raise InputError("texts must contain at least one text, got none")
    return reference


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def read_lists(lists: Iterable[Any], name: str, content: str) -> list[Any]:
    """The outer iterable as a list. Strings inside are an error: they would be read as lists of letters."""
    if isinstance(lists, (bytes, Mapping)) or not _is_list(lists):
        raise InputError(f"{name} must contain lists, each {content}, got {shown(lists)}")
    read = list(lists)
    for item in read:
        if isinstance(item, str):
            raise InputError(f"each of {name} must be {content}, got the string {item[:40]!r}")
        if not _is_list(item) or not all(isinstance(part, Hashable) for part in item):
            raise InputError(f"each of {name} must be {content}, got {shown(item)}")
    return read


def at_least_one(value: int, name: str) -> int:
    """A positive whole number, or an error that names the argument."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


# -- the measures: from p[i, j], the probability of two terms together, to the coherence of a topic


@dataclass(frozen=True, slots=True)
class Measure:
    """A function of the probabilities, and the window they are estimated with (None: the whole text)."""

    of: Callable[[Floats], float]
    window: int | None


def score(terms: list[int], counts: WindowCounts, measure: Measure) -> float:
    """Coherence of one topic, given as the columns of its terms."""
    return measure.of(counts.of(terms) / counts.n_windows) if len(terms) > 1 else 0.0


def u_mass(p: Floats) -> float:
    """Mean log P(i | j) over all terms j that stand above i in the topic."""
    given_above = np.log((p + EPSILON) / np.diagonal(p))
    return float(given_above[np.tril_indices(len(p), -1)].mean())


def c_uci(p: Floats) -> float:
    """Mean PMI of two different terms."""
    return float(pmi(p)[np.triu_indices(len(p), 1)].mean())


def c_npmi(p: Floats) -> float:
    """Mean NPMI of two different terms."""
    return float(npmi(p)[np.triu_indices(len(p), 1)].mean())


def c_v(p: Floats) -> float:
    """Mean cosine of each term's row of NPMI with the sum of all rows; the cosine with a zero row is 0."""
    rows = npmi(p)
    topic = rows.sum(axis=0)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(topic)
    return float(np.divide(rows @ topic, lengths, out=np.zeros(len(p)), where=lengths > 0).mean())


def pmi(p: Floats) -> Floats:
    """Pointwise mutual information: log P(i, j) / (P(i) P(j))."""
    alone = np.diagonal(p)
    return np.log((p + EPSILON) / np.outer(alone, alone))


def npmi(p: Floats) -> Floats:
    """PMI / −log P(i, j), 0 where that is 0 / 0. As in gensim, −1 for two terms that are in every window."""
    limit = -np.log(p + EPSILON)
    return np.divide(pmi(p), limit, out=np.zeros_like(p), where=limit != 0)


MEASURES = {
    "u_mass": Measure(u_mass, None),
    "c_uci": Measure(c_uci, 10),
    "c_npmi": Measure(c_npmi, 10),
    "c_v": Measure(c_v, 110),
}
ALIASES = {"pmi": "c_uci", "npmi": "c_npmi"}


def find_measure(name: str) -> Measure:
    """The measure with this name or alias."""
    if not isinstance(name, str) or (known := ALIASES.get(name, name)) not in MEASURES:
        raise InputError(f"measure must be one of {', '.join([*MEASURES, *ALIASES])}, got {shown(name)}")
    return MEASURES[known]
