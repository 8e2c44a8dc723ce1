"""A Dask scheduler and workers, each a process of its own, and commands that use them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine_fits import write_texts

#: Seconds that a busy machine needs at most; a test that waits longer has found an endless wait.
DEADLINE = 120
_FILES, _ROWS = 5, 240
#: The command as it is, with blocks so small that a thousand texts are many, and less patience.
_COMMAND = """
import engine_fits
import coterie.engines.clusters
engine_fits.small_blocks(setattr)
coterie.engines.clusters.WORKER_SECONDS = 4
from coterie.cli import main
main()
"""


def until(true: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Wait for something that can be seen."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def write_files(folder: Path) -> str:
    """Texts in several files, and the pattern that finds them."""
    write_texts(folder / "all.csv", _FILES * _ROWS)
    head, *rows = (folder / "all.csv").read_text().splitlines(keepends=True)
    for number in range(_FILES):
        part = rows[number * _ROWS : (number + 1) * _ROWS]
        (folder / f"texts-{number}.csv").write_text(head + "".join(part))
    return str(folder / "texts-*.csv")


def fit_command(texts: str, out: Path, *options: str) -> subprocess.Popen[str]:
    """`coterie fit` as a process, in a session of its own."""
    given = ["fit", texts, "--text", "title", "--date", "day", "--topics", "4", "--out", str(out), *options]
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND, *given],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


class DaskProcesses:
    """A scheduler, and workers that can be stopped, killed and added; all of them end with the context."""

    def __init__(self, folder: Path):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "DaskProcesses":
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()

    def start(self, *workers: int | None, **configured: str) -> list[subprocess.Popen[bytes]]:
        """Start the scheduler, or start it again at the same address, and workers: each with the size of the
        largest file that it may write, or None.
        """
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start(["scheduler", *place], configured)
        started = [self.start_worker(file_bytes) for file_bytes in workers]
        until(self._answers)
        return started

    def kill_scheduler(self) -> None:
        """Kill it; its workers end soon after."""
        assert self.scheduler is not None
        self.scheduler.kill()
        self.scheduler.wait()

    def start_worker(self, file_bytes: int | None = None) -> subprocess.Popen[bytes]:
        """Start one; with `file_bytes`, the system lets it write no larger files."""
        own = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        return self._start(["worker", self.address, *own, "--death-timeout", "60"], {}, file_bytes)

    def _start(
        self, words: list[str], configured: dict[str, str], file_bytes: int | None = None
    ) -> subprocess.Popen[bytes]:
        limits = [] if file_bytes is None else ["prlimit", f"--fsize={file_bytes}", "--"]
        with (self.folder / f"{words[0]}-{len(self._started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*limits, sys.executable, "-m", "dask", *words],
                env=os.environ | configured,
                stdout=log,
                stderr=log,
            )
        self._started.append(process)
        return process

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False
