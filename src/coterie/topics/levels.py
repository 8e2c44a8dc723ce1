"""Levels of topics: groups of topics, and groups of groups, each level with evidence.

The last level is the topics themselves. Coarser ones are there only where the words of the topics show them
(`coterie.cluster.grouping`). They are read off what a model keeps, so a loaded model has the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.cluster.grouping import Grouping, nested_groupings
from coterie.cluster.wording import distinctive
from coterie.errors import InputError
from coterie.topics.describe import Description
from coterie.topics.labels import topic_labels
from coterie.topics.naming import readable_terms
from coterie.topics.reshape import Array, Ints

if TYPE_CHECKING:
    import polars as pl

    from coterie.topics.model import TopicModel

#: Terms of a group that are kept.
_TERMS = 20


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Topics that belong together at a level; at the last level, one topic.

    `id` counts the groups of a level from the largest on; at the last level it is the id of the topic.
    `topics` are ids. `parent` is a group of the level before, None at the first; `children` are groups of the
    level after, none at the last. `terms` set the group apart from the others of its level, and several of
    its topics use them.
    """

    id: int
    label: str
    terms: tuple[str, ...]
    topics: tuple[int, ...]
    size: int
    share: float
    parent: int | None
    children: tuple[int, ...]


@dataclass(frozen=True)
class Level:
    """Groups of topics, the largest first, and the evidence for them.

    `agreement` is the correlation between being in one group, by one half of the vocabulary, and being alike,
    by the other half; `chance` is what topics without any groups reach. Both are None for the topics.
    """

    groups: tuple[TopicGroup, ...]
    agreement: float | None
    chance: float | None

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        if self.agreement is None:
            return f"<level of {_many(len(self), 'topic')}; .frame() is a table>"
        evidence = f"agreement {self.agreement:.2f}, by chance {self.chance:.2f}"
        return f"<level of {_many(len(self), 'group')}; {evidence}; .frame() is a table>"

    def of(self, topics: npt.ArrayLike) -> Ints:
        """The group of each topic id, −1 for −1: `of(model.labels_)` are the groups of the fitted texts."""
        ids = np.asarray(topics, dtype=np.int64)
        group_of = {topic: group.id for group in self.groups for topic in group.topics} | {-1: -1}
        known = np.array(sorted(group_of), dtype=np.int64)
        at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        if not (known[at] == ids).all():
            raise InputError(f"topics must be ids of topics of this model, got {ids[known[at] != ids][0]}")
        return np.asarray(np.array([group_of[topic] for topic in known.tolist()], dtype=np.int64)[at])

    def frame(self) -> pl.DataFrame:
        """The groups as a table; terms and topics are lists."""
        import polars as pl

        return pl.DataFrame(
            {
                "group": [group.id for group in self.groups],
                "label": [group.label for group in self.groups],
                "size": [group.size for group in self.groups],
                "share": [group.share for group in self.groups],
                "terms": [list(group.terms) for group in self.groups],
                "topics": [list(group.topics) for group in self.groups],
                "parent": [group.parent for group in self.groups],
            },
            schema={
                "group": pl.Int64, "label": pl.String, "size": pl.Int64, "share": pl.Float64,
                "terms": pl.List(pl.String), "topics": pl.List(pl.Int64), "parent": pl.Int64,
            },
        )  # fmt: skip


class Levels(tuple[Level, ...]):
    """Levels of topics, the coarsest first; the last is the topics. Print it for a tree."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<levels: {self.in_short()}; print it for a tree, .frame() is a table>"

    def in_short(self) -> str:
        """How many groups each level has: *4 groups, 28 topics*."""
        counts = [_many(len(level), "group") for level in self[:-1]]
        return ", ".join([*counts, _many(len(self[-1]), "topic")])

    def __str__(self) -> str:
        return "\n".join(line for group in self[0].groups for line in self._lines(0, group))

    def _lines(self, depth: int, group: TopicGroup) -> Iterator[str]:
        name = f"{group.label} ({group.size:,})"
        yield f"[{group.id}] {name}" if depth == len(self) - 1 else name
        inside = {child.id: child for child in self[depth + 1].groups} if group.children else {}
        for number, child in enumerate(group.children):
            last = number == len(group.children) - 1
            for row, line in enumerate(self._lines(depth + 1, inside[child])):
                head = ("└ " if last else "├ ") if not row else ("  " if last else "│ ")
                yield head + line

    def frame(self) -> pl.DataFrame:
        """One row a topic, in the order of groups: its group at each level, and its id, label and size."""
        import polars as pl

        topics = self[-1].groups
        table = pl.DataFrame(
            {
                "topic": [topic.id for topic in topics],
                "label": [topic.label for topic in topics],
                "size": [topic.size for topic in topics],
            },
            schema={"topic": pl.Int64, "label": pl.String, "size": pl.Int64},
        )
        columns = []
        for number, level in enumerate(self[:-1], start=1):
            names = {group.id: group.label for group in level.groups}
            groups = level.of([topic.id for topic in topics]).tolist()
            columns.append(pl.Series(f"level_{number}", groups, dtype=pl.Int64))
            columns.append(pl.Series(f"level_{number}_label", [names[group] for group in groups]))
        if not columns:
            return table
        by = [column.name for column in columns[::2]]
        return table.select(*columns, pl.all()).sort(by, maintain_order=True)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@dataclass(frozen=True)
class Groupings:
    """Groupings of topics as `description` describes them, the finest first: they survive renames."""

    description: Description
    found: tuple[Grouping, ...]

    @classmethod
    def of(cls, model: TopicModel, known: Groupings | None = None) -> Groupings:
        """Those of a model, by single words: a phrase would tell one half of words about the other.

        `known` are returned if they are those of the same topics.
        """
        description = model.state.description
        if known is not None and known.description is description:
            return known
        n_words = model.vectorizer_.phrases_.n_terms
        return cls(description, tuple(nested_groupings(description.counts[:, :n_words])))

    def levels(self, model: TopicModel) -> Levels:
        """The levels of a model, with names for the groups."""
        topics = model.topics
        total = max(float(self.description.sizes.sum()) + self.description.lost, 1e-300)
        ids, sizes = (np.array([getattr(topic, name) for topic in topics]) for name in ("id", "size"))
        # for each level, the number of the group of each topic
        numbers, now = [ids], np.arange(len(topics))
        for grouping in self.found:
            now = grouping.groups[now]
            numbers.insert(0, _largest_first(now, sizes))
        levels = []
        for depth, own in enumerate(numbers):
            last = depth == len(self.found)
            named = {topic.id: (topic.label, topic.terms) for topic in topics} if last else _named(model, own)
            groups = []
            for number, (label, terms) in named.items():
                inside = np.flatnonzero(own == number)
                size, members = int(sizes[inside].sum()), tuple(sorted(ids[inside].tolist()))
                parent = int(numbers[depth - 1][inside[0]]) if depth else None
                children = () if last else _by_size(numbers[depth + 1][inside], sizes[inside])
                groups.append(TopicGroup(number, label, terms, members, size, size / total, parent, children))
            groups.sort(key=lambda group: (-group.size, group.id))
            levels.append(Level(tuple(groups), *((None, None) if last else self.found[-1 - depth].evidence)))
        return Levels(levels)


def _by_size(groups: Ints, sizes: Ints) -> tuple[int, ...]:
    """The different groups among some topics, the largest first."""
    total = {int(group): int(sizes[groups == group].sum()) for group in np.unique(groups)}
    return tuple(sorted(total, key=lambda group: (-total[group], group)))


def _largest_first(groups: Ints, sizes: Ints) -> Ints:
    """The same groups, numbered from the largest on."""
    order = _by_size(groups, sizes)
    return np.asarray(np.argsort(order), dtype=np.int64)[groups]


def _named(model: TopicModel, groups: Ints) -> dict[int, tuple[str, tuple[str, ...]]]:
    """A label and terms for each group. All labels differ; a group of one topic is called as the topic is.

    The terms are those that tell a group from the others, and count more the more of its topics use them more
    than others do: what only one topic says is no name for all of them.
    """
    topics, described = model.topics, model.state.description
    usable = readable_terms(model.vectorizer_, model.state.edited.scorer.banned)
    display = model.vectorizer_.vocabulary_.display
    n_groups = int(groups.max()) + 1
    member = groups == np.arange(n_groups)[:, None]
    # a large topic does not speak for all of a group
    even = 1.0 / np.sqrt(np.maximum(described.counts.sum(axis=1), 1.0))
    shares = _shares((member * even) @ described.counts)
    everywhere = _shares((even @ described.counts)[None])[0]
    more = np.stack([described.shares(topic) > everywhere for topic in range(len(even))])
    scores = np.where(usable, distinctive(shares, everywhere), -1.0) * (member @ more)
    scores /= member.sum(axis=1, keepdims=True)
    terms, given = [], {}
    for number in range(n_groups):
        if member[number].sum() == 1:
            topic = topics[int(np.flatnonzero(member[number])[0])]
            given[number] = topic.label
            terms.append(list(topic.terms))
        else:
            best = np.argsort(-np.round(scores[number], 12), kind="stable")[:_TERMS]
            terms.append([display[column] for column in best if scores[number, column] > 0])
    labels = topic_labels(terms, range(n_groups), given)
    return {number: (labels[number], tuple(terms[number])) for number in range(n_groups)}


def _shares(counts: Array) -> Array:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))
