"""TopicModel: texts in, topics out."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from coterie.cluster.n_topics import NumberOfTopics
from coterie.corpus import Vectorizer
from coterie.embeddings import is_source, vectors_of
from coterie.errors import InputError
from coterie.estimator import check_count
from coterie.results import NO_KNOWN_WORD, NO_TOPIC, PINNED, Assignments, Branch, Similar, Topic, topics_frame
from coterie.text.inputs import text_batches
from coterie.topics.describe import Description, describe
from coterie.topics.editing import Editable, Made
from coterie.topics.edits import Edit
from coterie.topics.evidence import deciding_words, reasons, related_words
from coterie.topics.learning import Counted, count, fit_method, seed_columns
from coterie.topics.placing import NOWHERE, Placing, Seen
from coterie.topics.reshape import Array, Ints
from coterie.topics.sources import BATCH, Texts, as_strings
from coterie.topics.tree import tree
from coterie.topics.trends import Period, as_classes, as_dates, by_group, periods

if TYPE_CHECKING:
    pass

#: Terms in the label of a topic, and terms of a topic that are kept.
_LABEL, _TERMS = 3, 20


class TopicModel(Editable, ClusterMixin, TransformerMixin, BaseEstimator):
    """Topics of short texts, and a topic for every text, with a confidence and a reason.

    1. Texts become counts of terms; identical texts count once, with a weight (`coterie.text`).
    2. A method finds topics in the counts: `coterie.Coterie` unless you name another.
    3. Topics are described by the words that tell them from the others, and by typical texts.
    4. A text, old or new, alone or among others, goes through the same steps and gets the same answer.

    Parameters
    ----------
    n_topics
        Number of topics, or "auto": read from the texts, with an interval (`number_of_topics_`).
    method
        The name of a method (`coterie.methods.names()`), or an estimator of this package.
    language
        Language of the texts, by name or code, or several.
    vectorizer
        A `coterie.Vectorizer`, where `language` does not say enough.
    seeds
        Topics to look for: a name and some words for each. The name is the label of the topic.
    embeddings
        Vectors of texts from elsewhere, never needed: "static" (the extra ``coterie[words]``), a function of
        texts, or an object with `encode`.
    random_state
        Seed. The default gives the same topics every time.

    Attributes
    ----------
    labels_
        The topic id of each text that was fitted.
    number_of_topics_
        How the number of topics was chosen, or None if it was given.
    n_texts_, n_known_
        Number of texts, and of those that hold a known word.

    >>> texts = ["late parcel", "parcel lost", "late delivery parcel", "refund card", "card refund money"]
    >>> model = TopicModel(n_topics=2).fit(texts * 4)
    >>> [topic.terms[0] for topic in model.topics]
    ['parcel', 'card']
    >>> answer = model.assign(["my card"])[0]
    >>> answer.label, answer.reason.words
    ('card, refund, money', ('card',))
    """

    labels_: Ints
    number_of_topics_: NumberOfTopics | None
    n_texts_: int
    n_known_: int
    vectorizer_: Vectorizer
    edits: tuple[Edit, ...]

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        *,
        method: Any = "coterie",
        language: str | Iterable[str] = "english",
        vectorizer: Vectorizer | None = None,
        seeds: Mapping[str, Sequence[str]] | None = None,
        embeddings: Any = None,
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.method = method
        self.language = language
        self.vectorizer = vectorizer
        self.seeds = seeds
        self.embeddings = embeddings
        self.random_state = random_state

    # --- fitting

    def fit(self, texts: Any, y: Any = None, *, edits: Iterable[Edit] = ()) -> Self:
        """Find the topics of texts.

        Parameters
        ----------
        texts
            A list, column or stream of texts, or a file (`coterie.text.read_texts`), which is read in
            batches; its counts then lie on disk.
        y
            Ignored.
        edits
            Edits of an earlier model (`edits`) to apply to this one: topics are known again by their terms.
        """
        before = dict(self.__dict__)
        try:
            self._fit(texts, tuple(edits))
        except BaseException:  # a model that was fitted stays as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, texts: Any, edits: tuple[Edit, ...]) -> None:
        if self.embeddings is not None and not is_source(self.embeddings):
            vectors_of(self.embeddings, [])  # says what embeddings may be
        if isinstance(self.n_topics, int) and self.n_topics < len(self.seeds or ()):
            raise InputError(
                f"n_topics must be at least the number of seeds, {len(self.seeds or ())}; got {self.n_topics}"
            )
        self._counted = counted = self._count(texts)
        banned = self._columns([term for edit in edits if edit.kind == "ban" for term in edit.terms])
        seeds = seed_columns(self.seeds or {}, self.vectorizer_)
        placing, self.number_of_topics_ = fit_method(
            counted,
            self.method,
            self.n_topics,
            self.random_state,
            anchors=list(seeds.values()),
            banned=banned,
            embeddings=self.embeddings,
        )
        self._fitted = Made(placing, self._seed_names(placing, list(seeds)), {})
        self._made, self.edits = self._fitted, ()
        self._describe()
        self._replay(edits)

    def fit_predict(self, texts: Any, y: Any = None, *, edits: Iterable[Edit] = ()) -> Ints:
        """Fit, and return the topic id of each text."""
        return self.fit(texts, edits=edits).labels_

    def fit_transform(self, texts: Any, y: Any = None, *, edits: Iterable[Edit] = ()) -> Array:
        """Fit, then `transform` the same texts."""
        self.fit(texts, edits=edits)
        return self.transform(self._counted.texts)

    def _count(self, texts: Any) -> Counted:
        """Count terms; words of one text alone tell nothing, unless there are no others."""
        source = texts if isinstance(texts, Texts) else Texts(texts)
        if self.vectorizer is not None:
            self.vectorizer_ = clone(self.vectorizer)
            return count(source, self.vectorizer_, self.embeddings)
        self.vectorizer_ = Vectorizer(self.language, min_df=2)
        try:
            return count(source, self.vectorizer_, self.embeddings)
        except InputError:
            self.vectorizer_ = Vectorizer(self.language)
            return count(source, self.vectorizer_, self.embeddings)

    def _seed_names(self, placing: Placing, seeds: Sequence[str]) -> dict[int, str]:
        found = getattr(placing.estimator, "anchor_topics_", ())
        if seeds and not len(found):
            raise InputError("seeds are for the method 'coterie'; leave out seeds or method")
        place = {int(topic): number for number, topic in enumerate(placing.order)}
        return {place[int(topic)]: name for topic, name in zip(found, seeds, strict=True) if topic >= 0}

    # --- asking

    def assign(self, texts: Any) -> Assignments:
        """A topic for every text: how sure it is, the second-best topic, and the reason."""
        self._check_fitted()
        parts = [self._assigned(batch) for batch in _batches(texts)]
        return Assignments(
            np.concatenate([part.topic for part in parts]),
            np.concatenate([part.confidence for part in parts]),
            np.concatenate([part.second for part in parts]),
            tuple(reason for part in parts for reason in part.reasons),
            parts[0].labels,
        )

    def predict(self, texts: Any) -> Ints:
        """The topic id of each text."""
        self._check_fitted()
        found = [self._placed(self._seen(batch), batch)[0] for batch in _batches(texts)]
        return self._ids()[np.concatenate(found)]

    def transform(self, texts: Any) -> Array:
        """How much of each text is in each topic, in the order of `topics`; zeros without a known word."""
        self._check_fitted()
        return np.concatenate([self._seen(batch).memberships for batch in _batches(texts)])

    def embed(self, texts: Any) -> Array:
        """Texts × dimensions, rows of unit length: near where words of texts keep the same company."""
        self._check_fitted()
        return np.concatenate([self._seen(batch).directions for batch in _batches(texts)])

    def similar(self, text: str, top: int = 10) -> list[Similar]:
        """The fitted texts nearest in meaning; they need not share a word with it."""
        counted, placing = (
            self._training("similar texts are looked for among the fitted ones"),
            self._made.placing,
        )
        if not isinstance(text, str):
            raise InputError(f"similar texts are those to a text, got {type(text).__name__}")
        check_count("top", top, self)
        wanted = self.embed([text])[0]

        def nearest(block: Any) -> tuple[Ints, Array]:
            near = np.round(placing.see_block(block, counted.vectors).directions @ wanted, 9)
            best = np.argsort(-near, kind="stable")[:top]
            return best + block.start, near[best]

        parts = list(counted.corpus.engine.map(nearest))
        rows, near = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        best = np.argsort(-near, kind="stable")[:top]
        best = best[near[best] > 0]
        texts = counted.texts.at(counted.first[rows[best]])
        ids = self._ids()[self._description.answered()[rows[best]]]
        numbers = counted.first[rows[best]].tolist()
        return [
            Similar(number, texts[number], int(topic), float(cosine))
            for number, topic, cosine in zip(numbers, ids, near[best], strict=True)
        ]

    # --- topics

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, from the largest at the time of the fit on; parts of split ones stand at the end."""
        self._check_fitted()
        return self._topics

    def topics_frame(self) -> pl.DataFrame:
        """The topics as a table."""
        return topics_frame(self.topics)

    def over_time(self, dates: Any, every: Period = "auto") -> pl.DataFrame:
        """Texts, share and own terms of each topic in each period; `dates` has one date for each text."""
        when = as_dates(dates)
        return self._by(periods(when, every).rename("period"))

    def by_class(self, labels: Any) -> pl.DataFrame:
        """Texts, share and own terms of each topic in each class; `labels` has one class for each text."""
        return self._by(as_classes(labels))

    def hierarchy(self) -> Branch:
        """The topics as a tree; print it."""
        found = self._description
        return tree(self.topics, found.centers, found.counts, self.vectorizer_.vocabulary_.display)

    def _by(self, groups: pl.Series) -> pl.DataFrame:
        counted = self._training("counts over time and by class are those of the fitted texts")
        ids = self._made.placing.ids
        labels = [topic.label for topic in self.topics]
        names = self.vectorizer_.vocabulary_.display
        engine = counted.engine(self._made.placing.banned)
        return by_group(engine, counted.corpus.rows, self._description.places, groups, ids, labels, names)

    # --- files

    def save(self, folder: str | Path) -> None:
        """Write the model as JSON and arrays into a folder, which is replaced as a whole."""
        from coterie.topics.state import save

        self._check_fitted()
        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> TopicModel:
        """Read a model that `save` or ``coterie fit`` wrote; it answers as before and has no texts."""
        from coterie.topics.state import load

        return load(Path(folder))

    # --- inside

    def _describe(self) -> None:
        """Read everything that is shown of topics off the texts."""
        counted, made = self._counted, self._made
        placing = made.placing
        pinned = {
            int(row): placing.ids.index(made.pins[text])
            for text, numbers in counted.texts.where(list(made.pins)).items()
            for row in np.unique(counted.corpus.rows[numbers])
        }
        engine = counted.corpus.engine
        found = describe(engine, placing, pinned, counted.vectors)
        wanted = np.unique(np.concatenate([counted.first[rows] for rows in found.examples]))
        texts = counted.texts.at(wanted)
        examples = [tuple(texts[int(n)] for n in counted.first[rows]) for rows in found.examples]
        self._set(found, examples)
        self.labels_ = self._ids()[found.answered()[counted.corpus.rows]]
        self.n_texts_ = counted.corpus.n_texts
        self.n_known_ = self.n_texts_ - round(found.lost)

    def _relabel(self) -> None:
        self._set(self._description, [topic.examples for topic in self._topics])

    def _set(self, found: Description, examples: Sequence[tuple[str, ...]]) -> None:
        """The description, and topics as people read them."""
        self._description = found
        shares = found.counts / np.maximum(found.counts.sum(axis=1, keepdims=True), 1e-300)
        #: logarithm of how likely a word of a topic is each term, a little for those it never used
        self._log_shares = np.log(shares + 1e-6)
        names = self.vectorizer_.vocabulary_.display
        total = max(float(found.sizes.sum()) + found.lost, 1e-300)
        self._topics = tuple(
            Topic(
                id=topic,
                label=label,
                terms=tuple(names[column] for column in found.terms[at][:_TERMS]),
                weights=tuple(float(shares[at, column]) for column in found.terms[at][:_TERMS]),
                size=int(found.sizes[at]),
                share=float(found.sizes[at] / total),
                coherence=float(found.coherence[at]),
                distinctiveness=float(found.distinctiveness[at]),
                examples=examples[at],
            )
            for at, (topic, label) in enumerate(zip(self._made.placing.ids, self._labels(found), strict=True))
        )

    def _labels(self, found: Description) -> list[str]:
        """Names that were given, else the first terms of a topic, as many as tell it from those before."""
        display, labels = self.vectorizer_.vocabulary_.display, list[str]()
        for at, topic in enumerate(self._made.placing.ids):
            terms = [display[column] for column in found.terms[at]]
            # a number or a sign says little by itself
            terms = [term for term in terms if any(map(str.isalpha, term))] or terms
            options = [", ".join(terms[:n]) for n in range(min(_LABEL, len(terms)), len(terms) + 1) if n]
            label = self._made.names.get(topic) or next(
                (o for o in options if o not in labels), f"topic {topic}"
            )
            labels.append(label)
        return labels

    def _ids(self) -> Ints:
        return np.array(self._made.placing.ids, dtype=np.int64)

    def _seen(self, texts: pl.Series) -> Seen:
        counts = self.vectorizer_.transform(texts)
        vectors = None
        if self.embeddings is not None:
            vectors = vectors_of(self.embeddings, as_strings(texts).to_list())
        return self._made.placing.see(counts, vectors)

    def _placed(self, seen: Seen, texts: pl.Series) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The column of the topic of each text, and which texts are where they are because of a pin."""
        places = np.where(seen.places == NOWHERE, self._description.fallback, seen.places)
        pins = self._made.pins
        if not pins:
            return places, np.zeros(len(places), dtype=bool)
        strings = as_strings(texts)
        pinned = strings.is_in(list(pins)).to_numpy()
        for row in np.flatnonzero(pinned):
            places[row] = self._made.placing.ids.index(pins[strings[int(row)]])
        return places, pinned

    def _assigned(self, texts: pl.Series) -> Assignments:
        return self._answers(self._seen(texts), texts)

    def _answers(self, seen: Seen, texts: pl.Series) -> Assignments:
        """Assignments of texts that were seen already."""
        places, pinned = self._placed(seen, texts)
        found, placing = self._description, self._made.placing
        sure = found.confidence.of(seen.memberships, seen.directions, seen.n_words)
        rest = seen.memberships.copy()
        rest[np.arange(len(places)), places] = 0.0
        ids = self._ids()
        second = np.where(rest.any(axis=1), ids[rest.argmax(axis=1)], NOWHERE)
        words = deciding_words(placing.evidence(seen, self._log_shares))
        related = related_words(seen.X, seen.directions, places, found.terms, placing.space)
        names = self.vectorizer_.vocabulary_.display
        nowhere = seen.places == NOWHERE
        notes = np.select(
            [pinned, nowhere & (seen.n_words == 0), nowhere], [PINNED, NO_KNOWN_WORD, NO_TOPIC], ""
        )
        return Assignments(
            ids[places],
            np.where(pinned, 1.0, np.where(nowhere, 0.0, sure)),
            second,
            reasons(words, related, names, notes.tolist()),
            {topic.id: topic.label for topic in self._topics},
        )

    def _check_fitted(self) -> None:
        check_is_fitted(self, "vectorizer_")
        if "_topics" not in self.__dict__:
            raise NotFittedError("This TopicModel is not fitted yet: call fit with texts first")

    def _training(self, why: str) -> Counted:
        self._check_fitted()
        if "_counted" not in self.__dict__:
            raise InputError(
                f"{why}, and a loaded model has none: coterie.open_run(folder).with_texts() is one that has"
            )
        return self._counted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _repr_html_(self) -> str:
        """The topics as a table for notebooks; texts are escaped."""
        if "_topics" not in self.__dict__:
            return f"<pre>{html.escape(repr(self))}</pre>"
        head = "<tr><th>topic</th><th>texts</th><th>label</th><th>terms</th><th>a typical text</th></tr>"
        rows = (
            f"<tr><td>{topic.id}</td><td style='text-align:right'>{topic.size:,}</td>"
            f"<td>{html.escape(topic.label)}</td><td>{html.escape(', '.join(topic.terms[:8]))}</td>"
            f"<td>{html.escape(topic.examples[0][:120]) if topic.examples else ''}</td></tr>"
            for topic in self._topics
        )
        return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _batches(texts: Any) -> Iterable[pl.Series]:
    return texts.batches() if isinstance(texts, Texts) else text_batches(texts, rows=BATCH)
