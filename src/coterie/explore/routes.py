"""The routes of the API: what is asked is checked and handed on to who answers it."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from fastapi.routing import APIRoute
from starlette.background import BackgroundTask

from coterie import __version__
from coterie.datasets import BIKES_FILE
from coterie.explore import (
    assigning,
    comparing,
    counts,
    editing,
    schemas,
    schemas_asked,
    schemas_changes,
    schemas_counts,
)
from coterie.explore.guard import UPLOADS, Invalid, Missing, marked, report_policy
from coterie.explore.jobs import Jobs
from coterie.explore.mapped import map_names, map_picture
from coterie.explore.opened import OpenedRun, assigned, exported, whole_text
from coterie.explore.opened import overview as overview_of
from coterie.explore.schemas_map import MapNames, PictureQuery
from coterie.explore.selection import MOST_CORNERS, Box, Corner, Filters
from coterie.explore.uploads import Uploads
from coterie.explore.workspace import Workspace
from coterie.runs.record import REPORT
from coterie.storage.folder import Outdated
from coterie.storage.temporary import TemporaryFolder
from coterie.text.languages import known_languages

#: Texts that may be tried at once, and rows of a page.
_TRIES, _PAGE = 100, 200
#: How often a GET request is handled again.
_ATTEMPTS = 10
_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}

Responses = dict[int | str, dict[str, Any]]
RunName = Annotated[str, InPath(max_length=255, description="name of a run's folder")]
Id = Annotated[str, InPath(max_length=64)]
_PROBLEM: dict[str, Any] = {"model": schemas.Problem}
_MISSING: Responses = {404: _PROBLEM}
_WITH_BODY: Responses = dict.fromkeys((400, 404, 413, 415), _PROBLEM)
_CHANGES: Responses = dict.fromkeys((400, 404, 409, 413, 415), _PROBLEM)
_LATER: Responses = {**_MISSING, 503: _PROBLEM}
_MARKED = [Depends(marked)]
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_POINTS: Responses = {200: {"content": {"application/octet-stream": _BINARY}}}
_TABLES: Responses = {
    200: {"description": "as asked for", "content": dict.fromkeys(_TYPES.values(), _BINARY)}
}
_SHEET: Responses = {200: {"content": {_TYPES["csv"]: _BINARY}}}
_UPLOADED = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}
_SVG: Responses = {200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}}
_PAGES: Responses = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}


class _Retried(APIRoute):
    """Handles a GET request again if another process replaced the run before it was answered."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler; a change is not repeated, as it was made for another state of the run."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            for _ in range(_ATTEMPTS if request.method == "GET" else 0):
                with suppress(Outdated):
                    return await answer(request)
            return await answer(request)

        return handle


def router(workspace: Workspace, jobs: Jobs, uploads: Uploads) -> APIRouter:
    """The routes, on the runs of a folder."""
    routes = APIRouter(prefix="/api", route_class=_Retried)

    def opened(run: str) -> OpenedRun:
        found = workspace.get(run)
        found.counted.warm_up()
        return found

    _about_runs(routes, workspace)
    _about_topics(routes, opened)
    _about_texts(routes, opened)
    _as_files(routes, opened)
    _compare(routes, workspace)
    _edits(routes, workspace, jobs)
    _jobs(routes, jobs)
    _uploads(routes, workspace, jobs, uploads)
    return routes


def _about_runs(routes: APIRouter, workspace: Workspace) -> None:
    @routes.get("/about", tags=["runs"])
    def about() -> schemas.About:
        """This server: version, folder, limits."""
        return schemas.About(
            version=__version__,
            workspace=workspace.folder.name,
            languages=known_languages(),
            limits=schemas.Limits(upload_bytes=workspace.upload_bytes, texts_per_try=_TRIES, page=_PAGE),
            writable=os.access(workspace.folder, os.W_OK),
        )

    @routes.get("/runs", tags=["runs"])
    def runs() -> schemas.RunList:
        """All runs of the folder, the newest first."""
        return schemas.RunList(runs=[schemas.RunEntry(**vars(run)) for run in workspace.listed()])


def _about_topics(routes: APIRouter, opened: Callable[[str], OpenedRun]) -> None:
    @routes.get("/runs/{run}", tags=["runs"], responses=_MISSING)
    def overview(run: RunName) -> schemas.Overview:
        """A run and its topics, the largest first."""
        return overview_of(opened(run))

    @routes.get("/runs/{run}/topics/{id}", tags=["topics"], responses=_MISSING)
    def topic(run: RunName, id: Annotated[int, InPath(ge=0, lt=1 << 31)]) -> schemas.TopicDetail:
        """A topic: terms, confidence, typical and borderline texts, related words, time, classes."""
        found = opened(run)
        return found.panel.detail(found.topic_place(id))

    @routes.post("/runs/{run}/assign", tags=["texts"], responses=_WITH_BODY, dependencies=_MARKED)
    def assign(run: RunName, tried: Annotated[schemas_asked.AssignRequest, Body()]) -> schemas.Answers:
        """Where texts belong that need not be of the run, how sure that is, and why."""
        return schemas.Answers(answers=assigned(opened(run), tried.texts))


def _about_texts(routes: APIRouter, opened: Callable[[str], OpenedRun]) -> None:
    @routes.get("/runs/{run}/texts", tags=["texts"], responses=_LATER)
    def texts(run: RunName, asked: Annotated[schemas_asked.TextsQuery, Query()]) -> schemas.TextPage:
        """A page of the texts that match, sorted."""
        found, filters = opened(run), filters_of(asked)
        meant = bool(filters.q) and filters.mode == "meaning"
        sort = asked.sort or ("match" if meant else "row")
        descending = sort == "match" if asked.descending is None else asked.descending
        rows = found.selection().ordered(filters, sort, descending)
        page = rows[asked.offset : asked.offset + asked.limit]
        return schemas.TextPage(
            total=len(rows),
            offset=asked.offset,
            rows=found.texts.at(page, filters),
            query=found.query(filters),
        )

    @routes.get("/runs/{run}/texts/{row}", tags=["texts"], responses=_MISSING)
    def text(
        run: RunName,
        row: Annotated[int, InPath(ge=0, lt=1 << 32)],
        q: Annotated[str, Query(max_length=1000, description="marked in the text")] = "",
        mode: schemas_asked.Mode = "words",
    ) -> schemas.WholeText:
        """A whole text with all its columns, and the texts most like it."""
        return whole_text(opened(run), row, Filters(q=q, mode=mode))

    @routes.get("/runs/{run}/counts", tags=["texts"], responses=_LATER)
    def counted(run: RunName, asked: Annotated[schemas_asked.FilterQuery, Query()]) -> schemas_counts.Counts:
        """How many texts that match are in each topic, in each value of a column of few values, and in each
        period; each of these is counted without its own filter."""
        return counts.counts(opened(run), filters_of(asked))

    @routes.get("/runs/{run}/contrasts", tags=["texts"], responses=_LATER)
    def contrasts(
        run: RunName, asked: Annotated[schemas_asked.FilterQuery, Query()]
    ) -> schemas_counts.Contrasts:
        """What sets the texts that match apart from the rest: words, topics, values, periods."""
        return counts.contrasts(opened(run), filters_of(asked))

    @routes.get("/runs/{run}/map", tags=["map"], response_class=Response, responses={**_POINTS, **_LATER})
    def points(run: RunName, asked: Annotated[schemas_asked.MapQuery, Query()]) -> Response:
        """Points of a view, little endian: uint32 n, uint32 matching in the view, uint32 matching in all,
        uint32 1 if a colour is asked for, else 0; float32 x[n], float32 y[n], uint32 row[n], with a colour
        int16 number of the value or period[n] as in counts (-1: none), uint16 topic[n] (number in the topics
        of the run), uint8 confidence[n] (255 is 1). More of one view, or a closer one, only adds points."""
        found = opened(run)
        mask = found.selection().mask(filters_of(asked))
        data = found.points().packed(_box(asked), asked.limit, mask, _groups(found, asked.colour))
        return Response(data, media_type="application/octet-stream", headers={"cache-control": "no-store"})

    @routes.get("/runs/{run}/map/names", tags=["map"], responses=_LATER)
    def names(run: RunName) -> MapNames:
        """Groups of topics, and words of neighbourhoods."""
        return map_names(opened(run))

    @routes.get(
        "/runs/{run}/map/picture", tags=["map"], response_class=Response, responses={**_SVG, **_LATER}
    )
    def picture(run: RunName, asked: Annotated[PictureQuery, Query()]) -> Response:
        """The map as an SVG, for print and slides."""
        found = opened(run)
        headers = {"content-disposition": 'attachment; filename="map.svg"', "cache-control": "no-store"}
        return Response(map_picture(found, asked.ground), media_type="image/svg+xml", headers=headers)


def _as_files(routes: APIRouter, opened: Callable[[str], OpenedRun]) -> None:
    @routes.get(
        "/runs/{run}/export", tags=["texts"], response_class=FileResponse, responses={**_TABLES, **_LATER}
    )
    def export(run: RunName, asked: Annotated[schemas_asked.ExportQuery, Query()]) -> FileResponse:
        """The texts that match with all their columns, as a file."""
        found = opened(run)
        folder = TemporaryFolder("export")
        path = folder.path / f"texts.{asked.format}"
        exported(found, filters_of(asked), asked.format, path)
        return FileResponse(
            path,
            media_type=_TYPES[asked.format],
            filename=f"{found.name}.{asked.format}",
            background=BackgroundTask(folder.close),
        )

    @routes.get(
        "/runs/{run}/report", tags=["runs"], response_class=Response, responses={**_PAGES, **_MISSING}
    )
    def report(run: RunName) -> Response:
        """The report of a run as a page of its own."""
        found = opened(run).run
        if REPORT not in found.info["files"]:
            raise Missing(f"{run} has no report; fit again to write one")
        content = found.read(REPORT, Path.read_bytes)
        policy = {"content-security-policy": report_policy()}
        return Response(content, media_type="text/html; charset=utf-8", headers=policy)


# --- changes and comparison


def _compare(routes: APIRouter, workspace: Workspace) -> None:
    @routes.get("/compare", tags=["compare"], responses=_MISSING)
    def compare(
        a: Annotated[str, Query(max_length=255, description="a run")],
        b: Annotated[str, Query(max_length=255, description="the run that it is compared with")],
    ) -> comparing.Comparison:
        """What became of the topics of one run in another, and how many texts moved."""
        return comparing.compare(workspace.get(a), workspace.get(b))


def _edits(routes: APIRouter, workspace: Workspace, jobs: Jobs) -> None:
    @routes.post(
        "/runs/{run}/edits", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED
    )
    def edit(run: RunName, request: Annotated[schemas_changes.EditRequest, Body()]) -> schemas_changes.Job:
        """Rename, merge or split topics, ban terms, pin texts; the folder of the run is written anew."""
        return editing.edit(workspace, jobs, run, request)

    @routes.post("/runs/{run}/undo", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED)
    def undo(run: RunName, request: Annotated[schemas_changes.UndoRequest, Body()]) -> schemas_changes.Job:
        """Take the last edit back."""
        return editing.undo(workspace, jobs, run, request)

    @routes.post(
        "/runs/{run}/refit", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED
    )
    def refit(run: RunName, request: Annotated[schemas_changes.RefitRequest, Body()]) -> schemas_changes.Job:
        """Fit the same texts anew and apply the edits again."""
        return editing.refit(workspace, jobs, run, request)


def _jobs(routes: APIRouter, jobs: Jobs) -> None:
    @routes.get("/jobs", tags=["jobs"])
    def listed() -> schemas_changes.JobList:
        """Jobs of this server, the newest first."""
        return schemas_changes.JobList(jobs=jobs.all())

    @routes.get("/jobs/{id}", tags=["jobs"], responses=_MISSING)
    def job(id: Id) -> schemas_changes.Job:
        """How far a job is."""
        return jobs.get(id)

    @routes.delete("/jobs/{id}", tags=["jobs"], responses=_CHANGES, dependencies=_MARKED)
    def cancel(id: Id) -> schemas_changes.Job:
        """Cancel a job; an edit that is being written is finished."""
        return jobs.cancel(id)


def _uploads(routes: APIRouter, workspace: Workspace, jobs: Jobs, uploads: Uploads) -> None:
    @routes.put(
        UPLOADS.removeprefix("/api"),
        status_code=201,
        tags=["start"],
        responses={413: _PROBLEM, 415: _PROBLEM},
        dependencies=_MARKED,
        openapi_extra=_UPLOADED,
    )
    async def upload(
        request: Request,
        name: Annotated[str, Query(max_length=1000, description="what to call the file")],
    ) -> schemas_changes.Upload:
        """Send a file to look at: CSV, TSV, JSON, Parquet, Excel or one text a line, plain or gzip."""
        return await uploads.receive(name, request.stream(), workspace.max_bytes)

    @routes.post(
        "/uploads/{id}/fit", status_code=202, tags=["start"], responses=_CHANGES, dependencies=_MARKED
    )
    def fit(id: Id, request: Annotated[schemas_changes.FitRequest, Body()]) -> schemas_changes.Job:
        """Find the topics of an uploaded file; the run is written into the folder of runs."""
        return editing.fit(workspace, jobs, uploads, id, request)

    @routes.post("/uploads/sample", status_code=201, tags=["start"], responses=_CHANGES, dependencies=_MARKED)
    async def sample() -> schemas_changes.Upload:
        """The sample that comes with coterie, as if it had been sent."""
        shown = await uploads.receive(BIKES_FILE.name, _read(BIKES_FILE), workspace.max_bytes)
        return shown.model_copy(update={"guess": shown.guess.model_copy(update={"label": _SAMPLE_CLASS})})

    @routes.post("/uploads/{id}/assign", tags=["start"], responses=_CHANGES, dependencies=_MARKED)
    def assign_file(
        id: Id, request: Annotated[schemas_changes.AssignFileRequest, Body()]
    ) -> schemas_changes.Assigned:
        """Assign the texts of an uploaded file to the topics of a run; the table can be fetched then."""
        return assigning.assign_file(workspace, uploads, id, request)

    @routes.get(
        "/uploads/{id}/assigned",
        tags=["start"],
        response_class=FileResponse,
        responses={**_SHEET, 404: _PROBLEM, 409: _PROBLEM},
    )
    def assigned_file(id: Id) -> FileResponse:
        """An uploaded file with the topics of its texts, as CSV."""
        path, name = uploads.result(id)
        return FileResponse(path, media_type=_TYPES["csv"], filename=name)

    @routes.post("/uploads/{id}/look", tags=["start"], responses=_CHANGES, dependencies=_MARKED)
    async def look(id: Id, request: schemas_changes.LookRequest) -> schemas_changes.Upload:
        """Look at another sheet of an uploaded file, or for the column names in another row."""
        return await uploads.look_again(id, request, workspace.max_bytes)

    @routes.delete("/uploads/{id}", status_code=204, tags=["start"], responses=_CHANGES, dependencies=_MARKED)
    def delete(id: Id) -> None:
        """Remove an uploaded file."""
        uploads.delete(id)


#: The class column of the sample, as in `coterie demo`: its subjects would give the answer away.
_SAMPLE_CLASS = "team"


async def _read(path: Path) -> AsyncIterator[bytes]:
    yield path.read_bytes()


# --- what is asked


def filters_of(asked: schemas_asked.FilterQuery) -> Filters:
    """Conditions as the page spells them."""
    return Filters(
        q=" ".join(asked.q.split()),
        mode=asked.mode,
        topics=tuple(sorted(set(asked.topic))),
        least=asked.least,
        most=asked.most,
        classes=tuple(sorted(set(asked.class_))),
        only=tuple(sorted({_only(one) for one in asked.only})),
        since=asked.since,
        until=asked.until,
        lasso=_corners(asked.lasso) if asked.lasso else (),
        rows=tuple(sorted(set(asked.row))),
        known=asked.known,
    )


def _only(spelled: str) -> tuple[int, str]:
    """The number of a column and a value from "3:value"."""
    number, _, value = spelled.partition(":")
    return int(number), value


def _groups(opened: OpenedRun, colour: str | None) -> npt.NDArray[np.int16] | None:
    """The group of each row by which points are coloured."""
    if colour is None:
        return None
    found = opened.facets().periods() if colour == "date" else opened.facets().of(int(colour))
    if found is None:
        what = "dates" if colour == "date" else f"column {colour} of few values"
        raise Invalid(f"this run has no {what} to colour by")
    return found.codes


def _corners(lasso: str) -> tuple[Corner, ...]:
    """Corners from "x,y x,y …"."""
    pairs = [pair.split(",") for pair in lasso.split(" ")]
    if not 3 <= len(pairs) <= MOST_CORNERS:
        raise Invalid(f"a lasso must have 3 to {MOST_CORNERS} corners, got {len(pairs):,}")
    if not re.fullmatch(schemas_asked.LASSO, lasso):
        raise Invalid("a lasso must be like 0.1,0.2 0.3,0.2 0.2,0.4")
    return tuple((float(x), float(y)) for x, y in pairs)


def _box(asked: schemas_asked.MapQuery) -> Box | None:
    sides = (asked.x0, asked.y0, asked.x1, asked.y1)
    if all(side is None for side in sides):
        return None
    if any(side is None for side in sides):
        raise Invalid("a view needs x0, y0, x1 and y1, or none of them for the whole map")
    x0, y0, x1, y1 = (float(side) for side in sides if side is not None)
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
