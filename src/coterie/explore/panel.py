"""All there is to a topic: its terms by two measures, typical and doubtful texts, neighbours, time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.explore.caches import Once, Recent
from coterie.explore.opened import OpenedRun
from coterie.explore.rows import NO_DAY
from coterie.explore.schemas import Candidate, ClassShare, Neighbour, OverTime, RelatedTerm, TopicDetail
from coterie.report.groups import Columns, over_time

Ints = npt.NDArray[np.int64]

#: Terms a reader may rank, and the settings of the slider by whose best they are chosen.
_CANDIDATES, _SETTINGS = 200, np.linspace(0.0, 1.0, 9)
#: A term that the topic uses less often is distinctive by chance.
_LEAST_COUNT = 3
_BINS, _BORDER, _NEIGHBOURS, _CLASSES = 10, 5, 5, 20
#: First terms of a topic that others are related to, those that are no news, and how many are told.
_FIRST, _OWN, _RELATED = 10, 20, 12
_NEAR = 0.25
#: Topics that are kept after they were asked for.
_KEPT = 50


class Panel:
    """The topics of a run, one at a time."""

    def __init__(self, opened: OpenedRun):
        self._opened = opened
        self._examples = Once(self._example_rows)
        self._borders = Once(self._by_doubt)
        self._time = Once(self._over_time)
        self._details: Recent[int, TopicDetail] = Recent(_KEPT)

    def detail(self, topic: int) -> TopicDetail:
        """A topic by its id."""
        place = self._opened.topic_place(topic)
        return self._details.get(place, lambda: self._detail(place))

    def _detail(self, place: int) -> TopicDetail:
        opened = self._opened
        examples = self._examples()[place]
        texts = opened.texts_at(np.concatenate([examples, self._borderline(place, examples)]))
        return TopicDetail(
            **opened.briefs()[place].model_dump(),
            candidates=self._candidates(place),
            histogram=self._histogram(place),
            examples=texts[: len(examples)],
            borderline=texts[len(examples) :],
            related=self._related(place),
            neighbours=self._neighbours(place),
            over_time=self._timeline(place),
            by_class=self._by_class(place),
        )

    # --- terms

    def _candidates(self, place: int) -> list[Candidate]:
        found = self._opened.model._description
        counts = found.counts[self._opened.order[place]]
        everywhere = found.counts.sum(axis=0)
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
        names = self._opened.model.vectorizer_.vocabulary_.display
        return [
            Candidate(
                term=names[used[at]],
                share=float(f"{share[at]:.5g}"),
                lift=float(f"{lift[at]:.5g}"),
                count=round(float(counts[used[at]])),
            )
            for at in sorted(chosen, key=lambda at: (-share[at], at))[:_CANDIDATES]
        ]

    def _related(self, place: int) -> list[RelatedTerm]:
        opened = self._opened
        terms = opened.model._description.terms[opened.order[place]]
        best: dict[int, Any] = {}
        for near in opened.terms().near(terms[:_FIRST], terms[:_OWN], _RELATED, _NEAR):
            if near.term not in best or near.similarity > best[near.term].similarity:
                best[near.term] = near
        ranked = sorted(best.values(), key=lambda near: (-round(near.similarity, 6), near.term))[:_RELATED]
        names = opened.model.vectorizer_.vocabulary_.display
        return [
            RelatedTerm(term=names[n.term], similarity=round(n.similarity, 3), through=names[n.source])
            for n in ranked
        ]

    def _neighbours(self, place: int) -> list[Neighbour]:
        opened = self._opened
        alike = opened.likeness()[place]
        best = [at for at in np.argsort(-alike, kind="stable").tolist() if at != place][:_NEIGHBOURS]
        return [
            Neighbour(id=opened.ids[at], label=opened.topics[at].label, likeness=round(float(alike[at]), 3))
            for at in best
        ]

    # --- texts

    def _histogram(self, place: int) -> list[int]:
        rows = self._opened.rows()
        sure = rows.confidence[(rows.place == place) & rows.known()]
        bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
        found: list[int] = np.bincount(bins, minlength=_BINS).tolist()
        return found

    def _example_rows(self) -> list[npt.NDArray[np.uint32]]:
        """The rows of the typical texts of all topics: the first that reads so."""
        wanted = list({text for topic in self._opened.topics for text in topic.examples})
        texts = self._opened.rows().frame["text"]
        at = texts.is_in(wanted).arg_true().to_numpy()
        first: dict[str, int] = {}
        for row, text in zip(at.tolist(), texts[at], strict=True):
            first.setdefault(text, row)
        return [
            np.array([first[text] for text in topic.examples if text in first], dtype=np.uint32)
            for topic in self._opened.topics
        ]

    def _by_doubt(self) -> list[npt.NDArray[np.uint32]]:
        """Rows of each topic that are least sure: some more than are shown, as texts may be alike."""
        rows = self._opened.rows()
        known = np.flatnonzero(rows.known() & (rows.confidence > 0))
        order = known[np.lexsort((np.round(rows.confidence[known], 6), rows.place[known]))]
        ends = np.searchsorted(rows.place[order], np.arange(len(self._opened.ids) + 1))
        return [order[a:b][: 10 * _BORDER].astype(np.uint32) for a, b in pairwise(ends)]

    def _borderline(self, place: int, examples: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        rows = self._borders()[place]
        table = self._opened.rows()
        seen = set(table.at(examples)["text"]) if len(examples) else set()
        chosen: list[int] = []
        for row, text in zip(rows.tolist(), table.at(rows)["text"], strict=True):
            if text not in seen and len(chosen) < _BORDER:
                chosen.append(row)
                seen.add(text)
        return np.array(chosen, dtype=np.uint32)

    # --- over time, by class

    def _over_time(self) -> dict[str, Any] | None:
        rows = self._opened.rows()
        days = rows.days()
        if days is None:
            return None
        dates = pl.Series(days).cast(pl.Date)
        dates = (
            pl.DataFrame({"x": dates, "there": days != NO_DAY}).select(pl.when("there").then("x")).to_series()
        )
        places = np.where(rows.known(), rows.place.astype(np.int64), -1)
        found = over_time(Columns(dates=dates), places, len(self._opened.ids))
        return found if found and "periods" in found else None

    def _timeline(self, place: int) -> OverTime | None:
        found = self._time()
        if found is None:
            return None
        counts = found["texts"][place]
        shares = [
            round(n / total, 5) if total else 0.0 for n, total in zip(counts, found["totals"], strict=True)
        ]
        return OverTime(every=found["unit"], periods=found["periods"], counts=counts, shares=shares)

    def _by_class(self, place: int) -> list[ClassShare] | None:
        rows = self._opened.rows()
        classes = rows.classes()
        if classes is None:
            return None
        codes, names = classes
        here = codes[(rows.place == place) & rows.known() & (codes >= 0)]
        counts = np.bincount(here, minlength=len(names))
        best = np.argsort(-counts, kind="stable")[:_CLASSES]
        return [
            ClassShare(name=names[at], count=int(counts[at]), share=round(float(counts[at] / len(here)), 5))
            for at in best.tolist()
            if counts[at]
        ]
