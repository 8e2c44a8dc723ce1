"""Cells by which databases and spreadsheets say that there is nothing."""

from __future__ import annotations

import re

# nobody answers a question with these
_NULL = re.compile(r"NULL|null|\(null\)|\\N|NaN|nan|<NA>|#N/A|#NULL!|NaT")
# these may be answers, but not dates or numbers
_LOOSELY = re.compile(r"N/?A|NONE|NULL|\(NULL\)|NAN|NAT|-+|–|—", re.IGNORECASE)


def is_null_like(cell: str, loosely: bool = False) -> bool:
    """Whether a cell stands for nothing; `loosely` where nobody would write words.

    >>> [is_null_like("NULL"), is_null_like("n/a"), is_null_like("n/a", loosely=True)]
    [True, False, True]
    """
    text = cell.strip() if len(cell) < 20 else cell
    return bool(_NULL.fullmatch(text) or (loosely and _LOOSELY.fullmatch(text)))
