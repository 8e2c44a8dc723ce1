"""The notebooks of examples/: made from their cells, small, and still running."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "scripts" / "notebooks").glob("*.py"))


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import make_notebooks

    yield make_notebooks
    sys.modules.pop("make_notebooks")


def test_there_is_a_notebook_for_each_script():
    assert NAMES
    assert sorted(path.stem for path in (ROOT / "examples").glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_that_of_its_cells_and_small(script, name):
    path = ROOT / "examples" / f"{name}.ipynb"
    kept = json.loads(path.read_text(encoding="utf-8"))
    source = (ROOT / "scripts" / "notebooks" / f"{name}.py").read_text(encoding="utf-8")
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in kept["cells"]] == script.cells(source)
    assert path.stat().st_size <= script.MOST_BYTES
    outputs = [output for cell in kept["cells"] for output in cell.get("outputs", ())]
    assert {output["output_type"] for output in outputs} <= {
        "execute_result",
        "display_data",
    }  # no error, no warning
    assert sum("image/svg+xml" in output["data"] for output in outputs) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_a_notebook_run(script, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    source = (ROOT / "scripts" / "notebooks" / f"{name}.py").read_text(encoding="utf-8")
    for kind, text in script.cells(source):
        if kind == "code":
            exec(compile(text, name, "exec"), names)


@pytest.mark.process
def test_a_notebook_shows_a_bar_while_it_fits_and_the_model_afterwards(script, tmp_path):
    from nbclient import NotebookClient

    made = script.notebook(
        "# %%\n"
        "from coterie import TopicModel\n"
        "from coterie.progress import display\n"
        "display.PATIENCE = 0\n"
        "display._REFRESHES = 1e9\n"
        "TopicModel(n_topics=2).fit(['late parcel', 'parcel lost', 'card refund', 'refund card money'] * 5)\n"
    )
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    bar, shown = made.cells[0].outputs
    assert bar.data["text/html"] == ""  # it is gone
    assert "2 topics in 20 texts" in shown.data["image/svg+xml"]
    assert "coterie-figure" in shown.data["text/html"]
    assert [output.output_type for output in script.tidied(made).cells[0].outputs] == ["execute_result"]
