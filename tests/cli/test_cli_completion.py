"""Completion is click's own; the guide shows the line that switches it on."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
GUIDE = Path(__file__).parents[2] / "docs/guide.md"


def completed(*words):
    """What a real bash completes the last word to, after the line from the guide."""
    switch = re.search(r'`(eval "\$\(_COTERIE_COMPLETE=bash_source coterie\)")`', GUIDE.read_text())[1]
    line = (
        f"{switch}; COMP_WORDS=({' '.join(map(repr, words))}); "
        f'COMP_CWORD={len(words) - 1}; _coterie_completion coterie; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this system")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["coterie", "com"], ["compare"]),
        (["coterie", "data", "path", "sa"], ["sample"]),
        (["coterie", "compare", "x", "--re"], ["--restarts"]),
        (["coterie", "compare", "x", "--lab"], []),  # former names are not offered
        (["coterie", "compare", "x", "--format", "js"], ["jsonl", "json"]),
    ],
)
def test_bash_completes(words, expected):
    assert completed(*words) == expected
