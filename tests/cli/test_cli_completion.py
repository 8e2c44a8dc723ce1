import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.cli import main

BIN = Path(sys.executable).parent


def script(*arguments, **environment):
    return CliRunner(env=environment).invoke(main, ["completion", *arguments])


def completed(*words):
    """What a real bash, with the script sourced, completes the last word to."""
    line = (
        f'eval "$(coterie completion bash)"; COMP_WORDS=({" ".join(map(repr, words))}); '
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
        (["coterie", "com"], ["compare", "completion"]),
        (["coterie", "data", ""], ["fetch", "list", "path"]),
        (["coterie", "data", "path", "sa"], ["sample"]),
        (["coterie", "weights", "x.csv", "--mi"], ["--min-df"]),
        (["coterie", "completion", "z"], ["zsh"]),
        (["coterie", "compare", "x", "--format", "js"], ["jsonl"]),
    ],
)
def test_bash_completes(words, expected):
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell):
    out = script(shell)
    assert out.exit_code == 0
    assert f"_COTERIE_COMPLETE={shell}_complete" in out.output
    assert script(SHELL=f"/usr/bin/{shell}").output == out.output


@pytest.mark.parametrize(("shell", "found"), [("/bin/tcsh", "SHELL names 'tcsh'"), ("", "SHELL is not set")])
def test_an_unknown_shell_is_a_sentence(shell, found):
    out = script(SHELL=shell)
    assert out.exit_code == 2
    assert out.stderr == (
        f"coterie: {found}, so say which shell: coterie completion bash, coterie completion zsh, "
        "coterie completion fish\n"
    )
