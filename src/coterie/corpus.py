"""A collection of texts as row blocks of counts: folded, in canonical order, in memory or on disk.

The way of a text: encoded to form numbers (`coterie.text.encoder`), dealt out and folded by its digest
(`coterie.folding`), its forms replaced by terms, its terms counted. Nothing here depends on the order of
the input, on how it was cut into batches, or on threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.engines import Block, DiskEngine, Engine, MemoryEngine, write_blocks
from coterie.engines.threads import ordered_map, usable_threads
from coterie.folding import STREAM_BITS, Buckets, Folded, bits_for
from coterie.sequences import Sequences, offsets_of
from coterie.text.analyzer import Analyzer
from coterie.text.encoder import Encoder, Tokenizer
from coterie.text.phrases import Phrases, learn_phrases
from coterie.text.vocabulary import Limits, Vocabulary, display_forms

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Distinct texts × terms, and the way back to the texts as they came.

    `engine` holds the row blocks; `rows[i]` is the row that stands for text i of the input. `phrases`
    knows the n-grams. `storage` keeps token sequences, block by block.
    """

    vocabulary: Vocabulary
    engine: Engine
    rows: Ints
    phrases: Phrases
    storage: SequenceStore

    @property
    def n_texts(self) -> int:
        """Texts of the input, duplicates and empty ones counted."""
        return len(self.rows)

    @property
    def n_distinct(self) -> int:
        """Different texts."""
        return self.engine.n_rows

    def sequences(self) -> Iterator[Sequences]:
        """Column numbers of the words of each distinct text in running order, one part a block.

        −1 stands for a word that is not in the vocabulary; n-grams do not appear.
        """
        return iter(self.storage)

    def weights(self) -> npt.NDArray[np.float64]:
        """How many texts each distinct text stands for."""
        return np.concatenate(list(self.engine.map(lambda block: block.weights)))

    def matrix(self) -> csr_matrix:
        """Distinct texts × terms as one matrix in memory."""
        return vstack(list(self.engine.map(lambda block: block.X)), format="csr")

    def unfolded(self) -> csr_matrix:
        """Texts × terms with a row for every text of the input, in its order."""
        return self.matrix()[self.rows]


class SequenceStore:
    """Sequences block by block, in memory or, with a folder, in files."""

    def __init__(self, folder: Path | None = None):
        self._folder = folder
        self._memory: list[Sequences] = []
        self._count = 0

    def append(self, part: Sequences) -> None:
        """Keep the sequences of the next block."""
        if self._folder is None:
            self._memory.append(part)
        else:
            with self._file(self._count).open("wb") as file:
                np.save(file, part.ids, allow_pickle=False)
                np.save(file, part.offsets, allow_pickle=False)
        self._count += 1

    def __iter__(self) -> Iterator[Sequences]:
        if self._folder is None:
            yield from self._memory
            return
        for number in range(self._count):
            with self._file(number).open("rb") as file:
                yield Sequences(np.load(file), np.load(file))

    def _file(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"words-{number:05d}.npy"


def build_corpus(
    batches: Iterable[pl.Series],
    analyzer: Analyzer,
    limits: Limits,
    *,
    tokenizer: Tokenizer = "words",
    n_texts: int | None = None,
    folder: Path | None = None,
    threads: int | None = None,
) -> Corpus:
    """Read batches of texts once and count their terms.

    Parameters
    ----------
    batches
        Series of strings, or of lists of strings where texts are tokenised already; those are taken
        as terms verbatim.
    n_texts
        The number of texts, where it is known.
    folder
        A folder for blocks on disk: memory then grows with the vocabulary and not with the texts.
    """
    threads = usable_threads(threads)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    encoder = Encoder(analyzer, tokenizer)
    buckets = Buckets(STREAM_BITS if n_texts is None else bits_for(n_texts), folder)
    for encoded in ordered_map(encoder.encode, batches, threads):
        buckets.add(encoded)
    forms = form_table(encoder.forms(), None if encoder.verbatim else analyzer)
    return _Counting(forms, limits, buckets.n_texts, folder, threads).run(buckets)


def form_table(forms: pl.Series, analyzer: Analyzer | None) -> pl.DataFrame:
    """Columns form, surface, term; without an analyzer each form is its own term."""
    if analyzer is None:
        return pl.DataFrame({"form": forms, "surface": forms, "term": forms})
    return analyzer.terms(forms).insert_column(0, forms.rename("form"))


class _Counting:
    """From folded forms to blocks of counts, in two passes over the buckets."""

    def __init__(self, forms: pl.DataFrame, limits: Limits, n_texts: int, folder: Path | None, threads: int):
        self.forms = forms
        self.limits = limits
        self.n_texts = n_texts
        self.folder = folder
        self.threads = threads
        self.all_terms = forms["term"].drop_nulls().unique().sort()
        # position of a form's term in the alphabet of all terms, −1 for a form that is left out
        self.term_of_form = _positions(forms["term"], self.all_terms)
        self.form_counts = np.zeros(len(forms), dtype=np.int64)
        self.df = np.zeros(len(self.all_terms), dtype=np.int64)
        self.rows = np.empty(n_texts, dtype=np.int64)

    def run(self, buckets: Buckets) -> Corpus:
        first_pass = SequenceStore(self.folder)
        weights = [self._count(folded, first_pass) for folded in self._placed(buckets)]
        keep = self.limits.kept(self.df, self.n_texts)
        terms = self.all_terms.filter(pl.Series(keep))
        parts = self._blocks(first_pass, weights, keep, len(terms))
        sequences = SequenceStore(None if self.folder is None else _made(self.folder / "words"))
        kept_weights = []
        for part, weight in parts:
            sequences.append(part)
            kept_weights.append(weight.astype(np.float64))
        phrases = learn_phrases(sequences, kept_weights, len(terms), self.limits, self.n_texts)
        engine = self._engine(sequences, kept_weights, phrases)
        vocabulary = self._vocabulary(terms, phrases, engine)
        return Corpus(vocabulary, engine, self.rows, phrases, sequences)

    def _placed(self, buckets: Buckets) -> Iterator[Folded]:
        """Buckets in canonical order; notes on the way which row each text of the input became."""
        start = 0
        for folded in buckets.folded():
            self.rows[folded.rows] = start + folded.place
            start += len(folded.weights)
            yield folded

    def _count(self, folded: Folded, store: SequenceStore) -> Ints:
        """Count forms and the texts that hold each term; keep the bucket as terms."""
        texts, weights = folded.sequences, folded.weights
        per_token = np.repeat(weights, texts.lengths)
        self.form_counts += np.bincount(texts.ids, per_token, len(self.form_counts)).astype(np.int64)
        terms = Sequences(self.term_of_form[texts.ids], texts.offsets)
        X = Phrases(len(self.df)).count_matrix(terms)
        per_entry = np.repeat(weights, np.diff(X.indptr))
        self.df += np.bincount(X.indices, per_entry, len(self.df)).astype(np.int64)
        store.append(terms)
        return weights

    def _blocks(
        self, store: SequenceStore, weights: list[Ints], keep: npt.NDArray[np.bool_], n_terms: int
    ) -> Iterator[tuple[Sequences, Ints]]:
        """Buckets joined into blocks, and terms numbered anew without those that were filtered out."""
        column = np.full(len(keep) + 1, -1, dtype=np.int32)  # the last place answers for −1
        column[:-1][keep] = np.arange(n_terms, dtype=np.int32)
        n_blocks = 1 << min(bits_for(sum(map(len, weights))), len(weights).bit_length() - 1)
        together = len(weights) // n_blocks
        parts = zip(store, weights, strict=True)
        for _ in range(n_blocks):
            group = list(islice(parts, together))
            joined = Sequences.concatenate([part for part, _ in group])
            texts = Sequences(column[joined.ids], joined.offsets)
            yield without_short(texts, self.limits.min_words), np.concatenate([weight for _, weight in group])

    def _engine(
        self, sequences: SequenceStore, weights: list[npt.NDArray[np.float64]], phrases: Phrases
    ) -> Engine:
        starts = offsets_of(np.array([len(weight) for weight in weights]))
        numbered = zip(sequences, weights, starts[:-1].tolist(), strict=True)
        blocks = (Block(phrases.count_matrix(part), weight, start) for part, weight, start in numbered)
        if self.folder is None:
            return MemoryEngine(list(blocks), self.threads)
        write_blocks(self.folder / "blocks", blocks)
        return DiskEngine(self.folder / "blocks", self.threads)

    def _vocabulary(self, terms: pl.Series, phrases: Phrases, engine: Engine) -> Vocabulary:
        shown = display_forms(self.forms.with_columns(count=pl.Series(self.form_counts)))
        display = terms.rename("term").to_frame().join(shown, on="term", how="left", maintain_order="left")
        df, count = engine.sum(_frequencies)
        names = (tuple(terms), tuple(display["display"]))
        spelled, shown_as = (name + tuple(phrases.spelled_out(name)) for name in names)
        return Vocabulary(spelled, shown_as, df.astype(np.int64), count.astype(np.int64))


def _frequencies(block: Block) -> tuple[Any, Any]:
    """Number of texts and of occurrences of each term."""
    per_entry = np.repeat(block.weights, np.diff(block.X.indptr))
    df = np.bincount(block.X.indices, per_entry, block.X.shape[1])
    return df, np.bincount(block.X.indices, per_entry * block.X.data, block.X.shape[1])


def _positions(values: pl.Series, alphabet: pl.Series) -> npt.NDArray[np.int32]:
    """The place of each value in a sorted series, −1 for null."""
    places = values.replace_strict(alphabet, np.arange(len(alphabet), dtype=np.int32), default=-1)
    return places.fill_null(-1).cast(pl.Int32).to_numpy()


def without_short(texts: Sequences, min_words: int) -> Sequences:
    """Empty the texts that have fewer known words; their rows stay."""
    if min_words <= 1:
        return texts
    long = texts.known().lengths >= min_words
    lengths = np.where(long, texts.lengths, 0)
    return Sequences(texts.ids[np.repeat(long, texts.lengths)], offsets_of(lengths))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
