"""Stability: which topics come back when the same texts are fitted again with other random states."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import count, islice
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from coterie.engines import Block
from coterie.engines.threads import one_blas_thread
from coterie.estimator import check_count
from coterie.methods.fitted import fit_method
from coterie.metrics import ari
from coterie.progress import tell
from coterie.topics.collection import without_columns
from coterie.topics.predefined import checked_topics, evidence
from coterie.topics.scorer import Scorer

if TYPE_CHECKING:
    from coterie.topics.collection import Collection
    from coterie.topics.model import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

#: A topic is found again if it shares at least this part of the texts that either has (Jaccard).
FOUND = 0.5


@dataclass(frozen=True, slots=True)
class StableTopic:
    """How often a topic was found again, and the mean part of its texts that the matched topics share."""

    topic: int
    label: str
    found: int
    agreement: float


@dataclass(frozen=True)
class Stability:
    """The topics of a model beside those of fits with other random states, `runs` of them.

    `agreement` is the mean ARI between the topics of the model and those of each other fit.
    """

    runs: int
    agreement: float
    topics: tuple[StableTopic, ...]


def stability(model: TopicModel, runs: int = 10) -> Stability:
    """Fit the texts of a model again, with as many topics as it has, and compare.

    1. Each fit has another random state and the same counts, predefined topics and banned terms.
    2. Topics are matched one to one, so that the sum of their overlaps is the largest. The overlap of two
       topics is the number of texts in both over that in either (Jaccard).
    3. A topic is found again by a fit if the overlap with its match is at least one half.
    """
    check_count("runs", runs, model)
    collection = model._with_texts("stability compares fits of the fitted texts")
    assert model.state.scores is not None
    rows, now, topics = collection.corpus.rows, model.state.scores.topic, model.topics
    weights = np.bincount(rows, minlength=collection.corpus.n_distinct).astype(np.float64)
    shared, agreed = [], []
    for number, random_state in enumerate(other_states(model.random_state, runs)):
        tell("fitting again", number, runs, "fits")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # those of the first fit were given then
            again = topics_again(model, collection, random_state)
        shared.append(matched(now, again, weights, len(topics)))
        agreed.append(ari(now[rows].tolist(), again[rows].tolist()))
    each = np.stack(shared)
    return Stability(
        runs,
        fmean(agreed),
        tuple(
            StableTopic(topic.id, topic.label, int((part >= FOUND).sum()), float(part.mean()))
            for topic, part in zip(topics, each.T, strict=True)
        ),
    )


def other_states(random_state: Any, runs: int) -> list[int]:
    """Random states that differ from that of the model.

    >>> other_states(1, 3)
    [0, 2, 3]
    """
    return list(islice((state for state in count() if state != random_state), runs))


def topics_again(model: TopicModel, collection: Collection, random_state: int) -> Ints:
    """The topic of each distinct text in a fit with another random state; −1 for none."""
    banned = model.state.edited.scorer.banned
    documents = collection.engine(banned)
    known = sorted(checked_topics(model.predefined), key=lambda topic: topic.name)
    n_topics = max(len(model.topics), len(known))
    method, _ = fit_method(
        documents,
        _with_state(model.method, random_state),
        n_topics,
        random_state,
        predefined=evidence(known, model.vectorizer_, model.embeddings_),
        source=model.embeddings_,
        embeddings=collection.embeddings,
        stop_word_counts=collection.corpus.stop_word_counts,
        unfolded=lambda: without_columns(collection.corpus.unfolded(), banned),
    )
    scorer = Scorer(method, np.arange(method.n_topics))

    def topics(block: Block) -> Ints:
        own = slice(block.start, block.start + block.X.shape[0])
        return scorer.score(
            block.X, None if collection.embeddings is None else collection.embeddings[own]
        ).topics

    with one_blas_thread():
        return np.concatenate(list(documents.map(topics)))


def _with_state(method: Any, random_state: int) -> Any:
    """An estimator with another random state; a name needs none."""
    if isinstance(method, str):
        return method
    names = [name for name in method.get_params() if name.rpartition("__")[2] == "random_state"]
    return clone(method).set_params(**dict.fromkeys(names, random_state))


def matched(now: Ints, again: Ints, weights: Array, n_topics: int) -> Array:
    """For each topic the Jaccard overlap with the topic of another fit that it is matched with.

    >>> now, again = np.array([0, 0, 0, 1, 1, -1]), np.array([1, 1, 0, 0, 0, 0])
    >>> matched(now, again, np.ones(6), 2).round(3).tolist()
    [0.667, 0.5]
    """
    from scipy.optimize import linear_sum_assignment

    both = np.zeros((n_topics + 1, max(int(again.max(initial=-1)) + 2, 2)))
    np.add.at(both, (now, again), weights)  # the last row and column are of texts without a topic
    sizes, others = both.sum(axis=1)[:-1], both.sum(axis=0)[:-1]
    both = both[:-1, :-1]
    either = sizes[:, None] + others[None, :] - both
    overlap = np.divide(both, either, where=either > 0, out=np.zeros_like(both))
    found = np.zeros(n_topics)
    ours, theirs = linear_sum_assignment(-overlap)
    found[ours] = overlap[ours, theirs]
    return found
