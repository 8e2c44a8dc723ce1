"""Models whose report is looked at."""

from __future__ import annotations

import polars as pl
import pytest
from report_models import GROWN, HOSTILE, info_of, tally_of

from coterie import TopicModel, datasets
from coterie.report import write_report


@pytest.fixture(scope="session")
def sample():
    """The built-in tickets with dates and categories: model, info and columns."""
    tickets = datasets.load("sample")
    model = TopicModel(n_topics=9).fit(tickets.texts)
    columns = {
        "dates": pl.Series("date", tickets.dates),
        "date_name": "date",
        "classes": pl.Series("category", tickets.labels),
        "class_name": "category",
    }
    return model, info_of(model), columns


@pytest.fixture(scope="session")
def hostile():
    """Texts, names and classes that try to be markup."""
    texts = HOSTILE * 2 + ["late parcel depot", "card refund payment"] * 6
    model = TopicModel(n_topics=2).fit(texts)
    model.edits.rename(0, "</script><script>window.hacked=6</script>")
    classes = pl.Series(
        (["<u>a</u>", "</script><img src=x onerror='window.hacked=7'>"] * len(texts))[: len(texts)]
    )
    columns = {
        "dates": pl.Series(["2024-01-01"] * len(texts)),
        "date_name": "<i onclick='window.hacked=8'>",
        "classes": classes,
        "class_name": "<s>",
    }
    info = info_of(
        model, "<script>window.hacked=5<script>.csv", "<b>", warnings=["<script>window.hacked=9</script>"]
    )
    return model, info, columns


@pytest.fixture(scope="session")
def tiny():
    """Three texts, one topic."""
    model = TopicModel(n_topics=2).fit(["late parcel", "card refund", "parcel"])
    return model, info_of(model), {}


@pytest.fixture(scope="session")
def grown():
    """Eleven months and half of a twelfth, in which one topic grows, one falls and one begins."""
    texts, dates, classes = [], [], []
    for month in range(1, 13):
        shares = (40, 40, 40, 0) if month < 12 else (40, 60, 6, 20)
        for topic, number in enumerate(shares):
            for i in range(number):
                texts.append(GROWN[topic][i % len(GROWN[topic])])
                dates.append(f"2025-{month:02d}-{i % (15 if month == 12 else 28) + 1:02d}")
                classes.append("<s onclick='window.hacked=7'>" if topic == 1 else f"desk {i % 80}")
    model = TopicModel(n_topics=4).fit(texts)
    columns = {
        "dates": pl.Series(dates),
        "date_name": "<i onclick='window.hacked=8'>",
        "classes": pl.Series(classes),
        "class_name": "desk",
    }
    return model, info_of(model), columns


@pytest.fixture(scope="session")
def many():
    """A hundred topics, each with its own words, over eight months and in seven teams."""
    texts, dates, classes = [], [], []
    for topic in range(100):
        words = [
            f"{''.join('bdfgklmnrstvz'[int(digit)] + 'aeiou'[word] for digit in f'{topic:02}')}ti"
            for word in range(5)
        ]
        for i in range(8 + topic % 3):
            texts.append(
                " ".join(words[: i % 5] + words[i % 5 + 1 :]) + " and more that people write about this"
            )
            dates.append(f"2026-{1 + i % 8:02}-{1 + topic % 28:02}")
            classes.append(f"team {topic % 7}")
    model = TopicModel(n_topics=100).fit(texts)
    columns = {
        "dates": pl.Series(dates),
        "date_name": "date",
        "classes": pl.Series(classes),
        "class_name": "team",
    }
    return model, info_of(model), columns


@pytest.fixture(scope="session")
def written(tmp_path_factory, sample, hostile, tiny, grown, many):
    """The reports as files, by name."""
    folder = tmp_path_factory.mktemp("report")
    paths = {}
    for name, (model, info, columns) in {
        "sample": sample, "hostile": hostile, "tiny": tiny, "grown": grown, "many": many,
    }.items():  # fmt: skip
        paths[name] = folder / f"{name}.html"
        write_report(paths[name], model, info, tally_of(model, **columns))
    return paths


@pytest.fixture
def show(browser, written):
    """`show(name, width=…, …)` opens a report; in the end nothing was asked for but the file, and no error said."""
    contexts, requests, errors = [], [], []

    def opened(name, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(written[name].as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert set(requests) <= {path.as_uri() for path in written.values()}
    assert errors == []
