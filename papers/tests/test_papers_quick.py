"""The small version of all papers, by the command: every page comes out whole."""

import re
import subprocess
import sys

import polars as pl
import pytest

from coterie_papers import PAPERS, paper
from coterie_papers.verdicts import Verdict

#: What each page must show, and how many figures.
PARTS = {
    "ncut": (3, ["The method", "Data", "Weights of terms", "Words of topics", "Clusters of titles"]),
    "tnmf": (7, ["The method", "Data", "Vocabulary", "Density", "Clustering", "Classification", "Top words", "Time"]),
    "nystrom": (7, ["The method", "Data", "What is compared", "NMI and time over rank: spherical k-means",
                    "NMI and time over rank: NMF", "NMI and time over the size"]),
    "semantic": (4, ["The method", "Data", "Clusters", "Convergence", "Embeddings", "Words of topics"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory, dataset):
    for name in ("titles", "tweet", "stackoverflow", "reddit", "wordnet", "classic4", "reuters4", "ng20"):
        dataset(name)
    out = tmp_path_factory.mktemp("papers")
    command = [sys.executable, "-m", "coterie", "reproduce", "all", "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(PAPERS)
    return out


@pytest.mark.parametrize("name", PAPERS)
def test_the_small_version_gives_the_whole_page(folder, name):
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    n_figures, parts = PARTS[name]
    for part in [*parts, "What holds", "What came after"]:
        assert re.search(rf"^## {part}", text, re.MULTILINE), part
    figures = re.findall(rf"!\[.+\]\(({name}/[\w-]+\.svg)\)", text)
    assert len(figures) == n_figures
    for figure in figures:
        assert (folder / figure).stat().st_size > 5000
        assert (folder / figure).with_suffix(".png").stat().st_size > 5000
    assert not {"nan", "NaN", "None", "inf"} & set(re.split(r"[\s|,;()]+", text))
    verdicts = re.findall(rf"\| \*\*({'|'.join(Verdict)})\*\*: .+ \|$", text, re.MULTILINE)
    assert len(verdicts) > 8
    assert "small version" in text


@pytest.mark.parametrize("name", PAPERS)
def test_raw_numbers_are_those_of_all_trials(folder, name):
    n_trials = len(set(paper(name).trials(quick=True)))
    for table in (
        pl.read_parquet(folder / name / "results.parquet"),
        pl.read_csv(folder / name / "results.csv"),
    ):
        assert len(table) == n_trials


def test_the_published_titles_are_the_papers_to_the_last_word(folder):
    text = (folder / "tnmf.md").read_text(encoding="utf-8")
    said = re.search(r"^\| Title, paper \| (.*)$", text, re.MULTILINE)[1]
    assert said in text.split("titles, here")[1]
