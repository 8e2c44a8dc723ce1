"""What stands before every request: names served, other sites, the token, sizes; and headers on every answer.

A page of another site can send requests to this machine, and a name of another site can be made to lead here
(DNS rebinding). So the Host must be a name that is served, a request must not come from another site, and one
that changes something needs a header that no other site can send without being asked about it first.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
import re
import socket
import tempfile
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from fastapi import Header, HTTPException
from starlette.requests import ClientDisconnect

from coterie.report.page import policy
from coterie.text.readers.bytes import readable_size

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Pages that may show this one inside of them, if any may: notebooks on this machine.
_FRAMED = POLICY.replace("frame-ancestors 'none'", "frame-ancestors http://localhost:* http://127.0.0.1:*")
#: Sent with every answer that has none of its own.
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
#: Bytes of a body of JSON, and of an uploaded file unless somebody says otherwise.
JSON_BYTES = 8_000_000
UPLOAD_BYTES = 1 << 30
UPLOADS = "/api/uploads"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("0.0.0.0", "::", "[::]", "")
_SAFE = ("GET", "HEAD")
#: What is said of an error that nobody foresaw.
FAULT = "a fault of coterie itself; the terminal it runs in shows where"
_log = logging.getLogger("coterie.explore")


@dataclass(frozen=True)
class _No(Exception):
    """A request that goes no further."""

    status: int
    sentence: str


class Guard:
    """ASGI middleware; `host` is what the server was told to listen on, `limit` the bytes of an upload."""

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        token: str | None = None,
        limit: int = UPLOAD_BYTES,
        framed: bool = False,
    ):
        self.app = app
        self.token = token
        self.limit = limit
        self.framed = framed
        self.everywhere = host in _WILDCARDS
        self.names = set(served_names(host))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return
        answered = _Answered(scope, send, self.framed)
        headers = _Headers(scope)
        try:
            self._check_host(headers)
            if self.token is not None and await self._let_in(scope, headers, answered):
                return
            _check_site(scope, headers, self.framed)
            _check_kind(scope, headers)
            most = self.limit if scope["path"] == UPLOADS else JSON_BYTES
            limited = _limited(headers, receive, most)
        except _No as no:
            await _answer(answered, no.status, {"error": no.sentence})
            return
        try:
            await self.app(scope, limited, answered)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception as error:
            if answered.begun:
                raise
            _log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
            await _answer(answered, 500, {"error": FAULT})

    def _check_host(self, headers: _Headers) -> None:
        given = headers.all("host")
        name = _name(given[0]) if len(given) == 1 else None
        if name is None or not (name in self.names or (self.everywhere and _is_address(name))):
            raise _No(421, f"this server does not serve {_shown(given)}; open the URL it printed")

    async def _let_in(self, scope: Scope, headers: _Headers, send: Send) -> bool:
        """Look for the token in the cookie, or in the address, which becomes one. Was it answered?"""
        cookie = f"coterie-{(scope.get('server') or ('', 0))[1]}"
        if self._is_token(_cookie(headers.all("cookie"), cookie)):
            return False
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if scope["method"] in _SAFE and len(given) == 1 and self._is_token(given[0]):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            location = "/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")
            kept = f"{cookie}={quote(given[0], safe='')}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 303, {}, location=location, set_cookie=kept)
            return True
        sentence = "this server needs a token: open the complete URL printed by coterie explore"
        if "text/html" in headers.one("accept"):
            # a link from elsewhere comes without the cookie; one from this page comes with it
            page = (
                "<!doctype html><meta charset=utf-8><meta name=viewport content=width=device-width>"
                "<title>coterie</title><h1>coterie</h1><p>This page needs a token. Open the complete URL "
                "that <code>coterie explore</code> printed; each start of the server has a new one.</p>"
                "<p>Already opened it in this browser? <a href=''>Continue</a>.</p>"
            )
            await _answer(send, 401, page)
        else:
            await _answer(send, 401, {"error": sentence})
        return True

    def _is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())


def served_names(host: str) -> list[str]:
    """Names by which a server that listens on `host` may be called.

    >>> served_names("192.168.0.7")
    ['127.0.0.1', 'localhost', '[::1]', '192.168.0.7']
    """
    if host in _WILDCARDS:
        own = [socket.gethostname().lower(), socket.getfqdn().lower()]
        return [*_LOOPBACK, *dict.fromkeys(own)]
    spelled = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return list(dict.fromkeys([*_LOOPBACK, spelled.lower()]))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def report_policy() -> str:
    """The policy for a report: a sandbox in which just the script and the style of our own reports may run.

    What the file itself allows does not count: a run may come from anybody.
    """
    sandbox = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
    return f"{sandbox}; {policy()}; frame-ancestors 'none'"


def marked(
    x_coterie: Annotated[
        Literal["1"],
        Header(alias="X-Coterie", description="pages of other sites cannot send it; without it: 403"),
    ],
) -> None:
    """The header of requests that change something, for the description; the guard has looked already."""


# --- checks


class _Headers:
    def __init__(self, scope: Scope):
        self._pairs = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value for key, value in self._pairs if key == wanted]

    def one(self, name: str) -> str:
        return ", ".join(self.all(name))


def _name(host: str) -> str | None:
    """The name in a Host header, without the port; None if it is none."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", host.strip().lower())
    return match[1] if match else None


def _is_address(name: str) -> bool:
    """Whether a name is a number: no name server can make that lead elsewhere."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _check_site(scope: Scope, headers: _Headers, framed: bool) -> None:
    """Refuse what a page of another site has sent; following a link to here is fine.

    So is a frame in a notebook, where that is wanted.
    """
    method, site, origin = scope["method"], headers.one("sec-fetch-site").lower(), headers.all("origin")
    host = headers.one("host").strip().lower()
    own = {f"http://{host}", f"https://{host}"}
    if origin and not (len(origin) == 1 and origin[0].lower() in own):
        raise _No(403, f"requests from {_shown(origin)} are rejected; open the page itself")
    followed = (
        method in _SAFE
        and headers.one("sec-fetch-mode").lower() == "navigate"
        and headers.one("sec-fetch-dest").lower() in ("document", "", *(("iframe",) if framed else ()))
    )
    if site not in ("", "same-origin", "none") and not followed:
        raise _No(403, "requests from other sites are rejected; open the page itself")
    if method not in _SAFE and headers.one("x-coterie") != "1":
        raise _No(403, "a request that changes something needs the header X-Coterie: 1")


def _check_kind(scope: Scope, headers: _Headers) -> None:
    """Bodies are JSON, and uploads are bytes; a form of another site can send neither."""
    if scope["method"] in _SAFE or not (headers.all("transfer-encoding") or _length(headers)):
        return
    wanted = "application/octet-stream" if scope["path"] == UPLOADS else "application/json"
    given = headers.one("content-type").split(";")[0].strip().lower()
    if given != wanted:
        raise _No(415, f"the body and Content-Type must be {wanted}; got {given[:60]!r}")


def _length(headers: _Headers) -> int:
    given = headers.one("content-length").strip()
    return int(given) if given.isdecimal() and len(given) < 20 else 0


def _limited(headers: _Headers, receive: Receive, most: int) -> Receive:
    """The same body, up to a number of bytes."""
    sentence = f"this is larger than {readable_size(most)}, the most that can be sent here"
    if _length(headers) > most:
        raise _No(413, sentence)
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, sentence)
        return message

    return limited


def _cookie(given: Iterable[str], name: str) -> str:
    for header in given:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(header)
        except CookieError:
            continue
        if name in cookies:
            return unquote(cookies[name].value)
    return ""


def _shown(values: list[str]) -> str:
    return repr(", ".join(values)[:80]) if values else "no name"


# --- answers


class _Answered:
    """Sends an answer with the headers that all have; `begun` says whether there is one yet."""

    def __init__(self, scope: Scope, send: Send, framed: bool = False):
        self._send, self._private = send, scope["path"].startswith("/api")
        self._policy = _FRAMED if framed else POLICY
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = list(message.get("headers", ()))
            known = {name.lower() for name, _ in headers}
            wanted = {
                **_HEADERS,
                "content-security-policy": self._policy,
                "cache-control": "no-store" if self._private else "no-cache",
            }
            if any(n.lower() == b"content-security-policy" and b"sandbox" in v for n, v in headers):
                del wanted["cross-origin-opener-policy"]  # browsers show no page that has both
            headers += [(n.encode(), v.encode()) for n, v in wanted.items() if n.encode() not in known]
            message = {**message, "headers": headers}
        await self._send(message)


async def _answer(send: Send, status: int, content: str | dict[str, Any], **headers: str) -> None:
    page = isinstance(content, str)
    body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    kind = "text/html; charset=utf-8" if page else "application/json"
    pairs = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store", **headers}
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(n.replace("_", "-").encode(), v.encode("latin-1")) for n, v in pairs.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})


# --- refusals


class Refused(Exception):
    """A request that gets `status` and the sentence, as {"error": …}."""

    status = 400


class Missing(Refused):
    """There is no run, topic, text, job or upload of that name."""

    status = 404


class Changed(Refused):
    """The request was made for another state than there is now."""

    status = 409


class Invalid(Refused):
    """The request is well-formed and cannot be done all the same."""

    status = 422


class Later(Refused):
    """Not yet; to be asked again after some seconds."""

    status = 503

    def __init__(self, sentence: str, retry: int = 1):
        super().__init__(sentence)
        self.retry = retry


def without_paths(sentence: str, folder: Path) -> str:
    """A sentence for people who need not know where on this machine the runs and temporary files lie.

    >>> without_paths("/srv/runs/a/run.json is damaged", Path("/srv/runs"))
    'a/run.json is damaged'
    """
    for path in sorted({str(folder), str(folder.resolve())}, key=len, reverse=True):
        sentence = sentence.replace(path.rstrip("/\\") + "/", "").replace(path.rstrip("/\\") + "\\", "")
        sentence = sentence.replace(path, folder.name or "the folder")
    temporary = re.escape(tempfile.gettempdir().rstrip("/\\"))
    return re.sub(temporary + r"[/\\](?:coterie-[\w-]+[/\\])?", "", sentence)
