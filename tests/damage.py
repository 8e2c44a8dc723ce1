"""Files of every format that the readers read, and ways to damage them."""

import csv
import io
import json
import zipfile

import openpyxl
import polars as pl

TEXTS = [
    "Broken kettle, again",
    "=1+1",
    'he said "no"',
    "line\nbreak",
    "é漢字 👍🏽",
    "",
    "x" * 300,
    "a;b|c\td",
]
ROWS = [(str(i), text) for i, text in enumerate(TEXTS * 3)]
SPLINTERS = [
    *[b'"', b"\n", b"\r", b"\r\n", b"\0", b",", b";", b"\t", b"|", b'""', b'"x', b'x"', b'","', b"sep=;\n"],
    *[b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00\xd8", b"\x1f\x8b", b"PAR1", b"PK\x03\x04"],
    *[b"{", b"}", b"[", b"]", b"\\ud800", b"\\", b"null", b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b"&", b"<", b"]]>"],
]  # fmt: skip


def a_csv(delimiter, encoding, quoting=csv.QUOTE_MINIMAL):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerows([("id", "text"), *ROWS])
    return out.getvalue().encode(encoding)


def a_parquet():
    out = io.BytesIO()
    pl.DataFrame(ROWS, schema=["id", "text"], orient="row").write_parquet(out)
    return out.getvalue()


def an_xlsx(*above):
    """A workbook; with rows `above` the column names, and a second sheet then."""
    book = openpyxl.Workbook()
    for row in [*above, ("id", "text"), *ROWS]:
        book.active.append(row)
    if above:
        book.create_sheet("second").append(["nothing"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def a_jsonl(text):
    return "\n".join(json.dumps({"id": id, "text": text(t)}, ensure_ascii=False) for id, t in ROWS).encode()


def sound_files():
    """A file of every format, by its name."""
    return {
        "comma.csv": a_csv(",", "utf-8"),
        "marked.csv": a_csv(";", "utf-8-sig", csv.QUOTE_ALL),
        "wide.csv": a_csv(";", "utf-16"),
        "tabs.tsv": a_csv("\t", "utf-8"),
        "nameless": a_csv("|", "utf-8"),
        "texts.jsonl": a_jsonl(str),
        "tokens.jsonl": a_jsonl(str.split),
        "nested.jsonl": a_jsonl(lambda text: {"a": [text, None, 1.5]}),
        "lines.txt": "\n".join(text for _, text in ROWS).encode(),
        "small.parquet": a_parquet(),
        "sheet.xlsx": an_xlsx(),
        "array.json": json.dumps(
            [{"id": id, "text": text} for id, text in ROWS], ensure_ascii=False
        ).encode(),
        "wrapped.json": json.dumps({"n": 1, "rows": [{"text": text} for _, text in ROWS]}, indent=1).encode(),
        "titled.csv": b"Exported by HelpdeskPro\n\n" + a_csv(",", "utf-8"),
        "old.csv": b"id,text\n" + "1,荷物がまだ届きません\n2,返金をお願いします\n".encode("cp932") * 9,
        "sheets.xlsx": an_xlsx(["Notes"], ["Exported by HelpdeskPro"]),
    }


def damaged(data, others, rng):
    """Bytes flipped, cut off, put in, taken out, or grafted from another file."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(data) + 1)
        match rng.choices(range(6), [4, 1, 5, 2, 2, 2])[0]:
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1 if rng.random() < 0.3:
                del data[at:]
            case 2:
                data[at:at] = rng.choice(SPLINTERS)
            case 3:
                del data[at : at + rng.randrange(1, 50)]
            case 4:
                other = rng.choice(others)
                begin = rng.randrange(len(other))
                data[at : at + rng.randrange(20)] = other[begin : begin + rng.randrange(200)]
            case _:
                data[at : at + 4] = rng.randbytes(4)
    return bytes(data)


def damaged_inside(data, others, rng):
    """A workbook that is a sound archive, with one damaged part."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as copy:
        victim = rng.choice([name for name in archive.namelist() if name.startswith("xl/")])
        for name in archive.namelist():
            content = archive.read(name)
            copy.writestr(name, damaged(content, others, rng) if name == victim else content)
    return out.getvalue()


def some_file(files, rng):
    """One of the files; those that are read by a process of their own take longer, so they come less often."""
    names = list(files)
    rare = [name.endswith((".parquet", ".xlsx")) for name in names]
    return rng.choices(names, [1 if slow else 10 for slow in rare])[0]


def damages(name, rng):
    """The kind of damage for a file of this name."""
    return damaged_inside if name.endswith(".xlsx") and rng.random() < 0.7 else damaged
