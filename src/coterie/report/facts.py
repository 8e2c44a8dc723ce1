"""What the page reads off a model more than once. Texts are looked up in one go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

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
    def row_topics(self) -> npt.NDArray[np.int32]:
        """The number of each row's topic, `NONE` for a row without a known word."""
        # the last entry answers for NONE = −1; there is one for each text, so they are small
        number = np.append(np.argsort(self.order), NONE).astype(np.int32)
        return number[self.scores.topic]

    @cached_property
    def topics(self) -> npt.NDArray[np.int32]:
        """The number of each text's topic, `NONE` for a text without a known word."""
        return self.row_topics[self.collection.corpus.rows]

    @cached_property
    def confidence(self) -> Array:
        """The confidence of each text; 0 for one without a known word."""
        return self.scores.confidence[self.collection.corpus.rows]

    @cached_property
    def known_rows(self) -> Ints:
        """Rows that are in a topic because of their words."""
        return np.flatnonzero((self.scores.confidence > 0) & (self.row_topics != NONE))

    @cached_property
    def weights(self) -> Array:
        """How many texts each row stands for."""
        return self.collection.corpus.weights()

    @cached_property
    def similarity(self) -> Array:
        """Cosines of the centres of topics."""
        centers = self.model.state.description.centers[self.order]
        return np.round(centers @ centers.T, 6)

    # --- rows that are shown

    @cached_property
    def points(self) -> Ints:
        """The rows that are drawn: some of those with a known word, evenly spread."""
        known = np.flatnonzero(~np.isnan(self.scores.position[:, 0]))
        return known[:: max(-(-len(known) // MOST_POINTS), 1)]

    @cached_property
    def most_frequent(self) -> int:
        """The row that most texts share."""
        return int(np.argmax(self.weights))

    @cached_property
    def borderline(self) -> list[list[int]]:
        """For each topic the rows that are least sure, typical texts and those without a known word aside."""
        examples = self.model.state.description.examples
        typical = {int(row) for rows in examples for row in rows}
        spare = max((len(rows) for rows in examples), default=0)
        sure, known = self.scores.confidence, self.known_rows
        by_doubt = known[np.lexsort((np.round(sure[known], 6), self.row_topics[known]))]
        ends = np.searchsorted(self.row_topics[by_doubt], np.arange(len(self.order) + 1))
        return [
            [row for row in by_doubt[begin:end][: _BORDER + spare].tolist() if row not in typical][:_BORDER]
            for begin, end in pairwise(ends)
        ]

    @cached_property
    def texts(self) -> dict[int, str]:
        """The texts of all rows that are shown, as the first of each was written."""
        border = [row for rows in self.borderline for row in rows]
        rows = np.unique([self.most_frequent, *border, *self.points.tolist()])
        numbers = self.collection.first[rows]
        texts = self.collection.texts.at(np.unique(numbers))
        return {int(row): texts[int(number)] for row, number in zip(rows, numbers, strict=True)}

    def second(self, row: int) -> int | None:
        """The id of the second-best topic of a row."""
        second = int(self.scores.second[row])
        return None if second == NONE else self.model.topics[second].id
