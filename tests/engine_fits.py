"""Fits of one collection on any engine, cut into many parts and blocks, and what they wrote."""

import random
from pathlib import Path

import coterie.corpus.folding
import coterie.corpus.stored
import coterie.topics.collection
from coterie import TopicModel, read_texts
from coterie.runs import fit_run

SUBJECTS = {
    "parcel": [
        "parcel",
        "courier",
        "depot",
        "doorstep",
        "tracking",
        "van",
        "driver",
        "delivered",
        "missing",
        "late",
    ],
    "money": [
        "refund",
        "receipt",
        "invoice",
        "payment",
        "card",
        "tax",
        "charged",
        "twice",
        "bank",
        "statement",
    ],
    "login": [
        "password",
        "token",
        "browser",
        "cookie",
        "captcha",
        "username",
        "login",
        "locked",
        "reset",
        "account",
    ],
    "kettle": ["kettle", "lid", "steam", "boil", "switch", "plug", "leaking", "broken", "spout", "handle"],
}
#: Each is in one text alone.
SLIPS = ["recipt", "invioce", "passwrod", "accunt", "deliverd", "statment", "tracing", "browsr"]
#: Files of a run that say what was found; the rest has times in it.
COMPARED = ("model/arrays.safetensors", "topics.csv", "assignments.csv", "map.safetensors", "edits.json")


def write_texts(path: Path, n_texts: int = 3_000) -> None:
    """Texts with copies, empty ones, misspellings and other columns."""
    draw = random.Random(0)
    rows = ["id,title,day"]
    for number in range(n_texts):
        words = draw.sample(SUBJECTS[draw.choice(sorted(SUBJECTS))], draw.randint(2, 5))
        if number % 50 == 0 and number // 50 < len(SLIPS):
            words = [SLIPS[number // 50]]
        title = "" if number % 97 == 0 else " ".join(words)
        rows.append(f"{number},{title},2025-0{1 + number % 9}-11")
    path.write_text("\n".join(rows) + "\n")


def small_blocks(setattr) -> None:
    """Let a few thousand texts be many parts and blocks; what is decided there is decided by the driver."""
    setattr(coterie.corpus.folding, "BLOCK_ROWS", 64)
    setattr(coterie.corpus.stored, "PART_ROWS", 300)
    setattr(coterie.topics.collection, "PART_ROWS", 300)


def fitted(texts: Path, out: Path, **settings) -> Path:
    """The folder of a run with four topics."""
    source = read_texts(texts, "title", batch_rows=100)
    fit_run(source, out, TopicModel(4), date="day", **settings)
    return out


def written(run: Path) -> dict[str, bytes]:
    """What was found, byte for byte."""
    return {name: (run / name).read_bytes() for name in COMPARED}
