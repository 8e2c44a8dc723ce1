"""Large files: bounded memory, and no surprises from long rows."""

import csv
import json
import subprocess
import sys
import threading

import pytest

from coterie.text import read_texts
from coterie.text.readers.source import BATCH_CHARS

pytestmark = pytest.mark.process
MEGABYTE = 1 << 20

PROGRAM = """
import resource, sys
from coterie.text import read_texts
import polars as pl
pl.DataFrame({"a": ["b"]})["a"].cast(pl.String).fill_null("")  # what reading loads on first use
rows = sum(len(batch.texts) for path in sys.argv[1:] for batch in read_texts(path, "text"))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def rows_and_peak(*paths):
    run = subprocess.run([sys.executable, "-c", PROGRAM, *map(str, paths)], capture_output=True, check=True)
    rows, peak = map(int, run.stdout.split())
    return rows, peak


def test_memory_does_not_grow_with_the_file(tmp_path):
    pytest.importorskip("resource")
    piece = "".join(f'{i},"a short text, with ""quotes"" and words, number {i}"\n' for i in range(10_000))
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    repeats = 30 * MEGABYTE // len(piece) + 1
    for path, times in ((small, repeats), (large, 2 * repeats)):
        with path.open("w") as out:
            out.write("id,text\n")
            for _ in range(times):
                out.write(piece)
    _, baseline = rows_and_peak()
    rows, peak = rows_and_peak(small)
    twice, peak_of_twice = rows_and_peak(large)
    assert (rows, twice) == (repeats * 10_000, 2 * repeats * 10_000)
    assert peak - baseline < 120 * MEGABYTE
    assert peak_of_twice - peak < 20 * MEGABYTE


@pytest.mark.parametrize("name", ["file.csv", "file.jsonl", "file.txt"])
def test_batches_of_long_rows_are_small(tmp_path, name):
    text = "x" * 100_000
    line = json.dumps({"text": text}) if name == "file.jsonl" else text
    path = tmp_path / name
    path.write_text("text\n" * (name == "file.csv") + f"{line}\n" * 200)
    sizes = [len(batch.texts) for batch in read_texts(path, "text")]
    assert sum(sizes) == 200
    assert max(sizes) * 100_000 < BATCH_CHARS + 32 * 100_000


def test_the_limit_of_the_process_on_cells_is_left_alone(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("id,text\n" + f"1,{'x' * 200_000}\n2,b\n" * 20)
    before = csv.field_size_limit()
    for _ in read_texts(path, "text", batch_rows=1):
        assert csv.field_size_limit() == before

    def read_all():
        for batch in read_texts(path, "text", batch_rows=1):
            lengths.append(len(batch.texts[0]))

    lengths = []
    readers = [threading.Thread(target=read_all) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert sorted(lengths) == [1] * 80 + [200_000] * 80
    assert csv.field_size_limit() == before
