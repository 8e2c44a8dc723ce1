"""Many processes that change and read one run folder; each notes what it was told was done.

`python runs_crowd.py FOLDER TEXTS NOTES SEED OPERATIONS`: as many operations, chosen by the seed. A line is written
to the file of notes before an operation begins and after it ended, so that a process that is killed leaves one that
began and did not end.
"""

import contextlib
import json
import random
import sys
import warnings
from pathlib import Path

from coterie import TopicModel
from coterie.errors import InputError
from coterie.runs import edit_run, fit_run, with_run
from coterie.runs.relabel import rename
from coterie.text import read_texts

#: What an editor may be told because others were quicker: a topic that was there is there no more.
GONE = (
    "there is no topic",
    "no topic",
    "the model has no term",
    "there is no edit",
    "cannot be split",
    "ambiguous",
)


def operations(draw, number):
    """Kinds of operations, most of them quick."""
    label = f"label {number}"
    return draw.choice(
        [
            *[("rename", label)] * 8,
            *[("pin", f"parcel late {number}")] * 4,
            *[("read", "")] * 10,
            ("merge", ""),
            ("split", ""),
            ("fit", ""),
        ]
    )


def work(kind, value, folder, texts, draw):
    """One operation; returns what marks it in the log of edits, or None."""
    if kind == "read":
        with_run(folder, read)
    elif kind == "fit":
        fit_run(read_texts(texts, "text"), folder, TopicModel(4))
    elif kind == "rename":
        rename(folder, draw.choice(with_run(folder, lambda run: run.model.topics)).id, value)
    elif kind == "pin":
        edit_run(folder, lambda model: model.edits.pin(value, draw.choice(model.topics).id))
    elif kind == "merge":
        edit_run(folder, lambda model: model.edits.merge(*chosen(model, draw)))
    else:
        edit_run(folder, lambda model: model.edits.split(draw.choice(model.topics).id, 2))
    return value or None


def chosen(model, draw):
    """Two topics; where there is one, it is merged with one that there is not."""
    ids = [topic.id for topic in model.topics]
    return draw.sample([*ids, max(ids) + 1] if len(ids) == 1 else ids, 2)


def read(run):
    """Everything of a run; it must belong together."""
    topics = {topic.id: topic.label for topic in run.model.topics}
    columns = run.columns
    table = run.table
    assert len(table) == run.info["data"]["texts"]
    pairs = dict(table.select(columns["topic"], columns["label"]).unique().iter_rows())
    assert pairs.items() <= topics.items(), (pairs, topics)
    assert len(run.map().at) == len(table)


def main(folder, texts, notes, seed, n_operations):
    draw = random.Random(seed)
    with open(notes, "w", buffering=1) as out:
        for number in range(int(n_operations)):
            kind, value = operations(draw, f"{seed}-{number}")
            out.write(json.dumps({"begun": kind, "value": value}) + "\n")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    done = work(kind, value, Path(folder), texts, draw)
                except InputError as error:
                    out.write(json.dumps({"refused": kind, "sentence": str(error)}) + "\n")
                else:
                    out.write(json.dumps({"done": kind, "value": done}) + "\n")


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(*sys.argv[1:])
