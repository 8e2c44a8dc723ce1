"""Values made in the background: there, not yet, or never, and why."""

import pytest

from coterie.errors import InputError
from coterie.explore.caches import Background
from coterie.explore.guard import Invalid, Later


def background(make):
    return Background(make, "coterie-test", later="not yet", fault="the numbers cannot be counted")


def fail(error):
    raise error


def test_a_value_is_refused_until_it_is_there_and_made_once():
    made = []
    value = background(lambda: made.append(1) or len(made))
    with pytest.raises(Later, match="not yet"):  # asking begins it
        value.get()
    assert value.wait(20)
    value.warm_up()
    assert (value.get(), made, value.ready, value.ended, value.problem) == (1, [1], True, True, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (InputError("the table is damaged"), "the table is damaged"),
        (KeyError("x"), "the numbers cannot be counted; the terminal shows why"),
    ],
)
def test_a_value_that_cannot_be_made_says_why(error, problem):
    value = background(lambda: fail(error))
    assert not value.wait(20)
    assert (value.ready, value.ended, value.problem) == (False, True, problem)
    with pytest.raises(Invalid, match=problem):
        value.get()


def test_nothing_is_begun_for_nobody():
    made = []
    value = background(lambda: made.append(1))
    value.close()
    assert not value.wait(20)
    assert (made, value.ended, value.problem) == ([], True, None)
