"""What is done to a puzzle by a method, in a process of its own: solve it, or look at one stage.

A task other than solving gives ``rows`` of plain values; `experiments` makes tables of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import InputError, JigsawNetError
from jigsawnet.evaluation.detector import simulate_scores
from jigsawnet.evaluation.metrics import candidate_recall, evaluate, right_candidates
from jigsawnet.evaluation.neighbors import true_neighbors
from jigsawnet.evaluation.strips import right_strip_candidates
from jigsawnet.loading import load_input
from jigsawnet.pipeline import Corridor
from jigsawnet.score.views import SeamViews
from jigsawnet.store import FoundCandidates
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.cases import Case, build_puzzle
from jigsawnet_bench.layouts import NEIGHBOR_PX, pictures_of, read_order, truth_of
from jigsawnet_bench.machine import peak_mb
from jigsawnet_bench.methods import METHODS, Task
from jigsawnet_bench.networks import THRESHOLD, Verdict, judge, load_ensembles
from jigsawnet_bench.real import real_case
from jigsawnet_bench.records import Record, thumbnail_path, write_record
from jigsawnet_bench.work import PEAK, Job, solve_case, source_digest

BORDER_PX = 2.5
"""Two borders this close (and twice the erosion) are common; neighbours share at least 4 % of the smaller perimeter."""
PRECISION, RECALL = 0.85, 0.97
"""The paper's detector, which "simulated" scores stand for."""
SCORERS = ("fit", "jigsawnet", "seam", "combined")
SHOWN_TO_NETWORKS = ("dense", "zhang")
"""Whose candidates the networks of the paper's table are compared on."""
MOST_FOR_NETWORKS = 100
"""Larger puzzles are scored and solved, but not shown to all networks."""
MEANS = ("pcr", "pcr_tight", "acr", "acr_precision", "acr_recall", "lcr")
_WARM_UP = 64

Row = dict[str, Any]


def run_job(job: Job) -> None:
    """Do what is asked and record it; an error is recorded too, so that the other puzzles go on."""
    key = job.key()
    try:
        if source_digest() != job.source:
            raise InputError("The program was changed while the bench ran; run it again.")
        solve = {"solve": solve_case, "real": real_case}.get(job.task)
        record = solve(job, thumbnail_path(job.folder, key)) if solve else _EXPERIMENTS[job.task](job)
    except Exception as error:
        text = str(error) if isinstance(error, JigsawNetError) else f"{type(error).__name__}: {error}"
        record = Record(error=text or type(error).__name__)
    write_record(job.folder, key, record)


def match_case(job: Job) -> Record:
    """One matcher on one puzzle: how many true neighbours it finds, how fast, in how much memory."""
    puzzle, truth = build_puzzle(job.case)
    walk = job.corridor(puzzle)
    rows: Candidates = walk.get("candidates").rows
    stages = {stage.name: stage for stage in walk.stages}
    n, erosion, seconds = len(puzzle), job.case.gap_px - NEIGHBOR_PX, stages["contours"].seconds + stages["match"].seconds
    right = right_candidates(puzzle, rows, truth, gap_px=BORDER_PX + erosion)
    residuals = rows.feature("residual")[right & rows.measured]
    degree = np.bincount(np.concatenate([rows.i, rows.j]), minlength=n)
    row = {
        "matcher": job.method.name,
        "pieces": n,
        "recall": candidate_recall(puzzle, rows, truth, gap_px=BORDER_PX + erosion),
        "recall_touching": candidate_recall(puzzle, rows, truth, gap_px=NEIGHBOR_PX + erosion),
        "candidates": len(rows),
        "per_piece": float(degree.mean()),
        "per_piece_most": int(degree.max(initial=0)),
        "residual_px": round(float(np.median(residuals)) if len(residuals) else 0.0, 3),
        "ms_per_pair": round(1000 * seconds / max(1, n * (n - 1) // 2), 3),
        "seconds": round(seconds, 3),
        "peak_mb": stages["match"].counts.get(PEAK),
    }
    return _record([row])


def compose_case(job: Job) -> Record:
    """One composer on the candidates of one puzzle, with scores of a simulated detector and with those of the seams."""
    puzzle, truth = build_puzzle(job.case)
    by_seam = job.corridor(puzzle)
    found: FoundCandidates = by_seam.get("candidates")
    right = right_candidates(puzzle, found.rows, truth, gap_px=BORDER_PX + job.case.gap_px - NEIGHBOR_PX)
    scores = simulate_scores(right, PRECISION, RECALL, np.random.default_rng((job.case.number, 1)))
    simulated = _changed(by_seam, by_seam.config)
    simulated.put("scored", replace(found, rows=found.rows.with_scores(scores)), None)
    rows: list[Row] = []
    for kind, walk in {"simulated": simulated, "seam": by_seam}.items():
        shares = _shares(puzzle, walk, truth, job.case)
        seconds = {stage.name: stage.seconds for stage in walk.stages}
        rows.append({
            "pieces": len(puzzle), "scores": kind, "method": job.method.name, **shares,
            "compose_seconds": round(seconds["compose"], 3),
            "refine_seconds": round(seconds["refine"] + seconds.get("second round", 0.0), 3),
        })  # fmt: skip
    return _record(rows)


def detect_case(job: Job) -> Record:
    """Candidates of one matcher for one puzzle: the truth about them, and what every scorer and network says.

    The dense matcher's are also put together by each composer with the scores of each scorer (``solved``).
    """
    puzzle, truth = build_puzzle(job.case)
    group, walk = job.case.group, job.corridor(puzzle)
    found, scene = walk.get("candidates"), walk.get("scene")
    few = _changed(walk, walk.config)
    few.put("candidates", replace(found, rows=found.rows.take(slice(_WARM_UP))), None)
    for scorer in SCORERS:  # nothing is loaded or compiled while the clock runs
        _changed(few, replace(walk.config, scorer=scorer)).get("scored")
    scored = {scorer: _changed(walk, replace(walk.config, scorer=scorer)) for scorer in SCORERS}
    verdicts = {scorer: _verdict(each, found.rows) for scorer, each in scored.items()}
    if job.method.name in SHOWN_TO_NETWORKS and group.shred.pieces <= MOST_FOR_NETWORKS:
        views = SeamViews(scene.pixels, scene.borders, found.rows)
        for ensemble in load_ensembles(job.runs):
            verdicts |= judge(ensemble, views)
    right = right_candidates(puzzle, found.rows, truth, gap_px=BORDER_PX + job.case.gap_px - NEIGHBOR_PX)
    solved: list[Row] = [
        {"method": method.name, "scorer": scorer, **_shares(puzzle, each, truth, job.case)}
        for method in METHODS["compose"].values() if job.method.name == "dense"
        for scorer, own in scored.items()
        for each in [_changed(own, replace(method.config, scorer=scorer))]
    ]  # fmt: skip
    row = {
        "matcher": job.method.name, "n_pieces": len(puzzle), "right": right.tolist(), "solved": solved,
        "joins": np.column_stack([found.rows.i, found.rows.j]).tolist(),
        "verdicts": {name: _plain(verdict) for name, verdict in verdicts.items()},
    }  # fmt: skip
    return _record([row])


def precision_case(job: Job) -> Record:
    """Candidates of one matcher for one puzzle: how many true neighbours have a right one, and the scores of every scorer."""
    case, folder = job.case, next(iter(job.case.sources), None)
    if case.group.kind.is_read and folder and truth_of(folder) == "order":
        puzzle = load_input([pictures_of(folder)]).puzzle
        walk, (order, n) = job.corridor(puzzle), read_order(folder, puzzle)
        rows: Candidates = walk.get("candidates").rows
        right, neighbors = right_strip_candidates(puzzle, rows, order), n - 1
    else:
        puzzle, truth = build_puzzle(case)
        walk = job.corridor(puzzle)
        rows = walk.get("candidates").rows
        right = right_candidates(puzzle, rows, truth, gap_px=case.gap_px)
        neighbors = len(true_neighbors(puzzle, truth, case.gap_px))
    scored = {scorer: walk.changed(replace(walk.config, scorer=scorer)) for scorer in SCORERS}
    row = {
        "matcher": job.method.name, "pieces": len(puzzle), "neighbors": neighbors,
        "found": len(set(zip(rows.i[right].tolist(), rows.j[right].tolist(), strict=True))),
        "right": right.tolist(),
        "scores": {scorer: _verdict(each, rows).score.round(6).tolist() for scorer, each in scored.items()},
    }  # fmt: skip
    return _record([row])


def _changed(walk: Corridor, config: SolveConfig) -> Corridor:
    """The same candidates, and scores if there are any, with other options; nothing of it is saved."""
    return walk.changed(config, Context())


def _verdict(walk: Corridor, rows: Candidates) -> Verdict:
    """What a scorer says of candidates, in their order, and how long it took."""
    scored: Candidates = walk.get("scored").rows
    score = np.empty(len(rows))
    score[_by_pose(rows)] = scored.score[_by_pose(scored)]
    (seconds,) = (stage.seconds for stage in walk.stages if stage.name == "score")
    return Verdict(score, score >= THRESHOLD, seconds=seconds)


def _by_pose(rows: Candidates) -> NDArray[np.intp]:
    """An order that does not depend on scores."""
    return np.lexsort((*rows.pose.T, rows.j, rows.i))


def _shares(puzzle: Puzzle, walk: Corridor, truth: Assembly, case: Case) -> Row:
    metrics = asdict(evaluate(puzzle, walk.get("assembly"), truth, case.gap_px, walk.offered))
    return {name: round(metrics[name] or 0.0, 4) for name in MEANS}


def _plain(verdict: Verdict) -> Row:
    return asdict(verdict) | {"score": verdict.score.tolist(), "said_right": verdict.said_right.tolist()}


def _record(rows: list[Row]) -> Record:
    return Record(peak_mb=peak_mb(), measured={"rows": rows})


_EXPERIMENTS: Mapping[Task, Callable[[Job], Record]] = {
    "match": match_case, "compose": compose_case, "detect": detect_case, "precision": precision_case,
}  # fmt: skip
