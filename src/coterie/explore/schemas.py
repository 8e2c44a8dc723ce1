"""What is asked and what is answered; this documents the API, too."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from coterie.explore.schemas_findings import Change, Findings
from coterie.report.wording import shortened

#: A word beside a text; one of a hundred thousand letters would slow the page down.
Word = Annotated[str, AfterValidator(lambda word: shortened(word, 80))]


class Problem(BaseModel):
    """Why a request was not answered as asked."""

    error: str = Field(description="one sentence for users")


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
    source: str = Field(description="name of the input file")
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
    named: bool = Field(description="whether the label was set by hand")
    description: str = Field(description="a sentence that was given, or empty")
    size: int = Field(description="number of texts, without those that have no known word")
    share: float = Field(description="share of all texts")
    terms: list[str] = Field(description="the most distinctive, at most 8")
    coherence: float = Field(description="mean NPMI of its first terms, -1 to 1")
    coherence_words: str = Field(description="what that means")
    distinctiveness: float = Field(description="share of the uses of its terms that falls into this topic")
    confidence: float = Field(description="mean over its texts")
    change: Change | None = Field(description="null without dates, or with all of them in one period")
    colour: str = Field(pattern="^#[0-9a-f]{6}$")
    at: tuple[float, float] = Field(description="where its texts are dense on the map")
    radius: float = Field(description="how far most of them are from there")


class Check(BaseModel):
    """What a reader should know before trusting topics."""

    look: bool = Field(description="whether this is a warning")
    well: bool = Field(description="whether nothing is wrong; neither: a fact")
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
    version: str = Field(
        pattern="^[0-9a-f]{16}$", description="changes must state the version they are based on"
    )
    source: str = Field(description="name of the input file")
    column: str
    date: str | None = Field(description="column with dates")
    label: str | None = Field(description="class column")
    classes: list[ClassCount] | None = Field(description="to filter by, the largest 200; null if none")
    dates: Dates | None = Field(description="of the first and the last text; null without dates")
    texts: int
    known: int = Field(description="texts with a known word")
    distinct: int
    made: str
    parameters: dict[str, Any]
    warnings: list[str]
    findings: Findings
    checks: list[Check]
    topics: list[Brief]
    extent: tuple[float, float, float, float] = Field(description="left, top, right, bottom of the map")
    edits: list[EditEntry]
    left_out: int = Field(description="edits that were skipped")
    can_undo: bool
    ready: bool = Field(
        description="whether texts are counted, so that search by meaning, similar texts and edits are fast"
    )
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
    similarity: float = Field(description="cosine of the centres")


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

    score: float = Field(description="1: like a text with all terms of the query")
    shared: list[str] = Field(description="terms of the query in the text")
    through: list[Through] = Field(description="its terms that are related to those of the query")


class Text(BaseModel):
    """A text and where it belongs."""

    model_config = ConfigDict(populate_by_name=True)

    row: int
    text: str
    cut: bool = Field(
        description="whether the text goes on: lists hold 2,000 characters of it, an answer about its row "
        "100,000, an export all"
    )
    topic: int | None = Field(description="none for a text without a known word")
    second: int | None
    confidence: float
    words: list[Word] = Field(description="its deciding words")
    related: list[Word] = Field(description="related words of the topic")
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
    at: tuple[float, float] | None = Field(description="its position on the map")


class Query(BaseModel):
    """How a query was understood: by words, its words and phrases as written; by meaning, its terms."""

    known: list[str] = Field(description="by words: it occurs in a text; by meaning: it is in the vocabulary")
    unknown: list[Word] = Field(description="by words: in no text; by meaning: not in the vocabulary")
    related: list[Through] = Field(description="related terms, for search by meaning only")
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


class TopicShare(BaseModel):
    """How much of a text is in a topic."""

    id: int
    share: float


class Answer(BaseModel):
    """Where a text belongs, how sure that is, and why."""

    topic: int | None = Field(description="none for a text without a known word")
    label: str
    confidence: float
    second: int | None
    words: list[Word]
    related: list[Word]
    note: str
    marks: list[tuple[int, int, Literal["word", "query", "related"]]]
    shares: list[TopicShare] = Field(description="the five largest")
    at: tuple[float, float] | None
    unknown: list[Word] = Field(description="words outside the vocabulary")


class Answers(BaseModel):
    """An answer for each text."""

    answers: list[Answer]
