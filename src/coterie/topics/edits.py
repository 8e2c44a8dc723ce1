"""The log of edits, in order, stored so that it can be applied again after a refit.

A topic is named by its id and by its terms. As long as the model is the same the id decides; after a new fit
the topic is the one that has most of those terms.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, get_args

from coterie.errors import InputError, shown
from coterie.results import Topic

Kind = Literal["rename", "merge", "split", "ban", "pin"]

#: Terms by which a topic is known again.
_TERMS = 10
#: A topic with a smaller part of those terms is another one.
_SAME = 0.3
#: Version of the log; since 2 a rename may have a description.
VERSION = 2
#: Longest text or label, most topics, parts and terms of an edit: more is no edit by a person.
_LONGEST, _MOST = 1_000_000, 1_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A topic at the time of an edit."""

    id: int
    label: str
    terms: tuple[str, ...]

    @classmethod
    def to(cls, topic: Topic | Reference) -> Reference:
        """What to remember of a topic."""
        return cls(topic.id, topic.label, topic.terms[:_TERMS])

    def __str__(self) -> str:
        return f"{self.id} ({self.label})"


#: What has an id and a label.
Named = TypeVar("Named", Topic, Reference)


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to topics.

    - rename: `topics[0]` is called `label`, and described by `description` if there is one
    - merge: all `topics` become the first
    - split: `topics[0]` falls into `parts`
    - ban: `terms` count for nothing
    - pin: the text `text` belongs to `topics[0]`

    `made` says when, as people write dates; it has no effect.
    """

    kind: Kind
    topics: tuple[Reference, ...] = ()
    label: str = ""
    parts: int = 0
    terms: tuple[str, ...] = ()
    text: str = ""
    made: str = ""
    description: str = ""

    def __str__(self) -> str:
        named = [str(topic) for topic in self.topics]
        if self.kind == "rename":
            return f"rename topic {named[0]} to {self.label!r}"
        if self.kind == "merge":
            return f"merge {', '.join(f'topic {name}' for name in named[1:])} into topic {named[0]}"
        if self.kind == "split":
            return f"split topic {named[0]} into {self.parts}"
        if self.kind == "ban":
            return f"ban {', '.join(map(repr, self.terms))}"
        return f"pin {_shortened(self.text)!r} to topic {named[0]}"


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def find_topic(reference: Reference, topics: Sequence[Topic]) -> Topic | None:
    """The topic an edit refers to: that with the same id if its label or most terms are the same, else the
    most similar.
    """
    known = set(reference.terms)

    def similarity(topic: Topic) -> float:
        own = set(topic.terms[:_TERMS])
        return len(known & own) / max(min(len(known), len(own)), 1)

    for topic in topics:
        alike = topic.label == reference.label or similarity(topic) > 0.5 or not known
        if topic.id == reference.id and alike:
            return topic
    best = max(topics, key=lambda topic: (similarity(topic), -topic.id), default=None)
    return best if best is not None and similarity(best) >= _SAME else None


def named_topic(name: int | str, topics: Sequence[Named]) -> Named:
    """Find a topic by its id, its label or the beginning of its label."""
    spelled = str(name).strip()
    for topic in sorted(topics, key=lambda topic: str(topic.id) != spelled):  # an id goes first
        if str(topic.id) == spelled or topic.label == spelled:
            return topic
    begun = [topic for topic in topics if spelled and topic.label.casefold().startswith(spelled.casefold())]
    if len(begun) == 1:
        return begun[0]
    listed = ", ".join(f"{topic.id} ({topic.label})" for topic in (begun or topics)[:12])
    more = "several topics" if begun else "no topic"
    raise InputError(f"there {'are' if begun else 'is'} {more} {spelled!r}; there are {listed}")


# --- the log as JSON


def dumps(edits: Iterable[Edit]) -> str:
    """The log as JSON, one edit a line so that a person can read and compare it."""
    rows = [json.dumps(_plain(edit), ensure_ascii=False) for edit in edits]
    inside = ",\n    ".join(rows)
    return f'{{\n  "format": "coterie edits",\n  "version": {VERSION},\n  "edits": [\n    {inside}\n  ]\n}}\n'


def loads(text: str, where: str = "the edit log") -> tuple[Edit, ...]:
    """Read a log; errors name the number of the edit."""
    try:
        log = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {str(error)[:200]}") from None
    if not isinstance(log, dict) or log.get("format") != "coterie edits":
        raise InputError(f'{where} is not a log of edits: it must begin with "format": "coterie edits"')
    version, rows = log.get("version"), log.get("edits")
    if isinstance(version, int) and version > VERSION:
        raise InputError(f"{where} was written by a newer coterie (version {version}); update coterie")
    if type(version) is not int or version < 1 or not isinstance(rows, list):
        raise InputError(f"{where} must have a version from 1 to {VERSION} and a list of edits")
    return tuple(_edit(row, f"{where}, edit {number}") for number, row in enumerate(rows, 1))


def _plain(edit: Edit) -> dict[str, Any]:
    return {name: value for name, value in asdict(edit).items() if value or name == "kind"}


def _edit(row: Any, where: str) -> Edit:
    if not isinstance(row, dict) or row.get("kind") not in get_args(Kind):
        raise InputError(f"{where} must be an object with a kind of {', '.join(get_args(Kind))}")
    if unknown := set(row) - set(Edit.__slots__):
        raise InputError(f"{where} has the unknown field {sorted(unknown)[0]!r}")
    topics = tuple(_reference(topic, where) for topic in _list(row, "topics", where))
    parts = _parts(row.get("parts", 0), where)
    terms = tuple(_text(term, "terms", where) for term in _list(row, "terms", where))
    label, text, made, description = (
        _text(row.get(name, ""), name, where) for name in ("label", "text", "made", "description")
    )
    edit = Edit(row["kind"], topics, label, parts, terms, text, made, description)
    check(edit, where)
    return edit


def checked_edits(edits: Any) -> tuple[Edit, ...]:
    """Edits, whatever a caller has given."""
    found = tuple(edits) if isinstance(edits, Sequence | Iterator) else None
    if found is None or not all(isinstance(edit, Edit) for edit in found):
        raise InputError(f"edits must be a list of coterie.topics.Edit, got {shown(edits)}")
    for number, edit in enumerate(found, start=1):
        check(edit, f"edit {number}" if len(found) > 1 else "the edit")
    return found


def check(edit: Edit, where: str = "the edit") -> None:
    """Whether an edit has what its kind needs."""
    if not isinstance(edit.kind, str) or edit.kind not in get_args(Kind):
        raise InputError(f"{where} must be one of {', '.join(get_args(Kind))}; got {shown(edit.kind)}")
    _check_types(edit, where)
    for name in ("label", "text", "description"):
        _text(getattr(edit, name), name, where)
    for term in edit.terms:
        _text(term, "terms", where)
    _parts(edit.parts, where)
    needed = {"rename": 1, "merge": 2, "split": 1, "ban": 0, "pin": 1}[edit.kind]
    if len(edit.topics) < needed or (edit.kind != "merge" and len(edit.topics) > needed):
        raise InputError(f"{where} ({edit.kind}) must name {needed} topics, got {len(edit.topics)}")
    if len({topic.id for topic in edit.topics}) < len(edit.topics):
        raise InputError(f"{where} ({edit.kind}) names the same topic twice")
    if edit.kind == "rename" and not edit.label.strip():
        raise InputError(f"{where}: the label of a topic must not be empty, got {edit.label!r}")
    if edit.kind == "split" and edit.parts < 2:
        raise InputError(f"{where}: a topic must be split into at least 2 parts, got {edit.parts}")
    if edit.kind == "ban" and not edit.terms:
        raise InputError(f"{where}: there is no term to ban")


def _check_types(edit: Edit, where: str) -> None:
    if not isinstance(edit.terms, tuple | list):
        raise InputError(f"{where}: terms must be a list of terms, got {shown(edit.terms)}")
    if not isinstance(edit.topics, tuple | list) or not all(isinstance(t, Reference) for t in edit.topics):
        raise InputError(f"{where}: topics must be a list of Reference, got {shown(edit.topics)}")
    for topic in edit.topics:
        _text(topic.label, "label", where)
        if (
            isinstance(topic.id, bool)
            or not isinstance(topic.id, int)
            or not isinstance(topic.terms, tuple | list)
        ):
            raise InputError(f"{where}: a topic must have an id and terms, got {shown(topic)}")
        for term in topic.terms:
            _text(term, "terms", where)


def _reference(row: Any, where: str) -> Reference:
    if not isinstance(row, dict) or set(row) - set(Reference.__slots__):
        raise InputError(f"{where}: a topic must be an object with id, label and terms")
    number = row.get("id")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 31:
        raise InputError(f"{where}: the id of a topic must be a whole number, got {str(number)[:40]}")
    terms = tuple(_text(term, "terms", where) for term in _list(row, "terms", where))
    return Reference(number, _text(row.get("label", ""), "label", where), terms)


def _list(row: dict[str, Any], name: str, where: str) -> list[Any]:
    value = row.get(name, [])
    if not isinstance(value, list) or len(value) > _MOST:
        raise InputError(f"{where}: {name} must be a list of at most {_MOST}")
    return value


def _parts(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise InputError(f"{where}: parts must be a whole number up to {_MOST}, got {str(value)[:40]}")
    return value


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise InputError(f"{where}: {name} must be text, at most {_LONGEST:,} characters; got {value!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: {name} contains half a character (a lone surrogate)") from None
    return value
