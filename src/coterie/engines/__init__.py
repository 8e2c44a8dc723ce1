"""Engines: the same algorithm over row blocks in memory, on disk or on a cluster."""

from coterie.engines.base import Block, Engine
from coterie.engines.cluster import Cluster
from coterie.engines.device import to_host
from coterie.engines.disk import DiskEngine, write_blocks
from coterie.engines.executors import Workers, open_executor, ordered, workers_of
from coterie.engines.gpu import GpuEngine
from coterie.engines.memory import MemoryEngine, as_engine

__all__ = [
    "Block",
    "Cluster",
    "DiskEngine",
    "Engine",
    "GpuEngine",
    "MemoryEngine",
    "Workers",
    "as_engine",
    "open_executor",
    "ordered",
    "to_host",
    "workers_of",
    "write_blocks",
]
