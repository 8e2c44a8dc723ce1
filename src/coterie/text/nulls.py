"""Cells by which databases and spreadsheets say that there is nothing."""

from __future__ import annotations

import re

import polars as pl

#: Nobody answers a question with these.
NULL = r"NULL|null|\(null\)|\\N|NaN|nan|<NA>|#N/A|#NULL!|NaT"
_NULL = re.compile(NULL)
# these may be answers, but not dates or numbers
_LOOSELY = re.compile(r"N/?A|NONE|NULL|\(NULL\)|NAN|NAT|-+|–|—", re.IGNORECASE)


def without_nulls(texts: pl.Series) -> pl.Series:
    """A column of texts in which cells that stand for nothing are empty; the missing ones stay missing.

    >>> without_nulls(pl.Series(["NULL", "late", None])).to_list()
    ['', 'late', None]
    """
    if texts.dtype != pl.String:
        return texts
    nothing = texts.str.head(20).str.strip_chars().str.contains(f"^(?:{NULL})$") & (
        texts.str.len_chars() < 20
    )
    return texts.set(nothing.fill_null(False), "") if nothing.any() else texts


def is_null_like(cell: str, loosely: bool = False) -> bool:
    """Whether a cell stands for nothing; `loosely` where nobody would write words.

    >>> [is_null_like("NULL"), is_null_like("n/a"), is_null_like("n/a", loosely=True)]
    [True, False, True]
    """
    text = cell.strip() if len(cell) < 20 else cell
    return bool(_NULL.fullmatch(text) or (loosely and _LOOSELY.fullmatch(text)))
