"""What is measured beyond the paper's ratios: the rest when pieces are missing, each picture by itself, causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.evaluation.neighbors import true_neighbors
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle, sort_components
from jigsawnet_bench.measure import SCORE_EDGES, count_scores, is_separated, measure, truth_in_parts
from jigsawnet_bench.plots import precision_recall_of_counts


def two_columns(puzzle: Puzzle, truth: Assembly) -> tuple[Puzzle, Assembly]:
    """The left and the right three of nine pieces: the middle ones are lost, and nothing connects the two columns."""
    middle = {f.idx: (truth.poses[f.idx] @ (np.array(f.mask.shape[::-1]) / 2.0))[0] for f in puzzle.pieces}
    by_x = sorted(middle, key=middle.__getitem__)
    order = by_x[:3] + by_x[-3:]
    kept = [Piece(k, puzzle.pieces[idx].name, puzzle.pieces[idx].image, puzzle.pieces[idx].mask)
            for k, idx in enumerate(order)]  # fmt: skip
    return Puzzle("rest", tuple(kept)), truth.renumbered(order)


def test_what_remains_is_right_although_nothing_connects_it(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = two_columns(*nine_pieces)
    apart = replace(truth, components=((0, 1, 2), (3, 4, 5)))
    found = measure(puzzle, truth, apart, Candidates.none(), 0.5)
    assert (found["pcr"], found["pcr_rest"], found["true_parts"]) == (0.5, 1.0, 2)


def test_a_piece_lost_from_the_rest_is_a_loss(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = two_columns(*nine_pieces)
    poses = {idx: pose for idx, pose in truth.poses.items() if idx != 5}
    found = measure(puzzle, truth, Assembly(6, poses, ((0, 1, 2), (3, 4))), Candidates.none(), 0.5)
    assert found["pcr_rest"] == pytest.approx(5 / 6, abs=1e-3)


def test_pieces_without_a_neighbour_do_not_count_in_the_rest(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    _, truth = tiny_puzzle
    assert truth_in_parts(truth, frozenset({(0, 2)})).components == ((0, 2), (1,), (3,))


def test_pictures_are_judged_one_by_one(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    mixed = replace(truth, components=((0, 1), (2, 3)))
    found = measure(puzzle, mixed, Assembly(4, {0: truth.poses[0], 1: truth.poses[1]}, ((0, 1),)), Candidates.none(), 0.5)
    assert found["pcr_pictures"] == [1.0, 0.0]
    assert found["separated"]
    assert not is_separated(truth, mixed)


def test_causes_are_counted(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    pairs = sorted(true_neighbors(puzzle, truth))
    right = [Alignment(i, j, truth.poses[i].inverse() @ truth.poses[j], 1.0) for i, j in pairs]
    wrong = replace(right[0], i_from_j=replace(right[0].i_from_j, x=right[0].i_from_j.x + 50.0))
    scores = np.array([0.2, *[0.9] * (len(right) - 2), 0.8])  # the last true pair has no candidate, the first is doubted
    assembly = Assembly(4, truth.poses, sort_components([range(4)]), tuple(Join(a, 0.9) for a in (right[1], wrong)))
    found = measure(puzzle, truth, assembly, Candidates.of([*right[:-1], wrong]).with_scores(scores), 0.5)
    assert (found["neighbors"], found["missed_pairs"], found["doubted_pairs"]) == (len(pairs), 1, 1)
    assert (found["believed_wrong"], found["wrong_joins"], found["candidates"]) == (1, 1, len(pairs))
    assert found["candidate_recall"] == pytest.approx((len(pairs) - 1) / len(pairs), abs=1e-4)
    assert (sum(found["right_scores"]), sum(found["wrong_scores"])) == (len(pairs) - 1, 1)


def test_foreign_pieces_are_no_loss_when_left_out_and_counted_when_placed(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    known = replace(truth, poses={k: truth.poses[k] for k in range(3)}, components=((0, 1, 2),), confidence={})
    found = measure(puzzle, known, known, Candidates.none(), 0.5)
    assert (found["pcr"], found["foreign"], found["foreign_placed"]) == (1.0, 1, 0)
    found = measure(puzzle, known, truth, Candidates.none(), 0.5)
    assert (found["pcr"], found["foreign"], found["foreign_placed"]) == (1.0, 1, 1)


def test_scores_are_counted_by_bins_in_rising_order() -> None:
    counts = count_scores(np.array([0.0, 1e-9, 0.5, 0.9999999, 1.0]))
    assert len(counts) == len(SCORE_EDGES) + 1
    assert (counts[0], counts[-1], sum(counts)) == (2, 2, 5)


def test_precision_and_recall_come_from_the_counts() -> None:
    precision, recall = precision_recall_of_counts([1, 0, 3], [6, 2, 0])
    assert recall.tolist() == [0.75, 0.75, 1.0]
    assert precision.tolist() == [1.0, 0.6, 4 / 12]
