"""One puzzle, one method: solve it from saved stages, measure, and record. Runs in a process of its own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jigsawnet.errors import InputError, JigsawNetError
from jigsawnet.evaluation.results import peak_mb
from jigsawnet.evaluation.suites.cases import Case, build_puzzle
from jigsawnet.evaluation.suites.digest import source_digest
from jigsawnet.evaluation.suites.measure import measure
from jigsawnet.evaluation.suites.methods import Method
from jigsawnet.evaluation.suites.records import Record, thumbnail_path, write_record
from jigsawnet.evaluation.suites.stages import SavedStage, known, load_stage, save_stage
from jigsawnet.evaluation.suites.thumbnail import draw_result
from jigsawnet.graph import build_graph
from jigsawnet.io.images import write_png
from jigsawnet.judging import Judge
from jigsawnet.pipeline import assemble, find_candidates, trace_bank
from jigsawnet.raster import ShapeBank
from jigsawnet.stage_clock import StageClock
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.version import __version__

STAGE_FOLDER = "stages"


@dataclass(frozen=True, slots=True)
class Job:
    """A puzzle, a method, and the folder in which the outcome is recorded."""

    case: Case
    method: Method
    folder: Path
    source: str
    """`source_digest` of the program that is to run it."""

    def key(self) -> str:
        """Names everything the outcome depends on."""
        return _hash(self.case.digest(), dataclasses.asdict(self.method.config), self.method.min_fit, __version__, self.source)

    def match_key(self) -> str:
        """Names everything the candidates depend on."""
        config = self.method.config
        options = (config.matcher, dataclasses.asdict(config.contours), dataclasses.asdict(config.match))
        return _hash(self.case.digest(), *options, __version__, source_digest("match"))

    def score_key(self) -> str:
        """Names everything the scores of the candidates depend on."""
        return _hash(self.match_key(), self.method.config.chosen_scorer, source_digest("score"))


def run_job(job: Job) -> None:
    """Solve, measure and record; an error is recorded too, so that the other puzzles go on."""
    key = job.key()
    try:
        if source_digest("solve") != job.source:
            raise InputError("The program was changed while the bench ran; run it again.")
        record = solve_case(job, thumbnail_path(job.folder, key))
    except Exception as error:
        text = str(error) if isinstance(error, JigsawNetError) else f"{type(error).__name__}: {error}"
        record = Record(error=text or type(error).__name__)
    write_record(job.folder, key, record)


def solve_case(job: Job, thumbnail: Path) -> Record:
    """Put one puzzle together as the pipeline does, and compare the result with the truth."""
    puzzle, truth = build_puzzle(job.case)
    config, clock = job.method.config, StageClock()
    bank, matched = _candidates(job, puzzle, clock)
    judge, scored = _scores(job, puzzle, bank, matched)
    kept = [k for k, a in enumerate(matched.alignments) if a.fit >= job.method.min_fit]
    start = time.perf_counter()
    chosen, scores = [matched.alignments[k] for k in kept], [scored.alignments[k].fit for k in kept]
    graph = build_graph(len(puzzle), chosen, scores)
    assembly = assemble(puzzle, bank, graph, config, clock, judge=judge, seed=job.case.number)
    took = time.perf_counter() - start
    stages = {stage.name: stage.seconds for stage in clock.stages} | {"match": matched.seconds, "score": scored.seconds}
    after = sum(seconds for name, seconds in stages.items() if name not in ("contours", "match", "score"))
    stages["confidence"] = max(0.0, took - after)
    memory = {"match": matched.peak_mb, "score": scored.peak_mb, "compose and later": known(peak_mb())}
    all_scores = np.array([a.fit for a in scored.alignments], dtype=np.float64)
    measured = measure(
        puzzle, truth, assembly, matched.alignments, all_scores, config.compose.min_score, job.case.group.shred.erosion_px
    )
    _draw(puzzle, truth, assembly, thumbnail)
    return Record(
        seconds=round(sum(stages.values()), 3),
        stages={name: round(seconds, 3) for name, seconds in stages.items()},
        peak_mb=max((value for value in memory.values() if value is not None), default=None),
        memory={name: value for name, value in memory.items() if value is not None},
        measured=measured,
    )


def _candidates(job: Job, puzzle: Puzzle, clock: StageClock) -> tuple[ShapeBank, SavedStage]:
    """Contours, and candidates found now or before."""
    folder, key, names = job.folder / STAGE_FOLDER, job.match_key(), puzzle.names()
    saved = load_stage(folder, key, names)
    if saved is not None:
        return trace_bank(puzzle, job.method.config, clock), saved
    bank, alignments = find_candidates(puzzle, job.method.config, clock)
    match = clock.stages.pop()
    found = SavedStage(alignments, match.seconds, known(peak_mb()))
    save_stage(folder, key, names, found)
    return bank, found


def _scores(job: Job, puzzle: Puzzle, bank: ShapeBank, matched: SavedStage) -> tuple[Judge | None, SavedStage]:
    """Candidates whose fit is their score, computed now or before, and the judge if later stages ask it again."""
    config = job.method.config
    scorer, names = config.chosen_scorer, puzzle.names()
    if scorer == "fit":
        return None, SavedStage(matched.alignments, 0.0, None)
    folder, key = job.folder / STAGE_FOLDER, job.score_key()
    saved = load_stage(folder, key, names)
    if saved is not None and len(saved.alignments) == len(matched.alignments):
        asked_again = config.matcher == "dense" and config.second_round.enabled
        return Judge(puzzle, bank, scorer, matched.alignments) if asked_again else None, saved
    start = time.perf_counter()
    judge = Judge(puzzle, bank, scorer, matched.alignments)
    scores = judge(matched.alignments).tolist()
    seconds = time.perf_counter() - start
    scored = tuple(replace(a, fit=score, seam=None) for a, score in zip(matched.alignments, scores, strict=True))
    found = SavedStage(scored, seconds, known(peak_mb()))
    save_stage(folder, key, names, found)
    return judge, found


def _draw(puzzle: Puzzle, truth: Assembly, assembly: Assembly, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, draw_result(puzzle, truth, assembly))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
