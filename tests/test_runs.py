"""The run folder: what is written, what is read again, and what is refused."""

import datetime as dt
import hashlib
import json
import os
import shutil
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from coterie import TopicModel, Vectorizer
from coterie.errors import InputError
from coterie.runs import assigned_table, edit_run, edits_of, fit_run, open_run
from coterie.runs.record import ADDED
from coterie.storage.tables import read_csv
from coterie.text import read_texts

POOLS = [
    ["parcel", "courier", "depot", "van"],
    ["refund", "invoice", "card", "tax"],
    ["password", "captcha", "token", "cookie"],
]
FILES = {
    "model",
    "topics.csv",
    "assignments.parquet",
    "assignments.csv",
    "edits.json",
    "run.json",
    "report.html",
    "map.safetensors",
}


def subjects(n_texts=36, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(POOLS[i % 3], 3, replace=False)) for i in range(n_texts)]


TEXTS = [
    *subjects(),
    "",
    "=cmd() parcel van",
    "<script> refund card",
    "-1 token\ncookie",
    'a "quoted, card" tax',
]


def rows():
    return {"id": list(map(str, range(len(TEXTS)))), "subject": TEXTS, "topic": ["mine"] * len(TEXTS)}


def write_csv(path):
    pl.DataFrame(rows()).write_csv(path)


def write_parquet(path):
    pl.DataFrame(rows()).write_parquet(path)


def write_jsonl(path):
    table = pl.DataFrame(rows()).to_dicts()
    path.write_text("\n".join(json.dumps(row) for row in table))


def written(folder, write=write_csv, column="subject", **given):
    """The source of a file of all texts."""
    path = folder / f"tickets.{write.__name__[6:]}"
    write(path)
    return read_texts(path, column, **given)


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that nobody changes."""
    folder = tmp_path_factory.mktemp("runs")
    fit_run(written(folder), folder / "run", TopicModel(n_topics=3), command="coterie fit tickets.csv")
    return folder / "run"


@pytest.fixture
def folder(made, tmp_path):
    """A copy of that run."""
    return Path(shutil.copytree(made, tmp_path / "run"))


# --- what is written


def test_the_folder_holds_what_it_says(made):
    assert {path.name for path in made.iterdir()} == FILES
    info = json.loads((made / "run.json").read_text())
    assert info["format"] == "coterie run"
    assert info["command"] == "coterie fit tickets.csv"
    assert info["data"]["texts"] == len(TEXTS)
    assert info["data"]["column"] == "subject"
    assert info["parameters"]["n_topics"] == 3
    model = {"model/state.json", "model/arrays.safetensors"}
    assert set(info["files"]) == FILES - {"model", "run.json"} | model
    for name, said in info["files"].items():
        content = (made / name).read_bytes()
        assert said == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert not [path for path in made.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
@pytest.mark.parametrize("batch_rows", [7, 20_000])
def test_every_row_comes_back_with_its_topic(tmp_path, write, batch_rows):
    model = TopicModel(n_topics=3)
    run = fit_run(written(tmp_path, write, batch_rows=batch_rows), tmp_path / "run", model)
    plain = TopicModel(n_topics=3).fit(TEXTS)
    assert run.model.topics == plain.topics
    assert run.input().to_dict(as_series=False) == rows()
    answers = plain.assign(TEXTS)
    names = run.columns
    assert names == {name: "coterie_topic" if name == "topic" else name for name in ADDED}
    table = run.table
    assert table[names["topic"]].to_list() == [answer.topic for answer in answers]
    assert table[names["topic"]].fill_null(-1).to_list() == answers.topic.tolist() == model.labels_.tolist()
    assert table[names["topic"]].null_count() == table[names["label"]].null_count() > 0
    assert table[names["label"]].to_list() == [answer.label for answer in answers]
    np.testing.assert_array_equal(table[names["confidence"]].to_numpy(), answers.confidence)
    assert table[names["second"]].to_list() == [answer.second for answer in answers]
    assert table[names["reason"]].to_list() == [str(answer.reason) for answer in answers]
    assert run.texts().to_list() == TEXTS


def test_the_sheets_say_the_same_and_compute_nothing(made):
    run = open_run(made)
    sheet = read_csv(made / "assignments.csv")
    assert sheet["subject"].to_list() == TEXTS
    assert sheet["coterie_topic"].cast(pl.Int64).to_list() == run.table["coterie_topic"].to_list()
    raw = (made / "assignments.csv").read_text()
    assert "'=cmd() parcel van" in raw
    assert ",=cmd()" not in raw
    assert "'-1 token" in raw
    topics = read_csv(made / "topics.csv")
    assert topics["size"].cast(pl.Int64).to_list() == [topic.size for topic in run.model.topics]
    assert topics["terms"].to_list() == [", ".join(topic.terms) for topic in run.model.topics]


def test_all_added_names_may_be_taken(tmp_path):
    names = [*ADDED, "coterie_topic", "coterie_coterie_topic"]
    frame = pl.DataFrame(
        {"subject": TEXTS, **{name: [f"{name} {i}" for i in range(len(TEXTS))] for name in names}}
    )
    frame.write_csv(tmp_path / "tickets.csv")
    run = fit_run(read_texts(tmp_path / "tickets.csv", "subject"), tmp_path / "run", TopicModel(n_topics=3))
    assert run.input().equals(frame)
    assert len(set(run.columns.values()) | set(frame.columns)) == len(frame.columns) + len(ADDED)
    assert run.table[run.columns["topic"]].fill_null(-1).to_list() == run.model.predict(TEXTS).tolist()


def test_the_column_of_texts_may_be_called_topic(tmp_path):
    pl.DataFrame({"topic": TEXTS}).write_csv(tmp_path / "tickets.csv")
    run = fit_run(read_texts(tmp_path / "tickets.csv"), tmp_path / "run", TopicModel(n_topics=3))
    assert run.texts().to_list() == TEXTS
    assert run.with_texts().labels_.tolist() == run.table[run.columns["topic"]].fill_null(-1).to_list()


@pytest.mark.slow
@pytest.mark.parametrize("batch_rows", [500, 20_000])
def test_columns_that_come_late_are_kept(tmp_path, batch_rows):
    """So late that the first batches do not know them."""
    path, texts = tmp_path / "tickets.jsonl", TEXTS * 50
    late = len(texts) - 20
    table = [
        {"subject": text} | ({"late": str(i), "label": "x"} if i > late else {})
        for i, text in enumerate(texts)
    ]
    path.write_text("\n".join(map(json.dumps, table)))
    assert "late" not in next(iter(read_texts(path, "subject", batch_rows=500))).table.columns
    run = fit_run(
        read_texts(path, "subject", batch_rows=batch_rows), tmp_path / "run", TopicModel(n_topics=3)
    )
    assert run.input().columns == ["subject", "late", "label"]
    assert run.table["late"].to_list() == [str(i) if i > late else None for i in range(len(texts))]
    assert run.table["label"].to_list() == ["x" if i > late else None for i in range(len(texts))]
    assert run.columns["label"] == "coterie_label"
    assert run.table["topic"].fill_null(-1).to_list() == TopicModel(n_topics=3).fit(texts).labels_.tolist()


def test_tokenised_texts_stay_tokens(tmp_path):
    lists = [text.split() for text in subjects()] + [[], ["new york", "van"], ["=cmd()", "card"]]
    path = tmp_path / "tickets.jsonl"
    path.write_text("\n".join(json.dumps({"tokens": tokens, "id": i}) for i, tokens in enumerate(lists)))
    run = fit_run(read_texts(path, "tokens"), tmp_path / "run", TopicModel(n_topics=3))
    plain = TopicModel(n_topics=3).fit(lists)
    assert run.model.topics == plain.topics
    assert run.texts().to_list() == lists
    model = run.with_texts()
    assert model.topics == plain.topics
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    model.edits.merge(0, 1)
    assert len(run.save().model.topics) == 2


def test_types_of_columns_are_kept(tmp_path):
    frame = pl.DataFrame(
        {"n": range(len(TEXTS)), "subject": TEXTS, "x": [0.5] * len(TEXTS), "tags": [["a"]] * len(TEXTS)}
    )
    frame.write_parquet(tmp_path / "tickets.parquet")
    run = fit_run(
        read_texts(tmp_path / "tickets.parquet", "subject"), tmp_path / "run", TopicModel(n_topics=3)
    )
    assert run.input().equals(frame)


def odd_columns(folder):
    length = len(TEXTS)
    frame = pl.DataFrame(
        {
            "subject": TEXTS,
            "photo": [b"x"] * length,
            "tags": [["a"]] * length,
            "pair": [{"a": b"x"}] * length,
            "age": [dt.timedelta(days=1)] * length,
        }
    )
    frame.write_parquet(folder / "tickets.parquet")
    return frame, read_texts(folder / "tickets.parquet", "subject")


def test_columns_of_bytes_are_left_out_of_the_csv_file(tmp_path):
    frame, source = odd_columns(tmp_path)
    with pytest.warns(
        UserWarning, match="columns 'photo', 'pair' contain bytes, which are not text: left out"
    ):
        run = fit_run(source, tmp_path / "run", TopicModel(n_topics=3))
    assert run.input().equals(frame)
    assert read_csv(tmp_path / "run" / "assignments.csv").columns == ["subject", "tags", "age", *ADDED]
    run.with_texts().edits.rename(0, "Named")
    assert run.save().input().equals(frame)


@pytest.mark.parametrize("part", ["date", "class_column"])
@pytest.mark.parametrize("name", ["photo", "tags", "pair", "age", "Subject"])
def test_columns_that_cannot_be_dates_or_classes_are_refused_before_learning(
    tmp_path, monkeypatch, part, name
):
    monkeypatch.setattr("coterie.topics.fitting.fit_method", None)
    expected = (
        "has no column 'Subject'; it has .*did you mean 'subject'"
        if name == "Subject"
        else f"'{name}' contains"
    )
    with pytest.raises(InputError, match=expected):
        fit_run(odd_columns(tmp_path)[1], tmp_path / "run", TopicModel(n_topics=3), **{part: name})
    assert not (tmp_path / "run").exists()


def test_a_column_of_json_lines_may_come_late(tmp_path):
    path = tmp_path / "tickets.jsonl"
    lines = [{"subject": text} for text in TEXTS * 3] + [{"subject": TEXTS[0], "when": "2024-05-31"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    source = read_texts(path, "subject", batch_rows=40)
    run = fit_run(source, tmp_path / "run", TopicModel(n_topics=3), date="when")
    assert run.table["when"].null_count() == len(TEXTS) * 3


@pytest.mark.slow
def test_many_columns_take_time_by_their_number_not_its_square(tmp_path):
    path = tmp_path / "wide.csv"
    wide = ["subject", *map(str, range(6_000))]
    path.write_text("\n".join(",".join([text, *wide[1:]]) for text in ["subject", *subjects(6)]))
    begun = time.process_time()
    run = fit_run(read_texts(path, "subject"), tmp_path / "run", TopicModel(n_topics=2))
    assert time.process_time() - begun < 15
    assert run.input().columns == wide


def test_parameters_may_be_numbers_and_arrays_of_numpy(tmp_path):
    model = TopicModel(np.int64(3), predefined={"Post": np.array(["parcel", "van"])})
    run = fit_run(written(tmp_path), tmp_path / "run", model)
    assert run.info["parameters"]["n_topics"] == 3
    assert "parcel" in next(topic.terms for topic in run.model.topics if topic.label == "Post")


def test_warnings_are_given_and_recorded(tmp_path):
    path = tmp_path / "tickets.csv"
    pl.DataFrame({"subject": [*subjects(), *(["xyzzy"] + [f"w{i}" for i in range(19)])]}).write_csv(path)
    model = TopicModel(n_topics=3, predefined={"Post": ["parcel", "submarine"]})
    with pytest.warns(UserWarning, match="texts share no word|words of 'Post'") as told:
        run = fit_run(read_texts(path, "subject"), tmp_path / "run", model)
    said = [str(warning.message) for warning in told]
    assert len(said) == 2
    assert any("submarine" in sentence for sentence in said)
    assert any("20 of 56 texts" in sentence for sentence in said)
    assert sorted(run.info["warnings"]) == sorted(said)


def test_bad_rows_are_counted(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(
        "id,subject\n" + "\n".join(f"{i},{text}" for i, text in enumerate(subjects())) + "\n1,2,3,4\n"
    )
    with pytest.raises(InputError, match="line 38"):
        fit_run(read_texts(path, "subject"), tmp_path / "run", TopicModel(n_topics=3))
    assert not (tmp_path / "run").exists()
    run = fit_run(read_texts(path, "subject", skip_bad=True), tmp_path / "run", TopicModel(n_topics=3))
    assert run.info["data"]["skipped"] == 1
    assert len(run.table) == 36


# --- what is read again


def test_a_run_is_opened_as_it_was_written(made):
    run, plain = open_run(made), TopicModel(n_topics=3).fit(TEXTS)
    assert run.model.topics == plain.topics
    assert list(run.model.assign(TEXTS)) == list(plain.assign(TEXTS))
    assert TopicModel.load(made).topics == plain.topics
    rows_ = pl.DataFrame({"subject": ["my parcel"], "label": ["x"]})
    table = assigned_table(run.model, rows_, rows_["subject"])
    assert table["coterie_label"].to_list() == [answer.label for answer in plain.assign(["my parcel"])]
    assert table["label"].to_list() == ["x"]


def test_texts_come_back_to_the_model(made):
    model, plain = open_run(made).with_texts(), TopicModel(n_topics=3).fit(TEXTS)
    assert model.topics == plain.topics
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.similar("parcel", 4) == plain.similar("parcel", 4)
    classes = ["a", "b"] * (len(TEXTS) // 2) + ["a"] * (len(TEXTS) % 2)
    assert model.by_class(classes).equals(plain.by_class(classes))
    assert str(model.hierarchy()) == str(plain.hierarchy())


def test_edits_are_saved_and_played_again(folder, tmp_path):
    run = open_run(folder)
    model = run.with_texts()
    post = next(topic.id for topic in model.topics if "parcel" in topic.terms)
    login = next(topic.id for topic in model.topics if "token" in topic.terms)
    model.edits.rename(post, "Post =1+1").ban("tax").pin(TEXTS[0], login)
    again = run.save()
    assert {path.name for path in folder.iterdir()} == FILES
    assert again.model.edits == model.edits == edits_of(folder)
    assert again.model.topics == model.topics
    assert again.table["coterie_topic"].fill_null(-1).to_list() == model.labels_.tolist()
    assert again.input().equals(run.input())
    assert again.info["command"] == "coterie fit tickets.csv"
    assert read_csv(folder / "topics.csv")["label"].to_list() == [topic.label for topic in model.topics]
    # undone in the reopened run
    undone = open_run(folder).with_texts()
    undone.edits.undo()
    assert undone.assign([TEXTS[0]])[0].topic == post
    # the next fit, with more texts
    pl.DataFrame({"subject": [*subjects(45, seed=4), TEXTS[0]]}).write_csv(tmp_path / "more.csv")
    new = fit_run(read_texts(tmp_path / "more.csv", "subject"), folder, TopicModel(n_topics=3))
    assert new.model.edits == model.edits
    names = {topic.label: topic for topic in new.model.topics}
    assert "parcel" in names["Post =1+1"].terms
    assert "tax" not in {term for topic in new.model.topics for term in topic.terms}
    assert "token" in {topic.id: topic for topic in new.model.topics}[new.model.predict([TEXTS[0]])[0]].terms
    fresh = fit_run(read_texts(tmp_path / "more.csv", "subject"), folder, TopicModel(n_topics=3), edits=())
    assert fresh.model.edits == ()
    assert edits_of(folder) == ()


def on_the_map(run):
    found = run.map()
    ids = [run.info["topics"][at] for at in found.order]
    return {
        topic: (*found.topics.positions[n], *found.topics.shades[n], found.topics.radii[n])
        for n, topic in enumerate(ids)
    }


def test_edits_move_no_topic_that_stays_and_change_no_colour(folder):
    run = open_run(folder)
    before = on_the_map(run)
    run.with_texts().edits.split(1)
    run = run.save()
    split = on_the_map(run)
    assert {topic: place[:4] for topic, place in split.items() if topic in before} == {
        topic: place[:4] for topic, place in before.items()
    }
    (new,) = set(split) - set(before)
    assert split[new][2:4] not in [place[2:4] for place in before.values()]  # a colour of its own
    assert all(split[new][:2] != place[:2] for topic, place in split.items() if topic != new)
    run.with_texts().edits.merge(0, 2)
    run = run.save()
    assert {topic: place[:4] for topic, place in on_the_map(run).items()} == {
        topic: place[:4] for topic, place in split.items() if topic != 2
    }
    run.with_texts().edits.undo().undo()
    assert on_the_map(run.save()) == before  # what comes back finds its place again


def test_one_date_that_cannot_be_read_is_told_and_the_others_count(tmp_path):
    dates = [f"{1 + i % 28:02}.{1 + i % 3:02}.2024" for i in range(len(TEXTS))]
    dates[3], dates[5], dates[7] = "soon", "n/a", ""
    pl.DataFrame({"subject": TEXTS, "day": dates}).write_csv(tmp_path / "in.csv")
    source = read_texts(tmp_path / "in.csv", "subject")
    with pytest.warns(UserWarning, match=r"1 date in column 'day' .* row 4 of the data has the date 'soon'"):
        run = fit_run(source, tmp_path / "run", TopicModel(3), date="day")
    assert any("soon" in warning for warning in run.info["warnings"])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert '"unit":"' in page  # a timeline was drawn
    assert "dates could not be read:" not in page


def test_texts_in_another_language_are_told(tmp_path):
    texts = [
        f"Das Paket ist nicht da und ich habe schon {word} bezahlt"
        for word in ["zwei", "drei", "vier", "fünf"]
    ]
    pl.DataFrame({"subject": texts * 8}).write_csv(tmp_path / "in.csv")
    source = read_texts(tmp_path / "in.csv", "subject")
    with pytest.warns(
        UserWarning, match="seem to be German but were processed as english; the language german"
    ):
        fit_run(source, tmp_path / "run", TopicModel(2))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*seem to be.*")
        warnings.filterwarnings("ignore", message=".*(topics were asked|hold no word).*")
        fit_run(source, tmp_path / "run", TopicModel(2, language="german"))


def test_what_the_user_put_there_stays(folder, tmp_path):
    mine = ["notes.txt", "plots/a.png", "model/card.md", "model/old/state.json"]
    for name in mine:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)

    def assert_there():
        assert [(folder / name).read_text() for name in mine] == mine
        assert not set(mine) & set(open_run(folder).info["files"])

    fit_run(written(tmp_path), folder, TopicModel(n_topics=2))
    assert_there()
    assert len(open_run(folder).model.topics) == 2
    open_run(folder).save()
    assert_there()
    edit_run(folder, lambda model: model.edits.rename(0, "Named"))
    edit_run(folder, lambda model: model.edits.ban("parcel"))
    assert_there()


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"jpg")
    with pytest.raises(InputError, match=r"run\.json"):
        fit_run(written(tmp_path), tmp_path / "photos", TopicModel(n_topics=2))
    assert snapshot(tmp_path / "photos") == {"cat.jpg": b"jpg"}
    for name in ("photos", "nowhere"):
        with pytest.raises(InputError):
            open_run(tmp_path / name)


def test_a_fit_that_fails_leaves_the_old_run(folder, tmp_path):
    before = snapshot(folder)
    (tmp_path / "empty.csv").write_text("subject\nthe\nof\n")
    with pytest.raises(InputError, match="no usable words"):
        fit_run(read_texts(tmp_path / "empty.csv", "subject"), folder, TopicModel(n_topics=2))
    with pytest.raises(InputError, match="no column"):
        fit_run(written(tmp_path, column="body"), folder, TopicModel(n_topics=2))
    assert snapshot(folder) == before
    assert {path.name for path in tmp_path.iterdir()} == {"run", "empty.csv", "tickets.csv"}


def test_a_model_that_cannot_be_saved_leaves_the_old_run(folder, tmp_path):
    before = snapshot(folder)
    model = TopicModel(n_topics=2, vectorizer=Vectorizer(tokenizer=str.split))
    with pytest.raises(InputError, match="cannot be saved"):
        fit_run(written(tmp_path), folder, model)
    assert snapshot(folder) == before


# --- what is damaged


def change(folder, **values):
    path = folder / "run.json"
    info = json.loads(path.read_text()) | values
    path.write_text(json.dumps({key: value for key, value in info.items() if value is not ...}))


def everything(folder):
    """Use all that a run has."""
    run = open_run(folder)
    run.input()
    run.with_texts()
    run.save()


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


DAMAGES = {
    "run.json is cut": lambda folder: cut(folder / "run.json"),
    "run.json is empty": lambda folder: (folder / "run.json").write_bytes(b""),
    "run.json is a list": lambda folder: (folder / "run.json").write_text("[]"),
    "run.json is not UTF-8": lambda folder: (folder / "run.json").write_bytes(b"\xff\xfe"),
    "run.json is deep": lambda folder: (folder / "run.json").write_text("[" * 100_000),
    "run.json is of the future": lambda folder: change(folder, version=2),
    "run.json is of no version": lambda folder: change(folder, version=True),
    "run.json is something else": lambda folder: change(folder, format="coterie model"),
    "run.json has no files": lambda folder: change(folder, files=...),
    "run.json has files of another kind": lambda folder: change(folder, files=[]),
    "run.json has no data": lambda folder: change(folder, data=...),
    "run.json has data of another kind": lambda folder: change(folder, data={"column": 1, "texts": "2"}),
    "run.json has fewer columns": lambda folder: change(folder, columns={"topic": "topic"}),
    "run.json has other columns": lambda folder: change(folder, columns=dict.fromkeys(ADDED, "nothing")),
    "run.json has other topics": lambda folder: change(folder, topics=[0, 1, 7]),
    "run.json has seconds of another kind": lambda folder: change(folder, seconds=3, warnings=7),
    "run.json is gone": lambda folder: (folder / "run.json").unlink(),
    "the model is gone": lambda folder: shutil.rmtree(folder / "model"),
    "the model is cut": lambda folder: cut(folder / "model" / "state.json"),
    "the arrays are cut": lambda folder: cut(folder / "model" / "arrays.safetensors"),
    "the arrays are gone": lambda folder: (folder / "model" / "arrays.safetensors").unlink(),
    "the table is cut": lambda folder: cut(folder / "assignments.parquet"),
    "the table is gone": lambda folder: (folder / "assignments.parquet").unlink(),
    "the table is another": lambda folder: pl.DataFrame({"subject": TEXTS}).write_parquet(
        folder / "assignments.parquet"
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_told_in_one_sentence(folder, name):
    DAMAGES[name](folder)
    with pytest.raises(InputError) as told:
        everything(folder)
    assert "\n" not in str(told.value)
    assert str(folder) in str(told.value)
    if "future" in name:
        assert "newer coterie" in str(told.value)


WRONG_ENTRIES = {
    "made": [5],
    "command": [None, ["coterie"], {}],
    "versions": [None, [], {"coterie": 1}, {"numpy": "2"}],
    "parameters": [None, [], "x"],
    "parameters.language": [5, [5], {}],
    "parameters.predefined": [5, {"a": 5}, {"a": [5]}, ["a"], {"a": {"words": 5}}],
    "parameters.seed_words": [5, {"a": 5}, {"a": [5]}, ["a"]],
    "columns": [None, {"topic": 5}],
    "data": [None, [], "x"],
    "data.source": [None, 5],
    "data.column": [None, 5],
    "data.texts": [None, -1, True, 1.5, "41"],
    "data.tokenised": [1, "yes", []],
    "data.date": [5, ["x"], {}],
    "data.label": [5, ["x"], {}],
    "data.skipped": ["x", [], -1, 1.5, {}],
    "data.sha256": [5],
    "topics": [None, {}, ["0"], [True], [-1]],
    "number_of_topics": [5, "x", []],
    "known": ["x", -1, []],
    "non_answers": ["x", -1, 2.5],
    "distinct": ["x", -1, 2.5],
    "edits_applied": ["x", -1, []],
    "seconds": [None, [], {"fit": "x"}, {"fit": None}],
    "warnings": [None, [5], "x"],
    "files": [None, {"a": 5}],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG_ENTRIES.items() for v in values])
def test_an_entry_of_the_wrong_type_is_named(folder, name, value):
    *inside, last = name.split(".")
    info = json.loads((folder / "run.json").read_text())
    (info[inside[0]] if inside else info)[last] = value
    (folder / "run.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match=f"run.json is damaged: the entry '{name}") as told:
        open_run(folder)
    assert "\n" not in str(told.value)


def test_entries_that_older_runs_lack(folder):
    change(folder, known=..., distinct=..., edits_applied=..., number_of_topics=...)
    edit_run(folder, lambda model: model.edits.rename(0, "Named"))
    everything(folder)
    assert open_run(folder).info["edits_applied"] == 1


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A run with as many texts and topics, of other texts."""
    folder = tmp_path_factory.mktemp("others")
    pl.DataFrame({"subject": subjects(len(TEXTS), seed=7)}).write_csv(folder / "tickets.csv")
    fit_run(read_texts(folder / "tickets.csv", "subject"), folder / "run", TopicModel(n_topics=3))
    return folder / "run"


@pytest.mark.parametrize(
    "part", ["model", "assignments.parquet", "model/arrays.safetensors", "model/state.json"]
)
def test_a_part_of_another_run_is_told(folder, other, part):
    mine = folder / part
    if mine.is_dir():
        shutil.rmtree(mine)
        shutil.copytree(other / part, mine)
    else:
        shutil.copy(other / part, mine)
    with pytest.raises(InputError) as told:
        open_run(folder).with_texts()
    assert "\n" not in str(told.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"{", b'{"format": "coterie edits", "version": 9, "edits": []}']
)
def test_a_damaged_log_of_edits_is_told_before_anything_is_fitted(folder, tmp_path, content):
    (folder / "edits.json").write_bytes(content)
    before = snapshot(folder)
    with pytest.raises(InputError, match=r"edits\.json"):
        fit_run(written(tmp_path), folder, TopicModel(n_topics=2))
    assert snapshot(folder) == before
    run = fit_run(written(tmp_path), folder, TopicModel(n_topics=2), edits=())
    assert run.model.edits == ()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "gone"])
def test_edits_that_are_no_file_are_told_at_once(folder, kind):
    path = folder / "edits.json"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(folder / "nowhere")
    with pytest.raises(InputError, match=r"edits\.json"):
        fit_run(written(folder.parent), folder, TopicModel(n_topics=3))
    assert (folder / "run.json").exists()
