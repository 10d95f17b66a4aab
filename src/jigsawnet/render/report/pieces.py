"""The pieces without a place and their best guesses; the parts that the others make."""

from __future__ import annotations

import numpy as np

from jigsawnet.render.layout import Layout, outline
from jigsawnet.render.report.facts import Guess, Join, ReportInput, best_guesses
from jigsawnet.render.report.page import fold, jpeg, label, percent, plural, section, short, table, text
from jigsawnet.render.report.pairs import Pieces, thumbnail, whole_pair
from jigsawnet.types import FloatArray

MOST_PIECES = 30
MOST_PARTS = 200
MOST_NAMES = 300
_GUESSES = 3
_PIECE_SIZE, _PAIR_SIZE = (150, 120), (190, 140)


def unplaced_section(given: ReportInput, pieces: Pieces) -> str:
    """Each piece without a place, and where it might belong; nothing when all are placed."""
    left = given.assembly.unplaced
    if not left:
        return ""
    guesses = best_guesses(given.assembly, given.graph, _GUESSES)
    ranked = sorted(left, key=lambda idx: (-max((guess.score for guess in guesses[idx]), default=0.0), idx))
    intro = (
        f"<p>{plural(len(left), 'piece has', 'pieces have')} no place in the picture. Beside each are its best guesses of the"
        " joins that were considered, with their scores; they were not used because they are too unsure or contradict the"
        " rest.</p>"
    )
    shown = "\n".join(_piece(given, idx, guesses[idx], pieces) for idx in ranked[:MOST_PIECES])
    others = [label(given.puzzle.fragments[idx].name) for idx in ranked[MOST_PIECES:]]
    rest = ""
    if others:
        names = ", ".join(others[:MOST_NAMES]) + (" …" if len(others) > MOST_NAMES else "")
        rest = f'<p class="soft">Not shown: {plural(len(others), "more piece")}.</p>' + fold("Their names", f"<p>{names}</p>")
    return section("unplaced", "Pieces not placed", intro, shown, rest)


def _piece(given: ReportInput, idx: int, guesses: list[Guess], pieces: Pieces) -> str:
    name = given.puzzle.fragments[idx].name
    figures = [_figure(thumbnail(pieces[idx], _PIECE_SIZE), f"The piece {short(name)}", "the piece")]
    for guess in guesses:
        other = given.puzzle.fragments[guess.other].name
        drawn = whole_pair(pieces[guess.other], pieces[idx], guess.other_from_piece, _PAIR_SIZE)
        caption = f"beside {label(other)}, score {percent(guess.score)}"
        figures.append(_figure(drawn, f"{short(name)} laid beside {short(other)}", caption))
    nothing = "" if guesses else '<p class="what">No candidate join was found for it.</p>'
    return f'<div class="piece"><h3>{label(name)}</h3><div class="guesses">{"".join(figures)}</div>{nothing}</div>'


def _figure(image: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], alt: str, caption: str) -> str:
    height, width = image.shape[:2]
    picture = f'<img src="{jpeg(image)}" width="{width}" height="{height}" alt="{text(alt)}">'
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def parts_section(given: ReportInput, joins: list[Join], layout: Layout) -> str:
    """The components: how many pieces, how large, and their weakest join."""
    parts = given.assembly.components
    weakest: dict[int, float] = {}
    part_of = {idx: number for number, part in enumerate(parts) for idx in part}
    for join in joins:  # weakest first
        weakest.setdefault(part_of[join.i], join.score)
    rows = []
    for number, part in enumerate(parts[:MOST_PARTS]):
        corners = np.concatenate([_corners(given, idx, layout) for idx in part])
        width, height = corners.max(axis=0) - corners.min(axis=0) + 1.0
        names = ", ".join(label(given.puzzle.fragments[idx].name) for idx in part[:MOST_NAMES])
        more = f" and {len(part) - MOST_NAMES} more" if len(part) > MOST_NAMES else ""
        listed = names if len(part) <= 4 else fold("names", f"{names}{more}")
        rows.append([str(number), f"{len(part):,}", text(given.size(width, height)), percent(weakest.get(number)), listed])
    if not rows:
        return section("components", "Components", "<p>Nothing was put together.</p>")
    words = (
        "All placed pieces hang together."
        if len(parts) == 1
        else "Parts that nothing connects lie side by side in the picture."
    )
    hidden = f'<p class="soft">{plural(len(parts) - MOST_PARTS, "more part")} not shown.</p>' if len(parts) > MOST_PARTS else ""
    shown = table(["component", "pieces", "size", "weakest join", "which"], rows, numbers=(0, 1, 3))
    return section("components", "Components", f"<p>{words}</p>", shown, hidden)


def _corners(given: ReportInput, idx: int, layout: Layout) -> FloatArray:
    """Border points of a piece on the canvas, ``(N, 2)``."""
    return layout.canvas_from_fragment[idx] @ outline(given.puzzle.fragments[idx])
