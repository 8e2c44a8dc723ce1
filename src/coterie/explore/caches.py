"""Values that are made once, in the background, or kept for a while, however many threads ask for them."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from coterie.errors import InputError
from coterie.explore.guard import Invalid, Later

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

#: Seconds that work in the background waits, so that what is asked first is answered first.
_PATIENCE = 0.3
_log = logging.getLogger("coterie.explore")


class Once(Generic[T]):
    """A value that is made when it is first asked for; others who ask meanwhile wait."""

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._lock = Lock()
        self._value: tuple[T] | None = None

    def __call__(self) -> T:
        """The value."""
        if self._value is None:
            with self._lock:
                if self._value is None:
                    self._value = (self._make(),)
        return self._value[0]


class Background(Generic[T]):
    """A value that a thread makes. `later` is said until it is there, `fault` after an unexpected error.

    `problem` says why there will be no value, if so.
    """

    def __init__(self, make: Callable[[], T], name: str, later: str, fault: str):
        self._make, self._name, self._later, self._fault = make, name, later, fault
        self._value: tuple[T] | None = None
        self.problem: str | None = None
        self._closed = Event()
        self._done = Event()
        self._begun = Lock()

    @property
    def ready(self) -> bool:
        """Whether the value is there."""
        return self._value is not None

    @property
    def ended(self) -> bool:
        """Whether the value is there, or will never be."""
        return self._done.is_set()

    def warm_up(self) -> None:
        """Begin, unless that was begun before."""
        if self._begun.acquire(blocking=False):
            Thread(target=self._run, name=self._name, daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the value; False if there is none."""
        self.warm_up()
        self._done.wait(seconds)
        return self.ready

    def get(self) -> T:
        """The value; refused as long as there is none."""
        if self._value is not None:
            return self._value[0]
        if self.problem:
            raise Invalid(self.problem)
        self.warm_up()
        raise Later(self._later)

    def close(self) -> None:
        """Nobody asks any more: what was not begun is left."""
        self._closed.set()

    def _run(self) -> None:
        try:
            if not self._closed.wait(_PATIENCE):
                self._value = (self._make(),)
        except InputError as error:
            self.problem = str(error)
        except Exception:
            if not self._closed.is_set():  # at the end of the process threads cannot be had any more
                _log.exception(self._fault)
            self.problem = f"{self._fault}; the terminal shows why"
        finally:
            self._done.set()


class Recent(Generic[K, T]):
    """The last few values by their keys. Two who ask for one at once may both make it: it is the same."""

    def __init__(self, most: int):
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[K, T] = OrderedDict()

    def get(self, key: K, make: Callable[[], T]) -> T:
        """The value of a key, made if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value
