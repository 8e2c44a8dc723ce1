"""Small files that unpack to much, and a program that reads one: `python readers_bombs.py FILE`.

The program prints how it went and ends with 0 if the file was read or refused in a sentence. Its memory is limited.
"""

import gzip
import io
import json
import resource
import sys
import zipfile

import openpyxl
import polars as pl

from coterie.errors import InputError
from coterie.text import read_texts

MEMORY = 6 << 30  # bytes of addresses; the packages alone take two
SHEET = "xl/worksheets/sheet1.xml"


def workbook(*cells):
    """A workbook with one text, and these cells besides."""
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"] = "text", "late parcel"
    for cell in cells:
        book.active[cell] = "x"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def packed(name, content):
    """A workbook in which one part is something else."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook())) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for other in old.namelist():
            new.writestr(other, content if other == name else old.read(other))
    return out.getvalue()


def far_cell(draw):
    return workbook(f"{draw.choice(['XFD', 'ZZ', 'B'])}{draw.choice([1_048_576, 100_000, 5_000])}")


def far_row_number(draw):
    rows = f'<row r="{draw.choice([2**31, 2**32, 2**63, 10**30])}"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
    return packed(SHEET, f"<worksheet><sheetData>{rows}</sheetData></worksheet>")


def one_long_part(draw):
    return packed(
        draw.choice([SHEET, "xl/workbook.xml", "xl/styles.xml"]), b" " * draw.randrange(10**7, 10**8)
    )


def entities(draw):
    nested = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(draw.randrange(5, 12)))
    return packed(SHEET, f'<!DOCTYPE x [<!ENTITY a0 "x">{nested}]><worksheet>&a5;</worksheet>')


def equal_rows(draw):
    out = io.BytesIO()
    pl.DataFrame(
        {"text": pl.Series(["late parcel"]).new_from_index(0, draw.randrange(10**5, 3 * 10**6))}
    ).write_parquet(out)
    return out.getvalue()


def long_line(draw):
    return gzip.compress(b"text\n" + b"x" * draw.randrange(10**7, 10**8), 1)


def many_lines(draw):
    return gzip.compress(b"text\n" + b"\n" * draw.randrange(10**5, 10**6) + b'"' * draw.randrange(10**5), 1)


def open_quotes(draw):
    return b"text,b\n" + b'"x,' * draw.randrange(10**4, 10**5)


def deep_json(draw):
    depth = draw.randrange(10**3, 10**6)
    return b'{"text":' + b"[" * depth + b"]" * draw.choice([0, depth]) + b"}\n"


def wide_json(draw):
    return json.dumps({f"k{number}": 1 for number in range(draw.randrange(10**4, 10**5))}).encode() + b"\n"


def wide_table(draw):
    columns = draw.randrange(10**3, 10**5)
    return b",".join(b"c%d" % number for number in range(columns)) + b"\n" + b"," * (columns - 1) + b"\n"


BOMBS = {
    "far.xlsx": far_cell, "row.xlsx": far_row_number, "part.xlsx": one_long_part, "entities.xlsx": entities,
    "equal.parquet": equal_rows, "long.csv.gz": long_line, "lines.csv.gz": many_lines, "quotes.csv": open_quotes,
    "deep.jsonl": deep_json, "wide.jsonl": wide_json, "wide.csv": wide_table,
}  # fmt: skip


def main(path):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        found = sum(len(batch.texts) for batch in read_texts(path, "text", skip_bad=True))
        sys.stdout.write(f"read {found} texts\n")
    except InputError as error:
        sys.stdout.write(f"{error}\n")


if __name__ == "__main__":
    main(sys.argv[1])
