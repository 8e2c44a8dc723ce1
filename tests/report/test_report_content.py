"""The numbers of the page against the same numbers counted by hand, and how large the page may become."""

import datetime as dt
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_models import info_of, tally_of

from coterie import TopicModel, metrics
from coterie.report import checks, write_report
from coterie.report.content import content, within
from coterie.report.facts import MOST_POINTS
from coterie.report.findings import findings
from coterie.report.groups import MOST_CLASSES, by_class, changes_of, over_time
from coterie.report.page import content_of, embedded, page
from coterie.report.tally import Tally, Tallying
from coterie.report.wording import asked, shortened
from coterie.topics.changes import Changes, Comparison, Span, share_limits


@pytest.fixture(scope="module")
def shown(sample):
    model, info, columns = sample
    return content(model, info, tally_of(model, **columns))


@pytest.fixture(scope="module")
def known(sample):
    """Whether each text holds a known word, asked of the model one by one."""
    model = sample[0]
    return model.transform(model.collection.texts.all()).any(axis=1)


def days(*values):
    return pl.Series("date", values, dtype=pl.String).str.to_date()


def confidence_of(model):
    return model.assign(model.collection.texts.all()).confidence


def test_topics_are_those_of_the_model_by_size(sample, shown):
    topics = sorted(sample[0].topics, key=lambda topic: (-topic.size, topic.id))
    assert [card["id"] for card in shown["topics"]] == [topic.id for topic in topics]
    for card, topic in zip(shown["topics"], topics, strict=True):
        assert (card["label"], card["size"]) == (topic.label, topic.size)
        assert card["share"] == pytest.approx(topic.share, abs=1e-6)
        assert [term for term, _ in card["terms"]] == list(topic.terms[:12])
        assert len(card["examples"]) == len(topic.examples)


def test_confidence_is_counted_in_tenths(sample, shown, known):
    model, _, _columns = sample
    sure = confidence_of(model)
    for card in shown["topics"]:
        own = [c for c, topic, k in zip(sure, model.labels_, known, strict=True) if topic == card["id"] and k]
        expected = [
            sum(low / 10 <= c < low / 10 + 0.1 or (low == 9 and c == 1) for c in own) for low in range(10)
        ]
        assert sum(card["histogram"]) == card["size"] == len(own)
        assert np.abs(np.array(card["histogram"]) - expected).max() <= 1  # at the edges of tenths
        assert card["confidence"] == pytest.approx(np.mean(own), abs=1e-3)


@pytest.mark.slow
def test_borderline_texts_are_the_least_sure(sample, shown):
    model, _, _columns = sample
    texts = model.collection.texts.all().to_list()
    for card in shown["topics"]:
        examples = set(next(topic.examples for topic in model.topics if topic.id == card["id"]))
        own = {
            text: c for text, topic, c in zip(texts, model.labels_, confidence_of(model), strict=True)
            if topic == card["id"] and c > 0 and text not in examples
        }  # fmt: skip
        least = sorted(own.values())[:3]
        assert [text["confidence"] for text in card["borderline"]] == pytest.approx(least, abs=0.006)
        for text in card["borderline"]:
            answer = model.assign([next(t for t in texts if shortened(t, 320) == text["text"])])[0]
            assert (answer.topic, answer.second) == (card["id"], text["second"])


def test_near_topics_and_similarity_are_cosines(sample, shown):
    model = sample[0]
    center = dict(zip([t.id for t in model.topics], model.state.description.centers, strict=True))
    for card in shown["topics"]:
        near = sorted(
            ((center[card["id"]] @ v, -k) for k, v in center.items() if k != card["id"]), reverse=True
        )
        assert [(topic, value) for topic, value in card["near"]] == [(-k, round(c, 2)) for c, k in near[:3]]
    leaves = shown["similarity"]["topics"]
    assert sorted(leaves) == sorted(center)
    for row, one in zip(shown["similarity"]["percent"], leaves, strict=True):
        assert row == [round(100 * max(center[one] @ center[other], 0)) for other in leaves]
    tree = [part for _, _, part in shown["tree"] if isinstance(part, int)]
    assert tree == leaves  # both in the order of the tree


def test_over_time_is_what_the_model_says(sample, shown):
    model, _, columns = sample
    said = model.over_time(columns["dates"])
    counted = {(r["topic"], f"{r['period']:%Y-%m}"): r["texts"] for r in said.iter_rows(named=True)}
    assert shown["time"]["unit"] == "month"
    for card, row in zip(shown["topics"], shown["time"]["texts"], strict=True):
        assert row == [counted[card["id"], period] for period in shown["time"]["periods"]]
    assert shown["time"]["totals"] == np.sum(shown["time"]["texts"], axis=0).tolist()


def test_by_class_is_what_the_model_says(sample, shown):
    model, _, columns = sample
    said = {
        (r["topic"], r["class"]): r["texts"] for r in model.by_class(columns["classes"]).iter_rows(named=True)
    }
    for card, row in zip(shown["topics"], shown["classes"]["texts"], strict=True):
        assert row == [said[card["id"], name] for name in shown["classes"]["classes"]]
    scores = metrics.clustering_scores(columns["classes"].to_list(), model.labels_)
    for name, value in shown["classes"]["scores"].items():
        assert value == pytest.approx(getattr(scores, name), abs=1e-4)


def test_checks_count_what_they_say(sample, shown):
    model, _, _columns = sample
    said = " ".join(check["text"] for check in shown["checks"])
    unsure = sum(c < 0.5 for c in confidence_of(model))
    assert f"{unsure:,} texts" in said
    assert f"{model.n_texts_ - model.n_known_} texts" in said
    rows = Counter(model.collection.corpus.rows.tolist())
    assert f"{sum(rows.values()) - len(rows)} texts" in said
    assert f"occurs {max(rows.values())} times" in said
    assert [check["look"] for check in shown["checks"]] == sorted(
        (c["look"] for c in shown["checks"]), reverse=True
    )


def test_alike_and_tiny_topics_are_named(sample):
    near = np.array([[1, 0.9, 0.1], [0.9, 1, 0.81], [0.1, 0.81, 1]])
    found = checks.overlaps(near, [7, 8, 9])
    assert found["look"]
    assert found["pairs"] == [[7, 8, 0.9], [8, 9, 0.81]]
    assert not checks.overlaps(np.eye(3), [7, 8, 9])["look"]
    assert not checks.tiny(sample[0].topics)["look"]
    assert checks.tiny(TopicModel(n_topics=2).fit(["late parcel", "card refund"] * 3).topics)["look"]


def test_periods_without_a_text_are_there_and_centuries_are_few():
    places = np.array([0, 1, 0])
    found = over_time(Tally(places, days=days("2024-01-05", "2024-01-01", None)), places, 2)
    assert found["periods"] == [f"2024-01-0{day}" for day in range(1, 6)]
    assert found["texts"] == [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]
    assert found["undated"] == 1
    found = over_time(Tally(places, days=days("0001-01-01", "2024-01-01", "9999-12-31")), places, 2)
    assert len(found["periods"]) <= 48
    assert np.sum(found["texts"]) == 3


def counted(places, **columns):
    """Texts with columns of dates or classes, counted."""
    tallying = Tallying("date" if "date" in columns else None, "class" if "class" in columns else None)
    tallying.add(places, pl.DataFrame(columns))
    return tallying.tally()


def test_columns_that_cannot_be_used_say_why():
    places = np.zeros(100, dtype=np.int64)
    assert "tomorrow" in over_time(counted(places, date=["tomorrow"] * 100), places, 1)["note"]
    assert over_time(counted(places, date=[None] * 100), places, 1)["note"] == "No text has a date."
    assert by_class(counted(places, **{"class": [None] * 100}), 1)["note"] == "No text has a class."
    assert "a name or a number" in by_class(counted(places, **{"class": [["a"]] * 100}), 1)["note"]
    assert over_time(Tally(places), places, 1) is by_class(Tally(places), 1) is None


def test_the_first_date_that_cannot_be_read_is_named_by_its_row():
    tallying = Tallying("date")
    for values in (["2024-01-01", None], ["2024-02-01", "soon", "later", "never"]):
        tallying.add(np.zeros(len(values), dtype=np.int64), pl.DataFrame({"date": values}))
    assert tallying.tally().date_note.startswith(
        "The dates could not be read: row 4 of the data has the date"
    )


KINDS = st.tuples(
    st.integers(-1, 2),
    st.sampled_from([None, "2024-01-05", "2024-01-06", "2024-03-01"]),
    st.sampled_from([None, "a", "b"]),
)


@given(st.lists(KINDS, min_size=1, max_size=40), st.lists(st.integers(1, 9), max_size=8))
def test_texts_counted_in_parts_say_what_each_text_alone_says(kinds, cuts):
    topics, dates, classes = (list(part) for part in zip(*kinds, strict=True))
    one = Tally(
        np.array(topics), None, days(*dates) if any(dates) else None,
        pl.Series("class", classes, dtype=pl.String) if any(classes) else None, "date", "class",
        "" if any(dates) else "No text has a date.", "" if any(classes) else "No text has a class.",
    )  # fmt: skip
    frame = pl.DataFrame({"date": dates, "class": classes}, schema={"date": pl.String, "class": pl.String})
    tallying, start = Tallying("date", "class"), 0
    for many in [*cuts, len(kinds)]:
        tallying.add(np.array(topics[start : start + many], dtype=np.int64), frame.slice(start, many))
        start += many
    together = tallying.tally()
    assert by_class(together, 3) == by_class(one, 3)
    assert over_time(together, together.topics, 3) == over_time(one, one.topics, 3)
    for tally in (together, one):
        said = changes_of(tally, tally.topics, 3)
        limits = share_limits(tally.topics, 3, tally.days, tally.texts)
        if tally is together:
            expected = repr(said), np.array(limits)
        else:
            assert repr(said) == expected[0]
            np.testing.assert_array_equal(limits, expected[1])


def test_many_classes_are_lists_and_no_table():
    """The largest classes of each topic and the other way round, against a count by hand."""
    rng = np.random.default_rng(3)
    n_classes = MOST_CLASSES + 40
    drawn, topics = rng.integers(0, n_classes, 5_000), rng.integers(-1, 4, 5_000)
    drawn[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    classes = pl.Series([f"c{number:03}" for number in drawn])
    found = by_class(Tally(topics, classes=classes), 4)
    assert found["texts"] is None
    assert (len(found["classes"]), found["left"]) == (MOST_CLASSES, 40)
    pairs = Counter((name, topic) for name, topic in zip(classes, topics.tolist(), strict=True) if topic >= 0)
    totals = Counter(name for name, topic in zip(classes, topics.tolist(), strict=True) if topic >= 0)
    assert min(found["totals"]) >= sorted(totals.values())[40]
    for name, total, largest in zip(found["classes"], found["totals"], found["largest"], strict=True):
        assert total == totals[name]
        own = sorted((pairs[name, topic] for topic in range(4)), reverse=True)
        assert [n for _, n in largest] == [n for n in own[:3] if n]
        assert all(pairs[name, topic] == n for topic, n in largest)
    for topic, largest in enumerate(found["largestClasses"]):
        best = sorted((pairs[name, topic] for name in found["classes"]), reverse=True)
        assert [n for _, n in largest] == best[:3]
        assert all(pairs[found["classes"][at], topic] == n for at, n in largest)
    few = by_class(Tally(topics, classes=pl.Series(["a", "b"] * 2_500)), 4)
    assert np.sum(few["texts"]) == sum(few["sizes"]) == (topics >= 0).sum()


def test_the_first_lines_are_about_those_who_wrote(grown):
    model, info, columns = grown
    found = content(model, info, tally_of(model, **columns))
    items = found["findings"]["items"]
    assert [item["kind"] for item in items] == ["Biggest", "Grew", "New", "Fell"]
    frame = model.changes(columns["dates"]).filter(pl.col("against") == "earlier months")
    trends = dict(zip(frame["topic"], frame["trend"], strict=True))
    for item in items[1:]:
        assert trends[item["topic"]] == item["kind"].lower()
        row = frame.row(by_predicate=pl.col("topic") == item["topic"], named=True)
        assert f"{row['texts']} texts" in item["text"]
        for value in (row["change"], row["low"], row["high"]):
            assert f"{100 * value:+.1f}".replace("-", "−") in item["text"]
        assert item["quote"] in model.topics[item["topic"]].examples
    assert "(1 to 15 December 2025)" in items[1]["text"]
    assert found["findings"]["note"].startswith("3 topics clearly changed in 1 to 15 December 2025")
    biggest = max(model.topics, key=lambda topic: topic.size)
    assert items[0]["topic"] == biggest.id
    assert f"{biggest.size:,} texts" in items[0]["text"]


def test_the_largest_changes_come_first_and_only_three(sample):
    topics, day = sample[0].topics[:6], dt.date(2025, 1, 1)
    change = np.array([0.01, 0.04, -0.02, 0.02, 0.03, -0.05])
    before = Comparison(
        "", Span(day, day), np.full(6, 9), np.full(6, 0.1), change, change - 0.005, change + 0.005
    )
    found = Changes("month", Span(day, day), np.full(6, 9), 0.1 + change, (before,))
    items = findings(topics, Tally(np.arange(6)), found)["items"]
    said = [(item["kind"], item["topic"]) for item in items]
    grew, fell = [("Grew", topics[at].id) for at in (1, 4, 3)], [("Fell", topics[at].id) for at in (5, 2)]
    assert said == [("Biggest", topics[0].id), *grew, *fell]


def test_the_share_of_the_biggest_and_its_limits_are_of_all_texts(sample):
    topic = replace(sample[0].topics[0], size=30, share=0.3)
    half = np.repeat([0, 1, -1], [30, 20, 50])  # half of the texts have no topic
    said = findings([topic, topic], Tally(half), None)["items"][0]["text"]
    low, high = (limit[0] / 2 for limit in share_limits(half, 2))
    assert said == f"30 texts, 30 % ({100 * low:.0f} % to {100 * high:.0f} %)"


def test_without_dates_only_the_biggest_is_told(sample):
    found = content(sample[0], sample[1], tally_of(sample[0]))["findings"]
    assert [item["kind"] for item in found["items"]] == ["Biggest"]
    assert found["note"] == ""


def test_where_nothing_is_clear_the_page_says_so(sample, shown):
    assert {item["kind"] for item in shown["findings"]["items"]} == {"Biggest"}
    assert shown["findings"]["note"].startswith("No topic clearly grew or fell in 1 to 28 December 2025")


def test_changes_of_the_page_are_those_of_the_model(grown):
    model, info, columns = grown
    found = content(model, info, tally_of(model, **columns))
    ids = [card["id"] for card in found["topics"]]
    frame = model.changes(columns["dates"])
    assert [name for name, _ in found["time"]["changes"]["against"]] == ["month before", "earlier months"]
    for number, (name, _) in enumerate(found["time"]["changes"]["against"]):
        one = frame.filter(pl.col("against") == name)
        said = {row["topic"]: (row["change"], row["trend"]) for row in one.iter_rows(named=True)}
        for topic, changes in zip(ids, found["time"]["changes"]["changes"], strict=True):
            assert changes[number][0] == pytest.approx(said[topic][0], abs=1e-5)
            assert changes[number][2] == said[topic][1]
    by_class = model.changes(columns["dates"], classes=columns["classes"])
    said = {row["class"]: row["trend"] for row in by_class.iter_rows(named=True)}  # the last comparison
    classes = found["classes"]
    names = [shortened(name, 60) for name in said]
    for name, changes in zip(classes["classes"], classes["time"]["changes"]["changes"], strict=True):
        assert changes[-1][2] == list(said.values())[names.index(name)]


def test_what_was_asked_for_in_words():
    said = " ".join(
        asked({"n_topics": 12, "language": ["en", "fr"], "seed_words": {"billing": ["invoice", "VAT"]}}, 12)
    )
    assert "12 topics were requested." in said
    assert "en, fr" in said
    assert "billing (invoice, VAT)" in said
    assert "was estimated" in asked({"n_topics": "auto"}, 3)[0]


def test_edits_are_listed(hostile):
    model, info, _columns = hostile
    found = content(model, info, tally_of(model))
    assert found["edits"] == [str(edit) for edit in model.edits]


@pytest.mark.slow
def test_the_same_bytes_every_time(tmp_path, sample):
    model, info, columns = sample
    again = TopicModel(n_topics=9).fit(model.collection.texts.all().to_list())
    pages = []
    for number, made in enumerate((model, model, again)):
        write_report(tmp_path / f"{number}.html", made, info, tally_of(made, **columns))
        pages.append((tmp_path / f"{number}.html").read_bytes())
    assert pages[0] == pages[1] == pages[2]


def test_what_is_embedded_comes_back_and_ends_nothing():
    hostile = {"a": "</script><!--&\u2028\u2029\x00 \u202e <script>", "b": [1, 0.5, None]}
    text = embedded(hostile)
    assert json.loads(text) == hostile
    assert not set("<>&\u2028\u2029\x00") & set(text)
    with pytest.raises(ValueError, match="JSON"):
        embedded({"a": float("nan")})


def test_long_texts_become_short_ones():
    assert shortened("a" * 10**6, 10) == "a" * 9 + "…"
    assert shortened(" " * 10**6 + "a", 10) == "…"
    assert shortened("a\x00b\n\tc", 10) == "a\ufffdb c"
    assert shortened("exactly 10", 10) == "exactly 10"


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["a", "<", "语", "🎉", "\u2028"])
def test_texts_of_points_fit_whatever_they_are_made_of(sign):
    texts, kept = within([sign * 300] * MOST_POINTS, 450_000, 140)
    assert len(texts) == kept
    assert len(embedded(texts).encode()) < 450_000 + 2 * MOST_POINTS


@pytest.mark.slow
def test_twenty_thousand_texts_take_less_than_a_megabyte_and_a_million_hardly_more():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}x" for i in range(600)])
    topic = rng.integers(0, 12, 20_000)
    drawn = words[(topic[:, None] * 50 + rng.integers(0, 50, (20_000, 14)))]
    texts = [" ".join(row) for row in drawn]
    model = TopicModel(n_topics=12, method="kmeans-idf").fit(texts)
    found = content(model, info_of(model), tally_of(model))
    assert len(page(found).encode()) < 1_000_000
    # only samples depend on the number of texts, and they have a most
    assert len(found["map"]["texts"]) <= MOST_POINTS
    topics = found["topics"] * 20  # 240 topics, 48 periods and 60 classes
    table = [[4_000] * 60] * len(topics)
    large = found | {
        "topics": topics,
        "time": {"periods": ["2024-01-01"] * 48, "texts": table},
        "classes": {"classes": ["a name of a class"] * 60, "texts": table},
        "similarity": {"topics": [1] * 80, "percent": [[50] * 80] * 80},
    }
    assert len(page(large).encode()) < 3_000_000


def test_another_method_and_tokens(tmp_path):
    texts = [["late", "parcel"], ["parcel", "lost"], ["card", "refund"], ["refund", "money"]] * 5
    model = TopicModel(n_topics=2, method="nmf-ncut").fit(texts)
    write_report(tmp_path / "r.html", model, info_of(model), tally_of(model))
    assert "late parcel" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_report_from_before_groups_were_named_is_written_again(sample):
    found = content(*sample[:2], tally_of(sample[0]))
    assert found["map"]["groups"] == []  # nine topics need none
    found["map"]["groups"] = [{"label": "parcels and more", "at": [0, 0]}]
    assert "PARCELS" in content_of(page(found))["picture"]
    del found["map"]["groups"]
    assert "PARCELS" not in content_of(page(found))["picture"]
