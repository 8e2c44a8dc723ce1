"""Several methods and numbers of topics side by side on the same texts; computing only, nothing is shown."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from coterie import methods as table
from coterie.errors import InputError
from coterie.progress import tell, unheard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coterie.cluster.n_topics import NumberOfTopics
    from coterie.corpus import Vectorizer
    from coterie.corpus.sequences import Sequences

#: More labels than this are hardly topics, and would take hours.
_MOST_CLASSES = 300
#: What is compared where nobody says what: methods that the base install brings along.
DEFAULT_METHODS = ("coterie", "nmf-ncut", "term-nmf", "semantic-nmf", "nystrom", "spherical-kmeans")
#: Measures against labels, and measures that need none; the first of each is the main one.
WITH_LABELS = ("nmi", "ari", "accuracy", "purity")
WITHOUT_LABELS = ("coherence", "diversity", "stability")
TOP_TERMS = 10

#: Called with the runs done and all there are.
Progress = Callable[[int, int], None]
#: A number of topics, or "auto": the one that `Coterie` reads from the texts.
Size = int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One method with one number of topics: means over seeds, None where a measure does not apply.

    `seconds` is the median time of a fit; `warnings` is what the method had to say.
    """

    method: str
    n_topics: int
    n_seeds: int
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

    `n_empty` texts hold no known term; they have a row and a topic as all others. `n_labelled` texts have
    a label and count in the scores. `read` is the number of topics read from the texts, where that was asked
    for.
    """

    n_texts: int
    n_empty: int
    n_terms: int
    n_labelled: int
    n_classes: int
    rows: tuple[Compared, ...]
    read: NumberOfTopics | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that were computed, the main one first."""
        return WITH_LABELS if self.n_labelled else WITHOUT_LABELS


@dataclass(frozen=True, slots=True)
class _Texts:
    """What every run shares."""

    X: Any
    terms: Sequence[str]
    running: Sequences
    labels: list[str]
    labelled: npt.NDArray[np.int64]


def compare(
    texts: Sequence[str | None],
    labels: Sequence[str | None] | None = None,
    *,
    n_topics: Size | Iterable[Size] | None = None,
    methods: Iterable[str] = DEFAULT_METHODS,
    n_seeds: int = 3,
    vectorizer: Vectorizer | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Fit each method with each number of topics and several seeds, and measure what comes out.

    With labels: NMI, ARI, accuracy and purity. Without: NPMI coherence and diversity of the ten top terms
    of each topic in these texts, and stability, the mean ARI between the topics of two seeds.

    Parameters
    ----------
    texts
        One string for each text; None is an empty one.
    labels
        The class of each text, if known. Texts whose label is None or empty are fitted and not scored.
    n_topics
        A number of topics or several. "auto": the number that `Coterie` reads from the texts, for all methods
        alike. None: the number of different labels.
    methods
        Names of `coterie.methods`.
    n_seeds
        Seeds 0, 1, … for each of them. Stability needs two.
    vectorizer
        How texts become counts; by default English terms that at least two texts hold.
    progress
        Called after each fit with the number of fits done and of all.

    Examples
    --------
    >>> texts = ["late parcel", "parcel is late", "refund my money", "money refund"] * 5
    >>> labels = ["delivery", "delivery", "payment", "payment"] * 5
    >>> found = compare(texts, labels, methods=["spherical-kmeans"])
    >>> found.rows[0].n_topics, round(found.rows[0].accuracy, 2)
    (2, 1.0)
    """
    chosen = _chosen(methods)
    if n_seeds < 1:
        raise InputError(f"n_seeds must be at least 1, got {n_seeds}")
    classes = _classes(texts, labels)
    asked = _asked(n_topics, classes, len(texts))
    shared = _read(texts, labels, vectorizer)
    read = _number_of_topics(shared) if "auto" in asked else None
    sizes = list(dict.fromkeys(read.n_topics if read and size == "auto" else int(size) for size in asked))
    told = _Told(progress, len(chosen) * len(sizes) * n_seeds)
    rows = [_compared(shared, name, size, n_seeds, told) for name in chosen for size in sizes]
    n_empty = int((shared.X.getnnz(axis=1) == 0).sum())
    return Comparison(
        len(texts), n_empty, len(shared.terms), len(shared.labels), len(classes), tuple(rows), read
    )


@dataclass
class _Told:
    """Tells after each fit how many there were."""

    progress: Progress | None
    total: int
    done: int = 0

    def __post_init__(self) -> None:
        tell("comparing", 0, self.total, "fits")

    def __call__(self) -> None:
        self.done += 1
        tell("comparing", self.done, self.total, "fits")
        if self.progress:
            self.progress(self.done, self.total)


def _chosen(methods: Iterable[str]) -> list[str]:
    """The methods to compare, each once."""
    chosen = list(dict.fromkeys(methods))
    if not chosen:
        raise InputError(f"methods must name at least one method; there are {', '.join(table.names())}")
    for name in chosen:
        table.find(name)
    return chosen


def _number_of_topics(shared: _Texts) -> NumberOfTopics | None:
    """What `Coterie` reads from the texts; refining would not change it."""
    from coterie.cluster import Coterie

    return Coterie("auto", refine=False, restarts=1, random_state=0).fit(shared.X).number_of_topics_


def _classes(texts: Sequence[str | None], labels: Sequence[str | None] | None) -> set[str]:
    if not len(texts):
        raise InputError("there must be at least one text, got none")
    if labels is None:
        return set()
    if len(labels) != len(texts):
        raise InputError(f"labels must be as many as texts, got {len(labels)} and {len(texts)}")
    classes = {label for label in labels if label}
    if not classes:
        raise InputError("no text has a label; leave the labels out to compare without them")
    return classes


def _asked(n_topics: Size | Iterable[Size] | None, classes: set[str], n_texts: int) -> list[Size]:
    """The numbers of topics to try, each once; "auto" is still to be read."""
    if n_topics is None:
        return [_as_many_as(classes)]
    asked: list[Size] = [n_topics] if isinstance(n_topics, int) or n_topics == "auto" else list(n_topics)
    for size in asked:
        if size != "auto" and not 1 <= size <= n_texts:
            raise InputError(
                f"the number of topics must be between 1 and the number of texts, {n_texts}; got {size}"
            )
    return list(dict.fromkeys(asked))


def _as_many_as(classes: set[str]) -> int:
    if not classes:
        raise InputError(
            "the number of topics must be given (--topics) where there are no labels; "
            "'auto' reads one from the texts"
        )
    if len(classes) > _MOST_CLASSES:
        raise InputError(
            f"there are {len(classes):,} different labels, too many to take for the number of topics; "
            "give it (--topics)"
        )
    return len(classes)


def _read(
    texts: Sequence[str | None], labels: Sequence[str | None] | None, vectorizer: Vectorizer | None
) -> _Texts:
    """Texts as counts and as running words."""
    import numpy as np

    from coterie.corpus import Vectorizer

    vectorizer = Vectorizer(min_df=2) if vectorizer is None else vectorizer
    X = vectorizer.fit_transform(texts)
    if not X.shape[1]:
        raise InputError(
            "no term is held by as many texts as the vocabulary asks for, so there is nothing to compare"
        )
    labelled = [i for i, label in enumerate(labels or ()) if label]
    return _Texts(
        X=X,
        terms=vectorizer.vocabulary_.terms,
        running=vectorizer.sequences(texts).known(),
        labels=[str(labels[i]) for i in labelled] if labels else [],
        labelled=np.array(labelled, dtype=np.int64),
    )


def _compared(shared: _Texts, name: str, size: int, n_seeds: int, told: _Told) -> Compared:
    """All seeds of one method with one number of topics."""
    seconds, found, said, terms = [], [], [], []
    for seed in range(n_seeds):
        model = table.make(name, size, seed)
        with unheard(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            labels = model.fit_predict(shared.X)
            seconds.append(time.perf_counter() - start)
        said += [str(warning.message) for warning in caught]
        found.append(labels)
        terms.append([[shared.terms[c] for c in topic] for topic in table.topic_terms(model, TOP_TERMS)])
        told()
    measured = dict(
        _against_labels(shared, found) if shared.labels else _without_labels(shared, found, terms)
    )
    return Compared(name, size, n_seeds, median(seconds), **measured, warnings=tuple(dict.fromkeys(said)))


def _against_labels(shared: _Texts, found: list[Any]) -> Iterator[tuple[str, float]]:
    from coterie.metrics import clustering_scores

    scores = [clustering_scores(shared.labels, topics[shared.labelled]) for topics in found]
    for measure in WITH_LABELS:
        yield measure, fmean(getattr(score, measure) for score in scores)


def _without_labels(shared: _Texts, found: list[Any], terms: list[Any]) -> Iterator[tuple[str, float | None]]:
    from coterie.metrics import ari, coherence, diversity

    reference = (shared.running, shared.terms)
    yield "coherence", fmean(coherence(topics, reference, "npmi", top_n=TOP_TERMS) for topics in terms)
    yield "diversity", fmean(diversity(topics, TOP_TERMS) for topics in terms)
    pairs = list(combinations(found, 2))
    yield "stability", fmean(ari(a, b) for a, b in pairs) if pairs else None
