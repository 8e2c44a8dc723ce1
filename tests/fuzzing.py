"""What fuzz targets share: one seed and one amount of work. The fixture `tried` counts their cases.

COTERIE_FUZZ_SEED=7 tries other cases than `make test` does; COTERIE_FUZZ=10 tries ten times as many.
`make fuzz` does both, round after round (`fuzz_rounds.py`).
"""

import json
import os
import random

SEED = int(os.environ.get("COTERIE_FUZZ_SEED", "0"))
WORK = float(os.environ.get("COTERIE_FUZZ", "1"))
#: What a forger writes into a file of JSON, also where it says which arrays lie where.
VALUES = [
    *[None, True, False, 0, -1, 1, 3, 2**31, 2**63, 2**64, 10**90, 0.5, -0.0, 1e308, "", "x", "\ud800", "$array", [], {}],
    *[{"$array": "X/data"}, {"$array": "flags"}, {"$csr": {}}, {"$float": "nan"}, {"$tuple": []}, {"$$array": 1}, [[[]]]],
    *["F64", "I32", "U8", "BOOL", "BF16", "../x", [0, 0], [4, 5], [2**40, 2**40], "coterie fuzz", "X/indices", "X/indptr"],
]  # fmt: skip


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


def spots(value):
    """All places in a JSON value, as (container, key)."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from spots(inner)


def forged(whole, draw):
    """A JSON value changed in one or two places."""
    for _ in range(draw.randint(1, 2)):
        if not list(spots(whole)):
            return draw.choice(VALUES)
        container, key = draw.choice(list(spots(whole)))
        other, place = draw.choice(list(spots(whole)))
        value = json.loads(json.dumps(draw.choice([draw.choice(VALUES), other[place]])))
        action = draw.randrange(4)
        if action == 0 and isinstance(container, dict):
            container[draw.choice(["$array", "$csr", "x", "shape", "data", "array", "dtype"])] = value
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, dict):
            container["$" + str(key)] = container.pop(key)
        else:
            container[key] = value
    return whole
