"""Write the notebooks of examples/ from the cells in scripts/notebooks, executed, with their outputs.

    python scripts/make_notebooks.py [tickets embeddings …]

Cells begin with ``# %%``, those of text with ``# %% [markdown]``.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
#: A notebook that is larger is not looked at on the web.
MOST_BYTES = 300_000


def cells(source: str) -> list[tuple[str, str]]:
    """Kind and content of each cell."""
    found = []
    for part in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        text = body.strip("\n")
        if "[markdown]" in head:
            found.append(("markdown", re.sub(r"^# ?", "", text, flags=re.MULTILINE)))
        else:
            found.append(("code", text))
    return found


def notebook(source: str) -> nbformat.NotebookNode:
    """The notebook, not executed."""
    made = nbformat.v4.new_notebook()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}})
    for number, (kind, text) in enumerate(cells(source)):
        cell = nbformat.v4.new_markdown_cell(text) if kind == "markdown" else nbformat.v4.new_code_cell(text)
        cell.id = f"cell-{number}"
        made.cells.append(cell)
    return made


def tidied(made: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what differs between two runs, and with one form of each picture: the one that is shown everywhere."""
    made.metadata.language_info = nbformat.from_dict({"name": "python"})  # not which version
    for cell in made.cells:
        cell.metadata = {}
        kept = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                data.pop("text/html", None)
            if (
                output.get("output_type") != "display_data" or data.get("text/html") != ""
            ):  # a bar that is gone
                kept.append(output)
        if cell.cell_type == "code":
            cell.outputs = kept
    return made


def main() -> None:
    """Write all notebooks, or those that are named."""
    EXAMPLES.mkdir(exist_ok=True)
    names = sys.argv[1:] or sorted(path.stem for path in (HERE / "notebooks").glob("*.py"))
    for name in names:
        made = notebook((HERE / "notebooks" / f"{name}.py").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:  # what the notebook saves is not kept
            client = NotebookClient(made, timeout=600, resources={"metadata": {"path": folder}})
            client.execute()
        text = nbformat.writes(tidied(made)) + "\n"
        if len(text.encode()) > MOST_BYTES:
            raise SystemExit(f"{name}.ipynb would have {len(text.encode()):,} bytes: show less in it")
        (EXAMPLES / f"{name}.ipynb").write_text(text, encoding="utf-8")
        print(f"{name}.ipynb: {len(made.cells)} cells, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
