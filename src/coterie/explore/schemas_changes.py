"""What changes runs: edits, jobs and uploads; this documents the API, too."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Most rows of a pin, topics of a merge, terms of a ban, texts of a pin.
MOST_ROWS, MOST_TOPICS, MOST_TERMS = 500, 1000, 100
LONGEST_TEXT, LONGEST_LABEL, LONGEST_TERM = 10_000, 200, 200
MOST_PARTS, MOST_ASKED = 100, 10_000
#: Columns of an uploaded file that are shown.
MOST_COLUMNS = 200


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
    keep_boilerplate: bool | None = Field(default=None, description="null: as in the last fit")


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


class AssignFileRequest(Strict):
    """An uploaded file whose texts are assigned to the topics of a run."""

    run: RunName
    text: str = Field(max_length=1000, description="column with the texts")


class AssignedTopic(BaseModel):
    """New texts of a topic."""

    id: int
    label: str
    count: int
    share: float = Field(description="of all new texts")
    before: float = Field(description="of all texts of the run")


class Assigned(BaseModel):
    """What became of a file: how many texts each topic got, the most first."""

    texts: int
    without: int = Field(description="texts without a known word, which have no topic")
    skipped: int = Field(description="rows that could not be read")
    confidence: float = Field(description="mean of the texts that have a topic")
    topics: list[AssignedTopic]
