"""Which joins a composer itself chose: told apart from those that merely agree with where the pieces lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.compose.components import Components
from jigsawnet.compose.problem import Problem, chosen_joins
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Constraints

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]
DEFAULTS = ComposeConfig()


def run(rows: Candidates, borders: Borders, composer: str, seed: int = 0, config: ComposeConfig = DEFAULTS) -> Assembly:
    return compose(rows, borders, composer, config, Context(), seed=seed)


def grid(side: int, tile_pose: TilePose) -> list[Alignment]:
    """The true joins of a grid, all alike: 2 side (side - 1) of them."""
    truth = {k: tile_pose(k % side, k // side, k) for k in range(side * side)}
    right = [(k, k + 1) for k in truth if k % side < side - 1]
    below = [(k, k + side) for k in range(side * (side - 1))]
    return [Alignment(i, j, truth[i].inverse() @ truth[j], 0.7) for i, j in right + below]


def scored(joins: Sequence[Alignment]) -> Candidates:
    rows = Candidates.of(joins)
    return rows.with_scores(rows.fit)


def pairs(joins: Sequence[object]) -> set[tuple[int, int]]:
    return {(e.alignment.i, e.alignment.j) for e in joins}  # type: ignore[attr-defined]


def test_of_a_loop_best_first_chooses_all_but_one_join_and_loop_composers_all(square: TileCandidates) -> None:
    rows, borders, _ = square
    for composer, expected in (("best-first", 3), ("glc", 4), ("hlm", 4), ("paper-glc", 4), ("paper-hlm", 4)):
        assembly = run(rows, borders, composer)
        assert len(assembly.chosen or ()) == expected, composer
        assert len(assembly.joins) == 4, "all four agree with the final places, whoever placed the pieces"
    assert pairs(run(rows, borders, "best-first").chosen or ()) == {(0, 1), (2, 3), (0, 2)}


def test_a_candidate_that_only_turns_a_piece_otherwise_is_no_join(square: TileCandidates) -> None:
    rows, borders, truth = square
    middle = SE2(0.0, *borders.center[1].tolist())
    true = truth[0].inverse() @ truth[1]
    turned = Alignment(0, 1, true @ middle @ SE2(0.4, 0.0, 0.0) @ middle.inverse(), 0.95)
    assembly = run(scored([turned, *rows.alignments()]), borders, "hlm")
    (join,) = [e for e in assembly.joins if (e.alignment.i, e.alignment.j) == (0, 1)]
    assert join.alignment.i_from_j.distance(true)[0] < 1e-6


def test_the_more_a_composer_looks_at_loops_the_more_joins_it_chooses(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """A grid of nine has 12 joins. A tree holds 8. Loops fixed until all is connected hold some. All loops merged hold 12."""
    rows, borders = scored(grid(3, tile_pose)), square_tiles(9)
    counts = {
        composer: [len(run(rows, borders, composer, seed).chosen or ()) for seed in range(20)]
        for composer in ("best-first", "paper-glc", "paper-hlm", "hlm")
    }
    assert set(counts["best-first"]) == {8}
    assert set(counts["paper-hlm"]) == set(counts["hlm"]) == {12}
    assert min(counts["paper-glc"]) > 8
    assert 8 < np.mean(counts["paper-glc"]) < 12


def test_what_is_chosen_are_candidates_with_their_scores_best_first(square: TileCandidates) -> None:
    rows, borders, _ = square
    chosen = run(rows, borders, "hlm").chosen or ()
    assert [e.score for e in chosen] == sorted(rows.score.tolist(), reverse=True)
    assert tuple(e.alignment for e in chosen) == rows.alignments()


def test_of_near_copies_the_one_that_was_used_is_chosen(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """Both agree with where the pieces lie."""
    here, right = tile_pose(0, 0), tile_pose(1, 0)
    joins = [Alignment(0, 1, here.inverse() @ right @ SE2(0.0, dx, 0.0), fit) for dx, fit in ((2.0, 0.6), (0.0, 0.9))]
    (chosen,) = run(scored(joins), square_tiles(2), "best-first").chosen or ()
    assert chosen.score == 0.9


def test_a_placement_that_is_no_candidate_is_not_chosen(square: TileCandidates) -> None:
    """A composer of another package may merge by any pose."""
    rows, borders, _ = square
    components = Components(4)
    components.merge(0, 1, rows.i_from_j(0))
    components.merge(1, 3, SE2(0.0, 500.0, 0.0))
    assert pairs(chosen_joins(Problem(4, borders, rows, (), {}, Components(4)), components)) == {(0, 1)}


def test_what_a_copy_chooses_is_its_own() -> None:
    components = Components(3)
    components.copy().merge(0, 1, SE2.identity())
    assert not components.chosen


def test_a_join_that_a_person_fixed_is_chosen(square: TileCandidates) -> None:
    rows, borders, _ = square
    fixed = replace(rows.alignments()[3], fit=0.1)
    constraints = Constraints(joins=(fixed,))
    assembly = compose(rows, borders, "best-first", DEFAULTS, Context(), constraints=constraints)
    assert (1, 3) in pairs(assembly.chosen or ())
    assert len(assembly.chosen or ()) == 3


@pytest.mark.parametrize("composer", ["best-first", "glc", "hlm", "paper-glc", "paper-hlm"])
def test_without_candidates_nothing_is_chosen(composer: str, square_tiles: Tiles) -> None:
    assert run(Candidates.none(), square_tiles(3), composer).chosen == ()
