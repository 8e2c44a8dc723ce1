"""What the page reads off a model more than once. Texts are fetched in one go: a file is read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.topics.placing import NOWHERE, Seen

if TYPE_CHECKING:
    from coterie.topics import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Texts by which the map learns how texts of a topic differ, and those that are drawn.
LEARNED, MOST_POINTS = 20_000, 5_000
#: Unsure texts of a topic.
_BORDER = 3


@dataclass(frozen=True)
class Facts:
    """A model, and the confidence of each of its texts.

    Topics are numbered from the largest on: *places*. *Rows* are distinct texts.
    """

    model: TopicModel
    confidence: Array

    @cached_property
    def order(self) -> list[int]:
        """Positions in `model.topics`, from the largest topic on."""
        topics = self.model.topics
        return sorted(range(len(topics)), key=lambda at: (-topics[at].size, topics[at].id))

    @cached_property
    def ids(self) -> list[int]:
        """Ids of topics, from the largest on."""
        return [self.model.topics[at].id for at in self.order]

    @cached_property
    def row_places(self) -> Ints:
        """The place of each row's topic, `NOWHERE` for a row without a known word."""
        place = np.full(len(self.order) + 1, NOWHERE)  # the last answers for NOWHERE = −1
        place[self.order] = np.arange(len(self.order))
        found: Ints = place[self.model._description.places]
        return found

    @cached_property
    def places(self) -> Ints:
        """The place of each text's topic, `NOWHERE` for a text without a known word."""
        found: Ints = self.row_places[self.model._counted.corpus.rows]
        return found

    @cached_property
    def known_rows(self) -> Ints:
        """Rows that are in a topic because of their words."""
        return np.flatnonzero((self.row_confidence > 0) & (self.row_places != NOWHERE))

    @cached_property
    def row_confidence(self) -> Array:
        """The confidence of each row; 0 for one without a known word."""
        return self.confidence[self.model._counted.first]

    @cached_property
    def weights(self) -> Array:
        """How many texts each row stands for."""
        return self.model._counted.corpus.weights()

    @cached_property
    def centers(self) -> Array:
        """Directions of topics."""
        return self.model._description.centers[self.order]

    @cached_property
    def likeness(self) -> Array:
        """Cosines of the centres of topics."""
        found: Array = np.round(self.centers @ self.centers.T, 6)
        return found

    # --- rows that are shown

    @cached_property
    def sample_rows(self) -> Ints:
        """Some rows. They are in the order of a hash: every n-th is a fair sample."""
        return sampled(len(self.row_places), LEARNED)

    @cached_property
    def sample(self) -> Seen:
        """These rows as the model sees them."""
        return self.seen(self.sample_rows)

    @cached_property
    def points(self) -> Ints:
        """Numbers in the sample of the texts that are drawn: some of those with a known word."""
        known = np.flatnonzero(self.sample.memberships.any(axis=1))
        return known[sampled(len(known), MOST_POINTS)]

    @cached_property
    def most_frequent(self) -> int:
        """The row that most texts share."""
        return int(np.argmax(self.weights))

    @cached_property
    def borderline(self) -> list[list[int]]:
        """For each topic the rows that are least sure, typical texts and those without a known word aside."""
        typical = {int(row) for rows in self.model._description.examples for row in rows}
        spare = max((len(rows) for rows in self.model._description.examples), default=0)
        sure, known = self.row_confidence, self.known_rows
        by_doubt = known[np.lexsort((np.round(sure[known], 6), self.row_places[known]))]
        ends = np.searchsorted(self.row_places[by_doubt], np.arange(len(self.order) + 1))
        found = []
        for begin, end in pairwise(ends):
            least = by_doubt[begin:end][: _BORDER + spare].tolist()
            found.append([row for row in least if row not in typical][:_BORDER])
        return found

    @cached_property
    def texts(self) -> dict[int, str]:
        """The texts of all rows that are shown, as the first of each was written."""
        counted = self.model._counted
        border = [row for rows in self.borderline for row in rows]
        rows = np.unique([self.most_frequent, *border, *self.sample_rows[self.points].tolist()])
        numbers = counted.first[rows]
        found = counted.texts.at(np.unique(numbers))
        return {int(row): found[int(number)] for row, number in zip(rows, numbers, strict=True)}

    def seen(self, rows: Ints) -> Seen:
        """Rows in ascending order as the model sees them; topics are in its own order."""
        counted, placing = self.model._counted, self.model._made.placing
        parts = []
        for block in counted.corpus.engine.map(lambda block: block):
            here = rows[(rows >= block.start) & (rows < block.start + block.X.shape[0])]
            vectors = None if counted.vectors is None else np.asarray(counted.vectors)[here]
            if len(here):
                parts.append(placing.see(block.X[here - block.start], vectors))
        return Seen.joined(parts)


def sampled(n: int, most: int) -> Ints:
    """At most so many numbers below n, evenly apart."""
    return np.arange(0, n, max(-(-n // most), 1)) if n else np.zeros(0, dtype=np.int64)
