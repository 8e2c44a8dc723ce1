"""Colours of topics: neighbours on the map have near hues, and take turns in lightness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Lightness of one topic and the next around the map: distinct without seeing hues.
_LIGHTNESS = (0.56, 0.74, 0.65)
_CHROMA = 0.125
_TO_CONE = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@dataclass(frozen=True)
class Ground:
    """Colours of paper and ink, as in ``palette.css`` of the report, and how strong points of the map are."""

    paper: str
    ink: str
    quiet: str
    line: str
    soft: str
    accent: str
    look: str
    bar: str
    point: float


LIGHT = Ground("#ffffff", "#1c1e21", "#5f646b", "#dfe0dc", "#eff0ec", "#1d5fa6", "#9a4b00", "#9db8d6", 0.85)
DARK = Ground("#1a1d21", "#e5e6e4", "#a0a6ad", "#30343a", "#23272c", "#86b8f0", "#f0a860", "#456a92", 0.95)
GROUNDS = {"light": LIGHT, "dark": DARK}


def shades(positions: Array) -> Array:
    """Lightness and hue for each point of a map: the hue tells where around the middle it lies."""
    n = len(positions)
    middle = positions - positions.mean(axis=0) if n else positions
    angle = np.round(np.arctan2(middle[:, 1], middle[:, 0]), 9)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(angle, kind="stable")] = np.arange(n)
    lightness = np.array(_LIGHTNESS)[rank % len(_LIGHTNESS)]
    return np.column_stack([lightness, (250.0 + 360.0 * rank / max(n, 1)) % 360.0])


def shade_beside(shade: Array, n: int) -> Array:
    """A shade near another among `n`, of the lightness that differs most from it."""
    lightness = max(_LIGHTNESS, key=lambda value: abs(value - float(shade[0])))
    return np.array([lightness, (shade[1] + 180.0 / max(n, 1)) % 360.0])


def colours(found: Array) -> list[str]:
    """Shades as colours like #3a7bd5."""
    return [oklch(float(lightness), _CHROMA, float(hue)) for lightness, hue in found]


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """A colour of the Oklab space as sRGB.

    >>> oklch(1.0, 0.0, 0.0)
    '#ffffff'
    """
    turn = np.radians(hue)
    cone = _TO_CONE @ np.array([lightness, chroma * np.cos(turn), chroma * np.sin(turn)])
    linear = np.clip(_TO_RGB @ cone**3, 0.0, 1.0)
    shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in np.clip(shown, 0.0, 1.0))


def mixed(colour: str, ink: str) -> str:
    """Ink with some of a colour in it.

    >>> mixed("#ff0000", "#000000")
    '#660000'
    """
    if not ink.startswith("#"):  # a variable of a style sheet
        return f"color-mix(in srgb,{colour} 40%,{ink})"
    parts = [0.4 * int(colour[i : i + 2], 16) + 0.6 * int(ink[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part):02x}" for part in parts)
