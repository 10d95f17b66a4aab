"""What flows between the rooms is checked at the door and cannot be changed afterwards."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.types import (
    Alignment,
    Assembly,
    Contour,
    Join,
    Piece,
    Puzzle,
    loops_through,
    no_progress,
    sort_components,
)

HERE = SE2.identity()


def make_piece(idx: int = 0, name: str | None = None) -> Piece:
    return Piece(idx, name or f"p{idx}.png", np.zeros((4, 6, 3), np.uint8), np.ones((4, 6), bool))


def placed(*idxs: int) -> dict[int, SE2]:
    return dict.fromkeys(idxs, HERE)


@pytest.mark.parametrize(
    ("image", "mask", "complaint"),
    [
        (np.zeros((4, 6), np.uint8), np.ones((4, 6), bool), "image must be"),
        (np.zeros((4, 6, 4), np.uint8), np.ones((4, 6), bool), "image must be"),
        (np.zeros((4, 6, 3), np.float64), np.ones((4, 6), bool), "image must be"),
        (np.zeros((4, 6, 3), np.uint8), np.ones((6, 4), bool), "mask must be"),
        (np.zeros((4, 6, 3), np.uint8), np.ones((4, 6), np.uint8), "mask must be"),
    ],
)
def test_a_piece_needs_rgb_and_a_bool_mask_of_one_size(image: Any, mask: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"p.png: {complaint}"):
        Piece(0, "p.png", image, mask)


def test_pixels_and_masks_are_read_only() -> None:
    piece = make_piece()
    for array in (piece.image, piece.mask):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        piece.name = "other"  # type: ignore[misc]


def test_a_puzzle_numbers_its_pieces_in_order_with_names_of_their_own() -> None:
    puzzle = Puzzle("two", (make_piece(0), make_piece(1)))
    assert len(puzzle) == 2
    assert puzzle.names() == ("p0.png", "p1.png")
    assert puzzle.warnings == ()
    for pieces in [(make_piece(1), make_piece(0)), (make_piece(0), make_piece(2)), (make_piece(1),)]:
        with pytest.raises(ValueError, match="numbered"):
            Puzzle("wrong", pieces)
    with pytest.raises(ValueError, match="unique"):
        Puzzle("wrong", (make_piece(0, "same"), make_piece(1, "same")))


def test_a_contour_is_read_only_and_knows_its_length() -> None:
    contour = Contour(0, np.zeros((8, 2)), np.zeros((8, 2)), np.zeros((8, 3)), step_px=2.5)
    assert len(contour) == 8
    assert contour.perimeter_px == 20.0
    for array in (contour.points, contour.normals, contour.colors):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


@pytest.mark.parametrize("shapes", [((8, 3), (8, 2), (8, 3)), ((8, 2), (7, 2), (8, 3)), ((8, 2), (8, 2), (8, 2))])
def test_contour_arrays_must_fit_together(shapes: tuple[tuple[int, int], ...]) -> None:
    points, normals, colors = (np.zeros(shape) for shape in shapes)
    with pytest.raises(ValueError, match="contour arrays"):
        Contour(0, points, normals, colors, 1.0)


@pytest.mark.parametrize(("i", "j"), [(1, 0), (2, 2), (-1, 0)])
def test_an_alignment_runs_from_the_smaller_number_to_the_larger(i: int, j: int) -> None:
    with pytest.raises(ValueError, match=f"i={i}, j={j}"):
        Alignment(i, j, HERE, 0.5)


def test_until_it_is_judged_an_edge_is_as_sure_as_its_score() -> None:
    alignment = Alignment(0, 2, HERE, 0.5)
    assert Join(alignment, 0.7).confidence == 0.7
    assert Join(alignment, 0.7, 0.0).confidence == 0.0
    judged = dataclasses.replace(Join(alignment, 0.7), confidence=0.2)
    assert (judged.score, judged.confidence) == (0.7, 0.2)


def joins(*pairs: tuple[int, int]) -> list[Join]:
    return [Join(Alignment(*pair, HERE, 0.5), 0.5) for pair in pairs]


def test_loops_of_three_and_four_are_counted_for_each_join() -> None:
    assert loops_through([]) == []
    assert loops_through(joins((0, 1), (1, 2), (2, 3))) == [0, 0, 0]
    assert loops_through(joins((0, 1), (1, 2), (0, 2), (2, 3))) == [1, 1, 1, 0]
    assert loops_through(joins((0, 1), (1, 2), (2, 3), (0, 3))) == [1, 1, 1, 1]
    two_triangles = joins((0, 1), (1, 2), (0, 2), (1, 3), (2, 3))
    assert loops_through(two_triangles) == [2, 2, 2, 2, 2], "the middle join in two of three, the others in one of each"


def test_an_assembly_renumbered_keeps_poses_and_drops_what_is_gone() -> None:
    poses = {k: SE2(0.0, float(k), 0.0) for k in (0, 1, 3)}
    old = Assembly(4, poses, ((0, 1), (3,)), tuple(joins((0, 1))), {0: 0.5, 1: 0.6, 3: 0.7})
    new = old.renumbered([3, 2, 1])
    assert (new.n_pieces, new.components, new.joins) == (3, ((0,), (2,)), ())
    assert new.poses == {0: poses[3], 2: poses[1]}
    assert new.confidence == {0: 0.7, 2: 0.6}
    assert new.fits(3)
    assert not new.fits(4)


@pytest.mark.parametrize(
    ("poses", "components", "complaint"),
    [
        (placed(0, 1), ((0,),), "every placed piece exactly once"),
        (placed(0), ((0, 1),), "every placed piece exactly once"),
        (placed(0, 1), ((0, 1), (1,)), "every placed piece exactly once"),
        (placed(0, 1), ((0, 0),), "every placed piece exactly once"),
        (placed(0, 9), ((0, 9),), "does not exist"),
        (placed(-1, 0), ((-1, 0),), "does not exist"),
        (placed(0, 1, 2), ((0,), (1, 2)), "largest first"),
    ],
)
def test_components_hold_each_placed_piece_once_and_come_largest_first(
    poses: dict[int, SE2], components: tuple[tuple[int, ...], ...], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        Assembly(4, poses, components)


def test_an_assembly_knows_what_is_missing() -> None:
    whole = Assembly(3, placed(0, 1, 2), ((0, 1, 2),))
    parted = Assembly(3, placed(0, 1, 2), ((0, 1), (2,)))
    partly = Assembly(4, placed(2, 0), ((0, 2),))
    nothing = Assembly(2, {}, ())
    assert [a.complete for a in (whole, parted, partly, nothing)] == [True, False, False, False]
    assert [a.unplaced for a in (whole, parted, partly, nothing)] == [(), (), (1, 3), (0, 1)]


def test_an_assembly_keeps_its_own_copy_of_poses_and_confidence() -> None:
    poses, confidence = placed(0, 1), {0: 0.5}
    assembly = Assembly(2, poses, ((0, 1),), confidence=confidence)
    poses.clear()
    confidence[0] = 1.0
    assert set(assembly.poses) == {0, 1}
    assert assembly.confidence == {0: 0.5}
    with pytest.raises(TypeError):
        assembly.poses[0] = HERE  # type: ignore[index]
    with pytest.raises(TypeError):
        assembly.confidence[1] = 1.0  # type: ignore[index]


def test_equal_assemblies_are_equal() -> None:
    assert Assembly(2, placed(0, 1), ((0, 1),)) == Assembly(2, placed(1, 0), ((0, 1),))
    assert Assembly(2, placed(0, 1), ((0, 1),)) != Assembly(2, {0: HERE, 1: SE2(0.0, 1.0, 0.0)}, ((0, 1),))


def test_components_are_sorted_by_size_then_by_smallest_piece() -> None:
    assert sort_components([[7], [5, 3], (4, 1), {6, 2, 0}]) == ((0, 2, 6), (1, 4), (3, 5), (7,))
    assert sort_components([]) == ()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 5), max_size=12), st.randoms(use_true_random=False))
def test_sorted_components_always_suit_an_assembly(group_of: list[int], random: Any) -> None:
    groups = [[idx for idx, g in enumerate(group_of) if g == wanted] for wanted in set(group_of)]
    expected = sort_components(groups)
    random.shuffle(groups)
    assert sort_components(groups) == expected
    assert Assembly(len(group_of), placed(*range(len(group_of))), expected).components == expected


def test_no_progress_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    no_progress("stage", 1, 2)
    assert capsys.readouterr().out == ""
