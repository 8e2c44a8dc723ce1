"""Lines that pages tell people to type, typed here."""

import os
import re
import shlex
import subprocess
import sys
import warnings
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from coterie.cli import main

#: With `coterie` on the path, and a screen of a known width.
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "COLUMNS": "100",
}


class Done(NamedTuple):
    """How a line ended."""

    code: int
    out: str
    err: str


def typed(line, folder):
    """Run a line in a folder: here if `coterie` is all it asks for, else in a shell.

    A process takes two seconds to import what this one has imported.
    """
    if not line.startswith("coterie ") or re.search(r"[|&$<>]", line):
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)
    with chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)  # no error to somebody who types
        arguments = shlex.split(line, comments=True)[1:]
        done = CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments, prog_name="coterie")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)
