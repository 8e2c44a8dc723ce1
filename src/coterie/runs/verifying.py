"""A run computed again from what it recorded, and compared step by step."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from coterie.embeddings import saved_as
from coterie.engines import Cluster
from coterie.errors import InputError
from coterie.runs import differences
from coterie.runs.origin import Origin, origin_of, plain_parameters
from coterie.runs.record import MARKER, MODEL, TABLE, check_file, read_record
from coterie.runs.run import Run
from coterie.runs.steps import (
    STEPS,
    AssignmentsDigest,
    assigned,
    assignments_digest,
    described_steps,
    fit_steps,
    learned_steps,
)
from coterie.runs.table import read_table
from coterie.storage.folder import as_path, recover
from coterie.storage.temporary import TemporaryFolder
from coterie.topics import TopicModel
from coterie.topics.editing import adopt

_OTHER_TEXTS = "the same terms, each as often, in other texts"
#: The step before all others: whether the folder is as it was written.
FILES = "files"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run: whether it came out the same, None if not compared, and by how much it differs.

    >>> print(Step("vectors", False, "the largest difference is 1e-16"))
    vectors: differs, the largest difference is 1e-16
    """

    name: str
    same: bool | None
    about: str = ""

    def __str__(self) -> str:
        said = {True: "identical", False: "differs", None: "not compared"}[self.same]
        return f"{self.name}: {said}" + (f", {self.about}" if self.about else "")


@dataclass(frozen=True, slots=True)
class Verification:
    """A run that was computed again: what came out of each step, in order.

    `source` is where the texts were read from, and `notes` say what is not as it was at the fit: versions,
    the machine, the place of the texts.
    """

    folder: Path
    source: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether nothing differs, and something was compared."""
        return self.first is None and any(step.same for step in self.steps[1:])

    @property
    def first(self) -> Step | None:
        """The first step that differs."""
        return next((step for step in self.steps if step.same is False), None)

    def __str__(self) -> str:
        return "\n".join([*self.notes, *map(str, self.steps)])


def verify(folder: str | Path, *, source: str | Path | None = None, workers: Any = None) -> Verification:
    """Compute a run again from its source, parameters and edits, and compare each step.

    Nothing in the folder is changed. The first step that differs says where results parted: what follows it
    is computed from it.

    Parameters
    ----------
    folder
        The run folder.
    source
        A file with its texts, if they are no longer where they were.
    workers
        Who computes it: a `distributed.Client` or any `concurrent.futures.Executor`, which must see the
        temporary folder. The digests are the same wherever a run was computed.
    """
    before = _Before(as_path(folder))
    origin = origin_of(before.run, before.model, source)
    with ExitStack() as stack:
        cluster = None
        if workers is not None:
            cluster = Cluster(workers, folder=stack.enter_context(TemporaryFolder("counts")))
        try:
            fit_again(origin, cluster)
        except InputError as error:
            said = _without_a_fit(before, origin, error)
        else:
            said = _compared(before, origin)
    if read_record(before.run.folder)["files"] != before.run.info["files"]:
        raise InputError(f"{before.run.folder} was changed by another process meanwhile; verify it again")
    return Verification(before.run.folder, origin.source, said, origin.notes)


def fit_again(origin: Origin, cluster: Cluster | None = None) -> TopicModel:
    """Fit the model of an origin to its texts: first with the edits of the fit, then those made since."""
    model = origin.model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # given when it was fitted
        model.fit(origin.texts, embeddings=origin.vectors, edits=origin.edits_of_fit, cluster=cluster)
        adopt(model, origin.edits)
    return model


class _Before:
    """A run as it is in its folder, however damaged: what can be read of it."""

    def __init__(self, folder: Path):
        recover(folder)
        info = read_record(folder)
        self.damaged = [name for name in info["files"] if not _sound(folder, name, info)]
        self.model: TopicModel | None = None
        with suppress(InputError):
            self.model = TopicModel.load(folder / MODEL)
        # a run that is only read: it needs no model where tables are asked for
        self.run = Run(folder, self.model, info)  # type: ignore[arg-type]

    @cached_property
    def table(self) -> pl.DataFrame | None:
        """All rows with their assignments, if they can be read."""
        with suppress(InputError):
            return read_table(self.run.folder / TABLE, self.run.info)
        return None

    @cached_property
    def assignments(self) -> pl.DataFrame | None:
        """The assignments in the table, under their own names."""
        if self.table is None:
            return None
        names = self.run.info["columns"]
        return self.table.select(
            [self.table[names[name]].alias(name) for name in ("topic", "confidence", "second", "reason")]
        )

    @cached_property
    def texts(self) -> pl.Series | None:
        """The texts that were read then, if the table can be read."""
        if self.table is None:
            return None
        self.run.__dict__["table"] = self.table
        return self.run.texts()

    def digests(self, name: str) -> set[str]:
        """The digests that a step must have: the recorded one, and that of what is in the folder."""
        recorded = (self.run.info.get("steps") or {}).get(name)
        if name == "texts":
            recorded = recorded or self.run.info["data"].get("sha256")
        return {value for value in (recorded, self._kept.get(name)) if value}

    @cached_property
    def _kept(self) -> dict[str, str]:
        kept = {} if self.model is None else {**learned_steps(self.model), **described_steps(self.model)}
        if self.assignments is not None:
            found = AssignmentsDigest({name: name for name in self.assignments.columns})
            found.add(self.assignments)
            kept["assignments"] = found.hexdigest()
        return kept


def _sound(folder: Path, name: str, info: dict[str, Any]) -> bool:
    try:
        check_file(folder, name, info)
    except (InputError, OSError):
        return False
    return True


def _files(before: _Before) -> Step:
    """Whether the files are those that were written, and the record agrees with the model beside it."""
    said = []
    if before.damaged:
        wrong = ", ".join(before.damaged)
        said.append(f"{wrong} does not have the checksum in {MARKER}: it was changed, or is damaged")
    model, info = before.model, before.run.info
    if model is not None and "fit" in info:
        own = plain_parameters(model, model.embeddings)
        other = [
            name
            for name, value in info["parameters"].items()
            if name != "embeddings" and name in own and own[name] != value
        ]
        said += [
            f"{MARKER} says {name}={json.dumps(info['parameters'][name])[:60]}, the model "
            f"{json.dumps(own[name])[:60]}"
            for name in other
        ]
    return Step(FILES, not said, "; ".join(said))


def _compared(before: _Before, origin: Origin) -> tuple[Step, ...]:
    """All steps, each against what was recorded and what the folder has."""
    model = origin.model
    now = {**fit_steps(model), **described_steps(model), "assignments": assignments_digest(model)}
    # embeddings are used in some fits alone
    names = [name for name in STEPS if name != "embeddings" or name in now or before.digests(name)]
    return (_files(before), *(_step(name, before, now.get(name), model) for name in names))


def _step(name: str, before: _Before, now: str | None, model: TopicModel) -> Step:
    expected = before.digests(name)
    if name == "counts" and not expected and before.model is not None:  # an older version
        about = differences.of_terms(before.model, model)
        return Step(name, not about, about or "terms alone, as nothing else was recorded")
    if not expected:
        return Step(name, None, "nothing was recorded")
    if expected == {now}:
        return Step(name, True)
    return Step(name, False, _by_how_much(name, before, model))


def _by_how_much(name: str, before: _Before, model: TopicModel) -> str:
    """How far a step is from what it was, as far as the run still has it."""
    assert model.collection is not None
    if name == "texts":
        return differences.of_texts(before.texts, model.collection.texts, before.run.info["data"])
    if name == "assignments":
        now = pl.concat(list(assigned(model)))
        texts = model.collection.texts.all()
        return differences.of_assignments(before.assignments, now, before.texts, texts)
    if name == "embeddings":
        return _embeddings(before, model)
    if before.model is None:
        return "the model of the run cannot be read, so nobody knows by how much"
    return _MEASURES[name](before.model, model)


def _embeddings(before: _Before, model: TopicModel) -> str:
    assert model.collection is not None
    used = before.run.info.get("fit", {}).get("embeddings")
    now = saved_as(getattr(model.fitted.scorer.method.last, "embeddings", None))
    kept = None
    with suppress(InputError):  # the step has been compared already
        kept = before.run.vectors()
    return differences.of_embeddings(kept, model.collection, used, now)


_MEASURES: dict[str, Callable[[TopicModel, TopicModel], str]] = {
    "counts": lambda before, now: differences.of_terms(before, now) or _OTHER_TEXTS,
    "vectors": differences.of_vectors,
    "topics": differences.of_learned,
    "described": differences.of_topics,
    "labels": differences.of_labels,
}


def _without_a_fit(before: _Before, origin: Origin, error: InputError) -> tuple[Step, ...]:
    """The steps of a run whose source has changed so much that it cannot be fitted any more."""
    texts = origin.texts
    if not texts.complete or texts.fingerprint in before.digests("texts"):
        raise error
    data = before.run.info["data"]
    said = f"{texts.read:,} texts instead of {data['texts']:,}"
    rest = (Step(name, None) for name in STEPS if name not in ("texts", "embeddings"))
    return (_files(before), Step("texts", False, f"{said}, which cannot be fitted: {error}"), *rest)
