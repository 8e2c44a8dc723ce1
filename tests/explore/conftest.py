import shutil

import polars as pl
import pytest
from explore_live import fresh, live, served, show, teams, twenty  # noqa: F401  fixtures of the pages in a browser
from explore_runs import client_of, make_run, write_texts

from coterie import datasets
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.topics import TopicModel


@pytest.fixture(scope="session")
def fitted(once, tmp_path_factory):
    """A folder with one run of made-up texts in it, to be copied or only read."""
    made = once("fitted", lambda folder: make_run(folder / "run", write_texts(folder / "texts.csv")))
    return shutil.copytree(made, tmp_path_factory.mktemp("fitted"), dirs_exist_ok=True)


@pytest.fixture
def folder(fitted, tmp_path):
    """A folder with one run in it, which may be changed."""
    shutil.copytree(fitted / "run", tmp_path / "runs" / "run")
    return tmp_path / "runs"


@pytest.fixture
def client(folder):
    with client_of(folder) as found:
        yield found


@pytest.fixture(scope="session")
def sample(once, tmp_path_factory):
    """A folder with one run of real texts in it, to be copied or only read."""

    def fit(folder):
        pl.read_csv(datasets.SAMPLE_FILE).head(300).write_csv(folder / "sample.csv")
        source = read_texts(folder / "sample.csv", "text")
        fit_run(
            source, folder / "runs" / "sample", TopicModel(6), date="date", class_column="category", edits=()
        )

    made = once("sample", fit)
    return shutil.copytree(made, tmp_path_factory.mktemp("sample"), dirs_exist_ok=True) / "runs"


@pytest.fixture(scope="session")
def reader(fitted):
    """A client for requests that change nothing."""
    with client_of(fitted) as found:
        yield found
