"""What scorers look at: the pieces of one puzzle, prepared once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates, Claims
from jigsawnet.learned import Learned, NetworkName
from jigsawnet.pixels import Pixels, build_pixels
from jigsawnet.print_lines import find_lines, shows_lines
from jigsawnet.score.combine import LOWEST, logit, printed_terms, ragged_terms
from jigsawnet.score.detectors import Detector, load_detector
from jigsawnet.score.rivals import best_rivals
from jigsawnet.score.seam_path import unit_of
from jigsawnet.seam_fit import CutShape, contact_fit, cut_shape, seam_fit
from jigsawnet.stopping import Stop
from jigsawnet.strips import are_printed
from jigsawnet.types import FloatArray, Puzzle


def looking(printed: bool) -> NetworkName:
    """The network that looks at seams which touch in parts: on a page, or elsewhere."""
    return "printed" if printed else "ragged"


@dataclass(frozen=True, eq=False)
class Scene:
    """One puzzle, its borders, what was learned, its measured candidates, and the shape of its cuts."""

    puzzle: Puzzle
    borders: Borders
    learned: Learned
    candidates: Candidates
    cuts: CutShape
    _detectors: dict[str, Detector] = field(default_factory=dict)
    stop: Stop = field(default_factory=Stop)

    @staticmethod
    def of(puzzle: Puzzle, borders: Borders, learned: Learned, rows: Candidates, stop: Stop | None = None) -> Scene:
        """``rows`` are all measured candidates of the puzzle; they show what its cuts look like."""
        fit = seam_fit(rows.features, borders.step_px, learned.fit)
        return Scene(puzzle, borders, learned, rows, cut_shape(rows, fit, borders.step_px), stop=stop or Stop())

    @cached_property
    def pixels(self) -> Pixels:
        """The pictures of all pieces; raises `StoppedError` when the work is to end before they are there."""
        return build_pixels(self.puzzle, unit_of(self.borders), self.stop)

    @cached_property
    def _claims(self) -> tuple[Claims, FloatArray]:
        """What all candidates claim, and the log odds of their contact fits."""
        odds = logit(contact_fit(self.candidates, self.borders.step_px, self.learned.contact))
        return Claims.of(self.candidates), np.tile(odds, 2)

    def rivals(self, rows: Candidates) -> FloatArray:
        """Log odds ``(C, 2)`` of the best candidates of other pairs for the same stretches of i's and j's border."""
        return best_rivals(Claims.of(rows), *self._claims, LOWEST)

    @cached_property
    def _lines(self) -> FloatArray:
        """Direction of the lines of print on each piece, NaN where it is not clear or the pieces are not those of a page."""
        pieces = self.puzzle.pieces
        return find_lines(pieces) if are_printed(pieces) else np.full(len(pieces), np.nan)

    @property
    def of_page(self) -> bool:
        """Whether lines of print are clear on most pieces."""
        return shows_lines(self._lines)

    def touching_terms(self, rows: Candidates, votes: FloatArray, printed: bool) -> FloatArray:
        """`ragged_terms` of some candidates, or `printed_terms`."""
        known = rows, self.borders.step_px, votes, self.rivals(rows)
        return printed_terms(*known, self.print_turn(rows)) if printed else ragged_terms(*known)

    def print_turn(self, rows: Candidates) -> FloatArray:
        """By how much lines of print turn at each seam ``(C,)``, -pi/2 to pi/2; NaN where they are not clear on both pieces."""
        turn = self._lines[rows.j] + rows.pose[:, 0].astype(np.float64) - self._lines[rows.i]
        return np.asarray((turn + np.pi / 2) % np.pi - np.pi / 2)

    def detector(self, name: NetworkName) -> Detector:
        """A network, loaded when it is first asked for."""
        if name not in self._detectors:
            self._detectors[name] = load_detector(name, self.learned)
        return self._detectors[name]

    def fit(self, rows: Candidates) -> FloatArray:
        """What the measured seams say by themselves, ``(C,)``; where contact was measured, it may say more."""
        whole = self.cuts.fit(rows, self.borders.step_px, self.learned.fit)
        return np.maximum(whole, contact_fit(rows, self.borders.step_px, self.learned.contact))
