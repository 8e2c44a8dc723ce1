"""What the API says about the names on the map."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MapGroup(BaseModel):
    """Topics that belong together."""

    label: str
    topics: list[int] = Field(description="ids")
    at: tuple[float, float]


class LevelGroup(BaseModel):
    """Topics that are one group at a level."""

    label: str
    size: int = Field(description="texts")
    share: float
    topics: list[int] = Field(description="ids, the largest first")
    colour: str
    at: tuple[float, float]


class MapLevel(BaseModel):
    """A level above the topics."""

    groups: list[LevelGroup]
    agreement: float = Field(description="how far two halves of the vocabulary agree on the groups")
    chance: float = Field(description="what topics without groups reach")


class MapWord(BaseModel):
    """A word of a neighbourhood."""

    term: str
    at: tuple[float, float] = Field(description="the middle of its texts there")
    texts: int = Field(description="how many of the texts looked at have it there")
    level: int = Field(description="0 for wide neighbourhoods, 2 for narrow ones")


class MapNames(BaseModel):
    """Names for a look from far, and for a close one."""

    groups: list[MapGroup] = Field(description="none for few topics")
    levels: list[MapLevel] = Field(description="the coarsest first; none where the words show no groups")
    words: list[MapWord] | None = Field(description="null until texts are counted")


class PictureQuery(BaseModel):
    """How the picture is drawn."""

    model_config = ConfigDict(extra="forbid")

    ground: Literal["light", "dark"] = "light"
