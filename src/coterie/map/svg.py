"""Pieces of SVG: a document, and text that is safe in it."""

from __future__ import annotations

import html

#: Fonts of pictures. A system has one of them, and what draws without a browser needs its name.
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Noto Sans', 'DejaVu Sans', sans-serif"


def document(width: float, height: float, title: str, paper: str, *parts: str) -> str:
    """A drawing on paper, with a title for readers that cannot see it."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="{FONT}" role="img">',
        f"<title>{safe(title)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="{paper}"/>',
    ]
    return "\n".join([*head, *filter(None, parts), "</svg>"])


def safe(text: str) -> str:
    """Text in XML: no markup, and none of the characters that XML does not have.

    >>> safe("<b>late\\x00parcel")
    '&lt;b&gt;late parcel'
    """
    plain = "".join(sign if sign >= " " and sign not in "\ufffe\uffff" else " " for sign in text)
    return html.escape(plain.encode("utf-8", "replace").decode("utf-8"))
