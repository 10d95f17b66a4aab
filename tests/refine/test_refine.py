from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.refine import RefineConfig, RefineStats, refine_poses
from jigsawnet.types import Alignment, Assembly, Join, Puzzle

DEFAULTS = RefineConfig()
TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]


def edges_of(rows: Candidates) -> tuple[Join, ...]:
    return tuple(rows.join_at(row) for row in range(len(rows)))


def assemble(rows: Candidates, poses: dict[int, SE2]) -> Assembly:
    return Assembly(len(poses), poses, (tuple(sorted(poses)),), edges_of(rows), dict.fromkeys(poses, 0.9))


def refine(assembly: Assembly, borders: Borders, config: RefineConfig = DEFAULTS) -> tuple[Assembly, RefineStats]:
    return refine_poses(assembly, borders, config, Context())


def worst_error(borders: Borders, assembly: Assembly, truth: Assembly) -> float:
    """Largest distance of a piece's centre from the truth, px, after the best motion of the whole."""
    found, true = (
        np.array([a.poses[k] @ borders.center[k].astype(np.float64) for k in range(len(borders))]) for a in (assembly, truth)
    )
    motion = fit_rigid(found, true)
    assert motion is not None
    return float(np.linalg.norm((motion @ found) - true, axis=1).max())


def test_a_false_join_is_dropped_and_the_pieces_stay(false_loop: TileCandidates) -> None:
    rows, borders, poses = false_loop
    diagonal = Join(Alignment(0, 3, poses[0].inverse() @ poses[3], fit=0.5), 0.5)
    assembly = assemble(rows, poses)
    assembly = replace(assembly, joins=(*assembly.joins, diagonal))
    refined, stats = refine(assembly, borders)
    assert stats.joins_dropped == 1
    assert stats.joins_doubtful == stats.pieces_cut_off == 0
    assert stats.objective == pytest.approx(25.0, abs=0.1)
    assert set(assembly.joins) - set(refined.joins) == {e for e in edges_of(rows) if e.alignment.fit == 0.78}
    assert all(refined.poses[idx].distance(poses[idx], borders.center[idx])[1] < 0.2 for idx in poses)
    assert (refined.components, refined.confidence) == (assembly.components, assembly.confidence)


def test_a_piece_keeps_its_only_join_even_if_pins_contradict_it(square: TileCandidates) -> None:
    rows, borders, poses = square
    pair = Assembly(4, {0: poses[0], 1: SE2(0.0, 30.0, 0.0) @ poses[1]}, ((0, 1),), edges_of(rows)[:1])
    refined, stats = refine_poses(pair, borders, RefineConfig(), Context(), pinned=(0, 1))
    assert refined.joins == pair.joins
    assert (stats.joins_dropped, stats.joins_doubtful) == (0, 1)
    assert all(refined.poses[idx].distance(pair.poses[idx])[1] < 1e-9 for idx in (0, 1))


def test_components_are_refined_each_in_its_own_frame(two_islands: TileCandidates) -> None:
    rows, borders, poses = two_islands
    shaken = {idx: SE2(0.0, 0.8 * (idx % 2), 0.5) @ pose for idx, pose in poses.items()}
    assembly = Assembly(5, shaken, ((1, 2, 4), (0, 3)), edges_of(rows))
    calls: list[tuple[str, int, int]] = []
    refined, stats = refine_poses(assembly, borders, RefineConfig(), Context(lambda *call: calls.append(call)))
    assert calls == [("refine", 1, 2), ("refine", 2, 2)]
    assert stats.neighbor_pairs == 3
    assert stats.seam_residual_after_px < 0.1 < stats.seam_residual_before_px
    for first, other in ((1, 2), (1, 4), (0, 3)):
        expected = poses[first].inverse() @ poses[other]
        found = refined.poses[first].inverse() @ refined.poses[other]
        assert found.distance(expected, borders.center[other])[1] < 0.3


def test_drifting_poses_of_a_real_cut_are_refined_and_twice_is_the_same(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine_pieces
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    rng = np.random.default_rng(0)
    noisy = [
        Join(Alignment(k, k + 1, truth.poses[k].inverse() @ truth.poses[k + 1] @ SE2(0.002, *rng.normal(0, 0.6, 2)), 0.9), 0.9)
        for k in range(8)
    ]
    drifting = {0: truth.poses[0]}
    for k, join in enumerate(noisy):
        drifting[k + 1] = drifting[k] @ join.alignment.i_from_j
    assembly = Assembly(9, drifting, (tuple(range(9)),), tuple(noisy))
    refined, stats = refine(assembly, borders)
    assert worst_error(borders, assembly, truth) > 1.2
    assert worst_error(borders, refined, truth) < 0.4
    assert stats.seam_residual_after_px < stats.seam_residual_before_px
    assert refined.joins == assembly.joins
    again, _ = refine(assembly, borders)
    assert again == refined


def test_steps_can_be_left_out(square: TileCandidates) -> None:
    rows, borders, poses = square
    assembly = assemble(rows, poses)
    same, stats = refine(assembly, borders, RefineConfig(pose_graph=False, seams=False))
    assert same == assembly
    assert stats.objective == 0.0
    assert stats.neighbor_pairs == 4
    assert stats.seam_residual_after_px == stats.seam_residual_before_px


def test_an_empty_assembly_is_fine(square: TileCandidates) -> None:
    _, borders, _ = square
    empty = Assembly(4, {}, ())
    refined, stats = refine(empty, borders)
    assert refined == empty
    assert stats.seam_residual_after_px == 0.0


@pytest.mark.parametrize("options", [{"inlier_px": 0.0}, {"inlier_px": float("nan")}, {"slide_weight": 0.0}])
def test_bad_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="refine"):
        RefineConfig(**options)  # type: ignore[arg-type]
