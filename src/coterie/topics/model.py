"""TopicModel: texts in, topics out."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from coterie.cluster.n_topics import NumberOfTopics
from coterie.corpus.vectorizer import Vectorizer
from coterie.engines import Block
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, shown
from coterie.estimator import check_count
from coterie.results import Assignments, Branch, Similar, Topics
from coterie.storage.folder import as_path
from coterie.text.boilerplate import Boilerplate
from coterie.text.inputs import text_batches
from coterie.topics import fitting
from coterie.topics import state as write
from coterie.topics.answers import answers_to, memberships_of, score_texts, topic_ids
from coterie.topics.changes import changes, frame
from coterie.topics.collection import BATCH, Collection, TextStore
from coterie.topics.editing import Edited, Edits, State
from coterie.topics.edits import Edit, checked_edits
from coterie.topics.levels import Groupings, Levels
from coterie.topics.naming import readable_terms
from coterie.topics.reshape import Array, Ints
from coterie.topics.tree import tree
from coterie.topics.trends import Period, as_classes, as_dates, by_group, class_periods, numbered, periods

_NEED_TEXTS = "counts over time and by class need the fitted texts"


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
        A `coterie.Vectorizer`, where `language` does not say enough.
    seed_words
        Topics you expect: a label and some seed words for each.
    embeddings
        Where embeddings of texts come from, never needed: "static" (the extra ``coterie[words]``), a function
        of texts, or an object with `encode`. "auto" takes the static ones for up to 2,000 texts in English,
        if the extra is installed.
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

    >>> texts = ["late parcel", "parcel lost", "late delivery parcel", "refund card", "card refund money"]
    >>> model = TopicModel(n_topics=2).fit(texts * 4)
    >>> [topic.terms[0] for topic in model.topics]
    ['parcel', 'card']
    >>> answer = model.assign(["my card"])[0]
    >>> answer.label, answer.reason.words
    ('card, refund, money', ('card',))
    """

    number_of_topics_: NumberOfTopics | None
    n_texts_: int
    vectorizer_: Vectorizer
    collection: Collection | None = None
    #: The model before any edit.
    fitted: Edited
    state: State
    _history: tuple[State, ...] = ()
    _groupings: Groupings | None = None

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        *,
        method: Any = "coterie",
        language: str | Iterable[str] = "english",
        vectorizer: Vectorizer | None = None,
        seed_words: Mapping[str, Sequence[str]] | None = None,
        embeddings: Any = None,
        keep_boilerplate: bool = False,
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.method = method
        self.language = language
        self.vectorizer = vectorizer
        self.seed_words = seed_words
        self.embeddings = embeddings
        self.keep_boilerplate = keep_boilerplate
        self.random_state = random_state

    # --- fitting

    def fit(self, texts: Any, y: Any = None, *, edits: Iterable[Edit] = ()) -> Self:
        """Find the topics of texts.

        Parameters
        ----------
        texts
            A list, column or stream of texts, or a file (`coterie.read_texts`), which is read once, in
            batches; the counts of a large one are kept on disk.
        y
            Ignored.
        edits
            Edits of an earlier model (`edits`) to apply to this one; topics are recognised by their terms.
        """
        before = dict(self.__dict__)
        try:
            fitting.fit(self, texts, checked_edits(edits))
        except BaseException:  # a model that was fitted stays as it was
            if self.collection is not None and self.collection is not before.get("collection"):
                self.collection.close()
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    # --- asking

    def assign(self, texts: Any, *, min_confidence: float = 0.0) -> Assignments:
        """Assign every text: topic, confidence, second-best topic and reason.

        A text without a known word has no topic, −1; nor has one below `min_confidence`.
        """
        self._check_fitted()
        if not isinstance(min_confidence, (int, float)) or not 0 <= min_confidence <= 1:
            raise InputError(f"min_confidence must be a number from 0 to 1, got {shown(min_confidence)}")
        with one_blas_thread():
            return answers_to(self, _batches(texts)).at_least(min_confidence)

    def predict(self, texts: Any, *, min_confidence: float = 0.0) -> Ints:
        """The topic id of each text, −1 for none: see `assign`."""
        return self.assign(texts, min_confidence=min_confidence).topic

    def transform(self, texts: Any) -> Array:
        """Memberships, texts × topics in the order of `topics`; zeros for a text without a known word.

        Rows sum to 1, and the largest membership of a text is that of its topic and equals its confidence
        (`coterie.topics.memberships` says where that cannot be).
        """
        self._check_fitted()
        with one_blas_thread():
            return np.concatenate([memberships_of(self, batch) for batch in _batches(texts)])

    def embed(self, texts: Any) -> Array:
        """Texts × dimensions, rows of unit length: near each other where words occur in the same texts."""
        self._check_fitted()
        with one_blas_thread():
            return np.concatenate([score_texts(self, batch)[0].vectors for batch in _batches(texts)])

    def similar(self, text: str, top: int = 10) -> list[Similar]:
        """The most similar fitted texts; they need not share a word with `text`."""
        collection = self._with_texts("similar texts are looked for among the fitted ones")
        if not isinstance(text, str):
            raise InputError(f"text must be a string, got {type(text).__name__}")
        check_count("top", top, self)
        wanted, scorer = self.embed([text])[0], self.state.edited.scorer

        def nearest(block: Block) -> tuple[Ints, Array]:
            rows = slice(block.start, block.start + block.X.shape[0])
            own = None if collection.embeddings is None else collection.embeddings[rows]
            near = np.round(scorer.score(block.X, own).vectors @ wanted, 9)
            best = np.argsort(-near, kind="stable")[:top]
            return best + block.start, near[best]

        with one_blas_thread():
            parts = list(collection.corpus.engine.map(nearest))
        rows, near = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        best = np.argsort(-near, kind="stable")[:top]
        best = best[near[best] > 0]
        numbers = collection.first[rows[best]]
        texts = collection.texts.at(numbers)
        assert self.state.scores is not None
        ids = topic_ids(self)[self.state.scores.topic[rows[best]]]
        return [
            Similar(number, texts[number], int(topic), float(cosine))
            for number, topic, cosine in zip(numbers.tolist(), ids, near[best], strict=True)
        ]

    # --- topics

    @property
    def topics(self) -> Topics:
        """The topics, the largest at the time of the fit first; parts of split topics come last."""
        self._check_fitted()
        return self.state.topics

    @property
    def edits(self) -> Edits:
        """The log of edits, and the ways to make another."""
        self._check_fitted()
        return Edits(self)

    @property
    def labels_(self) -> Ints:
        """The topic id of each text that was fitted; −1 for one without a known word."""
        if self.collection is None or "state" not in self.__dict__ or self.state.scores is None:
            raise AttributeError("labels_ are those of fitted texts, and this model has none")
        labels: Ints = topic_ids(self)[self.state.scores.topic][self.collection.corpus.rows]
        return labels

    @property
    def embeddings_(self) -> Any:
        """Where the embeddings that this model uses come from; None if it uses none."""
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
        self, dates: Any, every: Period = "auto", classes: Any = None, *, day_first: bool | None = None
    ) -> pl.DataFrame:
        """Texts, share and own terms of each topic in each period; `dates` has one date per text.

        Where `classes` are given, texts and share of each class. The dates tell whether 3/4/2025 is in March
        or April; if they do not, `day_first` says so.
        """
        starts = periods(as_dates(dates, day_first), every).rename("period")
        if classes is None:
            return self._by(starts)
        there = self._counted_texts() >= 0
        classes = as_classes(classes)
        for column in (starts, classes):
            numbered(column, len(there))
        return class_periods(classes, starts, there)

    def changes(
        self, dates: Any, every: Period = "auto", classes: Any = None, *, day_first: bool | None = None
    ) -> pl.DataFrame:
        """How the share of each topic in the last period changed, against the period and the year before.

        One row per topic and comparison, or per class where `classes` are given. `low` and `high` are the
        limits of `change`, a difference of shares; they hold for all rows at once, with a probability of
        95 %. `trend` is *new*, *grew* or *fell* where a change is clear, else empty
        (`coterie.topics.changes`). If all texts are of one period, there are no rows.
        """
        groups = self._counted_texts()
        names: dict[str, list[Any]] = {
            "topic": [topic.id for topic in self.topics],
            "label": [topic.label for topic in self.topics],
        }
        if classes is not None:
            numbers, known = numbered(as_classes(classes), len(groups))
            groups, names = np.where(groups >= 0, numbers, -1), {"class": known.to_list()}
        found = changes(groups, len(next(iter(names.values()))), as_dates(dates, day_first), every)
        return frame(found, {name: pl.Series(name, values) for name, values in names.items()})

    def by_class(self, classes: Any) -> pl.DataFrame:
        """Texts, share and own terms of each topic in each class; `classes` has one for each text."""
        return self._by(as_classes(classes))

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

    def _counted_texts(self) -> Ints:
        """The number of the topic of each text, −1 for one without a known word."""
        collection = self._with_texts(_NEED_TEXTS)
        assert self.state.scores is not None
        columns: Ints = self.state.scores.topic[collection.corpus.rows]
        return columns

    def _by(self, groups: pl.Series) -> pl.DataFrame:
        collection = self._with_texts(_NEED_TEXTS)
        scorer, scores = self.state.edited.scorer, self.state.scores
        assert scores is not None
        labels = [topic.label for topic in self.topics]
        names = self.vectorizer_.vocabulary_.display
        engine = collection.engine(scorer.banned)
        return by_group(engine, collection.corpus.rows, scores.topic, groups, scorer.ids, labels, names)

    # --- files

    def save(self, folder: str | Path) -> None:
        """Save the model as JSON and arrays; an existing model folder is replaced."""
        self._check_fitted()
        write.save(self, as_path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Load a model written by `save` or ``coterie fit``; it gives the same results and has no texts."""
        return write.load(cls, as_path(folder))

    # --- inside

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

    def _repr_html_(self) -> str:
        """The topics as a table for notebooks; texts are escaped."""
        if "state" not in self.__dict__:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return self.topics._repr_html_()


def _batches(texts: Any) -> Iterator[pl.Series]:
    return texts.batches() if isinstance(texts, TextStore) else text_batches(texts, rows=BATCH)
