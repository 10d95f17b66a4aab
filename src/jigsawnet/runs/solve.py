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
from jigsawnet.match import propose_alignments
from jigsawnet.pipeline import rank_given, without_border
from jigsawnet.runs.keys import graph_key, match_key, piece_digest, pieces_key, puzzle_key
from jigsawnet.runs.request import Request, effective_config, request_to_plain
from jigsawnet.runs.run import DRAFT, NOTHING_DECIDED, Run, assemble_run, unsolved_run
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
from jigsawnet.types import Constraints, Progress, Puzzle, StageReport, no_progress
from jigsawnet.version import __version__
from jigsawnet.workers import Workers


def solve_run(
    request: Request,
    out: Path,
    *,
    constraints: Constraints = NOTHING_DECIDED,
    progress: Progress = no_progress,
    stop: Stop | None = None,
    workers: Workers | None = None,
    on_pieces: Callable[[Puzzle], None] | None = None,
) -> Run:
    """Solve into the folder ``out``: what was saved there with the same input and settings is taken, the rest is done.

    Killed at any moment and called again, it gives the result of an undisturbed run. ``on_pieces`` is told what was read before
    the long work starts.

    Raises:
        JigsawNetError: bad input, or the folder cannot be written; what was saved stays.
    """
    with lock_folder(out, __version__) as folder:
        folder.record = replace(folder.record, request=request_to_plain(request), jigsawnet=__version__)
        return _Solver(folder, request, progress, stop or Stop(), workers).solve(constraints, on_pieces or (lambda _: None))


class _Solver:
    """The stages of one call."""

    def __init__(self, folder: RunFolder, request: Request, progress: Progress, stop: Stop, workers: Workers | None) -> None:
        self._folder, self._request, self._progress, self._stop, self._workers = folder, request, progress, stop, workers
        self._done: list[str] = []
        self._reused: list[str] = []

    def solve(self, constraints: Constraints, on_pieces: Callable[[Puzzle], None]) -> Run:
        weights = scorer_digest(effective_config(self._request).chosen_scorer)  # before the long work: they may be missing
        pieces = self._pieces()
        on_pieces(pieces.puzzle)
        digests = tuple(piece_digest(fragment) for fragment in pieces.puzzle.fragments)
        run = unsolved_run(self._folder.path, self._request, pieces).changed(workers=self._workers)
        run = self._scores(self._candidates(run, digests), digests, weights)
        run = run.changed(done=tuple(self._done), reused=tuple(self._reused))
        return assemble_run(self._folder, run, constraints, self._progress, self._stop)

    def _pieces(self) -> Pieces:
        key = pieces_key(self._request)
        saved = self._folder.load("pieces", key)
        pieces = saved and pieces_from_arrays(saved[1])
        if pieces:
            self._reused.append("pieces")
            return pieces
        with silent_decoders():
            loaded = load_input(self._request.inputs, self._request.scans, self._progress)
        write_checks(self._folder.path / CHECK_FOLDER, {check.name: check.picture for check in loaded.checks})
        pieces = Pieces(loaded.puzzle, loaded.backs, loaded.dpi)
        self._folder.save("pieces", key, "", pieces_to_arrays(pieces), ())
        self._done.append("pieces")
        return pieces

    def _candidates(self, run: Run, digests: tuple[str, ...]) -> Run:
        """Candidates, and the key of the stage in place of that of the graph."""
        key = match_key(self._request, digests)
        saved = self._folder.load("match", key)
        found = saved and candidates_from_arrays(saved[1])
        if saved and found and all(a.j < len(digests) for a in found.alignments):
            self._reused.append("match")
            reports = saved[0].reports
        else:
            run, found, reports = self._match(run, digests)
            self._folder.save("match", key, puzzle_key(digests), candidates_to_arrays(found), reports)
            self._done.append("match")
        return run.changed(alignments=found.alignments, graph_key=key, candidate_stages=reports, notes=found.notes)

    def _match(self, run: Run, digests: tuple[str, ...]) -> tuple[Run, Candidates, tuple[StageReport, ...]]:
        clock = StageClock()
        config, given = run.config, self._request.alignments
        with clock.stage("contours") as counts:
            bank = run.bank
            counts.update(pieces=len(digests), samples=len(bank.points))
        if given is not None:
            alignments = rank_given(read_alignments(given, len(digests)))
        else:
            with clock.stage("match") as counts:
                alignments = propose_alignments(bank, config.matcher, config.match, self._progress, self._workers)
                counts.update(candidates=len(alignments))
            run = run.changed(pairs_matched=len(digests) * (len(digests) - 1) // 2)
        return run, Candidates(alignments, digests, without_border(run.puzzle, bank)), tuple(clock.stages)

    def _scores(self, run: Run, digests: tuple[str, ...], weights: str) -> Run:
        """Scored candidates; ``run`` has those of the matcher."""
        key = graph_key(run.graph_key, run.config, weights)
        saved = self._folder.load("graph", key)
        found = saved and scores_from_arrays(saved[1])
        n = len(digests)
        if saved and found and found[0] == run.alignments:
            self._reused.append("graph")
            scores, reports = found[1], saved[0].reports
        else:
            clock = StageClock()
            with clock.stage("score") as counts:
                scores = np.asarray(run.judge(run.alignments, self._progress), np.float64)
                counts.update(likely=int((scores >= run.config.compose.min_score).sum()))
            reports = run.candidate_stages + tuple(clock.stages)
            arrays = scores_to_arrays(run.alignments, scores, run.notes)
            self._folder.save(f"{DRAFT}graph" if run.graph_cut_short else "graph", key, puzzle_key(digests), arrays, reports)
            self._done.append("graph")
        return run.changed(graph=build_graph(n, run.alignments, scores.tolist()), graph_key=key, candidate_stages=reports)
