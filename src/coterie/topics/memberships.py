"""Memberships that agree with confidence: the largest one of a text is its confidence.

A method's own memberships say which topics come first, but are not probabilities: on most collections they
are too sure. So each row is raised to a power, which keeps the order, and scaled to a sum of 1. The power is
the one that makes the largest membership equal to the confidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

#: The smallest and the largest power: the first keeps the order of topics that are nearly equal.
_LEAST, _MOST = 0.01, 1e4
#: Steps of Newton's method, and the change of the power, relative to it, that ends it.
_STEPS, _TOLERANCE = 60, 1e-12


def calibrated(memberships: Array, topics: Ints, confidence: Array) -> Array:
    """Memberships of texts so that the one of each text's topic is the confidence, and the order stays.

    Two things are stronger: rows sum to 1, so the largest membership is never below that of equal shares, and
    topics that tie stay equal. A row of zeros, of a text of which nothing is known, stays zero.

    Parameters
    ----------
    memberships
        Texts × topics, rows that sum to 1 or are zero.
    topics
        The topic of each text: the one with the largest membership, or one that somebody chose, whose
        confidence is 1.
    confidence
        The confidence of each text in its topic.

    >>> calibrated(np.array([[0.9, 0.09, 0.01]]), np.array([0]), np.array([0.6])).round(2)
    array([[0.6 , 0.27, 0.13]])
    """
    rows = np.flatnonzero(memberships.any(axis=1))
    certain = np.flatnonzero(confidence >= 1.0)
    found = np.zeros_like(memberships)
    shares, own = memberships[rows], topics[rows]
    with np.errstate(divide="ignore"):
        logs = np.log(shares / shares.max(axis=1, keepdims=True, initial=0.0))
    powered = np.exp(_powers(logs, np.clip(confidence[rows], 1e-9, 1.0))[:, None] * logs)
    powered /= powered.sum(axis=1, keepdims=True)
    # a lead that is lost in rounding
    lost = np.flatnonzero(powered.argmax(axis=1) != own)
    powered[lost, own[lost]] = np.nextafter(powered[lost].max(axis=1, initial=0.0), 1.0)
    found[rows] = powered
    found[certain] = 0.0
    found[certain, topics[certain]] = 1.0
    return found


def _powers(logs: Array, confidence: Array) -> Array:
    """For each row the power whose largest share is the confidence.

    The logarithm of the sum of powers falls and is convex, so Newton's method climbs to the power from below.
    """
    powers = np.full(len(logs), _LEAST)
    wanted = -np.log(confidence)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    active = np.arange(len(logs))
    for _ in range(_STEPS):
        if not len(active):
            break
        parts = np.exp(powers[active, None] * logs[active])
        total = parts.sum(axis=1)
        slope = (parts * finite[active]).sum(axis=1) / total
        missing = np.log(total) - wanted[active]
        step = np.divide(missing, -slope, where=slope < 0, out=np.full(len(active), np.inf))
        ahead = np.clip(np.where(missing > 0, powers[active] + step, powers[active]), _LEAST, _MOST)
        moved = ahead - powers[active] > _TOLERANCE * powers[active]
        powers[active] = ahead
        active = active[moved & (ahead < _MOST)]
    return powers
