"""Where a run comes from: what run.json needs to say so that the run can be computed again, and back.

`data.reading` says how the texts were read, and `fit` with which versions, on what machine, with which
encoder and with which edits they were fitted. Settings are plain values; nothing in them can run.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from coterie.embeddings import Vectors, is_given, is_source, saved_as
from coterie.embeddings.files import read_vectors
from coterie.embeddings.named import runs_code
from coterie.errors import InputError, shown
from coterie.runs.record import MARKER, edits_of, versions
from coterie.runs.run import Run
from coterie.storage.files import spelled
from coterie.storage.folder import as_path
from coterie.text.inputs import is_unicode
from coterie.text.readers import TextFiles, TextSource, read_texts
from coterie.text.readers.places import files_of
from coterie.text.readers.remote import is_url
from coterie.topics import Edit, TopicModel, state
from coterie.topics import edits as log
from coterie.topics.collection import TextStore

#: Where texts came from: a file or several that can be read again, a stream, or none of these: then only the
#: run has them.
FILE, FILES, STREAM, KEPT = "file", "files", "standard input", "kept"
#: In place of the name of an encoder: a function or an object, which no file can hold.
_OWN = "function"


# --- for run.json


def reading_of(source: TextSource | None, folder: Path) -> dict[str, Any]:
    """How texts were read: the file or files, what was asked for, and what was found."""
    several = isinstance(source, TextFiles) and not any(is_url(file.path) for file in source.files)
    # others read files that are gone soon, such as uploads
    if not several and type(source) is not TextSource:
        return getattr(source, "reading", None) or {"from": KEPT}
    assert source is not None
    given = {
        "column": source.column,
        "format": source.format,
        **asdict(source.options),
        "skip_bad": source.skip_bad,
        "batch_rows": source.batch_rows,
    }
    found = None if source.layout is None else asdict(source.layout)
    if str(source.path) == "-":
        return {"from": STREAM, "given": given, "found": found}
    if isinstance(source, TextFiles):
        paths = [path_beside(path, folder) for path in source.asked_for]
        return {"from": FILES, "paths": paths, "given": given, "found": found}
    return {"from": FILE, "path": path_beside(source.path, folder), "given": given, "found": found}


def path_beside(path: str | Path, folder: Path) -> str | None:
    """A path as seen from the run folder if both are in one folder, so that they can be moved together.

    Any other path is absolute; None stands for a name that is not Unicode, which JSON cannot hold.
    """
    whole, run = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    if not is_unicode(str(whole)):
        return None
    beside = whole.is_relative_to(run.parent) and run.parent != Path(run.anchor)
    return Path(os.path.relpath(whole, run)).as_posix() if beside else str(whole)


def about_fit(
    model: TopicModel, folder: Path, given: bool | None = None, vectors_file: str | Path | None = None
) -> dict[str, Any]:
    """What a fit was made with; empty for a model that was loaded, of which nobody knows.

    `given` says whether embeddings came with the texts, None that the model has to tell.
    """
    if model.edits_of_fit is None:
        return {}
    own = is_source(model.embeddings) and not isinstance(model.embeddings, str)
    used = getattr(model.fitted.scorer.method.last, "embeddings", None)
    return {
        "fit": {
            "versions": versions(),
            "machine": machine(),
            "encoder": _OWN if own else saved_as(model.embeddings),
            "embeddings": saved_as(used),
            "given": is_given(used) if given is None else given,
            "vectors": None if vectors_file is None else path_beside(vectors_file, folder),
            "edits": json.loads(log.dumps(model.edits_of_fit))["edits"],
        }
    }


@cache
def machine() -> dict[str, str]:
    """The type of the processor and the libraries that multiply matrices: both decide how numbers round."""
    import scipy.linalg  # noqa: F401  its library is loaded with it

    loaded = [found for found in threadpool_info() if found.get("user_api") == "blas"]
    # others may be loaded besides, such as that of an encoder
    ours = [found for found in loaded if re.search("numpy|scipy", str(found.get("filepath")))] or loaded
    libraries = {
        " ".join(str(found[key]) for key in ("internal_api", "version", "architecture") if found.get(key))
        for found in ours
    }
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "blas": ", ".join(sorted(libraries)) or "unknown",
    }


def plain_parameters(model: TopicModel, embeddings: Any) -> dict[str, Any]:
    """The parameters as plain values; what JSON cannot hold by its repr."""
    values = {**state.plain_parameters(model), "embeddings": saved_as(embeddings)}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)


# --- from run.json


@dataclass(frozen=True)
class Origin:
    """All that is needed to compute a run again; `notes` say what is not as it was."""

    model: TopicModel
    texts: TextStore
    source: str
    vectors: Vectors | None
    edits_of_fit: tuple[Edit, ...]
    edits: tuple[Edit, ...]
    notes: tuple[str, ...]


def origin_of(run: Run, loaded: TopicModel | None, source: str | Path | None = None) -> Origin:
    """What a run was computed from; `source` is another file with its texts.

    A run of an older version does not say all: then the `loaded` model and the table of the run help out.
    """
    fit = run.info.get("fit")
    notes = [] if fit is None else _changed(fit)
    texts, name, said = _texts(run, source)
    notes += said
    model, vectors, said = _unfitted(run, loaded)
    notes += said
    edits = edits_of(run.folder)
    if fit is None or fit.get("edits") is None:
        if any(edit.kind == "ban" for edit in edits):
            notes.append("the record does not say whether terms were banned before or after the fit")
        return Origin(model, texts, name, vectors, edits, edits, tuple(notes))
    content = json.dumps({"format": "coterie edits", "version": log.VERSION, "edits": fit["edits"]})
    before = log.loads(content, f"{run.folder / MARKER}, edits of the fit")
    return Origin(model, texts, name, vectors, before, edits, tuple(notes))


def _changed(fit: Mapping[str, Any]) -> list[str]:
    """What is not as it was when the run was fitted: versions, and the machine."""
    notes = []
    for what, now in (("versions", versions()), ("machine", machine())):
        before = fit.get(what) or {}
        differ = [
            f"{name} {before.get(name, 'absent')} → {now.get(name, 'absent')}"
            for name in [*before, *(name for name in now if name not in before)]
            if before.get(name) != now.get(name)
        ]
        if differ and what == "versions":
            notes.append(f"versions differ from those of the fit: {', '.join(differ)}")
        elif differ:
            notes.append(
                f"the machine differs from that of the fit: {', '.join(differ)}; numbers may differ in their "
                "last digits"
            )
    return notes


def _texts(run: Run, source: str | Path | None) -> tuple[TextStore, str, list[str]]:
    """The texts of a run, where they are now, and what there is to say about that."""
    data = run.info["data"]
    reading = data.get("reading") or {}
    about = f"{data['texts']:,} texts, fingerprint {str(data.get('sha256'))[:12]}"
    if source is None and reading.get("from") == STREAM:
        raise InputError(
            f"{run.folder} was fitted to standard input, which cannot be read again ({about})",
            python="verify(folder, source=FILE) names a file with the same texts",
            command="--source FILE names a file with the same texts",
        )
    if source is None and reading.get("from") == KEPT:
        store = TextStore(run.texts())
        return (
            store,
            "the run",
            ["the record does not name one file with the texts; those kept in the run are taken"],
        )
    paths = _found(run, reading) if source is None else [as_path(source)]
    if not paths or not all(map(_is_there, paths)):
        missing = next((path for path in paths if not _is_there(path)), data["source"])
        raise InputError(
            f"the source of {run.folder}, {spelled(missing)}, is not there any more ({about})",
            python="verify(folder, source=FILE) says where it is now",
            command="--source FILE says where it is now",
        )
    given = reading.get("given")
    if not isinstance(given, dict):  # of an older version
        given = {"column": data["column"], "skip_bad": True}
    if reading.get("from") == STREAM and isinstance(reading.get("found"), dict):
        # a stream has no name that tells its format
        given = {**given, "format": given.get("format") or reading["found"].get("format")}
    try:
        read = read_texts(paths[0] if len(paths) == 1 else paths, **given)
        return TextStore(read), read.source_name, []
    except TypeError:
        raise InputError(
            f"{run.folder / MARKER} says how the texts were read in a way that this version does not know; "
            "update coterie, or fit again"
        ) from None


def _found(run: Run, reading: Mapping[str, Any]) -> list[Path]:
    """The files of the texts: beside the run folder, where they were, or under the name that was typed.

    A name may be that of a folder, or a pattern.
    """
    typed = Path(run.info["data"]["source"])
    several = reading.get("from") == FILES and isinstance(reading.get("paths"), list)
    paths = []
    for recorded in reading["paths"] if several else [reading.get("path")]:
        places = [typed]
        if isinstance(recorded, str):
            beside = run.folder / recorded
            places = [Path(os.path.normpath(beside)), beside, *([] if several else [typed])]
        paths.append(next((place for place in places if _is_there(place)), places[0]))
    return paths


def _is_there(path: Path) -> bool:
    """Whether there is a file of that name, a folder, or any file that it matches as a pattern."""
    try:
        return path.exists() or files_of(path) is not None
    except InputError:
        return False


def _unfitted(run: Run, loaded: TopicModel | None) -> tuple[TopicModel, Vectors | None, list[str]]:
    """A model with the parameters of the run, and the embeddings that were given to it."""
    fit = run.info.get("fit")
    if fit is None and loaded is None:
        raise InputError(f"{run.folder} has neither its parameters nor a model that can be read; fit again")
    if fit is None:
        assert loaded is not None
        model, encoder = clone(loaded), loaded.embeddings
        given = is_given(getattr(loaded.fitted.scorer.method.last, "embeddings", None))
    else:
        model, encoder, given = _from_record(run), fit.get("encoder"), bool(fit.get("given"))
    if encoder == _OWN or (fit is None and given and run.vectors() is None):
        raise InputError(
            f"{run.folder} was fitted with a function or an object as encoder, which a record cannot hold, "
            "so it cannot be computed again"
        )
    if isinstance(encoder, str) and runs_code(encoder):
        raise InputError(
            f"{run.folder} was fitted with an encoder in a folder, {shown(encoder)}, which may contain code, "
            "so it is not computed again"
        )
    model.set_params(embeddings=encoder)
    vectors, notes = _vectors(run) if given else (None, [])
    return model, vectors, notes


def _from_record(run: Run) -> TopicModel:
    """A model from the parameters in run.json, which anybody may have written."""
    path = run.folder / MARKER
    parameters = run.info["parameters"]
    if type(parameters.get("random_state")) is not int:
        raise InputError(
            f"{run.folder} was fitted with the random state {shown(parameters.get('random_state'))}, not a "
            "number, so it cannot be computed again"
        )
    try:
        return TopicModel(**state.unpack_parameters(parameters))
    except InputError as error:
        raise InputError(f"the parameters in {path} cannot be used: {error}; fit again") from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"the parameters in {path} cannot be used ({error!r:.100}); fit again") from None


def _vectors(run: Run) -> tuple[Vectors, list[str]]:
    """Embeddings that were given: of the file they came from, or as the run keeps them."""
    recorded = (run.info.get("fit") or {}).get("vectors")
    notes = []
    if isinstance(recorded, str):
        path = Path(os.path.normpath(run.folder / recorded))
        if path.is_file():
            return read_vectors(path), []
        notes.append(f"the embeddings in {spelled(path)} are gone; those kept in the run are taken")
    kept = run.vectors()
    if kept is None:
        raise InputError(f"the embeddings that were given to {run.folder} are gone; fit again")
    return kept.all(), notes
