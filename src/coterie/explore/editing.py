"""What a request to change a run becomes: edits of its model, and a folder that is written anew.

The model that readers ask is never touched. A copy of it is edited, which shares the counted texts; the
folder is replaced in one step, and the copy is what readers get from then on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from coterie.errors import InputError
from coterie.explore.assigning import check_column
from coterie.explore.guard import Invalid, Missing
from coterie.explore.jobs import Handle, Jobs, in_own_process
from coterie.explore.opened import OpenedRun
from coterie.explore.schemas_changes import (
    EditRequest,
    FitRequest,
    Job,
    RefitRequest,
    UndoRequest,
)
from coterie.explore.uploads import Uploads
from coterie.explore.workspace import Workspace
from coterie.progress import tell
from coterie.runs import Run
from coterie.storage.folder import FolderLock
from coterie.text.languages import language_name
from coterie.topics import Edit, TopicModel
from coterie.topics import edits as log
from coterie.topics.collection import as_strings
from coterie.topics.edits import Reference
from coterie.topics.predefined import columns_of

#: Changes a model, knowing the run that it is the model of.
Change = Callable[[TopicModel, Run], None]


def edit(workspace: Workspace, jobs: Jobs, name: str, request: EditRequest) -> Job:
    """Begin an edit."""
    workspace.check(name, request.version)
    opened = workspace.get(name)
    first, make = _edits(opened, request)
    log.check(first)
    title = _title(first, request)

    def change(model: TopicModel, run: Run) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        model.edits.apply(*(replace(one, made=now) for one in make(run)))

    return jobs.edit(
        "edit", name, title, lambda handle: _changed(workspace, name, request.version, change, handle)
    )


def undo(workspace: Workspace, jobs: Jobs, name: str, request: UndoRequest) -> Job:
    """Begin to take the last edit back."""
    workspace.check(name, request.version)
    edits = workspace.get(name).model.edits
    if not edits:
        raise Invalid("there is no edit to undo")

    many = together(edits)

    def change(model: TopicModel, run: Run) -> None:
        model.edits.undo(many)

    title = f"undo: {edits[-1] if many == 1 else _moves(edits[-1], many)}"
    return jobs.edit(
        "undo", name, title, lambda handle: _changed(workspace, name, request.version, change, handle)
    )


def refit(workspace: Workspace, jobs: Jobs, name: str, request: RefitRequest) -> Job:
    """Begin a new fit of the texts of a run, to which its edits are applied again."""
    workspace.check(name, request.version)
    source = workspace.folder_of(name)
    target = source if request.name is None else workspace.new(request.name)
    job = {"kind": "refit", "run": str(source), **request.model_dump(exclude={"name"})}
    number = "" if request.topics is None else _number(request.topics)
    title = f"find topics again in {name}{number}" + ("" if request.name is None else f" as {target.name}")

    def work(handle: Handle) -> str:
        in_own_process(job, target, handle)
        return workspace.version(target.name)

    return jobs.fit("refit", target.name, title, work)


def fit(workspace: Workspace, jobs: Jobs, uploads: Uploads, id: str, request: FitRequest) -> Job:
    """Begin the fit of an uploaded file."""
    languages = [part.strip() for part in request.language.split(",") if part.strip()]
    for language in languages:
        language_name(language)  # says which are known
    if not languages:
        raise Invalid("language must be a name or a code, such as english; got none")
    target = workspace.new(request.name)
    file = uploads.take(id)
    try:
        for column in (request.text, request.date, request.label):
            check_column(file.shown, column)
        job = {
            "kind": "fit",
            "file": str(file.path),
            "name": file.shown.name,
            "text": request.text,
            "date": request.date,
            "day_first": request.day_first,
            "label": request.label,
            "topics": request.topics,
            "language": languages,
            "format": file.shown.format,
            "encoding": file.shown.encoding,
            "delimiter": file.shown.delimiter,
            "sheet": file.shown.sheet,
            "header_row": file.shown.header_row,
            "max_bytes": workspace.max_bytes,
        }

        def work(handle: Handle) -> str:
            try:
                in_own_process(job, target, handle)
            except BaseException:
                uploads.give_back(id)  # to be tried again with other settings
                raise
            uploads.drop(id)
            return workspace.version(target.name)

        title = f"find topics in {file.shown.name}" + _number(request.topics)
        return jobs.fit("fit", target.name, title, work, given_up=lambda: uploads.give_back(id))
    except BaseException:
        uploads.give_back(id)
        raise


# --- edits


def together(edits: Sequence[Edit]) -> int:
    """How many of the last edits one request made: texts that were moved together go back together."""
    last = edits[-1]
    same = 0
    for one in reversed(edits):
        if same and (last.kind != "pin" or not last.made or replace(one, text=last.text) != last):
            break
        same += 1
    return same


def _edits(opened: OpenedRun, request: EditRequest) -> tuple[Edit, Callable[[Run], Sequence[Edit]]]:
    """The edit that is asked for, or the first of several, and a way to make all of them."""
    topics = tuple(_reference(opened, topic) for topic in request.topics)
    if request.kind == "pin":
        return _pins(opened, request, topics)
    _only(request, {"rename": ("label",), "merge": (), "split": ("parts",), "ban": ("terms",)}[request.kind])
    one = Edit(
        request.kind,
        topics,
        label=(request.label or "").strip(),
        parts=(request.parts or 2) if request.kind == "split" else 0,
        terms=tuple(dict.fromkeys(request.terms or ())),
    )
    if request.kind == "ban":
        if topics:
            raise Invalid("a ban is for all topics: leave topics out")
        if one.terms and not any(map(len, columns_of(list(one.terms), opened.model.vectorizer_))):
            raise Invalid(f"the model has no term {', '.join(map(repr, one.terms))[:200]}")
    return one, lambda run: [one]


def _pins(
    opened: OpenedRun, request: EditRequest, topics: tuple[Reference, ...]
) -> tuple[Edit, Callable[[Run], Sequence[Edit]]]:
    _only(request, ("rows", "texts"))
    rows, texts = request.rows or [], request.texts or []
    if not rows and not texts:
        raise Invalid("a pin needs rows or texts: which are to be moved?")
    if rows and (most := max(rows)) >= opened.model.n_texts_:
        raise Invalid(f"there is no row {most}: the run has {opened.model.n_texts_:,} texts")

    def make(run: Run) -> Sequence[Edit]:
        wanted = as_strings(run.texts()[np.array(rows, dtype=np.int64)]).to_list() if rows else []
        return [Edit("pin", topics, text=text) for text in dict.fromkeys([*wanted, *texts])]

    return Edit("pin", topics, text=texts[0] if texts else ""), make


def _only(request: EditRequest, fields: Sequence[str]) -> None:
    """Refuse what this kind of edit does not look at: somebody meant something by it."""
    for field in ("label", "parts", "terms", "rows", "texts"):
        if field not in fields and getattr(request, field) is not None:
            raise Invalid(f"{field} cannot be used with {request.kind}; omit it")


def _reference(opened: OpenedRun, topic: int) -> Reference:
    for found in opened.model.topics:
        if found.id == topic:
            return Reference.to(found)
    raise Missing(f"there is no topic {topic} in {opened.name}")


def _title(first: Edit, request: EditRequest) -> str:
    if request.kind != "pin":
        return str(first)
    return _moves(first, len({*(request.rows or ())}) + len({*(request.texts or ())}))


def _moves(pin: Edit, texts: int) -> str:
    return f"move {'1 text' if texts == 1 else f'{texts} texts'} to topic {pin.topics[0]}"


def _number(topics: int | str) -> str:
    return "" if topics == "auto" else ", 1 topic" if topics == 1 else f", {topics} topics"


def _changed(workspace: Workspace, name: str, version: str, change: Change, handle: Handle) -> str:
    """Change a copy of the model, write the folder, and let readers have the copy."""
    opened = workspace.get(name)
    if opened.model.state.scores is None:  # else an edit before this one had them counted
        tell("counting terms", 0)
        if not opened.counted.wait():
            raise InputError(opened.counted.problem or f"{name} was closed in the meantime; try again")
    with FolderLock(opened.run.folder).acquire() as lock:  # other servers and commands may change it, too
        workspace.check(name, version)
        model = copy.copy(opened.model)
        run = Run(opened.run.folder, model, opened.run.info)
        handle.go_on()
        change(model, run)
        handle.go_on(final=True)
        saved = run.save(lock)
    return _taken_over(workspace, name, Run(saved.folder, model, saved.info))


def _taken_over(workspace: Workspace, name: str, run: Run) -> str:
    """Show what was written, with the texts that are counted already; not if somebody wrote again since."""
    version = workspace.version(name)
    if workspace.info(name) == run.info and workspace.version(name) == version:
        workspace.put(name, run, version).counted.warm_up()
    return version
