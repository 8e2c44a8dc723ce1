"""The routes that read: what they say fits together, and what is asked wrongly gets a sentence."""

import io
import shutil
import struct
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from explore_runs import client_of, make_run, write_grown, write_texts

from coterie.runs import fit_run
from coterie.runs.record import TABLE
from coterie.storage.tables import read_csv
from coterie.text import read_texts
from coterie.topics import TopicModel, editing

HOSTILE = [
    "<script>alert(1)</script> parcel van",
    "=HYPERLINK(1) parcel van",
    "javascript:alert(1) parcel depot",
    "\u202eparcel van\u202c depot",
    "👩‍👩‍👧 parcel depot",
    "x" * 3000 + " van",
]


def get(client, path, status=200):
    answer = client.get(f"/api{path}")
    assert answer.status_code == status, answer.text[:300]
    return answer.json()


def ready(client, run="run"):
    until = time.monotonic() + 60
    while not get(client, f"/runs/{run}")["ready"]:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_an_overview_fits_the_list_of_runs(client):
    runs = get(client, "/runs")["runs"]
    assert [(run["name"], run["texts"], run["topics"], run["error"]) for run in runs] == [
        ("run", 160, 4, None)
    ]
    about = get(client, "/about")
    assert "english" in about["languages"]
    assert about["workspace"] == client.workspace.folder.name
    found = get(client, "/runs/run")
    assert (found["texts"], found["date"], found["label"], found["column"]) == (160, "date", "class", "text")
    assert found["has_report"]
    sizes = [topic["size"] for topic in found["topics"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == found["known"]
    assert len({topic["colour"] for topic in found["topics"]}) == 4
    assert sum(topic["share"] for topic in found["topics"]) == pytest.approx(found["known"] / 160)


def test_a_topic_adds_up(reader):
    for brief in get(reader, "/runs/run")["topics"]:
        found = get(reader, f"/runs/run/topics/{brief['id']}")
        assert {name: found[name] for name in brief} == brief
        assert sum(found["histogram"]) == brief["size"]
        assert sum(found["over_time"]["counts"]) == brief["size"]
        assert len(found["over_time"]["periods"]) == len(found["over_time"]["shares"]) == 12
        assert sum(entry["count"] for entry in found["by_class"]) == brief["size"]
        assert found["by_class"][0]["share"] > 0.9
        assert all(text["topic"] == brief["id"] for text in found["examples"] + found["borderline"])
        rows = [text["row"] for text in found["examples"] + found["borderline"]]
        assert len(set(rows)) == len(rows)
        sure = [text["confidence"] for text in found["borderline"]]
        assert sure == sorted(sure)
        least = get(reader, f"/runs/run/texts?topic={brief['id']}&sort=confidence&limit=1")["rows"][0]
        assert sure[0] == pytest.approx(least["confidence"], abs=0.02)
        assert brief["terms"][0] in [candidate["term"] for candidate in found["candidates"]]
        assert all(c["share"] > 0 and c["lift"] > 0 and c["count"] > 0 for c in found["candidates"])
        assert not {near["term"] for near in found["related"]} & set(brief["terms"])
        assert {near["id"] for near in found["neighbours"]} <= {
            t["id"] for t in get(reader, "/runs/run")["topics"]
        }


def test_changes_are_those_of_the_model(tmp_path):
    run = make_run(tmp_path / "run", write_grown(tmp_path / "texts.csv"))
    frame = run.with_texts().changes(run.input()["date"])
    last = frame.filter(pl.col("against") == "earlier months")
    with client_of(tmp_path) as client:
        overview = get(client, "/runs/run")
    trends = {topic["id"]: topic["change"]["trend"] for topic in overview["topics"]}
    growth = {topic["id"]: topic["change"]["growth"] for topic in overview["topics"]}
    assert list(trends.values()).count("grew") == 1
    for row in last.iter_rows(named=True):
        assert trends[row["topic"]] == row["trend"]
        assert growth[row["topic"]] == pytest.approx(row["change"], abs=1e-6)
    grew = next(item for item in overview["findings"]["items"] if item["kind"] == "Grew")
    assert trends[grew["topic"]] == "grew"
    assert "(1 to 15 December 2024), after" in grew["text"]


def test_pages_are_parts_of_one_list(reader):
    whole = get(reader, "/runs/run/texts?sort=confidence&limit=200")
    assert whole["total"] == len(whole["rows"]) == 160
    parts = [
        get(reader, f"/runs/run/texts?sort=confidence&limit=50&offset={at}")["rows"]
        for at in (0, 50, 100, 150)
    ]
    assert [text for part in parts for text in part] == whole["rows"]
    down = get(reader, "/runs/run/texts?sort=confidence&descending=true&limit=200")["rows"]
    assert [t["confidence"] for t in down] == [t["confidence"] for t in whole["rows"]][::-1]


def test_the_map_has_the_texts_of_the_table(reader):
    head = struct.unpack("<4I", reader.get("/api/runs/run/map").content[:16])
    assert head == (160, 160, 160, 0)
    topics = get(reader, "/runs/run")["topics"]
    topic = topics[2]["id"]
    data = reader.get(f"/api/runs/run/map?topic={topic}&limit=10").content
    assert struct.unpack("<4I", data[:16]) == (10, topics[2]["size"], topics[2]["size"], 0)
    places = struct.unpack("<10H", data[16 + 120 : 16 + 140])
    assert set(places) == {2}
    x, y = topics[2]["at"]
    r = topics[2]["radius"] * 1.2
    lasso = f"{x - r},{y - r} {x + r},{y - r} {x + r},{y + r} {x - r},{y + r}"
    inside = get(reader, f"/runs/run/texts?lasso={lasso}")["total"]
    box = reader.get(f"/api/runs/run/map?x0={x - r}&y0={y - r}&x1={x + r}&y1={y + r}").content
    assert struct.unpack("<4I", box[:16])[1] == inside > topics[2]["size"] / 2


@pytest.mark.slow
def test_a_text_has_all_its_cells_and_similar_ones(client):
    ready(client)
    found = get(client, "/runs/run/texts/5?q=card")
    cells = {cell["name"]: cell["value"] for cell in found["columns"]}
    assert cells["id"] == "5"
    assert cells["text"] == found["text"]
    assert found["at"] is not None
    assert len(found["similar"]) == 5
    assert all(text["topic"] == found["topic"] and text["row"] != 5 for text in found["similar"])


def test_meaning_waits_until_texts_are_counted(client):
    early = client.get("/api/runs/run/texts?q=refund&mode=meaning")
    assert early.status_code == 200 or (early.status_code == 503 and early.json()["retry"] == 1)
    ready(client)
    found = get(client, "/runs/run/texts?q=refund&mode=meaning&limit=200")
    assert found["query"]["known"] == ["refund"]
    assert any(not text["match"]["shared"] and text["match"]["through"] for text in found["rows"])


def test_a_text_that_is_tried_is_told_why(client):
    texts = ["refunded my CARD", "xyzzy", "", "card " * 10]
    found = client.post("/api/runs/run/assign", json={"texts": texts}).json()["answers"]
    labels = {topic["id"]: topic["label"] for topic in get(client, "/runs/run")["topics"]}
    assert labels[found[0]["topic"]] == found[0]["label"]
    assert {texts[0][a:b] for a, b, _ in found[0]["marks"]} == {"refunded", "CARD"}
    assert found[0]["shares"][0]["id"] == found[0]["topic"]
    assert found[1]["unknown"] == ["xyzzy"]
    assert found[1]["note"] == "no known word"
    assert found[1]["at"] is None
    assert found[0]["at"] is not None
    assert client.post("/api/runs/run/assign", json={"texts": []}).json() == {"answers": []}
    for wrong in ({"texts": ["a"] * 101}, {"texts": ["a" * 10_001]}, {"texts": "a"}, {}, {"texts": [1]}):
        answer = client.post("/api/runs/run/assign", json=wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]


@pytest.mark.slow
def test_an_export_is_the_selection(client, folder):
    table = pl.read_parquet(folder / "run" / TABLE)
    topic = get(client, "/runs/run")["topics"][0]["id"]
    answer = client.get(f"/api/runs/run/export?format=parquet&topic={topic}&least=0.5")
    assert "attachment" in answer.headers["content-disposition"]
    wanted = table.filter((pl.col("topic") == topic) & (pl.col("confidence") >= 0.5))
    assert pl.read_parquet(io.BytesIO(answer.content)).equals(wanted)
    assert client.get("/api/runs/run/export?q=nothingatall").text.count("\n") == 1


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    texts = [*HOSTILE, *["card refund", "refund tax", "tax card", "parcel van", "van depot"] * 4]
    pl.DataFrame({"text": texts, "class": ["<b>", None] * 13}).write_parquet(folder / "texts.parquet")
    source = read_texts(folder / "texts.parquet", "text")
    fit_run(source, folder / "runs" / "bad", TopicModel(2), class_column="class", edits=())
    return folder / "runs"


@pytest.mark.slow
def test_hostile_texts_are_texts(hostile, tmp_path):
    with client_of(hostile) as client:
        rows = get(client, "/runs/bad/texts?limit=50")["rows"]
        assert [row["text"] for row in rows[:5]] == HOSTILE[:5]
        assert rows[5]["text"] == HOSTILE[5][:2000]
        assert get(client, "/runs/bad/texts/5")["text"] == HOSTILE[5]
        assert rows[0]["class"] == "<b>"
        assert get(client, "/runs/bad/texts?class=<b>")["total"] == 13
        sheet = client.get("/api/runs/bad/export?q=hyperlink").text
        assert "'=HYPERLINK(1)" in sheet
        (tmp_path / "sheet.csv").write_text(sheet, encoding="utf-8", newline="")
        assert read_csv(tmp_path / "sheet.csv")["text"].to_list() == [HOSTILE[1]]
        for q in ("<script>", "(", "\\", "[a", "\x00", "&amp;", '"', "a" * 1000):
            assert client.get("/api/runs/bad/texts", params={"q": q}).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/nobody", 404),
        ("/runs/..%2Frun", 404),
        ("/runs/run/topics/99", 404),
        ("/runs/run/topics/x", 422),
        ("/runs/run/texts/160", 404),
        ("/runs/run/texts/-1", 422),
        ("/runs/run/texts?nonsense=1", 422),
        ("/runs/run/texts?limit=201", 422),
        ("/runs/run/texts?least=2", 422),
        ("/runs/run/texts?least=nan", 422),
        ("/runs/run/texts?since=yesterday", 422),
        ("/runs/run/texts?lasso=1,2 3,4", 422),
        ("/runs/run/texts?lasso=a,b c,d e,f", 422),
        ("/runs/run/texts?lasso=1,2,3 4,5,6 7,8,9", 422),
        ("/runs/run/texts?lasso=inf,2 3,4 5,6", 422),
        ("/runs/run/texts?sort=colour", 422),
        ("/runs/run/map?x0=1", 422),
        ("/runs/run/map?x0=nan&y0=0&x1=1&y1=1", 422),
        ("/runs/run/export?format=xlsx", 422),
    ],
)
def test_what_is_asked_wrongly_gets_a_sentence(reader, path, status):
    answer = get(reader, path, status)
    assert set(answer) == {"error"}
    assert len(answer["error"]) > 10


@pytest.mark.slow
def test_many_ask_at_once(reader):
    paths = [
        "/runs/run", "/runs/run/map", "/runs/run/texts?q=refund", "/runs/run/texts?sort=length", "/runs/run/texts/3",
        "/runs/run/topics/0", "/runs/run/texts?class=billing&sort=date", "/runs/run/export?topic=1",
    ]  # fmt: skip
    ready(reader)
    once = {path: reader.get(f"/api{path}").content for path in paths}
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda path: (path, reader.get(f"/api{path}")), paths * 12))
    assert all(answer.status_code == 200 and answer.content == once[path] for path, answer in answers)


def test_the_report_is_served_in_a_sandbox(client, folder):
    answer = client.get("/api/runs/run/report")
    assert answer.content == (folder / "run" / "report.html").read_bytes()
    assert "sandbox" in answer.headers["content-security-policy"]


def test_a_filter_form_knows_its_classes_and_dates(client, folder, tmp_path):
    overview = get(client, "/runs/run")
    counts = pl.read_parquet(folder / "run" / "assignments.parquet")["class"].value_counts()
    assert {one["name"]: one["count"] for one in overview["classes"]} == dict(counts.iter_rows())
    assert overview["dates"] == {"first": "2024-01-01", "last": "2024-12-01"}
    plain = tmp_path / "plain.csv"
    plain.write_text("text\n" + "late parcel depot\ncard refund tax\n" * 10)
    fit_run(read_texts(plain, "text"), folder / "plain", TopicModel(2), edits=())
    overview = get(client, "/runs/plain")
    assert overview["classes"] is overview["dates"] is None


def test_the_largest_classes_come_first_and_not_all_of_many(folder, tmp_path):
    path = tmp_path / "many.csv"
    rows = [f"{word} word,{'x' * 1001 if at < 9 else f'c{at % 300 if at > 50 else 7}'}" for at, word in
            enumerate(["parcel", "refund"] * 300)]  # fmt: skip
    path.write_text("text,class\n" + "\n".join(rows))
    fit_run(read_texts(path, "text"), folder / "many", TopicModel(2), class_column="class", edits=())
    with client_of(folder) as client:
        classes = get(client, "/runs/many")["classes"]
    assert len(classes) == 200
    assert classes[0] == {"name": "c7", "count": 43}
    assert [one["count"] for one in classes] == sorted((one["count"] for one in classes), reverse=True)
    assert all(len(one["name"]) < 9 for one in classes)


def test_words_that_no_text_holds_are_told(reader):
    found = get(reader, '/runs/run/texts?q=refund kettle xyzzy "kettle refund"')
    assert found["total"] == 0
    assert found["query"]["known"] == ["refund", "kettle"]
    assert found["query"]["unknown"] == ["xyzzy", "kettle refund"]
    topic = get(reader, "/runs/run/texts?q=kettle&limit=1")["rows"][0]["topic"]
    # the words are there, if not in what the other filters leave
    found = get(reader, f"/runs/run/texts?q=refund&topic={topic}")
    assert (found["total"], found["query"]["known"], found["query"]["unknown"]) == (0, ["refund"], [])


@pytest.mark.slow
def test_a_long_text_is_shown_in_part_and_exported_whole(folder, tmp_path):
    long = ["refund " * 150_000, "parcel &amp; invoice\u0301 " * 50_000, "退款" * 60_000]
    path = write_texts(tmp_path / "long.csv")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{160 + at},2024-01-01,billing,{text}\n" for at, text in enumerate(long))
    make_run(folder / "long", path)
    with client_of(folder) as client:
        client.workspace.get("long").counted.wait()
        for at, text in enumerate(long):
            begun = time.process_time()
            answer = get(client, f"/runs/long/texts/{160 + at}?q=refund invoice")
            assert time.process_time() - begun < 5
            assert answer["cut"]
            assert answer["text"] == text[:100_000]
            assert len(answer["marks"]) <= 1000
            cell = answer["columns"][3]
            assert cell == {"name": "text", "value": text[:10_000], "cut": True}
            assert not answer["columns"][0]["cut"]
            file = client.get(f"/api/runs/long/export?row={160 + at}&format=parquet").content
            assert pl.read_parquet(file)["text"].to_list() == [text]


def test_no_lasso_is_all(reader):
    assert get(reader, "/runs/run/texts?lasso=")["total"] == 160
    for lasso in ("1,2  3,4 5,6", " 1,2 3,4 5,6", "1e3,2 3,4 5,6", "１,2 3,4 5,6", "1,2 3,4 5,6\n"):
        assert reader.get("/api/runs/run/texts", params={"lasso": lasso}).status_code == 422


@pytest.mark.slow
def test_two_runs_are_not_counted_at_once(folder, monkeypatch):
    """Counting quiets warnings, and threads share what quiets them: the last to end would leave it so."""
    shutil.copytree(folder / "run", folder / "other")
    describe, inside, most = editing.describe, [], []

    def slow(*given):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.3)
        found = describe(*given)
        inside.pop()
        return found

    monkeypatch.setattr(editing, "describe", slow)
    before = list(warnings.filters)
    with client_of(folder) as client:
        runs = [client.workspace.get(name) for name in ("run", "other")]
        for run in runs:
            run.counted.warm_up()
        assert all(run.counted.wait(60) for run in runs)
    assert most == [1, 1]
    assert warnings.filters == before
