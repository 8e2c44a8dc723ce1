"""Vectors from a file: .npy, or Parquet with a column of lists or columns of numbers."""

from __future__ import annotations

import math
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy

from coterie.embeddings.arrays import Vectors, checked, of_table
from coterie.errors import InputError
from coterie.storage.files import opened
from coterie.storage.tables import read_parquet

SUFFIXES = (".npy", ".parquet")
#: What numpy says of a header that is none: it is read like an expression of Python.
_FAULTS = (ValueError, TypeError, KeyError, SyntaxError, TokenError, RecursionError, OverflowError)
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_vectors(path: str | Path) -> Vectors:
    """The vectors of a file, a row for each text; nothing in the file can run."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path} must end in {' or '.join(SUFFIXES)} to be read as embeddings")
    if not path.exists():
        raise InputError(f"{path} does not exist; check the path of the embeddings")
    try:
        return checked(_read_npy(path) if suffix == ".npy" else of_table(read_parquet(path)))
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; use a machine with more") from error
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error


def _read_npy(path: Path) -> Any:
    """An array whose header, which may claim anything, agrees with the size of the file."""
    with opened(path) as (file, size):
        try:
            header = _HEADERS.get(npy.read_magic(file))
            if header is None:
                raise InputError(f"{path} has a version of the .npy format that is not read; save it again")
            shape, by_column, dtype = header(file)
        except _FAULTS as error:
            if isinstance(error, InputError):
                raise
            reason = (str(error).splitlines() or ["its header is wrong"])[0]
            raise InputError(f"{path} is no sound .npy file ({reason[:120]}); save it again") from error
        if dtype.hasobject:
            raise InputError(
                f"{path} contains Python objects, which are never loaded: they could run code; save an array "
                "of numbers, such as np.save(path, vectors.astype('float32'))"
            )
        claimed = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or claimed != size - file.tell():
            raise InputError(
                f"{path} is damaged: an array of shape {shape} needs {claimed:,} bytes, and there are "
                f"{size - file.tell():,}; save it again"
            )
        array = np.frombuffer(file.read(), dtype=dtype)
    return array.reshape(shape, order="F" if by_column else "C")
