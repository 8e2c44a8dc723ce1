"""What became of the topics of one model in another, read off where their texts went.

A topic of `a` **goes** to one of `b` if more than half of its texts are there; a topic of `b` **comes** from
one of `a` if more than half of its texts were there. Either is a link; links say what became of topics:

- gone: a topic of `a` without a link; born: a topic of `b` without one
- merged: a topic of `b` to which two or more go
- split: a topic of `a` from which two or more come
- kept: all other links, the strongest where a topic has several

A text has moved if it is not in the topic of `b` to which most texts of its topic of `a` went.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fates:
    """What became of topics, which are named by their index in the table of flows."""

    kept: list[tuple[int, int]]
    born: list[int]
    gone: list[int]
    merged: dict[int, list[int]]
    split: dict[int, list[int]]
    moved: int


def fates(flows: Ints) -> Fates:
    """What became of topics, from the number of texts that went from each of `a` (rows) to each of `b`.

    >>> fates(np.array([[5, 0], [4, 0], [0, 3]])).merged
    {0: [0, 1]}
    """
    goes = 2 * flows > flows.sum(axis=1, keepdims=True)
    comes = 2 * flows > flows.sum(axis=0, keepdims=True)
    links = goes | comes
    merged = {j: np.flatnonzero(goes[:, j]).tolist() for j in range(flows.shape[1]) if goes[:, j].sum() > 1}
    split = {i: np.flatnonzero(comes[i]).tolist() for i in range(flows.shape[0]) if comes[i].sum() > 1}
    reported = {(i, j) for j, of in merged.items() for i in of} | {
        (i, j) for i, to in split.items() for j in to
    }
    strength = np.where(links, flows, 0)
    kept = [
        (i, j)
        for i, j in zip(*(where.tolist() for where in np.nonzero(links)), strict=True)
        if (i, j) not in reported and strength[i].argmax() == j and strength[:, j].argmax() == i
    ]
    stayed = flows.max(axis=1).sum() if flows.shape[1] else 0
    return Fates(
        kept,
        born=np.flatnonzero(~links.any(axis=0)).tolist(),
        gone=np.flatnonzero(~links.any(axis=1)).tolist(),
        merged=merged,
        split=split,
        moved=int(flows.sum() - stayed),
    )
