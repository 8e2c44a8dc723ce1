"""NMF regularised so that similar texts have similar topics (GNMF, Cai et al. 2011)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags, vstack

from coterie.engines import Block, Engine
from coterie.engines.memory import rows as rows_of
from coterie.errors import InputError
from coterie.estimator import Array, Documents, check_amount, check_choice, check_count
from coterie.factor import steps_semantic as steps
from coterie.factor.semantic import Init, MultiplicativeNMF, Weights, unit_columns
from coterie.factor.steps import settled

Edges = Literal["cosine", "binary"]

#: Most similarities in memory at a time, were they all above zero (192 MiB).
_PAIRS = 1 << 24


def neighbour_graph(X: csr_matrix, weights: Array, n_neighbors: int, edges: Edges = "cosine") -> csr_matrix:
    """The symmetric matrix of links between rows of unit length and their nearest others, by cosine.

    Two rows are linked if one is among the `n_neighbors` nearest of the other; rows that share nothing never
    are, and of equally near ones the first are taken. A link weighs its cosine, or 1 if `edges` is "binary",
    times the number of texts of the row that chose it, of the larger if both did. Similarities are computed
    for a strip of rows at a time and only the nearest are kept.

    >>> X = csr_matrix([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> neighbour_graph(X, np.ones(4), 1).toarray()
    array([[0. , 0.8, 0. , 0. ],
           [0.8, 0. , 0.6, 0. ],
           [0. , 0.6, 0. , 0. ],
           [0. , 0. , 0. , 0. ]])
    """
    columns = X.T.tocsr()
    n_rows = max(X.shape[0], 1)
    step = max(_PAIRS // n_rows, 1)
    strips = [
        _nearest((rows_of(X, start, start + step) @ columns).tocsr(), start, n_neighbors)
        for start in range(0, n_rows, step)
    ]
    chosen = vstack(strips, format="csr")
    if edges == "binary":
        chosen.data[:] = 1.0
    chosen = (diags(weights) @ chosen).tocsr()
    return chosen.maximum(chosen.T).tocsr()


def _nearest(similarity: csr_matrix, start: int, n_neighbors: int) -> csr_matrix:
    """A strip of similarities with only the largest of each row, without that of a row to itself."""
    kept: list[npt.NDArray[np.int64]] = []
    for row in range(similarity.shape[0]):
        first, last = similarity.indptr[row : row + 2]
        values, others = similarity.data[first:last], similarity.indices[first:last]
        near = np.flatnonzero((others != start + row) & (values > 0))
        if len(near) > n_neighbors:
            least = np.partition(values[near], -n_neighbors)[-n_neighbors]
            near = near[values[near] >= least]
            # by falling similarity, then by number
            near = near[np.lexsort((others[near], -values[near]))[:n_neighbors]]
        kept.append(first + near)
    indptr = np.concatenate(([0], np.cumsum([len(some) for some in kept])))
    every = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
    nearest = csr_matrix((similarity.data[every], similarity.indices[every], indptr), shape=similarity.shape)
    nearest.sort_indices()
    return nearest


def update_smooth(
    V: Array, XU: Array, UtU: Array, links: csr_matrix, weights: Array, strength: float
) -> Array:
    """``V ∘ (XU + λAV) / (V UᵀU + λDV)`` with A the links and D their sums; rows count by weight.

    It never raises the objective, whose half has the curvature ``H = UᵀU + λ(D − A)`` in V. The update is the
    step ``−C⁻¹ · gradient`` with ``C = diag((V UᵀU + λDV) / V)``, which descends as long as 2C − H has no
    negative eigenvalue, and it is ``(diag(V UᵀU / V) − UᵀU) + diag(V UᵀU / V) + λ(D + A)``: none has one.
    """
    degree = np.asarray(links.sum(axis=1))
    gain = weights[:, None] * XU + strength * (links @ V)
    cost = weights[:, None] * (V @ UtU) + strength * degree * V
    return steps.multiplied(V, gain, cost)


def roughness(V: Array, links: csr_matrix) -> float:
    """``tr(VᵀLV)`` with ``L = D − A``: the squared differences of linked rows, summed over links."""
    degree = np.asarray(links.sum(axis=1))
    return float(np.sum(V * (degree * V - links @ V)))


class GraphNMF(MultiplicativeNMF):
    """NMF in which similar texts have similar memberships (GNMF).

    1. Terms are weighted and rows brought to unit length: X.
    2. Each distinct text is linked to its `n_neighbors` nearest others by cosine. L is the Laplacian of these
       links.
    3. ``min ‖X − VUᵀ‖² + λ tr(VᵀLV)`` with U, V ≥ 0: linked texts that differ in V cost.
    4. The start is that of `SemanticNMF`, columns of U at unit length.
    5. ``V ∘= (XU + λAV) / (VUᵀU + λDV)``, ``U ∘= XᵀV / UVᵀV``, repeatedly, with A the links and D their
       sums: ``L = D − A``. The objective never rises.
    6. A fitted text belongs to topics by V, columns at unit length: `labels_`. A new text has no links: with
       U fixed it gets the memberships that explain it best, and so does a fitted text that is given to
       `transform` or `predict`. The two may differ for a text whose neighbours are in another topic.

    The penalty can be evaded: V may shrink while U grows. Updates do so slowly, but with a strong penalty and
    many iterations they do.

    All texts are compared with each other, a strip at a time. Links and V are kept in memory, so X must be a
    matrix or an engine in memory.

    Parameters
    ----------
    n_topics
        Number of topics.
    regularization
        λ, how much similar texts must agree; 0 is plain NMF, the authors use 100.
    n_neighbors
        Number of nearest texts that each text is linked to.
    edges
        "cosine" weights a link by the cosine of its texts, "binary" by 1.
    weights
        "idf" weights terms by inverse document frequency, "binary" counts a term once per text, None uses the
        values of X. Rows have unit length in each case.
    init
        "kmeans" starts from spherical k-means, "rows" from random texts.
    max_iter
        Largest number of iterations.
    tol
        Stop when an iteration lowers the objective by no more than this fraction.
    random_state
        Seed of the random start.

    Attributes
    ----------
    components_
        Topics × terms, ``Uᵀ`` with columns of unit length.
    labels_
        The topic of each row by V; absent if an engine was fitted.
    term_weights_
        Weight of each term.
    topic_lengths_
        Length of the column of memberships in each topic over the fitted texts; 0 for an empty topic.
    objective_
        The objective after each iteration.
    n_iter_
        Number of iterations.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = GraphNMF(n_topics=2, random_state=0).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> (np.diff(model.objective_) <= 0).all()
    np.True_
    """

    #: Whether it wants all documents in memory: it compares each with all others.
    needs_memory: ClassVar[bool] = True

    def __init__(
        self,
        n_topics: int = 8,
        *,
        regularization: float = 3.0,
        n_neighbors: int = 5,
        edges: Edges = "cosine",
        weights: Weights = "idf",
        init: Init = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.regularization = regularization
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.weights = weights
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_amount("regularization", self.regularization, self)
        check_count("n_neighbors", self.n_neighbors, self)
        check_choice("edges", self.edges, ("cosine", "binary"), self)

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        if not documents.in_memory:
            raise InputError(
                "X must be a matrix or an engine in memory, since GraphNMF compares all documents with each "
                f"other; got {type(documents).__name__}"
            )
        rows = self._begin(documents)
        X = vstack(list(rows.map(lambda block: block.X)), format="csr")
        texts = Block(X, np.concatenate(list(rows.map(lambda block: block.weights))))
        links = neighbour_graph(X, texts.weights, self.n_neighbors, self.edges)
        Z, W = self._start(rows, random)
        V, U, objective = self._descend(texts, links, *_unit(Z.values, W))
        self._fitted_topics = _strongest(V, texts.weights)
        self._finish(rows, _unit(V, U)[1], objective)

    def _descend(
        self, texts: Block, links: csr_matrix, V: Array, U: Array
    ) -> tuple[Array, Array, list[float]]:
        norm_of_x = steps.squared_norm(texts)
        objective: list[float] = []
        while not settled(objective, self.max_iter, self.tol):
            V = update_smooth(V, texts.X @ U, U.T @ U, links, texts.weights, self.regularization)
            sums = steps.TextSums(*steps.text_sums(texts, V), norm_of_x)
            U = steps.multiplied(U, sums.XtZ, U @ sums.ZtZ)
            fit = 2.0 * steps.fit_objective(sums, U, U.T @ U)
            objective.append(max(fit + self.regularization * roughness(V, links), 0.0))
        return V, U, objective

    def learn(self, documents: Engine) -> Self:
        """Learn from row blocks; the topics of the graph's own documents are not read."""
        super().learn(documents)
        del self._fitted_topics
        return self

    def _after_fit(self, X: Any, documents: Documents) -> None:
        super()._after_fit(X, documents)
        if documents.rows is not None:
            # −1 for a row that was not fitted, or that belongs to no topic
            by_links = np.where(documents.rows >= 0, self._fitted_topics[documents.rows], -1)
            self.labels_ = np.where(by_links >= 0, by_links, self.labels_)
        del self._fitted_topics


def _unit(V: Array, U: Array) -> tuple[Array, Array]:
    """The same product with the columns of U at unit length."""
    lengths = np.linalg.norm(U, axis=0)
    return V * lengths, unit_columns(U, lengths)


def _strongest(V: Array, weights: Array) -> npt.NDArray[np.int64]:
    """The topic that each text belongs to most, columns at unit length; −1 for a text that has none."""
    scaled = unit_columns(V, np.sqrt(weights @ V**2))
    return np.where(scaled.any(axis=1), scaled.argmax(axis=1), -1)
