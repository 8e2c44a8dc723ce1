"""The option --embeddings: a name of embeddings, or a file with a vector for each text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coterie.errors import InputError

if TYPE_CHECKING:
    from coterie.embeddings import Vectors
    from coterie.topics import TopicModel

#: What the help shows for the value.
METAVAR = "NAME|FILE"
_NAMES = "static, model2vec:NAME, sentence-transformers:NAME, or a .npy or .parquet file"


def source_and_vectors(
    option: str, others: tuple[str, ...] = ("auto", "none")
) -> tuple[str | None, Vectors | None]:
    """Where embeddings come from, and those of a file; `others` are values that the command takes besides."""
    from coterie.embeddings import GIVEN
    from coterie.embeddings.files import SUFFIXES, read_vectors
    from coterie.embeddings.named import is_named

    if option in others:
        return (None if option == "none" else option), None
    if is_named(option):
        return option, None
    if Path(option).suffix.lower() not in SUFFIXES:
        words = ", ".join((*others, _NAMES))
        raise InputError(f"--embeddings must be {words}; got {option[:80]!r}")
    return GIVEN, read_vectors(option)


def needed(model: TopicModel) -> str:
    """What `coterie assign` needs besides, for a model without an encoder."""
    from coterie.embeddings import is_given

    return " --embeddings new.npy" if is_given(model.embeddings_) else ""
