"""Topics changed by hand: rename, merge, split, ban, pin, and all of it back."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.results import Topic
from coterie.topics import edits as log
from coterie.topics.edits import Edit, Reference
from coterie.topics.learning import Counted, columns_of
from coterie.topics.placing import Placing
from coterie.topics.reshape import Merge, Split
from coterie.topics.splitting import split_topic


@dataclass(frozen=True)
class Made:
    """What edits have made of the topics: everything here starts anew when edits are replayed."""

    placing: Placing
    names: Mapping[int, str]
    pins: Mapping[str, int]


class Editable:
    """The edits of a `TopicModel`, which says what topics there are and how they are described anew."""

    edits: tuple[Edit, ...]
    #: How many of them found no topic in the last fit.
    left_out_: int = 0
    vectorizer_: Vectorizer
    _fitted: Made
    _made: Made
    #: What there was before each edit, and how many had been left out; unknown of edits that were loaded.
    _history: tuple[tuple[Made, int], ...] = ()

    @property
    @abstractmethod
    def topics(self) -> tuple[Topic, ...]:
        """The topics as they are now."""

    @abstractmethod
    def _describe(self) -> None:
        """Read everything that is shown of topics off the texts."""

    @abstractmethod
    def _relabel(self) -> None:
        """The same topics under the names they have now."""

    @abstractmethod
    def _training(self, why: str) -> Counted:
        """The texts the topics were learned from."""

    def rename(self, topic: int | str, label: str) -> Self:
        """Call a topic something else. A topic is named by its id, its label, or the beginning of that."""
        return self.edit(Edit("rename", self._references(topic), label=label))

    def merge(self, into: int | str, *others: int | str) -> Self:
        """Make other topics a part of one."""
        return self.edit(Edit("merge", self._references(into, *others)))

    def split(self, topic: int | str, parts: int = 2) -> Self:
        """Make several topics of one; the largest part keeps the id and the name."""
        return self.edit(Edit("split", self._references(topic), parts=parts))

    def ban(self, *terms: str) -> Self:
        """Let terms count for nothing, here and in the next fit."""
        return self.edit(Edit("ban", terms=terms))

    def pin(self, text: str, topic: int | str) -> Self:
        """Put a text, and each that is word for word the same, into a topic."""
        return self.edit(Edit("pin", self._references(topic), text=text))

    def undo(self, edits: int = 1) -> Self:
        """Take the last edit back, or the last few."""
        self._training("edits are undone with the texts that topics were learned from")
        if not self.edits:
            raise InputError("there is no edit to undo")
        if not 1 <= edits <= len(self.edits):
            raise InputError(f"there are {len(self.edits)} edits to undo; {edits} were to be")
        with self._all_or_nothing():
            if len(self._history) == len(self.edits):
                self._go_back(edits)
            else:
                before = self.edits[:-edits]
                self._made, self.edits = self._fitted, ()
                self._describe()
                self._replay(before)
        return self

    def edit(self, *edits: Edit) -> Self:
        """Apply edits in order and add them to the log, all or none."""
        self._training("topics are edited with the texts they were learned from")
        with self._all_or_nothing():
            self._follow(edits, None)
        return self

    def _replay(self, edits: Iterable[Edit]) -> None:
        self.left_out_, self._history = 0, ()

        def leave_out(error: InputError) -> None:
            self.left_out_ += 1
            warnings.warn(f"an edit was left out: {error}", stacklevel=6)

        self._follow(edits, leave_out)

    def _follow(self, edits: Iterable[Edit], leave_out: Callable[[InputError], None] | None) -> None:
        """Apply edits in order; pins that follow each other change no topic's name: they are described once.

        An edit whose topic is not found is an error, or is left out.
        """
        due = False
        for edit in edits:
            if due and edit.kind != "pin":
                self._describe()
                due = False
            before = self._made, self.left_out_
            try:
                self._apply(edit)
                due |= edit.kind == "pin"
            except InputError as error:
                if leave_out is None:
                    raise
                leave_out(error)  # but kept: it may mean something again in the next fit
            self._history, self.edits = (*self._history, before), (*self.edits, edit)
        if due:
            self._describe()

    def _go_back(self, edits: int) -> None:
        made, left_out = self._history[-edits]
        renamed = made.placing is self._made.placing and made.pins is self._made.pins
        self._made, self.left_out_ = made, left_out
        self._history, self.edits = self._history[:-edits], self.edits[:-edits]
        if renamed:
            self._relabel()
        else:
            self._describe()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _references(self, *topics: int | str) -> tuple[Reference, ...]:
        return tuple(Reference.to(log.named_topic(topic, self.topics)) for topic in topics)

    def _apply(self, edit: Edit) -> None:
        """Make the change; a pin is to be described by the caller."""
        log.check(edit)
        made = self._made
        placing = made.placing
        found = [log.find_topic(reference, self.topics) for reference in edit.topics]
        topics = [topic.id for topic in found if topic is not None]
        if len(topics) < len(found):
            raise InputError(f"cannot {edit}: there is no such topic")
        if len(set(topics)) < len(topics):
            raise InputError(f"cannot {edit}: these topics are one by now")
        if edit.kind == "rename":
            made = replace(made, names={**made.names, topics[0]: edit.label.strip()})
        elif edit.kind == "pin":
            made = replace(made, pins={**made.pins, edit.text: topics[0]})
        elif edit.kind == "ban":
            columns = self._columns(edit.terms)
            if not columns:
                raise InputError(f"cannot {edit}: no term of the model is written like that")
            banned = tuple(sorted({*placing.banned, *columns}))
            made = replace(made, placing=replace(placing, banned=banned))
        elif edit.kind == "merge":
            merge = Merge(topics[0], tuple(topics[1:]))
            pins = {text: merge.into if at in merge.others else at for text, at in made.pins.items()}
            made = replace(made, placing=placing.changed(merge), pins=pins)
        else:
            made = replace(made, placing=placing.changed(self._split(topics[0], edit.parts)))
        before, self._made = self._made, made
        try:
            if edit.kind == "rename":
                self._relabel()
            elif edit.kind != "pin":
                self._describe()
        except BaseException:
            self._made = before
            raise

    def _split(self, topic: int, parts: int) -> Split:
        placing, counted = self._made.placing, self._training("a topic is split by its texts")
        new = max((*placing.ids, *self._ever)) + 1
        column = placing.ids.index(topic)
        return split_topic(counted.engine(), placing, column, parts, new, counted.vectors)

    @property
    def _ever(self) -> set[int]:
        """Ids that topics have or had: an id is never given twice."""
        merged = (change for change in self._made.placing.changes if isinstance(change, Merge))
        return {topic for change in merged for topic in change.others}

    def _columns(self, terms: Iterable[str]) -> tuple[int, ...]:
        terms = list(terms)
        return (
            tuple(sorted({int(c) for held in columns_of(terms, self.vectorizer_) for c in held}))
            if terms
            else ()
        )
