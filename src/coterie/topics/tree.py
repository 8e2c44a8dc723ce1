"""The tree of topics, by hierarchical clustering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage

from coterie.cluster.wording import distinctive
from coterie.results import Branch, Topic
from coterie.topics.reshape import Array

_WORDS = 3


def tree(topics: Sequence[Topic], centers: Array, counts: Array, names: Sequence[str]) -> Branch:
    """Ward's linkage of topic centres; a branch is labelled with its most distinctive terms."""
    branches = [Branch((topic.id,), topic.label, topic.size, 0.0) for topic in topics]
    counts_of = list(counts)
    if len(branches) > 1:
        everywhere = counts.sum(axis=0) / max(float(counts.sum()), 1e-300)
        for one, other, height, _ in linkage(centers, "ward"):
            a, b = branches[int(one)], branches[int(other)]
            joined = counts_of[int(one)] + counts_of[int(other)]
            score = distinctive(joined[None] / max(float(joined.sum()), 1e-300), everywhere)[0]
            words = [names[column] for column in np.argsort(-score, kind="stable")[:_WORDS]]
            parts = tuple(sorted((a, b), key=lambda part: (-part.size, part.topics)))
            of = tuple(sorted(a.topics + b.topics))
            label = "all texts" if len(of) == len(topics) else ", ".join(words)
            branches.append(Branch(of, label, a.size + b.size, float(height), parts))
            counts_of.append(joined)
    return branches[-1]
