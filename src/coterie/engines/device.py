"""Sparse rows on a graphics card, with products whose additions always come in the same order.

Sums of floating-point numbers depend on their order. The transposed product of cuSPARSE, and any kernel that
adds with atomic operations, have no fixed one, so they give other last digits from run to run. Here each row
block is stored twice, by rows and by columns, and both products are plain ones: an entry of the result is
added up by one thread, entry by entry. Long columns are cut into pieces of `_PIECE` entries, whose sums are
added up in the same way.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines.base import csr_view

#: An array of numpy, or of CuPy.
Array = Any

#: Entries of a column that one thread adds up.
_PIECE = 256
#: Numbers that a thread works on at a time: columns of dense arrays are filled up to a multiple of it.
_WIDTH = 4
_THREADS = 256

_SOURCE = r"""
extern "C" __global__ void products(
    const long long n_rows, const int quads, const int* starts, const int* columns, const float* values,
    const float4* dense, float4* result)
{
    const long long row = (long long) blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n_rows) return;
    const int end = starts[row + 1];
    for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int entry = starts[row]; entry < end; ++entry) {
            const float value = values[entry];
            const float4 other = dense[(long long) columns[entry] * quads + quad];
            sum.x = fmaf(value, other.x, sum.x);
            sum.y = fmaf(value, other.y, sum.y);
            sum.z = fmaf(value, other.z, sum.z);
            sum.w = fmaf(value, other.w, sum.w);
        }
        result[row * quads + quad] = sum;
    }
}

extern "C" __global__ void sums(
    const long long n_rows, const int quads, const int* starts, const float4* parts, float4* result)
{
    const long long row = (long long) blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n_rows) return;
    const int end = starts[row + 1];
    for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int part = starts[row]; part < end; ++part) {
            const float4 other = parts[(long long) part * quads + quad];
            sum.x += other.x;
            sum.y += other.y;
            sum.z += other.z;
            sum.w += other.w;
        }
        result[row * quads + quad] = sum;
    }
}
"""


@cache
def _cupy() -> Any:
    import cupy

    return cupy


@cache
def _kernel(name: str) -> Any:
    return _cupy().RawKernel(_SOURCE, name)


class Uploads:
    """Arrays of the host that a pass needs on the card: each is copied once, however many blocks use it.

    An array may change between two passes, so what was copied is forgotten when a pass ends.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[weakref.ref[Any], Array]] = {}

    def get(self, array: Array, *, padded: bool = False) -> Array:
        """The array on the card, in single precision; `padded` to rows that a kernel can read."""
        if not isinstance(array, np.ndarray):
            return _padded(array) if padded else array
        key = id(array), padded
        if key in self._known and self._known[key][0]() is array:
            return self._known[key][1]
        copy = _cupy().asarray(np.ascontiguousarray(array, dtype=np.float32))
        copy = _padded(copy) if padded else copy
        self._known[key] = weakref.ref(array), copy
        return copy

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()


@dataclass(frozen=True)
class _Sparse:
    """A sparse matrix row by row; `levels` say how the sums of long rows are put together.

    Each level has the first entry, or part, of each piece, and their number at its end. The last level has a
    piece for each row.
    """

    starts: Array
    columns: Array
    values: Array
    levels: tuple[Array, ...]

    def product(self, dense: Array) -> Array:
        """Rows times a padded dense array."""
        parts = _launched("products", self.levels[0], dense.shape[1], self.columns, self.values, dense)
        for starts in self.levels[1:]:
            parts = _launched("sums", starts, dense.shape[1], parts)
        return parts


@dataclass(frozen=True)
class DeviceRows:
    """Rows of a block on a card: a documents × terms matrix with the products that block functions use.

    ``X @ dense`` and ``X.T @ dense`` take arrays of either side, and give arrays of the card.
    """

    by_row: _Sparse
    by_column: _Sparse
    shape: tuple[int, int]
    uploads: Uploads = field(repr=False)

    @classmethod
    def of(cls, X: csr_matrix, uploads: Uploads) -> DeviceRows:
        """A matrix of the host, copied to the card."""
        cupy = _cupy()
        arrays = (cupy.asarray(X.indptr.astype(np.int32)), cupy.asarray(X.indices.astype(np.int32)))
        return cls.from_arrays(*arrays, cupy.asarray(X.data.astype(np.float32)), X.shape, uploads)

    @classmethod
    def from_arrays(
        cls, starts: Array, columns: Array, values: Array, shape: tuple[int, int], uploads: Uploads
    ) -> DeviceRows:
        """The arrays of a CSR matrix that are on the card already."""
        cupy = _cupy()
        order = cupy.argsort(columns)  # stable: rows stay in their order
        sorted_columns = columns[order]
        ends = cupy.searchsorted(sorted_columns, cupy.arange(shape[1] + 1, dtype=np.int32))
        entries = cupy.arange(len(columns), dtype=np.int32)
        row_of = (cupy.searchsorted(starts, entries, side="right") - 1).astype(np.int32)
        by_column = _Sparse(
            ends.astype(np.int32), row_of[order], values[order], _levels(ends.astype(np.int64))
        )
        return cls(_Sparse(starts, columns, values, (starts,)), by_column, shape, uploads)

    @property
    def data(self) -> Array:
        """The entries, row by row."""
        return self.by_row.values

    @property
    def indices(self) -> Array:
        """The column of each entry."""
        return self.by_row.columns

    @property
    def indptr(self) -> Array:
        """The first entry of each row, and their number."""
        return self.by_row.starts

    def __matmul__(self, dense: Array) -> Array:
        return self._product(self.by_row, dense)

    @cached_property
    def T(self) -> DeviceColumns:
        """Terms × documents."""
        return DeviceColumns(self)

    def _product(self, side: _Sparse, dense: Array) -> Array:
        columns = dense.shape[1] if dense.ndim == 2 else None
        product = side.product(self.uploads.get(dense, padded=True))
        return product[:, 0] if columns is None else product[:, :columns]

    # --- changed entries

    def scaled_columns(self, per_term: Array) -> DeviceRows:
        """``X · diag(per_term)``."""
        scale = self.uploads.get(per_term)
        there = _repeated(scale, self.by_column.starts)
        return self._with(self.by_row.values * scale[self.by_row.columns], self.by_column.values * there)

    def scaled_rows(self, per_row: Array) -> DeviceRows:
        """``diag(per_row) · X``."""
        scale = self.uploads.get(per_row)
        there = scale[self.by_column.columns]
        return self._with(
            self.by_row.values * _repeated(scale, self.by_row.starts), self.by_column.values * there
        )

    def squared(self) -> DeviceRows:
        """Each entry squared."""
        return self._with(self.by_row.values**2, self.by_column.values**2)

    def pattern(self) -> DeviceRows:
        """1 for each entry that is not zero."""
        one, other = ((side.values != 0).astype(np.float32) for side in (self.by_row, self.by_column))
        return self._with(one, other)

    def _with(self, by_row: Array, by_column: Array) -> DeviceRows:
        one, other = self.by_row, self.by_column
        return DeviceRows(
            _Sparse(one.starts, one.columns, by_row, one.levels),
            _Sparse(other.starts, other.columns, by_column, other.levels),
            self.shape,
            self.uploads,
        )

    def astype(self, dtype: Any) -> DeviceRows:
        """The same: entries are in single precision already."""
        return self

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> csr_matrix:
        """Some rows, on the host."""
        return self.host()[rows]

    def host(self) -> csr_matrix:
        """The same on the host."""
        arrays = (_cupy().asnumpy(array) for array in (self.data, self.indices, self.indptr))
        data, indices, indptr = arrays
        return csr_view(data.astype(np.float64), indices, indptr, self.shape)


@dataclass(frozen=True)
class DeviceColumns:
    """The transposed rows of a block."""

    rows: DeviceRows

    @property
    def shape(self) -> tuple[int, int]:
        """Terms × documents."""
        return self.rows.shape[1], self.rows.shape[0]

    def __matmul__(self, dense: Array) -> Array:
        return self.rows._product(self.rows.by_column, dense)


def _padded(dense: Array) -> Array:
    """As a matrix whose rows a kernel can read: one column for a vector, filled up with zeros."""
    cupy = _cupy()
    matrix = dense[:, None] if dense.ndim == 1 else dense
    spare = -matrix.shape[1] % _WIDTH
    if not spare:
        return cupy.ascontiguousarray(matrix, dtype=np.float32)
    padded = cupy.zeros((matrix.shape[0], matrix.shape[1] + spare), dtype=np.float32)
    padded[:, : matrix.shape[1]] = matrix
    return padded


def _repeated(values: Array, starts: Array) -> Array:
    """A value for each entry: that of the row it is in."""
    cupy = _cupy()
    entries = cupy.arange(int(starts[-1]), dtype=np.int32)
    return values[cupy.searchsorted(starts, entries, side="right") - 1]


def _levels(starts: Array) -> tuple[Array, ...]:
    """How rows that begin at `starts` are cut into pieces, and these added up, until each row is one."""
    cupy, levels = _cupy(), []
    n_rows = len(starts) - 1
    while True:
        pieces = cupy.maximum(-(-cupy.diff(starts) // _PIECE), 1)
        first = cupy.concatenate([cupy.zeros(1, dtype=np.int64), cupy.cumsum(pieces)])
        n_pieces = int(first[-1])
        number = cupy.arange(n_pieces, dtype=np.int64)
        row = cupy.searchsorted(first, number, side="right") - 1
        begins = starts[row] + _PIECE * (number - first[row])
        levels.append(cupy.concatenate([begins, starts[-1:]]).astype(np.int32))
        if n_pieces == n_rows:
            return tuple(levels)
        starts = first


def _launched(name: str, starts: Array, columns: int, *arrays: Array) -> Array:
    """The result of a kernel: pieces × columns."""
    n_rows, quads = len(starts) - 1, columns // _WIDTH
    result = _cupy().empty((n_rows, columns), dtype=np.float32)
    if n_rows:
        across = min(quads, _THREADS)
        down = _THREADS // across
        sizes = np.int64(n_rows), np.int32(quads)
        _kernel(name)((-(-n_rows // down),), (across, down), (*sizes, starts, *arrays, result))
    return result


def to_host(value: Any) -> Any:
    """Arrays of the card in a result as arrays of the host, in double precision."""
    if isinstance(value, tuple):
        return tuple(map(to_host, value))
    if isinstance(value, list):
        return list(map(to_host, value))
    if hasattr(value, "__cuda_array_interface__"):
        there: npt.NDArray[Any] = _cupy().asnumpy(value)
        return there.astype(np.float64) if there.dtype == np.float32 else there
    return value


def widened(value: Any) -> Any:
    """A result in double precision, to be added up."""
    if isinstance(value, tuple):
        return tuple(map(widened, value))
    single = hasattr(value, "__cuda_array_interface__") and value.dtype == np.float32
    return value.astype(np.float64) if single else value
