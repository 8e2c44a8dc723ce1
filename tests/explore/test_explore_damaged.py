"""Run folders with damaged or forged files, most of them with right checksums, in the library and on the live page.

Whatever is asked of such a run is answered, or refused in one sentence.
"""

import io
import json
import os
import shutil
import struct
import time
import traceback
import warnings

import polars as pl
import pytest
from explore_runs import client_of, finished

from coterie.errors import InputError
from coterie.explore.guard import FAULT
from coterie.runs import open_run
from coterie.storage.files import checksum
from fuzzing import cases, chance, forged, one_sentence, shown
from test_model_files import damaged

pytestmark = pytest.mark.fuzz
LONGEST = 20.0  # seconds of the processor for one small run; the usual one takes a tenth
JSON = ("run.json", "edits.json", "model/state.json")
FILES = (
    *JSON, "run.json", "run.json", "topics.csv", "assignments.parquet", "assignments.csv", "map.safetensors", "report.html",
    "model/arrays.safetensors",
)  # fmt: skip
#: Parts of what the live page asks for.
ROUTES = (
    "", "/topics/0", "/topics/3", "/texts", "/texts?q=parcel", "/texts?q=parcel&mode=meaning", "/texts?sort=confidence",
    "/texts?class=login", "/texts?since=2024-02-01&until=2024-05-01", "/texts?topic=1&least=0.5", "/texts/0", "/texts/159",
    "/map", "/map?x0=0&y0=0&x1=1&y1=1", "/export?format=csv", "/export?format=parquet", "/report",
)  # fmt: skip


# --- damage


def harm(path, draw):
    """Change a file: bytes, values, columns, or what it is."""
    kind = draw.random()
    if kind < 0.06:
        replaced(path, draw)
    elif kind < 0.75 and path.suffix == ".json" and (whole := parsed(path)) is not None:
        path.write_text(json.dumps(forged(whole, draw)), encoding="utf-8", errors="replace")
    elif kind < 0.75 and path.suffix == ".parquet":
        path.write_bytes(retold(pl.read_parquet(path), draw))
    elif kind < 0.75 and path.suffix == ".safetensors":
        path.write_bytes(reshaped(path.read_bytes(), draw))
    else:
        path.write_bytes(damaged(path.read_bytes(), draw))


def parsed(path):
    """The content of a JSON file, unless it was harmed before."""
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        return None


def replaced(path, draw):
    """Something else in the place of a file."""
    content = path.read_bytes()
    path.unlink()
    match draw.randrange(5):
        case 0:
            path.write_bytes(b"")
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(path.name)
        case 3:
            path.symlink_to(os.devnull)
        case _:
            path.write_bytes(content * 2)


def retold(table, draw):
    """A sound Parquet file with other columns, types or rows."""
    name = draw.choice(table.columns)
    options = [
        lambda: table.drop(name),
        lambda: table.rename({name: name + "2"}),
        lambda: table.with_columns(pl.lit(None).alias(name)),
        lambda: table.with_columns(pl.lit(draw.choice([-1, 99, 2**40, 0.5, float("nan"), "x", "é"])).alias(name)),
        lambda: table.with_columns(pl.col(name).cast(pl.String).cast(pl.Binary)),
        lambda: table.with_columns(pl.concat_list(pl.col(name).cast(pl.String))),
        lambda: table.with_columns(pl.struct(name).alias(name)),
        lambda: table.with_columns(pl.col(name).reverse()),
        lambda: table.head(draw.randrange(len(table))),
        lambda: pl.concat([table, table]),
    ]  # fmt: skip
    out = io.BytesIO()
    draw.choice(options)().write_parquet(out)
    return out.getvalue()


def reshaped(data, draw):
    """A file of arrays whose header says something else, or whose numbers are others."""
    length = struct.unpack("<Q", data[:8])[0]
    header, numbers = data[8 : 8 + length], bytearray(data[8 + length :])
    if draw.random() < 0.5:
        header = json.dumps(forged(json.loads(header), draw)).encode()
    else:
        at = draw.randrange(len(numbers))
        numbers[at : at + 8] = draw.choice(
            [b"\xff" * 8, bytes(8), struct.pack("<d", 1e300), draw.randbytes(8)]
        )
    return struct.pack("<Q", len(header)) + header + numbers


def put_right(folder):
    """Checksums of the files as they are now, where run.json still has a place for them."""
    path = folder / "run.json"
    try:
        whole = json.loads(path.read_bytes())
        for name, known in whole["files"].items():
            file = folder / name
            if file.is_file():
                known |= {"bytes": file.stat().st_size, "sha256": checksum(file)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    path.write_text(json.dumps(whole), encoding="utf-8", errors="replace")


def spoil(folder, draw):
    """One or two files of a run harmed; the checksums of most are put right again."""
    for name in draw.sample(FILES, draw.choice([1, 1, 2])):
        if (folder / name).is_file():
            harm(folder / name, draw)
    if draw.random() < 0.7:
        put_right(folder)


# --- what is asked


def parts(folder):
    """What a program asks of a run, each part on its own."""
    yield lambda: open_run(folder).table
    yield lambda: open_run(folder).input()
    yield lambda: open_run(folder).texts()
    yield lambda: open_run(folder).map()
    yield lambda: open_run(folder).with_texts().hierarchy()
    yield lambda: changed(folder, lambda model: model.edits.rename(model.topics[0].id, "a name"))
    yield lambda: changed(folder, lambda model: model.edits.merge(*[topic.id for topic in model.topics[:2]]))
    yield lambda: changed(folder, lambda model: model.edits.undo())


def changed(folder, change):
    """The run after a change was saved: it can be opened again."""
    run = open_run(folder)
    change(run.with_texts())
    run.save()
    assert len(open_run(folder).table) == run.info["data"]["texts"]


def faults_of(folder):
    """What a program is told that is neither an answer nor a sentence."""
    for part in parts(folder):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numbers may be nonsense
                part()
        except InputError as error:
            if not one_sentence(str(error)):
                yield str(error)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a panic of polars is no Exception
            yield traceback.format_exc()


def asked(client, name):
    """All answers of the live page about a run."""
    yield client.get("/api/runs")
    yield client.get(f"/api/compare?a={name}&b=run")
    yield client.get(f"/api/compare?a=run&b={name}")
    for route in ROUTES:
        yield client.get(f"/api/runs/{name}{route}")
    yield client.post(f"/api/runs/{name}/assign", json={"texts": ["late parcel"]})
    for what, body in (("edits", {"kind": "rename", "topics": [0], "label": "b"}), ("undo", {})):
        version = client.get(f"/api/runs/{name}").json().get("version", "0" * 16)
        yield client.post(f"/api/runs/{name}/{what}", json={"version": version, **body})


def refusals(client, name):
    """Answers that no client should see."""
    for answer in asked(client, name):
        known = answer.json() if answer.status_code >= 400 else {}
        if answer.status_code == 202:
            known = {"error": finished(client, answer)["error"]}
        said = known.get("error") or "-"
        later = answer.status_code == 503 and known.get("retry")
        if (answer.status_code >= 500 and not later) or FAULT in said or not one_sentence(said):
            yield f"{answer.request.method} {answer.request.url}: {answer.status_code} {said}"


# --- the targets


def wrong_with(folder, client, draw):
    """Everything that is wrong with the answers about a spoilt run."""
    spoil(folder, draw)
    twin = shutil.copytree(folder, folder.with_name(folder.name + "-page"), symlinks=True)
    began = time.process_time()
    found = [*faults_of(folder), *refusals(client, twin.name)]
    taken = time.process_time() - began
    return found + ([f"it took {taken:.0f} s"] if taken > LONGEST else [])


@pytest.mark.parametrize("part", range(4))
def test_a_spoilt_run_is_answered_or_refused_in_a_sentence(fitted, tmp_path, part, tried, caplog):
    shutil.copytree(fitted / "run", tmp_path / "run")
    wrong = {}
    with client_of(tmp_path) as client:
        for number in range(cases(6)):
            folder = shutil.copytree(fitted / "run", tmp_path / f"case-{number}")
            tried()
            caplog.clear()
            if found := wrong_with(folder, client, chance("runs", part, number)):
                wrong[f"part {part}, run {number}"] = "\n".join([*found, caplog.text])
            for path in tmp_path.glob("case-*"):
                shutil.rmtree(path)
    assert not wrong, shown(wrong)
