"""`coterie evaluate --stability`: what is said is recorded, shown in the report, and forgotten with the topics."""

import json
import random
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from coterie import open_run
from coterie.cli import main
from coterie.report.page import content_of
from coterie.runs import edit_run, verify
from coterie.topics.stability import stability

SUBJECTS = (
    "parcel late courier driver tracking delivery missing street",
    "refund money card charged invoice twice payment bank",
    "password login account email reset locked code phone",
)


def coterie(*typed, code=0):
    done = CliRunner(env={"COLUMNS": "160"}).invoke(main, [*map(str, typed)])
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture
def run(tmp_path):
    draw = random.Random(0)
    lines = [" ".join(draw.sample(SUBJECTS[number % 3].split(), 4)) for number in range(120)]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    coterie("fit", tmp_path / "texts.txt", "--format", "lines", "--topics", 3, "--out", tmp_path / "run")
    return tmp_path / "run"


def shown(run):
    topics = content_of((run / "report.html").read_text(encoding="utf-8"))["topics"]
    return [topic.get("stability") for topic in topics]


def test_stability_is_recorded_until_the_topics_change(run):
    before = json.loads((run / "run.json").read_text())
    assert shown(run) == [None] * 3
    said = json.loads(coterie("evaluate", run, "--stability", "--runs", 2, "--json"))["stability"]
    assert said == json.loads(json.dumps(asdict(stability(open_run(run).with_texts(), 2))))
    record = json.loads((run / "run.json").read_text())
    without_labels = [{k: v for k, v in one.items() if k != "label"} for one in said["topics"]]
    assert record["stability"] == {**said, "topics": without_labels}
    assert {k: v for k, v in record.items() if k not in ("stability", "files")} == {
        k: v for k, v in before.items() if k != "files"
    }
    changed = {name for name in record["files"] if record["files"][name] != before["files"].get(name)}
    assert changed == {"report.html"}
    assert shown(run) == [[1.0, "found in 2 of 2 fits with other random states"]] * 3
    assert verify(run).identical

    coterie("edit", "rename", run, 0, "Parcels")
    assert "stability" in json.loads((run / "run.json").read_text())
    assert shown(run) == [[1.0, "found in 2 of 2 fits with other random states"]] * 3
    edit_run(run, lambda model: model.edits.merge(0, 1))
    assert "stability" not in json.loads((run / "run.json").read_text())
    assert shown(run) == [None] * 2


def test_the_table_says_how_often_each_topic_was_found(run):
    said = coterie("evaluate", run, "--stability", "--runs", 1)
    assert "mean ARI 1.000 with 1 other fit" in said
    assert said.count("1 of 1") == 3


def test_a_report_that_was_moved_is_not_made_again(run):
    (run / "report.html").unlink()
    coterie("evaluate", run, "--stability", "--runs", 1)
    assert not (run / "report.html").exists()
    assert open_run(run).info["stability"]["runs"] == 1


def test_a_run_that_is_replaced_meanwhile_is_left_alone(run, monkeypatch):
    from coterie.runs import stability as recording

    def slow(model, runs):
        edit_run(run, lambda model: model.edits.merge(0, 1))
        return stability(model, runs)

    monkeypatch.setattr(recording, "stability", slow)
    coterie("evaluate", run, "--stability", "--runs", 1, code=2)
    assert "stability" not in json.loads((run / "run.json").read_text())
