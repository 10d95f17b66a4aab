"""``solve_run``: stage by stage, each taken from the folder if it is there, or else done and saved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from jigsawnet.graph import build_graph
from jigsawnet.io.authors import read_alignments
from jigsawnet.io.images import silent_decoders
from jigsawnet.io.run_folder import RunFolder, lock_folder
from jigsawnet.io.scans import CHECK_FOLDER, write_checks
from jigsawnet.loading import load_input
from jigsawnet.match import Known
from jigsawnet.pipeline import find_with_known, rank_given, without_border
from jigsawnet.runs.assembling import assemble_run
from jigsawnet.runs.keys import graph_key, match_key, measured_key, piece_digest, pieces_key, puzzle_key
from jigsawnet.runs.measured import known_from_arrays, measured_to_arrays
from jigsawnet.runs.memory import MemoryGuard
from jigsawnet.runs.request import Request, effective_config, request_to_plain
from jigsawnet.runs.run import NOTHING_DECIDED, Run, unsolved_run
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.runs.stages import (
    Candidates,
    Pieces,
    candidates_from_arrays,
    candidates_to_arrays,
    pieces_from_arrays,
    pieces_to_arrays,
    scores_from_arrays,
    scores_to_arrays,
)
from jigsawnet.score import scorer_digest
from jigsawnet.stage_clock import StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import Constraints, FloatArray, Progress, Puzzle, StageReport, no_progress
from jigsawnet.version import __version__
from jigsawnet.workers import Workers


def solve_run(
    request: Request,
    out: Path,
    *,
    constraints: Constraints | Callable[[Puzzle], Constraints] = NOTHING_DECIDED,
    progress: Progress = no_progress,
    stop: Stop | None = None,
    workers: Workers | None = None,
    memory_limit: int | None = None,
    on_pieces: Callable[[Puzzle], None] | None = None,
    on_snapshot: OnPoses | None = None,
) -> Run:
    """Solve into the folder ``out``: what was saved there with the same input and settings is taken, the rest is done.

    Killed at any moment and called again, it gives the result of an undisturbed run.

    Args:
        request: what to solve, and how.
        out: the run folder; made if need be.
        constraints: what a person has decided; a function is asked once the pieces are read, before the long work starts.
        progress: told how far each stage is.
        stop: ends it early; then the best assembly so far is written, and the next call goes on.
        workers: who matches and scores; None: the cores of this machine.
        memory_limit: bytes that the process may hold.
        on_pieces: told what was read, before the long work starts.
        on_snapshot: shown the pieces that are joined so far, some times a second, as poses in one frame.

    Raises:
        JigsawNetError: bad input, too little memory, or the folder cannot be written; what was saved stays.
    """
    guard = MemoryGuard(memory_limit)
    with lock_folder(out, __version__) as folder:
        folder.record = replace(folder.record, request=request_to_plain(request), jigsawnet=__version__)
        solver = _Solver(folder, request, guard.watch(progress), stop or Stop(), workers)
        weights = scorer_digest(effective_config(request).chosen_scorer)  # before the long work: they may be missing
        pieces = solver.pieces()
        guard.check_estimate(pieces.puzzle)
        if on_pieces is not None:
            on_pieces(pieces.puzzle)
        decided = constraints(pieces.puzzle) if callable(constraints) else constraints
        run = solver.candidates(pieces, weights)
        return assemble_run(folder, run, decided, solver.progress, solver.stop, on_snapshot)


class _Solver:
    """The stages of one call, up to the scores."""

    def __init__(self, folder: RunFolder, request: Request, progress: Progress, stop: Stop, workers: Workers | None) -> None:
        self.folder, self.request, self.progress, self.stop, self.workers = folder, request, progress, stop, workers
        self.done: list[str] = []
        self.reused: list[str] = []

    def pieces(self) -> Pieces:
        """The pieces, read or taken from the folder."""
        key = pieces_key(self.request)
        saved = self.folder.load("pieces", key)
        pieces = saved and pieces_from_arrays(saved[1])
        if pieces:
            self.reused.append("pieces")
            return pieces
        with silent_decoders():
            loaded = load_input(self.request.inputs, self.request.scans, self.progress)
        write_checks(self.folder.path / CHECK_FOLDER, {check.name: check.picture for check in loaded.checks})
        pieces = Pieces(loaded.puzzle, loaded.backs, loaded.dpi)
        self.folder.save("pieces", key, "", pieces_to_arrays(pieces), ())
        self.done.append("pieces")
        return pieces

    def candidates(self, pieces: Pieces, weights: str) -> Run:
        """A run with scored candidates; ``weights`` name the state of the networks."""
        digests = tuple(piece_digest(fragment) for fragment in pieces.puzzle.fragments)
        run = unsolved_run(self.folder.path, self.request, pieces).changed(workers=self.workers)
        run, found, key = self._match(run, digests)
        run = self._score(run, found, graph_key(key, run.config, weights), puzzle_key(digests))
        return run.changed(done=tuple(self.done), reused=tuple(self.reused))

    def _match(self, run: Run, digests: tuple[str, ...]) -> tuple[Run, Candidates, str]:
        key = match_key(self.request, digests)
        saved = self.folder.load("match", key)
        found = saved and candidates_from_arrays(saved[1])
        if saved and found and found.n_fragments <= len(digests):
            self.reused.append("match")
            return run.with_candidates(found, saved[0].reports), found, key
        clock = StageClock()
        if self.request.alignments is None:
            run, found, kept = self._find(run, digests, clock)
        else:
            given = rank_given(read_alignments(self.request.alignments, len(digests)))
            with clock.stage("contours") as counts:
                counts.update(pieces=len(digests), samples=len(run.bank.points))
            found, kept = Candidates(given, without_border(run.puzzle, run.bank), None), None
        reports = tuple(clock.stages)
        if not self.stop.has_cut:
            stages = {"match": (key, puzzle_key(digests), candidates_to_arrays(found), reports)}
            if kept is not None:
                stages["measured"] = (key, measured_key(self.request), measured_to_arrays(kept, digests), ())
            self.folder.save_all(stages)
            self.done.append("match")
        return run.with_candidates(found, reports), found, key

    def _find(self, run: Run, digests: tuple[str, ...], clock: StageClock) -> tuple[Run, Candidates, Known | None]:
        """Look for candidates; pairs that an earlier run into this folder has measured are not looked at again."""
        known = None
        measured = self.folder.record.stages.get("measured")
        if measured is not None and measured.source == measured_key(self.request):
            saved = self.folder.load("measured")
            known = saved and known_from_arrays(saved[1], digests)
        found = find_with_known(run.puzzle, run.config, known, clock, self.progress, self.workers, self.stop)
        steps = None if found.kept is None else found.kept.scales.steps
        pairs = int(clock.stages[-1].counts.get("pairs", 0))
        run = run.changed(pairs_matched=pairs).with_bank(found.bank)
        return run, Candidates(found.alignments, without_border(run.puzzle, found.bank), steps), found.kept

    def _score(self, run: Run, found: Candidates, key: str, source: str) -> Run:
        saved = None if self.stop.has_cut else self.folder.load("graph", key)
        scored = saved and scores_from_arrays(saved[1])
        if saved and scored and scored[0].alignments == found.alignments:
            self.reused.append("graph")
            return _with_scores(run, scored[1], key, saved[0].reports)
        clock = StageClock()
        with clock.stage("score") as counts:
            scores = self._judge(run)
            counts.update(likely=int((scores >= run.config.compose.min_score).sum()))
        reports, cut = run.candidate_stages + tuple(clock.stages), self.stop.has_cut
        if not cut:
            self.folder.save("graph", key, source, scores_to_arrays(found, scores), reports)
            self.done.append("graph")
        return _with_scores(run, scores, key, reports).changed(graph_cut_short=cut)

    def _judge(self, run: Run) -> FloatArray:
        """Scores ``(C,)``; where there was no time to look at all candidates, they are ranked by what the matcher says."""
        if not self.stop.is_over():
            scores = run.judge(run.alignments, self.progress, self.stop)
            if not self.stop.has_cut:
                return np.asarray(scores, np.float64)
        return np.array([a.fit for a in run.alignments], np.float64)


def _with_scores(run: Run, scores: FloatArray, key: str, reports: tuple[StageReport, ...]) -> Run:
    graph = build_graph(len(run.puzzle), run.alignments, scores.tolist())
    return run.changed(graph=graph, graph_key=key, candidate_stages=reports)
