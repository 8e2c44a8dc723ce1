import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, diags, hstack, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import degenerate_inputs, same_topics
from coterie import weights
from coterie.cluster import Coterie, NumberOfTopics, SphericalKMeans
from coterie.cluster import coterie as coterie_module
from coterie.cluster import refining as refining_module
from coterie.cluster import texts as texts_module
from coterie.cluster.leave_one_out import LeaveOneOut
from coterie.cluster.wording import CANDIDATES
from coterie.corpus import Vectorizer
from coterie.engines import Block, DiskEngine, MemoryEngine, as_engine, write_blocks
from coterie.errors import InputError
from coterie.metrics import nmi
from matrices import count_matrices
from planted import planted

few = settings(max_examples=40)
REFUSED = {"check_clustering": "feeds negative numbers, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([Coterie(n_topics=3, restarts=2)], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def small(**given):
    return Coterie(**{"n_topics": 3, "restarts": 1, **given})


def learned(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def assert_same(one, two):
    assert learned(one).keys() == learned(two).keys()
    for name, value in learned(one).items():
        np.testing.assert_array_equal(value, learned(two)[name], err_msg=name)  # to the last bit


def blocks_of(X, row_weights, size):
    return [Block(X[a : a + size], row_weights[a : a + size], a) for a in range(0, X.shape[0], size)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_topics_are_found(seed):
    X, truth = planted(seed=seed)
    model = Coterie(5, restarts=3).fit(X)
    assert nmi(truth, model.labels_) > 0.95
    assert set(model.labels_) == set(range(5))
    assert model.share_ == 0.0
    assert model.number_of_topics_ is None


def test_planted_topics_of_uneven_sizes_are_found():
    X, truth = planted(600, 4, shares=[0.6, 0.25, 0.1, 0.05])
    assert nmi(truth, Coterie(4, restarts=3).fit_predict(X)) > 0.95


def test_the_words_of_a_topic_stand_first():
    X, truth = planted(own=8)
    model = Coterie(5, restarts=3).fit(X)
    assert model.topic_terms_.shape == (5, min(CANDIDATES, X.shape[1]))
    for topic, terms in enumerate(model.topic_terms_):
        mine = np.bincount(truth[model.labels_ == topic]).argmax()
        assert set(terms[:8]) == set(range(8 * mine, 8 * mine + 8))


def test_components_are_shares_of_terms_in_the_texts_of_a_topic():
    X, _ = planted(120, 3)
    row_weights = np.arange(120) % 3 + 1.0
    model = small().fit(X, sample_weight=row_weights)
    weighted = diags(row_weights) @ X
    for topic in range(3):
        terms = np.asarray(weighted[model.labels_ == topic].sum(axis=0)).ravel()
        np.testing.assert_allclose(model.components_[topic], terms / terms.sum(), rtol=1e-9)
    everywhere = np.asarray(weighted.sum(axis=0)).ravel()
    np.testing.assert_allclose(model.term_shares_, everywhere / everywhere.sum(), rtol=1e-9)


def test_the_seed_decides_the_starts():
    X, _ = planted(80, 5, words=2, noise=3)
    objectives = [small(n_topics=5, random_state=seed).fit(X).labels_ for seed in range(4)]
    assert not all(same_topics(objectives[0], other) for other in objectives[1:])
    assert same_topics(objectives[1], small(n_topics=5, random_state=1).fit_predict(X))


@pytest.mark.slow
def test_threads_change_nothing_over_many_blocks(monkeypatch):
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", 31)
    X, _ = planted(noise=3)
    one, two = (
        Coterie(restarts=2).fit(MemoryEngine(blocks_of(X, np.ones(300), 40), threads)) for threads in (1, 2)
    )
    for name, value in learned(one).items():
        if name != "number_of_topics_":
            np.testing.assert_array_equal(value, learned(two)[name], err_msg=name)
    assert one.number_of_topics_.curve == two.number_of_topics_.curve


def test_what_is_told_of_terms_follows_their_columns():
    X, _ = planted(200, 3, noise=2)
    assert len(np.unique(X.toarray(), axis=1).T) == X.shape[1]
    columns = np.random.default_rng(0).permutation(X.shape[1])
    one, two = small().fit(X), small().fit(X[:, columns])
    np.testing.assert_array_equal(columns[two.topic_terms_], one.topic_terms_)
    for name in ("components_", "term_weights_", "term_vectors_", "coefficients_", "term_shares_"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name)[..., columns], err_msg=name)


@pytest.mark.slow
@few
@given(count_matrices(max_rows=12, max_terms=9), st.sampled_from([True, False, "auto"]))
def test_a_fitted_row_gets_its_topic_again_alone_and_in_a_batch(X, refine):
    model = small(refine=refine).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    together = model.transform(X)
    for row in range(len(X)):
        np.testing.assert_allclose(model.transform(X[row : row + 1])[0], together[row], atol=1e-9)
        np.testing.assert_allclose(model.embed(X[row : row + 1])[0], model.embed(X)[row], atol=1e-9)
        assert model.predict(X[row : row + 1])[0] == model.labels_[row]


@pytest.mark.slow
@few
@given(count_matrices(max_rows=12, max_terms=9), st.integers(1, 4))
def test_memberships_sum_to_one_and_nothing_known_belongs_nowhere(X, n_topics):
    model = small(n_topics=n_topics).fit(X)
    shares, known = model.transform(X), (X @ np.abs(model.term_weights_)) > 0
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), known.astype(float), rtol=1e-12)
    np.testing.assert_array_equal(np.where(known, shares.argmax(axis=1), model.fallback_), model.labels_)
    np.testing.assert_array_equal(model.fit_transform(X), shares)


@few
@given(count_matrices(max_rows=12, max_terms=9), st.sampled_from([1, 3, 50]))
def test_every_topic_has_a_text(X, n_topics):
    model = small(n_topics=n_topics).fit(X)
    known = (X @ model.term_weights_) > 0
    assert model.n_topics_ <= n_topics
    if known.any():
        assert set(model.labels_[known]) == set(range(model.n_topics_))
    assert len(model.components_) == len(model.topic_terms_) == len(model.sizes_) == model.n_topics_


def test_more_topics_than_texts_are_not_tried():
    X, _ = planted(60, 3)
    assert_same(small(n_topics=9999).fit(X), small(n_topics=60).fit(X))


def test_texts_in_the_place_of_counts_are_told_from_them():
    with pytest.raises(
        InputError, match=r"got texts; use Vectorizer\(\).fit_transform\(texts\) to get counts for Coterie"
    ):
        small().fit(["late parcel", "refund"])


@pytest.mark.slow
def test_no_structure_is_told():
    X, _ = planted(400, 4)
    tokens = np.random.RandomState(0).permutation(np.repeat(X.indices, X.data.astype(int)))
    rows = np.repeat(np.arange(400), np.asarray(X.sum(axis=1)).ravel().astype(int))
    dealt = csr_matrix((np.ones(len(tokens)), (rows, tokens)), shape=X.shape)
    with pytest.warns(
        UserWarning, match=r"no more structure .* Set the number of topics .* most plausible is"
    ) as caught:
        model = Coterie().fit(dealt)
    assert f" is {' or '.join(map(str, model.number_of_topics_.peaks))}." in str(caught[0].message)
    assert model.n_topics_ == 1


def test_scores_are_those_of_the_fitted_attributes():
    X, _ = planted(120, 3)
    model = small().fit(X)
    weighted = X.toarray() * model.term_weights_
    words = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    text_vectors = X @ model.term_vectors_.T
    text_vectors /= np.linalg.norm(text_vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(model.embed(X), text_vectors, atol=1e-12)
    scores = words @ model.coefficients_.T + text_vectors @ model.axis_coefficients_.T
    odds = np.exp(model.sharpness_ * scores)
    np.testing.assert_allclose(model.transform(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)


def test_rows_without_a_known_word_go_to_the_largest_topic():
    X, _ = planted(300, 3, shares=[0.2, 0.5, 0.3], common=4)
    X = X.toarray()
    X[:, -1], X[:, -2] = 0, 1  # a term nobody has and one that all have
    X[0, -3:] = [1, 1, 0]
    X[1:, -3] = 0  # a term of one text
    model = Coterie(3, restarts=2).fit(X)
    new = np.zeros((4, X.shape[1]))
    new[1, -1] = new[2, -2] = new[3, -3] = 1
    largest = np.bincount(model.labels_).argmax()
    assert model.fallback_ == largest
    assert model.predict(new).tolist() == [largest] * 4
    assert not model.transform(new).any()
    assert not model.embed(new).any()


def test_an_engine_on_disk_gives_the_topics_of_one_in_memory(tmp_path):
    X, truth = planted(noise=2)
    row_weights = np.arange(300) % 3 + 1.0
    write_blocks(tmp_path, blocks_of(X, row_weights, 70))
    disk = Coterie(5, restarts=2).fit(DiskEngine(tmp_path))
    memory = Coterie(5, restarts=2).fit(MemoryEngine(blocks_of(X, row_weights, 70)))
    assert not hasattr(disk, "labels_")
    np.testing.assert_array_equal(disk.predict(DiskEngine(tmp_path)), memory.predict(X))
    np.testing.assert_allclose(disk.transform(DiskEngine(tmp_path)), memory.transform(X), atol=1e-4)
    matrix = Coterie(5, restarts=2).fit(X, sample_weight=row_weights)
    assert nmi(truth, disk.predict(X)) > 0.95
    assert same_topics(matrix.labels_, disk.predict(X))
    np.testing.assert_array_equal(Coterie(5, restarts=2).fit_predict(DiskEngine(tmp_path)), disk.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [3, "auto"])
@pytest.mark.parametrize("refine", ["auto", True, False])
@pytest.mark.parametrize(
    ("name", "X"), degenerate_inputs(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_inputs_at_the_edge_of_sense(name, X, refine, n_topics):
    model = Coterie(n_topics, restarts=2, refine=refine).fit(X)
    assert model.labels_.shape == (X.shape[0],)
    for values in learned(model).values():
        if isinstance(values, np.ndarray):
            assert np.isfinite(values).all()
    shares = model.transform(X)
    assert np.isfinite(shares).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    rows, there = X.toarray(), X.getnnz(axis=1) > 0
    for a in np.flatnonzero(there):
        for b in np.flatnonzero(there):
            if (rows[a] == rows[b]).all():
                assert model.labels_[a] == model.labels_[b], name
    assert model.components_.shape == (model.n_topics_, X.shape[1])
    assert n_topics == "auto" or 1 <= model.n_topics_ <= n_topics


@pytest.mark.slow
@few
@given(count_matrices(max_rows=12, max_terms=9), st.sampled_from(["auto", 1, 2, 20]), st.integers(1, 12))
def test_any_counts_are_answered(X, n_topics, dimensions):
    model = Coterie(n_topics, dimensions=dimensions, restarts=1).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert ((model.labels_ >= 0) & (model.labels_ < len(model.components_))).all()
    assert model.embed(X).shape == (len(X), model.term_vectors_.shape[0])


@pytest.mark.slow
def test_the_number_of_topics_can_be_read_from_the_texts():
    X, truth = planted(900, 6, own=15, noise=2)
    model = Coterie(restarts=3).fit(X)
    chosen = model.number_of_topics_
    assert isinstance(chosen, NumberOfTopics)
    assert chosen.structured
    assert 6 / 1.5 <= chosen.n_topics <= 6 * 1.5
    assert chosen.low <= chosen.n_topics <= chosen.high
    assert model.components_.shape[0] == model.transform(X).shape[1] == chosen.n_topics
    assert nmi(truth, model.labels_) > 0.85
    given_number = Coterie(chosen.n_topics, restarts=3).fit(X)
    assert given_number.number_of_topics_ is None


@pytest.mark.parametrize("refine", [True, False, "auto"])
def test_refinement_is_kept_as_asked_for(refine):
    X, truth = planted(noise=2)
    model = Coterie(5, restarts=2, refine=refine).fit(X)
    assert nmi(truth, model.labels_) > 0.9
    if refine != "auto":
        assert model.refined_ is refine
    if refine is False:
        assert not model.coefficients_.any()


def hard(seed=0):
    """Few words of a topic among many of none: vectors alone go wrong in some texts."""
    return planted(500, 5, own=30, common=100, words=2, noise=4, seed=seed)


def test_refinement_helps_where_words_tell_more_than_directions():
    for seed in range(3):
        X, truth = hard(seed)
        yes, no = (Coterie(5, restarts=2, refine=refine).fit_predict(X) for refine in (True, False))
        assert nmi(truth, yes) > nmi(truth, no) + 0.01


def test_auto_gives_up_what_texts_left_out_tell_clearly_worse(monkeypatch):
    X, _ = hard()
    auto, yes = (Coterie(5, restarts=2, refine=refine).fit(X) for refine in ("auto", True))
    assert auto.refined_
    assert_same(auto, yes)
    explained = LeaveOneOut.explained
    monkeypatch.setattr(LeaveOneOut, "explained", lambda *given: -100 * explained(*given))
    worse = Coterie(5, restarts=2).fit(X)
    assert not worse.refined_
    assert not same_topics(worse.labels_, yes.labels_)


def test_a_large_collection_is_learned_from_a_sample(monkeypatch):
    X, truth = planted(900, 4)
    whole = Coterie(4, restarts=2).fit(X)
    monkeypatch.setattr(texts_module, "MOST_TEXTS", 100)
    seen = []
    take = texts_module.take_sample
    monkeypatch.setattr(
        "coterie.cluster.refining.take_sample", lambda *given: seen.append(take(*given)) or seen[-1]
    )
    model = Coterie(4, restarts=2).fit(X)
    assert [sample.n_rows for sample in seen] == [100]
    assert model.labels_.shape == (900,)
    assert nmi(truth, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.term_vectors_, whole.term_vectors_)  # terms are learned from all texts
    assert not np.array_equal(model.coefficients_, whole.coefficients_)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_topics": 0}, "'n_topics' of Coterie must be 'auto' or a whole number of at least 1, got 0"),
        ({"n_topics": 2.5}, "'n_topics' of Coterie must be 'auto' or a whole number of at least 1, got 2.5"),
        (
            {"n_topics": None},
            "'n_topics' of Coterie must be 'auto' or a whole number of at least 1, got None",
        ),
        (
            {"n_topics": "many"},
            "'n_topics' of Coterie must be 'auto' or a whole number of at least 1, got 'many'",
        ),
        ({"n_topics": None}, "'n_topics' of Coterie"),
        ({"n_topics": True}, "'n_topics' of Coterie"),
        ({"dimensions": 0}, "'dimensions' of Coterie must be a whole number of at least 1, got 0"),
        ({"restarts": -1}, "'restarts' of Coterie must be a whole number of at least 1, got -1"),
        ({"refine": "yes"}, "'refine' of Coterie must be one of 'auto', True, False, got 'yes'"),
        ({"refine": 1}, "'refine' of Coterie must be one of"),
    ],
)
def test_bad_parameters_are_named_by_fit(bad, message):
    model = Coterie(**bad)
    with pytest.raises(InputError, match=message):
        model.fit(np.eye(3))


def test_negative_counts_and_wrong_columns_are_refused():
    X, _ = planted(60, 3)
    model = small().fit(X)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        small().fit(-X)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, 1:])
    for name in ("predict", "transform", "embed"):
        with pytest.raises(NotFittedError):
            getattr(Coterie(), name)(X)


def test_parameters_are_stored_and_cloned():
    given_parameters = {
        "n_topics": 4,
        "dimensions": 7,
        "restarts": 3,
        "refine": False,
        "embeddings": "static",
    }
    model = Coterie(**given_parameters, random_state=5)
    assert clone(model).get_params() == {**given_parameters, "random_state": 5} == model.get_params()
    assert Coterie().get_params()["n_topics"] == "auto"
    X, _ = planted(60, 3)
    kept = small().fit(X)
    assert not learned(clone(kept))
    assert_same(clone(kept).fit(X), kept)


def test_a_model_learns_anew():
    (X, _), (Y, _) = planted(60, 3), planted(80, 3, own=5, seed=1)
    assert_same(small().fit(X).fit(Y), small().fit(Y))


def test_dimensions_are_at_most_the_terms():
    X, truth = planted(200, 3)
    few_axes, many = (Coterie(3, dimensions=d, restarts=2).fit(X) for d in (4, 10_000))
    assert few_axes.embed(X).shape == (200, 4)
    assert many.embed(X).shape[1] <= X.shape[1]
    assert nmi(truth, few_axes.labels_) > 0.95
    assert nmi(truth, many.labels_) > 0.95


def test_texts_added_to_both_sides_of_an_engine_keep_their_topics():
    X, truth = planted(200, 3)
    empty = csr_matrix((3, X.shape[1]))
    model = small().fit(vstack([empty, X, empty]).tocsr())
    assert nmi(truth, model.labels_[3:-3]) > 0.95
    assert set(model.labels_[:3]) == set(model.labels_[-3:]) == {model.fallback_}


def idf_kmeans(X, n_topics):
    return SphericalKMeans(n_topics, random_state=0).fit_predict(X @ diags(weights.idf(X)))


@pytest.mark.slow
def test_stackoverflow(dataset):
    data = dataset("stackoverflow")
    some = np.random.default_rng(0).choice(len(data.texts), 3000, replace=False)
    labels = np.asarray(data.labels)[some]
    X = Vectorizer().fit_transform([data.texts[i] for i in some])
    found = nmi(labels, Coterie(20).fit_predict(X))
    assert found > nmi(labels, idf_kmeans(X, 20)) + 0.08
    assert found > 0.6


@pytest.mark.slow
def test_tweet(dataset):
    data = dataset("tweet")
    X = Vectorizer().fit_transform(data.texts)
    assert nmi(data.labels, Coterie(89).fit_predict(X)) > 0.90


@pytest.mark.parametrize("refine", [False, True, "auto"])
def test_terms_that_the_sample_lacks_change_nothing_but_memory(monkeypatch, refine):
    """The slow twin learns clusters with a number for every term, in the sample or not."""
    monkeypatch.setattr(texts_module, "MOST_TEXTS", 100)
    monkeypatch.setattr(coterie_module, "MOST_TEXTS", 100)
    common, _ = planted(300, 3)
    pairs = np.arange(300) // 2  # each rare term is in two texts
    rare = csr_matrix((np.ones(300), (np.arange(300), pairs)), (300, 150))
    X = hstack([common, rare], format="csr")
    widths = []

    class Watched(LeaveOneOut):
        def __init__(self, texts, n_topics):
            widths.append(texts.n_terms)
            super().__init__(texts, n_topics)

    monkeypatch.setattr(refining_module, "LeaveOneOut", Watched)
    fast = small(refine=refine).fit(as_engine(X))
    monkeypatch.setattr(coterie_module, "terms_of_sample", lambda documents: np.ones(documents.n_terms, bool))
    slow = small(refine=refine).fit(as_engine(X))
    if refine is not False:
        assert widths[0] < widths[-1] == X.shape[1]
    assert (fast.predict(X) == slow.predict(X)).all()
    np.testing.assert_allclose(fast.term_vectors_, slow.term_vectors_)
    absent = fast.n_features_in_ - widths[0] if widths else 0
    assert (~fast.coefficients_.any(axis=0)).sum() >= absent
