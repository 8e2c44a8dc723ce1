"""Which texts are asked for; this documents the API, too."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Mode = Literal["words", "meaning"]
_NUMBER = r"-?[0-9]{1,5}(\.[0-9]{1,20})?"
_CORNER = f"{_NUMBER},{_NUMBER}"
#: Corners on the map; nothing is as good as no lasso.
LASSO = f"^({_CORNER}( {_CORNER}){{2,199}})?$"

#: A column of few values by its number, and a value.
ONLY = r"^[0-9]{1,6}:"


class FilterQuery(BaseModel):
    """Which texts: all conditions hold."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    q: str = Field(default="", max_length=1000, description="words, or a meaning; quotes make a phrase")
    mode: Mode = "words"
    topic: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(default=[], max_length=1000)
    least: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description="least confidence")
    most: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description="most confidence")
    class_: list[Annotated[str, Field(max_length=1000)]] = Field(default=[], alias="class", max_length=1000)
    only: list[Annotated[str, Field(max_length=300, pattern=ONLY)]] = Field(
        default=[], max_length=1000, description="number of a column : one of its values; see counts"
    )
    since: dt.date | None = Field(default=None, description="first day")
    until: dt.date | None = Field(default=None, description="last day")
    lasso: str | None = Field(
        default=None,
        max_length=10_000,
        description="3 to 200 corners on the map: x,y x,y …",
        json_schema_extra={"pattern": LASSO},
    )
    row: list[Annotated[int, Field(ge=0, lt=1 << 32)]] = Field(default=[], max_length=10_000)
    known: bool | None = Field(default=None, description="whether the text has a known word")


class TextsQuery(FilterQuery):
    """Which texts, in which order, from which on."""

    sort: Literal["row", "confidence", "topic", "date", "class", "length", "match"] | None = Field(
        default=None, description="by default match for a query by meaning, else row"
    )
    descending: bool | None = Field(default=None, description="by default true for match only")
    offset: int = Field(default=0, ge=0, lt=1 << 32)
    limit: int = Field(default=50, ge=1, le=200)


class MapQuery(FilterQuery):
    """Which points, and at most how many."""

    x0: float | None = Field(default=None, allow_inf_nan=False)
    y0: float | None = Field(default=None, allow_inf_nan=False)
    x1: float | None = Field(default=None, allow_inf_nan=False)
    y1: float | None = Field(default=None, allow_inf_nan=False)
    limit: int = Field(default=20_000, ge=0, le=1_000_000)
    colour: str | None = Field(
        default=None,
        pattern="^(date|[0-9]{1,6})$",
        description="date, or the number of a column of few values: what is told of each point",
    )


class ExportQuery(FilterQuery):
    """Which texts, as which file."""

    format: Literal["csv", "parquet"] = "csv"


class AssignRequest(BaseModel):
    """Texts to be tried."""

    model_config = ConfigDict(extra="forbid", strict=True)

    texts: list[Annotated[str, Field(max_length=10_000)]] = Field(max_length=100)
