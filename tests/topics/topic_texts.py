"""Short texts whose topics are known because they were put there, and what a model says of them."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

#: Words of each topic: no stop words, no two with one stem, none in two topics.
TOPICS = {
    "shipping": ["parcel", "courier", "depot", "tracking", "doorstep", "van"],
    "billing": ["refund", "invoice", "card", "payment", "receipt", "tax"],
    "login": ["password", "username", "captcha", "token", "browser", "cookie"],
    "kitchen": ["kettle", "toaster", "oven", "spoon", "plate", "fridge"],
}
NOISE = ["monday", "friend", "blue", "garden"]
#: Texts that are only text, whatever they look like.
HOSTILE = [
    "",
    " \t\n ",
    "the and of",
    "xyzzy plugh",
    "=cmd() parcel",
    "<script>alert(1)</script>",
    "parcel\x00refund",
    "\u202eparcel\u202c refund",
    "{{7*7}} ${x} %s",
    "ﷺ 🧙‍♀️ 𝕬",
    "-1+1",
    "'; DROP TABLE refund; --",
]


def planted_texts(n_texts=60, n_topics=3, *, words=4, noise=0, seed=0):
    """Texts and their topics: each of `words` words of one topic, and some of those that all share."""
    rng = np.random.default_rng(seed)
    lists = list(TOPICS.values())[:n_topics]
    truth = np.arange(n_texts) % n_topics
    texts = [
        " ".join([*rng.choice(lists[topic], words, replace=False), *rng.choice(NOISE, noise)])
        for topic in truth
    ]
    return texts, truth


@st.composite
def corpora(draw, least=4, most=14):
    """Small collections: texts of planted topics, noise, copies of each other, and hostile ones."""
    pools = list(TOPICS.values())[: draw(st.integers(1, 4))]
    words = st.lists(
        st.sampled_from(pools).flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=4)),
        min_size=1,
        max_size=1,
    ).map(lambda parts: parts[0])
    noise = st.lists(st.sampled_from(NOISE), max_size=2)
    ordinary = st.tuples(words, noise).map(lambda parts: " ".join([*parts[0], *parts[1]]))
    texts = draw(st.lists(ordinary, min_size=least, max_size=most))
    texts += draw(st.lists(st.sampled_from(HOSTILE), max_size=3))
    texts += draw(st.lists(st.sampled_from(texts), max_size=6))  # copies
    return draw(st.permutations(texts))


def answers(model, texts):
    """Everything `assign` says, to compare."""
    found = model.assign(texts)
    return list(found)


def shown(model):
    """Everything a model shows of its topics, to compare."""
    return model.topics, str(model.hierarchy()), model.edits, model.n_texts_, model.n_known_


def counted(model, texts):
    """Rows of the fitted texts that count: those with a known word, and those that somebody pinned."""
    worded = np.diff(model.vectorizer_.transform(texts).indptr) > 0
    pinned = {edit.text for edit in model.edits if edit.kind == "pin"}
    return [row for row, text in enumerate(texts) if worded[row] or text in pinned]


def counted_sizes(model, texts):
    """How many of the texts that count are labelled with each topic."""
    return Counter(model.labels_[counted(model, texts)].tolist())


def words_of(text):
    """The words of a planted text, read without the library."""
    return text.split()
