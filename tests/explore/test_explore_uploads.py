"""Dropped files: kept apart, looked at, fitted, gone."""

import gzip
import io
import stat

import openpyxl
import polars as pl
import pytest
from explore_runs import client_of, finished, write_texts

from coterie import datasets
from coterie.explore.uploads import label_of, look_at
from coterie.runs import open_run
from coterie.text import columns, read_texts
from damage import sound_files

BYTES = {"content-type": "application/octet-stream"}


def send(client, content, name="texts.csv"):
    return client.put("/api/uploads", params={"name": name}, content=content, headers=BYTES)


def private(tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


@pytest.fixture
def content(tmp_path):
    return write_texts(tmp_path / "texts.csv").read_bytes()


@pytest.mark.process
def test_a_file_is_looked_at_fitted_and_gone(folder, content, tmp_path, monkeypatch):
    place = private(tmp_path, monkeypatch)
    with client_of(folder) as client:
        answer = send(client, content, "C:\\Users\\me\\tickets.csv")
        assert answer.status_code == 201
        found = answer.json()
        assert found["name"] == "tickets.csv"
        assert found["bytes"] == len(content)
        assert found["guess"] == {"text": "text", "date": "date", "label": "class", "language": "english"}
        assert [column["kind"] for column in found["columns"]] == ["number", "date", "class", "text"]
        assert (found["format"], found["encoding"], found["delimiter"]) == ("csv", "utf-8", ",")
        assert len(found["preview"]) == 20
        assert found["rows_seen"] == 160
        (kept,) = place.glob("coterie-uploads-*")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o700
        wanted = {"name": "new run", "text": "text", "date": "date", "label": "class", "topics": 4}
        job = finished(client, client.post(f"/api/uploads/{found['id']}/fit", json=wanted))
        assert job["state"] == "done", job
        assert list(kept.iterdir()) == []
        run = open_run(folder / "new run")
        assert run.info["data"]["source"] == "tickets.csv"
        assert run.info["data"]["label"] == "class"
        assert client.get("/api/runs/new run").json()["texts"] == 160
        assert client.post(f"/api/uploads/{found['id']}/fit", json=wanted).status_code in (404, 409)
    assert not kept.exists()


@pytest.mark.process
def test_a_fit_that_fails_keeps_the_file(client, content):
    id = send(client, b"text\n" + b"the of and\n" * 20).json()["id"]
    job = finished(client, client.post(f"/api/uploads/{id}/fit", json={"name": "x", "text": "text"}))
    assert job["state"] == "failed"
    assert "no usable words" in job["error"]
    assert "/" not in job["error"].replace("and/or", "")
    assert client.delete(f"/api/uploads/{id}").status_code == 204
    assert client.delete(f"/api/uploads/{id}").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "run", "text": "text"}, 409),
        ({"name": "../x", "text": "text"}, 422),
        ({"name": "", "text": "text"}, 422),
        ({"name": "x", "text": "none"}, 422),
        ({"name": "x", "text": "text", "date": "none"}, 422),
        ({"name": "x", "text": "text", "language": "klingon"}, 422),
        ({"name": "x", "text": "text", "language": ","}, 422),
        ({"name": "x", "text": "text", "topics": 0}, 422),
        ({"name": "x", "text": "text", "topics": "many"}, 422),
        ({"text": "text"}, 422),
    ],
)
def test_what_cannot_be_fitted_is_told(client, content, body, status):
    id = send(client, content).json()["id"]
    answer = client.post(f"/api/uploads/{id}/fit", json=body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert client.delete(f"/api/uploads/{id}").status_code == 204


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "name", "word"),
    [
        (b"", "a.csv", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a.csv", "picture"),
        (b"%PDF-1.4", "a.txt", "PDF"),
        (b"PK\x03\x04 and no workbook", "a.xlsx", "Excel"),
        (b"PAR1\x15 and no table", "a.parquet", "Parquet"),
        (b"a,b\n", "a.csv", "no rows"),
        (b"{no json\n", "a.jsonl", "JSON"),
        (b"[1, 2]\n", "a.jsonl", "JSON"),
        (gzip.compress(b"text\nwords\n", mtime=0)[:-9], "a.csv.gz", "gzip"),
        (b"text\n" + b"x" * (1 << 22), "a.csv", "longer"),
    ],
)
def test_bad_files_are_told_in_a_sentence(folder, content, name, word, tmp_path, monkeypatch):
    place = private(tmp_path, monkeypatch)
    with client_of(folder) as client:
        answer = send(client, content, name)
        assert answer.status_code == 422
        assert word in answer.json()["error"]
        assert "this file" in answer.json()["error"]
        assert str(place) not in answer.json()["error"]
        assert [path for kept in place.iterdir() for path in kept.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "tsv", "xlsx", "lines", "csv.gz", "utf-16", "cp1252"])
def test_formats(client, tmp_path, kind):
    frame = pl.read_csv(datasets.SAMPLE_FILE).head(200).with_columns(pl.col("text").fill_null("é"))
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "jsonl":
        frame.write_ndjson(path)
    elif kind == "tsv":
        frame.write_csv(path, separator="\t")
    elif kind == "xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in [frame.columns, *frame.iter_rows()]:
            book.active.append(row)
        book.save(path)
    elif kind == "lines":
        path.write_text("\n".join(text.replace("\n", " ") for text in frame["text"]))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        path.write_bytes(("text;id\n" + "Straße für Bücher;1\n" * 30).encode(kind))
    found = send(client, path.read_bytes(), path.name.replace("lines", "txt").replace(kind, kind)).json()
    assert found["guess"]["text"] == "text", found
    if kind in ("utf-16", "cp1252"):
        assert found["preview"][0] == ["Straße für Bücher", "1"]
        assert found["encoding"] == kind


@pytest.mark.process
def test_a_file_in_an_old_encoding_is_fitted_in_it(client, folder):
    words = ["Straße", "Bücher", "Größe", "Käufer"]
    lines = "".join(f"{words[i % 4]} {words[(i + 1) % 4]} {words[i % 2]}\n" for i in range(60))
    id = send(client, ("text\n" + lines).encode("cp1252")).json()["id"]
    wanted = {"name": "old", "text": "text", "topics": 2, "language": "german"}
    job = finished(client, client.post(f"/api/uploads/{id}/fit", json=wanted))
    assert job["state"] == "done", job
    assert open_run(folder / "old").texts()[0].startswith("Straße")


def test_one_wrong_byte_does_not_make_a_file_another_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(("text,id\n" + "Straße für Bücher,1\n" * 30).encode() + b"\xff bad,2\n")
    found = look_at(path, "id", "a.csv", 1)
    assert found.encoding == "utf-8"
    assert found.rows_seen == 30


def test_guesses_prefer_words_to_keys():
    rows = {
        "url": [f"https://example.org/tickets/{i:030}" for i in range(50)],
        "status": ["open", "closed"] * 25,
        "when": ["2024-01-01"] * 50,
        "message": [f"my kettle is broken {i}" for i in range(50)],
    }
    found = columns.guess([columns.look_at(pl.Series(name, values)) for name, values in rows.items()])
    assert (found.text, found.date, found.label) == ("message", "when", "status")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\a\\b.csv", "b.csv"),
        ("a\r\nSet-Cookie: x.csv", "aSet-Cookie: x.csv"),
        ("\u202ecsv.exe", "csv.exe"),
        ("", "upload"),
        ("...", "upload"),
        ("/", "upload"),
    ],
)
def test_names_are_labels(name, label):
    assert label_of(name) == label


def test_long_names_keep_their_ending():
    assert len(label_of("x" * 500 + ".csv")) <= 125
    assert label_of("x" * 500 + ".csv").endswith(".csv")


def test_few_files_wait_at_once(folder, tmp_path, monkeypatch):
    place = private(tmp_path, monkeypatch)
    with client_of(folder) as client:
        ids = [send(client, b"text\nsome words\n").json()["id"] for _ in range(7)]
        (kept,) = place.glob("coterie-uploads-*")
        assert len(list(kept.iterdir())) == 4
        assert client.delete(f"/api/uploads/{ids[0]}").status_code == 404
        assert client.delete(f"/api/uploads/{ids[-1]}").status_code == 204


def test_what_a_killed_server_left_is_removed(folder, tmp_path, monkeypatch):
    place = private(tmp_path, monkeypatch)
    left = place / "coterie-uploads-leftover"
    left.mkdir()
    (left / "secret.csv").write_text("text")
    with client_of(folder) as client, client_of(folder) as other:
        send(client, b"text\nsome words\n")
        assert not left.exists()
        send(other, b"text\nsome words\n")
        assert len(list(place.glob("coterie-uploads-*/*"))) == 2  # those of living servers stay


def test_rows_that_cannot_be_read_are_counted(client):
    content = ("text,id\n" + "Straße für Bücher,1\n" * 30).encode() + b"\xff bad,2\n"
    found = send(client, content).json()
    assert (found["rows_seen"], found["skipped"]) == (30, 1)
    assert send(client, b"text\nsome words\n").json()["skipped"] == 0


def test_systems_whose_users_have_no_numbers(folder, tmp_path, monkeypatch):
    place = private(tmp_path, monkeypatch)
    (place / "coterie-uploads-leftover").mkdir()
    monkeypatch.delattr("os.getuid")
    with client_of(folder) as client:
        assert send(client, b"text\nsome words\n").status_code == 201
    assert list(place.iterdir()) == []


def test_the_language_and_dates_with_a_gap_are_told(folder, tmp_path, monkeypatch):
    private(tmp_path, monkeypatch)
    words = ["zwei", "drei", "vier", "sechs", "acht"]
    lines = [
        f"{1 + i % 28}.5.2024;Das Paket {words[i % 5]} ist nicht da und ich warte schon {i} Tage"
        for i in range(60)
    ]
    lines[20] = "n/a;" + lines[20].partition(";")[2]
    with client_of(folder) as client:
        found = send(client, "\n".join(["Datum;Meldung", *lines]).encode(), "m.csv").json()
    assert found["guess"] == {"text": "Meldung", "date": "Datum", "label": None, "language": "german"}


TICKETS = [
    [str(i), f"{1 + i % 12:02d}/{1 + i % 9:02d}/2025", f"my parcel number {i} is late"] for i in range(30)
]


def workbook():
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Exported by HelpdeskPro"])
    book.active.append(["please do not reply"])
    sheet = book.create_sheet("Tickets")
    for row in [["Tickets of May"], [], ["id", "created", "subject"], *TICKETS]:
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_workbook_is_shown_where_its_texts_are_and_can_be_looked_at_elsewhere(client):
    found = send(client, workbook(), "a.xlsx").json()
    assert (found["sheets"], found["sheet"], found["header_row"]) == (["Notes", "Tickets"], "Tickets", 3)
    assert found["guess"]["text"] == "subject"
    assert found["open_dates"] == ["created"]
    assert not any("--" in note for note in found["notes"])
    look = f"/api/uploads/{found['id']}/look"
    other = client.post(look, json={"sheet": "Notes"}).json()
    assert (other["id"], other["sheet"], other["preview"]) == (
        found["id"],
        "Notes",
        [["please do not reply"]],
    )
    again = client.post(look, json={"sheet": "Tickets", "header_row": 4}).json()
    assert (again["header_row"], again["columns"][2]["name"]) == (4, "my parcel number 0 is late")
    wrong = client.post(look, json={"sheet": "None"})
    assert (wrong.status_code, wrong.json()["error"]) == (
        422,
        "this file has no sheet 'None'; it has 'Notes', 'Tickets'",
    )
    assert client.post(look, json={"header_row": 0}).json()["error"] == "header_row must be at least 1; got 0"
    assert client.post("/api/uploads/none/look", json={}).status_code == 404


@pytest.mark.process
def test_what_was_chosen_is_what_is_fitted(client, folder):
    id = send(client, workbook(), "a.xlsx").json()["id"]
    wanted = {"name": "chosen", "text": "subject", "date": "created", "day_first": False, "topics": 2}
    job = finished(client, client.post(f"/api/uploads/{id}/fit", json=wanted))
    assert job["state"] == "done", job
    run = open_run(folder / "chosen")
    assert run.texts().to_list() == [row[2] for row in TICKETS]
    assert (run.info["data"]["date"], run.info["data"]["day_first"]) == ("created", False)


@pytest.mark.parametrize(
    "name",
    [
        "comma.csv",
        "wide.csv",
        "titled.csv",
        "old.csv",
        "array.json",
        "wrapped.json",
        "sheets.xlsx",
        "lines.txt",
    ],
)
def test_page_and_command_line_read_the_same(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(sound_files()[name])
    shown = look_at(path, "id", name, 1)
    source = read_texts(path)
    texts = [text for batch in source for text in batch.texts]
    layout = source.layout
    assert (shown.format, shown.guess.text, shown.header_row) == (
        layout.format,
        layout.column,
        layout.header_row,
    )
    assert shown.rows_seen == len(texts)
    assert shown.encoding == (layout.encoding and layout.encoding.removesuffix("-sig"))


def test_where_no_column_looks_like_texts_none_is_guessed(client):
    found = send(client, b"id,key\n1,a7\n2,b8\n").json()
    assert found["guess"]["text"] is None
    assert len(found["preview"]) == 2


def test_limits_are_told_in_readable_units(folder):
    with client_of(folder, upload_bytes=1 << 20) as client:
        answer = send(client, b"x" * (1 << 21))
    assert (answer.status_code, answer.json()["error"]) == (
        413,
        "this is larger than 1 MiB, the most that can be sent here",
    )


# --- files that are assigned


def assign(client, id, run="run", text="text"):
    return client.post(f"/api/uploads/{id}/assign", json={"run": run, "text": text})


def test_a_file_is_assigned_as_its_texts_are_one_by_one(client, tmp_path, monkeypatch):
    rows = [("1", "late parcel courier"), ("2", "=refund invoice card"), ("3", "zzz"), ("4", "")]
    place = private(tmp_path, monkeypatch)
    body = "id,text\n" + "".join(f"{number},{text}\n" for number, text in rows)
    found = send(client, body.encode(), "tomorrow.csv").json()
    answer = assign(client, found["id"])
    assert answer.status_code == 200, answer.text
    told = answer.json()
    single = client.post("/api/runs/run/assign", json={"texts": [text for _, text in rows]}).json()["answers"]
    given = [one["topic"] for one in single]
    assert (told["texts"], told["without"]) == (4, given.count(None))
    assert {one["id"]: one["count"] for one in told["topics"] if one["count"]} == {
        id: given.count(id) for id in given if id is not None
    }
    assert sum(one["before"] for one in told["topics"]) == pytest.approx(1, abs=1e-3)
    sheet = client.get(f"/api/uploads/{found['id']}/assigned")
    assert "tomorrow-topics.csv" in sheet.headers["content-disposition"]
    table = pl.read_csv(io.BytesIO(sheet.content))
    assert table["topic"].to_list() == given
    assert table["label"].to_list() == [one["label"] or None for one in single]
    assert not table["text"][1].startswith("=")  # a formula is made harmless
    assert client.delete(f"/api/uploads/{found['id']}").status_code == 204
    (kept,) = place.glob("coterie-uploads-*")
    assert list(kept.iterdir()) == []
    assert client.get(f"/api/uploads/{found['id']}/assigned").status_code == 404


def test_what_cannot_be_assigned_is_refused(client, content):
    found = send(client, content).json()
    id = found["id"]
    assert client.get(f"/api/uploads/{id}/assigned").json()["error"] == "texts.csv was not assigned yet"
    assert "has no column 'nothing'" in assign(client, id, text="nothing").json()["error"]
    assert assign(client, id, run="nowhere").status_code == 404
    assert assign(client, "0" * 16).status_code == 404
    assert assign(client, id).status_code == 200  # none of this took it away


def test_the_sample_can_be_started_with(client):
    answer = client.post("/api/uploads/sample")
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert found["name"] == "bikes.csv.gz"
    assert {kind: found["guess"][kind] for kind in ("text", "date", "label")} == {
        "text": "text", "date": "date", "label": "team",
    }  # fmt: skip
    assert client.delete(f"/api/uploads/{found['id']}").status_code == 204
