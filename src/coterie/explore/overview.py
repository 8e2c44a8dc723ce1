"""What the page shows first of a run: what it was made of, what deserves a look, what can be filtered by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.explore.rows import NO_DAY, date_of
from coterie.explore.schemas import Check, ClassCount, Dates, EditEntry, Overview
from coterie.report import checks
from coterie.runs import REPORT

if TYPE_CHECKING:
    from coterie.explore.opened import OpenedRun

#: Classes that are told to filter by; longer names cannot be asked for.
_CLASSES, _LONGEST_CLASS = 200, 1000
_PATH = re.compile(r"[/\\~.]|[A-Za-z]:[/\\]")


def overview(opened: OpenedRun) -> Overview:
    """What the page shows first."""
    info, data, model = opened.run.info, opened.run.info["data"], opened.model
    return Overview(
        name=opened.name,
        version=opened.version,
        source=file_name(data.get("source", "")),
        column=data["column"],
        date=data.get("date") or None,
        label=data.get("label") or None,
        classes=opened.classes(),
        dates=opened.dates(),
        texts=model.n_texts_,
        known=model.n_known_,
        distinct=_distinct(opened),
        made=str(info.get("made", "")),
        parameters={name: _no_path(value) for name, value in info["parameters"].items()},
        warnings=_warnings(opened),
        checks=_checks(opened),
        topics=opened.briefs(),
        edits=[EditEntry(number=i, sentence=str(edit)) for i, edit in enumerate(model.edits, start=1)],
        left_out=max(len(model.edits) - int(info.get("edits_applied", len(model.edits))), 0),
        can_undo=bool(model.edits),
        ready=opened.ready,
        has_report=REPORT in info["files"],
    )


def _warnings(opened: OpenedRun) -> list[str]:
    """What was said when it was fitted, the file by its name alone."""
    source = str(opened.run.info["data"].get("source", ""))
    said: list[str] = opened.run.info["warnings"]
    return [sentence.replace(source, file_name(source)) for sentence in said] if source else said


def class_counts(opened: OpenedRun) -> list[ClassCount] | None:
    """The largest classes; None without a column of them."""
    found = opened.rows().classes()
    if found is None:
        return None
    codes, names = found
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    largest = np.argsort(-counts, kind="stable").tolist()
    told = [at for at in largest if len(names[at]) <= _LONGEST_CLASS][:_CLASSES]
    return [ClassCount(name=names[at], count=int(counts[at])) for at in told]


def first_and_last(opened: OpenedRun) -> Dates | None:
    """The days of the first and the last text; None without dates."""
    days = opened.rows().days()
    there = None if days is None else days[days != NO_DAY]
    if there is None or not len(there):
        return None
    return Dates(first=date_of(int(there.min())), last=date_of(int(there.max())))


def _distinct(opened: OpenedRun) -> int:
    found = opened.run.info.get("distinct")
    return found if isinstance(found, int) else opened.copies()[0]


def _checks(opened: OpenedRun) -> list[Check]:
    model = opened.model
    said = [
        *checks.run_warnings(_warnings(opened)),
        checks.unknown(model.n_known_, model.n_texts_),
        checks.tiny(opened.topics),
        checks.overlaps(opened.likeness(), opened.ids),
        checks.unsure(opened.rows().confidence.astype(np.float64)),
    ]
    if opened.counted:  # takes a while for a million texts
        distinct, most, text = opened.copies()
        said.append(checks.copies(distinct, model.n_texts_, most, text))
    said.sort(key=lambda remark: not remark["look"])
    return [Check(look=remark["look"], text=_with_quote(remark, opened)) for remark in said]


def _with_quote(remark: dict[str, Any], opened: OpenedRun) -> str:
    """A check as one sentence: what it quotes or names stands behind it."""
    label = {topic.id: topic.label for topic in opened.topics}
    text = str(remark["text"])
    if "quote" in remark:
        return f"{text} “{remark['quote']}”"
    if "pairs" in remark:
        said = "; ".join(f"{label[a]} – {label[b]} ({value})" for a, b, value in remark["pairs"])
        return f"{text} {said}"
    if "topics" in remark:
        return f"{text} {'; '.join(label[topic] for topic in remark['topics'])}"
    return text


def file_name(path: Any) -> str:
    """The last part of a path of any system: where a file lies is nobody's business.

    >>> file_name("C:\\\\texts\\\\tickets.csv")
    'tickets.csv'
    """
    return str(path).replace("\\", "/").rstrip("/").split("/")[-1]


def _no_path(value: Any) -> Any:
    """A parameter, which may be a file."""
    return file_name(value) if isinstance(value, str) and _PATH.match(value) else value
