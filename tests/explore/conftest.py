import shutil

import pytest
from explore_runs import client_of, make_run, write_texts


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    make_run(folder / "run", write_texts(folder / "texts.csv"))
    return folder


@pytest.fixture
def folder(fitted, tmp_path):
    """A folder with one run in it, which may be changed."""
    shutil.copytree(fitted / "run", tmp_path / "runs" / "run")
    return tmp_path / "runs"


@pytest.fixture
def client(folder):
    with client_of(folder) as found:
        yield found
