"""The package as a guest: light, quiet, and as small as it says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]


def run(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    assert out.stderr == ""
    return out.stdout


def test_importing_loads_nothing_heavy():
    code = "import sys, json, coterie; print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    loaded = set(json.loads(run(code)))
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "torch", "numba", "pandas", "rich", "click"}


@pytest.mark.slow
def test_using_it_never_needs_torch_numba_or_pandas(tmp_path):
    code = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "numba", "pandas", "gensim", "tomotopy", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from coterie import TopicModel
import coterie.semantics, coterie.metrics, coterie.report, coterie.runs
texts = ["late parcel", "refund card", "late refund", "parcel card"] * 3
TopicModel(2).fit(texts).save({str(tmp_path / "model")!r})
print(len(TopicModel.load({str(tmp_path / "model")!r}).assign(texts)))
"""
    assert run(code).strip() == "12"


#: Imports every module there is; one that needs an extra which is not installed is left out.
_IMPORT_ALL = """
import importlib, pkgutil, coterie
for module in pkgutil.walk_packages(coterie.__path__, "coterie."):
    if module.name != "coterie.__main__":
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name.startswith("coterie"):
                raise
"""


@pytest.mark.slow
def test_importing_is_silent_and_leaves_the_process_alone():
    # what other packages do when they are imported is theirs: they come first
    others = run(
        _IMPORT_ALL + "import json, sys\n"
        "ours = sys.stdlib_module_names | {'coterie', '__main__'}\n"
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] not in ours]))"
    )
    code = f"""
import contextlib, importlib, locale, logging, os, random, signal, warnings
for name in {json.loads(others)}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
import numpy as np

def state():
    return [
        list(warnings.filters),
        [list(logging.root.handlers), logging.root.level, logging.root.disabled],
        random.getstate(),
        np.random.get_state()[1].tolist(),
        np.geterr(),
        dict(os.environ),
        signal.getsignal(signal.SIGINT),
        locale.setlocale(locale.LC_ALL),
    ]

before = state()
{_IMPORT_ALL}
for was, now in zip(before, state(), strict=True):
    assert was == now, (was, now)
"""
    assert run(code) == ""


def test_every_public_name_exists():
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert set(dir(coterie)) == set(coterie.__all__)
    assert not hasattr(coterie, "no_such_name")


def test_no_module_has_outgrown_a_reader():
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")]:
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 550, file
