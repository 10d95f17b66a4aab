from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.refine import RefineConfig, refine_poses
from jigsawnet.types import Alignment, Assembly, Edge, MatchGraph, Puzzle

TileGraph = tuple[MatchGraph, ShapeBank, dict[int, SE2]]


def assemble(graph: MatchGraph, poses: dict[int, SE2]) -> Assembly:
    return Assembly(graph.n_fragments, poses, (tuple(sorted(poses)),), graph.edges, dict.fromkeys(poses, 0.9))


def worst_error(bank: ShapeBank, assembly: Assembly, truth: Assembly) -> float:
    """Largest distance of a piece's centre from the truth, px, after the best motion of the whole."""
    found, true = (
        np.array([a.poses[k] @ bank.center[k].astype(np.float64) for k in range(len(bank))]) for a in (assembly, truth)
    )
    motion = fit_rigid(found, true)
    assert motion is not None
    return float(np.linalg.norm((motion @ found) - true, axis=1).max())


def test_a_false_join_is_dropped_and_the_pieces_stay(false_loop: TileGraph) -> None:
    graph, bank, poses = false_loop
    diagonal = Edge(Alignment(0, 3, poses[0].inverse() @ poses[3], fit=0.5), 0.5)
    assembly = replace(assemble(graph, poses), edges=(*graph.edges, diagonal))
    refined, stats = refine_poses(assembly, bank, RefineConfig())
    assert stats.joins_dropped == 1
    assert stats.joins_doubtful == stats.pieces_cut_off == 0
    assert stats.objective == pytest.approx(25.0, abs=0.1)
    assert set(assembly.edges) - set(refined.edges) == {e for e in graph.edges if e.alignment.fit == 0.78}
    assert all(refined.poses[idx].distance(poses[idx], bank.center[idx])[1] < 0.2 for idx in poses)
    assert (refined.components, refined.confidence) == (assembly.components, assembly.confidence)


def test_a_piece_keeps_its_only_join_even_if_pins_contradict_it(square: TileGraph) -> None:
    graph, bank, poses = square
    pair = Assembly(4, {0: poses[0], 1: SE2(0.0, 30.0, 0.0) @ poses[1]}, ((0, 1),), graph.edges[:1])
    refined, stats = refine_poses(pair, bank, RefineConfig(), pinned=(0, 1))
    assert refined.edges == pair.edges
    assert (stats.joins_dropped, stats.joins_doubtful) == (0, 1)
    assert all(refined.poses[idx].distance(pair.poses[idx])[1] < 1e-9 for idx in (0, 1))


def test_components_are_refined_each_in_its_own_frame(two_islands: TileGraph) -> None:
    graph, bank, poses = two_islands
    shaken = {idx: SE2(0.0, 0.8 * (idx % 2), 0.5) @ pose for idx, pose in poses.items()}
    assembly = Assembly(5, shaken, ((1, 2, 4), (0, 3)), graph.edges)
    calls: list[tuple[str, int, int]] = []
    refined, stats = refine_poses(assembly, bank, RefineConfig(), lambda *call: calls.append(call))
    assert calls == [("refine", 1, 2), ("refine", 2, 2)]
    assert stats.neighbor_pairs == 3
    assert stats.seam_residual_after_px < 0.1 < stats.seam_residual_before_px
    for first, other in ((1, 2), (1, 4), (0, 3)):
        expected = poses[first].inverse() @ poses[other]
        found = refined.poses[first].inverse() @ refined.poses[other]
        assert found.distance(expected, bank.center[other])[1] < 0.3


def test_drifting_poses_of_a_real_cut_are_refined_and_twice_is_the_same(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine_pieces
    bank = build_bank(trace_contours(puzzle, ContourConfig()))
    rng = np.random.default_rng(0)
    noisy = [
        Edge(Alignment(k, k + 1, truth.poses[k].inverse() @ truth.poses[k + 1] @ SE2(0.002, *rng.normal(0, 0.6, 2)), 0.9), 0.9)
        for k in range(8)
    ]
    drifting = {0: truth.poses[0]}
    for k, edge in enumerate(noisy):
        drifting[k + 1] = drifting[k] @ edge.alignment.i_from_j
    assembly = Assembly(9, drifting, (tuple(range(9)),), tuple(noisy))
    refined, stats = refine_poses(assembly, bank, RefineConfig())
    assert worst_error(bank, assembly, truth) > 1.2
    assert worst_error(bank, refined, truth) < 0.4
    assert stats.seam_residual_after_px < stats.seam_residual_before_px
    assert refined.edges == assembly.edges
    again, _ = refine_poses(assembly, bank, RefineConfig())
    assert again == refined


def test_steps_can_be_left_out(square: TileGraph) -> None:
    graph, bank, poses = square
    assembly = assemble(graph, poses)
    same, stats = refine_poses(assembly, bank, RefineConfig(pose_graph=False, seams=False))
    assert same == assembly
    assert stats.objective == 0.0
    assert stats.neighbor_pairs == 4
    assert stats.seam_residual_after_px == stats.seam_residual_before_px


def test_an_empty_assembly_is_fine(square: TileGraph) -> None:
    _, bank, _ = square
    empty = Assembly(4, {}, ())
    refined, stats = refine_poses(empty, bank, RefineConfig())
    assert refined == empty
    assert stats.seam_residual_after_px == 0.0


@pytest.mark.parametrize("options", [{"inlier_px": 0.0}, {"inlier_px": float("nan")}, {"slide_weight": 0.0}])
def test_bad_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="refine"):
        RefineConfig(**options)  # type: ignore[arg-type]
