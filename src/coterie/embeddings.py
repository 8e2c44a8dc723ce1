"""Embeddings of texts: an array, a function, a model with `encode`, or the built-in static one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.text.languages import language_name

Vectors = npt.NDArray[np.float32]

STATIC, AUTO = "static", "auto"
#: Up to so many different texts, co-occurrence alone has little to work with.
FEW_TEXTS = 2_000


def is_source(source: Any) -> bool:
    """Whether `source` can embed new texts, which an array cannot."""
    if isinstance(source, str):  # which has an `encode` of its own
        return _is_static(source)
    return callable(source) or hasattr(source, "encode")


def vectors_of(source: Any, texts: Sequence[str], known: npt.NDArray[np.bool_] | None = None) -> Vectors:
    """One embedding per text.

    Parameters
    ----------
    source
        A function from a list of texts to an array, an object with such an `encode`
        (sentence-transformers, model2vec), or "static" for the model in the extra ``coterie[words]``.
    texts
        The texts; an empty one is passed to the model as a space.
    known
        Whether each text has a known word. The static model, which has a vector for any string of letters,
        is not asked about the others.
    """
    if not is_source(source):
        raise InputError(
            "embeddings must be an array, a function of texts, an object with encode(texts), "
            f"or {STATIC!r}; got {source!r}"
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"texts must be strings, got {text!r} in row {row}")
    given = [text if text.strip() else " " for text in texts]
    if _is_static(source):
        vectors = checked(_static_model().embed(given, norm=False), len(given))
        return vectors if known is None else np.where(known[:, None], vectors, np.float32(0))
    encode = source.encode if hasattr(source, "encode") else source
    return checked(encode(given), len(given))


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


def checked(vectors: Any, n_rows: int) -> Vectors:
    """Check for a two-dimensional array of finite numbers with one row per text."""
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is reported below
            array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"embeddings must be numbers, one row for each text: {error}") from error
    if array.ndim != 2 or array.shape[0] != n_rows or array.shape[1] < 1:
        raise InputError(
            f"embeddings must have one row for each of the {n_rows} texts, "
            f"got an array of shape {array.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise InputError(f"embeddings must be finite, got NaN or infinity in row {bad[0]}")
    return array


def is_auto(source: Any) -> bool:
    """Whether the collection decides where embeddings come from, if from anywhere."""
    return isinstance(source, str) and source == AUTO


def static_may_help(method: Any, language: str | Iterable[str], n_distinct: int) -> bool:
    """Whether there are few texts, in the language of the static model, for a method that uses embeddings."""
    languages = [language] if isinstance(language, str) else language
    english = {language_name(one) for one in languages} == {"english"}
    return english and n_distinct <= FEW_TEXTS and isinstance(method, str) and method == "coterie"


def static_installed() -> bool:
    """Whether the extra with the static model is installed."""
    return find_spec("wordllama") is not None


def _is_static(source: Any) -> bool:
    return isinstance(source, str) and source == STATIC


@cache
def _static_model() -> Any:
    """The model inside the wordllama package; nothing is downloaded."""
    try:
        import wordllama
    except ImportError as error:
        raise InputError(
            'embeddings="static" needs an extra package: pip install "coterie[words]"'
        ) from error
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
