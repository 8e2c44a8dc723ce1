"""Arrays as a safetensors file, written and read in one pass with its checksum.

The format is eight bytes with the length of a header, the header (JSON: type, shape and place of each array)
and the numbers, one array after another. It is read here with plain reads into arrays whose sizes were
compared with the size of the file: nothing is mapped, nothing is held twice, and no header makes us ask for
more memory than the file has bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import InputError
from coterie.storage.files import AGAIN, opened, parse
from coterie.storage.words import cannot

Array = NDArray[Any]

MAX_BYTES = 1 << 33
MAX_HEADER_BYTES = 1 << 24

TYPES = {
    "BOOL": np.dtype("?"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
RESERVED = "__metadata__"  # the one name that the format keeps for itself
_NAMES = {dtype: name for name, dtype in TYPES.items()}
_LENGTH = struct.Struct("<Q")
_DIMENSIONS = 32  # as many as every numpy knows


class Written(NamedTuple):
    """The size and the SHA-256 of a file."""

    bytes: int
    sha256: str


class _Part(NamedTuple):
    begin: int
    end: int
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def savable(dtype: np.dtype[Any]) -> bool:
    """Can arrays of this type be written?"""
    return dtype.newbyteorder("<") in _NAMES


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> Written:
    """Write a file that is not there yet; arrays come back with the byte order of this machine."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        kind = _NAMES[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight, as the format asks
    if len(text) > MAX_HEADER_BYTES or _LENGTH.size + len(text) + end > MAX_BYTES:
        raise InputError(f"{path} would have {end:,} bytes, more than the {MAX_BYTES:,} that are ever read")
    digest = hashlib.sha256()
    try:
        with path.open("xb") as file:
            head: list[bytes | memoryview] = [_LENGTH.pack(len(text)), text]
            for piece in chain(head, map(_little, arrays.values())):
                file.write(piece)
                digest.update(piece)
    except OSError as error:
        raise cannot(path, "written", error) from error
    return Written(_LENGTH.size + len(text) + end, digest.hexdigest())


def read_arrays(path: Path) -> tuple[dict[str, Array], Written]:
    """All arrays of a file, with what the file measures."""
    try:
        with opened(path) as (file, size):
            return _read(file, size, path)
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; use a machine with more") from error


def _read(file: IO[bytes], size: int, path: Path) -> tuple[dict[str, Array], Written]:
    if size > MAX_BYTES:
        raise InputError(
            f"{path} has {size:,} bytes, more than the {MAX_BYTES:,} that are ever read; {AGAIN}"
        )
    digest = hashlib.sha256()
    length = _LENGTH.unpack(_exactly(file, _LENGTH.size, path, digest))[0]
    if length > min(size - _LENGTH.size, MAX_HEADER_BYTES):
        raise _damaged(path, f"its header claims {length:,} bytes of {size:,}")
    header = parse(_exactly(file, length, path, digest), path)
    header.pop(RESERVED, None)
    parts = sorted(_part(name, entry, path) for name, entry in header.items())
    _check_places(parts, size - _LENGTH.size - length, path)
    arrays = {part.name: _array(file, part, path, digest) for part in parts}
    return arrays, Written(size, digest.hexdigest())


def _part(name: str, entry: Any, path: Path) -> _Part:
    try:
        dtype, shape, (begin, end) = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        plain = len(entry) == 3 and all(
            type(number) is int and number >= 0 for number in (begin, end, *shape)
        )
        fits = plain and len(shape) <= _DIMENSIONS and end - begin == math.prod(shape) * dtype.itemsize
        # numpy multiplies the lengths even where one of them is zero
        fits = fits and math.prod(length or 1 for length in shape) * dtype.itemsize < 1 << 62
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise _damaged(path, f"its header tells nonsense of the array {name[:50]!r}")
    return _Part(begin, end, name, dtype, tuple(shape))


def _check_places(parts: list[_Part], size: int, path: Path) -> None:
    """The arrays lie one after another and fill the file."""
    end = 0
    for part in parts:
        if part.begin != end:
            raise _damaged(path, f"the array {part.name[:50]!r} is not where the one before it ends")
        end = part.end
    if end != size:
        raise _damaged(path, f"it holds {size:,} bytes of numbers where its header tells of {end:,}")


def _array(file: IO[bytes], part: _Part, path: Path, digest: Any) -> Array:
    array = np.empty(part.shape, part.dtype)
    if array.nbytes:
        buffer = array.reshape(-1).view(np.uint8)
        if _fill(file, buffer.data) < array.nbytes:
            raise _damaged(path, "it ends too early")
        digest.update(buffer)
        if part.dtype == bool and buffer.max() > 1:
            raise _damaged(path, f"the array {part.name[:50]!r} holds other values than true and false")
    return array.astype(part.dtype.newbyteorder("="), copy=False)


def _fill(file: IO[bytes], buffer: memoryview) -> int:
    filled = 0
    while count := file.readinto(buffer[filled:]):  # type: ignore[attr-defined]
        filled += count
    return filled


def _exactly(file: IO[bytes], size: int, path: Path, digest: Any) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise _damaged(path, "it ends too early")
    digest.update(data)
    return data


def _little(array: Array) -> memoryview:
    """The numbers in the order of bytes and axes that the format has."""
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return plain.reshape(-1).view(np.uint8).data


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path} is damaged: {what}; {AGAIN}")
