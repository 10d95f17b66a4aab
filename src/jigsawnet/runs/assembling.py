"""The last stage of a run: scored candidates → assembly → result files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.io.run_folder import RunFolder
from jigsawnet.pipeline import assemble
from jigsawnet.runs.keys import assembly_key, piece_digest, puzzle_key, results_key
from jigsawnet.runs.results import replace_results
from jigsawnet.runs.snapshots import OnPoses, show_poses
from jigsawnet.runs.stages import DRAFT, Candidates, assembly_from_arrays, assembly_to_arrays, scores_to_arrays
from jigsawnet.second_round import SecondRoundConfig
from jigsawnet.stage_clock import StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints, Progress, StageReport

if TYPE_CHECKING:
    from jigsawnet.runs.run import Run

HASTE_S = 5.0
"""Seconds for joining what there is, best first, once the time is up."""


def assemble_run(
    folder: RunFolder, run: Run, constraints: Constraints, progress: Progress, stop: Stop, on_snapshot: OnPoses | None = None
) -> Run:
    """Take the saved assembly, or compose and save it, and write the results; ``folder`` is locked.

    Stopped before anything was placed, it leaves the results of an earlier run as they are.
    """
    key = assembly_key(run.graph_key, run.config, run.request.seed, constraints)
    saved = None if run.graph_cut_short else folder.load("assembly", key)
    assembly = saved and assembly_from_arrays(saved[1])
    if saved and assembly and assembly.n_fragments == len(run.puzzle):
        reused = (*run.reused, "assembly")
        run = run.changed(assembly=assembly, assembly_stages=saved[0].reports, cut_short=False, reused=reused)
        folder.drop(f"{DRAFT}graph", f"{DRAFT}assembly")
    else:
        assembly, reports = _compose(run, constraints, progress, stop, on_snapshot)
        cut = run.graph_cut_short or stop.has_cut
        done = run.done if cut else (*run.done, "assembly")
        run = run.changed(assembly=assembly, assembly_stages=reports, cut_short=cut, done=done)
        if cut and not assembly.poses and (stop.is_requested or folder.record.result_files):
            return run
        _save(folder, run, key)
    replace_results(folder, run, results_key(key, run.puzzle.names(), run.dpi, run.request))
    return run


def _save(folder: RunFolder, run: Run, key: str) -> None:
    """Save the assembly; one that was cut short as a draft, with its candidates if these are not saved either."""
    stage = key, run.graph_key, assembly_to_arrays(run.assembly), run.assembly_stages
    if not run.cut_short:
        folder.save("assembly", *stage)
        folder.drop(f"{DRAFT}graph", f"{DRAFT}assembly")
        return
    drafts = {f"{DRAFT}assembly": stage}
    if run.graph_cut_short:
        edges, source = run.graph.edges, puzzle_key([piece_digest(fragment) for fragment in run.puzzle.fragments])
        found = Candidates(tuple(e.alignment for e in edges), run.notes, run.steps)
        arrays = scores_to_arrays(found, np.array([e.score for e in edges], np.float64))
        drafts[f"{DRAFT}graph"] = run.graph_key, source, arrays, run.candidate_stages
    folder.save_all(drafts)


def _compose(
    run: Run, constraints: Constraints, progress: Progress, stop: Stop, on_snapshot: OnPoses | None
) -> tuple[Assembly, tuple[StageReport, ...]]:
    """Compose; what was cut short is held against a hasty composition of the same candidates, and the fuller one is kept."""
    shown = show_poses(run.bank, constraints.pinned, on_snapshot)

    def work(config: SolveConfig, until: Stop) -> tuple[Assembly, tuple[StageReport, ...]]:
        clock = StageClock()
        judge = run.judge if config.second_round.enabled else None
        assembly = assemble(
            run.puzzle, run.bank, run.graph, config, clock, judge=judge, seed=run.request.seed, constraints=constraints,
            stop=until, progress=progress, workers=run.workers, on_snapshot=shown,
        )  # fmt: skip
        return assembly, tuple(clock.stages)

    composed = None if stop.is_over() else work(run.config, stop)
    if composed and not stop.has_cut:
        return composed
    hasty = work(replace(run.config, composer="best-first", second_round=SecondRoundConfig(enabled=False)), Stop.after(HASTE_S))
    return composed if composed and len(composed[0].poses) >= len(hasty[0].poses) else hasty
