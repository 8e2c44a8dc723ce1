"""Values that are made once, or kept for a while, however many threads ask for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


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
