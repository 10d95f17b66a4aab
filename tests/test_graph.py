"""Scored candidates become one list, best first, whatever the order they came in."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.graph import build_graph
from jigsawnet.types import Alignment

PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] < pair[1])
POSES = st.builds(SE2, st.floats(-3, 3), st.floats(-9, 9), st.floats(-9, 9))


def join(i: int, j: int, x: float = 0.0) -> Alignment:
    return Alignment(i, j, SE2(0.0, x, 0.0), fit=0.5)


def test_edges_come_best_first_and_parallel_ones_stay() -> None:
    graph = build_graph(3, [join(0, 1), join(1, 2), join(0, 1, x=5.0)], [0.2, 0.9, 0.5])
    assert graph.n_fragments == 3
    assert [(e.alignment.i, e.alignment.j, e.score) for e in graph.edges] == [(1, 2, 0.9), (0, 1, 0.5), (0, 1, 0.2)]


@pytest.mark.parametrize(
    ("score", "counts_as"),
    [(math.nan, 0.0), (math.inf, 0.0), (-math.inf, 0.0), (-0.3, 0.0), (1.7, 1.0), (0.0, 0.0), (1.0, 1.0), (0.4, 0.4)],
)
def test_scores_lie_between_0_and_1_and_no_number_counts_as_0(score: float, counts_as: float) -> None:
    assert build_graph(2, [join(0, 1)], [score]).edges[0].score == counts_as


def test_no_candidates_give_no_edges() -> None:
    assert build_graph(3, [], []).edges == ()
    assert build_graph(0, [], []).n_fragments == 0


def test_every_candidate_needs_a_score_and_pieces_that_exist() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        build_graph(2, [join(0, 1)], [])
    with pytest.raises(ValueError, match="does not exist"):
        build_graph(2, [join(0, 2)], [0.5])


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(PAIRS, POSES, st.sampled_from([0.0, 0.5, 1.0, math.nan])), max_size=8), st.randoms(use_true_random=False)
)
def test_the_order_of_the_input_does_not_matter(candidates: list[tuple[tuple[int, int], SE2, float]], random: Any) -> None:
    def build() -> Any:
        return build_graph(5, [Alignment(*pair, pose, 0.5) for pair, pose, _ in candidates], [s for _, _, s in candidates])

    graph = build()
    random.shuffle(candidates)
    assert build() == graph
    assert [e.score for e in graph.edges] == sorted((e.score for e in graph.edges), reverse=True)
