"""The server: routes, guard and the files of the page put together, and uvicorn to run them."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from coterie import __version__
from coterie.errors import InputError
from coterie.explore import connections, routes
from coterie.explore.guard import Changed, Guard, Invalid, Later, Refused
from coterie.explore.jobs import Jobs
from coterie.explore.schemas import Problem
from coterie.explore.uploads import Uploads
from coterie.explore.workspace import Workspace
from coterie.storage.folder import Outdated
from coterie.storage.temporary import sweep

STATIC = Path(__file__).parent / "static"
#: Ports that are tried after the one asked for.
_PORTS = 50
#: Connections that the system keeps until they are accepted.
_QUEUE = 256
#: Requests that are worked on at once; more would wait for each other's locks and hold memory meanwhile.
_THREADS = 12
#: Parts of glibc's heap: each thread fills one of its own, and none gives back what another could use.
_ARENAS, _M_ARENA_MAX = 2, -8


@dataclass(frozen=True)
class Settings:
    """Where the server listens, and whom it lets in."""

    host: str = "127.0.0.1"
    token: str | None = None
    #: Whether a notebook on this machine may show the page inside of it.
    framed: bool = False


def make_app(workspace: Workspace, settings: Settings | None = None) -> FastAPI:
    """The page and its API for the runs of a folder."""
    settings = settings or Settings()
    jobs, uploads = Jobs(workspace), Uploads()

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        try:
            yield
        finally:
            jobs.close()
            uploads.close()
            workspace.close()

    app = FastAPI(
        title="coterie explore",
        description="The API used by the page of coterie explore. Requests that change something "
        "need the header X-Coterie: 1.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
        dependencies=[Depends(_known_parameters)],
        responses={code: {"model": Problem} for code in (401, 403, 421, 422)},
    )
    app.add_middleware(
        Guard,
        host=settings.host,
        token=settings.token,
        limit=workspace.upload_bytes,
        framed=settings.framed,
    )
    _tell_errors(app, workspace)
    app.include_router(routes.router(workspace, jobs, uploads))
    _serve_files(app)
    app.openapi()  # built once, before requests ask for it from several threads
    return app


def _serve_files(app: FastAPI) -> None:
    # modules and colours that the page shares with the report lie there
    files = StaticFiles(directory=STATIC, packages=[("coterie.report", "shared")])

    def page(name: str) -> Callable[[Request], Any]:
        async def show(request: Request) -> Response:
            return await files.get_response(name, request.scope)

        return show

    app.add_route("/", page("index.html"), include_in_schema=False)
    app.add_route("/docs", page("docs.html"), include_in_schema=False)
    app.mount("/static", files)


# --- errors


def _tell_errors(app: FastAPI, workspace: Workspace) -> None:
    """Every error is {"error": sentence}."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        more = {"retry": error.retry} if isinstance(error, Later) else {}
        headers = {"retry-after": str(error.retry)} if isinstance(error, Later) else None
        return JSONResponse({"error": workspace.message(error), **more}, error.status, headers)

    @app.exception_handler(InputError)
    async def wrong(_: Request, error: InputError) -> JSONResponse:
        status = Changed.status if isinstance(error, Outdated) else 422
        return JSONResponse({"error": workspace.message(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": _sentence(error)}, 422)

    @app.exception_handler(StarletteHTTPException)
    async def http(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return JSONResponse({"error": _http_sentence(request, error)}, error.status_code, error.headers)


def _sentence(error: RequestValidationError) -> str:
    """What is wrong in a request: which field, and its value."""
    first = error.errors()[0]
    kind, *path = first["loc"] or ("request",)
    # behind the name of a field come the ways in which it was tried, which mean nothing to people
    field = str(path[0])[:60] if path else str(kind)
    if first["type"] == "json_invalid":
        return "the body is not JSON"
    if first["type"] == "missing":
        return f"{field} is missing"
    if first["type"] == "extra_forbidden":
        return f"unknown field {field}"
    return f"{field} {_must(first)}; got {_shown(first.get('input'))}"


def _must(error: dict[str, Any]) -> str:
    """What a value must be."""
    limits = error.get("ctx") or {}
    sentences = {
        "greater_than_equal": "must be at least {ge}",
        "less_than_equal": "must be at most {le}",
        "string_too_short": "must have at least {min_length} characters",
        "string_too_long": "must have at most {max_length} characters",
        "too_long": "must have at most {max_length} entries",
        "too_short": "must have at least {min_length} entries",
        "literal_error": "must be {expected}",
        "int_type": "must be a whole number",
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "float_parsing": "must be a number",
        "string_type": "must be text",
        "bool_type": "must be true or false",
        "list_type": "must be a list",
    }
    if error["type"] in sentences:
        return sentences[error["type"]].format(**limits)
    message = error["msg"].removeprefix("Value error, ")
    return f"is wrong: {message[:1].lower()}{message[1:300]}"


def _shown(value: Any) -> str:
    """A value as sentences show it: short."""
    spelled = repr(value)
    return spelled if len(spelled) <= 80 else spelled[:79] + "…"


def _http_sentence(request: Request, error: StarletteHTTPException) -> str:
    if error.status_code == 404 and error.detail == HTTPStatus.NOT_FOUND.phrase:
        return f"there is no {request.url.path[:100]}"
    if error.status_code == 405:
        return f"{request.method} is not allowed for {request.url.path[:100]}"
    return str(error.detail)


def _known_parameters(request: Request) -> None:
    """Refuse query parameters that nobody reads: they are spelled wrong."""
    path = getattr(request.scope.get("route"), "path", "")
    operation = request.app.openapi()["paths"].get(path, {}).get(request.method.lower(), {})
    known = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    if unknown := sorted(set(request.query_params) - known):
        listed = f"; there are {', '.join(sorted(known))}" if known else ""
        raise Invalid(f"unknown parameter {unknown[0][:60]!r}{listed}")


# --- running


def serve(
    workspace: Workspace,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    browser: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C. `say` is told the address, and whatever else a person should know."""
    _share_memory()
    sweep()
    with listener(host, port, say) as bound:
        server = make_server(workspace, Settings(host, token))
        address = address_of(host, bound.getsockname()[1], workspace.start, token)
        threading.Thread(
            target=_welcome,
            args=(server, bound, address, browser, say),
            name="coterie-welcome",
            daemon=True,
        ).start()
        server.run(sockets=[bound])


def make_server(workspace: Workspace, settings: Settings) -> Any:
    """The server of the page, ready to run on a socket."""
    import uvicorn

    config = uvicorn.Config(
        make_app(workspace, settings),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        **connections.settings(),
    )
    return uvicorn.Server(config)


def _share_memory() -> None:
    """Let threads share their free memory, where the system's library can be told so."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def _welcome(
    server: Any, listener: socket.socket, address: str, browser: bool, say: Callable[[str], None]
) -> None:
    """Tell the address once somebody answers there, and open it."""
    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.02)
    listener.listen(_QUEUE)  # the server itself has just made the queue as short as what it accepts at a time
    say(f"{address}  (press Ctrl-C to stop)")
    if browser and not webbrowser.open(address):
        say("no browser could be opened; open the URL yourself")


def address_of(host: str, port: int, start: str | None, token: str | None) -> str:
    """The URL of the page, with the token and the run to open."""
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown and not shown.startswith("[") else shown
    query = {"token": token, "run": start}
    wanted = urlencode({name: value for name, value in query.items() if value is not None})
    return f"http://{shown}:{port}/" + (f"?{wanted}" if wanted else "")


def listener(host: str, port: int, say: Callable[[str], None]) -> socket.socket:
    """A socket that listens on the port, or on the next free one."""
    plain = host.strip("[]")
    for number in [port] if port == 0 else range(port, min(port + _PORTS, 65536)):
        try:
            bound = _bound(plain, number)
        except OSError as error:
            if error.errno not in (13, 48, 98, 10048):
                raise InputError(f"cannot listen on --host {host}: {error.strerror or error}") from error
            continue
        except (TypeError, ValueError) as error:  # of names that no machine can have
            raise InputError(f"cannot listen on --host {host}: {error}") from error
        if number != port and port:
            say(f"port {port} is in use; using {number}")
        return bound
    raise InputError(f"no free port from {port} on; --port 0 uses any")


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens on this port and no other."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_QUEUE)  # two that only bind may have the same port
    except BaseException:
        listener.close()
        raise
    return listener
