"""Row blocks on a graphics card: the passes that take longest, through the same functions of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from coterie.engines.base import Block, Engine, tree_sum
from coterie.engines.device import DeviceRows, Uploads, to_host, widened
from coterie.engines.records import MemoryRecords, Records
from coterie.errors import InputError

T = TypeVar("T")

#: Rows, or entries, of a block on the card: enough to keep it busy, whatever the blocks of the host are.
DEVICE_ROWS, _DEVICE_ENTRIES = 1 << 21, 1 << 28
#: The part of the free memory of a card that blocks may take; the rest is for what functions make of them.
_FOR_BLOCKS = 0.5
#: Bytes of an entry on the card: a number and an index, by row and by column.
_ENTRY_BYTES = 16

_INSTALL = "install the extra coterie[gpu13] for a driver of CUDA 13, or coterie[gpu12] for one of CUDA 12"


class GpuEngine(Engine):
    """The row blocks of another engine, and a card that makes the passes of a fit which take longest.

    Functions of blocks see the blocks of the other engine; those of `accelerated` see them on the card, in
    single precision. What they give is added up in double precision and along one tree, so ten fits give the
    same bytes. They differ from those of the processor after about six digits.

    Parameters
    ----------
    source
        An engine, such as ``as_engine(X)``.
    memory
        Bytes of the card that blocks may take; by default half of what is free. Blocks that do not fit stay
        with the host and are copied in every pass.
    """

    def __init__(self, source: Engine, memory: int | None = None):
        self.memory = _usable_memory() if memory is None else memory
        self.source = source
        self.n_rows, self.n_terms = source.shape
        self.n_blocks, self.in_memory = source.n_blocks, source.in_memory
        self.threads = getattr(source, "threads", None)
        self._own: DeviceBlocks | None = None

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block of the other engine, in order."""
        return self.source.map(function)

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up `function(block)` over the blocks of the other engine."""
        return self.source.sum(function, stage)

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for records beside the blocks of the other engine."""
        return self.source.records(dtype)

    def accelerated(self, rows: Engine | None = None) -> Engine:
        """The rows on the card; `rows` are those of an engine that changes blocks of this one."""
        if rows is not None:
            return self._uploaded(rows)
        if self._own is None:
            self._own = self._uploaded(self.source)
        return self._own

    def _uploaded(self, rows: Engine) -> DeviceBlocks:
        return DeviceBlocks.upload(rows.map(lambda block: block), self.memory, self.threads)


@dataclass(frozen=True)
class _Parked:
    """A block that waits on the host."""

    X: csr_matrix
    weights: npt.NDArray[np.float64]
    start: int


class DeviceBlocks(Engine):
    """Row blocks whose matrix and weights are on a card.

    Sums stay there, for the next pass may need them; `to_host` brings them back. What `map` gives for each
    block comes back at once.
    """

    def __init__(self, blocks: Iterable[Block | _Parked], uploads: Uploads, threads: int | None = None):
        self.blocks, self.uploads, self.threads = list(blocks), uploads, threads
        self.n_blocks = len(self.blocks)
        self.n_rows = sum(block.X.shape[0] for block in self.blocks)
        self.n_terms = self.blocks[0].X.shape[1]

    @classmethod
    def upload(cls, blocks: Iterable[Block], memory: int, threads: int | None) -> DeviceBlocks:
        """Copy blocks to the card, put together until they are large; those that do not fit are parked."""
        uploads, taken = Uploads(), 0
        there: list[Block | _Parked] = []
        for block in _joined(blocks):
            parked = _Parked(block.X, block.weights, block.start)
            taken += _ENTRY_BYTES * block.X.nnz
            there.append(parked if taken > memory else _on_card(parked, uploads))
        return cls(there, uploads, threads)

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        """Whether all blocks are on the card."""
        return not any(isinstance(block, _Parked) for block in self.blocks)

    def _on_card(self) -> Iterator[Block]:
        try:
            for block in self.blocks:
                yield _on_card(block, self.uploads) if isinstance(block, _Parked) else block
        finally:
            self.uploads.clear()

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block, in order, as arrays of the host."""
        return (to_host(function(block)) for block in self._on_card())

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up `function(block)` on the card, in double precision."""
        return tree_sum(self.told((widened(function(block)) for block in self._on_card()), stage))

    def here(self, array: Any) -> Any:
        """A copy on the card."""
        import cupy

        return cupy.asarray(array)

    def mapped(self, change: Callable[[Block], Block]) -> Engine:
        """Changed blocks: changed once if all are on the card, else in every pass."""
        if not self.in_memory:
            return super().mapped(change)
        return DeviceBlocks(map(change, self._on_card()), self.uploads, self.threads)

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for records on the host, put and read as arrays of the card."""
        return _DeviceRecords(self.n_rows, np.dtype(dtype))


class _DeviceRecords(MemoryRecords):
    """Records in the memory of the host that functions on the card put and read."""

    def put(self, start: int, values: Any) -> None:
        """Set the records of the rows from `start` on."""
        super().put(start, to_host(values))

    def get(self, start: int, stop: int) -> Any:
        """The records of some rows, on the card."""
        import cupy

        return cupy.asarray(super().get(start, stop))


def _on_card(block: Block | _Parked, uploads: Uploads) -> Block:
    import cupy

    try:
        rows: Any = DeviceRows.of(block.X, uploads)
        return Block(rows, cupy.asarray(block.weights, dtype=np.float32), block.start)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise InputError(
            f"{block.X.shape[0]:,} rows with {block.X.nnz:,} entries do not fit into the memory of the card; "
            "close other programs that use it, pass a smaller memory=…, or fit without GpuEngine"
        ) from error


def _joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Neighbouring blocks put together until they are large."""
    waiting: list[Block] = []
    for block in blocks:
        waiting.append(block)
        rows, entries = (
            sum(sizes) for sizes in zip(*((b.X.shape[0], b.X.nnz) for b in waiting), strict=True)
        )
        if rows >= DEVICE_ROWS or entries >= _DEVICE_ENTRIES:
            yield _together(waiting)
            waiting = []
    if waiting:
        yield _together(waiting)


def _together(blocks: list[Block]) -> Block:
    X = vstack([block.X for block in blocks], format="csr") if len(blocks) > 1 else csr_matrix(blocks[0].X)
    return Block(X, np.concatenate([block.weights for block in blocks]), blocks[0].start)


def _usable_memory() -> int:
    """Bytes of the card for blocks; raises an error that says what is missing where there is none."""
    try:
        import cupy
    except ImportError as error:
        raise InputError(f"GpuEngine needs CuPy: {_INSTALL}") from error
    try:
        free, _ = cupy.cuda.runtime.memGetInfo()
    except Exception as error:  # CuPy has an error of its own for each library of the driver
        raise InputError(
            f"no graphics card can be used ({str(error).splitlines()[0]}): check that nvidia-smi lists one "
            f"and that its driver is new enough, or {_INSTALL}"
        ) from error
    return int(_FOR_BLOCKS * free)
