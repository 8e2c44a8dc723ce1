"""A language model behind an address that speaks the chat completions protocol of OpenAI."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from socket import socket
from typing import Any
from urllib.parse import SplitResult, urlsplit

from coterie.errors import InputError

#: Attempts for a question, seconds before the second, and the most seconds before any.
_ATTEMPTS, _PAUSE, _LONGEST_PAUSE = 5, 0.5, 60.0
#: Bytes of an answer, and tokens that the model may write.
_LARGEST, _TOKENS = 1 << 20, 300
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Refused(InputError):
    """An endpoint that would refuse every other question, too."""


class _Again(Exception):
    """Something that may be gone the next time, and the seconds that the server wants us to wait."""

    def __init__(self, why: str, wait: float | None = None):
        super().__init__(why)
        self.wait = wait


@dataclass(frozen=True)
class Endpoint:
    """An address such as ``http://localhost:11434/v1``, and the name of a model.

    `key` is sent as a bearer token and shown nowhere. A question takes at most `timeout` seconds for each
    attempt.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = self._parts()
        if self.key and parts.scheme == "http" and parts.hostname not in _LOCAL:
            raise InputError(f"the key would travel unencrypted to {parts.hostname}; use an https address")
        if self.key and not (self.key.isascii() and self.key.isprintable()):
            raise InputError("the key in the environment has a character that no key has; set it again")

    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            sound = False
        if not sound or not self.url.isascii() or not self.url.isprintable() or " " in self.url:
            raise InputError(
                f"--endpoint must be an address such as http://localhost:11434/v1, got {self.url!r:.100}"
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InputError(
                "--endpoint must have no user, password or query; a key comes from the environment"
            )
        return parts

    def ask(self, system: str, user: str) -> str:
        """The answer to a question; tried again after faults that pass. An InputError says what is wrong."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": _TOKENS}
        for attempt in range(_ATTEMPTS):
            try:
                return self._once(json.dumps(body).encode())
            except _Again as fault:
                if attempt == _ATTEMPTS - 1:
                    raise InputError(f"{fault}, {_ATTEMPTS} times") from None
                pause = _PAUSE * 2**attempt if fault.wait is None else fault.wait
                self.sleep(min(max(pause, 0.0), _LONGEST_PAUSE))
        raise AssertionError

    def _once(self, body: bytes) -> str:
        parts, until = self._parts(), time.monotonic() + self.timeout
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.request("POST", f"{parts.path.rstrip('/')}/chat/completions", body, headers)
            wire = connection.sock  # the connection forgets it if the server wants to close
            with connection.getresponse() as response:
                content = _read(wire, response, until)
        except TimeoutError:
            raise _Again(f"no answer within {self.timeout:g} seconds") from None
        except ConnectionRefusedError:
            raise Refused(f"nothing listens at {self.url}; start the server or check --endpoint") from None
        except (http.client.HTTPException, ConnectionError) as error:
            raise _Again(f"the connection broke ({type(error).__name__})") from None
        except OSError as error:
            raise Refused(f"{self.url} cannot be reached ({error!s:.100}); check --endpoint") from None
        finally:
            connection.close()
        self._check_status(response.status, response.headers.get("Retry-After"))
        return _content(content)

    def _check_status(self, status: int, after: str | None) -> None:
        if status == 200:
            return
        if status in (408, 429) or status >= 500:
            raise _Again(f"the server answered {status}", _seconds(after))
        if 300 <= status < 400:
            raise Refused(f"{self.url} redirects elsewhere, which is not followed; check --endpoint")
        why = {
            401: "the key is missing or wrong: set COTERIE_API_KEY",
            403: "the key may not use this model: check COTERIE_API_KEY and --model",
            404: "there is no such address or model: check --endpoint and --model",
        }.get(status, "it does not understand the question: check --endpoint and --model")
        raise Refused(f"{self.url} answered {status}; {why}")


def _read(wire: socket, response: http.client.HTTPResponse, until: float) -> bytes:
    """All of an answer, however slowly it comes, until the time is up."""
    content = b""
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        wire.settimeout(left)
        piece = response.read1(1 << 16)
        content += piece
        if len(content) > _LARGEST:
            raise InputError("the answer is larger than 1 MB")
        if not piece:
            break
    if response.length:  # bytes that were promised and did not come
        raise http.client.IncompleteRead(content, response.length)
    return content


def _content(content: bytes) -> str:
    try:
        said: Any = json.loads(content)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError("the server did not answer as a chat completions server does") from None
    if not isinstance(said, str):
        raise InputError("the answer has no text")
    return said


def _seconds(after: str | None) -> float | None:
    """The header Retry-After: seconds, or a date."""
    if after is None:
        return None
    try:
        return float(after)
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return None
