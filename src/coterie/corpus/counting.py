"""A collection of texts as row blocks of counts, in memory or on disk: copies merged, in canonical order.

A text is encoded as numbers of word forms (`coterie.corpus.encoder`), put into a bucket by its digest and
merged with its copies (`coterie.corpus.folding`); then forms are replaced by terms, and terms are counted.
The result does not depend on the order of the input, the batches or the threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.corpus.encoder import Clean, Encoded, Encoder, Tokenizer
from coterie.corpus.folding import STREAM_BITS, Buckets, Folded, bits_for
from coterie.corpus.phrases import Phrases, learn_phrases, words_and_pairs
from coterie.corpus.sequences import UNKNOWN, Sequences, offsets_of
from coterie.corpus.spelling import Speller, spelled, typos_in
from coterie.corpus.vocabulary import Limits, Vocabulary, display_forms
from coterie.engines import Block, DiskEngine, Engine, MemoryEngine, write_blocks
from coterie.engines.base import pattern
from coterie.engines.threads import ordered_map, usable_threads
from coterie.text.analyzer import Analyzer

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """Distinct texts × terms, and how they relate to the input.

    `engine` has the row blocks; `rows[i]` is the row of text i of the input. `phrases` are the n-grams.
    `storage` keeps the texts as sequences, block by block, with their stop words, of which there are
    `n_stop_words` different ones. `typos` are the misspelt words of distinct texts that count as known ones,
    as `coterie.corpus.spelling.TYPOS` has them, and `speller` is what found them, if anything looked.
    `n_non_answers` texts count as empty because they are no answer.
    """

    vocabulary: Vocabulary
    engine: Engine
    rows: Ints
    phrases: Phrases
    storage: PartStore
    typos: pl.DataFrame
    speller: Speller | None = None
    n_stop_words: int = 0
    n_non_answers: int = 0

    def __repr__(self) -> str:
        return f"Corpus({self.n_texts:,} texts, {self.n_distinct:,} distinct, {len(self.vocabulary):,} terms)"

    @property
    def n_texts(self) -> int:
        """Number of texts in the input, including duplicates and empty ones."""
        return len(self.rows)

    @property
    def n_distinct(self) -> int:
        """Number of distinct texts."""
        return self.engine.n_rows

    def sequences(self) -> Iterator[Sequences]:
        """Column numbers of the words of each distinct text, in text order, block by block.

        −1 stands for a word outside the vocabulary; n-grams are not included.
        """
        for part in self.storage:
            yield Sequences(np.maximum(part.sequences.ids, UNKNOWN), part.sequences.offsets)

    def stop_word_counts(self, rows: Ints) -> csr_matrix:
        """Counts of stop words and of pairs of them in some distinct texts, as `Vectorizer.stop_word_counts`.

        `rows` are in ascending order.
        """
        chosen, start = [], 0
        for part in self.storage:
            end = start + len(part.sequences)
            here = rows[slice(*np.searchsorted(rows, [start, end]))]
            chosen.append(part.sequences.take(here - start).stop_words())
            start = end
        return words_and_pairs(Sequences.concatenate(chosen), self.n_stop_words)

    def weights(self) -> npt.NDArray[np.float64]:
        """How many copies each distinct text has."""
        return np.concatenate(list(self.engine.map(lambda block: block.weights)))

    def matrix(self) -> csr_matrix:
        """Distinct texts × terms as one matrix in memory."""
        return vstack(list(self.engine.map(lambda block: block.X)), format="csr")

    def unfolded(self) -> csr_matrix:
        """Texts × terms with one row per text, in input order."""
        return self.matrix()[self.rows]


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive distinct texts, and how many copies each has."""

    sequences: Sequences
    weights: npt.NDArray[np.float64]


class PartStore:
    """A list of parts, in memory or, with a folder, in files."""

    def __init__(self, folder: Path | None = None):
        self._folder = folder
        self._memory: list[Part] = []
        self._count = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def __len__(self) -> int:
        return self._count

    def append(self, part: Part) -> None:
        """Keep the next part."""
        if self._folder is None:
            self._memory.append(part)
        else:
            with self._file(self._count).open("wb") as file:
                for array in (part.sequences.ids, part.sequences.offsets, part.weights):
                    np.save(file, array, allow_pickle=False)
        self._count += 1

    def __iter__(self) -> Iterator[Part]:
        if self._folder is None:
            yield from self._memory
            return
        for number in range(self._count):
            with self._file(number).open("rb") as file:
                ids, offsets, weights = (np.load(file) for _ in range(3))
            yield Part(Sequences(ids, offsets), weights)

    def pairs(self) -> Iterator[tuple[Sequences, Array]]:
        """Sequences and weights of each part."""
        return ((part.sequences, part.weights) for part in self)

    def clear(self) -> None:
        """Remove all parts."""
        self._memory.clear()
        if self._folder is not None:
            for number in range(self._count):
                self._file(number).unlink()
        self._count = 0

    def _file(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"part-{number:05d}.npy"


def build_corpus(
    batches: Iterable[pl.Series],
    analyzer: Analyzer,
    limits: Limits,
    *,
    tokenizer: Tokenizer = "words",
    clean: Clean | None = None,
    n_texts: int | None = None,
    folder: Path | None = None,
    fix_typos: bool = False,
    threads: int | None = None,
) -> Corpus:
    """Read batches of texts once and count their terms.

    Parameters
    ----------
    batches
        Series of strings, or of lists of strings if the texts are already tokenised; such tokens are used as
        terms unchanged.
    clean
        Turns texts into those that are counted; texts stay distinct if they differ before.
    n_texts
        The number of texts, if known.
    folder
        A folder for blocks on disk, so that memory grows with the vocabulary and not with the texts.
    fix_typos
        Whether misspelt words count as the known words that they stand for; tokens never do.
    """
    threads = usable_threads(threads)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    encoder = Encoder(analyzer, tokenizer, clean)
    encoded: Iterable[Encoded] = ordered_map(encoder.encode, batches, threads)
    if n_texts is None and folder is None:  # all of them are in memory soon: count them first
        encoded = list(encoded)
        n_texts = sum(len(batch.sequences) for batch in encoded)
    buckets = Buckets(STREAM_BITS if n_texts is None else bits_for(n_texts), folder)
    n_non_answers = 0
    for batch in encoded:
        buckets.add(batch)
        n_non_answers += batch.n_non_answers
    forms = form_table(encoder.forms(), None if encoder.verbatim else analyzer)
    stop_words = stop_words_of(forms, analyzer)
    fix_typos = fix_typos and not encoder.verbatim
    corpus = _Counting(forms, stop_words, limits, buckets.n_texts, fix_typos, folder, threads).run(buckets)
    return replace(corpus, n_stop_words=len(analyzer.all_stop_words()), n_non_answers=n_non_answers)


def stop_words_of(forms: pl.DataFrame, analyzer: Analyzer) -> npt.NDArray[np.int32]:
    """For each form of a table, the id of the stop word that it is: −2 for the first, UNKNOWN for none."""
    words = pl.Series(sorted(analyzer.all_stop_words()), dtype=pl.String)
    ignored = pl.when(pl.col("term").is_null()).then(pl.col("surface"))
    numbers = _positions(forms.select(ignored).to_series(), words)
    found: npt.NDArray[np.int32] = np.where(numbers == UNKNOWN, UNKNOWN, UNKNOWN - 1 - numbers)
    return found


def form_table(forms: pl.Series, analyzer: Analyzer | None) -> pl.DataFrame:
    """Columns form, surface and term; without an analyzer each form is its own term."""
    if analyzer is None:
        return pl.DataFrame({"form": forms, "surface": forms, "term": forms})
    return analyzer.terms(forms).insert_column(0, forms.rename("form"))


class _Counting:
    """From folded forms to blocks of counts, in two passes over the buckets."""

    def __init__(
        self,
        forms: pl.DataFrame,
        stop_words: npt.NDArray[np.int32],
        limits: Limits,
        n_texts: int,
        fix_typos: bool,
        folder: Path | None,
        threads: int,
    ):
        self.forms = forms
        self.limits = limits
        self.n_texts = n_texts
        self.fix_typos = fix_typos
        self.folder = folder
        self.threads = threads
        self.all_terms = forms["term"].drop_nulls().unique().sort()
        # position of a form's term in the sorted list of terms; below 0 for a form that is no term
        terms = _positions(forms["term"], self.all_terms)
        self.term_of_form = np.where(terms == UNKNOWN, stop_words, terms)
        self.rows = self._empty_rows()

    def run(self, buckets: Buckets) -> Corpus:
        folded = PartStore(self._inside("forms"))
        df = np.zeros(len(self.all_terms))
        form_counts = np.zeros(len(self.forms))
        n_distinct = 0
        for part, df_of_part, forms_of_part in ordered_map(
            self._counted, self._placed(buckets), self.threads
        ):
            folded.append(part)
            df += df_of_part
            form_counts += forms_of_part
            n_distinct += len(part.weights)
        keep = self.limits.kept(df.astype(np.int64), self.n_texts)
        forms = self.forms.with_columns(count=pl.Series(form_counts))
        columns = self._columns(keep)
        speller = Speller.learn(forms, columns) if self.fix_typos else None
        columns, spellings = spelled(columns, forms, speller)
        parts, typos, start = PartStore(self._inside("words")), [], 0
        for texts, weights in self._blocks(folded, n_distinct):
            typos.append(typos_in(texts, columns, spellings).with_columns(pl.col("row") + start))
            words = Sequences(columns[texts.ids], texts.offsets)
            parts.append(Part(without_short(words, self.limits.min_words), weights))
            start += len(weights)
        folded.clear()
        phrases = learn_phrases(parts.pairs, int(keep.sum()), self.limits, self.n_texts)
        engine = self._engine(parts, phrases)
        vocabulary = _vocabulary(
            self.all_terms.filter(pl.Series(keep)), display_forms(forms), phrases, engine
        )
        return Corpus(vocabulary, engine, self.rows, phrases, parts, pl.concat(typos), speller)

    def _columns(self, keep: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """The column of each form, below 0 for one that is not counted."""
        column = np.full(len(keep) + 1, UNKNOWN, dtype=np.int32)  # the last entry is for UNKNOWN = −1
        column[:-1][keep] = np.arange(keep.sum(), dtype=np.int32)
        is_term = self.term_of_form > UNKNOWN
        return np.where(is_term, column[np.maximum(self.term_of_form, UNKNOWN)], self.term_of_form)

    def _inside(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / name

    def _empty_rows(self) -> Ints:
        if self.folder is None or not self.n_texts:
            return np.empty(self.n_texts, dtype=np.int64)
        return np.lib.format.open_memmap(
            self.folder / "rows.npy", mode="w+", dtype=np.int64, shape=(self.n_texts,)
        )

    def _placed(self, buckets: Buckets) -> Iterator[Folded]:
        """Buckets in canonical order; also records the row of each text of the input."""
        start = 0
        for folded in buckets.folded():
            self.rows[folded.rows] = start + folded.distinct
            start += len(folded.weights)
            yield folded

    def _counted(self, folded: Folded) -> tuple[Part, Array, Array]:
        """A bucket as it is, the document frequency of each term, and the count of each form."""
        texts, weights = folded.sequences, folded.weights.astype(np.float64)
        form_counts = np.zeros(len(self.forms))
        np.add.at(form_counts, texts.ids, np.repeat(weights, texts.lengths))
        terms = Sequences(self.term_of_form[texts.ids], texts.offsets)
        df = pattern(Phrases(len(self.all_terms)).count_matrix(terms)).T @ weights
        return Part(texts, weights), df, form_counts

    def _blocks(self, buckets: PartStore, n_distinct: int) -> Iterator[tuple[Sequences, Array]]:
        """Buckets joined into blocks."""
        n_blocks = 1 << min(bits_for(n_distinct), len(buckets).bit_length() - 1)
        parts = iter(buckets)
        for _ in range(n_blocks):
            group = list(islice(parts, len(buckets) // n_blocks))
            joined = Sequences.concatenate([part.sequences for part in group])
            yield joined, np.concatenate([part.weights for part in group])

    def _engine(self, parts: PartStore, phrases: Phrases) -> Engine:
        def counted(part: Part) -> Block:
            return Block(phrases.count_matrix(part.sequences), part.weights)

        blocks = _numbered(ordered_map(counted, parts, self.threads))
        if self.folder is None:
            return MemoryEngine(list(blocks), self.threads)
        write_blocks(self.folder / "blocks", blocks)
        return DiskEngine(self.folder / "blocks", self.threads)


def _numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks that know at which row they start."""
    start = 0
    for block in blocks:
        yield replace(block, start=start)
        start += block.X.shape[0]


def _vocabulary(terms: pl.Series, shown: pl.DataFrame, phrases: Phrases, engine: Engine) -> Vocabulary:
    display = terms.rename("term").to_frame().join(shown, on="term", how="left", maintain_order="left")
    df, count = engine.sum(lambda block: (pattern(block.X).T @ block.weights, block.X.T @ block.weights))
    stems, shown_as = (
        (*names, *phrases.spelled_out(names)) for names in (terms.to_list(), display["display"].to_list())
    )
    return Vocabulary(stems, shown_as, df.astype(np.int64), count.astype(np.int64))


def _positions(values: pl.Series, alphabet: pl.Series) -> npt.NDArray[np.int32]:
    """The position of each value in a sorted series, UNKNOWN for null."""
    positions = values.replace_strict(alphabet, np.arange(len(alphabet), dtype=np.int32), default=UNKNOWN)
    return positions.fill_null(UNKNOWN).cast(pl.Int32).to_numpy()


def without_short(texts: Sequences, min_words: int) -> Sequences:
    """Empty the texts with fewer known words than `min_words`; their rows stay."""
    if min_words <= 1:
        return texts
    long = texts.known().lengths >= min_words
    lengths = np.where(long, texts.lengths, 0)
    return Sequences(texts.ids[np.repeat(long, texts.lengths)], offsets_of(lengths))
