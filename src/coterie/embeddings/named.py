"""Embeddings by name: models of libraries that the user installs, loaded when they are first asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coterie.errors import InputError

STATIC = "static"
MODEL2VEC, SENTENCE_TRANSFORMERS = "model2vec", "sentence-transformers"

Encode = Callable[[list[str]], Any]


def is_named(source: Any) -> bool:
    """Whether this is a name of embeddings: "static", or a library and a model of it.

    >>> is_named("model2vec:minishlab/potion-base-8M"), is_named("model2vec:"), is_named("glove")
    (True, False, False)
    """
    if not isinstance(source, str):
        return False
    library, _, name = source.partition(":")
    return source == STATIC or (library in _LOADERS and bool(name.strip()))


def is_static(source: Any) -> bool:
    """Whether this is the name of the model in the extra ``coterie[words]``."""
    return isinstance(source, str) and source == STATIC


def runs_code(source: str) -> bool:
    """Whether loading this model may run code: sentence-transformers does, of a folder on this machine."""
    library, _, name = source.partition(":")
    return library == SENTENCE_TRANSFORMERS and Path(name).expanduser().exists()


def static_installed() -> bool:
    """Whether the extra with the static model is installed."""
    return find_spec("wordllama") is not None


@lru_cache(maxsize=4)
def encoder(source: str) -> Encode:
    """The function of texts that a name stands for; the library is imported and the model loaded once."""
    if is_static(source):
        return _static()
    library, _, name = source.partition(":")
    try:
        return _LOADERS[library](name)
    except ImportError as error:
        raise InputError(
            f'embeddings={source!r} need a library that cannot be imported: pip install "{library}" '
            f"({_first_line(error)})"
        ) from error
    except Exception as error:  # whatever the library says about its files and the network
        raise InputError(
            f"the model of embeddings={source!r} cannot be loaded ({_first_line(error)}); give the folder of "
            "a model, or the name of one that is downloaded already or can be downloaded now"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(". ")


def _static() -> Encode:
    """The model inside the wordllama package; nothing is downloaded."""
    try:
        import wordllama
    except ImportError as error:
        raise InputError(
            'embeddings="static" needs an extra package: pip install "coterie[words]"'
        ) from error
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    return lambda texts: model.embed(texts, norm=False)


def _model2vec(name: str) -> Encode:
    """A folder, or a model of the hub: a copy that was downloaded before is taken without asking the hub."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(name, force_download=False)
    # its own processes would only pay for far larger collections, and would outlive an interrupt
    return lambda texts: model.encode(texts, use_multiprocessing=False)


def _sentence_transformers(name: str) -> Encode:
    """The same; code that comes with a model of the hub is not run."""
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(name, local_files_only=True, trust_remote_code=False)
    except Exception:  # not there yet: the hub is asked, unless HF_HUB_OFFLINE forbids it
        model = SentenceTransformer(name, trust_remote_code=False)
    return lambda texts: model.encode(texts, convert_to_numpy=True, show_progress_bar=False)


_LOADERS: dict[str, Callable[[str], Encode]] = {
    MODEL2VEC: _model2vec,
    SENTENCE_TRANSFORMERS: _sentence_transformers,
}
