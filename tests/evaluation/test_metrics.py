"""The metrics agree with the independent scorer, and mean what the design says."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from independent_scorer import score

from jigsawnet.candidates import Candidates
from jigsawnet.evaluation import candidate_recall, common_borders, evaluate, true_neighbors
from jigsawnet.evaluation.metrics import alignment_correctness, right_joins, rightly_placed
from jigsawnet.geometry import SE2
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.authors import read_alignments, read_ground_truth, read_joins, read_poses, write_ground_truth
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle, sort_components

EXAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "examples"
needs_example = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the authors' examples are not beside the repository")


def grid_puzzle(side: int, cell: int, rng: np.random.Generator) -> tuple[Puzzle, Assembly]:
    """A random picture cut into ``side x side`` cells, each turned by any angle."""
    pieces, poses = [], {}
    size = math.ceil(cell * 1.5)
    for idx in range(side * side):
        row, col = divmod(idx, side)
        turn = SE2(rng.uniform(-math.pi, math.pi), 0.0, 0.0)
        middle = turn @ np.array([cell / 2 - 0.5, cell / 2 - 0.5])
        piece_from_cell = SE2(turn.theta, size / 2 - middle[0], size / 2 - middle[1])
        picture = cv2.resize(rng.integers(1, 255, (4, 4, 3), dtype=np.uint8), (cell, cell))
        warp, to = piece_from_cell.matrix()[:2], (size, size)
        image = cv2.warpAffine(picture, warp, to, borderMode=cv2.BORDER_REPLICATE)
        mask = cv2.warpAffine(np.full((cell, cell), 255, np.uint8), warp, to) > 127
        pieces.append(Piece(idx, f"fragment_{idx + 1:04d}.png", image, mask))
        poses[idx] = SE2(0.0, col * cell, row * cell) @ piece_from_cell.inverse()
    return Puzzle("grid", tuple(pieces)), Assembly(side * side, poses, (tuple(poses),))


def write_puzzle(folder: Path, puzzle: Puzzle, truth: Assembly) -> None:
    for f in puzzle.pieces:
        cv2.imwrite(str(folder / f.name), np.dstack([f.image[:, :, ::-1], f.mask.astype(np.uint8) * 255]))
    write_ground_truth(folder / "groundTruth.txt", truth, puzzle.names())


def read_example(name: str) -> tuple[Puzzle, Assembly]:
    """A puzzle of the authors, cut out at its key colour just as the scorer does it."""
    folder = EXAMPLES / name
    key = np.array((folder / "bg_color.txt").read_text().split(), dtype=int)
    pieces = []
    for idx, path in enumerate(sorted(folder.glob("fragment_*.png"))):
        image = np.ascontiguousarray(cv2.imread(str(path))[:, :, ::-1])
        pieces.append(Piece(idx, path.name, image, np.abs(image.astype(int) - key).max(2) > 0))
    puzzle = Puzzle(name, tuple(pieces))
    return puzzle, read_ground_truth(folder / "groundTruth.txt", puzzle.names())


def true_join(truth: Assembly, i: int, j: int) -> Join:
    return Join(Alignment(i, j, truth.poses[i].inverse() @ truth.poses[j], 1.0), 0.5)


def noisy(pose: SE2, rng: np.random.Generator, deg: float, px: float) -> SE2:
    return SE2(pose.theta + math.radians(rng.normal(0, deg)), pose.x + rng.normal(0, px), pose.y + rng.normal(0, px))


def right(puzzle: Puzzle, truth: Assembly) -> Assembly:
    """The truth in another frame, with all true joins."""
    frame = SE2(0.7, 30.0, -200.0)
    joins = tuple(true_join(truth, i, j) for i, j in sorted(true_neighbors(puzzle, truth)))
    return Assembly(len(puzzle), {k: frame @ pose for k, pose in truth.poses.items()}, truth.components, joins)


def perturbed(puzzle: Puzzle, truth: Assembly) -> Assembly:
    rng = np.random.default_rng(1)
    poses = {k: noisy(pose, rng, 2.0, 5.0) for k, pose in truth.poses.items()}
    joins = tuple(
        Join(Alignment(e.alignment.i, e.alignment.j, noisy(e.alignment.i_from_j, rng, 3.0, 10.0), 1.0), 0.5)
        for e in right(puzzle, truth).joins
    )
    return Assembly(len(puzzle), poses, truth.components, joins)


def wrong(puzzle: Puzzle, truth: Assembly) -> Assembly:
    poses = {k: SE2(2.0 * k, 1e4 * k, 0.0) for k in truth.poses}
    joins = tuple(Join(Alignment(k, k + 1, SE2(1.0, 0.0, 0.0), 1.0), 0.5) for k in range(len(puzzle) - 1))
    return Assembly(len(puzzle), poses, truth.components, joins)


def partial(puzzle: Puzzle, truth: Assembly) -> Assembly:
    """Three groups, some pieces unplaced, right joins within groups, one double and one wrong join."""
    n = len(puzzle)
    components = sort_components([range(n // 3), range(n // 3, n - 3), [n - 1]])
    poses = {k: SE2(g, 500.0 * g, 3.0) @ truth.poses[k] for g, group in enumerate(components) for k in group}
    joins = [(i, j) for i, j in sorted(true_neighbors(puzzle, truth)) if any(i in c and j in c for c in components)]
    edges = [true_join(truth, i, j) for i, j in [*joins, joins[0]]]
    return Assembly(n, poses, components, (*edges, Join(Alignment(0, n - 1, SE2.identity(), 1.0), 0.5)))


def empty(puzzle: Puzzle, truth: Assembly) -> Assembly:
    return Assembly(truth.n_pieces, {}, ())


CASES: list[Callable[[Puzzle, Assembly], Assembly]] = [right, perturbed, wrong, partial, empty]


@pytest.fixture(scope="module")
def tiny() -> tuple[Puzzle, Assembly]:
    return grid_puzzle(3, 120, np.random.default_rng(0))


@pytest.fixture(scope="module")
def mit_ex() -> tuple[Puzzle, Assembly]:
    return read_example("MIT_ex")


def assert_agree(folder: Path, out: Path, puzzle: Puzzle, assembly: Assembly, truth: Assembly) -> None:
    write_assembly(out, assembly, puzzle.names())
    ours = evaluate(puzzle, assembly, truth)
    assert score(folder, out) == pytest.approx({
        "n": ours.n, "placed": ours.placed, "in_place": ours.pcr, "tight": ours.pcr_tight, "joins_right": ours.acr_precision,
        "neighbors_joined": ours.acr_recall, "held_together": ours.lcr,
    })  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_the_scorer_on_a_cut_picture(
    tmp_path: Path, tiny: tuple[Puzzle, Assembly], case: Callable[[Puzzle, Assembly], Assembly]
) -> None:
    write_puzzle(tmp_path, *tiny)
    assert_agree(tmp_path, tmp_path / "assembly.json", tiny[0], case(*tiny), tiny[1])


@needs_example
@pytest.mark.parametrize("case", CASES)
def test_agrees_with_the_scorer_on_the_example(
    tmp_path: Path, mit_ex: tuple[Puzzle, Assembly], case: Callable[[Puzzle, Assembly], Assembly]
) -> None:
    assert_agree(EXAMPLES / "MIT_ex", tmp_path / "assembly.json", mit_ex[0], case(*mit_ex), mit_ex[1])


@needs_example
def test_agrees_with_the_scorer_on_the_authors_own_result(tmp_path: Path, mit_ex: tuple[Puzzle, Assembly]) -> None:
    folder, (puzzle, truth) = EXAMPLES / "MIT_ex", mit_ex
    result, joins = read_poses(folder / "pose_result_0.txt", 9), read_joins(folder / "selected_transformation.txt", 9)
    assembly = Assembly(9, result.poses, result.components, joins)
    assert_agree(folder, tmp_path / "assembly.json", puzzle, assembly, truth)
    assert evaluate(puzzle, assembly, truth).acr_precision == 1.0


def test_neighbours_of_a_grid_share_a_side_and_not_a_corner(tiny: tuple[Puzzle, Assembly]) -> None:
    beside = {(k, k + 1) for k in range(9) if k % 3 < 2}
    below = {(k, k + 3) for k in range(6)}
    assert true_neighbors(*tiny) == beside | below


def test_common_borders_tell_where_and_how_much(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    border = next(b for b in common_borders(puzzle, truth) if (b.i, b.j) == (0, 1))
    assert border.share == pytest.approx(0.25, abs=0.06)
    assert truth.poses[1] @ np.array(border.middle_in_j) == pytest.approx([119, 59.5], abs=2)
    assert {(0, 1), (0, 4)} <= {(b.i, b.j) for b in common_borders(puzzle, truth, gap_px=15, min_share=0.0)}


def test_what_the_cases_score(tiny: tuple[Puzzle, Assembly]) -> None:
    assert asdict(evaluate(tiny[0], right(*tiny), tiny[1])) == {
        "n": 9,
        "placed": 9,
        "components": 1,
        "pcr": 1.0,
        "pcr_tight": 1.0,
        "acr_precision": 1.0,
        "acr_recall": 1.0,
        "lcr": 1.0,
        "acr": None,
    }
    middling = evaluate(tiny[0], partial(*tiny), tiny[1])
    assert (middling.placed, middling.components) == (7, 3)
    assert middling.pcr == pytest.approx(3 / 9)
    assert evaluate(tiny[0], empty(*tiny), tiny[1]).acr_precision is None


def with_chosen(assembly: Assembly, *pairs: tuple[int, int]) -> Assembly:
    """The composer chose only these of the joins."""
    return replace(assembly, chosen=tuple(e for e in assembly.joins if (e.alignment.i, e.alignment.j) in pairs))


def test_acr_is_what_was_chosen_rightly_of_what_could_be(tiny: tuple[Puzzle, Assembly]) -> None:
    """Nine pieces, 12 true joins, of which 10 have a right candidate. A tree of 8, all right, is 8 of 10, and no more."""
    puzzle, truth = tiny
    whole = right(puzzle, truth)
    offered = [e.alignment for e in whole.joins if (e.alignment.i, e.alignment.j) not in {(0, 1), (7, 8)}]
    wrong = [Alignment(0, 8, SE2(0.3, 5.0, 9.0), 0.9), Alignment(0, 3, SE2(0.3, 500.0, 9.0), 0.9)]
    twice = [*offered, *wrong, offered[0]]
    tree = with_chosen(whole, (1, 2), (0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8), (3, 4))
    assert alignment_correctness(puzzle, tree, Candidates.of(twice), truth) == pytest.approx(8 / 10)
    assert evaluate(puzzle, tree, truth, offered=Candidates.of(twice)).acr == pytest.approx(8 / 10)
    assert evaluate(puzzle, tree, truth, offered=Candidates.of(twice)).acr_precision == 1.0
    lost = replace(tree, chosen=(*(tree.chosen or ())[:4], Join(wrong[0], 0.9), Join(wrong[1], 0.9)))
    assert alignment_correctness(puzzle, lost, Candidates.of(twice), truth) == pytest.approx(4 / 10)


def test_acr_counts_what_was_chosen_though_it_was_not_offered(tiny: tuple[Puzzle, Assembly]) -> None:
    """A closed loop carries joins that alone would be too poor: they are right candidates too, and chosen."""
    puzzle, truth = tiny
    whole = right(puzzle, truth)
    offered = Candidates.of(e.alignment for e in whole.joins[:4])
    assert alignment_correctness(puzzle, replace(whole, chosen=whole.joins[2:6]), offered, truth) == pytest.approx(4 / 6)


def test_acr_is_not_known_where_the_choice_is_not(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    assert evaluate(puzzle, right(puzzle, truth), truth, offered=Candidates.none()).acr is None
    nothing = replace(right(puzzle, truth), chosen=())
    assert evaluate(puzzle, nothing, truth).acr is None
    assert evaluate(puzzle, nothing, truth, offered=Candidates.none()).acr == 0.0


def off_by(puzzle: Puzzle, truth: Assembly, deg: float, px: float) -> Assembly:
    """The truth with piece 4 turned and shifted at its own centroid."""
    rows, columns = np.nonzero(puzzle.pieces[4].mask)
    middle = SE2(0.0, columns.mean(), rows.mean())
    moved = truth.poses[4] @ middle @ SE2(math.radians(deg), px, 0.0) @ middle.inverse()
    return Assembly(9, {**truth.poses, 4: moved}, truth.components)


@pytest.mark.parametrize(
    ("deg", "px", "in_place", "tight"),
    [
        (1.9, 0.0, 9, 9), (2.1, 0.0, 9, 8), (4.9, 0.0, 9, 8), (5.1, 0.0, 8, 8),
        (0.0, 4.9, 9, 9), (0.0, 5.1, 9, 8), (0.0, 99.0, 9, 8), (0.0, 101.0, 8, 8), (-4.9, 99.0, 9, 8),
    ],
)  # fmt: skip
def test_in_place_is_within_5_degrees_and_100_px_and_tight_within_2_degrees_and_5_px(
    tiny: tuple[Puzzle, Assembly], deg: float, px: float, in_place: int, tight: int
) -> None:
    metrics = evaluate(tiny[0], off_by(*tiny, deg, px), tiny[1])
    assert (round(9 * metrics.pcr), round(9 * metrics.pcr_tight)) == (in_place, tight)


@pytest.mark.parametrize(
    ("deg", "px", "is_right"), [(4.9, 0.0, True), (5.1, 0.0, False), (0.0, 29.0, True), (0.0, 31.0, False)]
)
def test_a_join_is_right_within_5_degrees_and_30_px(
    tiny: tuple[Puzzle, Assembly], deg: float, px: float, is_right: bool
) -> None:
    """Measured at the centroid of j."""
    puzzle, truth = tiny
    moved = off_by(puzzle, truth, deg, px)
    join = Join(Alignment(3, 4, truth.poses[3].inverse() @ moved.poses[4], 1.0), 0.5)
    assert right_joins(puzzle, Assembly(9, truth.poses, truth.components, (join,)), truth) == [is_right]


def test_how_far_a_piece_is_off_is_measured_at_its_centroid() -> None:
    """Strips far from the middle of their pictures: turned about its centroid by 1.9 degrees, one is not moved at all."""
    shape = (60, 700)
    mask = np.zeros(shape, bool)
    mask[10:50, 400:680] = True
    pieces = tuple(Piece(k, str(k), np.zeros((*shape, 3), np.uint8), mask.copy()) for k in range(2))
    truth = Assembly(2, {0: SE2.identity(), 1: SE2(0.0, 0.0, 40.0)}, ((0, 1),))
    middle = SE2(0.0, 539.5, 29.5)
    turned = truth.poses[1] @ middle @ SE2(math.radians(1.9), 0.0, 0.0) @ middle.inverse()
    assembly = Assembly(2, {0: SE2.identity(), 1: turned}, truth.components)
    assert evaluate(Puzzle("strips", pieces), assembly, truth).pcr_tight == 1.0


def test_mixed_pictures_have_an_anchor_each(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    two = Assembly(9, truth.poses, ((0, 1, 2, 3, 4, 5), (6, 7, 8)))
    apart = Assembly(9, {k: SE2(0.0, 900.0 * (k > 5), 0.0) @ p for k, p in truth.poses.items()}, two.components)
    together = Assembly(9, apart.poses, truth.components, (true_join(truth, 5, 8),))
    assert evaluate(puzzle, apart, two).pcr_tight == 1.0
    assert evaluate(puzzle, apart, truth).pcr_tight == pytest.approx(6 / 9)
    assert evaluate(puzzle, together, two).pcr_tight == 1.0
    assert evaluate(puzzle, together, two).acr_precision == 0.0
    assert true_neighbors(puzzle, two) == {(i, j) for i, j in true_neighbors(puzzle, truth) if (i < 6) == (j < 6)}


def test_a_piece_is_placed_rightly_relative_to_the_main_part_of_its_own_component(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    poses = {k: SE2(0.0, 900.0 * (k > 5), 0.0) @ p for k, p in truth.poses.items()}
    parts = ((0, 1, 2, 3, 4, 5), (6, 7, 8))
    assert rightly_placed(puzzle, Assembly(9, poses, parts), truth) == frozenset(range(9)), "each part has a frame of its own"
    assert rightly_placed(puzzle, Assembly(9, poses, truth.components), truth) == frozenset(range(6))
    mixed = Assembly(9, truth.poses, (tuple(range(5)), (5, 6, 7, 8)))
    assert rightly_placed(puzzle, Assembly(9, truth.poses, truth.components), mixed) == frozenset(range(5))


def test_of_two_equal_parts_the_surer_one_is_the_main_part(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    poses = {k: SE2(0.0, 900.0 * (k > 3), 0.0) @ truth.poses[k] for k in range(8)}
    for sure in ({0, 1, 2, 3}, {4, 5, 6, 7}):
        confidence = {k: 0.9 if k in sure else 0.4 for k in range(8)}
        assembly = Assembly(9, poses, (tuple(range(8)),), confidence=confidence)
        assert rightly_placed(puzzle, assembly, truth) == frozenset(sure)


def test_pieces_without_a_true_place_are_never_right(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    known = Assembly(9, {k: p for k, p in truth.poses.items() if k < 6}, (tuple(range(6)),))
    metrics = evaluate(puzzle, right(puzzle, truth), known)
    assert metrics.pcr == metrics.lcr == pytest.approx(6 / 9)
    assert metrics.acr_precision == pytest.approx(7 / 12)


def test_an_empty_piece_is_nobodys_neighbour(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    blank = Piece(4, "blank", np.zeros((5, 5, 3), np.uint8), np.zeros((5, 5), bool))
    holed = Puzzle("holed", (*puzzle.pieces[:4], blank, *puzzle.pieces[5:]))
    assert true_neighbors(holed, truth) == {pair for pair in true_neighbors(puzzle, truth) if 4 not in pair}
    assert evaluate(holed, right(puzzle, truth), truth).pcr == 1.0


def test_candidate_recall_looks_at_the_seam(tiny: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny
    border = common_borders(puzzle, truth)[0]
    middle = SE2(0.0, *border.middle_in_j)
    pose = true_join(truth, border.i, border.j).alignment.i_from_j

    def recall(deg: float, px: float) -> float:
        moved = pose @ middle @ SE2(math.radians(deg), px, 0.0) @ middle.inverse()
        return candidate_recall(puzzle, [Alignment(border.i, border.j, moved, 1.0)] * 2, truth)

    assert recall(2.9, 7.9) == pytest.approx(1 / 12)
    assert recall(3.1, 0.0) == recall(0.0, 8.1) == 0.0
    everything = [join.alignment for join in right(puzzle, truth).joins]
    assert candidate_recall(puzzle, everything, truth) == 1.0
    assert candidate_recall(puzzle, [Alignment(0, 8, SE2.identity(), 1.0)], truth) == 0.0


@needs_example
def test_candidate_recall_of_the_authors_matcher(mit_ex: tuple[Puzzle, Assembly]) -> None:
    recall = candidate_recall(mit_ex[0], read_alignments(EXAMPLES / "MIT_ex" / "alignments.txt", 9), mit_ex[1])
    assert recall == pytest.approx(1.0)


def test_sizes_must_fit(tiny: tuple[Puzzle, Assembly]) -> None:
    with pytest.raises(ValueError, match="same number"):
        evaluate(tiny[0], Assembly(3, {}, ()), tiny[1])


def test_four_hundred_pieces_are_quick() -> None:
    puzzle, truth = grid_puzzle(20, 80, np.random.default_rng(0))
    assembly = right(puzzle, truth)
    start = time.process_time()
    assert evaluate(puzzle, assembly, truth).lcr == 1.0
    assert time.process_time() - start < 4
