"""Candidates of any origin, rated as the dense matcher rates its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.match import MatchConfig, propose_alignments
from jigsawnet.match.rate import cuts_of, rate_alignments
from jigsawnet.match.verify import FEATURES, measure_alignments
from jigsawnet.raster import build_bank
from jigsawnet.types import Assembly, Puzzle


@pytest.fixture(scope="module")
def found(nine_pieces: tuple[Puzzle, Assembly]):
    """The bank of nine pieces and their dense candidates."""
    bank = build_bank(trace_contours(nine_pieces[0], ContourConfig()))
    return bank, propose_alignments(bank, "dense", MatchConfig())


def test_dense_candidates_keep_their_fit(found) -> None:
    bank, alignments = found
    _, fit = rate_alignments(bank, alignments, cuts_of(bank, alignments))
    assert fit == pytest.approx([a.fit for a in alignments], abs=0.02)


def test_what_another_program_said_does_not_matter(found) -> None:
    bank, alignments = found
    strangers = [dataclasses.replace(a, fit=0.5, seam=None) for a in alignments]
    cuts = cuts_of(bank, alignments)
    terms, fit = rate_alignments(bank, strangers, cuts)
    again_terms, again_fit = rate_alignments(bank, alignments, cuts)
    assert (terms == again_terms).all()
    assert (fit == again_fit).all()


def test_each_candidate_is_measured_at_its_own_distance(found) -> None:
    bank, alignments = found
    first = next(a for a in alignments if a.seam is not None and a.seam.length_px > 10 * bank.step_px)
    apart = dataclasses.replace(first, seam=dataclasses.replace(first.seam, distance_px=6.0))
    length = measure_alignments(bank, [first, apart, first])[:, FEATURES.index("length")]
    assert length[0] == length[2] > length[1]


def test_nothing_to_rate(found) -> None:
    bank, _ = found
    terms, fit = rate_alignments(bank, (), cuts_of(bank, ()))
    assert terms.shape == (0, 77)
    assert np.shape(fit) == (0,)
