"""The run folder: what ``coterie fit`` writes, and everything done with it later.

    model/                      the model (JSON and arrays)
    topics.csv                  what the topics are
    assignments.parquet, .csv   all columns of the input and the topic of each row
    edits.json                  the log of edits, in order
    map.safetensors             where topics and texts lie on the map
    report.html                 all of it as one page
    run.json                    parameters, versions, fingerprint of the data, timings, warnings, checksums

A folder is replaced as a whole or not at all. `fitting` makes one, `run` opens and saves one, `writing` has
the files, `relabel` gives topics other labels without the model, `record` is run.json, and `parts` assigns
the texts of many files on many workers. `origin` and `steps` record what a run was computed from and what
came out of each step, and `verifying` compares these with a run that is computed again.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.runs.fitting import fit_run as fit_run
    from coterie.runs.parts import assign_parts as assign_parts
    from coterie.runs.record import edits_of as edits_of
    from coterie.runs.run import Run as Run
    from coterie.runs.run import edit_run as edit_run
    from coterie.runs.run import open_run as open_run
    from coterie.runs.run import with_run as with_run
    from coterie.runs.verifying import Verification as Verification
    from coterie.runs.verifying import verify as verify
    from coterie.runs.writing import assigned_table as assigned_table

_HOMES = {
    "Run": "coterie.runs.run",
    "Verification": "coterie.runs.verifying",
    "assign_parts": "coterie.runs.parts",
    "assigned_table": "coterie.runs.writing",
    "edit_run": "coterie.runs.run",
    "edits_of": "coterie.runs.record",
    "fit_run": "coterie.runs.fitting",
    "open_run": "coterie.runs.run",
    "verify": "coterie.runs.verifying",
    "with_run": "coterie.runs.run",
}
__all__ = [
    "Run",
    "Verification",
    "assign_parts",
    "assigned_table",
    "edit_run",
    "edits_of",
    "fit_run",
    "open_run",
    "verify",
    "with_run",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.runs' has no attribute {name!r}")
