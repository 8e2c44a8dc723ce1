"""One record for each row of a collection, written and read block by block: in memory or in a file.

A record is put by the task that has the rows. Putting it twice does no harm, as a task that is run again
puts the same.
"""

from __future__ import annotations

import mmap
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.storage.files import faults_reported

Array = npt.NDArray[Any]

#: Rows that are looked up before pages are let go.
_TOGETHER = 2_048


class Records(ABC):
    """`n_rows` records of one type."""

    n_rows: int
    dtype: np.dtype[Any]

    @abstractmethod
    def put(self, start: int, values: Array) -> None:
        """Set the records of the rows from `start` on."""

    @abstractmethod
    def get(self, start: int, stop: int) -> Array:
        """The records of some rows, in memory."""

    @property
    @abstractmethod
    def array(self) -> Array:
        """All records; of a file only what is looked at is read."""

    @abstractmethod
    def forget(self) -> None:
        """Give memory back that looking at `array` took."""


class MemoryRecords(Records):
    """Records in memory.

    >>> records = MemoryRecords(3, np.dtype(np.int64))
    >>> records.put(1, np.array([5, 6]))
    >>> records.array.tolist()
    [0, 5, 6]
    """

    def __init__(self, n_rows: int, dtype: np.dtype[Any]):
        self.n_rows, self.dtype = n_rows, dtype
        self._values = np.zeros(n_rows, dtype=dtype)

    def put(self, start: int, values: Array) -> None:
        """Set the records of the rows from `start` on."""
        self._values[start : start + len(values)] = values

    def get(self, start: int, stop: int) -> Array:
        """The records of some rows."""
        return self._values[start:stop]

    @property
    def array(self) -> Array:
        """All records."""
        return self._values

    def forget(self) -> None:
        """Nothing: they are in memory."""


class FileRecords(Records):
    """Records in a file; copies of this object, in other processes too, write to the same file.

    The file is removed together with the object that made it, unless `kept`.
    """

    def __init__(self, path: str | Path, n_rows: int, dtype: npt.DTypeLike, *, kept: bool = False):
        self.path, self.n_rows, self.dtype = Path(path), n_rows, np.dtype(dtype)
        self._array: Array | None = None
        with faults_reported(self.path), self.path.open("ab") as file:  # what an earlier attempt wrote stays
            file.truncate(n_rows * self.dtype.itemsize)
        if not kept:
            weakref.finalize(self, _unlink, str(self.path))

    def put(self, start: int, values: Array) -> None:
        """Write the records of the rows from `start` on."""
        with faults_reported(self.path), self.path.open("r+b") as file:
            file.seek(start * self.dtype.itemsize)
            file.write(np.ascontiguousarray(values, dtype=self.dtype.base).data)

    def get(self, start: int, stop: int) -> Array:
        """Read the records of some rows."""
        many = max(min(stop, self.n_rows) - start, 0)
        return np.fromfile(self.path, self.dtype, many, offset=start * self.dtype.itemsize)

    @property
    def array(self) -> Array:
        """All records, mapped into memory."""
        if self._array is None:
            if not self.n_rows:
                return np.zeros(0, dtype=self.dtype)
            mapped = np.memmap(self.path, self.dtype, "r")
            # rows are looked up here and there: reading what is beside them would only take memory
            _advise(mapped, "MADV_RANDOM")
            self._array = mapped
        return self._array

    def forget(self) -> None:
        """Let the pages of the file go."""
        if self._array is not None:
            forget(self._array)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Any, ...]]:
        return _borrowed, (self.path, self.n_rows, self.dtype)


def _borrowed(path: Path, n_rows: int, dtype: np.dtype[Any]) -> FileRecords:
    """The records of another object, which removes them."""
    records = FileRecords.__new__(FileRecords)
    records.path, records.n_rows, records.dtype, records._array = path, n_rows, dtype, None
    return records


def portions(array: Array, rows: Array) -> Iterator[tuple[Array, Array]]:
    """Rows to look up in an array, some at a time: their places among all, and their numbers.

    Of a file that is mapped into memory, the system keeps what was looked at and fifteen pages around it, so
    ten thousand rows here and there can be all of it. Rows come in the order of the file, and its pages are
    let go in between.
    """
    if next(_mappings(array), None) is None:
        yield np.arange(len(rows)), rows
        return
    order = np.argsort(rows, kind="stable")
    for start in range(0, len(order), _TOGETHER):
        at = order[start : start + _TOGETHER]
        yield at, rows[at]
        forget(array)


def taken(array: Array, rows: Array) -> Array:
    """``array[rows]``, which leaves nothing of a mapped file in memory.

    >>> taken(np.array([5, 6, 7]), np.array([2, 0])).tolist()
    [7, 5]
    """
    if next(_mappings(array), None) is None:
        return array[rows]
    found = np.empty((len(rows), *array.shape[1:]), dtype=array.dtype)
    for at, some in portions(array, rows):
        found[at] = array[some]
    return found


def forget(array: Array) -> None:
    """Let the pages of a file go, if an array is a part of one that is mapped into memory."""
    for mapped in _mappings(array):
        _advise(mapped, "MADV_DONTNEED")


def _mappings(array: Any) -> Iterator[Any]:
    """The files that are mapped into memory, as arrays, of which an array is a part."""
    while array is not None:
        if isinstance(array, np.memmap):
            yield array
        array = getattr(array, "base", None)


def _advise(mapped: Any, advice: str) -> None:
    """Advise the system how a mapping is used, if it supports that."""
    if hasattr(mmap, advice) and hasattr(mapped, "_mmap"):
        mapped._mmap.madvise(getattr(mmap, advice))


def _unlink(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
