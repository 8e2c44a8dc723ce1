"""Compare methods and numbers of topics on the same texts. Computes the scores; shows nothing."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from coterie import methods as table
from coterie.errors import InputError, shown
from coterie.progress import silent, tell

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coterie.cluster.n_topics import NumberOfTopics
    from coterie.corpus import Vectorizer
    from coterie.corpus.sequences import Sequences

#: More classes than this are hardly topics, and would take hours.
_MOST_CLASSES = 300
_MOST_RESTARTS = 10_000
#: Methods compared by default: those that need no extra package.
DEFAULT_METHODS = ("coterie", "nmf-ncut", "term-nmf", "semantic-nmf", "nystrom", "spherical-kmeans")
#: Measures with known classes, and measures without; the first of each is the main one.
WITH_CLASSES = ("nmi", "ari", "accuracy", "purity")
WITHOUT_CLASSES = ("coherence", "diversity", "stability")
TOP_TERMS = 10

#: Called with the number of fits done and their total.
Progress = Callable[[int, int], None]
#: A number of topics, or "auto": the number that `Coterie` estimates.
Size = int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Compared:
    """Scores of one method with one number of topics: means over restarts, None if a measure does not apply.

    `seconds` is the median time of a fit; `warnings` are those of the method.
    """

    method: str
    n_topics: int
    n_restarts: int
    seconds: float
    nmi: float | None = None
    ari: float | None = None
    accuracy: float | None = None
    purity: float | None = None
    coherence: float | None = None
    diversity: float | None = None
    stability: float | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of a comparison, and what they were computed from.

    `n_empty` texts contain no known word; they get a topic like all others. `n_labelled` texts have a class
    and are scored. `number_of_topics` is the estimate, if "auto" was asked for.
    """

    n_texts: int
    n_empty: int
    n_terms: int
    n_labelled: int
    n_classes: int
    rows: tuple[Compared, ...]
    number_of_topics: NumberOfTopics | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that were computed, the main one first."""
        return WITH_CLASSES if self.n_labelled else WITHOUT_CLASSES


@dataclass(frozen=True, slots=True)
class _Texts:
    """What all fits share."""

    X: Any
    stop_words: Any
    terms: Sequence[str]
    running: Sequences
    classes: list[str]
    labelled: npt.NDArray[np.int64]


def compare(
    texts: Sequence[str | None],
    classes: Sequence[str | None] | None = None,
    *,
    n_topics: Size | Iterable[Size] | None = None,
    methods: Iterable[str] = DEFAULT_METHODS,
    n_restarts: int = 3,
    vectorizer: Vectorizer | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Fit each method with each number of topics and several random states, and score the results.

    With known classes, the scores are NMI, ARI, accuracy and purity. Without, they are NPMI coherence and
    diversity of the top ten terms of each topic, and stability: the mean ARI between two restarts.

    Parameters
    ----------
    texts
        The texts; None counts as an empty one.
    classes
        The class of each text, if known. Texts whose class is None or empty are fitted but not scored.
    n_topics
        One number of topics, or several. "auto" stands for the number that `Coterie` estimates, which is then
        used for all methods. The default is the number of classes.
    methods
        Names from `coterie.methods`.
    n_restarts
        Number of fits of each method, with random states 0, 1, …; stability needs two.
    vectorizer
        How texts become counts; by default English terms that occur in at least two texts.
    progress
        Called after each fit with the number of fits done and their total.

    Examples
    --------
    >>> texts = ["late parcel", "parcel is late", "refund my money", "money refund"] * 5
    >>> classes = ["delivery", "delivery", "payment", "payment"] * 5
    >>> comparison = compare(texts, classes, methods=["spherical-kmeans"])
    >>> comparison.rows[0].n_topics, round(comparison.rows[0].accuracy, 2)
    (2, 1.0)
    """
    chosen = _chosen(methods)
    if not isinstance(n_restarts, int) or not 1 <= n_restarts <= _MOST_RESTARTS:
        raise InputError(
            f"n_restarts must be at least 1 and at most {_MOST_RESTARTS}, got {shown(n_restarts)}"
        )
    for name, column in (("texts", texts), ("classes", classes)):
        if column is not None or name == "texts":
            _check_column(name, column)
    distinct = _distinct(classes, len(texts))
    asked = _asked(n_topics, distinct, len(texts))
    shared = _read(texts, classes, vectorizer)
    estimate = _number_of_topics(shared) if "auto" in asked else None
    sizes = list(
        dict.fromkeys(estimate.n_topics if estimate and size == "auto" else int(size) for size in asked)
    )
    fits = _Fits(progress, len(chosen) * len(sizes) * n_restarts)
    rows = [_compared(shared, name, size, n_restarts, fits) for name in chosen for size in sizes]
    n_empty = int((shared.X.getnnz(axis=1) == 0).sum())
    return Comparison(
        len(texts), n_empty, len(shared.terms), len(shared.classes), len(distinct), tuple(rows), estimate
    )


@dataclass
class _Fits:
    """Counts the fits and reports each of them as progress."""

    progress: Progress | None
    total: int
    done: int = 0

    def __post_init__(self) -> None:
        tell("comparing", 0, self.total, "fits")

    def count(self) -> None:
        self.done += 1
        tell("comparing", self.done, self.total, "fits")
        if self.progress:
            self.progress(self.done, self.total)


def _chosen(methods: Iterable[str]) -> list[str]:
    """The methods to compare, each once."""
    from coterie.text.inputs import strings

    chosen = list(dict.fromkeys(strings("methods", methods)))
    if not chosen:
        raise InputError(f"methods must name at least one of {', '.join(table.names())}")
    for name in chosen:
        table.find(name)
    return chosen


def _number_of_topics(shared: _Texts) -> NumberOfTopics | None:
    """The number of topics that `Coterie` estimates; refining would not change it."""
    from coterie.cluster import Coterie

    return Coterie("auto", refine=False, restarts=1, random_state=0).fit(shared.X).number_of_topics_


def _check_column(name: str, column: Any) -> None:
    one = isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__")
    if one or len(getattr(column, "shape", (0,))) != 1:
        raise InputError(f"{name} must be a list with one entry per text, got {shown(column)}")


def _distinct(classes: Sequence[str | None] | None, n_texts: int) -> set[str]:
    """The different classes; none if no classes were given."""
    if not n_texts:
        raise InputError("there must be at least one text, got none")
    if classes is None:
        return set()
    if len(classes) != n_texts:
        raise InputError(f"classes must have one entry per text: got {len(classes)} for {n_texts} texts")
    distinct = {name for name in classes if name}
    if not distinct:
        raise InputError("no text has a class; omit the classes (--class-column) to compare without them")
    return distinct


def _asked(n_topics: Size | Iterable[Size] | None, classes: set[str], n_texts: int) -> list[Size]:
    """The numbers of topics to try, each once; "auto" is still to be estimated."""
    if n_topics is None:
        return [_number_of_classes(classes)]
    several = (
        isinstance(n_topics, Iterable)
        and not isinstance(n_topics, str)
        and getattr(n_topics, "shape", None) != ()
    )
    asked: list[Any] = list(n_topics) if several else [n_topics]  # type: ignore[arg-type]
    for size in asked:
        estimated = isinstance(size, str) and size == "auto"
        if not estimated and not (isinstance(size, int) and 1 <= size <= n_texts):
            raise InputError(
                f"the number of topics must be between 1 and the number of texts, {n_texts}; "
                f"got {shown(size)}"
            )
    return list(dict.fromkeys(asked))


def _number_of_classes(classes: set[str]) -> int:
    if not classes:
        raise InputError(
            "the number of topics is needed (--topics) if there are no known classes; 'auto' estimates it"
        )
    if len(classes) > _MOST_CLASSES:
        raise InputError(
            f"there are {len(classes):,} different classes, too many to use as the number of topics; "
            "choose a number (--topics)"
        )
    return len(classes)


def _read(
    texts: Sequence[str | None], classes: Sequence[str | None] | None, vectorizer: Vectorizer | None
) -> _Texts:
    """Texts as counts and as sequences of words."""
    import numpy as np

    from coterie.corpus import Vectorizer

    vectorizer = Vectorizer(min_df=2) if vectorizer is None else vectorizer
    if not isinstance(vectorizer, Vectorizer):
        raise InputError(f"vectorizer must be a coterie.Vectorizer or None, got {shown(vectorizer)}")
    X = vectorizer.fit_transform(texts)
    if not X.shape[1]:
        raise InputError(
            "no term occurs in enough texts to be used, so there is nothing to compare; try more texts"
        )
    labelled = [i for i, name in enumerate(classes or ()) if name]
    return _Texts(
        X=X,
        stop_words=vectorizer.stop_word_counts(texts),
        terms=vectorizer.vocabulary_.terms,
        running=vectorizer.sequences(texts).known(),
        classes=[str(classes[i]) for i in labelled] if classes else [],
        labelled=np.array(labelled, dtype=np.int64),
    )


def _compared(shared: _Texts, name: str, size: int, n_restarts: int, fits: _Fits) -> Compared:
    """All restarts of one method with one number of topics."""
    seconds, assigned, messages, terms = [], [], [], []
    for random_state in range(n_restarts):
        model = table.make(name, size, random_state)
        with silent(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            own = getattr(model, "has_own_space", False)  # and asks the stop words, as in a fit of texts
            topics = model.fit_predict(shared.X, **({"stop_word_counts": shared.stop_words} if own else {}))
            seconds.append(time.perf_counter() - start)
        messages += [str(warning.message) for warning in caught]
        assigned.append(topics)
        terms.append([[shared.terms[c] for c in topic] for topic in table.topic_terms(model, TOP_TERMS)])
        fits.count()
    measured = dict(
        _against_classes(shared, assigned) if shared.classes else _without_classes(shared, assigned, terms)
    )
    warned = tuple(dict.fromkeys(messages))
    return Compared(name, size, n_restarts, median(seconds), **measured, warnings=warned)


def _against_classes(shared: _Texts, assigned: list[Any]) -> Iterator[tuple[str, float]]:
    from coterie.metrics import clustering_scores

    scores = [clustering_scores(shared.classes, topics[shared.labelled]) for topics in assigned]
    for measure in WITH_CLASSES:
        yield measure, fmean(getattr(score, measure) for score in scores)


def _without_classes(
    shared: _Texts, assigned: list[Any], terms: list[Any]
) -> Iterator[tuple[str, float | None]]:
    from coterie.metrics import ari, coherence, diversity

    reference = (shared.running, shared.terms)
    yield "coherence", fmean(coherence(topics, reference, "npmi", top_n=TOP_TERMS) for topics in terms)
    yield "diversity", fmean(diversity(topics, TOP_TERMS) for topics in terms)
    pairs = list(combinations(assigned, 2))
    yield "stability", fmean(ari(a, b) for a, b in pairs) if pairs else None
