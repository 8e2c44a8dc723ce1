"""Finished trials on disk: one JSON line each, so that a run that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie.errors import InputError
from coterie_papers.bench.trial import Outcome, Trial, plain

#: Changes whenever lines of older stores would be misread.
FORMAT = 1
_FRESH = "--fresh starts anew"


class Store:
    """The outcomes in a file; `add` returns when a line is on disk.

    The first line says which version of coterie and which data the outcomes are of. A last line that was not
    written to its end is dropped; damage anywhere else is refused.

    Parameters
    ----------
    path
        The file; it is made where there is none.
    data
        The checksum of each data set that trials will use. A store of outcomes from other data is refused.
    """

    def __init__(self, path: Path, data: Mapping[str, str] | None = None):
        self.path = path
        self.outcomes: dict[str, Outcome] = {}
        self._data: dict[str, str] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = self._load()
        new = self._new(dict(data or {}))
        self._file = path.open("ab")
        self._file.truncate(whole)
        if not whole:
            self._append({"format": FORMAT, "coterie": __version__})
        if new:
            self._append({"data": new})

    def __contains__(self, trial: Trial) -> bool:
        return trial.key in self.outcomes

    def __len__(self) -> int:
        return len(self.outcomes)

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome; it is on disk when this returns."""
        trial = outcome.trial
        self._append(
            {
                "kind": trial.kind,
                "collection": trial.collection,
                "method": trial.method,
                "k": trial.k,
                "seed": trial.seed,
                "settings": [list(pair) for pair in trial.settings],
                "values": plain(outcome.values),
                "seconds": outcome.seconds,
                "remarks": list(outcome.remarks),
            }
        )
        self.outcomes[trial.key] = outcome

    def close(self) -> None:
        """Close the file; nothing can be added any more."""
        self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _load(self) -> int:
        """Read what is there, and return how many bytes of it are whole lines."""
        if not self.path.exists():
            return 0
        content = self.path.read_bytes()
        lines = content.split(b"\n")
        whole = 0
        for number, line in enumerate(lines, 1):
            last = number >= len(lines) - 1  # behind the last line end there is nothing, or a torn line
            if number == len(lines):
                break
            try:
                self._take(json.loads(line), number)
            except (ValueError, KeyError, TypeError) as error:
                if last and number > 1:
                    break
                raise InputError(
                    f"{self.path}, line {number}: not a line of results ({error}); {_FRESH}"
                ) from error
            whole += len(line) + 1
        return whole

    def _take(self, line: dict[str, Any], number: int) -> None:
        if number == 1:
            if line["format"] != FORMAT or line["coterie"] != __version__:
                raise InputError(
                    f"{self.path} holds results of coterie {line['coterie']}, this is {__version__}; {_FRESH}"
                )
        elif "data" in line:
            self._data.update(line["data"])
        else:
            pairs = tuple((str(name), value) for name, value in line["settings"])
            trial = Trial(line["kind"], line["collection"], line["method"], line["k"], line["seed"], pairs)
            outcome = Outcome(trial, dict(line["values"]), float(line["seconds"]), tuple(line["remarks"]))
            self.outcomes[trial.key] = outcome

    def _new(self, data: dict[str, str]) -> dict[str, str]:
        """The data sets that no outcome was of so far; another version of one that was is refused."""
        for name, checksum in data.items():
            if self._data.get(name, checksum) != checksum:
                raise InputError(
                    f"{self.path} holds results of another version of the data set {name!r}; {_FRESH}"
                )
        return {name: checksum for name, checksum in data.items() if name not in self._data}
