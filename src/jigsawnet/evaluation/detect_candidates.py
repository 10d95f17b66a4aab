"""What ``jigsawnet bench detect`` looks at: puzzles of several kinds, their candidates, the truth and scores."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, InputError
from jigsawnet.evaluation.detect_metrics import IntArray
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.judging import Judge
from jigsawnet.match import MatcherName
from jigsawnet.pipeline import find_candidates
from jigsawnet.raster import ShapeBank
from jigsawnet.score import ScorerName
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Alignment, Assembly, BoolArray, FloatArray, Puzzle

SCORERS: tuple[ScorerName, ...] = ("fit", "jigsawnet", "seam", "combined")
MATCHERS: tuple[MatcherName, ...] = ("dense", "zhang", "tsamoura")
BORDER_PX = 2.5
"""Two borders this close (and twice the erosion) are common."""
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Kind:
    """Puzzles of one kind."""

    name: str
    shred: ShredConfig
    matchers: tuple[MatcherName, ...] = ("dense",)
    """Whose candidates are looked at; ``dense`` is the first, and what is solved with."""
    networks: bool = True
    """Show the candidates to every network of the paper's table as well, and count them in the calibration."""
    plain: bool = False
    """Count the candidates in the curves of precision over recall."""


KINDS = (
    Kind("36 pieces", ShredConfig(pieces=36), MATCHERS, plain=True),
    Kind("100 pieces", ShredConfig(pieces=100), MATCHERS, plain=True),
    Kind("36 pieces, erosion 2 px", ShredConfig(pieces=36, erosion_px=2.0)),
    Kind("36 pieces, straight cuts", ShredConfig(pieces=36, perturbation=0.0)),
    Kind("400 pieces", ShredConfig(pieces=400), networks=False),
)


@dataclass(frozen=True, slots=True)
class Job:
    """One puzzle to be cut."""

    kind: Kind
    seed: int
    picture: Path


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What one detector makes of C candidates: ``score (C,)`` in [0, 1] ranks them, ``said_right (C,)`` decides."""

    score: FloatArray
    said_right: BoolArray
    learners: int | str = ""
    """Networks that vote."""
    steps: str = ""
    """Batches that each of them was trained on."""
    seconds: float = 0.0
    """Time taken; 0 where it was not measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """C candidates of one matcher for one puzzle: the pieces they join ``(C, 2)``, which are ``right (C,)``, who says what."""

    kind: Kind
    matcher: MatcherName
    seed: int
    picture: str
    n_pieces: int
    joins: IntArray
    right: BoolArray
    verdicts: Mapping[str, Verdict]


def detect_jobs(photos: Path, seeds: Sequence[int], largest: int) -> list[Job]:
    """Puzzles of every kind with at most ``largest`` pieces, from photographs that depend on kind and seed alone."""
    pictures = list_pictures(photos)
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    jobs = [
        Job(kind, seed, pictures[(k * 7 + seed * 11) % len(pictures)])
        for k, kind in enumerate(KINDS)
        for seed in seeds
        if kind.shred.pieces <= largest
    ]
    if not jobs:
        raise ConfigError(
            f"The smallest puzzles here have {KINDS[0].shred.pieces} pieces: raise --largest, or --seeds to at least 1."
        )
    return jobs


def cut_puzzle(job: Job) -> tuple[Puzzle, Assembly]:
    """The pieces and the truth."""
    return shred_images([read_image(job.picture)[..., :3]], job.kind.shred, np.random.default_rng(job.seed))


def find(puzzle: Puzzle, matcher: MatcherName) -> tuple[ShapeBank, tuple[Alignment, ...]]:
    """Candidates as a solve finds them."""
    return find_candidates(puzzle, SolveConfig(matcher=matcher))


def label(
    job: Job, matcher: MatcherName, puzzle: Puzzle, truth: Assembly, found: Sequence[Alignment], verdicts: Mapping[str, Verdict]
) -> Candidates:
    """Candidates ``found`` with the truth about them; what the benchmark keeps of a puzzle."""
    right = right_candidates(puzzle, found, truth, gap_px=BORDER_PX + 2 * job.kind.shred.erosion_px)
    joins = np.array([(a.i, a.j) for a in found], dtype=np.int64).reshape(-1, 2)
    return Candidates(
        job.kind, matcher, job.seed, job.picture.name, len(puzzle), joins, np.array(right, dtype=bool), dict(verdicts)
    )


def score(puzzle: Puzzle, bank: ShapeBank, found: Sequence[Alignment], scorer: ScorerName) -> tuple[Judge, Verdict]:
    """What a scorer of the package says, as a solve asks it, and how long that takes."""
    start = time.perf_counter()
    judge = Judge(puzzle, bank, scorer, found)
    scores = judge(found)
    return judge, Verdict(scores, scores >= THRESHOLD, seconds=time.perf_counter() - start)
