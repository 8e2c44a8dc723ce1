"""Numeric arrays of a MATLAB 5 file (.mat), dense or sparse.

scipy.io.loadmat reads these files too, but a damaged one can end the whole process. Here every number that
the file gives is checked before it is used, and whatever is wrong is a ValueError.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csc_matrix

_HEADER, _MATRIX, _COMPRESSED = 128, 14, 15
_SPARSE, _NUMERIC, _COMPLEX = 5, range(6, 16), 0x800
#: Types of numbers by their code in the file.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


def arrays(file: bytes, names: Collection[str], most: int) -> dict[str, np.ndarray[Any, Any] | csc_matrix]:
    """Those arrays of a file that have one of the names; the file may unpack to `most` bytes."""
    order = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}.get(file[_HEADER - 4 : _HEADER])
    if order is None:
        raise ValueError("not a MATLAB 5 file")
    found = {}
    for kind, content in _elements(file[_HEADER:], order):
        if kind == _COMPRESSED:
            unpacked = _unpacked(content, most)
            most -= len(unpacked)
            kind, content = next(_elements(unpacked, order), (0, b""))  # noqa: PLW2901
        if kind == _MATRIX:
            parts = list(_elements(content, order))
            name = parts[2][1].decode("latin-1") if len(parts) > 3 else None
            if name is not None and name in names:
                found[name] = _array(name, parts, order)
    return found


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The kind and the content of each element; a short one has both in its first eight bytes."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        begin, end = at + 8, at + 8 + size
        at = end if kind == _COMPRESSED else end + -size % 8
        if kind >> 16:
            kind, size = kind & 0xFFFF, kind >> 16
            begin, end, at = begin - 4, begin - 4 + min(size, 4), begin
        if end > len(data) or end - begin != size:
            raise ValueError("the MATLAB file is cut off or damaged")
        yield kind, data[begin:end]


def _unpacked(packed: bytes, most: int) -> bytes:
    """The content of compressed bytes, if it is not more than `most`."""
    try:
        content = zlib.decompressobj().decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"the MATLAB file is damaged: {error}") from error
    if len(content) > most:
        raise ValueError("the MATLAB file unpacks to more than it may")
    return content


def _array(name: str, parts: list[tuple[int, bytes]], order: str) -> np.ndarray[Any, Any] | csc_matrix:
    from scipy.sparse import csc_matrix

    flags, shape = _numbers(parts[0], order), _numbers(parts[1], order)
    kind = int(flags[0]) & 0xFF if len(flags) else 0
    if kind not in (_SPARSE, *_NUMERIC) or int(flags[0]) & _COMPLEX or (shape < 0).any():
        raise ValueError(f"{name} is not an array of real numbers")
    contents = [_numbers(part, order) for part in parts[3:]]
    size = tuple(map(int, shape))
    if kind == _SPARSE:
        if len(contents) < 3 or len(size) != 2 or len(contents[1]) != size[1] + 1:
            raise ValueError(f"{name} is not a sparse matrix")
        rows, starts, values = contents[:3]
        used = slice(0, int(starts[-1]))  # there may be room for more than is used
        sparse = csc_matrix((values[used].astype(float), rows[used], starts), shape=size)
        sparse.check_format(full_check=True)
        return sparse
    if len(contents[0]) != prod(size):
        raise ValueError(f"{name} has {len(contents[0]):,} numbers for the shape {size}")
    return contents[0].reshape(size, order="F")


def _numbers(part: tuple[int, bytes], order: str) -> np.ndarray[Any, Any]:
    import numpy as np

    kind, content = part
    if kind not in _NUMBERS:
        raise ValueError("an array of the MATLAB file does not consist of numbers")
    numbers = np.frombuffer(content, dtype=order + _NUMBERS[kind])
    return numbers.astype(numbers.dtype.newbyteorder("="))
