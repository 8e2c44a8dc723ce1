"""The tree of topics, with names on its branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from coterie.figures.svg import SIDE, TOP, WIDTH, box, cut, framed, line, many, words
from coterie.map.colours import Ground
from coterie.results import Branch

#: Height of a row, where the tree ends and names begin, and the shortest line that has a name.
_ROW, _END, _NAMES, _SHORTEST = 19.0, 470.0, 492.0, 75.0


@dataclass
class Node:
    """A branch, where it is drawn, and the parts of it that are."""

    branch: Branch
    parts: list[Node] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0


def frame(root: Branch) -> pl.DataFrame:
    """All branches, a part after its whole; `topic` is empty for a branch of several."""
    rows: list[tuple[int, int | None, int | None, str, int, float, list[int]]] = []
    waiting: list[tuple[Branch, int | None]] = [(root, None)]
    while waiting:  # a tree may be as deep as there are topics
        branch, whole = waiting.pop()
        number = len(rows)
        topic = None if branch.parts else branch.topics[0]
        rows.append((number, whole, topic, branch.label, branch.size, branch.height, list(branch.topics)))
        waiting += [(part, number) for part in reversed(branch.parts)]
    schema: dict[str, Any] = {
        "branch": pl.Int64, "part_of": pl.Int64, "topic": pl.Int64, "label": pl.String, "size": pl.Int64,
        "height": pl.Float64, "topics": pl.List(pl.Int64),
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def pruned(root: Branch, most: int) -> Node:
    """The tree from its root on, with at most so many ends: the lowest branches stay closed."""
    top = Node(root)
    ends = [top]
    while True:
        fits = [node for node in ends if node.branch.parts and len(ends) + len(node.branch.parts) - 1 <= most]
        if not fits:
            return top
        highest = max(fits, key=lambda node: (node.branch.height, node.branch.size))
        highest.parts = [Node(part) for part in highest.branch.parts]
        at = ends.index(highest)
        ends[at : at + 1] = highest.parts


def inside(root: Node) -> Iterator[Node]:
    """All nodes, a part after its whole, from the top down."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.parts)


def draw(root: Branch, most: int, title: str, note: str, colours: Mapping[int, str], ground: Ground) -> str:
    """The tree from left to right; the further left two branches meet, the less they have in common."""
    top = pruned(root, most)
    nodes = list(inside(top))
    ends = [node for node in nodes if not node.parts]
    for at, node in enumerate(ends):
        node.x, node.y = _END, TOP + _ROW * (at + 0.5)
    lowest = min((node.branch.height for node in nodes if node.parts), default=0.0)
    for node in reversed(nodes):
        if node.parts:
            up = (root.height - node.branch.height) / max(root.height - lowest, 1e-9)
            node.x = SIDE + up * (_END - SIDE - 40)
            node.y = (node.parts[0].y + node.parts[-1].y) / 2
    parts = [_fork(node, ground) for node in nodes if node.parts]
    parts += [_name(node, colours, ground) for node in ends]
    return framed(TOP + _ROW * len(ends) + 14, title, note, ground, *parts)


def _fork(node: Node, ground: Ground) -> str:
    """Lines to the parts, with the names of those that are branches where there is room."""
    lines = [line([(node.x, node.parts[0].y), (node.x, node.parts[-1].y)], ground.quiet, 1)]
    lines += [line([(node.x, part.y), (part.x, part.y)], ground.quiet, 1) for part in node.parts]
    named = [
        words(
            cut(part.branch.label, part.x - node.x - 10, 10.5),
            node.x + 5,
            part.y - 4,
            ground.accent,
            10.5,
            tip=_said(part),
        )
        for part in node.parts
        if part.parts and part.x - node.x >= _SHORTEST
    ]
    return "".join(lines + named)


def _name(node: Node, colours: Mapping[int, str], ground: Ground) -> str:
    branch, base = node.branch, node.y + 4
    size = f"{branch.size:,}"
    several = f" ({len(branch.topics)} topics)" if branch.parts else ""
    colour = ground.bar if branch.parts else colours.get(branch.topics[0], ground.bar)
    room = WIDTH - SIDE - _NAMES - 62
    label = cut(branch.label, room - 7 * len(several)) + several
    return "".join(
        [
            box(_END + 4, node.y - 5, 10, 10, colour, _said(node), rx=2),
            words(label, _NAMES, base, ground.ink, tip=_said(node)),
            words(size, WIDTH - SIDE, base, ground.quiet, anchor="end"),
        ]
    )


def _said(node: Node) -> str:
    branch = node.branch
    of = f" in {many(len(branch.topics), 'topic')}" if branch.parts else ""
    return f"{branch.label}: {many(branch.size, 'text')}{of}"
