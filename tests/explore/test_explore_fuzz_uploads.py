"""Damaged files sent to the live page: a preview or one sentence, and a fit that succeeds or says why it cannot."""

import shutil

import pytest
from explore_runs import client_of, finished

from coterie.explore.guard import FAULT
from damage import damages, some_file, sound_files
from fuzzing import cases, chance, one_sentence, shown

pytestmark = pytest.mark.fuzz
BYTES = {"content-type": "application/octet-stream"}
#: Names of columns besides those of the file.
COLUMNS = [None, "", "text", "id", "x" * 500, "é\u202e", "a\nb"]


@pytest.fixture(scope="module")
def sound():
    return sound_files()


def problem(answer):
    """What is wrong with an answer, or nothing."""
    said = answer.json().get("error") if answer.status_code >= 400 else "-"
    return "" if answer.status_code < 500 and one_sentence(said) else f"{answer.status_code}: {answer.text}"


def uploaded(client, draw, sound):
    """The answer to a damaged file, often under its own name."""
    name = some_file(sound, draw)
    data = damages(name, draw)(sound[name], list(sound.values()), draw)
    shown_as = (
        name if draw.random() < 0.8 else draw.choice([*sound, "x", "é/..\\x.csv", "a.csv.gz", "." * 200])
    )
    return client.put("/api/uploads", params={"name": shown_as}, content=data, headers=BYTES)


def test_a_damaged_file_is_shown_or_refused_in_a_sentence(sound, tmp_path, tried):
    draw, wrong, seen = chance("uploads"), {}, 0
    with client_of(tmp_path) as client:
        for number in range(cases(80)):
            answer = uploaded(client, draw, sound)
            tried()
            if found := problem(answer):
                wrong[f"upload {number}"] = found
            elif answer.status_code == 201:
                seen += 1
                client.delete(f"/api/uploads/{answer.json()['id']}")
    assert not wrong, shown(wrong)
    assert seen


def request(columns, number, draw):
    """A fit that somebody may ask for, mostly of a column that is there."""
    names = [column["name"] for column in columns]
    return {
        "name": f"run {number}",
        "text": draw.choice(names if draw.random() < 0.8 else COLUMNS[1:]),
        "date": draw.choice([None, None, *names, *COLUMNS]),
        "label": draw.choice([None, None, *names, *COLUMNS]),
        "topics": draw.choice(["auto", 1, 2, 3, 100]),
        "language": draw.choice(["english", "english", "german,english", "Klingon", ""]),
    }


def test_a_fit_of_a_damaged_file_succeeds_or_says_why_not(sound, tmp_path, tried):
    draw, wrong = chance("fits"), {}
    with client_of(tmp_path) as client:
        for number in range(cases(3)):
            answer = uploaded(client, draw, sound)
            if answer.status_code != 201:
                continue
            tried()
            wanted = request(answer.json()["columns"], number, draw)
            fit = client.post(f"/api/uploads/{answer.json()['id']}/fit", json=wanted)
            said = finished(client, fit)["error"] if fit.status_code == 202 else None
            if problem(fit) or (said and (said == FAULT or not one_sentence(said))):
                wrong[f"fit {number}, {wanted}"] = said or problem(fit)
            shutil.rmtree(tmp_path / wanted["name"], ignore_errors=True)
    assert not wrong, shown(wrong)
