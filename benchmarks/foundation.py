"""Texts to counts, weights, imports: coterie beside scikit-learn on the 971,100 titles of `reddit`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from coterie_papers.bench.markdown import table
from harness import measure, reset_peak, run_case


def _titles():
    from coterie.datasets import load

    return load("reddit").texts


def _file(copies):
    """The titles as a file of lines, several times over with a number added so that texts differ."""
    path = Path(tempfile.gettempdir()) / f"coterie-benchmark-reddit-{copies}.txt"
    if not path.exists():
        titles = _titles()
        with path.open("w", encoding="utf-8") as out:
            for copy in range(copies):
                tail = f" copy{copy}" if copy else ""
                out.writelines(title.replace("\n", " ") + tail + "\n" for title in titles)
    return path


def coterie_stemmed():
    from coterie.corpus import Vectorizer

    texts = _titles()
    reset_peak()
    return lambda: Vectorizer().fit_transform(texts)


def coterie_plain():
    from coterie.corpus import Vectorizer

    texts = _titles()
    reset_peak()
    return lambda: Vectorizer(stem=False).fit_transform(texts)


def _stop_words():
    from coterie.text.languages import stop_words

    return sorted(stop_words("english"))


def sklearn_stemmed():
    import Stemmer
    from sklearn.feature_extraction.text import CountVectorizer

    texts, stem = _titles(), Stemmer.Stemmer("english").stemWord
    cut, stop = CountVectorizer().build_tokenizer(), set(_stop_words())

    def analyzer(text):
        return [stem(token) for token in cut(text.lower()) if token not in stop]

    reset_peak()
    return lambda: CountVectorizer(analyzer=analyzer).fit_transform(texts)


def sklearn_plain():
    from sklearn.feature_extraction.text import CountVectorizer

    texts, stop = _titles(), _stop_words()
    reset_peak()

    import warnings

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it remarks that contractions are cut differently
            return CountVectorizer(stop_words=stop).fit_transform(texts)

    return run


def _from_file(copies):
    def case():
        from coterie.corpus import Vectorizer
        from coterie.text import read_texts

        path = _file(copies)
        folder = tempfile.TemporaryDirectory()

        def run():
            with folder:
                return Vectorizer(min_df=2).fit_corpus(read_texts(path), folder=folder.name)

        reset_peak()
        return run

    return case


def _counts():
    from coterie.corpus import Vectorizer

    return Vectorizer().fit_transform(_titles())


def _best_of(function, times=9):
    def run():
        for _ in range(times):
            function()

    return run


def sklearn_idf():
    from sklearn.feature_extraction.text import TfidfTransformer

    X = _counts()
    TfidfTransformer().fit(X)
    return _best_of(lambda: TfidfTransformer().fit(X))


def coterie_ncut():
    from coterie.weights import ncut

    X = _counts()
    ncut(X)
    return _best_of(lambda: ncut(X))


CASES = {
    "coterie_stemmed": coterie_stemmed,
    "coterie_plain": coterie_plain,
    "sklearn_stemmed": sklearn_stemmed,
    "sklearn_plain": sklearn_plain,
    "file_1": _from_file(1),
    "file_2": _from_file(2),
    "file_4": _from_file(4),
    "sklearn_idf": sklearn_idf,
    "coterie_ncut": coterie_ncut,
}


def _import_seconds(module):
    import statistics
    import time

    runs = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def report():
    """The section of docs/benchmarks.md."""
    # reading files is long: once each
    found = {case: measure(__file__, case, 1 if case.startswith("file") else 3) for case in CASES}
    ours, bare = found["coterie_stemmed"], found["coterie_plain"]
    stemmed, plain = found["sklearn_stemmed"], found["sklearn_plain"]
    rows = [
        ["coterie, stems and stop words", f"{ours.seconds:.2f}", f"{ours.megabytes:.0f}"],
        ["coterie, stop words", f"{bare.seconds:.2f}", f"{bare.megabytes:.0f}"],
        [
            "CountVectorizer, the same stemmer and stop words",
            f"{stemmed.seconds:.2f}",
            f"{stemmed.megabytes:.0f}",
        ],
        ["CountVectorizer, stop words", f"{plain.seconds:.2f}", f"{plain.megabytes:.0f}"],
    ]
    sizes = [
        [f"{971_100 * n:,}", f"{found[f'file_{n}'].seconds:.1f}", f"{found[f'file_{n}'].peak_megabytes:.0f}"]
        for n in (1, 2, 4)
    ]
    ncut, idf = found["coterie_ncut"].seconds, found["sklearn_idf"].seconds
    coterie_import, sklearn_import = _import_seconds("coterie"), _import_seconds("sklearn")
    parts = [
        "## Texts to counts",
        "971,100 titles (`reddit`) in memory to a sparse matrix; memory is what the peak grew by.",
        table(["", "seconds", "MB"], rows),
        f"With stems coterie takes {ours.seconds / stemmed.seconds:.2f} of CountVectorizer's time with the same "
        f"stemmer and {ours.seconds / plain.seconds:.2f} of its time without one.",
        "From a file of lines with the blocks on disk; memory is the peak of the whole process, interpreter "
        "and libraries included. Copies of a title differ by one word, so nothing folds.",
        table(["texts", "seconds", "peak MB"], sizes),
        "## Weights",
        f"Ncut weights of the same matrix cost {ncut / idf:.2f} × scikit-learn's `TfidfTransformer.fit`.",
        "## Import",
        f"`import coterie` takes {coterie_import / sklearn_import:.2f} of the time of `import sklearn`.",
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    run_case(CASES[sys.argv[1]]) if len(sys.argv) > 1 else print(report())
