"""The stability of the topics of a run: computed on request, and recorded in run.json and in the report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from coterie.errors import InputError
from coterie.report.page import content_of, page
from coterie.report.wording import found_again
from coterie.runs.record import MARKER, OURS, REPORT, check_file, read_record, write_record
from coterie.runs.run import open_run
from coterie.storage.files import same_file
from coterie.storage.folder import FolderLock, as_path, replaced
from coterie.topics.stability import Stability, stability


def record_stability(folder: str | Path, runs: int = 10) -> Stability:
    """Fit the texts of a run again, and record which of its topics were found.

    It stays in the record and in the report until topics are edited or the run is fitted again; renaming
    keeps it.
    """
    folder = as_path(folder)
    opened = open_run(folder)
    found = stability(opened.with_texts(), runs)
    with FolderLock(folder).acquire() as lock:
        info = read_record(folder)
        if info["files"] != opened.info["files"]:
            raise InputError(f"{folder} was changed by another process meanwhile; evaluate it again")
        with replaced(folder, marker=MARKER, ours=OURS, lock=lock) as staging:
            _write(folder, staging, info, found)
    return found


def _write(folder: Path, staging: Path, info: dict[str, Any], found: Stability) -> None:
    """The files of the run, with the stability in the record and, where there is one, in the report."""
    known = {name: entry for name, entry in info["files"].items() if name != REPORT}
    for name in known:
        (staging / name).parent.mkdir(exist_ok=True)
        same_file(check_file(folder, name, info), staging / name)
    if (folder / REPORT).exists():  # somebody may have moved it
        content = content_of(check_file(folder, REPORT, info).read_text(encoding="utf-8"))
        said = {one.topic: found_again(one.found, found.runs, one.agreement) for one in found.topics}
        for topic in content["topics"]:
            topic["stability"] = said[topic["id"]]
        (staging / REPORT).write_bytes(page(content).encode("utf-8"))
    recorded = asdict(found)
    for one in recorded["topics"]:
        del one["label"]  # the topic may be renamed
    write_record(staging, {**info, "stability": recorded}, known)
