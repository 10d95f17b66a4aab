"""One measure for all joins: right ones of a small puzzle score high, wrong ones low, the same in any company."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.judging import Judge
from jigsawnet.pipeline import find_candidates
from jigsawnet.raster import ShapeBank
from jigsawnet.score import ScorerName
from jigsawnet.types import Alignment, Assembly, Puzzle

Nine = tuple[Puzzle, ShapeBank, tuple[Alignment, ...], np.ndarray]


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> Nine:
    """Nine pieces, their bank, their candidates, and which of these are right."""
    puzzle, truth = nine_pieces
    bank, alignments = find_candidates(puzzle, SolveConfig())
    return puzzle, bank, alignments, np.array(right_candidates(puzzle, alignments, truth))


@pytest.mark.parametrize("scorer", ["fit", "seam", "jigsawnet", "combined"])
def test_right_joins_score_above_wrong_ones(nine: Nine, scorer: ScorerName) -> None:
    puzzle, bank, alignments, right = nine
    score = Judge(puzzle, bank, scorer, alignments)(alignments)
    assert ((score >= 0) & (score <= 1)).all()
    pairs = score[right][:, None] > score[~right][None]
    assert pairs.mean() > 0.97


@pytest.mark.parametrize("scorer", ["fit", "seam", "combined"])
def test_a_join_scores_the_same_in_any_company(nine: Nine, scorer: ScorerName) -> None:
    puzzle, bank, alignments, _ = nine
    judge = Judge(puzzle, bank, scorer, alignments)
    alone = np.concatenate([judge([a]) for a in alignments[:5]])
    assert alone == pytest.approx(judge(alignments)[:5], abs=1e-6)


@pytest.mark.parametrize("scorer", ["fit", "seam", "combined"])
def test_nothing_to_judge(nine: Nine, scorer: ScorerName) -> None:
    puzzle, bank, _, _ = nine
    assert Judge(puzzle, bank, scorer, ())(()).shape == (0,)


def test_fit_is_the_word_of_the_matcher(nine: Nine) -> None:
    puzzle, bank, alignments, _ = nine
    assert Judge(puzzle, bank, "fit", alignments)(alignments).tolist() == [a.fit for a in alignments]
