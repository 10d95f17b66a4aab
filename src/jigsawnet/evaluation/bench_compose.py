"""``jigsawnet bench compose``: what the composers make of the same candidates, with scores of stated quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.compose import ComposeConfig, ComposerName, compose
from jigsawnet.config import SolveConfig
from jigsawnet.errors import InputError
from jigsawnet.evaluation.detector import simulate_scores
from jigsawnet.evaluation.metrics import Metrics, evaluate, right_candidates, right_pieces
from jigsawnet.evaluation.results import Row, mean_rows, write_results
from jigsawnet.evaluation.tile_graphs import make_tile_graph
from jigsawnet.graph import build_graph
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.pipeline import assemble, find_candidates
from jigsawnet.raster import ShapeBank
from jigsawnet.refine import RefineConfig
from jigsawnet.second_round import SecondRoundConfig
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.stage_clock import StageClock
from jigsawnet.types import Assembly, Fragment, MatchGraph, Progress, Puzzle, no_progress

PRECISION, RECALL = 0.85, 0.97
"""The paper's detector, which "simulated" stands for."""
COMPOSERS: tuple[ComposerName, ...] = ("best-first", "glc", "hlm")
FALSE_PER_TRUE = (0, 2, 5, 10, 20)
_BORDER_PX = 2.5


@dataclass(frozen=True, slots=True)
class Method:
    """A composer alone, or all that is shipped."""

    name: str
    config: SolveConfig


def methods() -> list[Method]:
    """The paper's composers by themselves, then the default with refinement and second round."""
    bare = SolveConfig(refine=RefineConfig(pose_graph=False, seams=False), second_round=SecondRoundConfig(enabled=False))
    return [Method(name, replace(bare, composer=name)) for name in COMPOSERS] + [Method("default", SolveConfig())]


def bench_compose(
    photos: Path, out: Path, sizes: Sequence[int], seeds: Sequence[int], command: str, progress: Progress = no_progress
) -> list[Row]:
    """Compose real candidates of puzzles of each size, and tile graphs flooded with false joins; write JSON, table and plot."""
    pictures = list_pictures(photos)
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    rows: list[Row] = []
    jobs = [(n, seed, pictures[(k * 7 + seed * 11) % len(pictures)]) for k, n in enumerate(sizes) for seed in seeds]
    for done, (n, seed, picture) in enumerate(jobs):
        rows += compose_puzzle(n, seed, picture)
        progress("bench", done + 1, len(jobs) + 1)
    tiles = [row for false in FALSE_PER_TRUE for seed in seeds for row in compose_tiles(false, seed)]
    progress("bench", len(jobs) + 1, len(jobs) + 1)
    means = ("pcr", "pcr_tight", "acr_precision", "acr_recall", "lcr", "compose_seconds", "refine_seconds")
    summary = mean_rows(rows, ("pieces", "scores", "method"), means)
    flooded = mean_rows(tiles, ("false_per_true", "method"), ("pcr",))
    write_results(out, "compose", command, rows, summary)
    write_results(out, "compose_tiles", command, tiles, flooded)
    _plot(flooded, out / "compose_tiles.png")
    return [*summary]


def compose_puzzle(pieces: int, seed: int, picture: Path) -> list[Row]:
    """One puzzle, two kinds of scores, every method."""
    rng = np.random.default_rng(seed)
    puzzle, truth = shred_images([read_image(picture)[..., :3]], ShredConfig(pieces=pieces), rng)
    bank, alignments = find_candidates(puzzle, SolveConfig())
    right = right_candidates(puzzle, alignments, truth, gap_px=_BORDER_PX)
    scores = {"simulated": simulate_scores(right, PRECISION, RECALL, rng).tolist(), "seam": [a.fit for a in alignments]}
    rows: list[Row] = []
    for kind, values in scores.items():
        graph = build_graph(len(puzzle), alignments, values)
        for method in methods():
            clock = StageClock()
            assembly = assemble(puzzle, bank, graph, method.config, clock, seed=seed)
            seconds = {stage.name: stage.seconds for stage in clock.stages}
            rows.append({
                "pieces": len(puzzle), "scores": kind, "method": method.name, "seed": seed, "picture": picture.name,
                **_values(evaluate(puzzle, assembly, truth)),
                "compose_seconds": round(seconds["compose"], 3),
                "refine_seconds": round(seconds["refine"] + seconds.get("second round", 0.0), 3),
            })  # fmt: skip
    return rows


def compose_tiles(false_per_true: float, seed: int, rows: int = 6, columns: int = 6) -> list[Row]:
    """A grid of tiles with many false joins: how far each composer gets."""
    graph, bank, truth = make_tile_graph(rows, columns, false_per_true, np.random.default_rng(seed))
    return [
        {"false_per_true": false_per_true, "method": name, "seed": seed, "pcr": _tile_pcr(name, graph, bank, truth, seed)}
        for name in COMPOSERS
    ]


def _tile_pcr(composer: ComposerName, graph: MatchGraph, bank: ShapeBank, truth: Assembly, seed: int) -> float:
    side = int(bank.points.max()) + 1
    full = np.ones((side, side), dtype=bool)
    blank = np.zeros((side, side, 3), dtype=np.uint8)
    puzzle = Puzzle("tiles", tuple(Fragment(k, str(k), blank, full) for k in range(truth.n_fragments)))
    assembly = compose(graph, bank, composer, ComposeConfig(), seed=seed)
    return len(right_pieces(puzzle, assembly, truth, limits=(5.0, 20.0))) / truth.n_fragments


def _values(metrics: Metrics) -> dict[str, Any]:
    return {
        "pcr": round(metrics.pcr, 4),
        "pcr_tight": round(metrics.pcr_tight, 4),
        "acr_precision": round(metrics.acr_precision or 0.0, 4),
        "acr_recall": round(metrics.acr_recall, 4),
        "lcr": round(metrics.lcr, 4),
    }


def _plot(rows: Sequence[Row], path: Path) -> None:
    """Accuracy against false joins per true one, a line for each composer; left out when matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        return
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, style in zip(COMPOSERS, ("o:", "s--", "^-"), strict=True):
        own = [row for row in rows if row["method"] == name]
        axes.plot([row["false_per_true"] for row in own], [100 * row["pcr"] for row in own], style, color="black", label=name)
    axes.set(xlabel="false joins per true join", ylabel="pieces in the right place, %", ylim=(0, 103))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=160)
