"""TopicModel, the model for texts, and its parts.

model        TopicModel; read this first
collection   the texts of a fit: read once, counted
predefined   topics that are known beforehand
scorer       counts → memberships in topics as they are now
describe     one pass over distinct texts → words, sizes, typical texts, and a record of each text (scores)
evidence, confidence   why a text is in its topic, and how sure that is
answers      the same for texts that come later
editing      rename, merge, split, ban, pin, undo; edits is the log, reshape and splitting do the work
trends, tree, of_term   topics over time, by class, as a tree, and those that use a word
state        the model as a file
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.topics.edits import Edit as Edit
    from coterie.topics.edits import Reference as Reference
    from coterie.topics.model import TopicModel as TopicModel
    from coterie.topics.of_term import topics_of_term as topics_of_term

_HOMES = {
    "Edit": "coterie.topics.edits",
    "Reference": "coterie.topics.edits",
    "TopicModel": "coterie.topics.model",
    "topics_of_term": "coterie.topics.of_term",
}
__all__ = ["Edit", "Reference", "TopicModel", "topics_of_term"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.topics' has no attribute {name!r}")
