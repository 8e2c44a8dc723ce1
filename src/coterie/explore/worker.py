"""A fit in a process of its own: the job comes as a line of JSON, progress goes out as lines of JSON.

The last line says how it ended: {"written": folder}, {"error": sentence} or {"fault": traceback}. When the
input ends, the server is gone, and the worker ends as well; whatever it has begun is removed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any, BinaryIO

from coterie.embeddings import is_source
from coterie.errors import InputError
from coterie.progress import Step, listening
from coterie.text.inputs import token_column
from coterie.text.readers import Batch, TextSource
from coterie.text.readers.rows import Options

#: Seconds between two lines about the same stage, and those given for cleaning up.
_PAUSE, _PATIENCE = 0.1, 3.0


class _End(BaseException):
    """The server wants the work to end, or is gone."""


@dataclass
class Named(TextSource):
    """A file that people know by another name; `lost` of its rows were left out before.

    `reading` says how the file was read that the texts were in at first, for run.json.
    """

    name: str = ""
    lost: int = 0
    tokenised: bool = False
    reading: dict[str, Any] | None = None

    @property
    def source_name(self) -> str:
        """The name that people know."""
        return self.name

    def __iter__(self) -> Iterator[Batch]:
        for batch in super().__iter__():
            yield replace(batch, texts=token_column(batch.texts)) if self.tokenised else batch
        self.skipped += self.lost


def main() -> None:
    """Do the job that stands on standard input."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed is no progress
    signal.signal(signal.SIGTERM, _raise_end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the server, which ends its workers
    job: dict[str, Any] = {}
    try:
        job = json.loads(sys.stdin.buffer.readline())
        Thread(target=_end_with_the_server, daemon=True).start()
        with suppress(AttributeError, OSError):
            os.nice(5)  # the page goes first
        warnings.simplefilter("ignore")  # run.json keeps them
        with listening(_Teller(out).tell):
            (refit if job["kind"] == "refit" else fit)(job)
        _write(out, {"written": job["folder"]})
    except _End:
        pass
    except InputError as error:
        _write(out, {"error": error.said("page")})
    except MemoryError:
        _write(out, {"error": "not enough memory; try fewer texts"})
    except OSError as error:
        _write(out, {"error": f"the run could not be written: {error.strerror or error}"})
    except Exception:
        _write(out, {"fault": traceback.format_exc()})
    finally:
        if "private" in job:
            shutil.rmtree(job["private"], ignore_errors=True)


def fit(job: dict[str, Any]) -> None:
    """Fit an uploaded file."""
    from coterie.runs import fit_run
    from coterie.topics import TopicModel

    source = Named(
        job["file"],
        job["text"],
        job["format"],
        Options(
            job["encoding"],
            job["delimiter"],
            max_bytes=job["max_bytes"],
            sheet=job["sheet"],
            header_row=job["header_row"],
        ),
        skip_bad=True,
        name=job["name"],
    )
    languages = job["language"]
    language = languages[0] if len(languages) == 1 else languages
    model = TopicModel(job["topics"], language=language, embeddings="auto")
    fit_run(
        source,
        job["folder"],
        model,
        edits=(),
        date=job["date"],
        day_first=job["day_first"],
        class_column=job["label"],
        command=f"coterie explore: {job['name']}",
    )


def refit(job: dict[str, Any]) -> None:
    """Fit the texts of a run again, with its parameters and its edits."""
    from sklearn.base import clone

    from coterie.explore.workspace import version_of
    from coterie.runs import fit_run, open_run

    run = open_run(job["run"])
    if version_of(Path(job["run"])) != job["version"]:
        raise InputError("the run has changed in the meantime; reload it and try again")
    data = run.info["data"]
    file = Path(job["private"], "texts.parquet")
    run.input().write_parquet(file)
    model = clone(run.model)
    if job["topics"] is not None:
        model.set_params(n_topics=job["topics"])
    elif model.n_topics == "auto":  # a new search might come out elsewhere, which nobody asked for
        model.set_params(n_topics=len(run.model.fitted.scorer.order))
    if job["keep_boilerplate"] is not None:
        model.set_params(keep_boilerplate=job["keep_boilerplate"])
    source = Named(
        file,
        data["column"],
        "parquet",
        Options(max_bytes=1 << 60),  # written a moment ago
        name=data["source"],
        lost=int(data.get("skipped") or 0),
        tokenised=bool(data.get("tokenised")),
        reading=data.get("reading"),
    )
    kept = None if is_source(model.embeddings) else run.vectors()
    fit_run(
        source,
        job["folder"],
        model,
        embeddings=None if kept is None else kept.all(),
        edits=None if Path(job["folder"]) == Path(job["run"]) else tuple(run.model.edits),
        date=data.get("date"),
        day_first=data.get("day_first"),
        class_column=data.get("label"),
        command=run.info["command"],
    )


class _Teller:
    """Lines about progress, not too many."""

    def __init__(self, out: BinaryIO):
        self._out, self._stage, self._last = out, "", 0.0

    def tell(self, step: Step) -> None:
        now = time.monotonic()
        if step.stage != self._stage or now - self._last > _PAUSE or step.done == step.total:
            self._stage, self._last = step.stage, now
            line = {"stage": step.stage, "done": step.done, "total": step.total, "unit": step.unit}
            _write(self._out, line)


def _write(out: BinaryIO, line: dict[str, Any]) -> None:
    with suppress(BrokenPipeError, ValueError):
        out.write(json.dumps(line).encode() + b"\n")
        out.flush()


def _raise_end(number: int, frame: FrameType | None) -> None:
    raise _End


def _end_with_the_server() -> None:
    while os.read(0, 1):  # not through Python's buffer, whose lock nobody may hold when the process ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    main()
