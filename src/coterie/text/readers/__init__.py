"""Read texts from CSV, TSV, JSON, Parquet, Excel or plain text files, gzipped or not, or standard input.

Files are read in batches of bounded memory. Rows keep their order and the line they came from.
"""

from coterie.text.readers.rows import BadRow, Batch
from coterie.text.readers.source import Layout, Note, TextSource, read_texts

__all__ = ["BadRow", "Batch", "Layout", "Note", "TextSource", "read_texts"]
