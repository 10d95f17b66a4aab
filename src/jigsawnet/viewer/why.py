"""Why a piece lies where it lies, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from jigsawnet.viewer.candidates import Place
from jigsawnet.viewer.seams import SeamView

_CLOSE_COLOR, _FAR_COLOR = 6.0, 18.0
"""Lab distances up to which colours across a seam count as alike, and from which as different."""


def why_sentences(
    seams: Sequence[tuple[str, SeamView, float, int]], others: Sequence[Place], *, pinned: bool, decided: int
) -> list[str]:
    """What speaks for the place of a piece; ``seams`` are (name of the neighbour, seam, score, loops), the surest first."""
    lines = []
    if pinned:
        lines.append("You pinned it here.")
    if decided:
        lines.append(f"You accepted {_count(decided, 'of its joins', 'of its joins')}.")
    if not seams:
        lines.append("No join holds it.")
        return [*lines, *_rival(others)]
    total = sum(seam.length_px for _, seam, _, _ in seams)
    lines.append(f"Its border runs along {_count(len(seams), 'neighbour', 'neighbours')} for {total:.0f} px in all.")
    name, best, score, _ = seams[0]
    lines.append(
        f"The surest seam, with {name}, is {best.length_px:.0f} px long, the borders {best.residual_px:.1f} px apart, "
        f"{score:.0%} sure."
    )
    lines.append(f"Across it the colours {_colors(best.color_step)} (a step of {best.color_step:.0f} in Lab).")
    loops = sum(count for _, _, _, count in seams)
    lines.append(
        f"{_count(loops, 'closed loop of joins agrees', 'closed loops of joins agree')} with its place."
        if loops
        else "No closed loop of joins confirms its place."
    )
    return [*lines, *_rival(others)]


def _rival(others: Sequence[Place]) -> list[str]:
    return [f"The best other place has a score of {others[0].score:.2f}."] if others else ["It has no other candidates."]


def _colors(step: float) -> str:
    return "are alike" if step < _CLOSE_COLOR else "differ" if step < _FAR_COLOR else "differ much"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
