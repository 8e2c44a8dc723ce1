"""A function on its way to many tasks: its large arrays are files that all workers see, mapped into memory.

A task gets the rest of the function, which is small, and the names of these files. A file is called by a
digest of its content, so an array that several functions use is written once, and a worker that dies loses
nothing.
"""

from __future__ import annotations

import hashlib
import mmap
import pickle
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import cloudpickle

from coterie.engines.values import whole

#: Bytes from which an array is worth a file.
_LARGE = 1 << 16
#: Functions that a worker keeps ready: the tasks of a pass follow each other.
_READY = 4


class Shared:
    """A function whose large arrays lie in a folder."""

    def __init__(self, function: Callable[..., Any], folder: Path):
        files: list[Path] = []

        def put_aside(buffer: pickle.PickleBuffer) -> bool:
            with buffer.raw() as content:
                if content.nbytes < _LARGE:
                    return True  # it travels with the function
                path = folder / hashlib.blake2b(content, digest_size=16).hexdigest()
                if not path.exists():
                    with whole(path) as file:
                        file.write(content)
            files.append(path)
            return False

        self._small = cloudpickle.dumps(function, protocol=5, buffer_callback=put_aside)
        self.files = tuple(files)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, which is put together once in each process."""
        return _loaded(self._small, self.files)(*arguments)


@lru_cache(maxsize=_READY)
def _loaded(small: bytes, files: tuple[Path, ...]) -> Callable[..., Any]:
    function: Callable[..., Any] = pickle.loads(small, buffers=[_mapped(path) for path in files])
    return function


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
