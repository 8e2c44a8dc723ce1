"""Public functions with wrong values: each gives a result, or says in one sentence what is wrong.

A public name that is not in `CALLS` fails `test_every_public_name_is_tried`.
"""

import copy
import inspect
import traceback
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import coterie
from coterie import TopicModel, comparison, datasets, methods, metrics, runs, text
from coterie.errors import InputError
from coterie.topics import Edit, Reference, topics_of_term
from coterie.topics.editing import Edits

TEXTS = ["late parcel depot", "parcel van depot", "card refund tax", "refund tax invoice"] * 3
COUNTS = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]] * 3)
CLASSES = ["post", "post", "money", "money"] * 3
GROUPS = [0, 0, 1, 1] * 3
TERMS = [["late", "parcel"], ["card", "refund"]]


class Strange:
    """An object that nobody expects."""


WRONG = {
    "None": None,
    "empty": "",
    "zero": 0,
    "negative": -1,
    "float": 1e9,
    "nan": float("nan"),
    "infinity": float("inf"),
    "huge": 1 << 70,
    "true": True,
    "bytes": b"\xff",
    "text": "x",
    "NUL": "a\0b",
    "surrogate": "\ud800",
    "empty list": [],
    "nested": [[1, [2, [3]]], "x"],
    "list of None": [None, None],
    "list of surrogates": ["\ud800", "a"],
    "list of objects": [Strange(), Strange()],
    "object": Strange(),
    "dict": {"a": 1},
    "set": {1, 2},
    "empty array": np.zeros(0),
    "scalar array": np.array(3.5),
    "cube": np.zeros((2, 2, 2)),
    "array of nan": np.full((12, 4), np.nan),
    "wrong shape": np.ones((3, 7)),
    "array of texts": np.array(["a", "b"]),
    "array of objects": np.array([None, 1, "x"], dtype=object),
    "complex": np.array([1j, 2j]),
    "dates": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    "frame": pl.DataFrame({"a": [1], "b": ["x"]}),
    "series": pl.Series([{"a": 1}]),
}
#: Yes or no, whatever is given; objects of coterie and functions, which Python itself asks for what they lack;
#: and what the reader of files checks.
LEFT_OUT = {
    "stem", "refine", "header", "skip_bad", "per_topic", "as_gensim", "use_stop_words", "tokenizer",
    "model", "rows", "change", "use", "progress", "source", "command", "y", "given",
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return TopicModel(2).fit(TEXTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    pl.DataFrame({"text": TEXTS, "class": CLASSES}).write_csv(folder / "t.csv")
    runs.fit_run(coterie.read_texts(folder / "t.csv", "text"), folder / "run", TopicModel(2))
    return folder


def fitted(kind, data, **settings):
    def call(model, folder, /, **given):
        return kind(**{**settings, **given}).fit(data)

    return call, kind


def plain(function, **valid):
    def call(model, folder, /, **given):
        return function(**{**valid, **given})

    return call, function


def of_model(name, **valid):
    def call(model, folder, /, **given):
        values = {**valid, **given}
        if name.endswith("transform"):  # scikit-learn wraps it and wants its first argument without a name
            return getattr(copy.deepcopy(model), name)(values.pop("texts"), **values)
        return getattr(copy.deepcopy(model), name)(**values)

    return call, getattr(TopicModel, name)


def of_edits(name, **valid):
    def call(model, folder, /, **given):
        edits = copy.deepcopy(model).edits.rename(0, "Named")
        return getattr(edits, name)(*{**valid, **given}.values())

    return call, getattr(Edits, name)


def of_run(function, **valid):
    def call(model, folder, /, **given):
        return function(**{"folder": folder / "run", **valid, **given})

    return call, function


def fit_run(model, folder, /, **given):
    source = coterie.read_texts(folder / "t.csv", "text")
    return runs.fit_run(**{"source": source, "folder": folder / "new", "model": TopicModel(2), **given})


def read_texts(model, folder, /, **given):
    return list(coterie.read_texts(**{"path": folder / "t.csv", "column": "text", **given}))


def apply(model, folder, /, **given):
    valid = {"kind": "rename", "topics": (Reference.to(model.topics[0]),), "label": "x"}
    return copy.deepcopy(model).edits.apply(Edit(**{**valid, **given}))


def ban(model, folder, /, **given):
    return copy.deepcopy(model).edits.apply(Edit(**{"kind": "ban", "terms": ("parcel",), **given}))


def refer(model, folder, /, **given):
    reference = Reference(**{"id": 0, "label": "x", "terms": ("parcel",), **given})
    return copy.deepcopy(model).edits.apply(Edit("rename", (reference,), label="x"))


def ask_for_term(model, folder, /, **given):
    return topics_of_term(**{"model": model, "term": "parcel", **given})


ESTIMATORS = ("Coterie", "NMF", "SemanticNMF", "SphericalKMeans", "TermNMF")
SCORES = (
    "accuracy",
    "ari",
    "cluster_table",
    "clustering_scores",
    "completeness",
    "homogeneity",
    "nmi",
    "purity",
)
#: How each public name is called with one wrong value, and where its parameters are read from.
CALLS = {
    "coterie.TopicModel": fitted(TopicModel, TEXTS, n_topics=2),
    "coterie.Vectorizer": fitted(coterie.Vectorizer, TEXTS),
    "coterie.NystromSemantics": fitted(coterie.NystromSemantics, COUNTS),
    **{f"coterie.{name}": fitted(getattr(coterie, name), COUNTS, n_topics=2) for name in ESTIMATORS},
    "coterie.open_run": of_run(runs.open_run),
    "coterie.read_texts": (read_texts, coterie.read_texts),
    "coterie.runs.open_run": of_run(runs.open_run),
    "coterie.runs.edits_of": of_run(runs.edits_of),
    "coterie.runs.edit_run": of_run(runs.edit_run, change=lambda model: None),
    "coterie.runs.verify": of_run(runs.verify),
    "coterie.runs.with_run": of_run(runs.with_run, use=lambda run: None),
    "coterie.runs.fit_run": (fit_run, runs.fit_run),
    "coterie.text.read_texts": (read_texts, coterie.read_texts),
    "coterie.text.Analyzer": plain(text.Analyzer),
    "coterie.topics.TopicModel": fitted(TopicModel, TEXTS, n_topics=2),
    "coterie.topics.Edit": (apply, Edit),
    "coterie.topics.Edit of a ban": (ban, Edit),
    "coterie.topics.Reference": (refer, Reference),
    "coterie.topics.topics_of_term": (ask_for_term, topics_of_term),
    **{
        f"coterie.metrics.{name}": plain(getattr(metrics, name), labels_true=CLASSES, labels_pred=GROUPS)
        for name in SCORES
    },
    "coterie.metrics.coherence": plain(
        metrics.coherence, topics=TERMS, texts=[text.split() for text in TEXTS]
    ),
    "coterie.metrics.diversity": plain(metrics.diversity, topics=TERMS),
    "coterie.metrics.svm_accuracy": plain(metrics.svm_accuracy, vectors=COUNTS, labels=CLASSES),
    "coterie.metrics.svm_scores": plain(metrics.svm_scores, vectors=COUNTS, labels=CLASSES),
    "coterie.datasets.load": plain(datasets.load),
    "coterie.datasets.load_matrix": plain(datasets.load_matrix),
    "coterie.datasets.load_retrieval": plain(datasets.load_retrieval),
    "coterie.methods.find": plain(methods.find),
    "coterie.comparison.compare": plain(
        comparison.compare, texts=TEXTS, classes=CLASSES, n_topics=2, methods=["nmf"], n_restarts=1
    ),
    **{f"TopicModel.{name}": of_model(name, texts=TEXTS) for name in ("fit", "fit_transform", "transform")},
    **{f"TopicModel.{name}": of_model(name, texts=TEXTS) for name in ("assign", "predict", "embed")},
    "TopicModel.by_class": of_model("by_class"),
    "TopicModel.similar": of_model("similar", text="parcel"),
    "TopicModel.search": of_model("search", query="parcel"),
    "TopicModel.expand": of_model("expand", text="parcel"),
    "TopicModel.recommend": of_model("recommend", history=TEXTS[:2], candidates=TEXTS),
    "TopicModel.over_time": of_model("over_time", dates=["2024-05-31"] * 12),
    "TopicModel.changes": of_model("changes", dates=["2024-05-31"] * 12),
    "TopicModel.hierarchy": of_model("hierarchy"),
    "TopicModel.save": of_model("save", folder="made"),
    "TopicModel.report": of_model("report"),
    "TopicModel.score": of_model("score"),
    "TopicModel.get_feature_names_out": of_model("get_feature_names_out"),
    "TopicModel.load": of_run(TopicModel.load),
    "Edits.rename": of_edits("rename", topic=0, label="x"),
    "Edits.name_topics": of_edits("name_topics", function=lambda topic: f"x {topic.id}"),
    "Edits.merge": of_edits("merge", into=0, others=1),
    "Edits.split": of_edits("split", topic=0, parts=2),
    "Edits.ban": of_edits("ban", terms="parcel"),
    "Edits.pin": of_edits("pin", text=TEXTS[0], topic=0),
    "Edits.apply": of_edits("apply", edits=Edit("ban", terms=("parcel",))),
    "Edits.undo": of_edits("undo", edits=1),
}
#: What is made by coterie, not by its users; downloads and servers; and Series methods of the log.
NOT_CALLED = {
    "coterie.__version__", "coterie.datasets", "coterie.runs.Run", "coterie.runs.assigned_table",
    "coterie.runs.assign_parts",
    "coterie.runs.Verification", "coterie.text.Batch", "coterie.text.TextSource", "coterie.metrics.ClusteringScores", "coterie.metrics.SvmScores",
    "coterie.datasets.Dataset", "coterie.datasets.Matrix", "coterie.datasets.Retrieval", "coterie.datasets.describe", "coterie.datasets.fetch", "coterie.datasets.names",
    "Edits.stamp", "Edits.index", "Edits.count", "TopicModel.explore",
}  # fmt: skip


def public():
    modules = (coterie, runs, text, coterie.topics, metrics, datasets)
    names = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    for kind in (TopicModel, Edits):
        own = {
            name for name, value in vars(kind).items() if callable(value) or isinstance(value, classmethod)
        }
        names |= {f"{kind.__name__}.{name}" for name in own if not name.startswith("_")}
    return names


def test_every_public_name_is_tried():
    assert public() - set(CALLS) - NOT_CALLED == set()


def wrong_calls():
    for name, (_, signature) in CALLS.items():
        for parameter in inspect.signature(signature).parameters:
            if parameter not in {*LEFT_OUT, "self", "cls"}:
                yield name, parameter


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter"), list(wrong_calls()))
def test_wrong_values_are_told_in_a_sentence(model, folder, tmp_path, monkeypatch, name, parameter):
    monkeypatch.chdir(tmp_path)  # some values are good names of folders
    faults = {}
    for kind, value in WRONG.items():
        try:
            CALLS[name][0](model, folder, **{parameter: value})
        except (InputError, NotFittedError) as error:
            if len(str(error)) > 1_000:
                faults[kind] = str(error)[:200]
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            faults[kind] = f"{Path(last.filename).name}:{last.lineno}: {error!r:.100}"
    assert faults == {}
