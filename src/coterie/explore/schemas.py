"""What is asked of runs, topics, texts and the map, and what is answered; this documents the API, too."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """Why a request was not answered as asked."""

    error: str = Field(description="one sentence for people")


class Limits(BaseModel):
    """How much may be asked for at once."""

    upload_bytes: int
    texts_per_try: int
    page: int


class About(BaseModel):
    """This server."""

    version: str = Field(description="of coterie")
    workspace: str = Field(description="name of the folder of runs")
    languages: list[str]
    limits: Limits
    writable: bool = Field(description="whether runs can be written into the folder")


class RunEntry(BaseModel):
    """A run in the list of runs; one that cannot be read has an error."""

    name: str
    source: str = Field(description="name of the file that it was made of")
    texts: int
    topics: int
    made: str
    error: str | None


class RunList(BaseModel):
    """Runs, the newest first."""

    runs: list[RunEntry]


class Brief(BaseModel):
    """A topic in short."""

    id: int
    label: str
    named: bool = Field(description="whether a person gave the label")
    size: int = Field(description="texts, those without a known word left out")
    share: float = Field(description="part of all texts")
    terms: list[str] = Field(description="the most telling, at most 8")
    coherence: float = Field(description="mean NPMI of its first terms, -1 to 1")
    coherence_words: str = Field(description="what that means")
    distinctiveness: float = Field(description="part of the uses of its terms that is in this topic")
    confidence: float = Field(description="mean over its texts")
    colour: str = Field(pattern="^#[0-9a-f]{6}$")
    at: tuple[float, float] = Field(description="middle of its disc on the map")
    radius: float


class Check(BaseModel):
    """What a reader should know before trusting topics."""

    look: bool = Field(description="whether this deserves a look")
    text: str


class EditEntry(BaseModel):
    """An edit of the log."""

    number: int
    sentence: str


class ClassCount(BaseModel):
    """Texts of a class."""

    name: str
    count: int


class Dates(BaseModel):
    """From when to when."""

    first: dt.date
    last: dt.date


class Overview(BaseModel):
    """A run: what it was made of, and its topics, the largest first."""

    name: str
    version: str = Field(pattern="^[0-9a-f]{16}$", description="changes name the version they were made for")
    source: str = Field(description="name of the file that it was made of")
    column: str
    date: str | None = Field(description="column of dates")
    label: str | None = Field(description="column of known classes")
    classes: list[ClassCount] | None = Field(description="to filter by: the largest 200; null without such")
    dates: Dates | None = Field(description="of the first and the last text; null without dates")
    texts: int
    known: int = Field(description="texts with a known word")
    distinct: int
    made: str
    parameters: dict[str, Any]
    warnings: list[str]
    checks: list[Check]
    topics: list[Brief]
    edits: list[EditEntry]
    left_out: int = Field(description="edits that could not be applied again")
    can_undo: bool
    ready: bool = Field(description="texts are counted: search by meaning, similar texts and edits are quick")
    has_report: bool


class Candidate(BaseModel):
    """A term that may stand for a topic; rank by w*log(share) + (1-w)*log(lift)."""

    term: str
    share: float = Field(description="of the words of the topic")
    lift: float = Field(description="share here divided by share everywhere")
    count: int


class RelatedTerm(BaseModel):
    """A term near to another one."""

    term: str
    similarity: float
    through: str


class Neighbour(BaseModel):
    """A topic much like another one."""

    id: int
    label: str
    likeness: float = Field(description="cosine of the centres")


class OverTime(BaseModel):
    """Texts of a topic in each period."""

    every: str = Field(description="day, week, month, quarter, year, or several years")
    periods: list[str]
    counts: list[int]
    shares: list[float] = Field(description="of all texts of the period")


class ClassShare(BaseModel):
    """Texts of a topic in a class."""

    name: str
    count: int
    share: float = Field(description="of the texts of the topic")


class Through(BaseModel):
    """A term of a text that is near to a term of the query."""

    model_config = ConfigDict(populate_by_name=True)

    term: str
    from_: str = Field(alias="from")
    similarity: float


class Match(BaseModel):
    """How a text fits a query by meaning."""

    score: float = Field(description="1: as much as a text that holds all terms of the query")
    shared: list[str] = Field(description="terms of the query that the text holds")
    through: list[Through] = Field(description="its terms that are near to those of the query")


class Text(BaseModel):
    """A text and where it belongs."""

    model_config = ConfigDict(populate_by_name=True)

    row: int
    text: str
    cut: bool = Field(
        description="whether the text goes on: lists hold 2,000 characters of it, an answer about its row "
        "100,000, an export all"
    )
    topic: int
    second: int | None
    confidence: float
    words: list[str] = Field(description="its words that speak for the topic")
    related: list[str] = Field(description="words of the topic near to the text")
    note: str
    marks: list[tuple[int, int, Literal["word", "query", "related"]]] = Field(
        description="start, end (code points) and kind; in order, none over another, at most 1,000"
    )
    class_: str | None = Field(alias="class")
    date: str | None
    match: Match | None


class Cell(BaseModel):
    """A cell of the table."""

    name: str
    value: str | None
    cut: bool = Field(description="whether it goes on: 10,000 characters of it are shown")


class WholeText(Text):
    """A text with all there is to it."""

    columns: list[Cell]
    similar: list[Text] = Field(description="nearest in meaning; empty until the run is ready")
    at: tuple[float, float] | None = Field(description="its place on the map")


class Query(BaseModel):
    """How a query was understood: by words, its words and phrases as written; by meaning, its terms."""

    known: list[str] = Field(description="by words: some text holds it; by meaning: the model knows it")
    unknown: list[str] = Field(description="by words: no text of the run holds it; by meaning: not known")
    related: list[Through] = Field(description="terms near to those known, by meaning only")
    indexed: bool = Field(description="whether search by meaning can be used now")


class TextPage(BaseModel):
    """A page of texts."""

    total: int = Field(description="texts that match")
    offset: int
    rows: list[Text]
    query: Query | None


class TopicDetail(Brief):
    """A topic with all there is to it."""

    candidates: list[Candidate]
    histogram: list[int] = Field(description="texts by confidence, ten equal steps from 0 to 1")
    examples: list[Text]
    borderline: list[Text]
    related: list[RelatedTerm]
    neighbours: list[Neighbour]
    over_time: OverTime | None
    by_class: list[ClassShare] | None


Mode = Literal["words", "meaning"]
_NUMBER = r"-?[0-9]{1,5}(\.[0-9]{1,20})?"
_CORNER = f"{_NUMBER},{_NUMBER}"
#: Corners on the map; nothing is as good as no lasso.
LASSO = f"^({_CORNER}( {_CORNER}){{2,199}})?$"


class FilterQuery(BaseModel):
    """Which texts: all conditions hold."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    q: str = Field(default="", max_length=1000, description="words, or what is meant; quotes make a phrase")
    mode: Mode = "words"
    topic: list[Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(default=[], max_length=1000)
    least: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description="least confidence")
    most: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, description="most confidence")
    class_: list[Annotated[str, Field(max_length=1000)]] = Field(default=[], alias="class", max_length=1000)
    since: dt.date | None = Field(default=None, description="first day")
    until: dt.date | None = Field(default=None, description="last day")
    lasso: str | None = Field(
        default=None,
        max_length=10_000,
        description="3 to 200 corners on the map: x,y x,y …",
        json_schema_extra={"pattern": LASSO},
    )
    row: list[Annotated[int, Field(ge=0, lt=1 << 32)]] = Field(default=[], max_length=10_000)
    known: bool | None = Field(default=None, description="whether the model knows a word of the text")


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


class ExportQuery(FilterQuery):
    """Which texts, as which file."""

    format: Literal["csv", "parquet"] = "csv"


class AssignRequest(BaseModel):
    """Texts to be tried."""

    model_config = ConfigDict(extra="forbid", strict=True)

    texts: list[Annotated[str, Field(max_length=10_000)]] = Field(max_length=100)


class TopicShare(BaseModel):
    """How much of a text is in a topic."""

    id: int
    share: float


class Answer(BaseModel):
    """Where a text belongs, how sure that is, and why."""

    topic: int
    label: str
    confidence: float
    second: int | None
    words: list[str]
    related: list[str]
    note: str
    marks: list[tuple[int, int, Literal["word", "query", "related"]]]
    shares: list[TopicShare] = Field(description="the five largest")
    at: tuple[float, float] | None
    unknown: list[str] = Field(description="words that the model does not know")


class Answers(BaseModel):
    """An answer for each text."""

    answers: list[Answer]
