import sys
import threading
from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pytest

from coterie import NMF, TopicModel
from coterie.errors import InputError
from coterie.progress import Step, automatic, counted, display, listening, shown, silent, tell


def heard_of(work):
    heard = []
    with listening(heard.append):
        work()
    return heard


def test_what_is_told_is_heard_and_only_within():
    tell("before", 1)
    heard = heard_of(lambda: tell("reading", 3, 10, "texts"))
    tell("after", 1)
    assert heard == [Step("reading", 3, 10, "texts")]


def test_counted_gives_the_items_and_tells_after_each():
    order = []
    with listening(lambda step: order.append(step.done)):
        for item in counted("ab", "reading"):
            order.append(item)
    assert order == [0, "a", 1, "b", 2]


def test_counted_knows_the_total_where_there_is_one():
    assert {step.total for step in heard_of(lambda: list(counted([1, 2], "s")))} == {2}
    assert {step.total for step in heard_of(lambda: list(counted(iter([1, 2]), "s")))} == {None}
    assert {step.total for step in heard_of(lambda: list(counted(iter([1, 2]), "s", 7)))} == {7}


def test_counted_without_a_listener_is_the_same_items():
    assert list(counted(iter([3, 1]), "s")) == [3, 1]
    assert list(counted([], "s")) == []


def test_an_inner_listener_hears_alone():
    inner = []

    def work():
        with listening(inner.append):
            tell("inside", 1)
        tell("outside", 1)

    assert [step.stage for step in heard_of(work)] == ["outside"]
    assert [step.stage for step in inner] == ["inside"]


def test_what_is_unheard_is_told_to_nobody():
    def work():
        with silent():
            tell("inside", 1)
        tell("outside", 1)

    assert [step.stage for step in heard_of(work)] == ["outside"]


def test_a_listener_that_fails_is_left_alone_and_the_work_goes_on():
    calls, done = [], []

    def fails(step):
        calls.append(step)
        raise ValueError("no bar today")

    with pytest.warns(RuntimeWarning, match="no bar today"), listening(fails):  # noqa: PT031
        for item in counted(range(3), "s"):
            done.append(item)
    assert done == [0, 1, 2]
    assert len(calls) == 1


def test_an_interrupt_in_a_listener_is_not_held_back():
    def interrupted(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupted):
        tell("s", 1)
    assert heard_of(lambda: tell("s", 2)) == [Step("s", 2, None)]


def test_an_exception_of_the_work_passes_and_ends_the_listening():
    heard = []
    with pytest.raises(ZeroDivisionError), listening(heard.append):
        raise ZeroDivisionError
    tell("s", 1)
    assert heard == []


def test_a_listener_that_uses_the_library_is_not_told_of_itself():
    heard = []

    def busy(step):
        heard.append(step)
        tell("of the listener", 1)

    with listening(busy):
        tell("s", 1)
        tell("s", 2)
    assert [step.done for step in heard] == [1, 2]


def test_a_step_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Step("s", 1, None).done = 2


def test_listeners_of_threads_are_their_own():
    heard = []
    with listening(heard.append):
        thread = threading.Thread(target=tell, args=("elsewhere", 1))
        thread.start()
        thread.join()
    assert heard == []


def test_a_fit_that_is_listened_to_is_the_same_fit():
    X = np.random.RandomState(0).poisson(1.0, (30, 8))
    alone = NMF(2, random_state=0).fit(X).components_
    with listening(lambda step: np.random.seed(step.done)):  # noqa: NPY002
        np.testing.assert_array_equal(NMF(2, random_state=0).fit(X).components_, alone)


# --- the bar


class Recorder:
    """A bar that keeps what it is told."""

    def __init__(self):
        self.steps, self.closed = [], False

    def update(self, step):
        self.steps.append(step)

    def close(self):
        self.closed = True


@pytest.fixture
def bar(monkeypatch):
    """What a prompt shows."""
    bar = Recorder()
    monkeypatch.setattr(display, "bar_here", lambda: bar)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    return bar


TEXTS = ["late parcel", "parcel lost", "refund card", "card refund money"] * 5


def test_a_fit_shows_a_bar_where_a_person_waits(bar):
    TopicModel(n_topics=2).fit(TEXTS)
    assert bar.steps
    assert bar.closed


def test_a_fit_in_a_script_shows_nothing(bar, monkeypatch):
    monkeypatch.delattr(sys, "ps1")
    TopicModel(n_topics=2).fit(TEXTS)
    assert not bar.steps
    with shown():
        TopicModel(n_topics=2).fit(TEXTS)
    assert bar.steps  # it was asked for


def test_who_listens_hears_and_no_bar_is_shown(bar):
    assert heard_of(lambda: TopicModel(n_topics=2).fit(TEXTS))
    assert not bar.steps


def test_a_failed_fit_removes_the_bar(bar):
    with pytest.raises(InputError):
        TopicModel(n_topics=2).fit([])
    assert bar.closed


def test_a_notebook_shows_a_bar_and_removes_it(monkeypatch):
    published = []
    shell = SimpleNamespace(
        kernel=1, display_pub=SimpleNamespace(publish=lambda **what: published.append(what))
    )
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(display, "_REFRESHES", 1e9)
    with automatic():
        tell("reading", 1, 10)
    assert published == []  # a bar that flashes up and goes is of no use
    monkeypatch.setattr(display, "PATIENCE", 0)
    with automatic():
        tell("<reading>", 3, 10, "texts")
        tell("<reading>", 4, 10, "texts")
    assert [what["data"]["text/html"] for what in published] == [
        f'&lt;reading&gt; <progress value="{done}" max="10"></progress> {done}/10 texts' for done in (3, 4)
    ] + [""]
    assert [what["update"] for what in published] == [False, True, True]
    assert len({what["transient"]["display_id"] for what in published}) == 1
