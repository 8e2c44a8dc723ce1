"""Embeddings of texts: an array, a function, a model with `encode`, or a model by its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embeddings.arrays import Vectors as Vectors
from coterie.embeddings.arrays import checked as checked
from coterie.embeddings.named import MODEL2VEC, SENTENCE_TRANSFORMERS, encoder, is_named
from coterie.embeddings.named import STATIC as STATIC
from coterie.embeddings.named import static_installed as static_installed
from coterie.errors import InputError, shown
from coterie.text.languages import language_name

AUTO = "auto"
#: In place of a source: embeddings are passed together with the texts, or by whoever loads the model.
GIVEN = "given"
#: Up to so many different texts, co-occurrence alone has little to work with.
FEW_TEXTS = 2_000


def is_source(source: Any) -> bool:
    """Whether `source` can embed new texts, which an array cannot."""
    if isinstance(source, str):  # which has an `encode` of its own
        return is_named(source)
    return callable(source) or hasattr(source, "encode")


def is_given(source: Any) -> bool:
    """Whether embeddings are passed together with the texts."""
    return isinstance(source, str) and source == GIVEN


def saved_as(source: Any) -> str | None:
    """What a file says about a source: its name, or that it is given, if it is a function or an object."""
    if source is None or is_auto(source) or is_named(source):
        return source
    return GIVEN


def can_be_saved(source: Any) -> bool:
    """Whether `saved_as` may have written this."""
    return isinstance(source, str | None) and saved_as(source) == source


def vectors_of(source: Any, texts: Sequence[str], known: npt.NDArray[np.bool_] | None = None) -> Vectors:
    """One embedding per text.

    Parameters
    ----------
    source
        A function from a list of texts to an array, an object with such an `encode`, "static" for the
        model in the extra ``coterie[words]``, "model2vec:NAME" or "sentence-transformers:NAME".
    texts
        The texts; an empty one is passed to the model as a space.
    known
        Whether each text has a known word. The others get zeros: a model has a vector for anything.
    """
    if not is_source(source):
        hint = f"; did you mean '{SENTENCE_TRANSFORMERS}:{source:.100}'?" if isinstance(source, str) else ""
        raise InputError(
            f"embeddings must be an array, a function of texts, an object with encode(texts), {STATIC!r}, "
            f"'{MODEL2VEC}:NAME' or '{SENTENCE_TRANSFORMERS}:NAME'; got {shown(source)}{hint}"
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"texts must be strings, got {text!r} in row {row}")
    given = [text if text.strip() else " " for text in texts]
    if isinstance(source, str):
        encode = encoder(source)
    else:
        encode = source.encode if hasattr(source, "encode") else source
    vectors = checked(encode(given), len(given))
    return vectors if known is None else known_only(vectors, known)


def known_only(vectors: Vectors, known: npt.NDArray[np.bool_]) -> Vectors:
    """Zeros for a text without a known word, which has no topic."""
    return np.where(known[:, None], vectors, np.float32(0))


def own_array(source: Any) -> Any:
    """The embeddings of the texts to fit, if they were given as such and not as a source."""
    return None if is_source(source) else source


def embeddings_of_rows(
    source: Any, X: Any, texts: Sequence[str] | None, given: Any = None, *, fitted: bool = False
) -> Vectors:
    """An embedding for each row of X, from wherever they come.

    Parameters
    ----------
    source
        What an estimator was given as `embeddings`: an array, or a source.
    X, texts
        The rows, and the text of each.
    given
        Embeddings of the rows, which are then taken.
    fitted
        Whether the rows may be other than the fitted ones, so that an array in `source` is not theirs.
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if given is None and not fitted:
        given = own_array(source)
    if given is not None:
        if isinstance(given, str):
            vectors_of(given, [])  # says what embeddings may be
        return checked(given, n_rows)
    if not is_source(source):
        raise InputError(
            "Coterie was fitted with an array of embeddings: pass embeddings=… with one row per text"
        )
    if texts is None:
        how = "texts=… or embeddings=…" if fitted else "texts=…"
        raise InputError(f"Coterie uses embeddings: pass {how}, one for each row of X")
    if len(texts) != n_rows:
        raise InputError(f"texts must have one text for each row of X ({n_rows}), got {len(texts)}")
    return vectors_of(source, texts)


def is_auto(source: Any) -> bool:
    """Whether the collection decides where embeddings come from, if from anywhere."""
    return isinstance(source, str) and source == AUTO


def static_may_help(method: Any, language: str | Iterable[str], n_distinct: int) -> bool:
    """Whether there are few texts, in the language of the static model, for a method that uses embeddings."""
    languages = [language] if isinstance(language, str) else language
    english = {language_name(one) for one in languages} == {"english"}
    return english and n_distinct <= FEW_TEXTS and isinstance(method, str) and method == "coterie"
