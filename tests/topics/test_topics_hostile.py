"""Models that claim impossible sizes: small on disk, they must not take all memory, or all time."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from topic_texts import planted_texts

from coterie import TopicModel
from coterie.errors import InputError
from coterie.storage.state import write_state
from coterie.topics.labels import topic_labels
from coterie.topics.state import pack

#: Address space of a process that loads such a model, in bytes; a small model takes a tenth.
ROOM = 3 << 30


def fitted(method):
    return TopicModel(3, method=method, random_state=0).fit(planted_texts(120)[0])


@pytest.fixture(scope="module")
def packed():
    return {method: pack(fitted(method)) for method in ("nmf", "coterie")}


def loaded_in_little_room(folder, state):
    """What `load` says in a process whose memory is limited; None if it loads."""
    write_state(folder, "model", state)
    code = (
        "import resource, sys\nfrom coterie import TopicModel\nfrom coterie.errors import InputError\n"
        f"import coterie.topics.model\nresource.setrlimit(resource.RLIMIT_AS, ({ROOM}, {ROOM}))\n"
        "try:\n    TopicModel.load(sys.argv[1])\nexcept InputError as error:\n    print(error)"
    )
    limited = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(limited, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() or None


@pytest.mark.process
def test_components_without_columns(packed, tmp_path):
    state = packed["nmf"]
    state = state | {"estimator": state["estimator"] | {"fitted": {}}}
    state["estimator"]["fitted"] = packed["nmf"]["estimator"]["fitted"] | {
        "components_": np.zeros((400_000_000, 0))
    }
    told = loaded_in_little_room(tmp_path / "m", state)
    assert "of shape (400000000, 0) is empty" in told


@pytest.mark.process
def test_more_topics_than_an_order_says(packed, tmp_path):
    state = dict(packed["nmf"])
    state["estimator"] = state["estimator"] | {
        "fitted": state["estimator"]["fitted"] | {"components_": np.zeros((1_000_000, 1), dtype="i1")}
    }
    assert "topics and their order differ" in loaded_in_little_room(tmp_path / "m", state)


@pytest.mark.process
def test_topics_that_list_thirty_thousand_terms_load_soon(packed, tmp_path):
    state = packed["coterie"]
    terms = [np.zeros(30_000, dtype=np.int64) for _ in state["description"]["terms"]]
    state = state | {"description": state["description"] | {"terms": terms}}
    assert loaded_in_little_room(tmp_path / "m", state) is None


@pytest.mark.process
def test_a_table_of_topics_and_terms_that_would_fill_the_memory(packed, tmp_path):
    state, many = packed["nmf"], 1_000_000
    vectorizer = state["vectorizer"] | {
        "terms": [f"t{i}" for i in range(many)],
        "display": [f"t{i}" for i in range(many)],
        "document_frequency": np.ones(many, dtype=np.int64),
        "count": np.ones(many, dtype=np.int64),
        "n_single": many,
    }
    space = {"weights": np.ones(many), "vectors": np.zeros((many, 1))}
    fitted = state["estimator"]["fitted"] | {"components_": np.zeros((1_000, 1))}
    state = state | {
        "vectorizer": vectorizer,
        "space": space,
        "estimator": state["estimator"] | {"fitted": fitted},
        "order": np.arange(1_000),
        "description": state["description"] | {"counts": csr_matrix((1_000, many))},
    }
    told = loaded_in_little_room(tmp_path / "m", state)
    assert "1,000 topics with 1,000,000 terms, which need 8,000,000,000 bytes" in told


@pytest.mark.parametrize("name", ["language", "predefined", "method"])
def test_what_could_not_be_saved_is_not_loaded(packed, tmp_path, name):
    state = packed["coterie"]
    write_state(tmp_path / "m", "model", state | {"parameters": state["parameters"] | {name: 5}})
    with pytest.raises(InputError, match="is inconsistent"):
        TopicModel.load(tmp_path / "m")


def test_labels_take_twenty_terms_at_most():
    same = ["parcel"] * 50_000
    first, second, third = topic_labels([same, same, ["late", *same]], [4, 5, 6], {})
    assert first == "parcel, parcel, parcel"
    assert second == ", ".join(["parcel"] * 4)
    assert third == "late, parcel, parcel"
    assert len(topic_labels([same] * 30, range(30), {})[20].split(", ")) <= 20
