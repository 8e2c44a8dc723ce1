"""TopicModel: texts in, topics out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from coterie.cluster.n_topics import NumberOfTopics
from coterie.corpus.vectorizer import Vectorizer
from coterie.embeddings import Vectors
from coterie.engines import Cluster
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, check_flag, shown
from coterie.progress import automatic
from coterie.results import Assignments, Branch, Found, Recommended, Related, Similar, Topics
from coterie.storage.folder import as_path
from coterie.text.boilerplate import Boilerplate
from coterie.text.inputs import text_batches
from coterie.topics import fitting, grouped
from coterie.topics import recommend as recommending
from coterie.topics import search as searching
from coterie.topics import state as write
from coterie.topics.answers import answers_to, memberships_of, score_texts, topic_ids
from coterie.topics.collection import BATCH, Collection, TextStore
from coterie.topics.columns import Columns, take, texts_of
from coterie.topics.editing import Edited, Edits, State
from coterie.topics.edits import Edit, checked_edits
from coterie.topics.levels import Groupings, Levels
from coterie.topics.naming import readable_terms
from coterie.topics.reshape import Array, Ints
from coterie.topics.score import bits_per_term
from coterie.topics.tree import tree
from coterie.topics.trends import Period
from coterie.topics.vectors import take_encoder, with_vectors

if TYPE_CHECKING:
    from coterie.explore.live import LivePage
    from coterie.figures import Plots


class TopicModel(ClusterMixin, TransformerMixin, BaseEstimator):
    """Find topics in short texts, and assign every text with a confidence and a reason.

    1. Texts become counts of terms; identical texts count once, with a weight (`coterie.corpus`).
    2. A method finds topics in the counts: `coterie.Coterie` unless you name another (`coterie.methods`).
    3. Every distinct text is scored once; sizes, words, typical texts and the map are read off that.
    4. A text, old or new, alone or among others, goes through the same steps and gets the same answer.

    Parameters
    ----------
    n_topics
        Number of topics, or "auto": chosen from the texts, with an interval (`number_of_topics_`).
    method
        The name of a method (`coterie.methods.names()`), or an estimator of this package.
    language
        Language of the texts, by name or code, or several.
    vectorizer
        A `coterie.Vectorizer`, where `language` does not say enough, or one of scikit-learn, whose tokens are
        then counted (`coterie.corpus.foreign`).
    predefined
        Topics you know beforehand: for each name a list of words, a description, or a dict with any of
        `words`, `description` and `examples` (texts); None, or a list of names, if the name says enough. They
        are topics 0, 1, …
        in this order, even those without a text; new topics follow. `n_topics` counts both, so
        ``n_topics=len(predefined)`` finds only these.
    embeddings
        Where embeddings of texts come from, never needed: "static" (the extra ``coterie[words]``), the name
        of a model ("model2vec:NAME", "sentence-transformers:NAME"), a function of texts, or an object with
        `encode`. "given" means that they are passed together with the texts, and "auto" takes the static
        ones for up to 2,000 texts in English, if the extra is installed.
    keep_boilerplate
        Count what recurs in texts about different things, such as closings and notices. By default it is
        found and left out (`boilerplate_`).
    random_state
        Random seed. The default gives the same topics every time.

    Attributes
    ----------
    topics, edits
        The topics as they are now, and the log of edits with the ways to make another:
        ``model.edits.rename(0, "Late parcels")``.
    plot
        Figures: ``model.plot.topics()`` and others (`coterie.figures`).
    levels
        From a few groups of topics to the topics themselves, as many levels as the texts show.
    labels_
        The topic id of each text that was fitted.
    number_of_topics_
        How the number of topics was chosen, or None if it was given.
    boilerplate_
        What recurs in the texts and is left out of the counts.
    n_texts_, n_known_
        Number of texts, and of those that have a known word.
    collection, state
        What the model is made of, for programs: the texts and their counts (None in a model that was loaded),
        and a frozen `State` with what was edited, how topics are described, and the scores of each distinct
        text.
    columns
        The names and values of the columns given to `fit`, and the kind of table for results.

    >>> texts = ["late parcel", "parcel lost", "late delivery parcel", "refund card", "card refund money"]
    >>> model = TopicModel(n_topics=2).fit(texts * 4)
    >>> [topic.terms[0] for topic in model.topics]
    ['parcel', 'card']
    >>> answer = model.assign(["my card"])[0]
    >>> answer.label, answer.reason.words
    ('card refund money', ('card',))
    """

    number_of_topics_: NumberOfTopics | None
    n_texts_: int
    vectorizer_: Vectorizer
    collection: Collection | None = None
    #: The model before any edit.
    fitted: Edited
    state: State
    #: What came with the fitted texts.
    columns: Columns = Columns()
    #: Edits that were known when it was fitted; None in a model that was loaded.
    edits_of_fit: tuple[Edit, ...] | None = None
    _history: tuple[State, ...] = ()
    #: What the encoder says of a few texts, by which it is recognised, and whether it was since the load.
    _probe: Vectors | None = None
    _checked_source: bool = True
    _groupings: Groupings | None = None

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        *,
        method: Any = "coterie",
        language: str | Iterable[str] = "english",
        vectorizer: Any = None,
        predefined: Mapping[str, Any] | Sequence[str] | None = None,
        embeddings: Any = None,
        keep_boilerplate: bool = False,
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.method = method
        self.language = language
        self.vectorizer = vectorizer
        self.predefined = predefined
        self.embeddings = embeddings
        self.keep_boilerplate = keep_boilerplate
        self.random_state = random_state

    # --- fitting

    @automatic()
    def fit(
        self,
        texts: Any,
        y: Any = None,
        *,
        text: Hashable | None = None,
        date: Any = None,
        classes: Any = None,
        embeddings: Any = None,
        edits: Iterable[Edit] = (),
        cluster: Cluster | None = None,
    ) -> Self:
        """Find the topics of texts.

        Parameters
        ----------
        texts
            A list, column or stream of texts; a table of pandas, polars, Arrow, DuckDB or Dask, whose
            partitions are computed one by one; or a file (`coterie.read_texts`), which is read once, in
            batches; the counts of a large one are kept on disk.
        y
            Ignored.
        text
            The column of a table that holds the texts. It is remembered for tables to be assigned.
        date, classes
            The date and the known class of each text, as the name of a column or as values. They are counted
            by `over_time`, `changes`, `by_class` and in the report, and nothing is learned from them.
        embeddings
            Embeddings of the texts, where you have them: an array or a column of lists, one row per text.
            Texts with the same words share the mean of theirs.
        edits
            Edits of an earlier model (`edits`) to apply to this one; topics are recognised by their terms.
        cluster
            Workers and a folder (`coterie.engines.Cluster`) that count a file and learn from it; the topics
            are the same to the last bit.
        """
        before = dict(self.__dict__)
        try:
            source, self.columns = take(texts, text, date, classes)
            self.edits_of_fit = checked_edits(edits)
            fitting.fit(self, source, self.edits_of_fit, embeddings, cluster)
        except BaseException:  # a model that was fitted stays as it was
            if self.collection is not None and self.collection is not before.get("collection"):
                self.collection.close()
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def fit_transform(self, texts: Any, y: Any = None, **given: Any) -> Array:
        """`fit`, then `transform` of the same texts."""
        return self.fit(texts, y, **given).transform(texts, embeddings=given.get("embeddings"))

    # --- asking

    def assign(self, texts: Any, *, embeddings: Any = None, min_confidence: float = 0.0) -> Assignments:
        """Assign every text: topic, confidence, second-best topic and reason.

        A text without a known word has no topic (−1 in arrays); nor has one below `min_confidence`.
        `embeddings`, one row per text, are needed if the model was fitted with some and has no encoder to
        make them.
        """
        self._check_fitted()
        if not isinstance(min_confidence, (int, float)) or not 0 <= min_confidence <= 1:
            raise InputError(f"min_confidence must be a number from 0 to 1, got {shown(min_confidence)}")
        texts, shape = texts_of(texts, self.columns)
        with one_blas_thread():
            return answers_to(self, self._batches(texts, embeddings)).at_least(min_confidence).shaped(shape)

    def predict(self, texts: Any, *, embeddings: Any = None, min_confidence: float = 0.0) -> Ints:
        """The topic id of each text, −1 for none: see `assign`."""
        return self.assign(texts, embeddings=embeddings, min_confidence=min_confidence).topic

    def transform(self, texts: Any, *, embeddings: Any = None) -> Array:
        """Memberships, texts × topics in the order of `topics`; zeros for a text without a known word.

        Rows sum to 1, and the largest membership of a text is that of its topic and equals its confidence
        (`coterie.topics.memberships` says where that cannot be).
        """
        self._check_fitted()
        with one_blas_thread():
            return np.concatenate([memberships_of(self, *some) for some in self._batches(texts, embeddings)])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`: ``topic_`` and the id of each topic, which edits keep."""
        return np.array([f"topic_{topic.id}" for topic in self.topics], dtype=object)

    def score(self, texts: Any, y: Any = None) -> float:
        """How well topics predict one half of the words of each text from the other; higher is better.

        In bits per word, beyond how common the word is (`coterie.topics.score`). Texts that were not fitted
        give an honest figure: ``GridSearchCV(TopicModel(), {"n_topics": [5, 10, 20]})``.
        """
        self._check_fitted()
        with one_blas_thread():
            return bits_per_term(self, (batch for batch, _ in self._batches(texts)))

    def embed(self, texts: Any, *, embeddings: Any = None) -> Array:
        """Texts × dimensions, rows of unit length: near each other where words occur in the same texts."""
        self._check_fitted()
        with one_blas_thread():
            return np.concatenate(
                [score_texts(self, *some)[0].vectors for some in self._batches(texts, embeddings)]
            )

    def similar(self, text: str, top: int = 10, *, embeddings: Any = None) -> list[Similar]:
        """The most similar fitted texts; they need not share a word with `text`."""
        collection = self._with_texts("similar texts are looked for among the fitted ones")
        return searching.similar(self, collection, text, top, embeddings)

    def search(self, query: str, top: int = 10, *, by: str = searching.DEFAULT) -> list[Found]:
        """The fitted texts that fit a query best, each with the words through which it was found.

        `by` is how they are scored: "vectors" (the cosine of vectors, without embeddings), "meaning" (as on
        the live page), "kernel" (xᵀGy with the covariance of terms as G), "bm25" or "tf-idf".
        """
        collection = self._with_texts("a search looks among the fitted texts")
        return searching.search(self, collection, query, top, by)

    def expand(self, text: str, top: int = 10) -> list[Related]:
        """Terms that `text` does not contain but that are used like its words, each with its weight.

        The nearest come first. A weight of 1 would be that of a word of the text; `words` brought the term.
        """
        self._check_fitted()
        return searching.expand(self, text, top)

    def recommend(
        self, history: Any, candidates: Any, top: int = 10, *, diversity: float = 0.3
    ) -> list[Recommended]:
        """From texts that somebody read, those of the candidates that fit, the best first.

        With a `diversity` above 0, up to 1, candidates like those before them come later. Texts of the
        history and copies are left out. Embeddings do not count.
        """
        self._check_fitted()
        return recommending.recommend(self, history, candidates, top, diversity)

    # --- topics

    @property
    def topics(self) -> Topics:
        """The topics: predefined ones, then others, the largest at the fit first, then parts of splits."""
        self._check_fitted()
        return self.state.topics.shaped(self.columns.shape)

    @property
    def n_topics_(self) -> int:
        """The number of topics as they are now."""
        if "state" not in self.__dict__:
            raise AttributeError("n_topics_ is the number of topics that were found, and this model has none")
        return len(self.state.topics)

    def __len__(self) -> int:
        return len(self.topics)

    def __bool__(self) -> bool:
        return True  # a model without topics yet is a model all the same

    @property
    def edits(self) -> Edits:
        """The log of edits, and the ways to make another."""
        self._check_fitted()
        return Edits(self)

    @property
    def plot(self) -> Plots:
        """Figures of the model: ``model.plot.topics()`` and others."""
        from coterie.figures import Plots

        self._check_fitted()
        return Plots(self)

    @property
    def labels_(self) -> Ints:
        """The topic id of each text that was fitted; −1 for one without a known word."""
        if self.collection is None or "state" not in self.__dict__ or self.state.scores is None:
            raise AttributeError("labels_ are those of fitted texts, and this model has none")
        labels: Ints = topic_ids(self)[self.state.scores.topic][self.collection.corpus.rows]
        return labels

    @property
    def embeddings_(self) -> Any:
        """Where the embeddings that this model uses come from; None if it uses none.

        "given" if they came with the texts, or from an encoder that a loaded model does not have.
        """
        last = self.fitted.scorer.method.last
        return None if getattr(last, "view_", None) is None else last.embeddings

    @property
    def boilerplate_(self) -> Boilerplate:
        """What recurs in the fitted texts and is left out of the counts, here and in new texts."""
        return self.vectorizer_.boilerplate_

    @property
    def decision_(self) -> str:
        """What was decided about embeddings and refinement, and why; empty if there was nothing to decide."""
        return str(getattr(self.fitted.scorer.method.last, "decision_", ""))

    @property
    def n_known_(self) -> int:
        """Number of fitted texts that have a known word, or were put into a topic."""
        return self.n_texts_ - round(self.state.description.lost)

    def over_time(
        self, dates: Any = None, every: Period = "auto", classes: Any = None, *, day_first: bool | None = None
    ) -> Any:
        """Texts, share and own terms of each topic in each period; `dates` has one date per text.

        `dates` may be the name of a column of the fitted table; None takes those given to `fit`. Where
        `classes` are given, texts and share of each class. The dates tell whether 3/4/2025 is in March or
        April; if they do not, `day_first` says so.
        """
        return self.columns.shape.of(grouped.over_time(self, dates, every, classes, day_first))

    def changes(
        self, dates: Any = None, every: Period = "auto", classes: Any = None, *, day_first: bool | None = None
    ) -> Any:
        """How the share of each topic in the last period changed, against the period and the year before.

        One row per topic and comparison, or per class where `classes` are given. `low` and `high` are the
        limits of `change`, a difference of shares; they hold for all rows at once, with a probability of
        95 %. `trend` is *new*, *grew* or *fell* where a change is clear, else empty
        (`coterie.topics.changes`). If all texts are of one period, there are no rows.
        """
        return self.columns.shape.of(grouped.changes(self, dates, every, classes, day_first))

    def by_class(self, classes: Any = None) -> Any:
        """Texts, share and own terms of each topic in each class; `classes` has one for each text.

        It may be the name of a column of the fitted table; None takes those given to `fit`.
        """
        return self.columns.shape.of(grouped.by_class(self, classes))

    def hierarchy(self) -> Branch:
        """The topics as a tree; print it."""
        topics, described = self.topics, self.state.description
        usable = readable_terms(self.vectorizer_, self.state.edited.scorer.banned)
        names = self.vectorizer_.vocabulary_.display
        return tree(topics, described.centers, described.counts, names, usable)

    @property
    def levels(self) -> Levels:
        """Groups of topics, the coarsest level first, and the topics themselves as the last; print it.

        A level is offered only where two halves of the vocabulary group the topics alike, beyond chance.
        """
        self._check_fitted()
        self._groupings = Groupings.of(self, self._groupings)
        return self._groupings.levels(self)

    # --- files

    def save(self, folder: str | Path, *, texts: bool | None = None) -> None:
        """Save a run folder, as ``coterie fit`` writes it, for ``coterie explore`` and the other commands.

        It holds the model, the texts with their columns and assignments, topics, map and report. With
        ``texts=False``, and in any case for a model that was loaded, the model alone is saved, as JSON and
        arrays: terms and a few typical texts. An existing folder of the same kind is replaced.
        """
        self._check_fitted()
        if self.collection is not None if texts is None else check_flag("texts", texts):
            from coterie.runs.from_model import save_run

            save_run(self, folder)
        else:
            write.save(self, as_path(folder))

    def report(self, path: str | Path = "report.html", *, title: str | None = None) -> Path:
        """Write the report, one page that opens anywhere, with the dates and classes given to `fit`."""
        self._check_fitted()
        from coterie.runs.from_model import save_report

        return save_report(self, path, title)

    def explore(self, *, browser: bool | None = None) -> LivePage:
        """Open the live page of ``coterie explore`` (the extra ``explore``); in a notebook, inside of it.

        The page works on a copy in a temporary folder, which is removed when it is stopped or Python ends;
        `LivePage.model` is the model with the edits made there.
        """
        self._check_fitted()
        from coterie.explore.live import open_page

        return open_page(self, browser)

    @classmethod
    def load(cls, folder: str | Path, *, embeddings: Any = None) -> Self:
        """Load a model written by `save` or ``coterie fit``; it gives the same results and has no texts.

        `embeddings` is the encoder of the fit, which is saved only by name. Another one is refused.
        """
        model = write.load(cls, as_path(folder))
        if embeddings is not None:
            take_encoder(model, embeddings)
        return model

    # --- inside

    def _batches(self, texts: Any, embeddings: Any = None) -> Iterator[tuple[pl.Series, Vectors | None]]:
        texts = texts_of(texts, self.columns)[0]
        batches = texts.batches() if isinstance(texts, TextStore) else text_batches(texts, rows=BATCH)
        return with_vectors(self, batches, embeddings)

    def _check_fitted(self) -> None:
        if "state" not in self.__dict__:
            raise NotFittedError("This TopicModel is not fitted yet: call fit with texts first")

    def _with_texts(self, why: str) -> Collection:
        self._check_fitted()
        if self.collection is None:
            raise InputError(
                f"{why}, which a loaded model does not have; use coterie.open_run(folder).with_texts()"
            )
        return self.collection

    def __sklearn_is_fitted__(self) -> bool:
        return "state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Sizes and names of topics for notebooks, instead of the diagram of scikit-learn."""
        plain = {"text/plain": repr(self)}
        if "state" not in self.__dict__:
            return plain
        return plain | {"text/html": self._repr_html_(), "image/svg+xml": self._repr_svg_()}

    def _repr_html_(self) -> str:
        return self.plot.topics()._repr_html_()

    def _repr_svg_(self) -> str:
        return self.plot.topics()._repr_svg_()
