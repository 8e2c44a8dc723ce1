"""A run computed again: identical where nothing changed, and the first step that differs where something did."""

import json
import os
import random
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie import TopicModel, Vectorizer
from coterie.cluster import Coterie
from coterie.errors import InputError
from coterie.runs import edit_run, fit_run, verify
from coterie.runs.origin import path_beside
from coterie.runs.record import read_record
from coterie.runs.steps import OF_FIT, STEPS, AssignmentsDigest, counts_digest, digest
from coterie.storage.files import checksum
from coterie.text import read_texts
from typed import typed

POOLS = {
    "delivery": "parcel late courier driver tracking delivery missing street",
    "payment": "refund money card charged invoice twice payment bank",
    "account": "password login account email reset locked code phone",
}


def rows(n_texts=120, seed=0):
    drawn = random.Random(seed)
    teams = [list(POOLS)[i % len(POOLS)] for i in range(n_texts)]
    return pl.DataFrame(
        {
            "id": [str(i) for i in range(n_texts)],
            "day": [f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(n_texts)],
            "subject": [" ".join(["my", *drawn.sample(POOLS[team].split(), 4)]) for team in teams],
            "team": teams,
        }
    )


def made_in(folder, model=None, table=None, **given):
    (table if table is not None else rows()).write_csv(folder / "tickets.csv")
    fit_run(read_texts(folder / "tickets.csv", "subject"), folder / "run", model or TopicModel(3), **given)
    return folder / "run"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a run that nobody changes, beside its source."""
    folder = tmp_path_factory.mktemp("verify")
    made_in(folder)
    return folder


@pytest.fixture
def run(made, tmp_path):
    """A copy of both, of which the record knows no other."""
    run = Path(shutil.copytree(made, tmp_path / "copy")) / "run"
    rewrite(run, lambda info: info["data"].update(source="tickets.csv"))
    return run


def same(found):
    return {step.name: step.same for step in found.steps}


def said(found, name):
    return next(step.about for step in found.steps if step.name == name)


def rewrite(run, change):
    """Change what run.json says."""
    info = json.loads((run / "run.json").read_text())
    change(info)
    (run / "run.json").write_text(json.dumps(info))


def forge(run, name):
    """Let run.json have the checksum of a file as it is now."""
    path = run / name
    found = {"bytes": path.stat().st_size, "sha256": checksum(path)}
    rewrite(run, lambda info: info["files"].update({name: found}))


# --- identical


def test_a_run_is_identical_and_nothing_in_it_changes(run):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    found = verify(run)
    assert found.identical
    assert found.first is None
    assert found.notes == ()
    assert list(same(found)) == ["files", *(name for name in STEPS if name != "embeddings")]
    assert set(same(found).values()) == {True}
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert str(found).splitlines()[0] == "files: identical"


def test_run_and_source_are_found_when_they_move_together(run, tmp_path, monkeypatch):
    moved = Path(shutil.move(run.parent, tmp_path / "elsewhere"))
    monkeypatch.chdir("/")
    assert verify(moved / "run").identical
    assert verify(moved / "run").source == str(moved / "tickets.csv")


def test_a_path_elsewhere_is_absolute(tmp_path):
    assert path_beside(tmp_path / "tickets.csv", tmp_path / "run") == "../tickets.csv"
    assert path_beside(tmp_path / "data" / "tickets.csv", tmp_path / "run") == "../data/tickets.csv"
    assert path_beside(tmp_path / "tickets.csv", tmp_path / "runs" / "run") == str(tmp_path / "tickets.csv")
    assert path_beside(os.fsdecode(b"/tmp/\xff.csv"), tmp_path / "run") is None


def write(table, path, kind):
    if kind == "csv":
        table.write_csv(path, separator=";")
    elif kind == "latin-1":
        path.write_bytes(("sübject\n" + "\n".join(f"{t} über" for t in table["subject"])).encode("latin-1"))
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, table.to_dicts())))
    elif kind == "parquet":
        table.write_parquet(path)
    elif kind == "tokens":
        table.with_columns(pl.col("subject").str.split(" ")).write_parquet(path)
    elif kind == "xlsx":
        table.write_excel(path)
    else:
        path.write_text("\n".join(table["subject"]))


SUFFIXES = {"latin-1": "csv", "lines": "txt", "tokens": "parquet"}
PARAMETERS = {
    "plain": {},
    "estimated": {"n_topics": "auto"},
    "predefined": {"predefined": {"billing": ["invoice", "refund"], "delivery": "a parcel is late"}},
    "vectorizer": {"vectorizer": Vectorizer(min_df=1, ngrams=2, extra_stop_words={"twice"}, drop=())},
    "boilerplate": {"keep_boilerplate": True},
    "nmf": {"method": "nmf-ncut"},
    "estimator": {"method": Coterie(3, refine=False)},
    "static": {"embeddings": "static"},
    "languages": {"language": ["english", "german"]},
}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    n_texts=st.integers(40, 90),
    kind=st.sampled_from(["csv", "latin-1", "jsonl", "parquet", "tokens", "xlsx", "lines"]),
    which=st.sampled_from(sorted(PARAMETERS)),
    random_state=st.integers(0, 3),
    batch_rows=st.sampled_from([7, 20_000]),
    edits=st.lists(st.sampled_from(["rename", "merge", "split", "ban", "pin", "undo"]), max_size=4),
    refit=st.booleans(),
)
def test_whatever_is_fitted_and_edited_is_identical(
    tmp_path_factory, seed, n_texts, kind, which, random_state, batch_rows, edits, refit
):
    folder = tmp_path_factory.mktemp("any")
    path = folder / f"tickets.{SUFFIXES.get(kind, kind)}"
    write(rows(n_texts, seed), path, kind)
    model = TopicModel(**{"n_topics": 3, "random_state": random_state, **PARAMETERS[which]})
    column = {"latin-1": "sübject", "lines": None}.get(kind, "subject")
    columns = {} if kind in ("latin-1", "lines") else {"date": "day", "class_column": "team"}
    run = fit_run(read_texts(path, column, batch_rows=batch_rows), folder / "run", model, **columns).folder
    for edit in edits:
        edit_run(run, lambda model, edit=edit: CHANGES[edit](model))
    if refit:  # bans of the log are known to this fit
        fit_run(read_texts(path, column), run, model, **columns)
    found = verify(run)
    assert found.identical, str(found)


CHANGES = {
    "rename": lambda model: model.edits.rename(model.topics[0].id, f"Called {len(model.edits)}"),
    "merge": lambda model: len(model) > 1 and model.edits.merge(model.topics[0].id, model.topics[1].id),
    "split": lambda model: model.edits.split(model.topics[0].id),
    "ban": lambda model: model.edits.ban(model.topics[0].terms[0]),
    "pin": lambda model: model.edits.pin(model.topics[0].examples[0], model.topics[-1].id),
    "undo": lambda model: len(model.edits) and model.edits.undo(),
}


def test_a_ban_after_the_fit_is_not_one_before_it(run):
    edit_run(run, lambda model: model.edits.ban("parcel"))
    assert verify(run).identical
    fit_run(read_texts(run.parent / "tickets.csv", "subject"), run, TopicModel(3))
    assert verify(run).identical
    edit_run(run, lambda model: model.edits.undo())  # the topics were learned without the term
    assert read_record(run)["fit"]["edits"]
    assert verify(run).identical
    rewrite(run, lambda info: info["fit"].update(edits=[]))
    assert verify(run).first.name in ("vectors", "topics")


def test_a_model_saved_in_python_is_computed_from_its_own_texts(tmp_path):
    table = rows()
    TopicModel(3, random_state=2).fit(table, text="subject", date="day").save(tmp_path / "run")
    found = verify(tmp_path / "run")
    assert found.identical
    assert "those kept in the run" in found.notes[0]
    table.write_csv(tmp_path / "tickets.csv")
    TopicModel(3).fit(read_texts(tmp_path / "tickets.csv", "subject")).save(tmp_path / "of-file")
    found = verify(tmp_path / "of-file")
    assert found.identical
    assert found.source == str(tmp_path / "tickets.csv")


def in_three_files(folder, table):
    """A table in files of a folder for each team."""
    for team, part in table.group_by("team", maintain_order=True):
        below = folder / f"shop={team[0]}"
        below.mkdir(parents=True)
        part.drop("team").write_csv(below / "tickets.csv")


@pytest.mark.parametrize("asked", ["shops/**/*.csv", "shops", ["shops/shop=delivery", "shops/shop=payment"]])
def test_many_files_are_read_again(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    in_three_files(tmp_path / "shops", rows())
    fit_run(read_texts(asked, "subject"), "run", TopicModel(3))
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(tmp_path / "shops", moved)
    shutil.move(tmp_path / "run", moved)
    monkeypatch.chdir("/")
    found = verify(moved / "run")
    assert found.identical, str(found)
    assert not any("kept in the run" in note for note in found.notes)
    assert "shop" in found.source


def test_one_of_many_files_that_changed_or_is_gone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_three_files(tmp_path / "shops", rows())
    parts = sorted((tmp_path / "shops").glob("*/*.csv"))
    fit_run(read_texts(parts, "subject"), "run", TopicModel(3))
    assert verify("run").identical
    parts[1].write_text(parts[1].read_text().replace("my", "our", 1))
    assert verify("run").first.name == "texts"
    parts[1].unlink()
    with pytest.raises(InputError, match=r"the source of run, .*tickets\.csv, is not there any more"):
        verify("run")
    (tmp_path / "whole").mkdir()
    rows().sort("team", maintain_order=True).write_csv(tmp_path / "whole" / "all.csv")
    with pytest.raises(InputError, match="not there any more"):
        verify("run", source="nowhere/*.csv")


def embeddings_of(table):
    rng = np.random.default_rng(0)
    centers = {team: rng.standard_normal(12) for team in POOLS}
    return np.array([centers[t] + 0.3 * rng.standard_normal(12) for t in table["team"]], dtype=np.float32)


def test_embeddings_of_a_file_are_read_again_or_taken_from_the_run(tmp_path):
    table = rows()
    table.write_csv(tmp_path / "tickets.csv")
    np.save(tmp_path / "vectors.npy", embeddings_of(table))
    line = "coterie fit tickets.csv --text subject --topics 3 --embeddings vectors.npy --out run"
    assert typed(line, tmp_path).code == 0
    run = tmp_path / "run"
    found = verify(run)
    assert found.identical
    assert same(found)["embeddings"] is True
    np.save(tmp_path / "vectors.npy", embeddings_of(table) + np.float32(0.25))
    found = verify(run)
    assert found.first.name == "embeddings"
    assert "largest difference is 0.25" in found.first.about
    (tmp_path / "vectors.npy").unlink()
    found = verify(run)
    assert found.identical
    assert "vectors.npy are gone" in found.notes[0]
    TopicModel(3).fit(table, text="subject", embeddings=embeddings_of(table)).save(tmp_path / "saved")
    assert verify(tmp_path / "saved").identical


# --- different


def test_one_byte_of_the_source(run):
    source = run.parent / "tickets.csv"
    lines = source.read_text().splitlines()
    lines[18] = lines[18].replace("my ", "mx ")
    source.write_text("\n".join(lines))
    found = verify(run)
    assert found.first.name == "texts"
    assert found.first.about == "another text in 1 of 120 rows (the first is row 18)"
    lines[18] = lines[18].replace("mx ", "my ")
    source.write_text("\n".join(lines))
    assert verify(run).identical


def test_a_row_more(run):
    with (run.parent / "tickets.csv").open("a") as file:
        file.write("200,2025-01-01,my parcel is late,delivery\n")
    found = verify(run)
    assert found.first.name == "texts"
    assert found.first.about == "121 texts instead of 120"
    assert "with another count" in said(found, "counts")


def test_rows_in_another_order_have_the_same_topics(run):
    table = rows()
    table[::-1].write_csv(run.parent / "tickets.csv")
    found = verify(run)
    assert found.first.name == "texts"
    assert found.first.about.startswith("the same texts in another order in ")
    unchanged = {"files", "counts", "vectors", "topics", "described", "labels"}
    assert {name for name, equal in same(found).items() if equal} == unchanged
    assert said(found, "assignments") == "the same for every text, which are in another order"


@pytest.mark.parametrize(
    ("name", "value", "first"),
    [("n_topics", 4, "topics"), ("language", "german", "counts"), ("vectorizer", {"min_df": 18}, "counts")],
)
def test_one_parameter_of_the_record(run, name, value, first):
    rewrite(run, lambda info: info["parameters"].update({name: value}))
    found = verify(run)
    assert found.first.name == "files"
    assert f"run.json says {name}=" in found.first.about
    assert next(step.name for step in found.steps[1:] if not step.same) == first
    assert same(found)["texts"] is True


def test_another_number_of_topics_is_said(run):
    rewrite(run, lambda info: info["parameters"].update(n_topics=4))
    assert said(verify(run), "topics") == "4 topics instead of 3"


def test_another_random_state(tmp_path):
    words = " ".join(POOLS.values()).split()  # at random: there is nothing to find
    texts = [" ".join(["my", *random.Random(i).choices(words, k=4)]) for i in range(200)]
    run = made_in(tmp_path, TopicModel(5), pl.DataFrame({"subject": texts, "id": texts}))
    assert verify(run).identical
    rewrite(run, lambda info: info["parameters"].update(random_state=1))
    found = verify(run)
    assert same(found)["counts"] is True
    assert next(step.name for step in found.steps[1:] if not step.same) == "topics"
    assert "another topic for" in said(found, "assignments")


def test_one_number_of_the_model(run):
    path = run / "model" / "arrays.safetensors"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    found = verify(run)
    assert found.first.name == "files"
    assert "model/arrays.safetensors does not have the checksum" in found.first.about
    assert {name for name, equal in same(found).items() if not equal} == {"files"}


def change_assignment(run):
    table = pl.read_parquet(run / "assignments.parquet")
    topic = table["topic"].to_list()
    topic[7] = (topic[7] + 1) % 3
    table.with_columns(pl.Series("topic", topic)).write_parquet(run / "assignments.parquet")


def test_one_assignment_with_and_without_its_checksum(run):
    change_assignment(run)
    found = verify(run)
    assert found.first.name == "files"
    assert "assignments.parquet" in found.first.about
    forge(run, "assignments.parquet")
    found = verify(run)
    assert found.first.name == "assignments"
    assert found.first.about == "another topic for 1 of 120 texts (0.83%)"


def test_a_forged_digest(run):
    rewrite(run, lambda info: info["steps"].update(vectors="0" * 64))
    assert verify(run).first.name == "vectors"


def test_a_label_that_no_edit_gave(run):
    edit_run(run, lambda model: model.edits.rename(0, "Parcels"))
    assert verify(run).identical
    log = json.loads((run / "edits.json").read_text())
    log["edits"][0]["label"] = "Letters"
    (run / "edits.json").write_text(json.dumps(log))
    forge(run, "edits.json")
    found = verify(run)
    assert found.first.name == "labels"
    assert "'Letters' instead of 'Parcels'" in found.first.about


# --- what is not as it was


def test_versions_and_machine_of_the_fit_are_compared(run):
    def older(info):
        info["fit"]["versions"]["numpy"] = "1.0"
        info["fit"]["machine"]["processor"] = "riscv64"

    rewrite(run, older)
    found = verify(run)
    assert found.identical
    assert f"numpy 1.0 → {np.__version__}" in found.notes[0]
    assert "processor riscv64 → " in found.notes[1]
    assert "last digits" in found.notes[1]


def test_a_source_that_is_gone_is_said_and_can_be_named(run):
    moved = run.parent.parent / "moved.csv"
    shutil.move(run.parent / "tickets.csv", moved)
    with pytest.raises(InputError, match=r"is not there any more \(120 texts, fingerprint [0-9a-f]{12}\)"):
        verify(run)
    assert verify(run, source=moved).identical


def test_a_source_that_cannot_be_fitted_any_more(run):
    (run.parent / "tickets.csv").write_text("id,subject\n1,\n2,\n")
    found = verify(run)
    assert not found.identical
    assert found.first.name == "texts"
    assert found.first.about.startswith("2 texts instead of 120, which cannot be fitted: no usable words")
    assert same(found)["topics"] is None


def test_an_older_run_is_compared_by_what_it_has(run):
    def older(info):
        del info["fit"], info["steps"], info["data"]["reading"]
        info["data"]["source"] = str(run.parent / "tickets.csv")

    rewrite(run, older)
    found = verify(run)
    assert found.identical
    assert "terms alone" in said(found, "counts")
    change_assignment(run)
    forge(run, "assignments.parquet")
    assert verify(run).first.name == "assignments"


def test_what_cannot_be_computed_again_is_one_sentence(tmp_path, run):
    def encode(texts):
        return [[len(text), 1.0] for text in texts]

    TopicModel(3, embeddings=encode).fit(rows()["subject"]).save(tmp_path / "own")
    with pytest.raises(InputError, match="a function or an object as encoder"):
        verify(tmp_path / "own")
    rewrite(run, lambda info: info["data"]["reading"].update({"from": "standard input"}))
    with pytest.raises(InputError, match="standard input, which cannot be read again"):
        verify(run)
    assert verify(run, source=run.parent / "tickets.csv").identical
    rewrite(run, lambda info: info["parameters"].update(random_state=None))
    with pytest.raises(InputError, match="random state None, not a number"):
        verify(run, source=run.parent / "tickets.csv")
    rewrite(run, lambda info: info["parameters"].update(random_state=0, method={"class": "Popen"}))
    with pytest.raises(InputError, match=r"parameters in .* cannot be used"):
        verify(run, source=run.parent / "tickets.csv")


# --- the command


def test_the_command_says_it_in_lines_and_exit_codes(run):
    folder = run.parent
    done = typed("coterie verify run", folder)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "Identical."
    (folder / "tickets.csv").write_text((folder / "tickets.csv").read_text().replace("my ", "our ", 1))
    done = typed("coterie verify run", folder)
    assert done.code == 1
    assert "  texts        differs: another text in 1 of 120 rows (the first is row 1)" in done.out
    assert done.out.splitlines()[-1] == "Differs from texts on."
    done = typed("coterie verify run --json", folder)
    assert done.code == 1
    found = json.loads(done.out)
    assert (found["identical"], found["first"]) == (False, "texts")
    assert [step["step"] for step in found["steps"]][:2] == ["files", "texts"]
    (folder / "tickets.csv").unlink()
    done = typed("coterie verify run", folder)
    assert done.code == 2
    assert "--source FILE says where it is now" in done.err
    assert typed("coterie verify nowhere", folder).code == 2


def test_standard_input_is_recorded_as_such(tmp_path):
    rows().select("subject").write_csv(tmp_path / "texts.csv")
    done = typed("coterie fit - --topics 3 --out run < texts.csv", tmp_path)
    assert done.code == 0, done.err
    done = typed("coterie verify run", tmp_path)
    assert done.code == 2
    assert "standard input" in done.err
    assert typed("coterie verify run --source texts.csv", tmp_path).code == 0


# --- digests


def test_different_values_have_different_digests():
    values = [
        [], [[]], "", None, 0, 0.0, -0.0, False, "0", [0], ["0"], ["a", "b"], ["ab", ""], {"a": 1}, {"a": "1"},
        np.zeros(2), np.zeros(3), np.zeros((1, 2)), np.zeros(2, dtype=np.float32), np.zeros(2, dtype=int),
        np.float32(1).reshape(()), [[1], 2], [1, [2]],
    ]  # fmt: skip
    assert len({digest(value) for value in values}) == len(values)
    turned = np.arange(6.0).reshape(2, 3)
    assert digest(turned) == digest(np.asfortranarray(turned)) == digest(turned.astype(">f8"))


def test_counts_are_digested_by_their_rows_wherever_these_are(tmp_path):
    def of(texts, folder=None):
        return counts_digest(Vectorizer().fit_corpus(pl.Series(texts), folder))

    texts = ["parcel refund", "card login"] * 2 + rows()["subject"].to_list()
    other = ["parcel login", "card refund"] * 2 + rows()["subject"].to_list()  # each term as often
    assert of(texts) == of(texts[::-1]) == of(texts, tmp_path / "blocks")
    assert of(texts) != of(other)


@given(cuts=st.lists(st.integers(0, 30), max_size=5), row=st.integers(0, 29))
def test_the_digest_of_assignments_does_not_depend_on_batches(cuts, row):
    table = pl.DataFrame(
        {
            "topic": [None if i % 7 == 0 else i % 3 for i in range(30)],
            "confidence": np.linspace(0, 1, 30),
            "second": [None if i % 5 == 0 else 1 for i in range(30)],
            "reason": ["ü" * (i % 4 + 1) for i in range(30)],
        }
    )

    def of(parts):
        found = AssignmentsDigest({name: name for name in table.columns})
        for part in parts:
            found.add(part)
        return found.hexdigest()

    edges = [0, *sorted(cuts), 30]
    whole = of([table])
    assert of([table[a:b] for a, b in pairwise(edges)]) == whole
    as_long = pl.col("reason").str.replace("ü", "ö")
    for other in (
        pl.lit(9).alias("topic"),
        pl.lit(2.0).alias("confidence"),
        pl.lit(9).alias("second"),
        as_long,
    ):
        assert of([table[:row], table[row].with_columns(other), table[row + 1 :]]) != whole


def test_edits_keep_the_digests_of_the_fit(run):
    before = read_record(run)["steps"]
    edit_run(run, lambda model: model.edits.merge(0, 1))
    after = read_record(run)["steps"]
    assert {name for name in before if before[name] != after[name]} == {"described", "labels", "assignments"}
    assert set(OF_FIT) - {"embeddings"} <= set(after)
