"""The texts a model is fitted to: read once, kept for later questions, and counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.corpus.counting import Corpus
from coterie.corpus.stored import PART_BYTES, PART_ROWS, TextParts
from coterie.corpus.vectorizer import Vectorizer
from coterie.embeddings import Vectors, vectors_of
from coterie.engines import Block, Cluster, Engine
from coterie.engines.values import whole
from coterie.errors import InputError
from coterie.progress import tell
from coterie.storage.temporary import TemporaryFolder, report_full
from coterie.text.boilerplate import Boilerplate
from coterie.text.inputs import text_batches
from coterie.text.markup import without_gaps
from coterie.text.nulls import without_nulls
from coterie.text.readers import Note, TextSource
from coterie.text.readers.rows import BadRow
from coterie.text.readers.source import KEPT_BAD_ROWS, Layout

Ints = npt.NDArray[np.integer[Any]]

#: Texts worked on at a time: memberships of so many in hundreds of topics are small.
BATCH = 16_384
#: Bytes of a file, unpacked, whose counts are kept on disk.
_LARGE = 1 << 24
#: What was read, in a folder that is kept, and its bad rows.
READ, _BAD_ROWS = "read.json", "bad.jsonl"


class TextStore:
    """Texts in the order they came: in memory, or of a file that is read exactly once.

    While a file is read, its rows are kept as Parquet files in a temporary folder, with all their columns;
    whatever is asked later is answered from there.
    """

    def __init__(
        self,
        source: Any,
        check: Callable[[TextStore], None] | None = None,
        folder: Path | None = None,
    ):
        #: Called after the first batch of a file, and when all of it was read.
        self._check = check
        #: The file, where the texts come from one.
        self.file = source if isinstance(source, TextSource) else None
        #: Columns of the file; complete once it was read.
        self.columns: dict[str, pl.DataType] = {}
        #: Rows of the file that could not be read and were left out.
        self.skipped = 0
        #: All of them, where they are in memory.
        self.memory = None if self.file else without_nulls(pl.concat(list(text_batches(source))))
        #: Whether texts are lists of tokens.
        self.tokenised = self.memory is not None and self.memory.dtype != pl.String
        #: A digest of the texts of a file in their order, once it was read.
        self.fingerprint = ""
        self._begun = self.complete = False
        self._bytes = 0.0
        #: Number of the first text of each part, and of all texts.
        self._starts = [0]
        #: A folder that outlives this object, where one was given: what was read there is not read again.
        self._kept = folder
        self._folder = None if self.file is None or folder is not None else TemporaryFolder("texts")

    @property
    def read(self) -> int:
        """How many texts were read so far."""
        return self._starts[-1] if self.memory is None else len(self.memory)

    def close(self) -> None:
        """Remove the temporary folder; nothing can be asked any more."""
        if self._folder is not None:
            self._folder.close()

    def is_large(self) -> bool:
        """Whether counts of the texts had better not be in memory."""
        self.read_all()
        return self._bytes > _LARGE

    def batches(self) -> Iterator[pl.Series]:
        """All texts, some at a time: strings, or lists of tokens where they came as such."""
        if self.memory is not None:
            return in_batches(self.memory)
        self.read_all()
        return (self._texts(number) for number in range(len(self._starts) - 1))

    def parts(self) -> TextParts:
        """The files that hold the texts of a file."""
        self.read_all()
        numbers = range(len(self._starts) - 1)
        return TextParts(tuple(self._path("texts", number) for number in numbers), tuple(self._starts))

    def tables(self) -> Iterator[pl.DataFrame]:
        """The rows of the file, some at a time, with all their columns."""
        for number in range(len(self._starts) - 1):
            part = pl.read_parquet(self._path("rows", number), glob=False, hive_partitioning=False)
            there = set(part.columns)
            late = [pl.lit(None, dtype).alias(n) for n, dtype in self.columns.items() if n not in there]
            # by [], as polars takes a column called * or ^a$ for a pattern otherwise
            yield part.with_columns(late)[list(self.columns)]

    def column(self, name: str) -> pl.Series:
        """One column of the file."""
        return pl.concat([table[name] for table in self.tables()])

    def all(self) -> pl.Series:
        """All texts as strings, in memory."""
        parts = [as_strings(batch) for batch in self.batches()]
        return pl.concat(parts) if parts else pl.Series([], dtype=pl.String)

    def at(self, numbers: Ints) -> dict[int, str]:
        """Texts by their numbers."""
        if self.memory is not None:
            return dict(zip(numbers.tolist(), as_strings(self.memory[numbers]).to_list(), strict=True))
        wanted = np.unique(numbers)
        parts = np.searchsorted(self._starts, wanted, side="right") - 1
        texts: dict[int, str] = {}
        for part in np.unique(parts).tolist():
            here = wanted[parts == part]
            chosen = as_strings(self._texts(part)[here - self._starts[part]])
            texts.update(zip(here.tolist(), chosen.to_list(), strict=True))
        return texts

    def where(self, wanted: Sequence[str]) -> dict[str, list[int]]:
        """The numbers of the texts that are word for word the ones wanted."""
        numbers: dict[str, list[int]] = {text: [] for text in wanted}
        start = 0
        for batch in self.batches() if wanted else ():
            texts = as_strings(batch)
            for row in texts.is_in(list(numbers)).arg_true():
                numbers[texts[row]].append(start + row)
            start += len(batch)
        return numbers

    def read_all(self) -> None:
        """Make the one pass over the file, unless it was made."""
        if self.file is None or self.complete:
            return
        if self._begun:
            raise InputError(f"{self.file.source_name} could not be read to its end; open it again")
        self._begun, digest = True, hashlib.sha256()
        if self._kept is not None and self._restored(self._kept / READ):
            return
        with report_full(self._kept), self._bad_rows_kept(self.file):
            for rows, texts in self._joined(self.file):
                for batch in texts:
                    digest.update("".join(map(repr, batch.to_list())).encode())
                self._keep(rows, texts)
        self.skipped, self.fingerprint, self.complete = self.file.skipped, digest.hexdigest(), True
        if self._check is not None:
            self._check(self)
        if self._kept is not None:
            self._record(self._kept / READ)

    @contextmanager
    def _bad_rows_kept(self, file: TextSource) -> Iterator[None]:
        """Write bad rows to the folder that is kept, too: they are not read again either."""
        if self._kept is None:
            yield
            return
        given = file.on_bad
        with (self._kept / _BAD_ROWS).open("w", encoding="utf-8") as lines:

            def keep(rows: Sequence[BadRow]) -> None:
                lines.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
                if given is not None:
                    given(rows)

            file.on_bad = keep
            try:
                yield
            finally:
                file.on_bad = given

    def _record(self, path: Path) -> None:
        """Say what was read, so that it need not be read again."""
        assert self.file is not None
        said = {
            "starts": self._starts,
            "bytes": self._bytes,
            "skipped": self.skipped,
            "tokenised": bool(self.tokenised),
            "fingerprint": self.fingerprint,
            "layout": None if self.file.layout is None else asdict(self.file.layout),
            "notes": [[note.fact, note.option] for note in self.file.notes],
        }
        with whole(path) as file:
            file.write(json.dumps(said).encode())

    def _restored(self, path: Path) -> bool:
        """Take over what was read before, if it was read to its end."""
        assert self.file is not None
        if not path.exists():
            return False
        said = json.loads(path.read_text("utf-8"))
        self._starts, self._bytes, self.skipped = said["starts"], said["bytes"], said["skipped"]
        self.tokenised, self.fingerprint, self.complete = said["tokenised"], said["fingerprint"], True
        self.file.layout = None if said["layout"] is None else Layout(**said["layout"])
        self.file.notes, self.file.skipped = [Note(*note) for note in said["notes"]], self.skipped
        with (path.parent / _BAD_ROWS).open(encoding="utf-8") as lines:
            bad = [BadRow(**json.loads(line)) for line in lines]
        self.file.bad_rows = bad[:KEPT_BAD_ROWS]
        if bad and self.file.on_bad is not None:
            self.file.on_bad(bad)
        for number in range(len(self._starts) - 1):
            self.columns |= pl.read_parquet_schema(self._path("rows", number))
        if self._check is not None:
            self._check(self)
        return True

    def _joined(self, file: TextSource) -> Iterator[tuple[list[pl.DataFrame], list[pl.Series]]]:
        """Batches of a file, put together until they are worth a part."""
        rows: list[pl.DataFrame] = []
        texts: list[pl.Series] = []
        n_rows, size = 0, 0.0
        for number, batch in enumerate(file):
            self.columns |= batch.table.schema
            self.tokenised |= batch.texts.dtype != pl.String
            if not number and self._check is not None:
                self._check(self)
            rows.append(batch.table)
            texts.append(batch.texts.rename("text"))
            n_rows, size = n_rows + len(batch.texts), size + batch.table.estimated_size()
            tell("reading texts", self._starts[-1] + n_rows, None, "texts")
            if n_rows >= PART_ROWS or size >= PART_BYTES:
                yield rows, texts
                rows, texts, n_rows, size = [], [], 0, 0.0
        if rows:
            yield rows, texts

    def _keep(self, rows: list[pl.DataFrame], texts: list[pl.Series]) -> None:
        """Write the next part; a batch may lack columns that came later."""
        number, together = len(self._starts) - 1, pl.concat(texts)
        pl.concat(rows, how="diagonal_relaxed").write_parquet(self._path("rows", number), compression="lz4")
        together.to_frame().write_parquet(self._path("texts", number), compression="lz4")
        self._starts.append(self._starts[-1] + len(together))
        self._bytes += together.estimated_size()

    def _texts(self, number: int) -> pl.Series:
        return pl.read_parquet(self._path("texts", number))["text"]

    def _path(self, kind: str, number: int) -> Path:
        folder = self._kept
        if folder is None:
            assert self._folder is not None
            folder = self._folder.path
        return folder / f"{kind}-{number:06d}.parquet"


@dataclass(frozen=True)
class Collection:
    """Texts and their counts, kept for edits and questions after the fit.

    `embeddings` has a vector for each distinct row, where there are any. `folder` has the row blocks of a
    large file; it is removed when nobody needs this any more.
    """

    texts: TextStore
    corpus: Corpus
    embeddings: Vectors | None = None
    folder: TemporaryFolder | None = None

    @property
    def first(self) -> Ints:
        """The number of the first text that each distinct row stands for."""
        return self.corpus.first

    def close(self) -> None:
        """Remove temporary folders; nothing can be asked any more."""
        self.texts.close()
        if self.folder is not None:
            self.folder.close()

    def embedded(self, source: Any, vectorizer: Vectorizer) -> Collection:
        """The same with embeddings of the distinct texts; without any where `source` is None."""
        if source is None:
            return replace(self, embeddings=None)
        texts = without_gaps(vectorizer.counted_texts(self.texts.all()[self.first]))
        return replace(self, embeddings=vectors_of(source, texts.to_list(), self.known()))

    def known(self) -> npt.NDArray[np.bool_]:
        """Which distinct texts have a known word."""
        return np.concatenate(list(self.corpus.engine.map(lambda block: np.diff(block.X.indptr) > 0)))

    def engine(self, banned: Sequence[int] = ()) -> Engine:
        """Row blocks, without the terms that are banned."""
        if not banned:
            return self.corpus.engine
        return self.corpus.engine.mapped(
            lambda block: Block(without_columns(block.X, banned), block.weights, block.start)
        )


def collect(
    source: Any,
    vectorizer: Vectorizer,
    boilerplate: Boilerplate | None = None,
    cluster: Cluster | None = None,
) -> Collection:
    """Read and count texts, without their boilerplate; the vocabulary may be empty.

    A file is counted by the cluster, where there is one; without one a large file is counted in a temporary
    folder.
    """
    texts = source if isinstance(source, TextStore) else TextStore(source)
    folder = None
    try:
        with report_full(None if cluster is None else cluster.folder):
            if cluster is None and texts.is_large():
                folder = TemporaryFolder("counts")
                cluster = Cluster(folder=folder.path)
            if cluster is not None and texts.file is not None:
                corpus = vectorizer.fit_corpus(texts.parts(), cluster, boilerplate)
            else:
                corpus = vectorizer.fit_corpus(
                    texts if texts.memory is None else texts.memory, None, boilerplate
                )
        if not corpus.n_texts:
            raise InputError("no texts were given; at least one is needed")
        return Collection(texts, corpus, folder=folder)
    except BaseException:
        texts.close()
        if folder is not None:
            folder.close()
        raise


def in_batches(texts: pl.Series) -> Iterator[pl.Series]:
    """Some texts at a time; one empty batch of none."""
    return (texts.slice(start, BATCH) for start in range(0, max(len(texts), 1), BATCH))


def as_strings(texts: pl.Series) -> pl.Series:
    """Texts as strings: tokens with spaces between them."""
    return texts if texts.dtype == pl.String else texts.list.join(" ")


def counts_of(engine: Engine, rows: Ints) -> csr_matrix:
    """Counts of some distinct texts, which are in ascending order."""
    parts = []
    for block in engine.map(lambda block: block):
        here = rows[(rows >= block.start) & (rows < block.start + block.X.shape[0])]
        if len(here):
            parts.append(block.X[here - block.start])
    return vstack(parts, format="csr")


def without_columns(counts: Any, columns: Sequence[int]) -> Any:
    """Counts in which some terms do not occur; the number of columns stays."""
    if not columns:
        return counts
    changed = counts.copy()
    changed.data[np.isin(changed.indices, columns)] = 0.0
    changed.eliminate_zeros()
    return changed
