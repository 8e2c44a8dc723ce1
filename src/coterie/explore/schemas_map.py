"""What the API says about the names on the map."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MapGroup(BaseModel):
    """Topics that belong together."""

    label: str
    topics: list[int] = Field(description="ids")
    at: tuple[float, float]


class MapWord(BaseModel):
    """A word of a neighbourhood."""

    term: str
    at: tuple[float, float] = Field(description="the middle of its texts there")
    texts: int = Field(description="how many of the texts looked at have it there")
    level: int = Field(description="0 for wide neighbourhoods, 2 for narrow ones")


class MapNames(BaseModel):
    """Names for a look from far, and for a close one."""

    groups: list[MapGroup] = Field(description="none for few topics")
    words: list[MapWord] | None = Field(description="null until texts are counted")


class PictureQuery(BaseModel):
    """How the picture is drawn."""

    model_config = ConfigDict(extra="forbid")

    ground: Literal["light", "dark"] = "light"
