"""``report.html``: one page that tells a person what was found and how sure it is. Pure: facts in, text out.

Everything is inside the page, nothing is loaded and no script runs. Its size is bounded: the picture is made smaller, and of
joins and pieces only so many are drawn; the page says how many are not. ``templates/report.html.j2`` is the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.render.layout import Layout, lay_out, outline, simple_outline
from jigsawnet.render.report.facts import (
    ReportInput,
    ShownJoin,
    best_candidates,
    counted,
    flat,
    grade_counts,
    grade_of,
    percent,
    plural,
    seam_words,
    short,
    weakest_first,
)  # fmt: skip
from jigsawnet.render.report.pictures import DrawnPieces, close_up, jpeg, shrunk, thumbnail, whole_pair

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["ReportInput", "report_html"]

MOST_CLOSE_UPS = 60
MOST_ROWS = 400
"""Joins listed in a table, after those with a close-up."""
MOST_PIECES = 30
"""Pieces without a place that are drawn."""
MOST_OTHERS = 24
"""Other places that are drawn."""
MOST_PARTS = 200
MOST_NOTES = 400
MOST_NAMES = 300
MOST_WARNINGS = 100
OPEN_WARNINGS = 6
"""Those that can be seen without a click."""
_CONSIDERED = 3
_CLOSE_UP_SIZE, _PIECE_SIZE, _PAIR_SIZE = (280, 170), (150, 120), (190, 140)
_FRAME = {"left": 12, "top": 2, "right": 12 + _CLOSE_UP_SIZE[0], "bottom": 2 + _CLOSE_UP_SIZE[1]}
"""Where a close-up lies in its drawing; the seam is marked in the room around it."""
_DETAIL = 1000.0
"""Outlines are as fine as a drawing of this many px needs."""
_NAMED_BELOW = 0.8
"""Pieces less sure than this have their percentage written on them, so that colour does not say it alone."""
_NOT_TEXT = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_html(given: ReportInput) -> str:
    """The whole page as text."""
    layout = lay_out(given.puzzle, given.assembly)
    if given.shrink == 1 and given.picture.shape[:2] != (layout.height, layout.width):
        raise ValueError("the picture is not the one this assembly makes")
    assembly, report = given.assembly, given.report
    joins, pieces, small = weakest_first(assembly), DrawnPieces(given.puzzle), shrunk(given.picture)
    in_px, _, in_mm = (given.size(layout.width, layout.height) if assembly.poses else "–").partition(" (")
    more = len(report.warnings) - MOST_WARNINGS
    longest = max((stage.seconds for stage in report.stages), default=0.0) or 1.0
    options, defaults = dict(flat(report.config)), dict(flat(given.defaults))
    unit = max(layout.width, layout.height) / _DETAIL
    return _template().render(
        puzzle=given.puzzle, assembly=assembly, report=report, dpi=given.dpi, layout=layout, joins=joins,
        size=(in_px, in_mm.rstrip(")")),
        stage_seconds=sum(stage.seconds for stage in report.stages),
        seconds=report.seconds,
        warnings=[*report.warnings[:MOST_WARNINGS], *([f"{more:,} more in report.json"] if more > 0 else [])],
        picture=jpeg(small), shrunk=small.shape[:2] != given.picture.shape[:2],
        grades=grade_counts(assembly),
        shapes=[_shape(given, idx, layout, unit) for component in assembly.components for idx in component], unit=unit,
        cards=[_row(given, join) | _card(join, pieces) for join in joins[:MOST_CLOSE_UPS]], frame=_FRAME,
        rest=joins[MOST_CLOSE_UPS:],
        rows=[_row(given, join) for join in joins[MOST_CLOSE_UPS:][:MOST_ROWS]],
        others=_others(given, pieces), more_others=max(0, len(report.other_places) - MOST_OTHERS),
        **_unplaced(given, pieces),
        parts=_parts(given, joins, layout), noted=_notes(given)[:MOST_NOTES], more_notes=len(_notes(given)) - MOST_NOTES,
        stages=[(stage, stage.seconds / longest, counted(stage)) for stage in report.stages],
        settings=list(options.items()), defaults=defaults,
        changed=[(name, value, defaults[name]) for name, value in options.items() if defaults.get(name, value) != value],
        OPEN_WARNINGS=OPEN_WARNINGS, MOST_NAMES=MOST_NAMES, PIECE_SIZE=_PIECE_SIZE, PAIR_SIZE=_PAIR_SIZE,
    )  # fmt: skip


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - takes a while to load

    environment = Environment(
        loader=PackageLoader(__name__),
        autoescape=True,
        trim_blocks=True,
        undefined=StrictUndefined,
        finalize=_text,
        optimized=False,
    )
    environment.filters |= {"percent": percent, "short": short, "thousands": "{:,}".format}
    environment.globals["plural"] = plural
    return environment.get_template("report.html.j2")


def _text(value: Any) -> Any:
    """A value before it is escaped: what HTML cannot hold is dropped."""
    return _NOT_TEXT.sub("", str(value)) if not hasattr(value, "__html__") else value


def _row(given: ReportInput, join: ShownJoin) -> dict[str, Any]:
    i, j = (given.puzzle.pieces[idx].name for idx in (join.i, join.j))
    return {"i": i, "j": j, "score": join.score, "words": seam_words(given, join)}


def _card(join: ShownJoin, pieces: DrawnPieces) -> dict[str, Any]:
    """The close-up of a join, and where its seam is marked, in px of the drawing."""
    view = close_up(pieces[join.i], pieces[join.j], join.i_from_j, _CLOSE_UP_SIZE)
    width, height = _CLOSE_UP_SIZE
    return {
        "picture": jpeg(view.image),
        "left_y": f"{max(6.0, min(height - 6.0, view.left_y)) + _FRAME['top']:.0f}",
        "right_y": f"{max(6.0, min(height - 6.0, view.right_y)) + _FRAME['top']:.0f}",
        "from_x": f"{max(0.0, min(float(width), view.from_x)) + _FRAME['left']:.0f}",
        "to_x": f"{max(0.0, min(float(width), view.to_x)) + _FRAME['left']:.0f}",
    }


def _shape(given: ReportInput, idx: int, layout: Layout, unit: float) -> dict[str, Any]:
    """A piece on the map of confidence, in the frame of the canvas."""
    piece, sure = given.puzzle.pieces[idx], given.assembly.confidence.get(idx)
    points = layout.canvas_from_piece[idx] @ simple_outline(piece, unit) + 0.5  # pixel edges lie at whole numbers
    x, y = points.mean(axis=0)
    return {
        "name": piece.name, "sure": sure, "doubtful": sure is not None and sure < _NAMED_BELOW, "x": x, "y": y,
        "color": "#bbbbbb" if sure is None else grade_of(sure).color,
        "points": " ".join(f"{px:.1f},{py:.1f}" for px, py in points.tolist()),
    }  # fmt: skip


def _unplaced(given: ReportInput, pieces: DrawnPieces) -> dict[str, Any]:
    """Pieces without a place and where they might belong, best guesses first; those that are not drawn in a table."""
    names, best = given.puzzle.names(), {guess.piece: guess for guess in given.report.best_guesses}
    considered = best_candidates(given.assembly, given.candidates, _CONSIDERED)

    def rank(idx: int) -> tuple[float, float, int]:
        likely = best[idx].best.probability if idx in best else 0.0
        return (-likely, -max((place.score for place in considered[idx]), default=0.0), idx)

    def figure(idx: int, beside: int, pose: SE2, words: str) -> dict[str, Any]:
        return {
            "name": names[beside],
            "words": words,
            "picture": jpeg(whole_pair(pieces[beside], pieces[idx], pose, _PAIR_SIZE)),
        }

    def figures(idx: int) -> list[dict[str, Any]]:
        if idx not in best:
            return [figure(idx, each.other, each.other_from_piece, f"score {percent(each.score)}") for each in considered[idx]]
        places = [("best guess", best[idx].best), ("next best", best[idx].runner_up)]
        return [
            figure(idx, place.beside, place.beside_from_piece, f"{what}, {percent(place.probability)}")
            for what, place in places
            if place is not None
        ]

    ranked = sorted(considered, key=rank)
    shown = [
        {
            "name": names[idx],
            "picture": jpeg(thumbnail(pieces[idx], _PIECE_SIZE)),
            "guessed": idx in best,
            "figures": figures(idx),
        }
        for idx in ranked[:MOST_PIECES]
    ]
    rest = ranked[MOST_PIECES:]
    return {
        "unplaced": shown,
        "unplaced_names": [names[idx] for idx in rest],
        "more_guesses": [
            (names[idx], names[best[idx].best.beside], best[idx].best.probability) for idx in rest[:MOST_ROWS] if idx in best
        ],
    }


def _others(given: ReportInput, pieces: DrawnPieces) -> list[dict[str, Any]]:
    """Places that fit about as well as those in the picture."""
    names = given.puzzle.names()
    return [
        {
            "name": names[place.piece],
            "with": len(place.pieces) - 1,
            "beside": names[place.beside],
            "score": place.score,
            "chosen": place.chosen,
            "picture": jpeg(whole_pair(pieces[place.beside], pieces[place.piece], place.beside_from_piece, _PAIR_SIZE)),
        }
        for place in given.report.other_places[:MOST_OTHERS]
    ]


def _notes(given: ReportInput) -> list[tuple[str, str]]:
    """What a person noted: of the case, its pages, pieces and joins, in this order."""
    names, notes = given.puzzle.names(), given.notes
    pages = [(f"page {given.page_names.get(k) or k}", text) for k, text in sorted(notes.pages.items())]
    pieces = [(names[idx], text) for idx, text in sorted(notes.pieces.items())]
    joins = [(f"{names[i]} – {names[j]}", text) for (i, j), text in sorted(notes.joins.items())]
    return [*([("the case", notes.case)] if notes.case else []), *pages, *pieces, *joins]


def _parts(given: ReportInput, joins: Sequence[ShownJoin], layout: Layout) -> list[dict[str, Any]]:
    """The components: which pieces, how large, and their weakest join."""
    parts, names = given.assembly.components, given.puzzle.names()
    part_of = {idx: number for number, part in enumerate(parts) for idx in part}
    weakest: dict[int, float] = {}
    for join in joins:  # weakest first
        weakest.setdefault(part_of[join.i], join.score)
    listed = []
    for number, part in enumerate(parts[:MOST_PARTS]):
        corners = np.concatenate([layout.canvas_from_piece[idx] @ outline(given.puzzle.pieces[idx]) for idx in part])
        width, height = corners.max(axis=0) - corners.min(axis=0) + 1.0
        size = given.size(width, height)
        title = given.page_names.get(number, "")
        listed.append({"title": title, "names": [names[idx] for idx in part], "size": size, "weakest": weakest.get(number)})
    return listed
