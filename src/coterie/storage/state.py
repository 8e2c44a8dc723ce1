"""Nested values with arrays in them, as state.json and arrays.safetensors; read with every check.

What JSON has no word for becomes an object with one key that begins with a dollar sign: `$array`, `$csr`,
`$tuple`, `$float` (nan, inf and -inf). A key of the user's that begins with one is written with one more.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from coterie.errors import InputError
from coterie.storage import files
from coterie.storage.arrays import RESERVED, Array, read_arrays, read_some, savable, write_arrays
from coterie.storage.files import AGAIN, cannot, checksum, read_json

__all__ = ["ARRAYS_FILE", "STATE_FILE", "VERSION", "checksum", "read_state", "rewrite_state", "write_state"]

#: Number of the format that is written. Since 2 a model has names of topics, since 3 embeddings may be given.
VERSION = 3
STATE_FILE = "state.json"
ARRAYS_FILE = "arrays.safetensors"
MAX_DEPTH = 60

_LARGEST = 1 << 256  # integers beyond are no number that anybody computes with
_SCALARS = (type(None), str, bool, np.bool_, int, np.integer, float, np.floating)
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def write_state(folder: str | Path, kind: str, state: Mapping[str, Any]) -> None:
    """Write the two files into a folder that has none of them; `folder.replaced` makes that safe.

    Dictionaries with string keys, lists, tuples, strings, numbers, booleans, None, numpy arrays of booleans,
    integers and floats, and CSR matrices may be nested as you like. They come back as they were, but that
    numpy numbers come back as Python's and CSR matrices with sorted indices and no entry twice. Anything else
    is refused, and so is text that is not Unicode.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_state(folder, "model", {"terms": ["kettle", "tea"], "weights": np.array([1.0, 2.0])})
    >>> read_state(folder, "model")
    {'terms': ['kettle', 'tea'], 'weights': array([1., 2.])}
    """
    folder = Path(folder)
    encoder = _Encoder()
    encoded = encoder.encode(dict(state), ())
    _text(encoded, encoded)  # before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot(folder, "written", error) from error
    written = write_arrays(folder / ARRAYS_FILE, encoder.arrays)
    arrays = {"file": ARRAYS_FILE, "bytes": written.bytes, "sha256": written.sha256}
    whole = {"format": f"coterie {kind}", "version": VERSION, "arrays": arrays, "state": encoded}
    _write_text(folder / STATE_FILE, _text(whole, encoded))


def _write_text(path: Path, text: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(b'{"sha256":"%s",' % hashlib.sha256(text).hexdigest().encode("ascii"))
            file.write(text[1:] + b"\n")
    except OSError as error:
        raise cannot(path, "written", error) from error


def rewrite_state(old: str | Path, new: str | Path, changes: Mapping[str, Any]) -> None:
    """Write a state into another folder with some of its values changed; the arrays stay the same.

    The values must be plain, without arrays, before and after.
    """
    old, new = Path(old), Path(new)
    whole = read_json(old / STATE_FILE)
    _check_content(whole, old / STATE_FILE)
    files.same_file(old / ARRAYS_FILE, new / ARRAYS_FILE)
    encoder = _Encoder()
    whole["state"] |= encoder.encode(dict(changes), ())
    if encoder.arrays:
        raise ValueError("values that are changed must have no arrays")
    _write_text(new / STATE_FILE, _text(whole, whole["state"]))


def read_values(folder: str | Path, kind: str) -> dict[str, Any]:
    """The plain values of a state; an array is an object ``{"$array": name}`` (`arrays_of`)."""
    path = Path(folder) / STATE_FILE
    whole = read_json(path)
    _check_format(whole, kind, path)
    _check_content(whole, path)
    if not isinstance(whole["state"], dict):
        raise _damaged(path, "it does not fit its arrays")
    return dict(whole["state"])


def arrays_of(folder: str | Path, values: list[Any]) -> list[Array]:
    """The arrays that values of `read_values` stand for."""
    names = [value["$array"] for value in values]
    return read_some(Path(folder) / ARRAYS_FILE, names)


def read_state(folder: str | Path, kind: str) -> dict[str, Any]:
    """What `write_state` has written; whatever else is in the files gives an InputError."""
    path = Path(folder) / STATE_FILE
    whole = read_json(path)
    _check_format(whole, kind, path)
    _check_content(whole, path)
    arrays = _arrays(whole["arrays"], path)
    decoder = _Decoder(arrays, path)
    state = decoder.decode(whole["state"], 0)
    if not isinstance(state, dict) or decoder.unused:
        raise _damaged(path, "it does not fit its arrays")
    return state


def _check_format(whole: dict[str, Any], kind: str, path: Path) -> None:
    format_, version = whole.get("format"), whole.get("version")
    if not isinstance(format_, str) or not format_.startswith("coterie "):
        raise InputError(f"{path} is not a file of coterie; check the path")
    if format_ != f"coterie {kind}":
        raise InputError(f"{path} is a {format_[:60]!r}, not a 'coterie {kind}'; check the path")
    if type(version) is not int or version < 1:
        raise _damaged(path, "it has no format version")
    if version > VERSION:
        raise InputError(f"{path} was written by a newer coterie (format {version}); update coterie")


def _check_content(whole: dict[str, Any], path: Path) -> None:
    expected = whole.pop("sha256", None)
    if whole.keys() != {"format", "version", "arrays", "state"}:
        raise _damaged(path, "parts are missing or unknown")
    try:
        checksum = hashlib.sha256(_compact(whole)).hexdigest()
    except (UnicodeEncodeError, RecursionError) as error:
        raise _damaged(path, "it holds text that is not Unicode, or is nested too deeply") from error
    if checksum != expected:
        raise _damaged(path, "its content does not match its checksum")


def _arrays(expected: Any, path: Path) -> dict[str, Array]:
    if not isinstance(expected, dict) or expected.get("file") != ARRAYS_FILE:
        raise _damaged(path, f"it does not name {ARRAYS_FILE}")
    beside = path.with_name(ARRAYS_FILE)
    arrays, checksum = read_arrays(beside)
    if (checksum.bytes, checksum.sha256) != (expected.get("bytes"), expected.get("sha256")):
        raise InputError(
            f"{beside} does not belong to {path.name} beside it: it is damaged or from another run; {AGAIN}"
        )
    return arrays


def _compact(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")


def _text(value: Any, encoded: Any) -> bytes:
    """JSON, or a sentence about what in `encoded` cannot be saved."""
    try:
        text = _compact(value)
        files.check_json(text)
    except UnicodeEncodeError:
        raise InputError(
            f"{_not_unicode(encoded, ())} is text that is not Unicode and cannot be saved"
        ) from None
    except ValueError as error:
        raise InputError(
            f"the state cannot be saved: {error}; put long lists of numbers into arrays"
        ) from error
    return text


def _not_unicode(value: Any, keys: tuple[str, ...]) -> str:
    """Where a lone surrogate is; empty if there is none."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return f"{_place(keys)} = {value[:40]!r}"
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        inner = (*keys, str(key))
        if path := _not_unicode(item, inner) or _not_unicode(key, inner):
            return path
    return ""


def _place(keys: tuple[str, ...]) -> str:
    return f"state[{']['.join(map(repr, keys))}]" if keys else "state"


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path} is damaged: {what}; {AGAIN}")


class _Encoder:
    """Turns a state into JSON values and a dictionary of arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}

    def encode(self, value: Any, keys: tuple[str, ...]) -> Any:
        """The JSON value; `keys` lead to it."""
        if len(keys) > MAX_DEPTH:
            raise InputError(f"{_place(keys[:3])} is nested more than {MAX_DEPTH} deep and cannot be saved")
        if isinstance(value, _SCALARS):
            return _scalar(value, keys)
        if type(value) is dict:
            return self._dictionary(value, keys)
        if type(value) in (list, tuple):
            items = self._list(list(value), keys)
            return items if type(value) is list else {"$tuple": items}
        return self._numbers(value, keys)

    def _numbers(self, value: Any, keys: tuple[str, ...]) -> dict[str, Any]:
        if type(value) in (np.ndarray, np.memmap) and savable(value.dtype):
            return {"$array": self._keep(value, keys)}
        csr = isinstance(value, (sparse.csr_matrix, sparse.csr_array)) and value.ndim == 2
        if csr and savable(value.dtype):
            return self._csr(value, keys)
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        kind += f" of {value.dtype}" if isinstance(value, np.ndarray) or sparse.issparse(value) else ""
        raise InputError(f"{_place(keys)} is a {kind}, which cannot be saved; save its parts instead")

    def _dictionary(self, value: dict[Any, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        encoded = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError(
                    f"{_place(keys)} has the key {key!r}, which is not a string and cannot be saved"
                )
            encoded["$" + key if key.startswith("$") else str(key)] = self.encode(item, (*keys, key))
        return encoded

    def _list(self, value: list[Any], keys: tuple[str, ...]) -> list[Any]:
        if all(type(item) is str for item in value):  # a vocabulary has hundreds of thousands
            return value
        return [self.encode(item, (*keys, str(number))) for number, item in enumerate(value)]

    def _csr(self, value: Any, keys: tuple[str, ...]) -> dict[str, Any]:
        rows, columns = value.shape
        if not _csr_is_sound(value.indices, value.indptr, value.data, rows, columns):
            value = value.copy()
            value.has_sorted_indices = value.has_canonical_format = False  # flags that may be out of date
            value.sum_duplicates()
        if not _csr_is_sound(value.indices, value.indptr, value.data, rows, columns):
            raise InputError(f"{_place(keys)} is a CSR matrix whose indices are wrong and cannot be saved")
        parts = {
            name: self._keep(getattr(value, name), (*keys, name)) for name in ("data", "indices", "indptr")
        }
        return {"$csr": {"shape": [rows, columns], "array": isinstance(value, sparse.csr_array), **parts}}

    def _keep(self, array: Array, keys: tuple[str, ...]) -> str:
        """Remember an array under a name that people recognise."""
        name = "/".join(keys)[-200:]
        while name in self.arrays or name == RESERVED:
            name += f"#{len(self.arrays)}"
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(f"{_place(keys)} is text that is not Unicode and cannot be saved") from None
        self.arrays[name] = array
        return name


class _Decoder:
    """Turns JSON values back into a state; each array must be referred to once."""

    def __init__(self, arrays: dict[str, Array], path: Path):
        self.unused = arrays
        self._path = path

    def decode(self, value: Any, depth: int) -> Any:
        """The value that was saved, `depth` steps inside the state."""
        if depth > 2 * MAX_DEPTH + 2:  # a tuple takes two steps
            raise _damaged(self._path, "it is nested too deeply")
        if isinstance(value, list):
            if all(type(item) is str for item in value):
                return value
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        marks = [key for key in value if key.startswith("$") and not key.startswith("$$")]
        if not marks:
            return {key.removeprefix("$"): self.decode(item, depth + 1) for key, item in value.items()}
        if len(value) > 1:
            raise _damaged(self._path, f"{marks[0][:40]!r} stands among other keys")
        return self._marked(marks[0], value[marks[0]], depth)

    def _marked(self, mark: str, content: Any, depth: int) -> Any:
        if mark == "$array":
            return self._array(content)
        if mark == "$csr":
            return self._csr(content)
        if mark == "$tuple" and isinstance(content, list):
            return tuple(self.decode(content, depth + 1))
        if mark == "$float" and isinstance(content, str) and content in _FLOATS:
            return _FLOATS[content]
        raise _damaged(self._path, f"{mark[:40]!r} stands where it has no meaning")

    def _array(self, name: Any) -> Array:
        if not isinstance(name, str) or name not in self.unused:
            raise _damaged(self._path, f"it refers to an array {str(name)[:50]!r} that is not there")
        return self.unused.pop(name)

    def _csr(self, content: Any) -> Any:
        known = {"shape", "array", "data", "indices", "indptr"}
        if not isinstance(content, dict) or content.keys() != known or not _is_shape(content["shape"]):
            raise _damaged(self._path, "it does not tell the parts of a CSR matrix")
        rows, columns = content["shape"]
        data, indices, indptr = (self._array(content[name]) for name in ("data", "indices", "indptr"))
        if not _csr_is_sound(indices, indptr, data, rows, columns):
            raise _damaged(self._path, "the indices of a CSR matrix are wrong")
        build = sparse.csr_array if content["array"] is True else sparse.csr_matrix
        matrix = build((data, indices, indptr), shape=(rows, columns))
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix


def _scalar(value: Any, keys: tuple[str, ...]) -> Any:
    if value is None or isinstance(value, str):
        return value if value is None else str.__str__(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        if abs(int(value)) >= _LARGEST:
            raise InputError(f"{_place(keys)} is an integer of more than 256 bits and cannot be saved")
        return int(value)
    number = float(value)
    if number != value and not math.isnan(number):  # an extended float of numpy's
        raise InputError(f"{_place(keys)} is a {type(value).__name__}, which cannot be saved without loss")
    return number if math.isfinite(number) else {"$float": repr(number)}


def _is_shape(shape: Any) -> bool:
    numbers = isinstance(shape, list) and len(shape) == 2 and all(type(length) is int for length in shape)
    return numbers and all(0 <= length < 1 << 62 for length in shape)


def _csr_is_sound(indices: Array, indptr: Array, data: Array, rows: int, columns: int) -> bool:
    """Do the rows begin and end where they may, and is each a strictly rising row of columns?"""
    if (
        not indices.ndim == indptr.ndim == data.ndim == 1
        or len(indptr) != rows + 1
        or len(data) != len(indices)
    ):
        return False
    if any(array.dtype not in (np.int32, np.int64) for array in (indices, indptr)):
        return False
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        return False
    if len(indices) == 0:
        return True
    if indices.min() < 0 or indices.max() >= columns:
        return False
    rising = np.empty(len(indices) + 1, dtype=bool)
    rising[1:-1] = indices[1:] > indices[:-1]
    rising[indptr] = True
    return bool(rising.all())
