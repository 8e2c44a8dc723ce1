"""What is asked and what is answered; this documents the API, too."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from coterie.explore.schemas_findings import Change, Findings
from coterie.report.wording import shortened

#: Most rows of a pin, topics of a merge, terms of a ban, texts of a pin.
MOST_ROWS, MOST_TOPICS, MOST_TERMS = 500, 1000, 100
LONGEST_TEXT, LONGEST_LABEL, LONGEST_TERM = 10_000, 200, 200
MOST_PARTS, MOST_ASKED = 100, 10_000
#: Columns of an uploaded file that are shown.
MOST_COLUMNS = 200


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


Mode = Literal["words", "meaning"]
_NUMBER = r"-?[0-9]{1,5}(\.[0-9]{1,20})?"
_CORNER = f"{_NUMBER},{_NUMBER}"
#: Corners on the map; nothing is as good as no lasso.
LASSO = f"^({_CORNER}( {_CORNER}){{2,199}})?$"


class FilterQuery(BaseModel):
    """Which texts: all conditions hold."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    q: str = Field(default="", max_length=1000, description="words, or a meaning; quotes make a phrase")
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


# --- changes: edits, jobs, uploads


class Strict(BaseModel):
    """What comes in: nothing is guessed, and nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True)


VersionOf = Annotated[
    str, Field(pattern="^[0-9a-f]{16}$", description="version of the run that the change is based on")
]
TopicId = Annotated[int, Field(ge=0, lt=1 << 31)]
RunName = Annotated[str, Field(min_length=1, max_length=100, description="name of a run's folder")]
Number = Annotated[int, Field(ge=1, le=MOST_ASKED)]


class EditRequest(Strict):
    """An edit: rename (topics[0], label), merge (into topics[0]), split (topics[0], parts), ban (terms), pin
    (rows or texts, to topics[0])."""

    version: VersionOf
    kind: Literal["rename", "merge", "split", "ban", "pin"]
    topics: list[TopicId] = Field(default=[], max_length=MOST_TOPICS)
    label: str | None = Field(default=None, max_length=LONGEST_LABEL)
    parts: int | None = Field(default=None, ge=2, le=MOST_PARTS)
    terms: list[Annotated[str, Field(max_length=LONGEST_TERM)]] | None = Field(
        default=None, max_length=MOST_TERMS
    )
    rows: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, max_length=MOST_ROWS)
    texts: list[Annotated[str, Field(max_length=LONGEST_TEXT)]] | None = Field(
        default=None, max_length=MOST_ROWS
    )


class UndoRequest(Strict):
    """The last edit is taken back."""

    version: VersionOf


class RefitRequest(Strict):
    """A new fit of the same texts, to which the edits are applied again."""

    version: VersionOf
    topics: Number | Literal["auto"] | None = Field(
        default=None, description="null: as many as in the last fit; auto: estimate again"
    )
    name: RunName | None = Field(default=None, description="of the new run; null replaces this one")


class Job(BaseModel):
    """Work that goes on beside the requests."""

    id: str
    kind: Literal["edit", "undo", "refit", "fit"]
    run: str
    title: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    stage: str
    done: int
    total: int | None
    unit: str
    seconds: float = Field(description="since it began to run")
    remaining: float | None = Field(description="seconds left in this stage, if known")
    error: str | None
    version: str | None = Field(description="of the run when done")


class JobList(BaseModel):
    """Jobs of this server, the newest first."""

    jobs: list[Job]


class UploadedColumn(BaseModel):
    """A column of an uploaded file, as its first rows show it."""

    name: str
    kind: Literal["text", "number", "date", "class", "empty"]
    filled: float = Field(description="share of rows with a value")
    mean_length: float = Field(description="characters")
    distinct_share: float = Field(description="distinct values among those that are filled")
    samples: list[str]


class Guess(BaseModel):
    """Which columns are likely which, and the language of the texts."""

    text: str | None = Field(description="None if no column looks like texts")
    date: str | None
    label: str | None
    language: str


class Upload(BaseModel):
    """A file that was uploaded and waits to be fitted."""

    id: str
    name: str
    bytes: int
    rows_seen: int = Field(description="number of rows inspected")
    skipped: int = Field(description="rows among them that could not be read and would be skipped")
    columns: list[UploadedColumn]
    preview: list[list[str]]
    guess: Guess
    format: Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "lines"]
    encoding: str | None
    delimiter: str | None
    sheets: list[str] = Field(description="of an Excel file")
    sheet: str | None = Field(description="the sheet that is shown")
    header_row: int | None = Field(description="the row with the column names, from 1")
    open_dates: list[str] = Field(description="columns with dates that could have day or month first")
    notes: list[str] = Field(description="what had to be decided to read the file")


class LookRequest(Strict):
    """Where the table is in an uploaded file; what is None is detected."""

    sheet: str | None = Field(default=None, min_length=1, max_length=200, description="name of a sheet")
    header_row: int | None = Field(default=None, ge=1, le=10**9, description="row with the column names")


class FitRequest(Strict):
    """A fit of an uploaded file."""

    name: RunName
    text: str = Field(max_length=1000, description="column with the texts")
    date: str | None = Field(default=None, max_length=1000, description="column with dates")
    day_first: bool | None = Field(default=None, description="how to read dates such as 3/4/2025")
    label: str | None = Field(default=None, max_length=1000, description="class column")
    topics: Number | Literal["auto"] = "auto"
    language: str = Field(default="english", max_length=200, description="name or code; several with commas")
