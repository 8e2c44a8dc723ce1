"""What a person gets to see: one schema for Python, tables, JSON and pages. Frozen, and without any logic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from coterie.frames import POLARS, Shape

if TYPE_CHECKING:
    import polars as pl

    from coterie.figures import Figure

#: The reason for a text without a known word.
NO_KNOWN_WORD = "no known word"
#: The reason for a text whose words point to no topic.
NO_TOPIC = "its words point to no topic"
#: The reason for a text that was pinned to a topic by hand.
PINNED = "pinned"
#: What is said in place of a reason, by number; the first is nothing.
NOTES = ("", PINNED, NO_KNOWN_WORD, NO_TOPIC)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as users see it.

    `terms` are words as people write them, the most distinctive first, and `weights` the probability of each
    in the topic. `size` is the number of texts, without those that have no known word, and `share` is their
    share of all texts. `coherence` is the mean NPMI of the first terms in the texts, −1 … 1;
    `distinctiveness` is the share of their uses that falls into this topic, 0 … 1. `examples` are typical
    texts, all different. `description` is a sentence that a person or a language model gave, else empty.
    """

    id: int
    label: str
    terms: tuple[str, ...]
    weights: tuple[float, ...]
    size: int
    share: float
    coherence: float
    distinctiveness: float
    examples: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a text is in its topic: its deciding words, and related words of the topic that often co-occur with
    them. `note` explains special cases.

    >>> print(Reason(("refund", "invoice"), ("charge",)))
    refund, invoice; related: charge
    """

    words: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        related = f"related: {', '.join(self.related)}" if self.related else ""
        return "; ".join(part for part in (self.note, ", ".join(self.words), related) if part)


@dataclass(frozen=True, slots=True)
class Assignment:
    """The topic of a text, its confidence, the second-best topic (None if there is none), and the reason.

    `topic` and `label` are None for a text without a topic.
    """

    topic: int | None
    label: str | None
    confidence: float
    second: int | None
    reason: Reason


@dataclass(frozen=True)
class Assignments(Sequence[Assignment]):
    """An assignment for each text, in input order; the columns are numpy arrays.

    `topic` is −1 for a text without a topic, `second` if there is no second-best one. `words` and `related`
    are columns of `terms`, three for each text, −1 if there are fewer; `note` is a number of `NOTES`.
    `labels` are those of topics, by id, and `shape` is that of the table.
    """

    topic: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float64]
    second: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    related: npt.NDArray[np.int32]
    note: npt.NDArray[np.int8]
    terms: Sequence[str]
    labels: dict[int, str]
    shape: Shape = POLARS

    def __len__(self) -> int:
        return len(self.topic)

    def __repr__(self) -> str:
        return f"<{len(self):,} assignments to {len(self.labels)} topics; .frame() is a table>"

    def _repr_html_(self) -> str:
        from coterie.figures.tables import assignments_table

        return assignments_table(self)

    @overload
    def __getitem__(self, row: int) -> Assignment: ...
    @overload
    def __getitem__(self, row: slice) -> list[Assignment]: ...
    def __getitem__(self, row: int | slice) -> Assignment | list[Assignment]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        topic, second = int(self.topic[row]), int(self.second[row])
        return Assignment(
            None if topic < 0 else topic,
            self.labels.get(topic),
            float(self.confidence[row]),
            None if second < 0 else second,
            self.reason(row),
        )

    def __iter__(self) -> Iterator[Assignment]:
        return (self[row] for row in range(len(self)))

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why each text is in its topic."""
        return tuple(self.reason(row) for row in range(len(self)))

    def reason(self, row: int) -> Reason:
        """Why one text is in its topic; where there is a note, that is the reason."""
        if note := NOTES[self.note[row]]:
            return Reason(note=note)
        words, related = (
            tuple(self.terms[column] for column in columns[row] if column >= 0)
            for columns in (self.words, self.related)
        )
        return Reason(words, related)

    def at_least(self, confidence: float) -> Assignments:
        """The same, but texts of less confidence have no topic."""
        return replace(self, topic=np.where(self.confidence < confidence, -1, self.topic))

    def shaped(self, shape: Shape) -> Assignments:
        """The same, with tables of another kind."""
        return replace(self, shape=shape)

    def frame(self) -> Any:
        """The assignments as a table: topic, label, confidence, second and reason; empty if there is none.

        Texts from pandas give a table of pandas with the same index, those from Arrow one of Arrow, all
        others one of polars.
        """
        return self.shape.of(self.polars())

    def polars(self) -> pl.DataFrame:
        """The table of `frame`, in polars."""
        import polars as pl

        names = pl.DataFrame(
            {"topic": list(self.labels), "label": list(self.labels.values())},
            schema={"topic": pl.Int64, "label": pl.String},
        )
        topic, second = (pl.Series(ids, dtype=pl.Int64) for ids in (self.topic, self.second))
        return (
            pl.select(topic=pl.when(topic >= 0).then(topic))
            .join(names, on="topic", how="left", maintain_order="left")
            .with_columns(
                confidence=pl.Series(self.confidence, dtype=pl.Float64),
                second=pl.when(second >= 0).then(second),
                reason=self._spelled_reasons(),
            )
        )

    def _spelled_reasons(self) -> pl.Series:
        """The reasons as `Reason` spells them, all at once."""
        import polars as pl

        terms = pl.Series([*self.terms, None], dtype=pl.String)  # the last answers for −1

        def listed(columns: npt.NDArray[np.int32], before: str) -> pl.Expr:
            named = [terms.gather(np.where(column < 0, len(terms) - 1, column)) for column in columns.T]
            joined = pl.concat_str([pl.lit(name) for name in named], separator=", ", ignore_nulls=True)
            return pl.when(joined != "").then(pl.lit(before) + joined)

        if not len(self):
            return pl.Series([], dtype=pl.String)
        parts = [listed(self.words, ""), listed(self.related, "related: ")]
        note = pl.lit(pl.Series(NOTES).gather(self.note.astype(np.int64)))
        reason = pl.when(note != "").then(note).otherwise(
            pl.concat_str(parts, separator="; ", ignore_nulls=True)
        )  # fmt: skip
        return pl.select(reason.alias("reason")).to_series()


@dataclass(frozen=True, slots=True)
class Similar:
    """A fitted text similar to another: `row` is its row number, `similarity` the cosine."""

    row: int
    text: str
    topic: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Related:
    """A term related to a text that does not contain it: `weight` says how much it counts, `words` are the
    words of the text that brought it.
    """

    term: str
    weight: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A fitted text that a search found: `row` is its row number, `score` says how well it fits the query.

    `words` are words of the query that the text contains, and `related` its words that are related to the
    query, with what each adds to the score. `copies` is the number of texts with the same words.
    """

    row: int
    text: str
    topic: int
    score: float
    words: tuple[str, ...]
    related: tuple[Related, ...]
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Recommended:
    """A candidate that fits what somebody read: `row` is its row among the candidates.

    `score` is the cosine with what was read, and `like` the text that was read which is most similar.
    """

    row: int
    text: str
    score: float
    like: str


@dataclass(frozen=True, slots=True)
class TermTopic:
    """A topic of a term: `uses` is how often the texts of the topic use it, `share` their share of all its
    uses, and `lift` how many times as often as in all texts a word of the topic is this term.
    """

    topic: int
    label: str
    uses: int
    share: float
    lift: float


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of the topic tree: a topic, or two and more branches.

    The label of a branch is what sets it apart from the branches beside it. `height` is the distance between
    its parts, 0 for a topic.
    """

    topics: tuple[int, ...]
    label: str
    size: int
    height: float
    parts: tuple[Branch, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return self._figure()._repr_html_()

    def _repr_svg_(self) -> str:
        return self._figure()._repr_svg_()

    def _figure(self) -> Figure:
        from coterie.figures.plots import tree_figure

        return tree_figure(self, {})

    def _lines(self) -> Iterator[str]:
        name = f"{self.label} ({self.size:,})"
        yield name if self.parts else f"[{self.topics[0]}] {name}"
        for number, part in enumerate(self.parts):
            last = number == len(self.parts) - 1
            for row, line in enumerate(part._lines()):
                head = ("└ " if last else "├ ") if not row else ("  " if last else "│ ")
                yield head + line


class Topics(tuple[Topic, ...]):
    """The topics of a model, in order; `shape` is that of the table."""

    shape: Shape = POLARS

    def shaped(self, shape: Shape) -> Topics:
        """The same, with tables of another kind."""
        topics = Topics(self)
        topics.shape = shape
        return topics

    def __repr__(self) -> str:
        lines = (f"[{topic.id}] {topic.label} ({topic.size:,})" for topic in self)
        return "\n".join(lines) or "no topics"

    def frame(self) -> Any:
        """Topics as a table of the kind that was fitted; terms and examples are lists."""
        return self.shape.of(self.polars())

    def polars(self) -> pl.DataFrame:
        """The table of `frame`, in polars."""
        import polars as pl

        return pl.DataFrame(
            {
                "topic": [topic.id for topic in self],
                "label": [topic.label for topic in self],
                "size": [topic.size for topic in self],
                "share": [topic.share for topic in self],
                "coherence": [topic.coherence for topic in self],
                "distinctiveness": [topic.distinctiveness for topic in self],
                "terms": [list(topic.terms) for topic in self],
                "examples": [list(topic.examples) for topic in self],
                "description": [topic.description for topic in self],
            },
            schema={
                "topic": pl.Int64, "label": pl.String, "size": pl.Int64, "share": pl.Float64,
                "coherence": pl.Float64, "distinctiveness": pl.Float64,
                "terms": pl.List(pl.String), "examples": pl.List(pl.String),
                "description": pl.String,
            },
        )  # fmt: skip

    def _repr_html_(self) -> str:
        from coterie.figures.tables import topics_table

        return topics_table(self)
