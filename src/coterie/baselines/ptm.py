"""The pseudo-document topic model (PTM, Zuo, Wu, Zhang, Lin, Wang, Xu and Xiong, KDD 2016)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import softmax

from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions
from coterie.baselines.lda import check_topics, distributions, load_tomotopy, texts_of, train
from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.estimator import Array, check_choice, check_count, check_positive

#: Rows × pseudo-documents that are formed at a time: 8 MB.
_CELLS = 1 << 20


class PTM(CountEstimator):
    """The pseudo-document topic model: short texts are parts of fewer, longer documents, which have topics.

    1. X contains counts. Each text belongs to one of `n_pseudo` pseudo-documents, and each of its words to a
       topic of that pseudo-document. Both are resampled in `n_iter` rounds, given those of all others. This
       is done by tomotopy (installed by ``coterie[lda]``), on one thread with a fixed seed.
    2. After the last round, ``θ_pk = (n_pk + α) / (n_p + Kα)`` are the topics of pseudo-document p, from its
       words in topic k, ψ_p is its share of all texts, and φ are the distributions of topics over terms.
    3. A text, fitted or new, belongs to pseudo-documents by ``P(p|d) ∝ ψ_p Π_w (Σ_k θ_pk φ_kw)^x_w``, so that
       ``θ_d = Σ_p P(p|d) θ_p``. Its topics are the mean over its words of ``θ_dk φ_kw / Σ_j θ_dj φ_jw``.

    The sampler keeps all texts in memory, and a row of n identical texts n times, as it has no weights.
    tomotopy has separate code for each instruction set, so another kind of machine may sample differently.

    Parameters
    ----------
    n_topics
        Number of topics.
    n_pseudo
        Number of pseudo-documents. None is ``10 * n_topics``, as in tomotopy.
    alpha
        α, prior of the topics of a pseudo-document.
    eta
        Prior of the terms of a topic, β in the paper.
    n_iter
        Rounds of sampling over all texts.
    fractions
        What to do with values of X that are not whole numbers: "refuse" raises an error, "ceil" rounds up.
    random_state
        Seeds the sampler.

    Attributes
    ----------
    components_
        Topics × terms, φ; zero for a term in no text.
    pseudo_topics_
        θ, pseudo-documents × topics; those without texts are left out.
    pseudo_shares_
        ψ, the share of each of them in all texts.
    labels_
        The topic of each row; absent if an engine was fitted.
    n_iter_
        Rounds made.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = PTM(n_topics=2, n_pseudo=4, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    """

    pseudo_topics_: Array
    pseudo_shares_: Array
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        n_pseudo: int | None = None,
        alpha: float = 0.1,
        eta: float = 0.01,
        n_iter: int = 500,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.n_pseudo = n_pseudo
        self.alpha = alpha
        self.eta = eta
        self.n_iter = n_iter
        self.fractions = fractions
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_pseudo = 10 * n_topics if self.n_pseudo is None else check_count("n_pseudo", self.n_pseudo, self)
        alpha = check_positive("alpha", self.alpha, self)
        eta = check_positive("eta", self.eta, self)
        n_iter = check_count("n_iter", self.n_iter, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        check_topics(n_topics, self)
        self._check_words(documents)
        seed = int(random.randint(2**31 - 1))
        model = load_tomotopy("PTM").PTModel(k=n_topics, p=n_pseudo, alpha=alpha, eta=eta, seed=seed)
        train(model, (text for block in documents.map(self._texts) for text in block), n_iter)
        self.components_ = distributions(model, documents.n_terms)
        found = ((doc.pseudo_doc_id, doc.topics) for doc in model.docs)
        self.pseudo_topics_, self.pseudo_shares_ = pseudo_documents(found, n_pseudo, n_topics, alpha)
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return shares_of_topics(self._counts(X), self.components_, self.pseudo_topics_, self.pseudo_shares_)

    def _texts(self, block: Block) -> list[list[str]]:
        return texts_of(self._counts(block.X), block.weights)


def pseudo_documents(
    texts: Iterable[tuple[int, Any]], n_pseudo: int, n_topics: int, alpha: float
) -> tuple[Array, Array]:
    """θ and ψ of the pseudo-documents that have texts, from that of each text and the topics of its words.

    >>> theta, psi = pseudo_documents([(2, [0, 0]), (0, [1]), (2, [0, 1, 1])], 4, 2, 0.5)
    >>> theta
    array([[0.25      , 0.75      ],
           [0.58333333, 0.41666667]])
    >>> psi
    array([0.33333333, 0.66666667])
    """
    sizes, words = np.zeros(n_pseudo), np.zeros((n_pseudo, n_topics))
    for pseudo, topics in texts:
        sizes[pseudo] += 1.0
        words[pseudo] += np.bincount(topics, minlength=n_topics)
    filled = sizes > 0
    theta = words[filled] + alpha
    return theta / theta.sum(axis=1, keepdims=True), sizes[filled] / max(sizes.sum(), 1.0)


def shares_of_topics(X: csr_matrix, topics: Array, theta: Array, psi: Array) -> Array:
    """The topics of each row from ``θ_d = Σ_p P(p|d) θ_p``; a row without a term of any topic has none.

    Each row is worked on by itself, to the last bit: nothing here is a product of dense matrices.
    """
    shares = np.zeros((X.shape[0], len(topics)))
    known = topics.any(axis=0)
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) * known)
    if not len(used):
        return shares
    X = X[:, used]
    mixed = sum(theta[:, k, None] * topics[k, used] for k in range(len(topics)))
    logs = np.ascontiguousarray(np.log(mixed).T)
    step = max(_CELLS // len(psi), 1)
    for start in range(0, X.shape[0], step):
        some = slice(start, start + step)
        belongs = softmax(X[some] @ logs + np.log(psi), axis=1)
        own = np.stack([(belongs * theta[:, k]).sum(axis=1) for k in range(len(topics))], axis=1)
        shares[some] = by_word(X[some], topics[:, used], own)
    return shares


def by_word(X: csr_matrix, topics: Array, theta: Array) -> Array:
    """``Σ_w x_w θ_dk φ_kw / Σ_j θ_dj φ_jw`` of each row, divided by its words."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    expected = np.zeros(X.nnz)
    for k in range(len(topics)):
        expected += theta[row, k] * topics[k, X.indices]
    ratio = csr_view(X.data / expected, X.indices, X.indptr, X.shape)
    length = np.maximum(X @ np.ones(X.shape[1]), 1.0)
    found: Array = theta * (ratio @ np.ascontiguousarray(topics.T)) / length[:, None]
    return found
