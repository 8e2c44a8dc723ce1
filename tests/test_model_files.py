"""Models as files: an old one is read, a damaged or hostile one is refused, a killed save loses nothing."""

import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from coterie import TopicModel
from coterie.errors import InputError
from coterie.results import NO_KNOWN_WORD
from coterie.runs import fit_run, open_run
from coterie.storage.state import write_state
from coterie.text import read_texts
from coterie.topics.state import FILES, pack
from fuzzing import cases, chance, one_sentence
from golden.make import answers, made, texts

GOLDEN = sorted((Path(__file__).parent / "golden").glob("model-*"))
ASKED = ["", "parcel", "card login refund zz", "qwertz", "depot courier bank code email password tax"]


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_model_of_an_older_version_answers_as_it_did(folder):
    expected = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    # which still put a text without a known word into the largest topic
    expected["assigned"] = [
        [None, *rest] if rest[-1] == NO_KNOWN_WORD else [topic, *rest]
        for topic, *rest in expected["assigned"]
    ]
    assert answers(TopicModel.load(folder)) == expected


@pytest.fixture(scope="module")
def model():
    return made()


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    model.save(folder, texts=False)
    return folder


def same(one, other):
    a, b = one.assign(ASKED), other.assign(ASKED)
    return (a.topic == b.topic).all() and (a.confidence == b.confidence).all() and a.reasons == b.reasons


def damaged(content, draw):
    """Bytes with a few flipped, a piece cut, doubled, zeroed or moved, or junk put in."""
    data = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 3])):
        at, length = draw.randrange(len(data) + 1), draw.choice([1, 2, 8, 64, 4096])
        kind = draw.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = data[at : at + length]
        elif kind == 3:
            data[at : at + length] = bytes(len(data[at : at + length]))
        elif kind == 4:
            data[at:at] = draw.randbytes(length)
        else:
            del data[at:]
    return bytes(data)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(4))
def test_a_damaged_model_is_refused_or_still_right(saved, model, tmp_path, part, tried):
    shutil.copytree(saved, tmp_path / "m")
    whole = {name: (saved / name).read_bytes() for name in FILES}
    sentences = set()
    for number in range(cases(2_125)):
        draw = chance("damaged", part, number)
        tried()
        name = draw.choice(FILES)
        (tmp_path / "m" / name).write_bytes(damaged(whole[name], draw))
        try:
            assert same(TopicModel.load(tmp_path / "m"), model), number
        except InputError as error:
            sentences.add(str(error))
        finally:
            (tmp_path / "m" / name).write_bytes(whole[name])
    assert sentences
    assert all(map(one_sentence, sentences))


def paths(value, path=()):
    """Every place in nested values, of long lists the first few."""
    if path:
        yield path
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    )
    for key, part in inside:
        yield from paths(part, (*path, key))


def something_else(value, draw):
    """A value that does not belong there: of another type, size or order."""
    options = [
        None, -1, 0, 1, 10**12, 2.5, "x", "", [], {}, True, [1, 2], ["a", "b"], {"tuple": [1]},
        {"dataclass": "View", "fields": {}}, {"class": "Coterie"}, {"class": "os.system"},
        np.zeros(3), np.array([5, -7]), np.zeros((2, 2)), np.array([np.nan]), csr_matrix((2, 2)),
    ]  # fmt: skip
    if isinstance(value, np.ndarray):
        options += [
            value[:-1],
            np.concatenate([value, value]),
            value[::-1].copy(),
            value.T.copy(),
            value.reshape(-1),
        ]
        options += [
            np.full_like(value, 7),
            np.full_like(value, 1e30) if value.dtype.kind == "f" else value + 99,
        ]
    if isinstance(value, list):
        options += [value[:-1], value + value, value[::-1]]
    if isinstance(value, dict):
        options += [dict(list(value.items())[1:]), {**value, "fit": 1}]
    if isinstance(value, str):
        options += [value + "é", "Pipeline", "__class__"]
    return draw.choice(options)


def changed(state, places, draw):
    found = copy.deepcopy(state)
    for _ in range(draw.choice([1, 1, 2])):
        *way, last = draw.choice(places)
        parent = found
        try:
            for key in way:
                parent = parent[key]
            if draw.random() < 0.1:
                del parent[last]
            else:
                parent[last] = something_else(parent[last], draw)
        except (AttributeError, KeyError, IndexError, TypeError):
            continue  # an earlier change took this place away
    return found


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(5))
def test_a_hostile_model_with_right_checksums_is_refused_or_answers(model, tmp_path, part, tried):
    state = pack(model)
    places = list(paths(state))
    outcomes = {"refused": 0, "answered": 0}
    for number in range(cases(150)):
        folder = tmp_path / str(number)
        tried()
        try:
            write_state(folder, "model", changed(state, places, chance("hostile", part, number)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # numbers may be nonsense
                loaded = TopicModel.load(folder)
                assert len(loaded.assign(ASKED)) == len(ASKED)
                loaded.transform(ASKED)
                str(loaded.hierarchy())
                loaded._repr_html_()
            outcomes["answered"] += 1
        except InputError:
            outcomes["refused"] += 1
        shutil.rmtree(folder, ignore_errors=True)
    # both happen: some changes only change what is said
    assert all(outcomes.values()) or sum(outcomes.values()) < 50, outcomes


def test_no_file_can_name_what_is_made(model, tmp_path):
    for name in ("os.system", "Vectorizer", "TopicModel", "Pipeline", "type"):
        state = pack(model)
        state["estimator"]["class"] = name
        write_state(tmp_path / name, "model", state)
        with pytest.raises(InputError):
            TopicModel.load(tmp_path / name)
    state = pack(model)
    state["estimator"]["fitted"]["predict"] = 1
    write_state(tmp_path / "covered", "model", state)
    with pytest.raises(InputError, match="predict"):
        TopicModel.load(tmp_path / "covered")


#: Each line on standard input forks a process that saves for ever; the answers are its number and, at its end, "over".
#: What takes long to import is imported once.
SAVER = """
import os, sys
import coterie.report, coterie.runs, coterie.topics, sklearn.cluster
for line in sys.stdin:
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        print("over", flush=True)
        continue
    run = coterie.runs.open_run(sys.argv[1])
    run.with_texts()
    names = ["odd", "even"]
    print(os.getpid(), flush=True)
    for turn in range(10_000):
        if len(run.model.edits):
            run.model.edits.undo()
        run.model.edits.rename(0, names[turn % 2])
        run.save()
"""


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    pl.DataFrame({"text": texts()}).write_csv(folder / "texts.csv")
    fit_run(read_texts(folder / "texts.csv"), folder / "run", TopicModel(3))
    return folder / "run"


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_run_whose_save_is_killed_is_the_old_one_or_the_new_one(run_folder):
    run = open_run(run_folder)
    run.with_texts().edits.rename(0, "even")
    run.save()
    labels = set()
    draw = random.Random(0)
    savers = subprocess.Popen(
        [sys.executable, "-c", SAVER, run_folder],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True,
    )  # fmt: skip
    try:
        for turn in range(60):  # the folder itself is killed two hundred times in tests/storage
            if turn >= 12 and len(labels) == 2:
                break
            savers.stdin.write("go\n")
            saver = int(savers.stdout.readline())
            time.sleep(draw.uniform(0.0, 0.4))  # any moment of the work
            os.kill(saver, signal.SIGKILL)
            assert savers.stdout.readline() == "over\n"
            found = open_run(run_folder)
            label = found.model.topics[0].label
            assert set(found.table.filter(pl.col("topic") == 0)["label"]) == {label}
            assert len(found.table) == 90
            labels.add(label)
    finally:
        os.killpg(savers.pid, signal.SIGKILL)
        savers.communicate()
    assert labels == {"odd", "even"}


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(6))
def test_damaged_inputs_are_fitted_or_refused(tmp_path, part, tried):
    file = tmp_path / "texts.csv"
    whole = pl.DataFrame({"id": range(90), "text": texts(), "=x": ["@"] * 90}).write_csv().encode()
    fitted, sentences = 0, set()
    for number in range(cases(10)):
        file.write_bytes(damaged(whole, chance("inputs", part, number)))
        tried()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # what is left may show no structure
                run = fit_run(read_texts(file, "text", skip_bad=True), tmp_path / "run", TopicModel(2))
            assert len(run.table) == run.info["data"]["texts"]
            fitted += 1
        except InputError as error:
            sentences.add(str(error))
    assert all(map(one_sentence, sentences))
    assert fitted
