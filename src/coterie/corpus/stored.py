"""Count the terms of a collection that is larger than memory: every step is a map over files.

1. *Encode* a part of the texts: words get numbers of the part's own, and texts are sorted by their digest.
2. *Number*: the words of all parts together, sorted, give each word its number in the collection.
3. *Fold* a bucket: the texts of all parts whose digests begin with the same bits, copies merged. Sorted parts
   make this a slice of each, so no step moves texts from worker to worker.
4. *Words*: forms are replaced by terms. *Blocks*: terms are counted.
5. *Rows*: the distinct text of each text of the input, part by part.

Each task writes files of its own, whole or not at all, so it may run twice or on another machine. The result
is the same as that of `coterie.corpus.counting.build_corpus`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.corpus.counting import (
    Corpus,
    Part,
    columns_of_forms,
    document_frequency,
    form_table,
    make_vocabulary,
    positions,
    stop_words_of,
    without_short,
)
from coterie.corpus.encoder import Clean, Encoded, Encoder, Tokenizer
from coterie.corpus.folding import bits_for, fold
from coterie.corpus.phrases import Phrases, learn_phrases
from coterie.corpus.sequences import UNKNOWN, Sequences, offsets_of
from coterie.corpus.spelling import Speller, Typos, numbered, spelled, typos_in
from coterie.corpus.vocabulary import Limits, display_forms
from coterie.engines import Block, Cluster
from coterie.engines.disk import write_block, write_index
from coterie.engines.records import FileRecords, Records
from coterie.engines.values import read_value, save_array, whole, write_value
from coterie.progress import tell
from coterie.text.analyzer import Analyzer

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[np.float64]

#: Texts, and bytes, from which a file of texts is large enough.
PART_ROWS, PART_BYTES = 1 << 17, 1 << 26
#: Buckets, or parts, of one task: the files of all others are opened once for them.
_GROUP = 8
_ENCODED = ("ids", "offsets", "high", "low", "order")
_FORMS = "forms.parquet"


@dataclass(frozen=True)
class TextParts:
    """Files with consecutive texts, in a column "text"; `starts` are the numbers of their first texts, and
    of all texts.
    """

    files: tuple[Path, ...]
    starts: tuple[int, ...]

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return self.starts[-1]

    def read(self, number: int) -> pl.Series:
        """The texts of a part."""
        return pl.read_parquet(self.files[number], columns=["text"], glob=False)["text"]


def write_parts(batches: Iterable[pl.Series], cluster: Cluster) -> TextParts:
    """Texts that come in batches as files in the folder of a cluster."""
    folder, files, starts = cluster.inside("texts"), [], [0]
    for number, batch in enumerate(joined_batches(batches)):
        files.append(folder / f"texts-{number:05d}.parquet")
        with whole(files[-1]) as file:
            batch.to_frame("text").write_parquet(file, compression="lz4")
        starts.append(starts[-1] + len(batch))
    return TextParts(tuple(files), tuple(starts))


def joined_batches(batches: Iterable[pl.Series]) -> Iterator[pl.Series]:
    """Batches put together until they are worth a file."""
    waiting: list[pl.Series] = []
    for batch in batches:
        waiting.append(batch.rename("text"))
        if (
            sum(map(len, waiting)) >= PART_ROWS
            or sum(some.estimated_size() for some in waiting) >= PART_BYTES
        ):
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


@dataclass(frozen=True)
class Counting:
    """How texts become terms."""

    analyzer: Analyzer
    limits: Limits
    tokenizer: Tokenizer = "words"
    clean: Clean | None = None
    fix_typos: bool = False


def store_corpus(texts: TextParts, how: Counting, cluster: Cluster) -> Corpus:
    """Count the terms of texts in files; everything of the size of the collection stays in the folder."""
    steps = _Steps(texts, how, cluster.inside("corpus"), cluster.inside("blocks"))
    parts = range(len(texts.files))
    encoded = list(_told("counting terms", cluster.run_once("encode", steps.encode, parts)))
    verbatim = any(words for _, words in encoded)
    forms = steps.all_forms(None if verbatim else how.analyzer)
    _finish(cluster.run_once("number", steps.number, parts))
    buckets = range(1 << bits_for(texts.n_texts))
    fold = steps.fold_with(forms, len(buckets))
    folded = _Folded.of(_told("merging copies", cluster.run_once("fold", fold, _groups(buckets))), forms)
    known = _Known.learn(forms, folded, how, texts.n_texts, typos=how.fix_typos and not verbatim)
    first = FileRecords(cluster.folder / "first.bin", folded.n_distinct, np.int64, kept=True)
    rows = FileRecords(cluster.folder / "rows.bin", texts.n_texts, np.int64, kept=True)
    _finish(cluster.run_once("rows", steps.rows_with(rows, folded.starts), _groups(parts)))
    blocks = folded.blocks()
    starts = [int(folded.starts[some.start]) for some in blocks]
    _finish(cluster.run_once("words", steps.words_with(known, first, blocks, starts), range(len(blocks))))
    storage = StoredParts(steps.folder, len(blocks))
    phrases = learn_phrases(storage.pairs, len(known.terms), how.limits, texts.n_texts)
    _finish(cluster.run_once("blocks", steps.count_with(phrases, starts), range(len(blocks))))
    write_index(steps.blocks, starts, folded.n_distinct, phrases.n_columns)
    engine = cluster.engine(steps.blocks)
    return Corpus(
        make_vocabulary(known.terms, display_forms(known.forms), phrases, engine),
        engine,
        rows.array,
        first.array,
        phrases,
        storage,
        storage.typos(known.spellings),
        known.speller,
        len(how.analyzer.all_stop_words()),
        sum(skipped for skipped, _ in encoded),
    )


def _finish(results: Iterator[Any]) -> None:
    for _ in results:
        pass


def _groups(numbers: range) -> list[range]:
    return [numbers[a : a + _GROUP] for a in range(0, len(numbers), _GROUP)]


def _told(stage: str, results: Iterator[Any]) -> Iterator[Any]:
    for done, result in enumerate(results):
        tell(stage, done + 1, None, "parts")
        yield result


@dataclass(frozen=True)
class _Known:
    """What is known of words once all texts were folded: which are terms, and which are misspelt."""

    forms: pl.DataFrame
    terms: pl.Series
    columns: npt.NDArray[np.int32]
    speller: Speller | None
    #: "arive → arrive", and for each form the number of its spelling, UNKNOWN for none.
    spellings: tuple[str, ...]
    spelling_of_form: npt.NDArray[np.int32]

    @classmethod
    def learn(cls, forms: _Forms, folded: _Folded, how: Counting, n_texts: int, *, typos: bool) -> _Known:
        keep = how.limits.kept(folded.df.astype(np.int64), n_texts)
        table = forms.table.with_columns(count=pl.Series(folded.form_counts))
        columns = columns_of_forms(forms.term_of_form, keep)
        speller = Speller.learn(table, columns) if typos else None
        columns, written = spelled(columns, table, speller)
        spellings, numbers = numbered(written)
        return cls(table, forms.terms.filter(pl.Series(keep)), columns, speller, spellings, numbers)


@dataclass(frozen=True)
class _Forms:
    """All word forms of a collection, sorted: a table with form, surface and term, and the terms."""

    table: pl.DataFrame
    terms: pl.Series
    term_of_form: npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Folded:
    """What folding found: how common terms and forms are, and the first distinct text of each bucket."""

    df: Array
    form_counts: Array
    starts: Ints

    @classmethod
    def of(cls, results: Iterator[Any], forms: _Forms) -> _Folded:
        """From what the tasks returned, in their order."""
        df, counts, sizes = np.zeros(len(forms.terms)), np.zeros(len(forms.table)), []
        for distinct, terms, df_of_terms, words, count_of_words in results:
            sizes.append(distinct)
            df[terms] += df_of_terms
            counts[words] += count_of_words
        return cls(df, counts, offsets_of(np.concatenate(sizes)))

    @property
    def n_distinct(self) -> int:
        """Number of distinct texts."""
        return int(self.starts[-1])

    def blocks(self) -> list[range]:
        """Buckets joined into blocks."""
        n_buckets = len(self.starts) - 1
        size = n_buckets >> min(bits_for(self.n_distinct), n_buckets.bit_length() - 1)
        return [range(a, a + size) for a in range(0, n_buckets, size)]


class StoredParts:
    """Distinct texts as sequences, block by block, in files."""

    def __init__(self, folder: Path, count: int):
        self._folder, self._count = folder, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Part]:
        return (_read_words(self._folder, number) for number in range(self._count))

    def pairs(self) -> Iterator[tuple[Sequences, Array]]:
        """Sequences and weights of each part."""
        return ((part.sequences, part.weights) for part in self)

    def typos(self, spellings: tuple[str, ...]) -> Typos:
        """The misspelt words of all texts, put together in one file."""
        path, kind = self._folder / "typos.bin", np.dtype([("row", "i8"), ("column", "i4"), ("number", "i4")])
        many = 0
        with whole(path) as file:
            for block in range(self._count):
                row, column, number = read_value(self._folder / f"typos-{block:05d}")
                file.write(np.rec.fromarrays([row, column, number], dtype=kind).tobytes())
                many += len(row)
        found = FileRecords(path, many, kind, kept=True).array
        return Typos(found["row"], found["column"], found["number"], spellings)


@dataclass(frozen=True)
class _Steps:
    """The tasks; what they need is in the folder, or in what they are made with."""

    texts: TextParts
    how: Counting
    folder: Path
    blocks: Path

    def encode(self, part: int) -> tuple[int, bool]:
        """Texts of a part as numbers of forms, by digest; non-answers, and whether they were tokens."""
        encoder = Encoder(self.how.analyzer, self.how.tokenizer, self.how.clean)
        encoded = encoder.encode(self.texts.read(part))
        high, low = encoded.digests[:, 0], encoded.digests[:, 1]
        order = np.lexsort((low, high))
        sequences = encoded.sequences.take(order)
        arrays: tuple[npt.NDArray[Any], ...] = (
            sequences.ids, sequences.offsets, high[order], low[order], order,
        )  # fmt: skip
        for name, array in zip(_ENCODED, arrays, strict=True):
            self._save(name, part, array)
        with whole(self._forms(part)) as file:
            encoder.forms().rename("form").to_frame().write_parquet(file, compression="lz4")
        return encoded.n_non_answers, encoder.verbatim

    def all_forms(self, analyzer: Analyzer | None) -> _Forms:
        """The forms of all parts, sorted, with their terms; they are also written to a file."""
        forms = pl.Series("form", [], dtype=pl.String)
        for part in range(len(self.texts.files)):
            forms = pl.concat([forms, _read_forms(self._forms(part))]).unique()
        forms = forms.sort()
        with whole(self.folder / _FORMS) as file:
            forms.to_frame().write_parquet(file, compression="lz4")
        table = form_table(forms, analyzer)
        terms = table["term"].drop_nulls().unique().sort()
        numbers = positions(table["term"], terms)
        stop_words = stop_words_of(table, self.how.analyzer)
        return _Forms(table, terms, np.where(numbers == UNKNOWN, stop_words, numbers))

    def number(self, part: int) -> None:
        """The number in the collection of each form of a part."""
        forms = _read_forms(self._forms(part))
        numbers = _known_forms(self.folder / _FORMS).search_sorted(forms).to_numpy()
        self._save("numbers", part, numbers.astype(np.int32))

    def fold_with(self, forms: _Forms, n_buckets: int) -> Callable[[range], Any]:
        """Merges copies of the texts in some buckets; returns sizes, df of terms and counts of forms."""
        term_of_form, n_terms, n_forms = forms.term_of_form, len(forms.terms), len(forms.table)

        def folded(buckets: range) -> Any:
            sizes, df, counts = [], np.zeros(n_terms), np.zeros(n_forms)
            for bucket, (encoded, rows) in zip(buckets, self._slices(buckets, n_buckets), strict=True):
                found = fold(encoded, rows)
                texts, weights = found.sequences, found.weights.astype(np.float64)
                np.add.at(counts, texts.ids, np.repeat(weights, texts.lengths))
                df += document_frequency(Sequences(term_of_form[texts.ids], texts.offsets), weights, n_terms)
                first = np.full(len(weights), self.texts.n_texts, dtype=np.int64)
                np.minimum.at(first, found.distinct, found.rows)
                write_value(self._value("folded", bucket), (texts.ids, texts.offsets, weights, first))
                by_row = np.argsort(found.rows, kind="stable")
                self._save("copies", bucket, np.stack([found.rows[by_row], found.distinct[by_row]]))
                sizes.append(len(weights))
            terms, words = np.flatnonzero(df), np.flatnonzero(counts)
            return np.array(sizes), terms, df[terms], words, counts[words]

        return folded

    def _slices(self, buckets: range, n_buckets: int) -> Iterator[tuple[Encoded, Ints]]:
        """For each bucket the texts of all parts in it, and their numbers in the input."""
        found: list[list[tuple[Sequences, npt.NDArray[np.uint64], Ints]]] = [[] for _ in buckets]
        bounds = [(bucket << 64) // n_buckets for bucket in (*buckets[1:], buckets.stop)]
        for part, start in enumerate(self.texts.starts[:-1]):
            ids, offsets, high, low, order = (self._load(name, part) for name in _ENCODED)
            numbers = self._load("numbers", part)
            first = np.searchsorted(high, np.uint64((buckets.start << 64) // n_buckets))
            edges = [first, *(len(high) if b >> 64 else np.searchsorted(high, np.uint64(b)) for b in bounds)]
            for into, (a, b) in zip(found, pairwise(edges), strict=True):
                at = np.asarray(offsets[a : b + 1])
                texts = Sequences(numbers[ids[at[0] : at[-1]]], at - at[0])
                into.append((texts, np.stack([high[a:b], low[a:b]], axis=1), start + order[a:b]))
        for parts in found:
            sequences, digests, rows = zip(*parts, strict=True)
            yield Encoded(Sequences.concatenate(sequences), np.concatenate(digests)), np.concatenate(rows)

    def rows_with(self, rows: Records, starts: Ints) -> Callable[[range], None]:
        """Finds the distinct text of each text of some parts; `starts` are the first ones of buckets."""

        def unfold(parts: range) -> None:
            low, high = self.texts.starts[parts.start], self.texts.starts[parts.stop]
            distinct = np.empty(high - low, dtype=np.int64)
            for bucket, start in enumerate(starts[:-1].tolist()):
                numbers, copies = self._load("copies", bucket)
                a, b = np.searchsorted(numbers, [low, high])
                distinct[numbers[a:b] - low] = start + copies[a:b]
            rows.put(low, distinct)

        return unfold

    def words_with(
        self, known: _Known, first: Records, blocks: list[range], starts: list[int]
    ) -> Callable[[int], None]:
        """Replaces forms by terms in the buckets of a block."""
        columns, spelling_of_form = known.columns, known.spelling_of_form
        min_words = self.how.limits.min_words

        def words(block: int) -> None:
            parts = [read_value(self._value("folded", bucket)) for bucket in blocks[block]]
            texts = Sequences.concatenate([Sequences(ids, offsets) for ids, offsets, _, _ in parts])
            weights = np.concatenate([part[2] for part in parts])
            found = without_short(Sequences(columns[texts.ids], texts.offsets), min_words)
            write_value(_words(self.folder, block), (found.ids, found.offsets, weights))
            row, column, number = typos_in(texts, columns, spelling_of_form)
            write_value(self._value("typos", block), (row + starts[block], column, number))
            first.put(starts[block], np.concatenate([part[3] for part in parts]))

        return words

    def count_with(self, phrases: Phrases, starts: list[int]) -> Callable[[int], None]:
        """Counts the terms of a block."""

        def count(block: int) -> None:
            part = _read_words(self.folder, block)
            X = phrases.count_matrix(part.sequences)
            write_block(self.blocks, block, Block(X, part.weights, starts[block]))

        return count

    def _forms(self, part: int) -> Path:
        return self.folder / f"forms-{part:05d}.parquet"

    def _value(self, name: str, number: int) -> Path:
        return self.folder / f"{name}-{number:05d}"

    def _save(self, name: str, number: int, array: npt.NDArray[Any]) -> None:
        with whole(self.folder / f"{name}-{number:05d}.npy") as file:
            save_array(file, array)

    def _load(self, name: str, number: int) -> npt.NDArray[Any]:
        """An array of which slices are needed."""
        path = self.folder / f"{name}-{number:05d}.npy"
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r")
        return array


def _read_forms(path: Path) -> pl.Series:
    return pl.read_parquet(path, glob=False)["form"]


@lru_cache(maxsize=1)
def _known_forms(path: Path) -> pl.Series:
    """The forms of the collection; a worker reads them once."""
    return _read_forms(path)


def _words(folder: Path, block: int) -> Path:
    return folder / f"words-{block:05d}"


def _read_words(folder: Path, block: int) -> Part:
    ids, offsets, weights = read_value(_words(folder, block))
    return Part(Sequences(ids, offsets), weights)
