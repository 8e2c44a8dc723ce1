"""The one exception for input a person can mend; its message says where, what and what to do."""


class InputError(ValueError):
    """Input that cannot be used as it is. The message names the place, the value and the way out."""


def shown(value: object) -> str:
    """A value for a sentence: in one line, not too long."""
    return " ".join(repr(value)[:80].split())
