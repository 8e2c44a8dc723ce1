"""Topics that are named beforehand, from the command line to the run folder."""

import json
import warnings

import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import main
from coterie.explore import worker
from coterie.explore.workspace import version_of
from coterie.runs import open_run

WORDS = {
    "delivery": ["parcel", "late", "courier", "tracking", "doorstep", "depot", "van"],
    "billing": ["invoice", "refund", "charge", "card", "receipt", "payment", "tax"],
    "login": ["password", "account", "reset", "email", "locked", "code", "browser"],
}
KNOWN = {
    "Sea </script>": ["submarine"],
    "Money": {"words": ["invoice"], "description": "refunds and receipts"},
    "Parcels": "where a parcel is, and the courier",
    "Access": {"examples": ["password reset", "account locked"]},
}
TOML = """
"Sea </script>" = ["submarine"]
Parcels = "where a parcel is, and the courier"
[Money]
words = ["invoice"]
description = "refunds and receipts"
[Access]
examples = ["password reset", "account locked"]
"""


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    file = tmp_path_factory.mktemp("tickets") / "tickets.csv"
    lists = list(WORDS.values())
    texts = [
        " ".join(lists[n % 3][(n // 3 + step * (n % 5 + 1)) % 7] for step in range(4)) for n in range(120)
    ]
    pl.DataFrame({"subject": texts}).write_csv(file)
    return file


def fit(tickets, folder, *options, code=0):
    arguments = ["fit", tickets, "--text", "subject", "--embeddings", "none", "--out", folder, *options]
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command shows them
        out = CliRunner().invoke(main, list(map(str, arguments)))
    assert out.exit_code == code, (out.output, out.exception)
    return out


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def listed(folder):
    return [(topic.id, topic.label) for topic in open_run(folder).model.topics]


@pytest.fixture(scope="module")
def run(tickets):
    file = written(tickets.parent / "topics.json", KNOWN)
    out = fit(tickets, tickets.parent / "run", "--predefined", file, "--only-predefined")
    assert "no text belongs to the predefined topic 'Sea </script>'" in " ".join(out.stderr.split())
    return tickets.parent / "run"


def test_only_these_keep_their_order_and_are_all_written(run):
    assert listed(run) == list(enumerate(KNOWN))
    model = open_run(run).model
    assert [topic.size for topic in model.topics] == [0, 40, 40, 40]
    for topic, words in zip(model.topics[1:], ("billing", "delivery", "login"), strict=True):
        assert set(topic.terms) == set(WORDS[words])
    info = json.loads((run / "run.json").read_text())
    assert info["parameters"]["predefined"] == KNOWN
    assert info["parameters"]["n_topics"] == 4
    assert pl.read_csv(run / "topics.csv")["label"].to_list() == list(KNOWN)
    page = (run / "report.html").read_text()
    assert "Money (invoice; refunds and receipts)" in page
    assert "Sea </script>" not in page
    assert "Sea &lt;/script&gt;" in page


def test_a_new_fit_of_the_page_keeps_them(run, tmp_path):
    job = {
        "run": str(run),
        "version": version_of(run),
        "private": str(tmp_path),
        "folder": str(tmp_path / "new"),
    }
    with pytest.warns(UserWarning, match="no text belongs"):
        worker.refit({**job, "topics": 5, "keep_boilerplate": None})
    again = listed(tmp_path / "new")
    assert again[:4] == list(enumerate(KNOWN))
    assert len(again) == 5


def test_edits_find_their_topics_in_the_next_fit(tickets, run, tmp_path):
    folder = tmp_path / "run"
    file = written(tmp_path / "topics.toml", TOML)
    fit(tickets, folder, "--predefined", file, "--only-predefined")
    names = ["Sea </script>", "Parcels", "Money", "Access"]
    assert listed(folder) == list(enumerate(names))
    CliRunner().invoke(main, ["edit", "rename", str(folder), "0", "Ocean"])
    fit(tickets, folder, "--predefined", file, "--topics", 5)
    assert listed(folder)[:4] == [(0, "Ocean"), *list(enumerate(names))[1:]]


def test_seed_words_follow_those_of_the_file(tickets, tmp_path):
    file = written(tmp_path / "topics.json", {"Money": ["invoice"]})
    options = ("--predefined", file, "--seed-words", "Access: password, reset", "--topics", 3)
    fit(tickets, tmp_path / "run", *options)
    assert listed(tmp_path / "run")[:2] == [(0, "Money"), (1, "Access")]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("{", (), "topics.json is not JSON"),
        ("[" * 100_000, (), "topics.json is not JSON"),
        ('{"a": ["x"], "a": ["y"]}', (), "'a' is there twice"),
        ("[]", (), "has no topics"),
        ("{}", (), "has no topics"),
        ({"Money": {"seeds": ["invoice"]}}, (), "it may have words, a description and examples"),
        ({"Money": ["invoice"]}, ("--seed-words", "Money: tax"), "is in --predefined and in --seed-words"),
        ({"Money": ["invoice"]}, ("--only-predefined", "--topics", "3"), "but --topics says 3"),
        ({"Money": ["invoice"], "Tea": None}, ("--topics", "1"), "n_topics must be at least 2"),
        ({"Sea": ["submarine"]}, ("--only-predefined",), "none of the predefined topics has a word"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(tickets, tmp_path, content, options, said):
    file = written(tmp_path / "topics.json", content)
    out = fit(tickets, tmp_path / "run", "--predefined", file, *options, code=2)
    assert said in out.stderr.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["topics.json"]


def test_files_that_cannot_be_read_are_told(tickets, tmp_path):
    said = fit(tickets, tmp_path / "run", "--predefined", tmp_path / "none.json", code=2).stderr
    assert "none.json cannot be read: No such file" in said
    (tmp_path / "latin.toml").write_bytes(b'a = "caf\xe9"')
    said = fit(tickets, tmp_path / "run", "--predefined", tmp_path / "latin.toml", code=2).stderr
    assert "latin.toml is not UTF-8" in said
    assert (
        "is not TOML"
        in fit(tickets, tmp_path / "run", "--predefined", written(tmp_path / "b.toml", "a = "), code=2).stderr
    )
    assert (
        "--only-predefined needs topics" in fit(tickets, tmp_path / "run", "--only-predefined", code=2).stderr
    )
