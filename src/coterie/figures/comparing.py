"""Two models side by side: in which topics of the other the texts of each topic are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from coterie.topics.collection import Collection
    from coterie.topics.model import TopicModel

Ints = npt.NDArray[np.int64]


def shared_texts(model: TopicModel, collection: Collection, other: TopicModel) -> Ints:
    """Texts in each topic of one model and each of another; those without a topic in either are left out."""
    here, there = np.asarray(model.labels_), _topics_there(collection, other)
    known = (here >= 0) & (there >= 0)
    rows, columns = ({topic.id: at for at, topic in enumerate(one.topics)} for one in (model, other))
    at = [rows[topic] for topic in here[known].tolist()], [columns[topic] for topic in there[known].tolist()]
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(table, at, 1)
    return table


def _topics_there(collection: Collection, other: TopicModel) -> Ints:
    """The topic in another model of each text: known if it was fitted to the same texts, else asked for."""
    if other.collection is not None and _same_texts(collection, other.collection):
        return np.asarray(other.labels_)
    return np.asarray(other.predict(collection.texts))


def _same_texts(one: Collection, other: Collection) -> bool:
    if one is other:
        return True
    if len(one.corpus.rows) != len(other.corpus.rows):
        return False
    texts, others = (pl.concat(list(store.texts.batches())) for store in (one, other))
    return texts.equals(others)
