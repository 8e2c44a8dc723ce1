"""Models whose figures are looked at, and the figures that a person types."""

import pytest

from coterie import TopicModel, datasets

#: Labels that people and attackers give: markup, long, right to left, emoji, control characters, one word without end.
HOSTILE = (
    "<script>alert(1)</script>",
    "a label that goes on and on, as people write them when nobody stops them from doing so",
    "שלום עולם, חבילה",
    "📦👩‍👩‍👧‍👦🚲 late",
    "null\x00byte\x1b[31m\x0b and\ttab",
    "\u202ereversed\u202c, \u200fmark",
    "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle",
    '" onload="alert(2)',
    "&amp; ]]> <!-- -->",
    "包裹没有到，客服不回复，已经等了两个星期",
)


def bikes(n=None):
    sample = datasets.load("bikes")
    return sample.texts[:n], sample.dates[:n]


def hostile_model():
    texts, dates = bikes(900)
    model = TopicModel(n_topics=12).fit(texts)
    for topic, label in zip(list(model.topics), HOSTILE, strict=False):
        model.edits.rename(topic.id, label)
    return model, dates


#: What a person types; `model` and `other` are fitted, `dates` has one date for each text.
TYPED = {
    "topics": "model.plot.topics()",
    "topics with dates": "model.plot.topics(dates)",
    "map": "model.plot.map(title='Tickets')",
    "over_time": "model.plot.over_time(dates, every='month')",
    "hierarchy": "model.plot.hierarchy()",
    "similarity": "model.plot.similarity()",
    "confidence": "model.plot.confidence()",
    "number_of_topics": "model.plot.number_of_topics()",
    "compare": "model.plot.compare(other)",
}
every_figure = pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
