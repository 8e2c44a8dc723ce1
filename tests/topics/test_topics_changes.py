"""What grew: against a slow reading of the definitions, as properties, and in files simulated with and without a rise."""

import datetime as dt
import math
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta, binomtest, chi2, norm, t

from coterie import TopicModel
from coterie.errors import InputError
from coterie.topics.changes import Changes, Comparison, Span, changes, dispersion, limits, share_limits

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from changes import QUIET, RISES, plain_rate, rate

DAY = dt.timedelta(days=1)
START = dt.date(2024, 1, 1)


# --- the definitions, one text at a time


def literal_dispersion(cells, n_groups, tail):
    """`cells` are lists of groups, one list per day or period."""
    cells = [cell for cell in cells if cell]
    texts = [group for cell in cells for group in cell]
    if len(cells) < 2:
        return [1.0] * n_groups
    own = []
    for group in range(n_groups):
        share = texts.count(group) / len(texts)
        errors = sum((cell.count(group) - share * len(cell)) ** 2 for cell in cells)
        clustered = len(cells) / (len(cells) - 1) * errors / len(texts) ** 2
        alone = share * (1 - share) / len(texts)
        own.append(clustered / alone if alone else None)
    known = [value for value in own if value is not None]
    if not known:
        return [1.0] * n_groups
    free = len(cells) - 1
    middle = median(known) * free / chi2.ppf(0.5, free)
    middle *= (t.ppf(tail, free * len(known) * 2 / math.pi) / norm.ppf(tail)) ** 2
    return [max(1.0 if value is None else value, middle, 1.0) for value in own]


def literal_limits(texts, total, spread, tail):
    """Where the probability of as many or more, as few or fewer, is `tail`; by looking for it."""
    x, n = texts / spread, total / spread
    low = brentq(lambda p: beta.cdf(p, x, n - x + 1) - tail, 0, 1, xtol=1e-14) if x else 0.0
    high = brentq(lambda p: beta.sf(p, x + 1, n - x) - tail, 0, 1, xtol=1e-14) if x < n else 1.0
    return low, high


def literal_changes(groups, n_groups, dates):
    """Months; for each comparison, the change, its limits and the trend of each group."""
    there = [(day, group) for day, group in zip(dates, groups, strict=True) if day and group >= 0]
    months = sorted({(day.year, day.month) for day, _ in there})
    last = months[-1]
    earlier = [month for month in months[:-1] if month >= (last[0] - 1, last[1])] or months[-2:-1]
    of = lambda some: [  # noqa: E731
        [group for other, group in there if other == day]
        for day in sorted({day for day, _ in there})
        if (day.year, day.month) in some
    ]
    by_month = [[group for cell in of([month]) for group in cell] for month in earlier]
    compared = [earlier[-1:], earlier][: 1 + (len(earlier) > 1)]
    seen = len({group for cell in of([*earlier, last]) for group in cell})
    tail = 0.05 / 2 / seen / len(compared)
    wobble = literal_dispersion(by_month, n_groups, tail)
    now, found = [g for cell in of([last]) for g in cell], []
    for some in compared:
        before = [g for cell in of(some) for g in cell]
        rows = []
        for group in range(n_groups):
            then = max(literal_dispersion(of(some), n_groups, tail)[group], wobble[group])
            here = max(literal_dispersion(of([last]), n_groups, tail)[group], then)
            p, q = now.count(group) / len(now), before.count(group) / len(before)
            low, high = literal_limits(now.count(group), len(now), here, tail)
            least, most = literal_limits(before.count(group), len(before), then, tail)
            down, up = math.hypot(p - low, most - q), math.hypot(high - p, q - least)
            rows.append((p - q, p - q - down, p - q + up))
        found.append(rows)
    return found


def file_of(seed, n_days, n_groups=3, texts=4):
    """Groups and dates, some missing."""
    rng = np.random.default_rng(seed)
    days = np.sort(rng.integers(0, n_days, texts * n_days))
    groups = rng.integers(-1, n_groups, len(days)) * (rng.random(len(days)) < 0.8)
    dates = [None if rng.random() < 0.05 else START + int(day) * DAY for day in days]
    return groups, pl.Series("date", dates, dtype=pl.Date)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_days", [45, 100, 500])
def test_the_definitions_spelled_out(seed, n_days):
    groups, dates = file_of(seed, n_days)
    found = changes(groups, 3, dates, "month")
    literal = literal_changes(groups.tolist(), 3, dates.to_list())
    assert len(found.comparisons) == len(literal)
    for one, rows in zip(found.comparisons, literal, strict=True):
        np.testing.assert_allclose(np.column_stack([one.change, one.low, one.high]), rows, atol=1e-9)


@pytest.mark.parametrize(("texts", "total"), [(0, 7), (7, 7), (3, 40), (250, 1000)])
def test_limits_are_those_of_an_exact_test(texts, total):
    low, high = limits(np.array([texts]), total, np.ones(1), 0.025)
    exact = binomtest(texts, total).proportion_ci(0.95)
    np.testing.assert_allclose([low[0], high[0]], [exact.low, exact.high], atol=1e-9)
    fewer = limits(np.array([texts]), total, np.array([4.0]), 0.025)  # a fourth of the texts says less
    assert fewer[0][0] <= low[0]
    assert fewer[1][0] >= high[0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 12))
def test_dispersion_spelled_out(seed, n_groups, n_cells):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, 4, (n_groups, n_cells)))
    cells = [[g for g in range(n_groups) for _ in range(counts[g, c])] for c in range(n_cells)]
    np.testing.assert_allclose(dispersion(counts, 0.01), literal_dispersion(cells, n_groups, 0.01), rtol=1e-9)


# --- properties


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 400), st.sampled_from(["auto", "day", "week", "month", "year"]))
def test_the_order_of_texts_and_numbers_of_groups_change_nothing(seed, n_days, every):
    groups, dates = file_of(seed, n_days)
    rng = np.random.default_rng(seed)
    at, names = rng.permutation(len(groups)), rng.permutation(3)
    renamed = np.where(groups >= 0, names[groups], -1)
    one = changes(groups, 3, dates, every)
    other = changes(renamed[at], 3, dates[at], every)
    if one is None:
        assert other is None
        return
    assert (one.span, one.unit) == (other.span, other.unit)
    for mine, its in zip(one.comparisons, other.comparisons, strict=True):
        assert (mine.name, mine.span) == (its.name, its.span)
        np.testing.assert_allclose(mine.low, its.low[names], atol=1e-12)
        np.testing.assert_allclose(mine.high, its.high[names], atol=1e-12)
        assert (mine.low <= mine.change).all()
        assert (mine.change <= mine.high).all()
        assert (np.abs(mine.change) <= 1).all()
        assert mine.change.sum() == pytest.approx(0, abs=1e-9)


def spread_evenly(counts):
    """Groups and dates: `counts[month][group]` texts of a group in a month, a few every day."""
    groups, dates = [], []
    for month, texts in enumerate(counts):
        first = dt.date(2023 + month // 12, month % 12 + 1, 1)
        for group, number in enumerate(texts):
            groups += [group] * number
            dates += [first + (i % 28) * DAY for i in range(number)]
    return np.array(groups), pl.Series(dates)


def test_half_a_month_is_no_fall():
    groups, dates = spread_evenly([[560, 280]] * 12)
    there = (dates < dt.date(2023, 12, 15)).to_numpy()
    found = changes(groups[there], 2, dates.filter(there), "month")
    assert found.trends == ["", ""]
    assert str(found.span) == "1 to 14 December 2023"
    assert str(found.main.span) == "January to November 2023"
    assert found.share[0] == pytest.approx(2 / 3)
    assert found.texts.tolist() == [280, 140]


def test_grew_fell_and_new():
    groups, dates = spread_evenly([[560, 280, 280, 0]] * 11 + [[560, 448, 56, 56]])
    found = changes(groups, 4, dates, "month")
    assert found.trends == ["", "grew", "fell", "new"]
    assert [one.name for one in found.comparisons] == ["month before", "earlier months"]
    assert found.comparisons[0].texts.tolist() == [560, 280, 280, 0]
    assert found.main.texts.tolist() == [6160, 3080, 3080, 0]


def test_forty_tickets_of_one_day_are_no_rise():
    """The same number of texts, on one day or on all: only the second is a change of the month."""
    groups, dates = spread_evenly([[560, 56]] * 12)
    more = np.ones(112, dtype=np.int64)
    one_day = pl.Series([dt.date(2023, 12, 5)] * 112)
    all_days = pl.Series([dt.date(2023, 12, 1) + (i % 28) * DAY for i in range(112)])
    groups = np.append(groups, more)
    assert changes(groups, 2, pl.concat([dates, one_day]), "month").trends[1] == ""
    assert changes(groups, 2, pl.concat([dates, all_days]), "month").trends[1] == "grew"


def test_the_year_before_is_a_year():
    groups, dates = spread_evenly([[999, 28]] * 12 + [[280, 280]] * 12 + [[280, 280]])
    found = changes(groups, 2, dates, "month")
    assert [one.name for one in found.comparisons] == ["month before", "year before"]
    assert str(found.main.span) == "2024"  # not 2023, in which all was different
    assert found.trends == ["", ""]


def test_months_without_a_text_are_passed_over():
    groups, dates = spread_evenly([[280, 280], [0, 0], [0, 0], [280, 280]])
    found = changes(groups, 2, dates, "month")
    assert len(found.comparisons) == 1
    assert found.main.texts.tolist() == [280, 280]
    assert str(found.main.span) == "January 2023"


def test_what_is_told_of_two_comparisons():
    """The year before, unless only the month before is clear."""
    low, high = np.array([0.1, 0.1, -0.1, -0.1]), np.array([0.2, 0.2, 0.1, 0.1])

    def against(low, high):
        return Comparison("", Span(START, START), low, np.full(4, 0.5), (low + high) / 2, low, high)

    year = against(np.array([-0.2, -0.1, 0.1, -0.1]), np.array([-0.1, 0.1, 0.2, 0.1]))
    found = Changes("month", Span(START, START), low, np.full(4, 0.6), (against(low, high), year))
    assert found.clearest.tolist() == [1, 0, 1, 1]
    assert found.trends == ["fell", "grew", "grew", ""]


def test_one_period_no_texts_and_wrong_lengths():
    assert changes(np.zeros(5, dtype=np.int64), 1, pl.Series([START] * 5)) is None
    assert changes(np.zeros(0, dtype=np.int64), 1, pl.Series([], dtype=pl.Date)) is None
    assert changes(np.full(2, -1), 1, pl.Series([START, START + 60 * DAY])) is None
    with pytest.raises(InputError, match="one value per text"):
        changes(np.zeros(5, dtype=np.int64), 1, pl.Series([START]))
    with pytest.raises(InputError, match="every must be"):
        changes(np.zeros(1, dtype=np.int64), 1, pl.Series([START]), "decade")


def test_the_share_of_a_bursty_topic_is_less_certain():
    groups, dates = spread_evenly([[280, 280]] * 3)
    alone = share_limits(groups, 2)
    np.testing.assert_allclose(share_limits(groups, 2, dates), alone)
    burst = pl.Series([START if group else day for group, day in zip(groups, dates, strict=True)])
    low, high = share_limits(groups, 2, burst)
    assert low[1] < alone[0][1]
    assert high[1] > alone[1][1]


# --- the model


TEXTS = ["late parcel", "parcel lost", "refund card", "card refund money"]


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=2).fit(TEXTS * 600)


def test_a_model_gives_a_data_frame(model):
    dates = [dt.date(2024, 1 + i // 800, 1 + i % 28) for i in range(2400)]
    frame = model.changes(dates, "month")
    assert frame["topic"].to_list() == [topic.id for topic in model.topics] * 2
    assert frame["against"].unique(maintain_order=True).to_list() == ["month before", "earlier months"]
    assert frame["texts_before"].to_list() == [400, 400, 800, 800]
    assert set(frame["trend"]) == {""}
    by_class = model.changes(dates, "month", classes=["a", None, "b", "b"] * 600)
    assert by_class["class"].to_list() == ["a", "b"] * 2
    assert by_class["texts"].to_list() == [200, 400] * 2
    assert len(model.changes(dates[:1] * 2400)) == 0
    assert model.changes(dates[:1] * 2400).columns == frame.columns
    with pytest.raises(InputError, match="one value per text"):
        model.changes(dates, classes=["a"])


def test_terms_of_a_group_are_not_by_chance(model):
    """In months that differ by nothing, no word stands out; a word that comes with a month does."""
    dates = [dt.date(2024, 1 + (i // 4) % 3, 1) for i in range(2400)]
    assert set(map(tuple, model.over_time(dates, "month")["terms"].to_list())) == {()}
    lost = [dt.date(2024, 2 if "lost" in text else 1, 1) for text in TEXTS * 600]
    terms = {
        (model.topics[row["topic"]].terms[0], row["period"].month): row["terms"]
        for row in model.over_time(lost, "month").iter_rows(named=True)
    }
    assert terms["parcel", 2] == ["lost"]
    assert terms["parcel", 1] == ["late"]


# --- simulated files; more of them, and of more kinds, are in docs/reliability.md

FILES = 60
WORST = ["outages in 6 topics, one every two months", "shares differ by 30 % from month to month"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent texts", "the last month ends after 10 days", *WORST])
def test_where_nothing_changed_nothing_is_marked(kind):
    assert rate(QUIET[kind], FILES) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORST)
def test_a_test_that_takes_texts_as_independent_would_not_do(kind):
    assert plain_rate(QUIET[kind], 10) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("12 months", 1_500),
        ("24 weeks (texts per week)", 1_500),
        ("12 months, outages in 6 other topics", 3_000),
    ],
)
def test_a_doubling_is_found(kind, texts):
    assert rate(replace(RISES[kind], texts=texts), FILES) >= 0.95
