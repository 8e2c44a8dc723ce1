"""The topics of a term: where its uses fall, and how much more often a topic uses it than all texts do."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.errors import InputError, shown
from coterie.results import TermTopic
from coterie.text.inputs import is_unicode
from coterie.topics.model import TopicModel
from coterie.topics.predefined import columns_of


def topics_of_term(model: TopicModel, term: str) -> list[TermTopic]:
    """The topics whose texts use a term, the one with the largest share of its uses first."""
    if not isinstance(model, TopicModel):
        raise InputError(f"model must be a TopicModel, got {shown(model)}")
    topics = model.topics
    counts, column = model.state.description.counts, _column(model, term)
    uses, in_topic = counts[:, column], np.maximum(counts.sum(axis=1), 1e-300)
    overall = uses.sum() / counts.sum()
    used = [at for at in np.argsort(-uses, kind="stable").tolist() if uses[at] > 0]
    return [
        TermTopic(
            topics[at].id,
            topics[at].label,
            round(float(uses[at])),
            float(uses[at] / uses.sum()),
            float(uses[at] / in_topic[at] / overall),
        )
        for at in used
    ]


def _column(model: TopicModel, term: Any) -> int:
    """The column of a word or phrase that is one term of the model and is used."""
    if not isinstance(term, str) or not is_unicode(term):
        raise InputError(f"term must be a word or a phrase, got {shown(term)}")
    columns = columns_of([term], model.vectorizer_)[0]
    if len(columns) > 1:
        display = model.vectorizer_.vocabulary_.display
        several = ", ".join(shown(display[column]) for column in columns)
        raise InputError(f"{shown(term)} is no term of this model, but several: {several}; ask for one")
    if not len(columns):
        raise InputError(
            f"{shown(term)} is no term of this model: no text has it, too few have it, or it is a stop word"
        )
    column = int(columns[0])
    if not model.state.description.counts[:, column].any():
        raise InputError(f"{shown(term)} is used in no topic; was it banned?")
    return column
