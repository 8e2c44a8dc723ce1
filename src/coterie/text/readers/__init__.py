"""Read texts from CSV, TSV, JSON, Parquet, Excel or plain text files, gzipped or not, or standard input.

Files are read in batches of bounded memory. Rows keep their order and the line they came from.
"""

from coterie.text.readers.files import TextFiles
from coterie.text.readers.reading import read_texts
from coterie.text.readers.rows import BadRow, Batch
from coterie.text.readers.source import Layout, Note, TextSource

__all__ = ["BadRow", "Batch", "Layout", "Note", "TextFiles", "TextSource", "read_texts"]
