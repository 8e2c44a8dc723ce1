"""Coherence against gensim and against counting by hand, its properties, and what gensim answers with nan."""

import math
import time
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from gensim.corpora import Dictionary
from gensim.models import CoherenceModel
from gensim.topic_coherence.text_analysis import WordOccurrenceAccumulator
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.corpus.sequences import Sequences
from coterie.errors import InputError
from coterie.metrics import coherence, diversity, windows

MEASURES = ["u_mass", "c_uci", "c_npmi", "c_v"]

texts_of = st.lists(st.text("abcdefz", max_size=14).map(list), min_size=1, max_size=8)
topics_of = st.lists(
    st.lists(st.sampled_from("abcdef"), min_size=2, max_size=5, unique=True), min_size=1, max_size=3
)
widths = st.sampled_from([None, 1, 2, 3, 5])


def by_gensim(topics, texts, measure, window=None):
    """Coherence of each topic by gensim, as it is: nan and infinite values and all."""
    model = CoherenceModel(
        topics=topics,
        texts=texts,
        dictionary=Dictionary([*texts, *topics]),  # gensim drops terms that are not in the dictionary
        coherence=measure,
        window_size=window,
        topn=max(map(len, topics)),
        processes=1,
    )
    with np.errstate(all="ignore"):
        return np.array(model.get_coherence_per_topic())


def look_at_the_whole_window(accumulator, window, _text):
    """In place of gensim's shortcut, which forgets a repeated word when its first occurrence leaves."""
    accumulator._uniq_words[:] = False
    accumulator._uniq_words[np.unique(window)] = True


@pytest.fixture
def gensim_without_shortcut(monkeypatch):
    monkeypatch.setattr(WordOccurrenceAccumulator, "_slide_window", look_at_the_whole_window)


@st.composite
def seen_topics_and_texts(draw):
    texts = draw(texts_of.filter(lambda texts: len(set().union(*texts)) > 1))
    seen = st.sampled_from(sorted(set().union(*texts)))
    topics = draw(st.lists(st.lists(seen, min_size=2, max_size=5, unique=True), min_size=1, max_size=3))
    return topics, texts


def topics_of_classes(snippets, n_terms):
    frequent = defaultdict(Counter)
    for label, text in zip(snippets.labels, snippets.texts, strict=True):
        frequent[label].update(sorted(set(text)))
    return [[term for term, _ in counts.most_common(n_terms)] for counts in frequent.values()]


# -- against gensim


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@given(corpus=seen_topics_and_texts(), window=widths)
@example(corpus=([["a", "b"]], [list("aab"), list("azazbza")]), window=2)  # repeated within a window
@example(corpus=([["a", "b"]], [[], list("ab"), []]), window=None)  # empty texts are windows, too
@example(corpus=([["a", "b"]], [list("ab")]), window=None)  # terms in every window
@settings(max_examples=60, deadline=None)
def test_equal_to_gensim(measure, corpus, window):
    window = None if measure == "u_mass" else window
    mine = coherence(*corpus, measure, window=window, per_topic=True)
    theirs = by_gensim(*corpus, measure, window)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("window", [None, 5, 25])
@pytest.mark.parametrize("measure", ["c_uci", "c_npmi", "c_v"])
def test_equal_to_gensim_on_real_texts(measure, window, snippets):
    topics = topics_of_classes(snippets, 10)
    mine = coherence(topics, snippets.texts, measure, window=window, per_topic=True)
    theirs = by_gensim(topics, snippets.texts, measure, window)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)


def test_u_mass_and_the_mean_equal_gensim_on_real_texts(snippets):
    topics = topics_of_classes(snippets, 10)
    theirs = by_gensim(topics, snippets.texts, "u_mass")
    assert coherence(topics, snippets.texts, "u_mass") == pytest.approx(theirs.mean(), abs=1e-9)


def test_average_pmi_of_thirty_terms_equals_gensim(snippets):
    topics = topics_of_classes(snippets, 40)
    theirs = by_gensim([topic[:30] for topic in topics], snippets.texts, "c_uci")
    assert coherence(topics, snippets.texts, "pmi", top_n=30) == pytest.approx(theirs.mean(), abs=1e-9)
    assert coherence(topics, snippets.texts, "pmi", top_n=40) != pytest.approx(theirs.mean(), abs=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("gensim_without_shortcut")
@pytest.mark.parametrize("measure", ["c_uci", "c_npmi", "c_v"])
def test_boolean_presence_equals_gensim_without_its_shortcut(measure, snippets):
    topics = topics_of_classes(snippets, 10)
    texts = [[token for text in snippets.texts[i::50] for token in text] for i in range(50)]
    literal = coherence(topics, texts, measure, per_topic=True, as_gensim=False)
    np.testing.assert_allclose(literal, by_gensim(topics, texts, measure), rtol=0, atol=1e-9)
    assert np.abs(literal - coherence(topics, texts, measure, per_topic=True)).max() > 1e-3


def test_gensim_still_forgets_repeated_words():
    """If this fails, gensim has mended its counting, and `as_gensim` is no longer needed."""
    texts, topics = [list("aab"), list("abz")], [["a", "b"]]
    assert by_gensim(topics, texts, "c_uci", 2)[0] == pytest.approx(coherence(topics, texts, "pmi", window=2))
    # windows aa, ab, ab, bz: P(a) = 3/4, P(b) = 3/4, P(a, b) = 2/4; gensim does not see the a of the second
    literal = coherence(topics, texts, "pmi", window=2, as_gensim=False)
    assert literal == pytest.approx(math.log(2 / 4 / (3 / 4 * 3 / 4)))
    assert by_gensim(topics, texts, "c_uci", 2)[0] == pytest.approx(math.log(1 / 4 / (2 / 4 * 3 / 4)))


# -- against counting by hand


def windows_by_hand(text, width):
    return [set(text[i : i + width]) for i in range(max(len(text) - width + 1, 1))]


@given(topics=topics_of, texts=texts_of, width=st.integers(1, 16))
@settings(max_examples=100, deadline=None)
def test_windows_are_counted_as_by_hand(topics, texts, width):
    all_windows = [window for text in texts for window in windows_by_hand(text, width)]
    n = len(all_windows)

    def p(*terms):
        return sum(window.issuperset(terms) for window in all_windows) / n

    def pmi(i, j):
        apart = (p(i) or 1 / n) * (p(j) or 1 / n)
        return math.log((p(i, j) + 1e-12) / apart)

    expected = [np.mean([pmi(i, j) for i, j in combinations(topic, 2)]) for topic in topics]
    mine = coherence(topics, texts, "pmi", window=width, per_topic=True, as_gensim=False)
    np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-9)


@given(topics=topics_of, texts=texts_of, measure=st.sampled_from(MEASURES))
@settings(max_examples=40, deadline=None)
def test_repeats_matter_only_in_texts_longer_than_the_window(topics, texts, measure):
    assert coherence(topics, texts, measure, window=14) == coherence(
        topics, texts, measure, window=14, as_gensim=False
    )


def test_values_checked_by_eye():
    texts = [["a", "b"], ["a", "b"], ["a"], ["c"]]  # P(a) = 3/4, P(b) = 2/4, P(a, b) = 2/4
    assert coherence([["a", "b"]], texts, "u_mass") == pytest.approx(math.log(2 / 3))
    assert coherence([["b", "a"]], texts, "u_mass") == pytest.approx(0, abs=1e-9)
    assert coherence([["a", "b"]], texts, "c_uci") == pytest.approx(math.log(4 / 3))
    assert coherence([["a", "b"]], texts, "c_npmi") == pytest.approx(math.log(4 / 3) / math.log(2))


def test_window_of_u_mass_is_the_text_unless_one_is_given():
    texts = [list("azb"), list("ab")]
    assert coherence([["a", "b"]], texts, "u_mass") == pytest.approx(0, abs=1e-9)
    assert coherence([["a", "b"]], texts, "u_mass", window=2) == pytest.approx(math.log(1 / 2))


# -- properties


@given(data=st.data(), topics=topics_of, texts=texts_of, measure=st.sampled_from(MEASURES), window=widths)
@settings(max_examples=60, deadline=None)
def test_order_of_texts_does_not_matter(data, topics, texts, measure, window):
    shuffled = data.draw(st.permutations(texts))
    assert coherence(topics, texts, measure, window=window) == coherence(
        topics, shuffled, measure, window=window
    )


@given(data=st.data(), topics=topics_of, texts=texts_of, measure=st.sampled_from(MEASURES), window=widths)
@settings(max_examples=60, deadline=None)
def test_weight_n_is_the_text_n_times(data, topics, texts, measure, window):
    counts = st.lists(st.integers(0, 4), min_size=len(texts), max_size=len(texts)).filter(any)
    weights = data.draw(counts)
    often = [text for text, weight in zip(texts, weights, strict=True) for _ in range(weight)]
    folded = coherence(topics, texts, measure, window=window, weights=weights)
    assert folded == coherence(topics, often, measure, window=window)


@given(topics=topics_of, texts=texts_of, measure=st.sampled_from(MEASURES), window=widths)
@settings(max_examples=60, deadline=None)
def test_sequences_are_lists_of_tokens(topics, texts, measure, window):
    terms = ["c", "a", "e", "f", "b", "d"]  # z is outside the vocabulary and takes up its place
    sequences = Sequences.from_tokens(texts, {term: number for number, term in enumerate(terms)})
    assert coherence(topics, (sequences, terms), measure, window=window) == coherence(
        topics, texts, measure, window=window
    )


@given(topics=topics_of, texts=texts_of, window=widths, entries=st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_blocks_do_not_change_the_result(topics, texts, window, entries):
    at_once = coherence(topics, texts, "c_npmi", window=window)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "ENTRIES_PER_BLOCK", entries)
        assert coherence(topics, texts, "c_npmi", window=window) == at_once


@given(topics=topics_of, texts=texts_of, measure=st.sampled_from(MEASURES))
@settings(max_examples=40, deadline=None)
def test_a_topic_is_judged_alone(topics, texts, measure):
    together = coherence(topics, texts, measure, per_topic=True)
    assert together.tolist() == [coherence([topic], texts, measure) for topic in topics]
    assert coherence(topics, texts, measure) == together.mean()


def test_blocks_are_bounded_and_cover_all(monkeypatch):
    random = np.random.default_rng(0)
    texts = Sequences(random.integers(0, 50, 20_000).astype(np.int32), np.array([0, 20_000]))
    spans = windows.spans_of_presence(texts, 110, as_gensim=False)
    monkeypatch.setattr(windows, "ENTRIES_PER_BLOCK", 10_000)
    cuts = list(windows.blocks(spans))
    sizes = [(part.last - part.first + 1).sum() for part in (spans.between(*cut) for cut in cuts)]
    assert len(cuts) > 50
    assert max(sizes) < 10_000 + 50 * 110  # a block, and what reaches into it from the one before
    assert sum(sizes) == (spans.last - spans.first + 1).sum()


def test_many_short_texts_are_quick():
    random = np.random.default_rng(0)
    texts = random.zipf(1.3, (20_000, 10)).clip(max=5_000).astype(str).tolist()
    topics = [[str(number) for number in range(start, 500, 50)] for start in range(1, 51)]
    begin = time.process_time()
    coherence(topics, texts, "c_v")
    assert time.process_time() - begin < 1  # about 0.05 s


# -- what gensim answers with nan, and other odd input


@pytest.mark.parametrize("measure", MEASURES)
def test_unseen_term_is_as_in_one_window_alone(measure):
    texts = [list("ab"), list("ab"), list("a"), list("c")]
    once_alone = [*texts[:3], ["unseen"]]  # c is in no topic: its window may as well hold the other term
    topics = [["a", "unseen", "b"], ["unseen", "a"]]
    mine = coherence(topics, texts, measure, per_topic=True)
    assert np.isfinite(mine).all()
    np.testing.assert_allclose(mine, by_gensim(topics, once_alone, measure), rtol=0, atol=1e-9)


@given(
    topics=st.lists(st.lists(st.sampled_from("abxy"), max_size=4), min_size=1, max_size=3),
    texts=st.lists(st.text("abz", max_size=6).map(list), min_size=1, max_size=4),
    measure=st.sampled_from(MEASURES),
    window=widths,
)
@example(topics=[["x", "y"]], texts=[[]], measure="c_v", window=None)
@example(topics=[["a", "y"]], texts=[["a"]], measure="c_v", window=None)
@settings(deadline=None)
def test_always_finite(topics, texts, measure, window):
    values = coherence(topics, texts, measure, window=window, per_topic=True)
    assert values.shape == (len(topics),)
    assert np.isfinite(values).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_topic_of_no_or_one_term_is_zero(measure):
    topics = [[], ["a"], ["a", "a"], ["unseen"], ["a", "b"]]
    values = coherence(topics, [list("ab"), list("az"), list("z")], measure, per_topic=True)
    assert values[:4].tolist() == [0, 0, 0, 0]
    assert values[4] != 0
    assert coherence([[]], [[]], measure) == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_term_given_twice_counts_once(measure):
    texts = [list("abc"), list("ab"), list("ac"), list("z")]
    assert coherence([["a", "b", "a", "c"]], texts, measure, top_n=3) == coherence(
        [["a", "b", "c"]], texts, measure
    )


def test_zero_vector_has_cosine_zero():
    from coterie.metrics.coherence import c_v, npmi

    p = np.array([[0.5, 0.25], [0.25, 0.5]])
    assert npmi(np.array([[1 - 1e-12]]))[0, 0] == 0
    assert 0 < c_v(p) <= 1
    assert c_v(np.full((2, 2), 1 - 1e-12)) == 0


def test_large_weights_are_counted_exactly():
    texts = [list("ab"), list("a"), list("z")]
    values = [coherence([["a", "b"]], texts, m, weights=[10**12, 1, 10**12]) for m in MEASURES]
    assert np.isfinite(values).all()


def test_aliases():
    texts, topics = [list("ab"), list("a"), list("z")], [["a", "b"]]
    assert coherence(topics, texts, "pmi") == coherence(topics, texts, "c_uci")
    assert coherence(topics, texts, "npmi") == coherence(topics, texts, "c_npmi")
    assert coherence(topics, texts) == coherence(topics, texts, "c_v")


def test_tokens_may_come_in_any_container():
    texts, topics = [list("ab"), list("a"), list("z")], [["a", "b"]]
    expected = coherence(topics, texts, "npmi")
    assert coherence((tuple(t) for t in topics), (np.array(t) for t in texts), "npmi") == expected
    assert coherence(np.array(topics), tuple(map(tuple, texts)), "npmi") == expected
    two = coherence(topics, (["a", "b"], ["z"]), "npmi")  # a pair of texts is not a pair (Sequences, terms)
    assert two == coherence(topics, [["a", "b"], ["z"]], "npmi")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": []}, "topics must contain at least one topic, got none"),
        ({"topics": ["ab"]}, "each of topics must be a list of terms, got the string 'ab'"),
        ({"texts": []}, "texts must contain at least one text, got none"),
        ({"texts": ["a b"]}, "each of texts must be a list of tokens, got the string 'a b'"),
        (
            {"texts": (Sequences.from_tokens([["a", "b"]], {"a": 0, "b": 1}), ["a"])},
            "texts must name each of the 2 ids of the Sequences, got 1 terms",
        ),
        ({"texts": (Sequences.concatenate([]), [])}, "texts must contain at least one text, got none"),
        ({"measure": "cv"}, "measure must be one of u_mass, c_uci, c_npmi, c_v, pmi, npmi, got 'cv'"),
        ({"top_n": 0}, "top_n must be a whole number of at least 1, got 0"),
        ({"window": 2.5}, "window must be a whole number of at least 1, got 2.5"),
        ({"weights": [1, 2]}, r"weights must contain one number for each of the 1 texts, got shape \(2,\)"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        coherence(**{"topics": [["a", "b"]], "texts": [["a", "b"]], **arguments})


# -- diversity


def test_diversity_is_the_share_of_distinct_terms():
    assert diversity([["a", "b"], ["c", "d"]]) == 1.0
    assert diversity([["a", "b"], ["a", "b"]]) == 0.5
    assert diversity([["a", "b", "c"], ["a", "d", "c"]], top_n=2) == 0.75
    assert diversity([["a"] * 4]) == 0.25
    assert diversity([["a", "b"], []]) == 1.0
    assert diversity([[], []]) == 0.0


def test_diversity_looks_at_25_terms():
    terms = [str(number) for number in range(30)]
    assert diversity([terms, terms[25:] + terms[:20]]) == 30 / 50


def test_diversity_errors_name_the_argument():
    with pytest.raises(InputError, match=r"^topics must contain at least one topic, got none$"):
        diversity([])
    with pytest.raises(InputError, match=r"^top_n must be a whole number of at least 1, got 0$"):
        diversity([["a"]], top_n=0)
    with pytest.raises(InputError, match=r"^each of topics must be a list of terms, got the string 'cat'$"):
        diversity(["cat"])
