"""TopicModel, the model for texts, and its parts.

model        TopicModel; read this first
collection   the texts of a fit: read once, counted
predefined   topics that are known beforehand
scorer       counts → memberships in topics as they are now
describe     one pass over distinct texts → words, sizes, typical texts, and a record of each text (scores)
evidence, confidence   why a text is in its topic, and how sure that is
answers      the same for texts that come later
editing      rename, merge, split, ban, pin, undo; edits is the log, reshape and splitting do the work
trends, tree   topics over time, by class, and as a tree
state        the model as a file
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.topics.edits import Edit as Edit
    from coterie.topics.edits import Reference as Reference
    from coterie.topics.model import TopicModel as TopicModel

_HOMES = {
    "Edit": "coterie.topics.edits",
    "Reference": "coterie.topics.edits",
    "TopicModel": "coterie.topics.model",
}
__all__ = ["Edit", "Reference", "TopicModel"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.topics' has no attribute {name!r}")
