"""How long `Coterie` takes, and how much memory, beside methods that people know.

`python speed.py CASE` runs one case and prints a line of JSON; `python speed.py` prints the report.
"""

from __future__ import annotations

import sys

from coterie_papers.bench.markdown import table
from harness import measure, run_case

#: Data set, number of topics.
SMALL, LARGE = ("stackoverflow", 20), ("reddit", 200)


def _counts(name, **settings):
    from coterie import Vectorizer, datasets

    return Vectorizer(**settings).fit_transform(datasets.load(name).texts)


def _fit(make, data, **settings):
    name, n_topics = data

    def case():
        X, model = _counts(name, **settings), make(n_topics)
        return lambda: model.fit(X)

    return case


def _coterie(n_topics, **settings):
    from coterie import Coterie

    return Coterie(n_topics, **settings)


def _sklearn_nmf(n_topics):
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), NMF(n_topics, random_state=0, max_iter=400))


def _sklearn_kmeans(n_topics):
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), KMeans(n_topics, n_init=10, random_state=0))


CASES = {
    "coterie": _fit(_coterie, SMALL),
    "coterie, k-means alone": _fit(lambda k: _coterie(k, refine=False), SMALL),
    "coterie, estimated number of topics": _fit(lambda k: _coterie("auto"), SMALL),
    "NMF, tf-idf (scikit-learn)": _fit(_sklearn_nmf, SMALL, min_df=2),
    "k-means, tf-idf, 10 starts (scikit-learn)": _fit(_sklearn_kmeans, SMALL, min_df=2),
}
LARGE_CASES = {"coterie, a million titles": _fit(_coterie, LARGE)}


def report():
    rows = []
    for case in CASES:
        found = measure(__file__, case)
        rows.append(
            [case, "stackoverflow, 20,000 texts, K = 20", f"{found.seconds:.2f}", f"{found.megabytes:.0f}"]
        )
    for case in LARGE_CASES:
        found = measure(__file__, case, repeats=1)
        rows.append(
            [case, "reddit, 971,100 texts, K = 200", f"{found.seconds:.0f}", f"{found.megabytes:.0f}"]
        )
    text = """## Coterie

Seconds of `fit` after tokenising, and megabytes above what the texts and counts take."""
    return f"{text}\n\n" + table(["method", "data", "seconds", "MB"], rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_case((CASES | LARGE_CASES)[sys.argv[1]])
    else:
        print(report())
