"""Arrays as a safetensors file, with its size and checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from coterie.errors import InputError
from coterie.storage.files import AGAIN, cannot, opened

Array = NDArray[Any]

MAX_BYTES = 1 << 33
#: What numpy and safetensors both have.
_KINDS = frozenset(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
#: Rows or columns of an array without numbers: a file of a few bytes can claim any.
_LONGEST_EMPTY = 1 << 20
RESERVED = "__metadata__"  # the one name that the format keeps for itself


class Written(NamedTuple):
    """The size and the SHA-256 of a file."""

    bytes: int
    sha256: str


def savable(dtype: np.dtype[Any]) -> bool:
    """Can arrays of this type be written?"""
    return dtype.newbyteorder("=") in _KINDS


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> Written:
    """Write a file that is not there yet; arrays come back with the byte order of this machine."""
    plain = {
        name: np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        for name, array in arrays.items()
    }
    size = sum(array.nbytes for array in plain.values())
    if size > MAX_BYTES:
        raise InputError(f"{path} would have {size:,} bytes, more than the {MAX_BYTES:,} that can be read")
    data = save(plain)
    try:
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise cannot(path, "written", error) from error
    return Written(len(data), hashlib.sha256(data).hexdigest())


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
