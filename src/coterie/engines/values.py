"""Results of block functions in files: numbers, arrays, sparse matrices, and tuples and lists of these.

Nothing is pickled. A file is written under a name of its own and renamed when it is whole, so two tasks may
write the same one.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse

from coterie.engines.base import csr_view
from coterie.storage.files import faults_reported


class NotPlain(TypeError):
    """A value that is not made of numbers and arrays."""


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that becomes `path` when it is complete."""
    attempt = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    with faults_reported(path):
        try:
            with attempt.open("xb") as file:
                yield file
            os.replace(attempt, path)
        except BaseException:
            attempt.unlink(missing_ok=True)
            raise


class _Pieces:
    """A file that numpy writes to as to any other object: where it knows the file, it does not say why
    writing failed.
    """

    def __init__(self, file: IO[bytes]):
        self.write = file.write


def save_array(file: IO[bytes], array: npt.NDArray[Any]) -> None:
    """Write an array, to be read by `numpy.load`."""
    np.save(_Pieces(file), array, allow_pickle=False)


def write_value(path: Path, value: Any) -> None:
    """Write what a block function returned.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "value"
    >>> write_value(path, (3, [np.arange(2)]))
    >>> read_value(path)
    (3, [array([0, 1])])
    """
    arrays: list[np.ndarray[Any, Any]] = []
    shape = json.dumps(_described(value, arrays)).encode()
    with whole(path) as file:
        file.write(len(shape).to_bytes(8, "little") + shape)
        for array in arrays:
            save_array(file, array)


def read_value(path: Path) -> Any:
    """Read what `write_value` wrote."""
    with path.open("rb") as file:
        shape = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return _restored(shape, file)


def _described(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """How a value is made of arrays, which are appended in the order of reading."""
    if value is None or isinstance(value, bool | int | str):
        return ["plain", value]
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, [_described(part, arrays) for part in value]]
    if issparse(value):
        matrix = value.tocsr()
        arrays += [matrix.data, matrix.indices, matrix.indptr]
        return ["csr", list(matrix.shape)]
    if (
        isinstance(value, np.generic | np.ndarray)
        and value.dtype.kind in "biufV"
        and not value.dtype.hasobject
    ):
        arrays.append(np.asarray(value))
        return ["array" if isinstance(value, np.ndarray) else "scalar", None]
    raise NotPlain(f"{type(value).__name__} is not made of numbers and arrays")


def _restored(shape: Any, file: IO[bytes]) -> Any:
    kind, detail = shape
    if kind == "plain":
        return detail
    if kind == "float":
        return float.fromhex(detail)
    if kind in ("tuple", "list"):
        parts = [_restored(part, file) for part in detail]
        return tuple(parts) if kind == "tuple" else parts
    if kind == "csr":
        data, indices, indptr = (np.load(file) for _ in range(3))
        matrix: csr_matrix = csr_view(data, indices, indptr, tuple(detail))
        return matrix
    array = np.load(file)
    return array if kind == "array" else array[()]
