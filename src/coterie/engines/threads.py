"""An ordered map over threads that looks only a few items ahead."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from coterie.errors import InputError

#: Threads of this module have names that begin like this.
_NAME = "coterie-map"

S = TypeVar("S")
T = TypeVar("T")


def usable_threads(threads: int | None) -> int:
    """The given number of threads, or the number of cores this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int) or threads < 1:
        raise InputError(
            f"threads must be a whole number of at least 1, or None for all cores; got {threads!r}"
        )
    return threads


def one_blas_thread() -> Any:
    """A context in which a matrix product uses one thread.

    Threads share blocks: more of them inside a product would change how it rounds, and fight for cores.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    """The libraries of numpy and scipy, looked for once: that takes milliseconds."""
    import scipy.linalg  # noqa: F401  its library is loaded with it

    return ThreadpoolController()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that are kept: an algorithm maps a thousand times over blocks that take a millisecond."""
    return ThreadPoolExecutor(threads, thread_name_prefix=_NAME)


if hasattr(os, "register_at_fork"):  # the threads stay with the parent
    os.register_at_fork(after_in_child=_pool.cache_clear)


def ordered_map(function: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """`map(function, items)` on several threads: same results, same order.

    At most `threads + 1` items are taken ahead of the consumer, so a long input stays a stream. A map inside
    a function that is mapped runs on the thread that it is on.
    """
    if threads == 1 or threading.current_thread().name.startswith(_NAME):
        yield from map(function, items)
        return
    pool = _pool(threads)
    waiting: deque[Future[T]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # the consumer stopped early, or a function failed: do not start what is not started
        for future in waiting:
            future.cancel()
        wait(waiting)
