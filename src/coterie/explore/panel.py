"""The topics of a run: all of them in short, and all there is to one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.explore.caches import Once, Recent
from coterie.explore.rows import NO_DAY, Rows
from coterie.explore.schemas import (
    Brief,
    Candidate,
    ClassShare,
    Neighbour,
    OverTime,
    RelatedTerm,
    TopicDetail,
)
from coterie.explore.schemas_findings import Change, Findings
from coterie.explore.texts import Texts
from coterie.map.colours import colours
from coterie.map.layout import TopicMap
from coterie.report import wording
from coterie.report.findings import findings, sentence
from coterie.report.groups import over_time
from coterie.report.tally import Tally
from coterie.results import Topic
from coterie.topics import TopicModel
from coterie.topics.changes import Changes, changes
from coterie.topics.related import Terms

Ints = npt.NDArray[np.int64]

#: Terms of a topic in short.
_TERMS = 8
#: Characters of a description that are shown.
_DESCRIPTION = 1_000
#: Terms a reader may rank, and the settings of the slider by whose best they are chosen.
_CANDIDATES, _SETTINGS = 200, np.linspace(0.0, 1.0, 9)
#: A term that the topic uses less often is distinctive by chance.
_LEAST_COUNT = 3
_BINS, _BORDER, _NEIGHBOURS, _CLASSES = 10, 5, 5, 20
#: First terms of a topic that others are related to, those that are no news, and how many are shown.
_FIRST, _OWN, _RELATED = 10, 20, 12
_NEAR = 0.25
#: Topics that are kept after they were asked for.
_KEPT = 50


class Panel:
    """The topics of a run, the largest first. `order` are their indexes in the model."""

    def __init__(
        self,
        model: TopicModel,
        order: Sequence[int],
        rows: Callable[[], Rows],
        terms: Callable[[], Terms],
        topic_map: Callable[[], TopicMap],
        texts: Texts,
    ):
        self._model, self._order, self._texts = model, list(order), texts
        self._rows, self._terms, self._topic_map = rows, terms, topic_map
        self._topics: list[Topic] = [model.topics[at] for at in order]
        self._ids = [topic.id for topic in self._topics]
        self._known_briefs: tuple[TopicMap, list[Brief]] | None = None
        self.findings = Once(self._findings)
        self._dates = Once(self._read_dates)
        self._changes = Once(self._what_changed)
        self._examples = Once(self._example_rows)
        self._borders = Once(self._by_doubt)
        self._time = Once(self._over_time)
        self._details: Recent[int, TopicDetail] = Recent(_KEPT)

    # --- all topics

    def similarity(self) -> Any:
        """Cosines of the centres of topics, by index."""
        centers = self._model.state.description.centers[self._order]
        return np.round(centers @ centers.T, 6)

    def _means(self) -> Any:
        """The mean confidence of the texts of each topic, those without a known word left out."""
        rows = self._rows()
        known = rows.known()
        total = np.bincount(rows.topic[known], rows.confidence[known], len(self._ids))
        return total / np.maximum(np.bincount(rows.topic[known], minlength=len(self._ids)), 1)

    def briefs(self) -> list[Brief]:
        """All topics in short, made again only where the map is another one."""
        points, known = self._topic_map(), self._known_briefs
        if known is None or known[0] is not points:
            self._known_briefs = known = (points, self._briefs(points))
        return known[1]

    def _briefs(self, points: TopicMap) -> list[Brief]:
        means, change = self._means(), self._change_of_each()
        shades = colours(points.shades)
        return [
            Brief(
                id=topic.id,
                label=topic.label,
                named=topic.id in self._model.state.edited.names,
                description=topic.description[:_DESCRIPTION],
                size=topic.size,
                share=topic.share,
                terms=list(topic.terms[:_TERMS]),
                coherence=round(topic.coherence, 4),
                coherence_words=wording.coherence(topic.coherence),
                distinctiveness=round(topic.distinctiveness, 4),
                confidence=round(float(means[index]), 4),
                change=change[index],
                colour=shades[index],
                at=tuple(np.round(points.positions[index], 5).tolist()),
                radius=round(float(points.radii[index]), 5),
            )
            for index, topic in enumerate(self._topics)
        ]

    # --- one topic

    def detail(self, index: int) -> TopicDetail:
        """All there is to the topic at an index."""
        return self._details.get(index, lambda: self._detail(index))

    def _detail(self, index: int) -> TopicDetail:
        examples = self._examples()[index]
        texts = self._texts.at(np.concatenate([examples, self._borderline(index, examples)]))
        return TopicDetail(
            **self.briefs()[index].model_dump(),
            candidates=self._candidates(index),
            histogram=self._histogram(index),
            examples=texts[: len(examples)],
            borderline=texts[len(examples) :],
            related=self._related(index),
            neighbours=self._neighbours(index),
            over_time=self._timeline(index),
            by_class=self._by_class(index),
        )

    # --- terms

    def _candidates(self, index: int) -> list[Candidate]:
        description = self._model.state.description
        counts = description.counts[self._order[index]]
        everywhere = description.counts.sum(axis=0)
        used = np.flatnonzero(counts >= _LEAST_COUNT)
        if len(used) < _FIRST:
            used = np.flatnonzero(counts > 0)
        if not len(used):
            return []
        share = counts[used] / max(float(counts.sum()), 1e-300)
        lift = share / (everywhere[used] / max(float(everywhere.sum()), 1e-300))
        scores = [w * np.log(share) + (1 - w) * np.log(lift) for w in _SETTINGS]
        each = -(-_CANDIDATES // len(scores))
        ranks = [np.argsort(-np.round(score, 9), kind="stable") for score in scores]
        chosen: dict[int, None] = dict.fromkeys(int(at) for rank in ranks for at in rank[:each])
        for at in ranks[len(ranks) // 2].tolist():  # settings agree on many: fill up by the middle one
            if len(chosen) >= _CANDIDATES:
                break
            chosen[at] = None
        names = self._model.vectorizer_.vocabulary_.display
        return [
            Candidate(
                term=names[used[at]],
                share=float(f"{share[at]:.5g}"),
                lift=float(f"{lift[at]:.5g}"),
                count=round(float(counts[used[at]])),
            )
            for at in sorted(chosen, key=lambda at: (-share[at], at))[:_CANDIDATES]
        ]

    def _related(self, index: int) -> list[RelatedTerm]:
        terms = self._model.state.description.terms[self._order[index]]
        best: dict[int, Any] = {}
        for near in self._terms().near(terms[:_FIRST], terms[:_OWN], _RELATED, _NEAR):
            if near.term not in best or near.similarity > best[near.term].similarity:
                best[near.term] = near
        ranked = sorted(best.values(), key=lambda near: (-round(near.similarity, 6), near.term))[:_RELATED]
        names = self._model.vectorizer_.vocabulary_.display
        return [
            RelatedTerm(term=names[n.term], similarity=round(n.similarity, 3), through=names[n.source])
            for n in ranked
        ]

    def _neighbours(self, index: int) -> list[Neighbour]:
        alike = self.similarity()[index]
        best = [at for at in np.argsort(-alike, kind="stable").tolist() if at != index][:_NEIGHBOURS]
        return [
            Neighbour(id=self._ids[at], label=self._topics[at].label, similarity=round(float(alike[at]), 3))
            for at in best
        ]

    # --- texts

    def _histogram(self, index: int) -> list[int]:
        rows = self._rows()
        sure = rows.confidence[(rows.topic == index) & rows.known()]
        bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
        histogram: list[int] = np.bincount(bins, minlength=_BINS).tolist()
        return histogram

    def _example_rows(self) -> list[npt.NDArray[np.uint32]]:
        """The rows of the typical texts of all topics: the first that reads so."""
        wanted = list({text for topic in self._topics for text in topic.examples})
        texts = self._rows().frame["text"]
        at = texts.is_in(wanted).arg_true().to_numpy()
        first: dict[str, int] = {}
        for row, text in zip(at.tolist(), texts[at], strict=True):
            first.setdefault(text, row)
        return [
            np.array([first[text] for text in topic.examples if text in first], dtype=np.uint32)
            for topic in self._topics
        ]

    def _by_doubt(self) -> list[npt.NDArray[np.uint32]]:
        """Rows of each topic that are least sure: some more than are shown, as texts may be alike."""
        rows = self._rows()
        known = np.flatnonzero(rows.known() & (rows.confidence > 0))
        order = known[np.lexsort((np.round(rows.confidence[known], 6), rows.topic[known]))]
        ends = np.searchsorted(rows.topic[order], np.arange(len(self._ids) + 1))
        return [order[a:b][: 10 * _BORDER].astype(np.uint32) for a, b in pairwise(ends)]

    def _borderline(self, index: int, examples: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        rows = self._borders()[index]
        table = self._rows()
        seen = set(table.at(examples)["text"]) if len(examples) else set()
        chosen: list[int] = []
        for row, text in zip(rows.tolist(), table.at(rows)["text"], strict=True):
            if text not in seen and len(chosen) < _BORDER:
                chosen.append(row)
                seen.add(text)
        return np.array(chosen, dtype=np.uint32)

    # --- over time, by class

    def _read_dates(self) -> pl.Series | None:
        days = self._rows().days()
        if days is None:
            return None
        dates = pl.DataFrame({"x": pl.Series(days).cast(pl.Date), "there": days != NO_DAY})
        return dates.select(pl.when("there").then("x")).to_series()

    def _counted(self) -> Ints:
        """The index of the topic of each text, −1 for one without a known word."""
        rows = self._rows()
        return np.where(rows.known(), rows.topic.astype(np.int64), -1)

    def _what_changed(self) -> Changes | None:
        dates = self._dates()
        return None if dates is None else changes(self._counted(), len(self._ids), dates)

    def _change_of_each(self) -> list[Change | None]:
        found = self._changes()
        if found is None:
            return [None] * len(self._ids)
        growth = np.round(found.main.change, 6).tolist()
        return [
            Change(trend=trend, growth=growth[at], sentence=sentence(found, at))
            for at, trend in enumerate(found.trends)
        ]

    def _findings(self) -> Findings:
        tally = Tally(self._counted(), days=self._dates())
        return Findings(**findings(self._topics, tally, self._changes()))

    def _over_time(self) -> dict[str, Any] | None:
        dates = self._dates()
        if dates is None:
            return None
        tally = Tally(self._counted(), days=dates)
        periods = over_time(tally, tally.topics, len(self._ids))
        return periods if periods and "periods" in periods else None

    def _timeline(self, index: int) -> OverTime | None:
        periods = self._time()
        if periods is None:
            return None
        counts = periods["texts"][index]
        shares = [
            round(n / total, 5) if total else 0.0 for n, total in zip(counts, periods["totals"], strict=True)
        ]
        return OverTime(every=periods["unit"], periods=periods["periods"], counts=counts, shares=shares)

    def _by_class(self, index: int) -> list[ClassShare] | None:
        rows = self._rows()
        classes = rows.classes()
        if classes is None:
            return None
        codes, names = classes
        here = codes[(rows.topic == index) & rows.known() & (codes >= 0)]
        counts = np.bincount(here, minlength=len(names))
        best = np.argsort(-counts, kind="stable")[:_CLASSES]
        return [
            ClassShare(name=names[at], count=int(counts[at]), share=round(float(counts[at] / len(here)), 5))
            for at in best.tolist()
            if counts[at]
        ]
