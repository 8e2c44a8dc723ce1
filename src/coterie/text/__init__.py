"""Reading texts from files and lists in batches, and cutting them into words."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.text.analyzer import Analyzer as Analyzer
    from coterie.text.readers import Batch as Batch
    from coterie.text.readers import TextSource as TextSource
    from coterie.text.readers import read_texts as read_texts

_HOMES = {
    "Analyzer": "coterie.text.analyzer",
    "Batch": "coterie.text.readers",
    "TextSource": "coterie.text.readers",
    "read_texts": "coterie.text.readers",
}
__all__ = ["Analyzer", "Batch", "TextSource", "read_texts"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.text' has no attribute {name!r}")
