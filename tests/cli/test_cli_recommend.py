"""`coterie recommend` says what `TopicModel.recommend` says about the texts of two files."""

import json
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from coterie import TopicModel, open_run
from coterie.cli import main

TEXTS = [
    "late parcel courier",
    "parcel lost depot",
    "late courier van",
    "refund card",
    "card refund money",
] * 4
READ, OFFERED = ["late van"], ["refund money", "lost courier \x1b[2J[b]\u202e", "parcel depot"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    TopicModel(2).fit(TEXTS).save(folder / "run")
    for name, texts in (("read", READ), ("offered", OFFERED)):
        rows = [json.dumps({"subject": text, "id": number}) for number, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
    return folder


def coterie(folder, *more, code=0):
    files = ["--history", folder / "read.jsonl", "--candidates", folder / "offered.jsonl"]
    typed = ["recommend", folder / "run", *files, "--text", "subject", *more]
    done = CliRunner(env={"COLUMNS": "160"}).invoke(main, [*map(str, typed)])
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.mark.parametrize("diversity", [0, 0.3, 1])
def test_json_has_what_python_gives(folder, diversity):
    said = json.loads(coterie(folder, "--diversity", diversity, "--top", 2, "--json"))
    found = open_run(folder / "run").model.recommend(READ, OFFERED, 2, diversity=diversity)
    assert said == [asdict(one) for one in found]
    assert said


def test_the_table_shows_texts_without_obeying_them(folder):
    said = coterie(folder)
    assert "parcel depot" in said
    assert "[b]" in said
    assert "refund" not in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_a_diversity_beyond_its_range_is_refused(folder):
    coterie(folder, "--diversity", 2, code=2)
