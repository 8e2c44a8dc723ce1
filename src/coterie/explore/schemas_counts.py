"""How many texts that match are where, and what sets them apart; this documents the API, too."""

from __future__ import annotations

import datetime as dt

from pydantic import BaseModel, Field


class TopicCount(BaseModel):
    """Texts of a topic that match all filters but those of topics."""

    id: int
    count: int


class ValueCount(BaseModel):
    """Texts with a value that match all filters but those of this column."""

    name: str
    count: int
    texts: int = Field(description="those of the whole run")


class ColumnCounts(BaseModel):
    """A column of few values, the commonest of the run first."""

    column: int = Field(description="its number in the table, for the filter `only`")
    name: str
    is_class: bool
    values: list[ValueCount]


class PeriodCount(BaseModel):
    """Texts of a period that match all filters but those of dates."""

    name: str
    first: dt.date
    last: dt.date
    count: int
    texts: int = Field(description="those of the whole run")


class PeriodCounts(BaseModel):
    """Texts over time."""

    every: str = Field(description="day, week, month, quarter, year, or several years")
    periods: list[PeriodCount]


class Counts(BaseModel):
    """How many texts that match are where; each kind is counted without its own filter."""

    total: int = Field(description="texts that match all filters")
    in_all_topics: int = Field(description="texts that match all filters but those of topics")
    topics: list[TopicCount]
    columns: list[ColumnCounts]
    over_time: PeriodCounts | None


class Contrast(BaseModel):
    """Something that texts have more often, or less often, than the rest."""

    name: str
    count: int = Field(description="chosen texts that have it")
    share: float = Field(description="of the chosen texts")
    rest: float = Field(description="share of the rest that has it")


class TopicContrast(Contrast):
    """A topic, among chosen texts and among the rest."""

    id: int


class ColumnContrast(BaseModel):
    """Values of a column, among chosen texts and among the rest."""

    column: int
    name: str
    values: list[Contrast]


class Contrasts(BaseModel):
    """What sets the texts that match apart from the rest of the run."""

    total: int = Field(description="texts that match")
    rest: int
    words: list[Contrast] | None = Field(
        description="much more frequent than in the rest, the clearest first; null until texts are counted"
    )
    topics: list[TopicContrast] = Field(description="the largest first")
    columns: list[ColumnContrast] = Field(
        description="values that are more frequent than in the rest; no column that was filtered by"
    )
    every: str | None = Field(description="length of a period")
    periods: list[Contrast] = Field(description="all of them, in order; none if dates were filtered by")
