"""Reliability: a block is as doubtful as what it hangs on, and the main part is where most pieces are expected to be right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.reliability import piece_reliability, strongest_tree

Pair = tuple[int, int]


def reliable(n: int, sure: dict[Pair, float], *components: tuple[int, ...]) -> dict[int, float]:
    """The reliability of n pieces in one component, or in those given, by joins with probabilities."""
    probability = np.array(list(sure.values()), np.float64)
    tree = strongest_tree(n, list(sure), probability)
    return piece_reliability(tree, probability[list(tree.edges)], components or [tuple(range(n))])


def test_all_of_a_block_that_hangs_on_one_doubtful_join_is_as_doubtful_as_this_join() -> None:
    firm = dict.fromkeys([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (4, 5), (5, 6), (4, 6)], 0.999)
    found = reliable(7, firm | {(3, 4): 0.6})
    assert all(found[idx] > 0.99 for idx in range(4)), "the larger side is the main part"
    assert all(0.59 < found[idx] <= 0.6 for idx in (4, 5, 6))


def test_the_way_with_the_surer_joins_counts() -> None:
    doubtful = reliable(3, {(0, 1): 0.9, (1, 2): 0.5})
    either = reliable(3, {(0, 1): 0.9, (1, 2): 0.5, (0, 2): 0.8})
    assert doubtful[2] == pytest.approx(0.5)
    assert either[2] == pytest.approx(0.8)


def test_doubts_multiply_along_a_chain() -> None:
    found = reliable(5, {(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.9, (3, 4): 0.9})
    assert [found[idx] for idx in range(5)] == pytest.approx([0.81, 0.9, 0.9, 0.9, 0.81])


def test_two_pieces_are_as_sure_as_their_join_and_one_alone_is_certain() -> None:
    assert reliable(2, {(0, 1): 0.7}) == {0: 0.7, 1: 0.7}
    assert reliable(1, {}) == {0: 1.0}


def test_what_no_join_holds_has_no_confidence_and_components_do_not_touch_each_other() -> None:
    found = reliable(5, {(0, 1): 0.9, (1, 2): 0.9}, (0, 1, 2, 3), (4,))
    assert found[3] == 0.0
    assert found[4] == 1.0
    assert found[1] == pytest.approx(0.9)


def test_the_tree_takes_the_strongest_joins_and_knows_its_ways() -> None:
    pairs, strength = [(0, 1), (1, 2), (0, 2), (2, 3)], np.array([0.1, 0.8, 0.9, 0.5])
    tree = strongest_tree(4, pairs, strength)
    assert [pairs[row] for row in tree.edges] == [(0, 2), (1, 2), (2, 3)]
    assert sorted(tree.path(0, 3)) == [0, 2]
    assert tree.path(1, 1) == []
    assert tree.below(0) == [1, 2, 3], "seen from piece 0, the root"
    assert tree.below(2) == [3]


joins = st.dictionaries(st.sampled_from([(i, j) for j in range(7) for i in range(j)]), st.floats(0.01, 0.99), min_size=1)


@settings(max_examples=80, deadline=None)
@given(joins)
def test_it_is_the_product_along_the_strongest_way_to_the_piece_with_the_most_expected_right(sure: dict[Pair, float]) -> None:
    n = 7
    probability = np.array(list(sure.values()))
    tree = strongest_tree(n, list(sure), probability)
    cut = probability[list(tree.edges)]
    root = [next(idx for idx in _upwards(tree.parent, k) if tree.parent[idx] < 0) for k in range(n)]
    way = [[math.prod(cut[tree.path(a, b)]) if root[a] == root[b] else 0.0 for b in range(n)] for a in range(n)]
    found = piece_reliability(tree, cut, [tuple(range(n))])
    mains = [a for a in range(n) if sum(way[a]) == pytest.approx(max(map(sum, way)))]
    assert any([found[b] for b in range(n) if b != a] == pytest.approx([way[a][b] for b in range(n) if b != a]) for a in mains)
    assert piece_reliability(tree, cut, [tuple(range(n))]) == found


def _upwards(parent: tuple[int, ...], idx: int) -> list[int]:
    way = [idx]
    while parent[way[-1]] >= 0:
        way.append(parent[way[-1]])
    return way
