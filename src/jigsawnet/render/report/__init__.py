"""``report.html``: one page that tells a person what was found and how sure it is. Pure: facts in, text out.

Everything is inside the page, nothing is loaded and no script runs. Its size is bounded: the picture is made smaller, and of
joins and pieces only so many are drawn; the page says how many are not.
"""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.render.layout import Layout, lay_out
from jigsawnet.render.report.confidence_map import PICTURE_ID, confidence_map, legend
from jigsawnet.render.report.facts import Join, ReportInput, weakest_first
from jigsawnet.render.report.joins import joins_section
from jigsawnet.render.report.page import PAPER, document, fold, jpeg, label, percent, plural, section, text
from jigsawnet.render.report.pairs import Pieces
from jigsawnet.render.report.pieces import parts_section, unplaced_section
from jigsawnet.render.report.run import citation_section, settings_section, stages_section
from jigsawnet.types import UInt8Array

__all__ = ["ReportInput", "report_html"]

_LONGEST_SIDE = 1600
_MOST_WARNINGS = 100
_OPEN_WARNINGS = 6
"""Those that can be seen without a click."""
_MEANING = (
    "<p>The confidence of a piece is how likely it is that at least one of its joins is right. It is calibrated: of the joins"
    " that are called 80 % sure about 80 % are right. Rest the pointer on a piece to see its name.</p>"
)
_PARTS = (
    ("picture-part", "Picture"), ("confidence", "Confidence"), ("joins", "Joins"), ("unplaced", "Pieces not placed"),
    ("components", "Components"), ("stages", "Seconds"), ("settings", "Settings"), ("cite", "How to cite"),
)  # fmt: skip


def report_html(given: ReportInput) -> str:
    """The whole page as text."""
    layout = lay_out(given.puzzle, given.assembly)
    joins = weakest_first(given.assembly)
    pieces = Pieces(given.puzzle)
    body = "\n".join([
        _head(given, joins, layout),
        "<main>",
        _picture(given, layout),
        section(
            "confidence", "How sure each piece is",
            _MEANING,
            legend(given.assembly), confidence_map(given.puzzle, given.assembly, layout),
        ) if given.assembly.poses else "",
        joins_section(given, joins, pieces),
        unplaced_section(given, pieces),
        parts_section(given, joins, layout),
        stages_section(given),
        settings_section(given),
        citation_section(given),
        "</main>",
        f"<footer>Written by jigsawnet {text(given.report.version)}; for programs see assembly.json and report.json.</footer>",
    ])  # fmt: skip
    return document(f"{given.puzzle.name}: report of jigsawnet", body)


def _head(given: ReportInput, joins: list[Join], layout: Layout) -> str:
    assembly, seconds = given.assembly, sum(stage.seconds for stage in given.report.stages)
    worst = f"<small>{percent(joins[0].score)} for the weakest</small>" if joins else ""
    size = given.size(layout.width, layout.height) if assembly.poses else "–"
    facts = (
        ("pieces placed", f"{len(assembly.poses):,} of {assembly.n_fragments:,}"),
        ("separate parts", f"{len(assembly.components):,}"),
        ("joins", f"{len(joins):,}{worst}"),
        ("size", _two_lines(size)),
        ("seconds", f"{seconds:.1f}"),
    )
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    links = "".join(
        f'<a href="#{anchor}">{name}</a>' for anchor, name in _PARTS
        if (anchor != "unplaced" or assembly.unplaced) and (anchor != "confidence" or assembly.poses)
    )  # fmt: skip
    return (
        f'<header><h1>{label(given.puzzle.name)}</h1>\n<p class="verdict">{_verdict(given)}</p>\n'
        f'<dl class="facts">{listed}</dl>\n{_warnings(given)}<nav aria-label="Parts of this page">{links}</nav></header>'
    )


def _two_lines(size: str) -> str:
    in_px, _, in_mm = size.partition(" (")
    return text(in_px) + (f"<small>{text(in_mm.rstrip(')'))}</small>" if in_mm else "")


def _verdict(given: ReportInput) -> str:
    assembly = given.assembly
    if assembly.complete:
        return f"All {plural(assembly.n_fragments, 'piece')} are placed in one picture."
    if not assembly.poses:
        return f"None of the {plural(assembly.n_fragments, 'piece')} could be placed."
    parts = "one picture" if len(assembly.components) == 1 else f"{len(assembly.components):,} separate parts"
    left = f"; {plural(len(assembly.unplaced), 'piece has', 'pieces have')} no place" if assembly.unplaced else ""
    return f"{len(assembly.poses):,} of {plural(assembly.n_fragments, 'piece')} are placed in {parts}{left}."


def _warnings(given: ReportInput) -> str:
    warnings = given.report.warnings
    if not warnings:
        return ""
    items = [f"<li>{text(sentence)}</li>" for sentence in warnings[:_MOST_WARNINGS]]
    if len(warnings) > _MOST_WARNINGS:
        items.append(f"<li>{len(warnings) - _MOST_WARNINGS:,} more in report.json</li>")
    open_, folded = items[:_OPEN_WARNINGS], items[_OPEN_WARNINGS:]
    if folded:
        open_.append(f"<li>{fold(f'{len(warnings) - len(open_)} more warnings', '<ul>' + ''.join(folded) + '</ul>')}</li>")
    return '<ul class="warnings" aria-label="Warnings">' + "".join(open_) + "</ul>\n"


def _picture(given: ReportInput, layout: Layout) -> str:
    """The picture in small, on grey where there is nothing."""
    if given.picture.shape[:2] != (layout.height, layout.width):
        raise ValueError("the picture is not the one this assembly makes")
    if not given.assembly.poses:
        return section("picture-part", "The picture", "<p>There is no picture, since no piece was placed.</p>")
    small = _shrunk(given.picture)
    note = "" if small.shape[:2] == given.picture.shape[:2] else " It is shown smaller here."
    return section(
        "picture-part", "The picture",
        f'<svg class="sheet" role="img" aria-label="The assembled picture" viewBox="0 0 {layout.width} {layout.height}"'
        f' xmlns="http://www.w3.org/2000/svg"><image id="{PICTURE_ID}" width="{layout.width}" height="{layout.height}"'
        f' preserveAspectRatio="none" href="{jpeg(small)}"/></svg>',
        f'<p class="soft small">At full resolution in assembly.png.{note} Which way is up is not known to the program.</p>',
    )  # fmt: skip


def _shrunk(picture: UInt8Array) -> UInt8Array:
    """RGB on grey, the longest side at most `_LONGEST_SIDE`; ``(H, W, 3)``."""
    height, width = picture.shape[:2]
    factor = min(1.0, _LONGEST_SIDE / max(height, width))
    if factor < 1.0:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    alpha = picture[..., 3:].astype(np.uint16)
    return ((picture[..., :3] * alpha + PAPER * (255 - alpha) + 127) // 255).astype(np.uint8)
