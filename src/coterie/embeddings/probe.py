"""The fingerprint of an encoder: its vectors of a few texts, by which another one is recognised later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.embeddings.arrays import Vectors
from coterie.errors import InputError

_TEXTS = (
    "Where is my parcel? It should have come on Monday.",
    "Wie kann ich mein Passwort zurücksetzen?",
    "The bank refused to lend the museum 250 dollars.",
)
#: Terms of a model that make one more text.
_TERMS = 20
N_PROBES = len(_TEXTS) + 1
#: How far two vectors of unit length may be apart. Half precision moves a vector by less than 0.001, whole
#: numbers of 8 bits by about 0.01; vectors of two models have nothing in common (about 1.4).
_APART = 0.05


def probe_texts(terms: Sequence[str]) -> list[str]:
    """Texts that every encoder is asked about: fixed ones, and some terms of the model."""
    return [*_TEXTS, " ".join(terms[:: max(len(terms) // _TERMS, 1)][:_TERMS])]


def check_same(width: int, before: Vectors | None, now: Vectors, what: str) -> None:
    """Refuse an encoder that gives other vectors than those that a model was fitted with."""
    if now.shape[1] != width:
        raise InputError(
            f"{what} gives vectors of {now.shape[1]} numbers, but the model was fitted with vectors of "
            f"{width}; use the encoder of the fit, or fit again"
        )
    if before is not None and (np.linalg.norm(_unit(before) - _unit(now), axis=1) > _APART).any():
        raise InputError(
            f"{what} gives other vectors than the encoder that the model was fitted with; use that one, or "
            "fit again"
        )


def _unit(vectors: Vectors) -> Any:
    wide = vectors.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.divide(wide, length, where=length > 0, out=np.zeros_like(wide))
