"""Damaged files of every format: batches or one sentence, never anything else, and no row lost unsaid."""

import gzip
import re
import time

import pytest

from coterie.errors import InputError
from coterie.text import read_texts
from damage import damaged, damages, some_file, sound_files
from fuzzing import cases, chance, one_sentence

pytestmark = pytest.mark.fuzz
FILES = cases(2_000)
SHARES = 8
LONGEST = 5.0  # seconds of the processor for one small file; the usual one takes a hundredth


@pytest.fixture(scope="module")
def seeds():
    return sound_files()


def lines_of(data, encoding=None):
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", data.decode(encoding or "utf-8-sig", "replace"))


def unaccounted(lines, batches, bad_rows):
    """Numbers of lines that are in no row of a table and in no bad row, and are not blank."""
    ends = {bad.line: len(lines) for bad in bad_rows}  # a bad row may go on to where the next one begins
    for batch in batches:
        for line, cells in zip(batch.lines, batch.table.rows(), strict=True):
            ends[line] = line + sum(len(re.findall("\r\n|\r|\n", cell)) for cell in cells)
    missing, end = [], 0
    first = min(ends, default=len(lines))
    for number, line in enumerate(lines, start=1):
        end = ends.get(number, end)
        if number >= first and number > end and line.strip("\r\n"):
            missing.append(number)
    return missing


@pytest.mark.parametrize("share", range(SHARES))
def test_damaged_files_give_batches_or_one_sentence(seeds, tmp_path, share, tried):
    rng = chance("readers", share)
    others = list(seeds.values())
    read = 0
    for number in range(FILES // SHARES):
        name = some_file(seeds, rng)
        data = damages(name, rng)(seeds[name], others, rng)
        zipped = rng.random() < 0.2
        content = gzip.compress(data, 1) if zipped else data
        if zipped and rng.random() < 0.2:
            content = damaged(content, others, rng)
            data = b""  # what comes out of it is not known
        path = tmp_path / (name + ".gz" if zipped else name)
        path.write_bytes(content)
        column = "text" if rng.random() < 0.9 else None
        skip_bad = rng.random() < 0.7
        source = read_texts(path, column, skip_bad=skip_bad, batch_rows=rng.choice([1, 7, 20_000]))
        which = f"share {share}, file {number}, {name}"
        tried()
        told, began = "", time.process_time()
        try:
            batches = list(source)
        except InputError as error:
            told = str(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of polars is no Exception
            pytest.fail(f"{which}: {error!r}")
        assert time.process_time() - began < LONGEST, which
        if told:
            assert str(path) in told, which
            assert one_sentence(told), which
        else:
            read += 1
            check(batches, source, data, which)
    assert read > FILES // SHARES // 4  # damage is not always fatal, or the test would show little


def check(batches, source, data, which):
    lines = [line for batch in batches for line in batch.lines]
    assert lines == sorted(set(lines)), which
    for batch in batches:
        assert len(batch.texts) == batch.table.height == len(batch.lines), which
        assert batch.texts.null_count() == 0, which
    assert source.skip_bad or source.skipped == 0, which
    assert len(source.bad_rows) == min(source.skipped, 10_000), which
    name = str(source.path)
    if not data or source.skipped > 20 or not data[:100].isascii() or b"\0" in data[:100]:
        return  # in UTF-16, or of another format
    if "lines" in name:
        assert len(lines) + source.skipped == len(lines_of(data)), which
    elif "jsonl" in name:
        full = [line for line in lines_of(data) if line.strip()]
        assert len(lines) + source.skipped == len(full), which
    elif "sv" in name:
        assert not unaccounted(lines_of(data), batches, source.bad_rows), which
