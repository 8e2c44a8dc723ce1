"""The wheel as people install it, without extras: every command works, or says in a sentence what it needs."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Extras that users install, and the modules that may import what is in them.
EXTRAS = {
    "zh": ["text"],
    "xlsx": ["text", "storage"],
    "remote": ["text"],
    "lda": ["baselines"],
    "words": ["embeddings"],
    "explore": ["explore"],
    "figures": ["figures"],
    "altair": ["figures"],
    "dask": ["engines"],
}
#: Libraries that users bring along, and the modules that may import them.
BROUGHT = {
    "embeddings": {"model2vec", "sentence_transformers"},
    "corpus": {"pandas"},
    "frames": {"pandas"},
    "spark": {"pyspark", "pyarrow"},  # in the extra of that name, too large for the setup
    "engines": {"cupy"},  # in the extras gpu12 and gpu13, which exclude each other and need a card
}
#: Runs commands with only the wheel and what it needs, one after another; prints how each ended.
COMMANDS = """
import json, sys
blocked, wheel, commands = json.loads(sys.argv[1])
sys.path.insert(0, wheel)

class OnlyTheBase:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def find_spec(name, *rest, found=__import__("importlib.util").util.find_spec):
    try:
        return found(name, *rest)
    except ModuleNotFoundError:
        return None

import importlib.util
importlib.util.find_spec = find_spec  # a blocked package is an absent one
sys.meta_path.insert(0, OnlyTheBase())
from click.testing import CliRunner
import coterie
from coterie.cli import main
assert coterie.__file__.startswith(wheel), coterie.__file__
for arguments in commands:
    done = CliRunner().invoke(main, arguments, prog_name="coterie")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    print(json.dumps([arguments, done.exit_code, done.stderr]))
"""


installed = cache(packages_distributions)


def name_of(requirement):
    return re.split(r"[\s<>=!~;\[(]", requirement)[0].lower().replace("_", "-")


def closure(names):
    """Distributions that are installed with these."""
    known, waiting = set(), [name_of(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            waiting += [name_of(other) for other in requires(name) or () if "extra ==" not in other]
    return known


def modules(distributions):
    """Names that can be imported from these."""
    return {
        module
        for module, owners in installed().items()
        if any(owner.lower().replace("_", "-") in distributions for owner in owners)
    }


@pytest.mark.slow
def test_every_package_that_is_imported_is_declared():
    base = modules({name_of(one) for one in PROJECT["dependencies"]})
    for path in sorted((ROOT / "src" / "coterie").rglob("*.py")):
        room = path.relative_to(ROOT / "src" / "coterie").parts[0].removesuffix(".py")
        extras = [
            one
            for name, users in EXTRAS.items()
            if room in users
            for one in PROJECT["optional-dependencies"][name]
        ]
        known = base | modules({name_of(one) for one in extras}) | sys.stdlib_module_names | {"coterie"}
        known |= BROUGHT.get(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {name.partition(".")[0] for name in names} <= known, (path, names)


@pytest.mark.process
def test_every_command_works_without_extras_or_says_what_it_needs(tmp_path):
    wheel = tmp_path / "site"
    build = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        wheel,
    ]
    subprocess.run([*build, ROOT], check=True, cwd=tmp_path)
    texts = tmp_path / "texts.csv"
    words = ("late parcel depot courier", "refund card invoice tax", "password login code email")
    texts.write_text(
        "text,team\n" + "".join(f"{words[n % 3]} {words[n % 3].split()[n % 4]},{n % 3}\n" for n in range(60))
    )
    run, file = str(tmp_path / "run"), str(texts)
    work = [
        ["fit", file, "--text", "text", "--topics", "3", "--out", run],
        *(["fit", file, "--text", "text", "--topics", "3", "--out", f"{run}-{method}", "--method", method]
          for method in ("nmf", "nmf-ncut", "spherical-kmeans")),
        ["topics", run, "--by", "team"],
        ["assign", run, file, "--out", str(tmp_path / "assigned.csv")],
        ["edit", "rename", run, "0", "Deliveries"],
        ["edit", "merge", run, "0", "1"],
        ["edit", "undo", run],
        ["edit", "log", run],
        ["evaluate", run, "--class-column", "team"],
        ["compare", file, "--text", "text", "--topics", "3", "--method", "coterie", "--method", "nmf"],
        ["weights", file, "--text", "text"],
        ["data", "list"],
        ["data", "path", "sample"],
        ["demo", "--out", str(tmp_path / "demo")],
    ]  # fmt: skip
    lacking = {
        "explore": ["explore", run, "--no-browser"],
        "xlsx": ["assign", run, file, "--out", str(tmp_path / "assigned.xlsx")],
        "lda": ["fit", file, "--text", "text", "--out", f"{run}-lda", "--method", "lda", "--topics", "3"],
    }
    base = closure(PROJECT["dependencies"])
    blocked = sorted({*installed()} - modules(base) - {"coterie"})
    assert {"fastapi", "tomotopy", "python_calamine", "pandas"} <= {*blocked}
    asked = json.dumps([blocked, str(wheel), [*work, *lacking.values()]])
    done = subprocess.run(
        [sys.executable, "-I", "-c", COMMANDS, asked],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(arguments, code) for arguments, code, _ in ended[: len(work)]] == [(one, 0) for one in work]
    for (extra, arguments), (ran, code, said) in zip(lacking.items(), ended[len(work) :], strict=True):
        assert (ran, code) == (arguments, 2)
        assert f"coterie[{extra}]" in said
        assert len(said.splitlines()) == 1
