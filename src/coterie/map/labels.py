"""Where names stand on a picture of the map: near their texts, and over as few of them as can be."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Pixels of a cell in which points are counted.
CELL = 6
#: Distances from its place at which a name is tried, in heights of a line, and directions.
_RINGS, _DIRECTIONS = (0.0, 0.9, 1.6, 2.5, 3.6, 5.0, 7.0, 9.5), 16
#: What a covered point costs, against the way to its place by the height of a line.
_COVERED, _WAY = 1.0, 0.05
#: Letters of a line, after which a name goes on below.
_LINE = 22
#: Widths of letters by the size of the type, those of DejaVu Sans Bold: nobody knows which font a reader has,
#: and hardly any is wider.
_LETTERS = {
    **dict.fromkeys("ijlI.,;:'|! -", 0.42),
    **dict.fromkeys("tfrJ()[]", 0.5),
    **dict.fromkeys("mwMW@%", 1.08),
}
#: Space between the letters of the name of an area, by the size of the type.
SPACING = 0.06
_CAPITAL, _OTHER, _FOREIGN = 0.85, 0.72, 0.9


@dataclass(frozen=True)
class Name:
    """A name, the size of its type in pixels, the point that it names, and whether that is an area."""

    text: str
    size: float
    at: tuple[float, float]
    area: bool = False


@dataclass(frozen=True)
class Placed:
    """A name in lines, its middle, and half its width and height."""

    name: Name
    lines: list[str]
    x: float
    y: float
    half: float
    high: float

    @property
    def aside(self) -> bool:
        """Whether it stands so far from its point that a line must lead there."""
        x, y = self.name.at
        return abs(self.x - x) > self.half + 3 or abs(self.y - y) > self.high + 3


def place_names(
    names: Sequence[Name], points: Array, width: float, height: float, reach: float = _RINGS[-1]
) -> list[Placed]:
    """Places for names in a picture, the first first; a name that finds none is left out.

    `points` are those of the texts in pixels. A name covers as few of them as it can without going far away,
    at most `reach` heights of a line.
    """
    sums = _summed(points, width, height)
    taken: list[Placed] = []
    for name in names:
        lines = wrapped(name.text)
        half = max(line_width(line, name.size, name.area) for line in lines) / 2 + 3
        high = 0.58 * name.size * len(lines) + 1
        spots = _spots(name, half, high, width, height, reach)
        free = [spot for spot in spots if _free(spot, half, high, taken)]
        if not free:
            continue
        covered = np.array([_inside(sums, x - half, y - high, x + half, y + high) for x, y in free])
        near = (0.0, 0.0) if name.area else (half, high)
        way = np.array([_gap(name.at, x, y, *near) for x, y in free])
        area = max((2 * half / CELL) * (2 * high / CELL), 1.0)
        cost = _COVERED * covered / area + _WAY * way / name.size
        x, y = free[int(np.argmin(np.round(cost, 6)))]
        taken.append(Placed(name, lines, x, y, half, high))
    return taken


def wrapped(text: str, most: int = _LINE) -> list[str]:
    """A name in lines of about the same length.

    >>> wrapped("exchange rate, wrong")
    ['exchange rate, wrong']
    >>> wrapped("virtual card, disposable card, limit")
    ['virtual card,', 'disposable card, limit']
    """
    words = text.split()
    n_lines = min(max(-(-len(text) // most), 1), 3, max(len(words), 1))
    wanted, lines = len(text) / n_lines, [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(lines) < n_lines and len(longer) > wanted + 3:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def line_width(text: str, size: float, spaced: bool = False) -> float:
    """How wide a line of text is at most, in bold type of one of the common fonts."""
    return size * sum(_letter(letter) + SPACING * spaced for letter in text)


def _letter(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    known = _LETTERS.get(letter, _CAPITAL if letter.isupper() else _OTHER)
    return known if letter.isascii() else max(known, _FOREIGN)


def _spots(
    name: Name, half: float, high: float, width: float, height: float, reach: float
) -> list[tuple[float, float]]:
    """Middles of places for a name: over its point, and around it, inside the picture."""
    found = []
    for ring in (ring for ring in _RINGS if ring <= reach):
        for turn in range(_DIRECTIONS if ring else 1):
            angle = 2 * np.pi * turn / _DIRECTIONS
            across, down = np.cos(angle), np.sin(angle)
            x = name.at[0] + across * (ring * name.size + (half if ring else 0) * abs(across))
            y = name.at[1] + down * (ring * name.size + (high if ring else 0) * abs(down))
            if half + 2 <= x <= width - half - 2 and high + 2 <= y <= height - high - 2:
                found.append((float(x), float(y)))
    return found


def _free(spot: tuple[float, float], half: float, high: float, taken: Sequence[Placed]) -> bool:
    x, y = spot
    return not any(
        abs(other.x - x) < other.half + half + 4 and abs(other.y - y) < other.high + high + 2
        for other in taken
    )


def _gap(at: tuple[float, float], x: float, y: float, half: float, high: float) -> float:
    """How far a point is from a box."""
    return float(np.hypot(max(abs(x - at[0]) - half, 0), max(abs(y - at[1]) - high, 0)))


def _summed(points: Array, width: float, height: float) -> Array:
    """Counts of points in cells, at most 1 each, summed from the top left."""
    shape = int(height // CELL) + 2, int(width // CELL) + 2
    cells = np.zeros(shape)
    x, y = (points / CELL).astype(np.int64).T if len(points) else np.zeros((2, 0), dtype=np.int64)
    inside = (x >= 0) & (y >= 0) & (x < shape[1]) & (y < shape[0])
    cells[y[inside], x[inside]] = 1.0
    return np.pad(cells.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def _inside(sums: Array, left: float, top: float, right: float, bottom: float) -> float:
    rows = np.clip([int(top // CELL), int(bottom // CELL) + 1], 0, len(sums) - 1)
    columns = np.clip([int(left // CELL), int(right // CELL) + 1], 0, sums.shape[1] - 1)
    (a, b), (c, d) = rows, columns
    return float(sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c])
