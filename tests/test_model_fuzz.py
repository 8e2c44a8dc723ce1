"""Models of every method with other values, shapes and types in any place, and right checksums.

Such a model is refused in one sentence, or it answers, and answers the same after it was saved and loaded again.
"""

import shutil
import time
import traceback
import warnings

import numpy as np
import pytest

from coterie import TopicModel, methods
from coterie.errors import InputError
from coterie.storage.state import write_state
from coterie.topics.state import pack
from fuzzing import cases, chance, one_sentence, shown
from golden.make import texts
from test_model_files import ASKED, changed, paths

pytestmark = pytest.mark.fuzz
LONGEST = 5.0  # seconds of the processor for one small model; the usual one takes a hundredth


@pytest.fixture(scope="module", params=methods.names())
def packed(request):
    """A model of a method, with an edit, as data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some methods do not converge in the few steps they have
        model = TopicModel(3, method=request.param).fit(texts())
        model.edits.rename(0, "First").pin("qwertz", 1)
    return request.param, pack(model)


def same(one, other):
    a, b = one.assign(ASKED), other.assign(ASKED)
    return (
        np.array_equal(a.topic, b.topic)
        and np.array_equal(a.confidence, b.confidence, equal_nan=True)
        and a.reasons == b.reasons
        and one.topics == other.topics
    )


def used(folder):
    """Load a model and ask it for all that it can do without its texts."""
    loaded = TopicModel.load(folder)
    assert len(loaded.assign(ASKED)) == len(ASKED)
    loaded.transform(ASKED)
    str(loaded.hierarchy())
    loaded._repr_html_()
    loaded.save(folder / "again")
    assert same(loaded, TopicModel.load(folder / "again"))


def fate(folder):
    """How a model ends: "answered", "refused", or what is wrong with it."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers may be nonsense
            used(folder)
        found = "answered"
    except InputError as error:
        found = "refused" if one_sentence(str(error)) else f"not a sentence: {error}"
    except Exception:
        found = traceback.format_exc()
    return found if time.process_time() - began < LONGEST else f"too slow, and {found}"


def test_a_forged_model_of_any_method_is_refused_or_answers_and_is_saved(packed, tmp_path, tried):
    name, state = packed
    places = list(paths(state))
    wrong = {}
    for number in range(cases(12)):
        folder = tmp_path / str(number)
        try:
            write_state(folder, "model", changed(state, places, chance("forged", name, number)))
        except InputError:
            continue  # no file can say that
        tried()
        found = fate(folder)
        if found not in ("answered", "refused"):
            wrong[f"{name}, model {number}"] = found
        shutil.rmtree(folder)
    assert not wrong, shown(wrong)
