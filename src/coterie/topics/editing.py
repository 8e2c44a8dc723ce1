"""Edits of topics: rename, merge, split, ban, pin, undo."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, shown
from coterie.results import Topic, Topics
from coterie.text.inputs import is_unicode
from coterie.topics import edits as log
from coterie.topics.collection import Collection
from coterie.topics.describe import (
    Description,
    Points,
    Reading,
    describe,
    finish,
    read_topics,
    typical_texts,
)
from coterie.topics.edits import Edit, Reference
from coterie.topics.labels import topic_labels
from coterie.topics.naming import topic_names
from coterie.topics.predefined import columns_of
from coterie.topics.prompts import check_free, checked_name
from coterie.topics.reshape import Drop, Ints, Merge
from coterie.topics.scorer import Scorer
from coterie.topics.scores import Scores
from coterie.topics.splitting import split_topic

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel


#: Terms of a topic that are kept.
_TERMS = 20
#: Different states that are kept for undo, and edits between them; those before are replayed.
_KEPT_STATES, _KEPT_STEPS = 20, 200


@dataclass(frozen=True)
class Edited:
    """What edits have made of topics: how texts are scored, what topics are called, where texts are pinned.

    Names and descriptions are by topic, pins are topics by text.
    """

    scorer: Scorer
    names: Mapping[int, str]
    pins: Mapping[str, int]
    descriptions: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """A fitted model at one moment: an edit makes a new state, and undo returns to an old one.

    `scores` is None in a model without its texts. `skipped` counts edits of `log` that found no topic.
    Between bans and pins that follow each other the description is `stale`.
    """

    edited: Edited
    description: Description
    scores: Scores | None
    topics: Topics
    log: tuple[Edit, ...] = ()
    skipped: int = 0
    stale: bool = False


class Edits(Sequence[Edit]):
    """The edits of a model in order, and the ways to make another, one after the other if you like:
    ``model.edits.rename(0, "Late parcels").merge(1, 4)``. Each is all or nothing.
    """

    def __init__(self, model: TopicModel):
        self._model = model

    def rename(self, topic: int | str, label: str, description: str = "") -> Edits:
        """Give a topic another label, and a description if you like.

        Topics are named by id, by label, or by the beginning of a label.
        """
        return self.apply(Edit("rename", self._references(topic), label=label, description=description))

    def name_topics(self, function: Callable[[Topic], str | None]) -> Edits:
        """Rename topics by what a function says of each; None leaves a topic as it is.

        All names are asked for first, then checked and applied, all or none. A prompt about a topic for a
        language model is written by `coterie.topics.prompts.topic_prompt`.
        """
        if not callable(function):
            raise InputError(f"function must be a function of a topic, got {shown(function)}")
        topics, new = self._model.topics, {}
        for topic in topics:
            if (said := function(topic)) is not None:
                try:
                    new[topic.id] = checked_name(said).name
                except InputError as error:
                    raise InputError(f"topic {topic.id} cannot be called {shown(said)}: {error}") from None
        for number, label in new.items():
            check_free(label, [new.get(other.id, other.label) for other in topics if other.id != number])
        renamed = [topic for topic in topics if topic.id in new]
        return self.apply(*(Edit("rename", (Reference.to(t),), label=new[t.id]) for t in renamed))

    def merge(self, into: int | str, *others: int | str) -> Edits:
        """Merge other topics into one."""
        return self.apply(Edit("merge", self._references(into, *others)))

    def split(self, topic: int | str, parts: int = 2) -> Edits:
        """Make several topics of one; the largest part keeps the id and the label."""
        return self.apply(Edit("split", self._references(topic), parts=parts))

    def ban(self, *terms: str) -> Edits:
        """Ignore terms, here and in the next fit."""
        return self.apply(Edit("ban", terms=terms))

    def pin(self, text: str, topic: int | str) -> Edits:
        """Fix the topic of a text, and of every identical text."""
        return self.apply(Edit("pin", self._references(topic), text=text))

    def apply(self, *edits: Edit) -> Edits:
        """Apply edits in order and add them to the log, all or none."""
        apply(self._model, edits)
        return self

    def undo(self, edits: int = 1) -> Edits:
        """Undo the last edit, or the last few."""
        if not len(self):
            raise InputError("there is no edit to undo")
        if not isinstance(edits, int) or not 1 <= edits <= len(self):
            raise InputError(f"there are {len(self)} edits to undo, not {shown(edits)}")
        undo(self._model, edits)
        return self

    def stamp(self, made: str) -> Edits:
        """Note when the last edit was made."""
        state = self._model.state
        self._model.state = replace(state, log=(*state.log[:-1], replace(state.log[-1], made=made)))
        return self

    def _references(self, *topics: int | str) -> tuple[Reference, ...]:
        return tuple(Reference.to(log.named_topic(topic, self._model.topics)) for topic in topics)

    @property
    def _log(self) -> tuple[Edit, ...]:
        return self._model.state.log

    def __len__(self) -> int:
        return len(self._log)

    @overload
    def __getitem__(self, at: int) -> Edit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Edit, ...]: ...
    def __getitem__(self, at: int | slice) -> Edit | tuple[Edit, ...]:
        return self._log[at]

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._log)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} edits>" + "".join(f"\n{n}. {edit}" for n, edit in enumerate(self, 1))


# --- from one state to the next


def apply(model: TopicModel, edits: Iterable[Edit]) -> None:
    """Apply edits in order and add them to the log, all or none."""
    edits = log.checked_edits(tuple(edits))
    if any(edit.kind != "rename" for edit in edits):
        _texts_of(model, "topics are edited with the texts they were learned from")
    before = model.state, model._history
    try:
        with one_blas_thread():
            _follow(model, edits, skip=False)
    except BaseException:
        model.state, model._history = before
        raise


def undo(model: TopicModel, edits: int) -> None:
    """Take the last edits back: to the state before them if it is kept, else by replaying those before."""
    if edits <= len(model._history):
        model.state, model._history = model._history[-edits], model._history[:-edits]
        if model.state.stale:
            model.state = described(model, model.state.edited, before=model.state)
        return
    _texts_of(model, "edits are undone with the texts that topics were learned from")
    before = model.state, model._history
    try:
        with one_blas_thread():
            kept = model.state.log[:-edits]
            fitted = described(model, model.fitted, before=model.state)
            model.state, model._history = replace(fitted, log=(), skipped=0), ()
            replay(model, kept)
    except BaseException:
        model.state, model._history = before
        raise


def replay(model: TopicModel, edits: Iterable[Edit]) -> None:
    """Apply edits of an earlier fit; those whose topic is not found are skipped with a warning."""
    _follow(model, edits, skip=True)


def adopt(model: TopicModel, edits: Sequence[Edit]) -> None:
    """Let these be all edits of the model: what differs from them at the end of its log is replaced."""
    now = model.state.log
    same = 0
    while same < min(len(now), len(edits)) and now[same] == edits[same]:
        same += 1
    if same < len(now):
        undo(model, len(now) - same)
    with one_blas_thread():
        replay(model, edits[same:])


def _follow(model: TopicModel, edits: Iterable[Edit], *, skip: bool) -> None:
    """Apply edits in order. Bans and pins are described once where nothing asks for topics in between.

    Bans name no topic, and pins change no label.
    """
    edits, due = tuple(edits), ""
    columns = _columns_of_bans(model, edits)
    for edit in edits:
        if due and edit.kind not in ("ban", due):
            model.state, due = described(model, model.state.edited, before=model.state), ""
        state = model.state
        try:
            edited = _applied(model, edit, columns)
            if edit.kind == "rename":
                new = replace(
                    state, edited=edited, topics=_topics(model, edited, state.description, state.topics)
                )
            elif edit.kind in ("ban", "pin"):
                new, due = replace(state, edited=edited, stale=True), edit.kind
            else:
                new = described(model, edited, before=state)
            new = replace(new, log=(*state.log, edit))
        except InputError as error:
            if not skip:
                raise
            # kept in the log: it may mean something again in the next fit
            new = replace(state, log=(*state.log, edit), skipped=state.skipped + 1)
            warnings.warn(f"skipped an edit: {error}", stacklevel=5)
        model._history = _kept((*model._history, state))
        model.state = new
    if due:
        model.state = described(model, model.state.edited, before=model.state)


def _columns_of_bans(model: TopicModel, edits: Sequence[Edit]) -> dict[str, Ints]:
    """The columns of all terms that edits ban, looked up together: one by one takes longer."""
    terms = {
        term: None
        for edit in edits
        for term in edit.terms
        if edit.kind == "ban" and isinstance(term, str) and is_unicode(term)
    }
    return dict(zip(terms, columns_of(list(terms), model.vectorizer_), strict=True)) if terms else {}


def _kept(history: tuple[State, ...]) -> tuple[State, ...]:
    """The last states; those that share their scores, as between renames and pins, count as one."""
    history = history[-_KEPT_STEPS:]
    distinct = list(dict.fromkeys(id(state.scores) for state in reversed(history)))[:_KEPT_STATES]
    return tuple(state for state in history if id(state.scores) in set(distinct))


def described(
    model: TopicModel, edited: Edited, reading: Reading | None = None, before: State | None = None
) -> State:
    """Topics as edits have made them, described by their texts: one pass over the distinct ones.

    `reading` is that pass, where it was made already, and `before` the state that was edited. Topics that
    nobody named and no text is in any more are dropped.
    """
    collection = _texts_of(model, "topics are described by the texts they were learned from")
    scorer, documents = edited.scorer, collection.corpus.engine
    if reading is None:
        pinned = {
            int(row): scorer.ids.index(edited.pins[text])
            for text, numbers in collection.texts.where(list(edited.pins)).items()
            for row in np.unique(collection.corpus.rows[numbers])
        }
        reading = read_topics(documents, scorer, pinned, collection.embeddings)
        wanted = {*edited.names, *edited.pins.values()}
        empty = [topic for topic, size in zip(scorer.ids, reading.sizes, strict=True) if not size]
        if dropped := tuple(topic for topic in empty if topic not in wanted)[: len(scorer.ids) - 1]:
            return described(model, replace(edited, scorer=scorer.changed(Drop(dropped))), before=before)
    earlier = None if before is None else before.description
    ranked = scorer.method.ranked_terms if earlier is None and not scorer.banned else None
    description = describe(
        documents,
        scorer,
        reading,
        None if earlier is None else earlier.confidence,
        None if earlier is None else earlier.known,
        None if ranked is None else ranked[scorer.order],
    )
    placed = _placed(edited, before)
    scores = finish(documents, scorer, reading, description, placed, collection.embeddings)
    names = topic_names(collection, model.vectorizer_, scores.topic, description, scorer.banned)
    description = replace(description, examples=typical_texts(reading, description, scores), names=names)
    log, skipped = ((), 0) if before is None else (before.log, before.skipped)
    return State(edited, description, scores, _topics(model, edited, description), log, skipped)


def _placed(edited: Edited, before: State | None) -> Points | None:
    """Where texts lie already; None if they were not placed, or if a ban changed what they say."""
    if before is None or before.scores is None or before.stale:
        return None
    if before.edited.scorer.banned != edited.scorer.banned:
        return None
    return before.scores.position


def _topics(
    model: TopicModel, edited: Edited, description: Description, before: Sequence[Topic] | None = None
) -> Topics:
    """Topics as people read them; examples are those of topics `before`, if these only have other labels."""
    if before is not None:
        examples = [topic.examples for topic in before]
    else:
        collection = _texts_of(model, "typical texts are looked up")
        wanted = np.unique(np.concatenate([collection.first[rows] for rows in description.examples]))
        texts = collection.texts.at(wanted)
        examples = [tuple(texts[int(n)] for n in collection.first[rows]) for rows in description.examples]
    return topics_of(model.vectorizer_.vocabulary_.display, edited, description, examples)


def topics_of(
    display: Sequence[str], edited: Edited, description: Description, examples: Sequence[tuple[str, ...]]
) -> Topics:
    """Topics as people read them."""
    total = max(float(description.sizes.sum()) + description.lost, 1e-300)
    ids = edited.scorer.ids
    terms = [[display[c] for c in columns] for columns in description.terms]
    labels = topic_labels(terms, ids, edited.names, description.names)
    return Topics(
        Topic(
            id=topic,
            label=labels[at],
            terms=tuple(display[column] for column in description.terms[at][:_TERMS]),
            weights=tuple(description.shares(at, description.terms[at][:_TERMS]).tolist()),
            size=int(description.sizes[at]),
            share=float(description.sizes[at] / total),
            coherence=float(description.coherence[at]),
            distinctiveness=float(description.distinctiveness[at]),
            examples=examples[at],
            description=edited.descriptions.get(topic, ""),
        )
        for at, topic in enumerate(ids)
    )


def _texts_of(model: TopicModel, why: str) -> Collection:
    if model.collection is None:
        raise InputError(
            f"{why}, which a loaded model does not have; use coterie.open_run(folder).with_texts()"
        )
    return model.collection


def _applied(model: TopicModel, edit: Edit, columns: Mapping[str, Ints]) -> Edited:
    """What an edit makes of the topics; `columns` are those of terms to ban."""
    log.check(edit)
    state = model.state
    edited, scorer = state.edited, state.edited.scorer
    matches = [log.find_topic(reference, state.topics) for reference in edit.topics]
    topics = [topic.id for topic in matches if topic is not None]
    if len(topics) < len(matches):
        raise InputError(f"cannot {edit}: there is no such topic")
    if len(set(topics)) < len(topics):
        raise InputError(f"cannot {edit}: these are one topic by now")
    if edit.kind == "rename":
        said = {topics[0]: edit.description.strip()} if edit.description.strip() else {}
        names = {**edited.names, topics[0]: edit.label.strip()}
        return replace(edited, names=names, descriptions={**edited.descriptions, **said})
    if edit.kind == "pin":
        if not edit.text.strip():
            raise InputError("an empty text cannot be moved: every other empty text would go with it")
        return replace(edited, pins={**edited.pins, edit.text: topics[0]})
    if edit.kind == "ban":
        banned = {int(column) for term in edit.terms for column in columns[term]}
        if not banned:
            raise InputError(f"cannot {edit}: the model has no such term")
        return replace(edited, scorer=replace(scorer, banned=tuple(sorted({*scorer.banned, *banned}))))
    if edit.kind == "merge":
        merge = Merge(topics[0], tuple(topics[1:]))
        pins = {text: merge.into if topic in merge.others else topic for text, topic in edited.pins.items()}
        return replace(edited, scorer=scorer.changed(merge), pins=pins)
    collection = _texts_of(model, "a topic is split by its texts")
    assert state.scores is not None
    ever = {
        *scorer.ids,
        *(topic for change in scorer.changes for topic in change.named),
    }  # no id is given twice
    split = split_topic(
        collection.corpus.engine,
        scorer,
        state.scores,
        scorer.ids.index(topics[0]),
        edit.parts,
        max(ever) + 1,
        collection.embeddings,
    )
    return replace(edited, scorer=scorer.changed(split))
