"""What `make fuzz` does with targets that fail, die or take too long."""

import pytest

import fuzz_rounds

TARGET = """
import os, pytest, time
@pytest.fixture
def tried():
    yield
    with open(os.environ["COTERIE_FUZZ_COUNTS"], "a") as file:
        file.write("21\\n")
@pytest.mark.fuzz
def test_one(tried):
    pass
@pytest.mark.fuzz
def test_two(tried):
    {work}
"""
pytestmark = pytest.mark.process


@pytest.fixture
def tried_with(tmp_path, monkeypatch):
    def row(work, seconds=120):
        (tmp_path / "test_target.py").write_text(TARGET.format(work=work))
        monkeypatch.setattr(
            fuzz_rounds, "SURFACES", {"one": ("a surface", [str(tmp_path / "test_target.py")])}
        )
        found = fuzz_rounds.Row()
        fuzz_rounds.run_target("one", 7, 2.0, seconds, found)
        return found

    return row


@pytest.mark.parametrize(
    "work", ["assert os.environ['COTERIE_FUZZ'] == '1'", "os.abort()"], ids=["fails", "dies"]
)
def test_a_failure_is_told_with_the_command_that_repeats_it(tried_with, work):
    found = tried_with(work)
    assert (found.tried, found.seeds) == (21 if "abort" in work else 42, [7])
    [failure] = found.failures
    assert failure.startswith("COTERIE_FUZZ_SEED=7 COTERIE_FUZZ=2 .venv/bin/python -m pytest -m fuzz ")
    assert "test_target" in failure


def test_a_target_that_the_end_of_the_time_interrupts_has_not_failed(tried_with):
    assert tried_with("time.sleep(600)", seconds=5).failures == []


def test_the_table_keeps_what_was_not_tried_this_time(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{fuzz_rounds.BEGIN}\n{fuzz_rounds.END}\n\nafter\n")
    monkeypatch.setattr(fuzz_rounds, "PAGE", page)
    fuzz_rounds.write({"api": fuzz_rounds.Row(1_000, [3, 4, 5])})
    fuzz_rounds.write({"readers": fuzz_rounds.Row(20, [8], ["a command"])})
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| damaged files of every format | 20 | 1 | 8 |" in text
    assert "| requests to the live page | 1,000 | 0 | 3–5 |" in text
    assert text.count("| surface |") == 1
