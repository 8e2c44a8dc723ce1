"""Assign the texts of a Spark DataFrame to the topics of a model: needs ``pip install "coterie[spark]"``.

The saved files of the model are broadcast as bytes, and every Python worker of Spark loads them once. Rows go
through `DataFrame.mapInArrow`: columns of the input come back as they were, whatever their types. coterie
must be installed where the workers are. To fit, export the texts once (``dataframe.write.parquet``) and run
``coterie fit`` on the files: see docs/cluster.md.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.errors import InputError

if TYPE_CHECKING:
    from coterie.runs import Run
    from coterie.topics import TopicModel

#: The model that this process has loaded, by the checksum of its files.
_LOADED: dict[str, TopicModel] = {}
_LOADING = threading.Lock()


def assign(
    dataframe: Any,
    model: TopicModel | Run | str | Path,
    text: str | None = None,
    *,
    min_confidence: float = 0.0,
) -> Any:
    """The rows of a Spark DataFrame with topic, label, confidence, second and reason.

    Parameters
    ----------
    dataframe
        A `pyspark.sql.DataFrame`; nothing is computed before Spark is asked for the result.
    model
        A fitted `TopicModel`, a `Run`, or the path of a run folder or of a saved model.
    text
        The column with the texts; by default the one that the model was fitted with.
    min_confidence
        Leave the topic of less certain texts empty (0 to 1).

    A column of the input that has one of the five names stays, and the new one gets the prefix ``coterie_``.
    """
    types = _types(dataframe)
    opened, fitted_with = _opened(model)
    from coterie.text.inputs import choose_column

    named = text if text is not None else fitted_with if fitted_with in dataframe.columns else None
    at = dataframe.columns.index(choose_column(dataframe.columns, named, "the DataFrame"))
    files = _files(opened, min_confidence)
    checksum = hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()
    sent = _broadcast(dataframe, files)

    def answered(batches: Iterator[Any]) -> Iterator[Any]:
        return _answered(batches, checksum, sent, at, min_confidence)

    return dataframe.mapInArrow(answered, _schema(dataframe, types))


def _types(dataframe: Any) -> Any:
    """The types of Spark, or a sentence that says what is missing."""
    try:
        import pyarrow  # noqa: F401
        from pyspark.sql import types
    except ImportError as error:
        raise InputError(
            f'coterie.spark needs {error.name}, which is missing; run: pip install "coterie[spark]"'
        ) from error
    if not hasattr(dataframe, "mapInArrow"):
        raise InputError(
            f"dataframe must be a pyspark.sql.DataFrame of Spark 3.3 or newer, got {type(dataframe).__name__}"
        )
    return types


def _opened(model: Any) -> tuple[TopicModel, str | None]:
    """The model, and the column that it was fitted with."""
    from coterie.runs import Run, open_run
    from coterie.runs.record import MARKER
    from coterie.topics import TopicModel

    if isinstance(model, (str, Path)):
        folder = Path(model)
        model = open_run(folder) if (folder / MARKER).exists() else TopicModel.load(folder)
    if isinstance(model, Run):
        return model.model, model.info["data"]["column"]
    if not isinstance(model, TopicModel):
        raise InputError(
            f"model must be a TopicModel, a Run or the path of a run folder, got {type(model).__name__}"
        )
    return model, model.columns.text


def _files(model: TopicModel, min_confidence: float) -> dict[str, bytes]:
    """The files of the saved model, once they have answered here as they will on the workers."""
    from coterie.storage.temporary import TemporaryFolder
    from coterie.topics import TopicModel, state

    with TemporaryFolder("model") as folder:
        state.write(model, folder)
        TopicModel.load(folder).assign(["", "text"], min_confidence=min_confidence)
        return {name: (folder / name).read_bytes() for name in state.FILES}


class _Carried:
    """What a broadcast has, for sessions without one: the files travel with the function."""

    def __init__(self, value: Mapping[str, bytes]):
        self.value = value


def _broadcast(dataframe: Any, files: dict[str, bytes]) -> Any:
    try:
        context = dataframe.sparkSession.sparkContext
    except Exception:  # Spark Connect has no context, and each version another error for it
        return _Carried(files)
    return context.broadcast(files)


def _schema(dataframe: Any, types: Any) -> Any:
    from coterie.runs.writing import added_names

    kinds = {
        "topic": types.LongType(),
        "label": types.StringType(),
        "confidence": types.DoubleType(),
        "second": types.LongType(),
        "reason": types.StringType(),
    }
    names = added_names(dataframe.columns)
    added = [types.StructField(names[name], kind, True) for name, kind in kinds.items()]
    return types.StructType([*dataframe.schema.fields, *added])


# --- on a worker


def _answered(
    batches: Iterator[Any], checksum: str, sent: Any, at: int, min_confidence: float
) -> Iterator[Any]:
    """Record batches with five more columns; the others are passed on untouched."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # Spark starts a worker for each core
    import polars as pl
    import pyarrow as pa

    from coterie.engines.remote import on_one_core
    from coterie.runs.writing import added_names
    from coterie.text.inputs import text_column
    from coterie.text.nulls import without_nulls

    kinds = {"topic": pa.int64(), "label": pa.string(), "confidence": pa.float64(), "second": pa.int64()}
    with on_one_core():
        model = _model(checksum, sent)
    for batch in batches:
        with on_one_core():
            texts = text_column(without_nulls(pl.Series(pl.from_arrow(batch.column(at)))))
            answers = model.assign(texts, min_confidence=min_confidence).polars()
        new = [_array(answers[name], kinds.get(name, pa.string())) for name in answers.columns]
        names = added_names(batch.schema.names)
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, *new], [*batch.schema.names, *(names[name] for name in answers.columns)]
        )


def _array(series: Any, kind: Any) -> Any:
    return series.to_arrow().cast(kind)


def _model(checksum: str, sent: Any) -> TopicModel:
    """The model of the broadcast, loaded once in each process."""
    with _LOADING:
        if checksum not in _LOADED:
            from coterie.storage.temporary import TemporaryFolder
            from coterie.topics import TopicModel

            with TemporaryFolder("model") as folder:
                for name, content in sent.value.items():
                    (folder / name).write_bytes(content)
                loaded = TopicModel.load(folder)
            _LOADED.clear()  # a worker serves one job after another
            _LOADED[checksum] = loaded
        return _LOADED[checksum]
