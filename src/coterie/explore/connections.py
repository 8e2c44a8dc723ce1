"""Limits on connections: a request must arrive soon, and there are only so many connections at once."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds until a request must have arrived with all its headers.
HEADER_SECONDS = 10.0
#: Most connections at once; fewer if the system allows this process few open files.
CONNECTIONS = 1000
#: Most connections that wait to be accepted.
BACKLOG = 64
#: Most messages about requests that are logged in a minute.
MESSAGES = 20


def open_files() -> float:
    """How many files this process may have open."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return math.inf if files == resource.RLIM_INFINITY else files


def most_connections() -> int:
    """How many connections leave the process enough files to work with."""
    return int(max(min(CONNECTIONS, open_files() // 3), 1))


def backlog() -> int:
    """How many connections are accepted at a time: too many are noticed only after that."""
    return int(max(min(BACKLOG, open_files() // 16), 1))


class Protocol(H11Protocol):
    """HTTP for clients that may be slow on purpose.

    A connection whose request does not arrive in time is closed. When there are too many, the oldest one that
    has no request yet makes room for the newest.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, if there are too many."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._expect_request()
        if len(self.connections) > most_connections():
            waiting = [one for one in self.connections if isinstance(one, Protocol) and one._waits()]
            oldest = min(waiting, key=lambda one: one._since, default=self)
            self.connections.discard(oldest)  # now: others that arrive with this one look for the next
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_expecting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See whether that completes a request."""
        super().data_received(data)
        if self._waits():
            self._expect_request()
        else:
            self._stop_expecting()

    def _waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_request(self) -> None:
        if self._deadline is None:  # more of a request that has begun does not buy time
            self._since = self.loop.time()
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._late)

    def _stop_expecting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if self._waits():
            self.transport.abort()


class FewMessages(logging.Filter):
    """Lets a number of messages pass in a minute, and says once that there are more."""

    def __init__(self, most: int = MESSAGES) -> None:
        super().__init__()
        self._most, self._passed, self._minute = most, 0, 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log a message."""
        now = time.monotonic()
        if now - self._minute > 60:
            self._minute, self._passed = now, 0
        self._passed += 1
        if self._passed == self._most:
            record.msg, record.args = f"{record.getMessage()} (more in this minute are left out)", ()
        return self._passed <= self._most


def settings() -> dict[str, Any]:
    """How uvicorn is to treat connections."""
    return {"http": Protocol, "ws": "none", "timeout_keep_alive": 15, "backlog": backlog()}
