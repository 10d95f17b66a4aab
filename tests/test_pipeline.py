"""Pieces in, picture out: the whole corridor on small puzzles, its files, and its agreement with the independent scorer."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from independent_scorer import score

from jigsawnet.borders import build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.cli import main_code
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.evaluation.metrics import candidate_recall, evaluate
from jigsawnet.io.assembly_json import assembly_to_json
from jigsawnet.io.authors import read_alignments, read_ground_truth, read_stitch_lines
from jigsawnet.io.images import write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import solve, solve_puzzle
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array

MIT = Path(__file__).resolve().parents[1].parent / "shared" / "examples" / "MIT_ex"
needs_mit = pytest.mark.skipif(not MIT.is_dir(), reason="needs the shared example MIT_ex")


def colourful_picture(seed: int, width: int = 320, height: int = 240) -> UInt8Array:
    """Smooth blobs of random colours."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 20, width // 20, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.uint8, copy=False)


def shred_picture(pieces: int, seed: int = 0) -> tuple[Puzzle, Assembly]:
    return shred_images([colourful_picture(seed)], ShredConfig(pieces=pieces), np.random.default_rng(seed))


@pytest.fixture(scope="module")
def nine() -> tuple[Puzzle, Assembly]:
    return shred_picture(9)


@pytest.fixture(scope="module")
def nine_on_disk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of nine pieces with their truth, and of their solution."""
    folder = tmp_path_factory.mktemp("nine")
    write_png(folder / "picture.png", colourful_picture(0))
    pieces, out = folder / "pieces", folder / "out"
    assert main_code(["shred", str(folder / "picture.png"), "-o", str(pieces), "--pieces", "9"]) == 0
    assert main_code(["solve", str(pieces), "-o", str(out)]) == 0
    return pieces, out


@pytest.mark.parametrize(("pieces", "seed"), [(9, 0), (4, 1), (2, 2)])
def test_every_piece_lies_within_two_degrees_and_five_pixels(pieces: int, seed: int) -> None:
    puzzle, truth = shred_picture(pieces, seed)
    solution = solve_puzzle(puzzle)
    assert len(puzzle) == pieces
    assert solution.assembly.complete
    assert evaluate(puzzle, solution.assembly, truth).pcr_tight == 1.0
    assert candidate_recall(puzzle, solution.candidates.alignments(), truth) == 1.0


def test_the_report_tells_seconds_and_counts_of_every_stage(nine: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = nine
    told: list[str] = []
    solution = solve_puzzle(puzzle, seed=7, context=Context(lambda stage, *_: told.append(stage)))
    report = solution.report
    counts = {stage.name: stage.counts for stage in report.stages}
    assert all(stage.seconds >= 0 for stage in report.stages)
    assert counts["contours"]["pieces"] == 9
    assert counts["match"]["candidates"] == len(solution.candidates)
    assert counts["compose"]["joins"] == len(solution.assembly.joins)
    assert (counts["compose"]["placed"], counts["compose"]["unplaced"], counts["compose"]["components"]) == (9, 0, 1)
    assert (report.seed, report.warnings) == (7, ())
    assert report.config["compose"]["min_score"] == ComposeConfig().min_score
    assert {"match", "compose"} <= set(told)
    assert [stage.name for stage in report.stages] == [
        "halo",
        "contours",
        "match",
        "score",
        "compose",
        "refine",
        "second round",
        "confidence",
    ]
    assert report.seconds >= sum(stage.seconds for stage in report.stages)


def test_options_reach_their_stage(nine: tuple[Puzzle, Assembly]) -> None:
    """With a score that no join can reach, nothing is placed."""
    assembly = solve(nine[0], SolveConfig(compose=ComposeConfig(min_score=1.0)))
    assert (assembly.components, len(assembly.unplaced)) == ((), 9)


def test_a_piece_of_another_picture_is_not_joined(nine: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine
    stranger = shred_images([colourful_picture(5)], ShredConfig(pieces=9), np.random.default_rng(5))[0].pieces[4]
    mixed = Puzzle("mixed", (*puzzle.pieces, replace(stranger, idx=9, name="stranger.png")))
    assembly = solve(mixed)
    assert not assembly.complete
    assert assembly.unplaced == (9,)
    with_stranger = Assembly(10, {**truth.poses, 9: truth.poses[0]}, (*truth.components, (9,)))
    assert evaluate(mixed, assembly, with_stranger).pcr_tight == 0.9


def test_a_piece_without_a_border_is_left_out_and_named(nine: tuple[Puzzle, Assembly]) -> None:
    empty = Piece(9, "empty.png", np.zeros((8, 8, 3), dtype=np.uint8), np.zeros((8, 8), dtype=np.bool_))
    solution = solve_puzzle(Puzzle("with a hole", (*nine[0].pieces, empty)))
    assert solution.assembly.unplaced == (9,)
    assert len(solution.report.warnings) == 1
    assert "empty.png" in solution.report.warnings[0]


def test_the_same_pieces_give_the_same_bytes(nine: tuple[Puzzle, Assembly]) -> None:
    puzzle, _ = nine
    first, second = (assembly_to_json(solve(puzzle), puzzle.names()) for _ in range(2))
    assert first == second


def test_the_order_of_files_in_the_folder_does_not_matter(nine_on_disk: tuple[Path, Path], tmp_path: Path) -> None:
    pieces, out = nine_on_disk
    shuffled = tmp_path / "shuffled"
    shuffled.mkdir()
    for path in sorted(pieces.glob("*.png"), reverse=True):
        shutil.copy(path, shuffled)
    assert main_code(["solve", str(shuffled), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "assembly.json").read_bytes() == (out / "assembly.json").read_bytes()
    assert (tmp_path / "out" / "assembly.png").read_bytes() == (out / "assembly.png").read_bytes()


def test_assembly_json_keeps_its_contract(nine_on_disk: tuple[Path, Path]) -> None:
    pieces, out = nine_on_disk
    data = json.loads((out / "assembly.json").read_text(encoding="utf-8"))
    assert list(data)[:4] == ["format", "version", "fragments", "alignments"]
    assert (data["format"], data["version"]) == ("jigsawnet/assembly", 1)
    assert [piece["name"] for piece in data["fragments"]] == sorted(path.name for path in pieces.glob("*.png"))
    for piece in data["fragments"]:
        assert {"name", "world_from_fragment", "component", "confidence"} <= set(piece)
        assert piece["component"] == 0
        assert 0 < piece["confidence"] <= 1
        assert_rigid(piece["world_from_fragment"])
    assert len(data["alignments"]) >= 8
    for join in data["alignments"]:
        assert {"i", "j", "i_from_j", "score"} <= set(join)
        assert 0 < join["score"] <= 1
        assert_rigid(join["i_from_j"])


def assert_rigid(rows: list[list[float]]) -> None:
    matrix = np.array(rows)
    np.testing.assert_allclose(matrix[:2, :2] @ matrix[:2, :2].T, np.eye(2), atol=1e-9)
    assert np.linalg.det(matrix[:2, :2]) > 0
    assert rows[2] == [0, 0, 1]


def test_a_piece_that_is_not_placed_has_a_null_pose(nine: tuple[Puzzle, Assembly], tmp_path: Path) -> None:
    write_pieces(tmp_path / "pieces", nine[0])
    out = tmp_path / "out"
    assert main_code(["solve", str(tmp_path / "pieces"), "-o", str(out), "--compose.min-score", "1"]) == 1
    pieces = json.loads((out / "assembly.json").read_text())["fragments"]
    assert len(pieces) == 9
    assert {piece["world_from_fragment"] for piece in pieces} == {None}
    assert (out / "assembly.png").stat().st_size > 0


def test_report_json_names_the_run(nine_on_disk: tuple[Path, Path]) -> None:
    report = json.loads((nine_on_disk[1] / "report.json").read_text(encoding="utf-8"))
    assert (report["format"], report["version"], report["puzzle"], report["seed"]) == ("jigsawnet/report", 1, "pieces", 0)
    stages = {stage["name"]: stage for stage in report["stages"]}
    assert {"contours", "match", "compose"} <= set(stages)
    assert all(stage["seconds"] >= 0 and stage["counts"] for stage in stages.values())
    assert {"read", "score", "refine"} <= set(stages)
    assert report["total_seconds"] >= sum(stage["seconds"] for stage in stages.values()), "of the whole command"


def test_the_independent_scorer_agrees(nine_on_disk: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    compare_with_scorer(*nine_on_disk, capsys)


@needs_mit
def test_the_example_of_the_authors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["solve", str(MIT), "-o", str(tmp_path / "out")]) == 0
    metrics = compare_with_scorer(MIT, tmp_path / "out", capsys)
    assert (metrics["pcr"], metrics["pcr_tight"]) == (1.0, 1.0)


def compare_with_scorer(pieces: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """Compare every figure of the independent scorer with ``jigsawnet eval --json``; gives ours."""
    capsys.readouterr()
    assert main_code(["eval", str(out), "--truth", str(pieces), "--json"]) == 0
    ours: dict[str, float] = json.loads(capsys.readouterr().out)
    names = {"n": "n", "placed": "placed", "in_place": "pcr", "tight": "pcr_tight", "joins_right": "acr_precision",
             "neighbors_joined": "acr_recall", "held_together": "lcr"}  # fmt: skip
    assert {names[key]: value for key, value in score(pieces, out / "assembly.json").items()} == pytest.approx(
        {name: ours[name] for name in names.values()}, abs=1e-4
    )
    return ours


@needs_mit
def test_the_authors_own_candidates_compose_too() -> None:
    """Measured: all 9 pieces right, tightly, from their 66 candidates scored by their matcher's own fit."""
    puzzle = load_puzzle(MIT)
    candidates = read_alignments(MIT / "alignments.txt", len(puzzle))
    best = max(candidate.fit for candidate in candidates)
    rows = Candidates.of(candidates)
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    assembly = compose(rows.with_scores(rows.fit / best), borders, "hlm", ComposeConfig(min_score=0.05), Context())
    metrics = evaluate(puzzle, assembly, read_ground_truth(MIT / "groundTruth.txt", puzzle.names()))
    assert metrics.pcr >= 8 / 9
    assert metrics.acr_precision is not None
    assert metrics.acr_precision >= 0.9


@needs_mit
def test_candidates_are_exchanged_with_the_authors_program(tmp_path: Path) -> None:
    """Their alignments.txt goes in and is solved; what we write reads back as it was."""
    out = tmp_path / "out"
    assert main_code(["solve", str(MIT), "-o", str(out), "--alignments", str(MIT / "alignments.txt"), "--authors-text"]) == 0
    written = read_alignments(out / "alignments.txt", 9)
    given = read_alignments(MIT / "alignments.txt", 9)
    assert len(written) == len(given) == 66
    for ours, theirs in zip(written, given, strict=True):
        assert (ours.i, ours.j) == (theirs.i, theirs.j)
        angle, distance = ours.i_from_j.distance(theirs.i_from_j)
        assert angle < 1e-4
        assert distance < 1e-2
    assert all(len(line) for line in read_stitch_lines(out / "alignments.txt", 9)[:12])
