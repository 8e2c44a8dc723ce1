"""``model.plot``: the figures of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from coterie.errors import InputError, shown
from coterie.estimator import check_count
from coterie.figures import bars, curves, flows, heat, histograms, lines, maps, trees
from coterie.figures.comparing import shared_texts
from coterie.figures.figure import Figure, GroundName
from coterie.figures.svg import many
from coterie.map.colours import colours
from coterie.results import Topic
from coterie.topics import grouped
from coterie.topics.fates import fates
from coterie.topics.trends import Period

if TYPE_CHECKING:
    from coterie.topics.collection import Collection
    from coterie.topics.model import TopicModel


class Plots:
    """Figures of a fitted model.

    Every figure shows itself in a notebook, has its numbers as a table in `data`, and is written by
    ``save("figure.svg")``, ``.png`` or ``.html``. `ground` is "light", "dark", or "auto": as the notebook is,
    and light in a file. `top` is how many topics are shown; the others are counted.

    >>> from coterie import TopicModel
    >>> texts = ["late parcel", "parcel lost", "late delivery parcel", "refund card", "card refund money"]
    >>> model = TopicModel(n_topics=2).fit(texts * 4)
    >>> figure = model.plot.topics()
    >>> figure.data.select("topic", "size", "share").rows()
    [(0, 12, 0.6), (1, 8, 0.4)]
    """

    def __init__(self, model: TopicModel):
        self._model = model

    def topics(
        self, dates: Any = None, *, top: int = 30, title: str = "", ground: GroundName = "auto"
    ) -> Figure:
        """Sizes of topics with names and first terms; with dates, what clearly grew, fell or is new."""
        topics = self._largest(top)
        trends = _trends(self._changes(dates))
        data = bars.frame(topics, trends)
        model, shades = self._model, self._colours
        title = title or f"{many(len(topics), 'topic')} in {many(model.n_texts_, 'text')}"
        lost = model.n_texts_ - model.n_known_
        note = "Number and share of texts, first terms"
        note += "" if trends is None else "; ↑ ↓ a clear change in the last period"
        note += f"; {many(lost, 'text has', 'texts have')} no known word" if lost else ""
        return Figure(
            "topics",
            title,
            data,
            lambda ground: bars.draw(data, top, title, note, shades, ground),
            ground,
            bars.chart,
        )

    def map(self, *, title: str = "", ground: GroundName = "auto") -> Figure:
        """The fitted texts as points, near each other where their words occur in the same texts."""
        model, shades = self._model, self._colours
        data = maps.frame(model, self._texts("the map is drawn with the fitted texts"))
        note = f"{many(model.n_texts_, 'text')} in {many(len(model.topics), 'topic')}"
        return Figure(
            "map",
            title or "Map of the texts",
            data,
            lambda ground: maps.draw(model, data, title, note, shades, ground),
            ground,
            maps.chart,
        )

    def over_time(
        self,
        dates: Any = None,
        every: Period = "auto",
        *,
        top: int = 12,
        title: str = "",
        ground: GroundName = "auto",
    ) -> Figure:
        """Shares of topics in each period: those that clearly changed first, then the largest."""
        largest = self._largest(top)
        found = grouped.over_time(self._model, dates, every, None, None)
        trends = _trends(grouped.changes(self._model, dates, every, None, None)) or {}
        if found.is_empty():
            raise InputError("no text with a topic has a date, so there is nothing to draw over time")
        changed = [topic.id for topic in largest if trends.get(topic.id)]
        topics = [*changed, *(topic.id for topic in largest if topic.id not in changed)][:top]
        data = found.select("topic", "label", pl.col("period").cast(pl.Date), "texts", "share").with_columns(
            trend=pl.col("topic").replace_strict(trends, default="", return_dtype=pl.String)
        )
        title, shades = title or "Topics over time", self._colours
        n = len(largest)
        note = "Share of the texts of each period, all on one scale."
        if len(topics) < n:
            note += f" {len(topics)} of {n} topics: what clearly changed, then the largest."
        return Figure(
            "over_time",
            title,
            data,
            lambda ground: lines.draw(data, topics, trends, title, note, shades, ground),
            ground,
            lines.chart,
        )

    def hierarchy(self, *, top: int = 60, title: str = "", ground: GroundName = "auto") -> Figure:
        """The topics as a tree with names on its branches."""
        check_count("top", top, self)
        return tree_figure(self._model.hierarchy(), self._colours, top, title, ground)

    def similarity(self, *, top: int = 40, title: str = "", ground: GroundName = "auto") -> Figure:
        """How similar topics are: cosines of their centres, in the order of the tree."""
        model = self._model
        kept = {topic.id for topic in self._largest(top)[:top]}
        place = {topic.id: at for at, topic in enumerate(model.topics)}
        data_of_tree = trees.frame(model.hierarchy())["topic"].drop_nulls()
        order = [topic for topic in data_of_tree if topic in kept]
        labels = {topic: model.topics[place[topic]].label for topic in order}
        centers = model.state.description.centers[[place[topic] for topic in order]]
        data = heat.frame(order, list(labels.values()), np.round(centers @ centers.T, 6))
        title = title or "How similar topics are"
        note = "Cosine of the middles of topics; similar topics are side by side"
        note += f"; the {len(order)} largest of {len(place)} topics" if len(order) < len(place) else ""
        return Figure(
            "similarity",
            title,
            data,
            lambda ground: heat.draw(data, labels, title, note, ground),
            ground,
            heat.chart,
        )

    def confidence(self, *, top: int = 30, title: str = "", ground: GroundName = "auto") -> Figure:
        """Texts by confidence: all of them, then topic by topic, the least sure first."""
        collection = self._texts("confidence is that of the fitted texts")
        scores = self._model.state.scores
        assert scores is not None
        rows = np.asarray(collection.corpus.rows)
        there = scores.topic[rows] >= 0
        ids = np.array([topic.id for topic in self._model.topics], dtype=np.int64)
        own, sure = ids[scores.topic[rows][there]], scores.confidence[rows][there]
        data = histograms.frame({topic.id: topic.label for topic in self._largest(top)}, own, sure)
        title, shades = title or "Confidence", self._colours
        mean = f"{float(sure.mean()):.2f}" if len(sure) else "none"
        note = f"Number of texts by confidence, in tenths; mean {mean}. Below, topic by topic with means."
        return Figure(
            "confidence",
            title,
            data,
            lambda ground: histograms.draw(data, top, title, note, shades, ground),
            ground,
            histograms.chart,
        )

    def number_of_topics(self, *, ground: GroundName = "auto") -> Figure:
        """How plausible each number of topics is: the choice, the interval and other numbers that fit."""
        found = self._model.number_of_topics_
        if found is None:
            raise InputError(
                "the number of topics was given, so no other was looked at; "
                "n_topics='auto' chooses it from the texts"
            )
        return curve_figure(found, ground)

    def compare(
        self, other: TopicModel, *, top: int = 30, title: str = "", ground: GroundName = "auto"
    ) -> Figure:
        """Which topics of this model became which of the other: where the texts of this one are there.

        `other` may be fitted to the same texts or to others, which may be newer: it is asked about the texts
        of this model.
        """
        from coterie.topics.model import TopicModel

        if not isinstance(other, TopicModel):
            raise InputError(f"other must be a TopicModel, got {shown(other)}")
        check_count("top", top, self)
        here = self._model
        table = shared_texts(here, self._texts("texts are compared"), other)
        fate = fates(table)
        data = flows.frame(table, here.topics, other.topics, fate)
        drawn, rows, columns = flows.grouped(table, top)
        left, right = flows.names(here.topics, rows), flows.names(other.topics, columns)
        shades = [self._colours[here.topics[at].id] for at in rows]
        title = title or f"What became of {many(len(here.topics), 'topic')}"
        note = flows.sentence(fate, int(table.sum()))
        return Figure(
            "compare",
            title,
            data,
            lambda ground: flows.draw(drawn, left, right, shades, title, note, ground),
            ground,
            flows.chart,
        )

    # --- inside

    @property
    def _colours(self) -> dict[int, str]:
        """The colour of each topic, as on the map; none for a loaded model, which has no map."""
        described, topics = self._model.state.description, self._model.topics
        if described.map is None:
            return {}
        return {
            topics[at].id: shade
            for at, shade in zip(described.by_size, colours(described.map.shades), strict=True)
        }

    def _largest(self, top: int) -> list[Topic]:
        """All topics, the largest first."""
        check_count("top", top, self)
        return sorted(self._model.topics, key=lambda topic: (-topic.size, topic.id))

    def _texts(self, why: str) -> Collection:
        collection = self._model.collection
        if collection is None:
            raise InputError(
                f"{why}, which a loaded model does not have; use coterie.open_run(folder).with_texts()"
            )
        return collection

    def _changes(self, dates: Any) -> pl.DataFrame | None:
        """What changed, or None where nobody knows the dates."""
        try:
            return grouped.changes(self._model, dates, "auto", None, None)
        except InputError:
            if dates is None:
                return None
            raise


def tree_figure(
    root: Any, colours_of: Mapping[int, str], top: int = 60, title: str = "", ground: GroundName = "auto"
) -> Figure:
    """A tree as a figure; `colours_of` are those of topics."""
    data = trees.frame(root)
    n, title = len(root.topics), title or "Topics as a tree"
    note = "The further right two branches meet, the more they have in common; number of texts"
    note += f". {many(n, 'topic')}, small branches closed" if n > top else ""
    return Figure(
        "hierarchy",
        title,
        data,
        lambda ground: trees.draw(root, top, title, note, colours_of, ground),
        ground,
    )


def curve_figure(found: Any, ground: GroundName = "auto") -> Figure:
    """How a number of topics was chosen, as a figure."""
    title = f"Number of topics: {found.n_topics}"
    return Figure(
        "number_of_topics",
        title,
        curves.frame(found),
        lambda ground: curves.draw(found, ground),
        ground,
        curves.chart,
    )


def _trends(found: pl.DataFrame | None) -> dict[int, str] | None:
    """The trend of each topic that has one: against the year before, or else against the period before."""
    if found is None:
        return None
    clear = found.filter(pl.col("trend") != "")
    return dict(clear.select("topic", "trend").iter_rows())  # the last comparison has the most texts
