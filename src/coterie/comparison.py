"""Several methods and numbers of topics side by side on the same texts; computing only, nothing is shown."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from coterie import methods as table
from coterie.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coterie.sequences import Sequences
    from coterie.text import Vectorizer

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
    a label and count in the scores.
    """

    n_texts: int
    n_empty: int
    n_terms: int
    n_labelled: int
    n_classes: int
    rows: tuple[Compared, ...]

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
    n_topics: int | Iterable[int] | None = None,
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
        A number of topics or several. None: the number of different labels.
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
    chosen = list(dict.fromkeys(methods))
    if not chosen:
        raise InputError(f"methods must name at least one method; there are {', '.join(table.names())}")
    for name in chosen:
        table.find(name)
    if n_seeds < 1:
        raise InputError(f"n_seeds must be at least 1, got {n_seeds}")
    classes = _classes(texts, labels)
    sizes = _sizes(n_topics, classes, len(texts))
    shared = _read(texts, labels, vectorizer)
    rows = []
    for done, (name, size) in enumerate((m, k) for m in chosen for k in sizes):
        told = _after(progress, done * n_seeds, len(chosen) * len(sizes) * n_seeds)
        rows.append(_compared(shared, name, size, n_seeds, told))
    n_empty = int((shared.X.getnnz(axis=1) == 0).sum())
    return Comparison(len(texts), n_empty, len(shared.terms), len(shared.labels), len(classes), tuple(rows))


def _after(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    return lambda done: progress(before + done, total) if progress else None


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


def _sizes(n_topics: int | Iterable[int] | None, classes: set[str], n_texts: int) -> list[int]:
    """The numbers of topics to try, each once."""
    if n_topics is None:
        if not classes:
            raise InputError("the number of topics must be given (--topics) where there are no labels")
        if len(classes) > _MOST_CLASSES:
            raise InputError(
                f"there are {len(classes):,} different labels, too many to take for the number of topics; "
                "give it (--topics)"
            )
        return [len(classes)]
    sizes = list(dict.fromkeys([n_topics] if isinstance(n_topics, int) else n_topics))
    for size in sizes:
        if not 1 <= size <= n_texts:
            raise InputError(
                f"the number of topics must be between 1 and the number of texts, {n_texts}; got {size}"
            )
    return sizes


def _read(
    texts: Sequence[str | None], labels: Sequence[str | None] | None, vectorizer: Vectorizer | None
) -> _Texts:
    """Texts as counts and as running words."""
    import numpy as np

    from coterie.text import Vectorizer

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


def _compared(shared: _Texts, name: str, size: int, n_seeds: int, told: Callable[[int], None]) -> Compared:
    """All seeds of one method with one number of topics."""
    seconds, found, said, terms = [], [], [], []
    for seed in range(n_seeds):
        model = table.make(name, size, seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            labels = model.fit_predict(shared.X)
            seconds.append(time.perf_counter() - start)
        said += [str(warning.message) for warning in caught]
        found.append(labels)
        terms.append([[shared.terms[c] for c in topic] for topic in table.topic_terms(model, TOP_TERMS)])
        told(seed + 1)
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
