"""The map as a picture: an SVG for print and slides, that needs nothing but itself."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from coterie.map.colours import LIGHT, Ground, mixed
from coterie.map.groups import Group
from coterie.map.labels import SPACING, Name, Placed, place_names
from coterie.map.svg import document, safe

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Width and height of the picture, and the margin in which only names stand.
WIDTH, HEIGHT, _SIDE, _TOP = 1600.0, 1000.0, 190.0, 60.0
#: Type of the largest and of the smallest topic.
_LARGEST, _SMALLEST = 25.0, 12.5
#: Type of a group of topics.
_GROUP = 22.0
#: How far a name may go from its place, in heights of a line: less far among groups, where there are many.
_FAR_REACH, _REACH = 9.5, 2.5
#: Pixels of a cell of the shading, and over how many cells it is soft.
_SHADE_CELL, _SOFT = 8, 3.0


@dataclass(frozen=True)
class Topic:
    """What is drawn of a topic."""

    label: str
    size: int
    colour: str
    at: tuple[float, float]


def draw_map(
    at: Array,
    topics: Ints,
    named: Sequence[Topic],
    title: str = "",
    note: str = "",
    ground: Ground = LIGHT,
    groups: Sequence[Group] = (),
    scale: float = 1.0,
) -> str:
    """Draw texts as points in the colours of their topics, with names as on a printed map.

    `at` are texts × 2 on the map, `topics` numbers in `named` (−1: none), the largest topic first.
    `groups` of topics are named in capitals. `scale` is that of the type: larger for a picture that is shown
    smaller.
    """
    there = np.isfinite(at).all(axis=1) & (topics >= 0)
    points, own = _fitted(at[there]), topics[there]
    seen = [topic for topic in named if topic.size]  # a topic without a text lies nowhere
    most, part = max((topic.size for topic in named), default=1), scale * (1.0 if len(named) <= 40 else 0.85)
    names = [
        Name(topic.label, round(part * _type(topic.size, most), 1), (x, y))
        for topic, (x, y) in zip(seen, _anchors(seen, at[there]), strict=True)
    ]
    above = [
        Name(group.label.upper(), round(scale * _GROUP, 1), (x, y), area=True)
        for group, (x, y) in zip(groups, _anchors(groups, at[there]), strict=True)
    ]
    placed = place_names([*above, *names], points, WIDTH, HEIGHT, _REACH if groups else _FAR_REACH)
    colour = {name: topic.colour for name, topic in zip(names, seen, strict=True)}
    return document(
        WIDTH,
        HEIGHT,
        title or "Map of the texts",
        ground.paper,
        _shading(points, own, named),
        *_points(points, own, named, ground),
        *(_leader(one, ground) for one in placed if one.aside and not one.name.area),
        *(_name(one, colour.get(one.name, ground.quiet), ground) for one in placed),
        _words(title, 32, 18 + 22 * scale, 22 * scale, 700, ground.ink),
        _words(note, 32, HEIGHT - 26, 14 * scale, 400, ground.quiet),
    )


def _type(size: int, most: int) -> float:
    """The size of type: the area of a name grows with its topic."""
    return round(_SMALLEST + (_LARGEST - _SMALLEST) * float(np.sqrt(size / max(most, 1))), 1)


def _fitted(at: Array, of: Array | None = None) -> Array:
    """Places in pixels, such that all points fill the picture but its margin."""
    of = at if of is None else of
    if not len(of):
        return np.tile([[WIDTH / 2, HEIGHT / 2]], (len(at), 1))
    low, high = of.min(axis=0), of.max(axis=0)
    room = np.array([WIDTH - 2 * _SIDE, HEIGHT - 2 * _TOP])
    scale = float((room / np.maximum(high - low, 1e-9)).min()) if (high > low).any() else 0.0
    return np.array([WIDTH, HEIGHT]) / 2 + (at - (low + high) / 2) * scale


def _anchors(named: Sequence[Topic | Group], of: Array) -> list[list[float]]:
    """Where names belong, in pixels."""
    places: list[list[float]] = _fitted(np.array([one.at for one in named]).reshape(-1, 2), of).tolist()
    return places


def _points(points: Array, own: Ints, named: Sequence[Topic], ground: Ground) -> list[str]:
    """One path for each topic: a dot is a line of no length with round ends."""
    size = 9.0 if len(points) < 60 else 5.0 if len(points) < 800 else 3.4 if len(points) < 6_000 else 2.6
    digits, paths = 0 if len(points) > 2_000 else 1, []
    for number, topic in enumerate(named):
        dots = "".join(f"M{x:.{digits}f} {y:.{digits}f}h0" for x, y in points[own == number])
        paths.append(
            f'<path d="{dots}" stroke="{topic.colour}" stroke-width="{size}" stroke-linecap="round" '
            f'stroke-opacity="{ground.point}" fill="none"/>'
            if dots
            else ""
        )
    return paths


def _shading(points: Array, own: Ints, named: Sequence[Topic]) -> str:
    """Soft colour behind the points, stronger where there are more, as a small image."""
    if not len(points):
        return ""
    shape = int(HEIGHT // _SHADE_CELL), int(WIDTH // _SHADE_CELL)
    x, y = np.clip((points / _SHADE_CELL).astype(np.int64), 0, np.array(shape[::-1]) - 1).T
    tints = np.array([[int(topic.colour[i : i + 2], 16) for i in (1, 3, 5)] for topic in named])[own]
    layers = []
    for weight in (np.ones(len(points)), *tints.T.astype(np.float64)):
        layer = np.bincount(y * shape[1] + x, weight, shape[0] * shape[1]).reshape(shape)
        layers.append(gaussian_filter(layer, _SOFT, mode="constant"))
    density = layers[0]
    colour = np.stack(layers[1:], axis=2) / np.maximum(density, 1e-12)[:, :, None]
    usual = float(np.quantile(density[y, x], 0.8))
    strength = np.clip(density / max(usual, 1e-12), 0.0, 1.0) ** 0.7 * 0.30
    pixels = np.round(np.dstack([colour, 255 * strength])).clip(0, 255).astype(np.uint8)
    data = base64.b64encode(_png(pixels)).decode()
    return (
        f'<image width="{shape[1] * _SHADE_CELL}" height="{shape[0] * _SHADE_CELL}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'
    )


def _png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Rows × columns × RGBA as a PNG file."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _leader(placed: Placed, ground: Ground) -> str:
    """A thin line from the edge of a name to the point that it names."""
    x, y = placed.name.at
    from_x = min(max(x, placed.x - placed.half + 6), placed.x + placed.half - 6)
    from_y = min(max(y, placed.y - placed.high), placed.y + placed.high)
    return (
        f'<path d="M{from_x:.1f} {from_y:.1f}L{x:.1f} {y:.1f}" stroke="{ground.quiet}" stroke-width="1" '
        f'stroke-opacity="0.8" fill="none"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{ground.ink}"/>'
    )


def _name(placed: Placed, colour: str, ground: Ground) -> str:
    size = placed.name.size
    first = placed.y - 0.58 * size * (len(placed.lines) - 1) + 0.35 * size
    lines = "".join(
        f'<tspan x="{placed.x:.1f}" y="{first + 1.16 * size * row:.1f}">{safe(line)}</tspan>'
        for row, line in enumerate(placed.lines)
    )
    weight, fill = 700 if size > 17 else 600, mixed(colour, ground.ink)
    spacing = f' letter-spacing="{SPACING * size:.1f}"' if placed.name.area else ""
    return (
        f'<text font-size="{size}"{spacing} font-weight="{weight}" text-anchor="middle" fill="{fill}" '
        f'stroke="{ground.paper}" stroke-width="{0.28 * size:.1f}" stroke-linejoin="round" '
        f'stroke-opacity="0.85" paint-order="stroke">{lines}</text>'
    )


def _words(text: str, x: float, y: float, size: float, weight: int, colour: str) -> str:
    if not text:
        return ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" fill="{colour}">'
        f"{safe(text)}</text>"
    )
