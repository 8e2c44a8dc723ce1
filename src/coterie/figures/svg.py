"""What figures are made of: lines, bars and words as SVG, and a frame around them."""

from __future__ import annotations

from coterie.map.colours import Ground
from coterie.map.labels import line_width
from coterie.map.svg import document, safe

#: Width of a figure, and the space around what is drawn.
WIDTH, SIDE = 900.0, 16.0
#: Where the drawing begins, under title and note.
TOP = 62.0
#: How wide plain type is against bold.
_PLAIN = 0.92


def element(name: str, *inside: str, **attributes: str | float | None) -> str:
    """An element; an underscore in the name of an attribute is a hyphen, None leaves it out.

    >>> element("text", safe("late"), x=1.0, font_size=12)
    '<text x="1" font-size="12">late</text>'
    """
    given = "".join(
        f' {key.replace("_", "-")}="{value if isinstance(value, str) else short(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{''.join(inside)}</{name}>" if inside else f"<{name}{given}/>"


def short(value: float) -> str:
    """A number of pixels, or of an opacity, in few digits.

    >>> short(3.0), short(0.256)
    ('3', '0.26')
    """
    return f"{round(value, 2):g}" if abs(value) < 1 else f"{value:.1f}".removesuffix(".0")


def words(
    text: str,
    x: float,
    y: float,
    fill: str,
    size: float = 12,
    *,
    weight: int = 400,
    anchor: str = "start",
    tip: str = "",
) -> str:
    """A line of text; `tip` is shown under the pointer."""
    return element(
        "text",
        safe(text),
        titled(tip),
        x=x,
        y=y,
        font_size=size,
        font_weight=None if weight == 400 else weight,
        text_anchor=None if anchor == "start" else anchor,
        fill=fill,
    )


def titled(tip: str) -> str:
    """What is shown under the pointer."""
    return f"<title>{safe(tip)}</title>" if tip else ""


def box(
    x: float, y: float, width: float, height: float, fill: str, tip: str = "", **more: str | float | None
) -> str:
    """A rectangle."""
    return element(
        "rect", *filter(None, [titled(tip)]), x=x, y=y, width=width, height=height, fill=fill, **more
    )


def rule(
    x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1, **more: str | float
) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **more)


def line(points: list[tuple[float, float]], stroke: str, width: float = 1.5, **more: str | float) -> str:
    """A line through points."""
    way = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
    return element(
        "path", d=way, fill="none", stroke=stroke, stroke_width=width, stroke_linejoin="round", **more
    )


def cut(text: str, width: float, size: float = 12, weight: int = 400) -> str:
    """As much of a text as fits, in whatever font it is shown.

    >>> cut("parcel is late and nobody answers", 100)
    'parcel is late…'
    """
    part, text = (1.0 if weight > 400 else _PLAIN), " ".join(text.split())
    if part * line_width(text, size) <= width:
        return text
    room = width / part - line_width("…", size)
    while text and line_width(text, size) > room:
        text = text[:-1]
    return text.rstrip(" ,;:") + "…"


def framed(height: float, title: str, note: str, ground: Ground, *parts: str, width: float = WIDTH) -> str:
    """A figure: a title, a note that says what is shown, and the drawing."""
    return document(
        width,
        height,
        f"{title}. {note}" if note else title,
        ground.paper,
        words(cut(title, width - 2 * SIDE, 16, 600), SIDE, 26, ground.ink, 16, weight=600),
        words(cut(note, width - 2 * SIDE), SIDE, 45, ground.quiet) if note else "",
        *parts,
    )


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.1234), percent(0.04), percent(0.0004), percent(0)
    ('12 %', '4.0 %', '< 0.1 %', '0 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.0995 else f"{100 * share:.1f} %"


def many(number: int, one: str, more: str = "") -> str:
    """A number with its noun.

    >>> many(1, "text"), many(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"
