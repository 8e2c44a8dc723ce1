"""A collection of texts as row blocks of counts: copies merged, in canonical order.

A text is encoded as numbers of word forms (`coterie.corpus.encoder`), put into a bucket by its digest and
merged with its copies (`coterie.corpus.folding`); then forms are replaced by terms, and terms are counted.
The result does not depend on the order of the input, the batches or the threads. `build_corpus` counts in
memory, `coterie.corpus.stored` in files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.corpus.encoder import Clean, Encoded, Encoder, Tokenizer
from coterie.corpus.folding import Buckets, Folded, bits_for
from coterie.corpus.phrases import Phrases, learn_phrases, words_and_pairs
from coterie.corpus.sequences import UNKNOWN, Sequences, offsets_of
from coterie.corpus.spelling import Speller, Typos, numbered, spelled, typos_in
from coterie.corpus.vocabulary import Limits, Vocabulary, display_forms
from coterie.engines import Block, Engine, MemoryEngine
from coterie.engines.base import pattern
from coterie.engines.threads import ordered_map, usable_threads
from coterie.text.analyzer import Analyzer

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """Distinct texts × terms, and how they relate to the input.

    `engine` has the row blocks; `rows[i]` is the row of text i of the input, and `first` the first text of
    each row. `phrases` are the n-grams. `storage` keeps the texts as sequences, block by block, with their
    stop words, of which there are `n_stop_words` different ones. `typos` are the misspelt words of distinct
    texts that count as known ones, and `speller` is what found them, if anything looked. `n_non_answers`
    texts count as empty because they are no answer.
    """

    vocabulary: Vocabulary
    engine: Engine
    rows: Ints
    first: Ints
    phrases: Phrases
    storage: Iterable[Part]
    typos: Typos
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


def build_corpus(
    batches: Iterable[pl.Series],
    analyzer: Analyzer,
    limits: Limits,
    *,
    tokenizer: Tokenizer = "words",
    clean: Clean | None = None,
    n_texts: int | None = None,
    fix_typos: bool = False,
    threads: int | None = None,
) -> Corpus:
    """Read batches of texts once and count their terms, in memory.

    Parameters
    ----------
    batches
        Series of strings, or of lists of strings if the texts are already tokenised; such tokens are used as
        terms unchanged.
    clean
        Turns texts into those that are counted; texts stay distinct if they differ before.
    n_texts
        The number of texts, if known.
    fix_typos
        Whether misspelt words count as the known words that they stand for; tokens never do.
    """
    threads = usable_threads(threads)
    encoder = Encoder(analyzer, tokenizer, clean)
    encoded: Iterable[Encoded] = ordered_map(encoder.encode, batches, threads)
    if n_texts is None:
        encoded = list(encoded)
        n_texts = sum(len(batch.sequences) for batch in encoded)
    buckets = Buckets(bits_for(n_texts))
    n_non_answers = 0
    for batch in encoded:
        buckets.add(batch)
        n_non_answers += batch.n_non_answers
    forms = form_table(encoder.forms(), None if encoder.verbatim else analyzer)
    stop_words = stop_words_of(forms, analyzer)
    fix_typos = fix_typos and not encoder.verbatim
    corpus = _Counting(forms, stop_words, limits, buckets.n_texts, fix_typos, threads).run(buckets)
    return replace(corpus, n_stop_words=len(analyzer.all_stop_words()), n_non_answers=n_non_answers)


def stop_words_of(forms: pl.DataFrame, analyzer: Analyzer) -> npt.NDArray[np.int32]:
    """For each form of a table, the id of the stop word that it is: −2 for the first, UNKNOWN for none."""
    words = pl.Series(sorted(analyzer.all_stop_words()), dtype=pl.String)
    ignored = pl.when(pl.col("term").is_null()).then(pl.col("surface"))
    numbers = positions(forms.select(ignored).to_series(), words)
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
        threads: int,
    ):
        self.forms = forms
        self.limits = limits
        self.n_texts = n_texts
        self.fix_typos = fix_typos
        self.threads = threads
        self.all_terms = forms["term"].drop_nulls().unique().sort()
        # position of a form's term in the sorted list of terms; below 0 for a form that is no term
        terms = positions(forms["term"], self.all_terms)
        self.term_of_form = np.where(terms == UNKNOWN, stop_words, terms)
        self.rows = np.empty(n_texts, dtype=np.int64)

    def run(self, buckets: Buckets) -> Corpus:
        folded: list[Part] = []
        df = np.zeros(len(self.all_terms))
        form_counts = np.zeros(len(self.forms))
        for part, df_of_part, forms_of_part in ordered_map(
            self._counted, self._placed(buckets), self.threads
        ):
            folded.append(part)
            df += df_of_part
            form_counts += forms_of_part
        n_distinct = sum(len(part.weights) for part in folded)
        keep = self.limits.kept(df.astype(np.int64), self.n_texts)
        forms = self.forms.with_columns(count=pl.Series(form_counts))
        columns = columns_of_forms(self.term_of_form, keep)
        speller = Speller.learn(forms, columns) if self.fix_typos else None
        columns, written = spelled(columns, forms, speller)
        spellings, spelling_of_form = numbered(written)
        parts, typos, start = [], [], 0
        for texts, weights in self._blocks(folded, n_distinct):
            row, column, number = typos_in(texts, columns, spelling_of_form)
            typos.append((row + start, column, number))
            words = Sequences(columns[texts.ids], texts.offsets)
            parts.append(Part(without_short(words, self.limits.min_words), weights))
            start += len(weights)
        rows, misspelt, numbers = zip(*typos, strict=True)
        pairs = [(part.sequences, part.weights) for part in parts]
        phrases = learn_phrases(lambda: pairs, int(keep.sum()), self.limits, self.n_texts)
        engine = self._engine(parts, phrases)
        terms = self.all_terms.filter(pl.Series(keep))
        return Corpus(
            make_vocabulary(terms, display_forms(forms), phrases, engine),
            engine,
            self.rows,
            np.unique(self.rows, return_index=True)[1],
            phrases,
            parts,
            Typos(np.concatenate(rows), np.concatenate(misspelt), np.concatenate(numbers), spellings),
            speller,
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
        return Part(texts, weights), document_frequency(terms, weights, len(self.all_terms)), form_counts

    def _blocks(self, buckets: list[Part], n_distinct: int) -> Iterator[tuple[Sequences, Array]]:
        """Buckets joined into blocks."""
        n_blocks = 1 << min(bits_for(n_distinct), len(buckets).bit_length() - 1)
        parts = iter(buckets)
        for _ in range(n_blocks):
            group = list(islice(parts, len(buckets) // n_blocks))
            joined = Sequences.concatenate([part.sequences for part in group])
            yield joined, np.concatenate([part.weights for part in group])

    def _engine(self, parts: list[Part], phrases: Phrases) -> Engine:
        def counted(part: Part) -> Block:
            return Block(phrases.count_matrix(part.sequences), part.weights)

        return MemoryEngine(list(_numbered(ordered_map(counted, parts, self.threads))), self.threads)


def columns_of_forms(
    term_of_form: npt.NDArray[np.int32], keep: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    """The column of each form, below 0 for one that is not counted; `keep` says which terms are."""
    column = np.full(len(keep) + 1, UNKNOWN, dtype=np.int32)  # the last entry is for UNKNOWN = −1
    column[:-1][keep] = np.arange(keep.sum(), dtype=np.int32)
    return np.where(term_of_form > UNKNOWN, column[np.maximum(term_of_form, UNKNOWN)], term_of_form)


def document_frequency(texts: Sequences, weights: Array, n_terms: int) -> Array:
    """In how many texts each term occurs; texts are numbers of terms, below 0 for none."""
    df: Array = pattern(Phrases(n_terms).count_matrix(texts)).T @ weights
    return df


def _numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks that know at which row they start."""
    start = 0
    for block in blocks:
        yield replace(block, start=start)
        start += block.X.shape[0]


def make_vocabulary(terms: pl.Series, shown: pl.DataFrame, phrases: Phrases, engine: Engine) -> Vocabulary:
    """Terms and n-grams, how they are shown, and how common they are."""
    display = terms.rename("term").to_frame().join(shown, on="term", how="left", maintain_order="left")
    df, count = engine.sum(lambda block: (pattern(block.X).T @ block.weights, block.X.T @ block.weights))
    stems, shown_as = (
        (*names, *phrases.spelled_out(names)) for names in (terms.to_list(), display["display"].to_list())
    )
    return Vocabulary(stems, shown_as, df.astype(np.int64), count.astype(np.int64))


def positions(values: pl.Series, alphabet: pl.Series) -> npt.NDArray[np.int32]:
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
