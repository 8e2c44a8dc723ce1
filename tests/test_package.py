"""The package as a guest: light, quiet, and as small as it says."""

import json
import subprocess
import sys
from pathlib import Path

import coterie

ROOT = Path(__file__).parents[1]


def run(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return out.stdout


def test_importing_loads_nothing_heavy():
    code = "import sys, json, coterie; print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    loaded = set(json.loads(run(code)))
    assert not loaded & {"numpy", "scipy", "sklearn", "polars", "torch", "numba", "pandas", "rich", "click"}


def test_using_it_never_needs_torch_numba_or_pandas():
    code = (
        "import sys, json; from coterie.corpus import Vectorizer; Vectorizer().fit(['late parcel', 'refund']);"
        "import coterie.semantics, coterie.metrics;"
        "print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    )
    assert not set(json.loads(run(code))) & {"torch", "numba", "gensim", "tomotopy", "matplotlib"}


def test_importing_is_silent_and_leaves_the_process_alone():
    code = (
        "import logging, random, sys, warnings; import numpy as np\n"
        "before = (len(warnings.filters), len(logging.root.handlers), np.random.get_state()[1].tolist())\n"
        "import coterie.text, coterie.corpus.counting, coterie.semantics, coterie.weights, coterie.metrics, coterie.datasets\n"
        "from coterie.corpus import Vectorizer; import sklearn, polars\n"
        "after = (len(logging.root.handlers), np.random.get_state()[1].tolist())\n"
        "assert before[1:] == after"
    )
    assert run(code) == ""


def test_every_public_name_exists():
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert set(dir(coterie)) == set(coterie.__all__)
    assert not hasattr(coterie, "no_such_name")


def test_no_module_has_outgrown_a_reader():
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")]:
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 550, file
