import io
import json
import os
import signal
import stat
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from coterie.cli import shared
from coterie.cli.shared import (
    input_options,
    json_option,
    max_bytes_option,
    numbers,
    open_source,
    parts,
    print_json,
    report_reading,
    safe,
    spooled,
    table,
    whole_file,
)
from coterie.errors import InputError


def shown(renderable, width=200):
    page = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    page.print(renderable)
    return page.file.getvalue()


# --- options


def test_parts_come_with_commas_or_one_by_one():
    assert parts(("a, b", "c", "", " , ")) == ["a", "b", "c"]
    assert parts(()) == []


def test_numbers_are_whole_or_told():
    assert numbers(("4,8", "12"), "--topics") == [4, 8, 12]
    for wrong in ("two", "-3", "1.5", "²"):
        with pytest.raises(InputError, match=f"--topics must be an integer, got '{wrong}'"):
            numbers((wrong,), "--topics")
    with pytest.raises(InputError, match=r"must be an integer, got '9{60}'"):
        numbers(("9" * 5_000,), "--topics")


def test_a_command_takes_the_options_of_its_input():
    @click.command()
    @click.argument("file")
    @input_options
    @json_option
    def command(file, language, as_json, **reading):
        click.echo(json.dumps([file, language, as_json, reading]))

    plain = json.loads(CliRunner().invoke(command, ["x.csv"]).output)
    assert plain == [
        "x.csv", ["english"], False,
        {
            "text": None, "skip_bad": False, "bad_rows": None, "max_bad": 10_000, "format": None, "encoding": None, "delimiter": None,
            "no_header": False, "header_row": None, "sheet": None, "max_bytes": 1 << 32,
        },
    ]  # fmt: skip
    full = ["--text", "t", "--language", "german,french", "--language", "zh", "--skip-bad", "--format", "tsv"]
    full += ["--encoding", "cp1252", "--delimiter", "tab", "--no-header", "--max-bytes", "3M", "--json"]
    full += ["--header-row", "4", "--sheet", "May", "--max-bad", "7"]
    assert json.loads(CliRunner().invoke(command, ["x", *full]).output) == [
        "x", ["german", "french", "zh"], True,
        {
            "text": "t", "skip_bad": True, "bad_rows": None, "max_bad": 7, "format": "tsv", "encoding": "cp1252", "delimiter": "\t",
            "no_header": True, "header_row": 4, "sheet": "May", "max_bytes": 3 << 20,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "size"),
    [("1", 1), ("500", 500), ("2k", 2048), ("7 MB", 7 << 20), ("4G", 4 << 30), ("1TiB", 1 << 40)],
)
def test_sizes_have_units(given, size):
    sizes = []
    command = click.Command("c", params=[], callback=lambda **options: sizes.append(options))
    CliRunner().invoke(max_bytes_option(command), ["--max-bytes", given])
    assert sizes == [{"max_bytes": size}]


@pytest.mark.parametrize("given", ["", "0", "-1", "4GG", "1.5G", "G", "²", "9" * 20])
def test_other_sizes_are_refused(given):
    command = click.Command("c", params=[], callback=lambda max_bytes: None)
    done = CliRunner().invoke(max_bytes_option(command), ["--max-bytes", given])
    assert done.exit_code == 2
    assert "is not a size such as 500M or 4G" in done.output


def test_the_formats_are_those_of_the_reader():
    from coterie.text.readers.formats import FORMATS

    assert shared._FORMATS == FORMATS


# --- input


def test_a_source_reads_as_the_options_say(tmp_path):
    file = tmp_path / "x"
    file.write_bytes("1|Rückgabe\n2|Zähler\n".encode("cp1252"))
    source = open_source(
        file, "column_2", format="csv", encoding="cp1252", delimiter="|", no_header=True, skip_bad=True
    )
    assert [text for batch in source for text in batch.texts] == ["Rückgabe", "Zähler"]


def test_several_columns_are_listed_where_none_was_chosen(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("id,subject\n1,a\n")
    with pytest.raises(InputError, match=r"no column that looks like texts; it has 'id', 'subject'"):
        list(open_source(file))


def test_a_file_is_not_copied(tmp_path):
    with spooled(str(tmp_path / "x.csv")) as path:
        assert path == str(tmp_path / "x.csv")


def test_standard_input_can_be_read_twice_and_leaves_nothing():
    @click.command()
    def command():
        with spooled("-") as path:
            for _ in range(2):
                click.echo([text for batch in open_source(path, "subject") for text in batch.texts])
        click.echo(path.parent.exists())

    out = CliRunner().invoke(command, input="id,subject\n1,late parcel\n")
    assert out.output == "['late parcel']\n['late parcel']\nFalse\n"


def test_a_fault_in_standard_input_is_told_as_such():
    @click.command()
    def command():
        with spooled("-") as path:
            list(open_source(path, "title"))

    out = CliRunner().invoke(command, input="id,subject\n1,late parcel\n")
    assert str(out.exception) == "standard input has no column 'title'; it has 'id', 'subject'"


@pytest.mark.process
def test_a_signal_leaves_no_copy_of_standard_input(tmp_path):
    script = """
import time
from coterie.cli import exits
from coterie.cli.shared import spooled
with exits.reported(), spooled("-") as path:
    print(path, flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"TMPDIR": str(tmp_path)},
    )
    process.stdin.write("late parcel\n")
    process.stdin.close()
    copy = Path(process.stdout.readline().strip())
    assert copy.read_text() == "late parcel\n"
    assert tmp_path in copy.parents
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_rows_left_out_are_counted_aloud(tmp_path, capsys):
    file = tmp_path / "x.csv"
    for bad, sentence in (
        (1, "skipped 1 row that could not be read"),
        (1200, "skipped 1,200 rows that could not be read"),
    ):
        file.write_text("a,b\n1,2\n" + "only one\n" * bad)
        source = open_source(file, "b", skip_bad=True)
        list(source)
        report_reading(source)
        err = capsys.readouterr().err
        assert err.startswith(f"{sentence}; the first is line 3")
        assert len(err.splitlines()) == 1
    file.write_text("a,b\n1,2\n")
    source = open_source(file, "b", skip_bad=True)
    list(source)
    report_reading(source)
    assert capsys.readouterr().err == ""


# --- output


def test_a_file_appears_when_it_is_whole(tmp_path):
    target = tmp_path / "x.csv"
    with whole_file(target) as path:
        path.write_text("a")
        assert not target.exists()
    assert target.read_text() == "a"
    with pytest.raises(KeyboardInterrupt), whole_file(target) as path:  # noqa: PT012
        path.write_text("b")
        raise KeyboardInterrupt
    assert target.read_text() == "a"
    assert [file.name for file in tmp_path.iterdir()] == ["x.csv"]


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for target in (tmp_path, tmp_path / "pipe", tmp_path / "link", ""):
        with pytest.raises(InputError, match="it is not a file; choose another name"), whole_file(target):
            pass
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/x.csv")
    for text in ("a", "b"):
        with whole_file(tmp_path / "link") as path:
            path.write_text(text)
        assert (tmp_path / "folder" / "x.csv").read_text() == text
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("where", ["gone/x.csv", "file/x.csv"])
def test_a_file_that_cannot_be_written_is_told_by_its_own_name(tmp_path, where):
    (tmp_path / "file").touch()
    cannot = pytest.raises(
        InputError, match=r"cannot write x\.csv: folder .* does not exist; create it first"
    )
    with cannot as error, whole_file(tmp_path / where) as path:
        path.write_text("a")
    assert ".part" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("late parcel", "late parcel"),
        ("late\nparcel\r\n\tnow", "late parcel now"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),  # the escape sequence in one character
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("\u2066x\u2069\u200f\u061c", "\\u2066x\\u2069\\u200f\\u061c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\x00\x08\x7f", "\\x00\\x08\\x7f"),
        ("half \ud83d", "half \\ud83d"),
        ("l1\u2028l2\u2029l3\x85l4", "l1 l2 l3 l4"),
        ("[bold]not markup[/bold] :smile:", "[bold]not markup[/bold] :smile:"),
        ("退款 😡 👩‍👩‍👧 می‌خواهم é", "退款 😡 👩‍👩‍👧 می‌خواهم é"),
    ],
)
def test_a_text_is_shown_and_not_obeyed(text, expected):
    assert safe(text) == expected


def test_a_long_text_is_cut():
    assert safe("a" * 10, most=10) == "a" * 10
    assert safe("a" * 11, most=10) == "a" * 9 + "…"
    assert safe("abc", most=1) == "…"
    assert len(safe("x" * 10**6, most=80)) == 80


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_unsafe_is_left(text):
    found = safe(text)
    found.encode("utf-8")
    for character in found:
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
        )  # fmt: skip
    assert safe(found) == found


def test_a_table_shows_cells_as_they_are():
    page = shown(
        table(
            ["term [x]", "texts", "weight", "note"],
            [
                ("[red]late[/red]\x1b[2J", 12345, 0.5, Text("styled", "bold")),
                ("refund", None, np.float64(2), "\u202e"),
                ("", np.int64(3), None, Path("a")),
            ],
            title="terms [of] it",
            caption="that is [all]",
        )
    )
    for part in ("[red]late[/red]\\x1b[2J", "12,345", "0.500", "2.000", "styled", "\\u202e", "term [x]"):
        assert part in page
    assert "terms [of] it" in page
    assert "that is [all]" in page
    assert "\x1b[2J" not in page
    assert "│      3 │" in page  # numbers on the right
    assert "│      - │" in page


def test_cells_of_a_table_are_cut_and_an_empty_one_is_a_table():
    assert "aaa…" in shown(table(["a"], [("a" * 100,)], most=4))
    assert "only heading" in shown(table(["only heading"], []))


@dataclass
class Result:
    name: str
    values: object


def test_json_of_all_that_results_hold(capsys):
    print_json(
        Result(
            "退款",
            {
                "array": np.arange(2),
                "number": np.float32(0.5),
                "nan": float("nan"),
                3: (np.int64(1), None, True),
                "path": Path("a/b"),
                "day": date(2025, 1, 2),
                "inner": Result("x", np.array([[np.inf]])),
            },
        )
    )
    out = capsys.readouterr().out
    assert json.loads(out) == {
        "name": "退款",
        "values": {
            "array": [0, 1], "number": 0.5, "nan": None, "3": [1, None, True], "path": "a/b",
            "day": "2025-01-02", "inner": {"name": "x", "values": [[None]]},
        },
    }  # fmt: skip
    assert "退款" in out


@given(st.text(st.characters(exclude_categories=[])))
def test_json_gives_every_text_back_and_commands_no_terminal(text):
    @click.command()
    def command():
        print_json([text])

    out = CliRunner().invoke(command).output
    assert json.loads(out) == [text]
    assert not shared._UNSAFE.search(out.replace("\n", ""))


def test_a_page_that_is_no_screen_is_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert shared.console().width == 140
    monkeypatch.setenv("COLUMNS", "77")
    assert shared.console().width == 77
