"""What scorers look at: the pieces of one puzzle, prepared once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.learned import Learned, NetworkName
from jigsawnet.pixels import Pixels, build_pixels
from jigsawnet.score.detectors import Detector, load_detector
from jigsawnet.score.seam_path import unit_of
from jigsawnet.seam_fit import CutShape, cut_shape, seam_fit
from jigsawnet.types import FloatArray, Puzzle


@dataclass(frozen=True, eq=False)
class Scene:
    """One puzzle, its borders, what was learned, and the shape of its cuts."""

    puzzle: Puzzle
    borders: Borders
    learned: Learned
    cuts: CutShape
    _detectors: dict[str, Detector] = field(default_factory=dict)

    @staticmethod
    def of(puzzle: Puzzle, borders: Borders, learned: Learned, rows: Candidates) -> Scene:
        """``rows`` are all measured candidates of the puzzle; they show what its cuts look like."""
        return Scene(
            puzzle, borders, learned, cut_shape(rows, seam_fit(rows.features, borders.step_px, learned.fit), borders.step_px)
        )

    @cached_property
    def pixels(self) -> Pixels:
        """The pictures of all pieces."""
        return build_pixels(self.puzzle, unit_of(self.borders))

    def detector(self, name: NetworkName) -> Detector:
        """A network, loaded when it is first asked for."""
        if name not in self._detectors:
            self._detectors[name] = load_detector(name, self.learned)
        return self._detectors[name]

    def fit(self, rows: Candidates) -> FloatArray:
        """What the measured seams say by themselves, ``(C,)``."""
        return self.cuts.fit(rows, self.borders.step_px, self.learned.fit)
