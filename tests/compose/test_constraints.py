"""A person's decisions hold whatever the composer; contradictions are told apart and named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Constraints

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]
Tiles = Callable[[int], Borders]
TilePose = Callable[..., SE2]
COMPOSERS = ("best-first", "glc", "hlm")
every_composer = pytest.mark.parametrize("composer", COMPOSERS)


def run(tiles: TileCandidates, composer: str, **decisions: object) -> Assembly:
    rows, borders, _ = tiles
    decided = Constraints(**decisions)  # type: ignore[arg-type]
    return compose(rows, borders, composer, ComposeConfig(), Context(), constraints=decided)


def relative(assembly: Assembly, i: int, j: int) -> SE2:
    return assembly.poses[i].inverse() @ assembly.poses[j]


def assert_same(a: SE2, b: SE2, px: float = 1e-6) -> None:
    angle, distance = a.distance(b, at=(35, 35))
    assert angle < 1e-6
    assert distance < px


def between(i: int, j: int, pose_i: SE2, pose_j: SE2) -> Alignment:
    return Alignment(i, j, pose_i.inverse() @ pose_j, fit=0.0)


@every_composer
def test_a_fixed_join_holds_against_better_ones(square: TileCandidates, tile_pose: TilePose, composer: str) -> None:
    """3 is put to the right of 1, although a loop of good joins puts it below; the loop is given up, not the decision."""
    _, _, truth = square
    decision = between(1, 3, truth[1], tile_pose(2, 0, 3))
    assembly = run(square, composer, joins=(decision,))
    assert_same(relative(assembly, 1, 3), decision.i_from_j)
    (chosen,) = (e for e in assembly.joins if (e.alignment.i, e.alignment.j) == (1, 3))
    assert (chosen.alignment, chosen.score) == (decision, 1.0)


@every_composer
def test_a_fixed_join_needs_no_candidate(square_tiles: Tiles, tile_pose: TilePose, composer: str) -> None:
    decision = between(0, 2, tile_pose(0, 0), tile_pose(1, 0))
    assembly = run((Candidates.none(), square_tiles(3), {}), composer, joins=(decision,))
    assert (assembly.components, assembly.unplaced) == (((0, 2),), (1,))


@every_composer
def test_forbidden_joins_are_out_and_others_of_the_pair_are_not(false_loop: TileCandidates, composer: str) -> None:
    rows, borders, _ = false_loop
    true_join = rows.alignment(int(np.flatnonzero(rows.score == 0.75)[0]))
    nearly = Alignment(1, 3, true_join.i_from_j @ SE2(0.02, 3.0, 0.0), fit=0.0)
    assembly = run(false_loop, composer, forbidden=(nearly,))
    assert 0.75 not in {e.score for e in assembly.joins}
    alone = (rows.take(rows.i == 1).with_scores(np.array([0.9, 0.9])), borders, {})
    (left,) = run(alone, composer, forbidden=(nearly,)).joins
    assert left.alignment.i_from_j != true_join.i_from_j


@every_composer
def test_pinned_pieces_stay_where_they_are_and_carry_the_others(square: TileCandidates, composer: str) -> None:
    _, _, truth = square
    common = SE2(0.3, 500.0, -40.0)
    pinned = {idx: common @ truth[idx] for idx in (0, 3)}
    assembly = run(square, composer, pinned=pinned)
    assert assembly.complete
    assert {idx: assembly.poses[idx] for idx in pinned} == pinned
    for idx in (1, 2):
        assert_same(assembly.poses[idx], common @ truth[idx], px=1e-4)


@every_composer
def test_pinned_pieces_hold_against_the_joins(square: TileCandidates, tile_pose: TilePose, composer: str) -> None:
    pinned = {0: tile_pose(0, 0), 1: tile_pose(5, 5)}
    assembly = run(square, composer, pinned=pinned)
    assert {idx: assembly.poses[idx] for idx in pinned} == pinned
    assert (0, 1) not in {(e.alignment.i, e.alignment.j) for e in assembly.joins}
    assert assembly.complete


@every_composer
def test_a_piece_pinned_alone_is_placed(square_tiles: Tiles, tile_pose: TilePose, composer: str) -> None:
    assembly = run((Candidates.none(), square_tiles(2), {}), composer, pinned={1: tile_pose(2, 3)})
    assert (assembly.components, assembly.poses, assembly.confidence) == (((1,),), {1: tile_pose(2, 3)}, {1: 1.0})


@every_composer
def test_pieces_set_aside_are_not_placed(square: TileCandidates, composer: str) -> None:
    assembly = run(square, composer, aside=frozenset({2}))
    assert assembly.unplaced == (2,)
    assert assembly.components == ((0, 1, 3),)


def test_a_loop_that_touches_a_fixed_component_takes_all_of_it_in(square_tiles: Tiles, tile_pose: TilePose) -> None:
    """The loop 1-2-3-4 would put 4 where 0 is fixed beside 1: it must not be used."""
    at = {1: tile_pose(0, 0), 2: tile_pose(1, 0), 3: tile_pose(1, 1), 4: tile_pose(0, 1)}
    loop = [between(1, 2, at[1], at[2]), between(2, 3, at[2], at[3]), between(3, 4, at[3], at[4]), between(1, 4, at[1], at[4])]
    tiles = (Candidates.of(loop).with_scores(np.array([0.9, 0.8, 0.7, 0.6])), square_tiles(5), {})
    decision = between(0, 1, tile_pose(0.1, 1.1), at[1])
    for composer in COMPOSERS:
        assembly = run(tiles, composer, joins=(decision,))
        assert_same(relative(assembly, 0, 1), decision.i_from_j)
        assert not {0, 4} <= set(assembly.components[0])


def test_contradictions_are_named(square: TileCandidates, tile_pose: TilePose) -> None:
    _, _, truth = square
    right = [between(i, j, truth[i], truth[j]) for i, j in ((1, 3), (2, 3))]
    wrong = between(1, 2, truth[1], tile_pose(3, 0, 2))
    cases: list[tuple[str, dict[str, object]]] = [
        ("the joins 1-2, 1-3 and 2-3 that were fixed contradict each other", {"joins": (*right, wrong)}),
        ("the fixed join 2-3 puts piece 3 on piece 2", {"joins": (between(2, 3, truth[2], truth[2]),)}),
        ("the join 1-3 is fixed, but piece 3 is set aside", {"joins": (right[0],), "aside": frozenset({3})}),
        ("the join 1-3 is fixed and forbidden at once", {"joins": (right[0],), "forbidden": (right[0],)}),
        ("the pieces 0 and 1 are fixed in places where they lie on each other", {"pinned": {0: truth[0], 1: truth[0]}}),
        ("piece 1 is fixed in place and set aside at once", {"pinned": {1: truth[1]}, "aside": frozenset({1})}),
        (
            "the join 1-2 that was fixed and the places of the pinned pieces 1 and 2 contradict each other",
            {"pinned": {1: truth[1], 2: truth[2]}, "joins": (wrong,)},
        ),
        ("a constraint names piece 9, but the pieces are numbered from 0 to 3", {"aside": frozenset({9})}),
    ]
    for sentence, decisions in cases:
        with pytest.raises(InputError, match=sentence):
            run(square, "hlm", **decisions)


def test_fixed_joins_that_agree_in_a_loop_are_fine(square: TileCandidates) -> None:
    joins = square[0].alignments()
    for composer in COMPOSERS:
        assembly = run(square, composer, joins=joins)
        assert assembly.complete
        assert {e.score for e in assembly.joins} == {1.0}


def test_contradictions_name_the_pieces_where_names_are_known(square: TileCandidates, tile_pose: TilePose) -> None:
    rows, borders, truth = square
    names = ("sky.png", "tree.png", "house.png", "road.png")
    join = between(1, 3, truth[1], truth[3])
    elsewhere = between(0, 3, truth[0], tile_pose(5, 5))

    def sentence(**decisions: object) -> str:
        decided = Constraints(**decisions)  # type: ignore[arg-type]
        with pytest.raises(InputError) as caught:
            compose(rows, borders, "hlm", ComposeConfig(), Context(), constraints=decided, names=names)
        return str(caught.value)

    assert "the join tree.png-road.png is fixed, but piece road.png is set aside" in sentence(
        joins=(join,), aside=frozenset({3})
    )
    assert "the join tree.png-road.png is fixed and forbidden at once" in sentence(joins=(join,), forbidden=(join,))
    assert "piece sky.png is fixed in place and set aside" in sentence(pinned={0: truth[0]}, aside=frozenset({0}))
    assert "the pieces sky.png and tree.png are fixed in places" in sentence(pinned={0: truth[0], 1: truth[0]})
    neighbors = (between(0, 1, truth[0], truth[1]), join, elsewhere)
    assert "the joins sky.png-tree.png, sky.png-road.png and tree.png-road.png that were fixed contradict" in sentence(
        joins=neighbors
    )
