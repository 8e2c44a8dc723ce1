"""Misspelt words: found as a literal search finds them, and counted as what they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import TopicModel, Vectorizer
from coterie.corpus.spelling import Speller, is_slip

LETTERS = "abé"


def listed(typos):
    """Row, column and spelling of each."""
    spelled = [typos.spellings[number] for number in typos.numbers]
    return list(zip(typos.rows.tolist(), typos.columns.tolist(), spelled, strict=True))


def slips(word: str) -> set[str]:
    """Everything one slip inside a word can make of it, written down one by one."""
    made = set()
    for at in range(1, len(word) - 1):
        if word[at] == word[at - 1] and len(word) - 1 >= 5:
            made.add(word[:at] + word[at + 1 :])
        if len(word) - 1 >= 7:
            made.add(word[:at] + word[at + 1 :])
        if len(word) >= 8:
            made |= {word[:at] + letter + word[at + 1 :] for letter in LETTERS}
        if at + 2 < len(word) and len(word) >= 6:
            made.add(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    for at in range(1, len(word)):
        for letter in LETTERS:
            if len(word) + 1 >= 7 or (letter in (word[at - 1], word[at]) and len(word) + 1 >= 5):
                made.add(word[:at] + letter + word[at:])
    return {other for other in made - {word} if other[0] == word[0] and other[-1] == word[-1]}


words = st.text(LETTERS, min_size=4, max_size=10)


@settings(max_examples=300)
@given(st.lists(words, min_size=1, max_size=8, unique=True), words, st.randoms())
def test_a_word_is_found_as_a_literal_search_finds_it(known, written, random):
    known = sorted(word for word in known if len(word) >= 5)
    if known and random.random() < 0.7:  # mostly something that is near
        written = random.choice(sorted(slips(random.choice(known))) or [written])
    meant = [number for number, word in enumerate(known) if written in slips(word)]
    speller = Speller(tuple(known), np.arange(len(known)))
    assert speller.meant(written) == (meant[0] if len(meant) == 1 else -1)
    together = Speller(tuple(known), np.zeros(len(known), dtype=int))  # forms of one term: no choice to make
    assert together.meant(written) == (meant[0] if meant else -1)


@given(words, words)
def test_a_slip_has_two_ends_that_are_right(one, other):
    if is_slip(one, other):
        assert one != other
        assert one[0] == other[0]
        assert one[-1] == other[-1]


TEXTS = ["my parcel did not arrive", "when will my parcel arrive", "exchange rate for my account"] * 5


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("it didnt arive", "arive → arrive"),
        ("Exhcange it", "exhcange → exchange"),
        ("an ACOUNT", "acount → account"),
    ],
)
def test_fit_and_transform_agree(text, spelling):
    written = spelling.split(" → ")[1]
    vectorizer = Vectorizer(min_df=2, fix_typos=True)
    corpus = vectorizer.fit_corpus([*TEXTS, text])
    counted = corpus.unfolded().toarray()
    column = list(vectorizer.vocabulary_.display).index(written)
    assert counted[-1, column] == 1
    again, typos = vectorizer.counts_and_typos([*TEXTS, text])
    np.testing.assert_array_equal(again.toarray(), counted)
    assert listed(typos) == [(len(TEXTS), column, spelling)]
    assert listed(corpus.typos) == [(corpus.rows[-1], column, spelling)]
    plain = Vectorizer(min_df=2).fit([*TEXTS, text])
    assert not plain.transform([text]).toarray()[0, column]


def test_what_could_be_two_words_is_none():
    texts = ["planning a station"] * 5 + ["planting a station"] * 5
    vectorizer = Vectorizer(min_df=2, stem=False, fix_typos=True).fit([*texts, "plannting"])
    assert vectorizer.transform(["plannting"]).nnz == 0
    assert vectorizer.transform(["plantting"]).nnz == 1


def test_tokens_are_never_misspelt():
    vectorizer = Vectorizer(min_df=2, fix_typos=True).fit([text.split() for text in TEXTS])
    assert vectorizer.transform([["arive"]]).nnz == 0


@settings(max_examples=15, deadline=None)
@given(
    st.permutations(["it didnt arive", "arive arived", "exhcange my acount", "reiceve exchange", "arrive"])
)
def test_order_and_batches_change_nothing(more):
    vectorizer = Vectorizer(min_df=2, fix_typos=True)
    corpus = vectorizer.fit_corpus([*more, *TEXTS])
    other = Vectorizer(min_df=2, fix_typos=True).fit_corpus([*TEXTS, *sorted(more)])
    assert corpus.vocabulary.terms == other.vocabulary.terms
    assert listed(corpus.typos) == listed(other.typos)
    together, typos = vectorizer.counts_and_typos(more)
    for row, text in enumerate(more):
        alone, found = vectorizer.counts_and_typos([text])
        assert (alone != together[row]).nnz == 0
        assert [spelling for _, _, spelling in listed(found)] == [
            s for at, _, s in listed(typos) if at == row
        ]
        assert listed(typos.at(np.array([row]))) == listed(found)


def test_reasons_show_both_spellings_also_after_loading(tmp_path):
    texts = [*TEXTS, "the parcel did not arive"]
    model = TopicModel(n_topics=2).fit(texts)
    asked = ["parcel didnt arive", "an arival", "arrive"]
    reasons = [str(reason) for reason in model.assign(asked).reasons]
    assert "arive → arrive" in reasons[0]
    assert "→" not in reasons[1] + reasons[2]
    assert model.assign(asked).frame()["reason"].to_list() == reasons
    model.save(tmp_path / "model")
    loaded = TopicModel.load(tmp_path / "model")
    assert [str(reason) for reason in loaded.assign(asked).reasons] == reasons
    np.testing.assert_array_equal(model.predict(texts), model.labels_)
