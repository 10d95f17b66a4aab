"""The authors' text files: their numbers, their axes, and what happens to broken lines."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import FormatError, OutputError
from jigsawnet.geometry import SE2
from jigsawnet.io.authors import (
    read_alignments,
    read_ground_truth,
    read_joins,
    read_poses,
    read_stitch_lines,
    write_alignments,
    write_ground_truth,
    write_joins,
    write_poses,
)
from jigsawnet.types import Alignment, Assembly, Join

MIT_EX = Path(__file__).resolve().parents[2].parent / "shared" / "examples" / "MIT_ex"
needs_example = pytest.mark.skipif(not MIT_EX.is_dir(), reason="the authors' example MIT_ex is not beside the repository")

SHIFT = st.floats(-1e4, 1e4)
POSE = st.builds(SE2, st.floats(-math.pi, math.pi), SHIFT, SHIFT)
QUARTER = "0 -1 7  1 0 3  0 0 1"
"""(row, col) -> (7 - col, 3 + row)."""


def assert_close(a: SE2, b: SE2, pixels: float = 1e-8) -> None:
    angle, distance = a.distance(b)
    assert angle < 1e-8
    assert distance < pixels


def truth_of_example() -> Assembly:
    return read_ground_truth(MIT_EX / "groundTruth.txt", [f"fragment_{k:04d}.png" for k in range(1, 10)])


def test_a_row_column_matrix_becomes_the_same_motion_in_x_y(tmp_path: Path) -> None:
    (tmp_path / "groundTruth.txt").write_text(f"1 \r\n{QUARTER}\r\n")
    pose = read_ground_truth(tmp_path / "groundTruth.txt", ["a"]).poses[0]
    row, col = 20.0, 50.0
    assert pose @ np.array([col, row]) == pytest.approx([3 + row, 7 - col])


def test_ground_truth_counts_from_one_along_the_sorted_names(tmp_path: Path) -> None:
    (tmp_path / "groundTruth.txt").write_text("2\n1 0 0 0 1 22 0 0 1\n1\n1 0 0 0 1 11 0 0 1\n")
    truth = read_ground_truth(tmp_path / "groundTruth.txt", ["b.png", "a.png"])
    assert (truth.poses[0].x, truth.poses[1].x) == (22, 11)
    assert truth.complete


@settings(deadline=None, max_examples=20)
@given(st.lists(POSE, min_size=1, max_size=5))
def test_poses_round_trip(tmp_path_factory: pytest.TempPathFactory, poses: list[SE2]) -> None:
    folder = tmp_path_factory.mktemp("poses")
    names = [f"piece {k}" for k in reversed(range(len(poses)))]
    assembly = Assembly(len(poses), dict(enumerate(poses)), (tuple(range(len(poses))),))
    write_ground_truth(folder / "groundTruth.txt", assembly, names)
    write_poses(folder / "pose_result_0.txt", assembly)
    for again in (
        read_ground_truth(folder / "groundTruth.txt", names),
        read_poses(folder / "pose_result_0.txt", len(poses)),
    ):
        assert again.components == assembly.components
        for idx, pose in enumerate(poses):
            assert_close(again.poses[idx], pose)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(POSE, st.floats(0, 1)), max_size=4))
def test_joins_round_trip(tmp_path_factory: pytest.TempPathFactory, joins: list[tuple[SE2, float]]) -> None:
    folder = tmp_path_factory.mktemp("joins")
    alignments = [Alignment(k, k + 1, pose, fit) for k, (pose, fit) in enumerate(joins)]
    stitch_lines = [np.array([[k, 0.25], [k + 1, 7]]) for k in range(len(joins))]
    write_joins(folder / "selected.txt", [Join(a, a.fit) for a in alignments])
    write_alignments(folder / "alignments.txt", alignments, 6, stitch_lines)
    write_alignments(folder / "short.txt", alignments, 6)
    edges = read_joins(folder / "selected.txt", 6)
    for again in (
        [join.alignment for join in edges],
        read_alignments(folder / "alignments.txt", 6),
        read_alignments(folder / "short.txt", 6),
    ):
        for a, b in zip(again, alignments, strict=True):
            assert (a.i, a.j) == (b.i, b.j)
            assert a.fit == pytest.approx(b.fit, abs=1e-8)
            assert_close(a.i_from_j, b.i_from_j)
    np.testing.assert_array_equal(read_stitch_lines(folder / "alignments.txt", 6), stitch_lines or ())
    assert all(len(line) == 0 for line in read_stitch_lines(folder / "short.txt", 6))


def test_a_join_written_the_other_way_round_is_turned(tmp_path: Path) -> None:
    path = tmp_path / "alignments.txt"
    path.write_text(f"Node 0\n0 1 5 {QUARTER} line 3 4\n1 0 5 {QUARTER} line 3 4\n")
    forward, backward = read_alignments(path, 2)
    assert (backward.i, backward.j) == (0, 1)
    assert_close(backward.i_from_j, forward.i_from_j.inverse())
    stitch_forward, stitch_backward = read_stitch_lines(path, 2)
    np.testing.assert_allclose(stitch_backward, forward.i_from_j @ stitch_forward)


def test_ground_truth_can_not_hold_parts_of_a_picture(tmp_path: Path) -> None:
    two = Assembly(2, {0: SE2.identity(), 1: SE2.identity()}, ((0,), (1,)))
    with pytest.raises(OutputError, match="only one picture"):
        write_ground_truth(tmp_path / "groundTruth.txt", two, ["a", "b"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\n1 0 0 0 1 0 0 0\n", "line 1 must be followed by a 3x3 matrix"),
        ("\n1\n", "line 2 must be followed"),
        (f"x\n{QUARTER}\n", "line 1: the number of a piece is expected, not 'x'"),
        (f"1\n{QUARTER}\n3\n{QUARTER}\n", "line 3: pieces must be numbered from 1 to 2"),
        (f"1\n{QUARTER}\n1\n{QUARTER}\n", "line 3: pieces must be numbered from 1 to 2, each once"),
        (f"1\n{QUARTER}\n", "holds 1 poses, but the puzzle has 2 pieces"),
        ("1\n1 0 nan 0 1 0 0 0 1\n", "line 1: a number is expected, not 'nan'"),
        ("1\n2 0 0 0 2 0 0 0 1\n", "line 1: the matrix is not a rotation"),
    ],
)
def test_broken_ground_truth(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "groundTruth.txt").write_text(text)
    with pytest.raises(FormatError, match=sentence):
        read_ground_truth(tmp_path / "groundTruth.txt", ["a", "b"])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("Node 9", "line 2: there is no piece 9"),
        ("Node", "line 2: the number of a piece is expected"),
        ("0 1 5 1 0 0", "line 2 must be"),
        (f"0 1 5 {QUARTER} line 3", "line 2 must be"),
        (f"0 1 5 {QUARTER} 3 4", "line 2 must be"),
        (f"0 1 5 {QUARTER} line 3 x", "line 2: a number is expected, not 'x'"),
        (f"0 2 5 {QUARTER}", "line 2: there is no piece 2"),
        (f"-1 1 5 {QUARTER}", "line 2: the number of a piece is expected"),
        (f"1 1 5 {QUARTER}", "line 2: piece 1 is joined to itself"),
        (f"0 1 inf {QUARTER}", "line 2: a number is expected, not 'inf'"),
    ],
)
def test_broken_alignments(tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "alignments.txt").write_text(f"Node 0\n{line}\n")
    with pytest.raises(FormatError, match=sentence):
        read_alignments(tmp_path / "alignments.txt", 2)


@pytest.mark.parametrize(
    ("head", "sentence"), [("0 1", "line 3: a number is expected"), ("0 1 1.5", "line 3: the score must lie between 0 and 1")]
)
def test_broken_edges(tmp_path: Path, head: str, sentence: str) -> None:
    (tmp_path / "selected.txt").write_text(f"# selected\n\n{head}\n1 0 0\n0 1 0\n0 0 1\n")
    with pytest.raises(FormatError, match=sentence):
        read_joins(tmp_path / "selected.txt", 2)


def test_a_piece_with_two_poses(tmp_path: Path) -> None:
    (tmp_path / "pose_result_0.txt").write_text("0\t0\n1 0 0\n0 1 0\n0 0 1\n" * 2)
    with pytest.raises(FormatError, match="line 5: piece 0 has a pose already"):
        read_poses(tmp_path / "pose_result_0.txt", 2)


@needs_example
def test_twelve_of_the_66_candidates_of_the_example_are_true() -> None:
    truth = truth_of_example()
    alignments = read_alignments(MIT_EX / "alignments.txt", 9)
    true_joins = [truth.poses[a.i].inverse() @ truth.poses[a.j] for a in alignments]
    errors = [a.i_from_j.distance(true)[1] for a, true in zip(alignments, true_joins, strict=True)]
    inverse_errors = [a.i_from_j.inverse().distance(true)[1] for a, true in zip(alignments, true_joins, strict=True)]
    assert len(alignments) == 66
    assert sum(error < 2 for error in errors) == 12
    assert sum(error < 2 for error in inverse_errors) == 0


@needs_example
def test_stitch_lines_of_the_example_lie_on_the_border_between_the_pieces() -> None:
    alignments, lines = read_alignments(MIT_EX / "alignments.txt", 9), read_stitch_lines(MIT_EX / "alignments.txt", 9)
    assert [len(line) for line in lines] == [a.fit for a in alignments]
    cv2 = pytest.importorskip("cv2")
    background = np.array((MIT_EX / "bg_color.txt").read_text().split(), dtype=np.uint8)
    for alignment, line in zip(alignments, lines, strict=True):
        image = cv2.imread(str(MIT_EX / f"fragment_{alignment.j + 1:04d}.png"))[:, :, ::-1]
        paper = (image != background).any(2).astype(np.uint8)
        border = cv2.morphologyEx(paper, cv2.MORPH_GRADIENT, np.ones((7, 7), np.uint8))
        x, y = line.round().astype(int).T
        assert border[y.clip(0, len(border) - 1), x.clip(0, border.shape[1] - 1)].mean() > 0.9


@needs_example
def test_the_result_of_the_example_agrees_with_its_joins() -> None:
    result = read_poses(MIT_EX / "pose_result_0.txt", 9)
    selected = read_joins(MIT_EX / "selected_transformation.txt", 9)
    filtered = read_joins(MIT_EX / "filtered_alignments.txt", 9)
    assert result.complete
    assert len(selected) == len(filtered) == 12
    for a, b in zip(selected, filtered, strict=True):
        assert_close(a.alignment.i_from_j, b.alignment.i_from_j, pixels=1e-5)
        relative = result.poses[a.alignment.i].inverse() @ result.poses[a.alignment.j]
        angle, distance = relative.distance(a.alignment.i_from_j)
        assert math.degrees(angle) < 5
        assert distance < 30
