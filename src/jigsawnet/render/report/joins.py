"""The joins, weakest first: close-ups of the first ones, a table of the rest."""

from __future__ import annotations

from collections.abc import Sequence

from jigsawnet.render.report.facts import Join, ReportInput, seam_words
from jigsawnet.render.report.page import fold, jpeg, label, percent, plural, section, short, table, text
from jigsawnet.render.report.pairs import CloseUp, Pieces, close_up

MOST_CLOSE_UPS = 60
MOST_ROWS = 400
_SIZE = (280, 170)
_SIDE, _TOP, _BOTTOM = 12, 2, 16
"""Room around a close-up, in which the seam is marked."""


def joins_section(given: ReportInput, joins: Sequence[Join], pieces: Pieces) -> str:
    """Close-ups and table; a sentence when nothing was joined."""
    if not joins:
        return section("joins", "Joins", "<p>No two pieces were joined.</p>")
    shown, rest = joins[:MOST_CLOSE_UPS], joins[MOST_CLOSE_UPS:]
    intro = (
        f"<p>{plural(len(joins), 'join')}, the least sure first. Each picture is turned so that the seam runs from left to"
        " right, the first piece above it and the second below. The marks outside show where the seam begins and ends.</p>"
    )
    cards = "\n".join(_card(given, join, pieces) for join in shown)
    left = f'<p class="soft">{plural(len(rest), "join")} with higher confidence are not shown as pictures.</p>' if rest else ""
    return section("joins", "Joins, weakest first", intro, f'<ul class="cards">\n{cards}\n</ul>', left, _rest(given, rest))


def _card(given: ReportInput, join: Join, pieces: Pieces) -> str:
    i, j = (given.puzzle.fragments[idx].name for idx in (join.i, join.j))
    view = close_up(pieces[join.i], pieces[join.j], join.i_from_j, _SIZE)
    return (
        f"<li>{_drawing(view, f'Seam of {short(i)} (above) and {short(j)} (below)')}"
        f'<p class="who"><span class="sure">{percent(join.score)}</span> {label(i)} and {label(j)}</p>'
        f'<p class="what">{text(seam_words(given, join))}</p></li>'
    )


def _drawing(view: CloseUp, alt: str) -> str:
    """The close-up with marks around it: triangles at the height of the seam's ends, a bar below along its length."""
    width, height = _SIZE
    left, right = (max(6.0, min(height - 6.0, y)) + _TOP for y in (view.left_y, view.right_y))
    start, end = (max(0.0, min(float(width), x)) + _SIDE for x in (view.from_x, view.to_x))
    bar, edge = height + _TOP + 9, _SIDE + width
    return (
        f'<svg role="img" aria-label="{text(alt)}" viewBox="0 0 {width + 2 * _SIDE} {height + _TOP + _BOTTOM}"'
        f' xmlns="http://www.w3.org/2000/svg"><image x="{_SIDE}" y="{_TOP}" width="{width}" height="{height}"'
        f' href="{jpeg(view.image)}"/><rect class="frame" x="{_SIDE}" y="{_TOP}" width="{width}" height="{height}"/>'
        f'<g class="mark"><path d="M{_SIDE - 1} {left:.0f}l-9 -5v10z"/><path d="M{edge + 1} {right:.0f}l9 -5v10z"/>'
        f'<path fill="none" stroke-width="2" d="M{start:.0f} {bar - 4}v8m0 -4H{end:.0f}m0 -4v8"/></g></svg>'
    )


def _rest(given: ReportInput, rest: Sequence[Join]) -> str:
    """The joins without a picture."""
    if not rest:
        return ""
    names = given.puzzle.names()
    rows = (
        [percent(join.score), label(names[join.i]), label(names[join.j]), text(seam_words(given, join))]
        for join in rest[:MOST_ROWS]
    )
    hidden = len(rest) - MOST_ROWS
    note = f'<p class="soft">{plural(hidden, "more join")} in assembly.json.</p>' if hidden > 0 else ""
    listed = table(["confidence", "piece", "piece", "seam"], rows, numbers=(0,))
    return fold(f"The next {plural(min(len(rest), MOST_ROWS), 'join')}", listed + note)
