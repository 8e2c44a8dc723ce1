"""An ordered map over threads that looks only a few items ahead."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from coterie.errors import InputError

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
    return threadpool_limits(limits=1, user_api="blas")


def ordered_map(function: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """`map(function, items)` on several threads: same results, same order.

    At most `threads + 1` items are taken ahead of the consumer, so a long input stays a stream.
    """
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="coterie") as pool:
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
