"""Texts in, topics out: the model that people use, and what it is made of.

model      TopicModel; read this first
learning   texts → counts → a fitted method
placing    counts → memberships in topics as they are now
describe   topics → words, sizes, typical texts
evidence   why a text is where it is
edits      the log of what somebody changed; reshape and splitting do it
trends, tree    topics over time, by class, and as a tree
state      the model as a file
"""

from coterie.topics.edits import Edit, Reference
from coterie.topics.model import TopicModel

__all__ = ["Edit", "Reference", "TopicModel"]
