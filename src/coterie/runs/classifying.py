"""How well the topics of a run serve a classifier, beside the words themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from coterie import weights
from coterie.cluster.space import Space
from coterie.linalg.rows import unit_dense
from coterie.metrics import SvmScores, svm_scores

if TYPE_CHECKING:
    from coterie.runs.run import Run


@dataclass(frozen=True)
class Classified:
    """What texts were to the classifier, in how many dimensions, and how it did."""

    features: str
    dimensions: int
    scores: SvmScores


def classified(run: Run, classes: pl.Series) -> list[Classified]:
    """A linear classifier on memberships, vectors and words of the texts of a run, with the same split.

    `classes` has the known class of each text, or null; such texts are left out. Topics and vectors were
    learned from all texts, without their classes.
    """
    known = np.flatnonzero(classes.is_not_null().to_numpy())
    texts, labels = run.texts()[known], classes.drop_nulls().to_list()
    kept = run.vectors()
    vectors = None if kept is None else kept.at(known)
    counts = run.model.vectorizer_.transform(texts)
    words = Space(weights.idf(counts), np.zeros((counts.shape[1], 0))).words(counts)
    features: dict[str, Any] = {
        "memberships": unit_dense(run.model.transform(texts, embeddings=vectors)),
        "vectors": run.model.embed(texts, embeddings=vectors),
        "words (tf-idf)": words,
    }
    return [Classified(name, rows.shape[1], svm_scores(rows, labels)) for name, rows in features.items()]
