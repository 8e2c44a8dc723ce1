"""What the page reads off a model more than once. Rows are looked at some at a time, and texts in one go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.engines.records import forget, taken
from coterie.report.checks import UNSURE

if TYPE_CHECKING:
    from coterie.map.layout import TopicMap
    from coterie.topics import TopicModel
    from coterie.topics.collection import Collection
    from coterie.topics.scores import Scores

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The topic of a text that belongs to none.
NONE = -1
#: Texts that are drawn.
MOST_POINTS = 5_000
#: Unsure texts of a topic.
_BORDER = 3
#: Bars of a histogram of confidence.
BINS = 10


@dataclass
class Sums:
    """What is counted over all rows, in texts; arrays have one entry for each topic.

    `histogram` is topics × bins of confidence, and `sure` their confidence added up. `most_frequent` is the
    row that most texts share. `doubtful` are rows of each topic, the least sure first.
    """

    histogram: Array
    sure: Array
    unsure: float = 0.0
    known_rows: int = 0
    placed_rows: int = 0
    most_frequent: int = 0
    copies: float = 0.0
    doubtful: tuple[Ints, Array, Ints] = (
        np.zeros(0, dtype=np.int64),
        np.zeros(0),
        np.zeros(0, dtype=np.int64),
    )


@dataclass(frozen=True)
class Facts:
    """A fitted model that has its texts.

    Topics are numbered from the largest on. *Rows* are distinct texts.
    """

    model: TopicModel

    @cached_property
    def collection(self) -> Collection:
        """The texts."""
        assert self.model.collection is not None
        return self.model.collection

    @cached_property
    def scores(self) -> Scores:
        """What the model says of each row."""
        assert self.model.state.scores is not None
        return self.model.state.scores

    @property
    def order(self) -> list[int]:
        """Positions in `model.topics`, from the largest topic on."""
        return self.model.state.description.by_size

    @property
    def map(self) -> TopicMap:
        """Where topics lie."""
        assert self.model.state.description.map is not None
        return self.model.state.description.map

    @cached_property
    def ids(self) -> list[int]:
        """Ids of topics, from the largest on."""
        return [self.model.topics[at].id for at in self.order]

    @cached_property
    def numbers(self) -> Ints:
        """The number of the topic in each column of memberships; the last entry answers for `NONE` = −1."""
        return np.append(np.argsort(self.order), NONE)

    @cached_property
    def similarity(self) -> Array:
        """Cosines of the centres of topics."""
        centers = self.model.state.description.centers[self.order]
        return np.round(centers @ centers.T, 6)

    # --- all rows

    def of_texts(self, start: int, stop: int) -> Ints:
        """The number of the topic of some texts, `NONE` for a text without a known word."""
        return self.numbers[self.scores.topic[self.collection.corpus.rows[start:stop]]]

    def _pieces(self) -> Iterator[tuple[int, Scores, Array]]:
        """Rows in their order, some at a time: the first, what is said of them, and their texts."""
        blocks = self.collection.corpus.engine.map(lambda block: (block.start, block.weights))
        for start, weights in blocks:
            yield start, self.scores.at(slice(start, start + len(weights))), weights
            forget(self.scores.topic)

    @cached_property
    def sums(self) -> Sums:
        """One pass over the rows."""
        n_topics = len(self.order)
        sums = Sums(np.zeros(n_topics * BINS), np.zeros(n_topics))
        for start, scores, weights in self._pieces():
            topic, sure = self.numbers[scores.topic], np.asarray(scores.confidence)
            there = topic != NONE
            bins = np.minimum((sure[there] * BINS).astype(np.int64), BINS - 1)
            sums.histogram += np.bincount(topic[there] * BINS + bins, weights[there], n_topics * BINS)
            sums.sure += np.bincount(topic[there], weights[there] * sure[there], n_topics)
            sums.unsure += float(weights[sure < UNSURE].sum())
            sums.placed_rows += int((~np.isnan(scores.position[:, 0])).sum())
            known = np.flatnonzero(there & (sure > 0))  # in a topic because of their words
            sums.known_rows += len(known)
            sums.doubtful = self._least_sure(sums.doubtful, (topic[known], sure[known], start + known))
            most = int(np.argmax(weights)) if len(weights) else 0
            if len(weights) and weights[most] > sums.copies:
                sums.most_frequent, sums.copies = start + most, float(weights[most])
        return sums

    def _least_sure(
        self, before: tuple[Ints, Array, Ints], more: tuple[Ints, Array, Ints]
    ) -> tuple[Ints, Array, Ints]:
        """The rows of each topic that are least sure; some more than are shown, as typical texts are not."""
        topic, sure, row = (np.concatenate(both) for both in zip(before, more, strict=True))
        spare = max((len(rows) for rows in self.model.state.description.examples), default=0)
        order = np.lexsort((row, np.round(sure, 6), topic))
        ends = np.searchsorted(topic[order], np.arange(len(self.order) + 1))
        kept = np.concatenate(
            [np.zeros(0, dtype=np.int64)]
            + [order[begin:end][: _BORDER + spare] for begin, end in pairwise(ends.tolist())]
        )
        return topic[kept], sure[kept], row[kept]

    # --- rows that are shown

    @cached_property
    def points(self) -> Ints:
        """The rows that are drawn: some of those with a known word, evenly spread."""
        step, seen = max(-(-self.sums.placed_rows // MOST_POINTS), 1), 0
        chosen = [np.zeros(0, dtype=np.int64)]
        for start, scores, _ in self._pieces():
            placed = np.flatnonzero(~np.isnan(scores.position[:, 0]))
            chosen.append(start + placed[-seen % step :: step])
            seen += len(placed)
        return np.concatenate(chosen)

    @cached_property
    def borderline(self) -> list[list[int]]:
        """For each topic the rows that are least sure, typical texts and those without a known word aside."""
        typical = {int(row) for rows in self.model.state.description.examples for row in rows}
        topic, _, row = self.sums.doubtful
        return [
            [one for one in row[topic == number].tolist() if one not in typical][:_BORDER]
            for number in range(len(self.order))
        ]

    @cached_property
    def texts(self) -> dict[int, str]:
        """The texts of all rows that are shown, as the first of each was written."""
        border = [row for rows in self.borderline for row in rows]
        rows = np.unique([self.sums.most_frequent, *border, *self.points.tolist()])
        numbers = taken(self.collection.first, rows)
        texts = self.collection.texts.at(np.unique(numbers))
        return {int(row): texts[int(number)] for row, number in zip(rows, numbers, strict=True)}

    def second(self, row: int) -> int | None:
        """The id of the second-best topic of a row."""
        second = int(self.scores.second[row])
        return None if second == NONE else self.model.topics[second].id
