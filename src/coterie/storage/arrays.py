"""Arrays as a safetensors file, with its size and checksum."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load

from coterie.errors import InputError
from coterie.storage.files import AGAIN, cannot, opened

Array = NDArray[Any]

MAX_BYTES = 1 << 33
#: What numpy and safetensors both have, and how safetensors calls it, in the order of its files.
_KINDS = {
    np.dtype(kind): name
    for kind, name in {
        "u8": "U64", "i8": "I64", "f8": "F64", "f4": "F32", "u4": "U32", "i4": "I32", "u2": "U16",
        "i2": "I16", "i1": "I8", "u1": "U8", "?": "BOOL",
    }.items()
}  # fmt: skip
#: Rows or columns of an array without numbers: a file of a few bytes can claim any.
_LONGEST_EMPTY = 1 << 20
RESERVED = "__metadata__"  # the one name that the format keeps for itself


class Written(NamedTuple):
    """The size and the SHA-256 of a file."""

    bytes: int
    sha256: str


def savable(dtype: np.dtype[Any]) -> bool:
    """Can arrays of this type be written?"""
    return _plain(dtype) in _KINDS


@dataclass(frozen=True)
class Pieces:
    """An array that is made while it is written: `make` gives its rows, some at a time."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    make: Callable[[], Iterable[Array]]

    @property
    def nbytes(self) -> int:
        """Bytes of all of it."""
        return math.prod(self.shape) * self.dtype.itemsize


def write_arrays(path: Path, arrays: Mapping[str, Array | Pieces]) -> Written:
    """Write a file that is not there yet; arrays come back with the byte order of this machine.

    The file is the one that safetensors writes, which would need all of it in memory.
    """
    size = sum(array.nbytes for array in arrays.values())
    if size > MAX_BYTES:
        raise InputError(f"{path} would have {size:,} bytes, more than the {MAX_BYTES:,} that can be read")
    kinds = list(_KINDS)
    names = sorted(arrays, key=lambda name: (kinds.index(_plain(arrays[name].dtype)), name))
    header, end = {}, 0
    for name in names:
        begin, end = end, end + arrays[name].nbytes
        kind = _KINDS[_plain(arrays[name].dtype)]
        header[name] = {"dtype": kind, "shape": list(arrays[name].shape), "data_offsets": [begin, end]}
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    digest, written = hashlib.sha256(), 0
    try:
        with path.open("xb") as file:
            for part in chain([len(head).to_bytes(8, "little"), head], *(_bytes(arrays[n]) for n in names)):
                file.write(part)
                digest.update(part)
                written += len(part)
    except OSError as error:
        raise cannot(path, "written", error) from error
    return Written(written, digest.hexdigest())


def _plain(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def _bytes(array: Array | Pieces) -> Iterator[Any]:
    """The bytes of an array, some at a time."""
    for piece in array.make() if isinstance(array, Pieces) else [array]:
        yield np.ascontiguousarray(piece, dtype=_plain(array.dtype)).reshape(-1).view(np.uint8).data


def read_arrays(path: Path) -> tuple[dict[str, Array], Written]:
    """All arrays of a file, with what the file measures."""
    try:
        with opened(path) as (file, size):
            if size > MAX_BYTES:
                raise InputError(
                    f"{path} has {size:,} bytes, more than the {MAX_BYTES:,} that can be read; {AGAIN}"
                )
            data = file.read()
        arrays = {name: array.copy() for name, array in load(data).items()}
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; use a machine with more") from error
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: {str(error)[:120]}; {AGAIN}") from error
    for name, array in arrays.items():
        if array.size == 0 and sum(array.shape) > _LONGEST_EMPTY:
            raise InputError(
                f"{path} is damaged: the array {name[:50]!r} of shape {array.shape} is empty; {AGAIN}"
            )
        if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
            raise InputError(f"{path} is damaged: the array {name[:50]!r} is not boolean; {AGAIN}")
    return arrays, Written(len(data), hashlib.sha256(data).hexdigest())


def read_some(path: str | Path, names: Sequence[str]) -> list[Array]:
    """Some arrays of a file, without reading the others."""
    path = Path(path)
    with opened(path):  # which refuses what is not a plain file
        pass
    try:
        with safe_open(path, "numpy") as file:
            return [file.get_tensor(name) for name in names]
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} is damaged: {str(error)[:120]}; {AGAIN}") from error
