"""Routes that change something: edits, refits, jobs, uploads; and the comparison of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi import Path as InPath

from coterie.explore import comparing, editing
from coterie.explore import schemas_change as schemas
from coterie.explore.guard import UPLOADS, marked
from coterie.explore.schemas import Problem

if TYPE_CHECKING:
    from coterie.explore.jobs import Jobs
    from coterie.explore.uploads import Uploads
    from coterie.explore.workspace import Workspace

InRun = Annotated[str, InPath(max_length=255, description="name of a run's folder")]
Id = Annotated[str, InPath(max_length=64)]
_PROBLEM = {"model": Problem}
_MISSING: dict[int | str, dict[str, Any]] = {404: _PROBLEM}
_CHANGES: dict[int | str, dict[str, Any]] = dict.fromkeys((400, 404, 409, 413, 415), _PROBLEM)
_MARKED = [Depends(marked)]
_BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def router(workspace: Workspace, jobs: Jobs, uploads: Uploads) -> APIRouter:
    """The routes, on the runs of a folder."""
    routes = APIRouter(prefix="/api")
    _compare(routes, workspace)
    _edits(routes, workspace, jobs)
    _jobs(routes, jobs)
    _uploads(routes, workspace, jobs, uploads)
    return routes


def _compare(routes: APIRouter, workspace: Workspace) -> None:
    @routes.get("/compare", tags=["compare"], responses=_MISSING)
    def compare(
        a: Annotated[str, Query(max_length=255, description="a run")],
        b: Annotated[str, Query(max_length=255, description="the run that it is compared with")],
    ) -> schemas.Comparison:
        """What became of the topics of one run in another, and how many texts moved."""
        return comparing.compare(workspace.get(a), workspace.get(b))


def _edits(routes: APIRouter, workspace: Workspace, jobs: Jobs) -> None:
    @routes.post(
        "/runs/{run}/edits", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED
    )
    def edit(run: InRun, request: Annotated[schemas.EditRequest, Body()]) -> schemas.Job:
        """Rename, merge or split topics, ban terms, pin texts; the folder of the run is written anew."""
        return editing.edit(workspace, jobs, run, request)

    @routes.post("/runs/{run}/undo", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED)
    def undo(run: InRun, request: Annotated[schemas.UndoRequest, Body()]) -> schemas.Job:
        """Take the last edit back."""
        return editing.undo(workspace, jobs, run, request)

    @routes.post(
        "/runs/{run}/refit", status_code=202, tags=["edit"], responses=_CHANGES, dependencies=_MARKED
    )
    def refit(run: InRun, request: Annotated[schemas.RefitRequest, Body()]) -> schemas.Job:
        """Fit the same texts anew and apply the edits again."""
        return editing.refit(workspace, jobs, run, request)


def _jobs(routes: APIRouter, jobs: Jobs) -> None:
    @routes.get("/jobs", tags=["jobs"])
    def listed() -> schemas.JobList:
        """Jobs of this server, the newest first."""
        return schemas.JobList(jobs=jobs.all())

    @routes.get("/jobs/{id}", tags=["jobs"], responses=_MISSING)
    def job(id: Id) -> schemas.Job:
        """How far a job is."""
        return jobs.get(id)

    @routes.delete("/jobs/{id}", tags=["jobs"], responses=_CHANGES, dependencies=_MARKED)
    def cancel(id: Id) -> schemas.Job:
        """Cancel a job; an edit that is being written is finished."""
        return jobs.cancel(id)


def _uploads(routes: APIRouter, workspace: Workspace, jobs: Jobs, uploads: Uploads) -> None:
    @routes.put(
        UPLOADS.removeprefix("/api"),
        status_code=201,
        tags=["start"],
        responses={413: _PROBLEM, 415: _PROBLEM},
        dependencies=_MARKED,
        openapi_extra=_BYTES,
    )
    async def upload(
        request: Request,
        name: Annotated[str, Query(max_length=1000, description="what to call the file")],
    ) -> schemas.Upload:
        """Send a file to look at: CSV, TSV, JSON lines, Parquet, Excel or one text a line, plain or gzip."""
        return await uploads.receive(name, request.stream())

    @routes.post(
        "/uploads/{id}/fit", status_code=202, tags=["start"], responses=_CHANGES, dependencies=_MARKED
    )
    def fit(id: Id, request: Annotated[schemas.FitRequest, Body()]) -> schemas.Job:
        """Find the topics of an uploaded file; the run is written into the folder of runs."""
        return editing.fit(workspace, jobs, uploads, id, request)

    @routes.delete("/uploads/{id}", status_code=204, tags=["start"], responses=_CHANGES, dependencies=_MARKED)
    def delete(id: Id) -> None:
        """Remove an uploaded file."""
        uploads.delete(id)
