"""Groups of topics are found where they were planted, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.cluster import grouping
from coterie.cluster.grouping import nested_groupings


def counted(groups, per_group, rng, *, shared=0.1, own=12, common=60, tokens=1500):
    """Counts of topics in which every word is drawn: `shared` of them are words of the group."""
    n_topics = groups * per_group
    n_own, n_shared = n_topics * own, groups * own
    counts = np.zeros((n_topics, n_own + n_shared + common))
    for topic in range(n_topics):
        at = n_own + topic // per_group * own
        chances = np.zeros(counts.shape[1])
        chances[topic * own : (topic + 1) * own] = (0.75 - shared) * rng.dirichlet(np.ones(own))
        chances[at : at + own] = shared * rng.dirichlet(np.ones(own))
        chances[-common:] = 0.25 * rng.dirichlet(np.full(common, 3.0))
        counts[topic] = rng.multinomial(int(tokens * rng.gamma(4) / 4) + 50, chances)
    return counts


def partition(groups):
    return {frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)}


@pytest.mark.parametrize(("groups", "per_group"), [(3, 4), (4, 5), (6, 5), (10, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(groups, per_group, seed):
    counts = counted(groups, per_group, np.random.default_rng(seed))
    found = nested_groupings(counts)
    assert len(found) == 1
    assert partition(found[0].groups) == partition(np.arange(groups * per_group) // per_group)
    assert found[0].agreement > found[0].chance + 0.05


def test_groups_of_groups_are_found():
    rng = np.random.default_rng(0)
    fine = counted(16, 4, rng, shared=0.25)
    broad = counted(4, 16, rng, shared=0.05)
    found = nested_groupings(np.hstack([fine, broad[:, 64 * 12 :]]))
    assert [int(one.groups.max()) + 1 for one in found] == [16, 4]
    assert partition(found[1].groups[found[0].groups]) == partition(np.arange(64) // 16)


@pytest.mark.parametrize("n_topics", [8, 12, 20, 40])
@pytest.mark.parametrize("seed", range(4))
def test_topics_that_share_nothing_are_not_grouped(n_topics, seed):
    assert nested_groupings(counted(1, n_topics, np.random.default_rng(seed))) == []


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_any_counts_are_grouped_without_an_error(seed, n_topics):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.2, size=(n_topics, int(rng.integers(0, 40)))))
    n_groups = n_topics
    for found in nested_groupings(counts):
        assert len(found.groups) == n_groups
        n_groups = len(np.unique(found.groups))
        assert grouping.FEWEST_GROUPS <= n_groups <= len(found.groups) // 2
        assert sorted(set(found.groups.tolist())) == list(range(n_groups))


@pytest.mark.parametrize("seed", range(3))
def test_copies_and_the_order_of_topics_make_no_difference(seed):
    rng = np.random.default_rng(seed)
    counts = counted(5, 4, rng)
    first = nested_groupings(counts)[0]
    twice = nested_groupings(2 * counts)[0]
    assert twice.groups.tolist() == first.groups.tolist()
    assert twice.agreement == pytest.approx(first.agreement)
    order = rng.permutation(20)
    assert partition(nested_groupings(counts[order])[0].groups) == {
        frozenset(np.flatnonzero(np.isin(order, list(some))).tolist()) for some in partition(first.groups)
    }


def test_only_the_most_frequent_words_are_looked_at(monkeypatch):
    counts = counted(4, 5, np.random.default_rng(0))
    expected = nested_groupings(counts)[0]
    rare = np.hstack([np.eye(20), counts])
    monkeypatch.setattr(grouping, "_WORDS", counts.shape[1])
    kept = grouping._frequent(rare)
    assert kept.shape == counts.shape
    assert nested_groupings(rare)[0].groups.tolist() == expected.groups.tolist()
