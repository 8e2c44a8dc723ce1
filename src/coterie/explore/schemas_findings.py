"""What the page says first: the biggest topic, and what grew or fell."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Change(BaseModel):
    """How the share of a topic changed in the last period."""

    trend: Literal["new", "grew", "fell", ""] = Field(description="empty if no change is clear")
    growth: float = Field(description="its share minus that of up to a year before, or of all earlier texts")
    sentence: str = Field(description="shares, periods, and the change with an interval")


class Finding(BaseModel):
    """A sentence about a topic."""

    kind: Literal["Biggest", "Grew", "Fell", "New"]
    topic: int
    text: str
    quote: str = Field(description="a typical text of the topic")


class Findings(BaseModel):
    """What a reader wants to know first."""

    items: list[Finding]
    note: str = Field(description="what was compared; empty without dates")
