"""What fuzz targets share: one seed and one amount of work. The fixture `tried` counts their cases.

COTERIE_FUZZ_SEED=7 tries other cases than `make test` does; COTERIE_FUZZ=10 tries ten times as many.
`make fuzz` does both, round after round (`fuzz_rounds.py`).
"""

import os
import random

SEED = int(os.environ.get("COTERIE_FUZZ_SEED", "0"))
WORK = float(os.environ.get("COTERIE_FUZZ", "1"))


def cases(usual):
    """How many to try where `make test` tries `usual`."""
    return max(1, round(usual * WORK))


def chance(*place):
    """Random choices that depend on the seed and on the place that asks for them."""
    return random.Random("/".join(map(str, (SEED, *place))))


def one_sentence(told, most=3_000):
    """Whether a message is one a person can read: one line, not too long, no trace of a program."""
    return 0 < len(told) <= most and len(told.splitlines()) == 1 and "Traceback" not in told


def shown(wrong):
    """Cases that went wrong and what they said, for the message of a failed test."""
    return "\n".join(f"{case}: {said}" for case, said in wrong.items())
