"""Texts as they come: closings, notices and markup make no topics, in a fit, a file and a run."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from topic_texts import planted_texts

from coterie import TopicModel, open_run
from coterie.cli import main
from coterie.errors import InputError
from coterie.explore.marks import Locator
from coterie.metrics import accuracy

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from boilerplate import HEAVY, VARIANTS, made_of_it, planted

CLOSING = "Kind regards, Zoe Unheard"


@pytest.fixture(scope="module")
def texts():
    clean, _ = planted_texts(400, 4, noise=1)
    return planted(clean, HEAVY)


@pytest.fixture(scope="module")
def model(texts):
    return TopicModel(4).fit(texts)


def test_no_topic_is_made_of_boilerplate(texts, model):
    assert made_of_it(model) == 0
    assert "regards" not in model.vectorizer_.vocabulary_.terms
    assert made_of_it(TopicModel(8, keep_boilerplate=True).fit(texts)) > 0


def test_new_texts_lose_it_too(model):
    bare, closed = "refund the invoice card", f"<p>refund the invoice&nbsp;card</p>\n{CLOSING}"
    one, other = model.assign([bare])[0], model.assign([closed])[0]
    assert (one.topic, one.confidence, one.reason) == (other.topic, other.confidence, other.reason)
    assert np.array_equal(model.transform([bare]), model.transform([closed]))


def test_a_loaded_model_leaves_out_the_same(model, texts, tmp_path):
    model.save(tmp_path / "model")
    loaded = TopicModel.load(tmp_path / "model")
    assert loaded.boilerplate_ == model.boilerplate_
    assert loaded.keep_boilerplate is False
    assert np.array_equal(loaded.transform(texts), model.transform(texts))
    assert np.array_equal(loaded.predict(texts), model.labels_)


def test_order_does_not_matter(texts, model):
    turned = TopicModel(4).fit(texts[::-1])
    assert turned.boilerplate_ == model.boilerplate_
    assert np.array_equal(turned.labels_[::-1], model.labels_)


def test_marked_words_stand_where_they_are_read(model):
    text = f"<p>caf&eacute; refund</p> the invoice\n{CLOSING} refund card invoice"
    located = Locator(model.vectorizer_).locate([text])[0]
    assert [text[word.start : word.end] for word in located if word.column >= 0][:2] == ["refund", "invoice"]
    ended = f"<div class='x'>refund</div> the invoice\n{CLOSING}"
    assert [ended[word.start : word.end] for word in Locator(model.vectorizer_).locate([ended])[0]] == [
        "refund",
        "invoice",
    ]


def test_a_wrong_value_is_refused():
    with pytest.raises(InputError, match="keep_boilerplate must be True or False"):
        TopicModel(2, keep_boilerplate="no").fit(["late parcel"] * 4)


def test_fit_says_what_was_left_out_and_remembers_what_was_asked(texts, tmp_path):
    file, folder = tmp_path / "tickets.json", tmp_path / "run"
    file.write_text(json.dumps([{"text": text} for text in texts]), encoding="utf-8")

    def fit(*options):
        done = CliRunner().invoke(main, ["fit", str(file), "--topics", "4", "--out", str(folder), *options])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    said = fit()
    assert "“kind regards” with the name after it" in said
    assert "--keep-boilerplate" in said
    run = open_run(folder)
    assert run.info["parameters"]["keep_boilerplate"] is False
    assert run.with_texts().boilerplate_ == run.model.boilerplate_
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "recur in texts about different things" in report
    topics = (folder / "topics.csv").read_text(encoding="utf-8")
    assert "<p>" not in topics
    assert "&nbsp;" not in topics
    for options, kept in ((["--keep-boilerplate"], True), ([], True), (["--fresh"], False)):
        assert ("kind regards" not in fit(*options)) == kept
        assert open_run(folder).info["parameters"]["keep_boilerplate"] is kept


def test_planted_parts_change_little_in_some_texts(dataset):
    data = dataset("banking77")
    chosen = np.random.default_rng(0).permutation(len(data))[:1500]
    texts, labels = [data.texts[at] for at in chosen], [data.labels[at] for at in chosen]
    clean, dirty = (TopicModel(40).fit(some) for some in (texts, planted(texts, HEAVY)))
    assert made_of_it(dirty) == 0
    assert accuracy(labels, dirty.labels_) > accuracy(labels, clean.labels_) - 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variants"), [("banking77", VARIANTS), ("clinc150", [HEAVY])])
def test_planted_parts_change_little(dataset, name, variants):
    data = dataset(name)
    k = len(set(data.labels))
    fixed, free = TopicModel(k).fit(data.texts), TopicModel().fit(data.texts)
    best, many = accuracy(data.labels, fixed.labels_), len(free.topics)
    for dirt in variants:  # all of both sets: benchmarks/boilerplate.py
        texts = planted(data.texts, dirt)
        fixed, free = TopicModel(k).fit(texts), TopicModel().fit(texts)
        assert made_of_it(fixed) == made_of_it(free) == 0
        # the estimate itself varies by about this much with the order of the same counts
        assert abs(len(free.topics) - many) < 0.25 * many
        assert accuracy(data.labels, fixed.labels_) >= best - 0.02
