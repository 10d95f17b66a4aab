"""What the report tells, worked out from the assembly and its candidates; no HTML here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, Edge, MatchGraph, Puzzle, RunReport, Seam, UInt8Array, loops_through

MM_PER_INCH = 25.4


@dataclass(frozen=True, slots=True, eq=False)
class ReportInput:
    """What a run found.

    ``picture`` is the assembly as `render_assembly` paints it: RGBA ``(H, W, 4)``. ``defaults`` are the options as they are
    when nobody changes them, in the shape of ``report.config``; empty: not known.
    """

    puzzle: Puzzle
    assembly: Assembly
    graph: MatchGraph
    report: RunReport
    picture: UInt8Array
    dpi: float | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)

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
class Join:
    """A selected join as it lies in the picture; ``i_from_j`` by the final poses."""

    i: int
    j: int
    i_from_j: SE2
    score: float
    loops: int
    seam: Seam | None


@dataclass(frozen=True, slots=True)
class Guess:
    """A place for a piece that has none: beside ``other``, ``other_from_piece``."""

    other: int
    other_from_piece: SE2
    score: float


def weakest_first(assembly: Assembly) -> list[Join]:
    """All selected joins, the least sure first."""
    joins = []
    for edge, loops in zip(assembly.edges, loops_through(assembly.edges), strict=True):
        a = edge.alignment
        if a.i in assembly.poses and a.j in assembly.poses:
            laid = assembly.poses[a.i].inverse() @ assembly.poses[a.j]
            joins.append(Join(a.i, a.j, laid, edge.score, loops, a.seam))
    return sorted(joins, key=lambda join: (join.score, join.i, join.j))


def best_guesses(assembly: Assembly, graph: MatchGraph, most: int) -> Mapping[int, list[Guess]]:
    """For each piece without a place its likeliest candidates, at most one beside each other piece."""
    found: dict[int, list[Guess]] = {idx: [] for idx in assembly.unplaced}
    ranked: list[Edge] = sorted(graph.edges, key=lambda edge: -edge.score) if found else []
    for edge in ranked:
        a = edge.alignment
        for piece, other, pose in ((a.i, a.j, a.i_from_j.inverse()), (a.j, a.i, a.i_from_j)):
            guesses = found.get(piece)
            if guesses is not None and len(guesses) < most and all(guess.other != other for guess in guesses):
                guesses.append(Guess(other, pose, edge.score))
    return found


def seam_words(given: ReportInput, join: Join) -> str:
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
