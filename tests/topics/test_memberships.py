"""Memberships that agree with confidence: for any numbers, and in a fitted model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import TopicModel
from coterie.topics.memberships import calibrated


def drawn(seed, n_rows, n_topics, sharpness):
    """Memberships of any sharpness, some of them zero, and confidences."""
    rng = np.random.default_rng(seed)
    memberships = rng.dirichlet(np.full(n_topics, sharpness), n_rows)
    memberships[rng.random(n_rows) < 0.1] = 0.0
    confidence = np.where(memberships.any(axis=1), np.round(rng.random(n_rows), 6), 0.0)
    return memberships, memberships.argmax(axis=1), confidence


texts = st.builds(
    drawn, st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 12), st.sampled_from([0.05, 0.5, 5.0])
)


@given(texts)
def test_rows_sum_to_1_and_the_largest_is_the_confidence(texts):
    memberships, topics, confidence = texts
    found = calibrated(*texts)
    known = memberships.any(axis=1)
    np.testing.assert_allclose(found.sum(axis=1), known.astype(float), atol=1e-12)
    assert (found >= 0).all()
    np.testing.assert_array_equal(found.argmax(axis=1), topics)
    used = np.maximum((memberships > 0).sum(axis=1), 1)
    lead = np.sort(memberships, axis=1)
    apart = lead[:, -1] > 1.01 * lead[:, -2] if memberships.shape[1] > 1 else known
    reachable = known & apart & (confidence > 1.2 / used) & (used > 1)
    np.testing.assert_allclose(found.max(axis=1)[reachable], confidence[reachable], atol=1e-6)
    low = known & (confidence <= 1 / used)
    assert (found.max(axis=1, initial=0.0)[low] >= 1 / used[low] - 1e-12).all()


@given(texts)
def test_the_order_stays(texts):
    memberships = texts[0]
    for before, after in zip(memberships, calibrated(*texts), strict=True):
        assert (np.diff(after[np.argsort(before, kind="stable")]) >= -1e-12).all()


@given(texts)
def test_alone_as_in_a_batch(texts):
    together = calibrated(*texts)
    for row in range(len(together)):
        np.testing.assert_array_equal(
            calibrated(*(part[row : row + 1] for part in texts)), together[[row]], strict=True
        )


@given(texts)
def test_power_is_what_it_says(texts):
    memberships, _, confidence = texts
    for before, after, wanted in zip(memberships, calibrated(*texts), confidence, strict=True):
        if before.any() and 0 < wanted < 1 and (before > 1e-200).all() and after.min() > 1e-200:
            pairs = np.log(after / after.max()), np.log(before / before.max())
            power = pairs[0].min() / pairs[1].min() if pairs[1].min() else 1.0
            np.testing.assert_allclose(pairs[0], power * pairs[1], rtol=1e-6, atol=1e-9)


@given(texts)
def test_surer_is_never_less(texts):
    memberships, topics, confidence = texts
    more = np.where(confidence > 0, confidence + 0.5 * (1 - confidence), 0.0)
    low, high = calibrated(memberships, topics, confidence), calibrated(memberships, topics, more)
    assert (high.max(axis=1, initial=0.0) >= low.max(axis=1, initial=0.0) - 1e-9).all()


def test_ties_stay_ties_and_a_pinned_text_is_in_one_topic():
    memberships = np.array([[0.4, 0.4, 0.2], [0.7, 0.2, 0.1]])
    found = calibrated(memberships, np.array([0, 2]), np.array([0.9, 1.0]))
    np.testing.assert_allclose(found[0], [0.5, 0.5, 0.0], atol=1e-9)
    np.testing.assert_array_equal(found[1], [0, 0, 1])


TOPICS = (
    ["parcel", "late", "courier", "tracking", "doorstep"],
    ["invoice", "refund", "charge", "card", "receipt"],
    ["password", "login", "account", "reset", "email"],
)


@pytest.fixture(scope="module")
def model():
    texts = [
        " ".join(TOPICS[n % 3][(n // 3 + step * (n % 4 + 1)) % 5] for step in range(3)) for n in range(90)
    ]
    return TopicModel(n_topics=3).fit(texts)


def test_a_model_never_contradicts_itself(model, tmp_path):
    asked = [
        "parcel late",
        "refund the card",
        "login parcel invoice",
        "",
        "nothing known",
        "reset password email",
    ]
    model.edits.pin("refund the card", model.predict(["parcel late"])[0])
    model.save(tmp_path / "model")
    for one in (model, TopicModel.load(tmp_path / "model")):
        shares, found = one.transform(asked), one.assign(asked)
        ids = np.array([topic.id for topic in one.topics])
        known = shares.any(axis=1)
        assert known.tolist() == [True, True, True, False, False, True]
        assert (found.confidence[~known] == 0).all()
        np.testing.assert_array_equal(ids[shares.argmax(axis=1)][known], found.topic[known])
        expected = np.maximum(found.confidence[known], 1 / 3)
        np.testing.assert_allclose(shares.max(axis=1)[known], expected, atol=0.01)
        second = np.argsort(-shares, axis=1, kind="stable")[:, 1]
        unpinned = known & (shares.max(axis=1) < 1)
        np.testing.assert_array_equal(ids[second][unpinned], found.second[unpinned])
    model.edits.undo()
