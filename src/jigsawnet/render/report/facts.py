"""What the report tells, worked out from the assembly and its candidates; no HTML here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.edits import Notes
from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, Puzzle, RunReport, Seam, StageReport, UInt8Array, loops_through

MM_PER_INCH = 25.4
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, eq=False)
class ReportInput:
    """What a run found.

    ``picture`` is the assembly as `render_assembly` paints it: RGBA ``(H, W, 4)``. ``defaults`` are the options as they are
    when nobody changes them, in the shape of ``report.config``; empty: not known.
    """

    puzzle: Puzzle
    assembly: Assembly
    candidates: Candidates
    report: RunReport
    picture: UInt8Array
    dpi: float | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    page_names: Mapping[int, str] = field(default_factory=dict)
    """What a person calls the pages, by the number of the component."""
    notes: Notes = field(default_factory=Notes)
    """What a person noted."""
    shrink: int = 1
    """How many times smaller the picture is than the pieces."""

    def length(self, px: float) -> str:
        """A length for a person: in px, and in mm when the resolution is known."""
        return f"{px:,.0f} px" if self.dpi is None else f"{px:,.0f} px ({px / self.dpi * MM_PER_INCH:.1f} mm)"

    def size(self, width_px: float, height_px: float) -> str:
        """A size for a person: in px, and in mm when the resolution is known."""
        in_px = f"{width_px:,.0f} × {height_px:,.0f} px"
        if self.dpi is None:
            return in_px
        across, down = (side / self.dpi * MM_PER_INCH for side in (width_px, height_px))
        return f"{in_px} ({across:,.0f} × {down:,.0f} mm)"


@dataclass(frozen=True, slots=True)
class ShownJoin:
    """A selected join as it lies in the picture; ``i_from_j`` by the final poses."""

    i: int
    j: int
    i_from_j: SE2
    score: float
    loops: int
    seam: Seam | None


@dataclass(frozen=True, slots=True)
class Grade:
    """A step of the scale: confidences from ``at_least`` upward. The colours can be told apart by colour-blind people."""

    at_least: float
    color: str
    words: str


GRADES = (
    Grade(0.99, "#2c7bb6", "99 % and more"),
    Grade(0.95, "#abd9e9", "95 to 99 %"),
    Grade(0.80, "#ffffbf", "80 to 95 %"),
    Grade(0.50, "#fdae61", "50 to 80 %"),
    Grade(0.00, "#d7191c", "below 50 %"),
)


@dataclass(frozen=True, slots=True)
class Considered:
    """A place that was considered for a piece that has none: beside ``other``, ``other_from_piece``."""

    other: int
    other_from_piece: SE2
    score: float


def weakest_first(assembly: Assembly) -> list[ShownJoin]:
    """All selected joins, the least sure first."""
    shown = []
    for join, loops in zip(assembly.joins, loops_through(assembly.joins), strict=True):
        a = join.alignment
        if a.i in assembly.poses and a.j in assembly.poses:
            i_from_j = assembly.poses[a.i].inverse() @ assembly.poses[a.j]
            shown.append(ShownJoin(a.i, a.j, i_from_j, join.confidence, loops, a.seam))
    return sorted(shown, key=lambda join: (join.score, join.i, join.j))


def best_candidates(assembly: Assembly, rows: Candidates, most: int) -> Mapping[int, list[Considered]]:
    """For each piece without a place its likeliest candidates, at most one beside each other piece; ``rows`` best first."""
    found: dict[int, list[Considered]] = {idx: [] for idx in assembly.unplaced}
    left = np.isin(rows.i, assembly.unplaced) | np.isin(rows.j, assembly.unplaced)
    for row in np.flatnonzero(left).tolist():
        i, j, i_from_j = int(rows.i[row]), int(rows.j[row]), rows.i_from_j(row)
        for piece, other, pose in ((i, j, i_from_j.inverse()), (j, i, i_from_j)):
            places = found.get(piece)
            if places is not None and len(places) < most and all(place.other != other for place in places):
                places.append(Considered(other, pose, float(rows.score[row])))
    return found


def seam_words(given: ReportInput, join: ShownJoin) -> str:
    """What is known of a seam, in sentences."""
    loops = "no closed loop holds it" if not join.loops else f"in {join.loops} closed loop{'s' * (join.loops > 1)}"
    if join.seam is None:
        return f"Follows from the places of the pieces; {loops}."
    seam = join.seam
    words = f"Seam of {given.length(seam.length_px)}, borders {seam.residual_px:.1f} px apart"
    if seam.distance_px >= 0.5:
        words += f" beside the gap of {seam.distance_px:.1f} px that worn edges leave"
    words += f", colour step {seam.color_step:.1f} Lab"
    if seam.gap_px > 0.15 * seam.length_px:
        words += f", {given.length(seam.gap_px)} of it open"
    if seam.overlap_px >= 3:
        words += f", overlap {seam.overlap_px:.1f} px"
    return f"{words}; {loops}."


def grade_of(confidence: float) -> Grade:
    """The step a confidence belongs to."""
    return next((grade for grade in GRADES if confidence >= grade.at_least), GRADES[-1])


def grade_counts(assembly: Assembly) -> list[tuple[Grade, int]]:
    """How many pieces have each grade."""
    found = [grade_of(value) for value in assembly.confidence.values()]
    return [(grade, found.count(grade)) for grade in GRADES]


def flat(config: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Options one by one, with dots in their names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def counted(stage: StageReport) -> str:
    """What a stage counted."""
    shown = (
        f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{name.replace('_', ' ')} {value:.4g}"
        for name, value in stage.counts.items()
    )
    return ", ".join(shown)


def percent(share: float | None) -> str:
    """A share rounded down, so that 100 % means certain."""
    return "–" if share is None else f"{math.floor(min(max(share, 0.0), 1.0) * 1000 + 1e-9) / 10:g} %"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def short(name: str) -> str:
    """A name with its middle left out when it is very long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 30]} … {name[-25:]}"
