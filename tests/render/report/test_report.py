"""The page of a run: complete, harmless whatever the pieces are called, bounded, and drawn from the facts."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.candidates import Candidates
from jigsawnet.geometry import SE2
from jigsawnet.render import render_assembly, report
from jigsawnet.render.report import ReportInput, pictures, report_html
from jigsawnet.render.report.facts import GRADES, ShownJoin, best_candidates, grade_of, percent, seam_words, weakest_first
from jigsawnet.types import Alignment, Assembly, BestGuess, GuessedPlace, Join, Piece, Puzzle, RunReport, Seam, StageReport

ROOT = Path(__file__).resolve().parents[3]
EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)'",
    "\u202eright to left",
    "&amp;</title>",
    "{{ 7 * 7 }}{% raw %}",
)
VOID = {"meta", "img", "br"}
RUN = RunReport(
    "1.2.3", "wavy", 7, (StageReport("match", 1.5, {"candidates": 12, "gap_px": 0.25}),), (), {"match": {"step": 2.0}}
)
SEAM = Seam(length_px=60.0, residual_px=0.4, gap_px=2.0, overlap_px=0.0, color_step=3.5)
GRID = [(3 * row + col, 3 * row + col + 1) for row in range(3) for col in range(2)] + [(k, k + 3) for k in range(6)]


class Page(HTMLParser):
    """All elements with their attributes, and the text; fails on tags that do not close."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def solved(cut, left_out=(), scores=None):
    """The truth as a result: joins between neighbours, those of the pieces left out only as candidates."""
    joins = []
    for k, (i, j) in enumerate(GRID):
        alignment = Alignment(i, j, cut.truth.poses[i].inverse() @ cut.truth.poses[j], 0.9, SEAM)
        joins.append(Join(alignment, scores[k] if scores else 0.5 + 0.04 * k))
    kept = tuple(idx for idx in range(9) if idx not in left_out)
    selected = tuple(e for e in joins if e.alignment.i in kept and e.alignment.j in kept)
    poses = {idx: cut.truth.poses[idx] for idx in kept}
    assembly = Assembly(9, poses, (kept,) if kept else (), selected, {idx: 0.3 + 0.08 * idx for idx in kept})
    return assembly, scored(joins)


def scored(joins):
    return Candidates.of([join.alignment for join in joins]).with_scores(np.array([join.score for join in joins]))


def make_input(cut, assembly, rows, puzzle=None, run=RUN, dpi=None):
    puzzle = puzzle or cut.puzzle
    return ReportInput(puzzle, assembly, rows, run, render_assembly(puzzle, assembly), dpi)


@pytest.fixture
def page_input(turned):
    return make_input(turned, *solved(turned, left_out=(8,)), dpi=300.0)


def test_every_part_of_the_report_is_there(page_input):
    page = Page(report_html(page_input))
    anchors = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert anchors == {"picture-part", "confidence", "joins", "unplaced", "components", "stages", "settings", "cite"}
    links = {attributes["href"][1:] for tag, attributes in page.elements if tag == "a" and attributes["href"].startswith("#")}
    assert links == anchors
    for words in (
        "8 of 9 pieces are placed in one picture; 1 piece has no place.",
        "1.50",
        "candidates 12",
        "match.step",
        "1.2.3",
    ):
        assert words in page.text
    assert all(name in page.text for name in page_input.puzzle.names())


def test_nothing_is_loaded_and_nothing_runs(page_input):
    text_of_page = report_html(page_input)
    page = Page(text_of_page)
    assert not {tag for tag, _ in page.elements} & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            if name in attributes and tag != "a":
                assert re.match(r"data:image/jpeg;base64,|#", attributes[name])
    assert "url(" not in text_of_page
    assert "@import" not in text_of_page
    assert "default-src 'none'" in text_of_page


def test_every_picture_says_what_it_shows(page_input):
    elements = Page(report_html(page_input)).elements
    pictures = [attributes for tag, attributes in elements if tag == "img"]
    drawings = [attributes for tag, attributes in elements if tag == "svg"]
    assert pictures
    assert all(attributes["alt"] for attributes in pictures)
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in drawings)


def test_hostile_names_are_only_text(turned):
    names = [*EVIL, *(f"p{k}" for k in range(9 - len(EVIL)))]
    pieces = tuple(replace(f, name=name) for f, name in zip(turned.puzzle.pieces, names, strict=True))
    puzzle = Puzzle(EVIL[0], pieces)
    run = replace(RUN, warnings=(EVIL[1],), puzzle=EVIL[0], config={EVIL[0]: EVIL[1]})
    stage = StageReport(EVIL[0], 1.0, {EVIL[1]: 1})
    run = replace(run, stages=(stage,))
    page = Page(report_html(make_input(turned, *solved(turned, left_out=(0,)), puzzle=puzzle, run=run)))
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any("onerror" in attributes for _, attributes in page.elements)
    for name in EVIL:
        assert name.replace("&amp;", "&") in page.text.replace("&amp;", "&")


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_any_text_stays_text(words):
    template = report._template().environment.from_string("<p title='{{ words }}'>{{ words }}</p>")
    page = Page(template.render(words=words))
    assert [(tag, list(attributes)) for tag, attributes in page.elements] == [("p", ["title"])]
    assert page.text == page.elements[0][1]["title"]
    holdable = ((" ", "~"), ("\xa0", "\ud7ff"), ("\ue000", "\ufffd"), ("\U00010000", "\U0010ffff"))
    assert page.text == "".join(c for c in words if any(low <= c <= high for low, high in holdable))


def test_joins_come_weakest_first_with_what_is_known(page_input):
    page = Page(report_html(page_input))
    shown = [float(share) for share in re.findall(r"([\d.]+) %", page.text[page.text.index("Joins, weakest first") :])]
    scores = sorted(join.score for join in page_input.assembly.joins)
    assert shown[: len(scores)] == pytest.approx([100 * score for score in scores])
    assert "Seam of 60 px (5.1 mm), borders 0.4 px apart, colour step 3.5 Lab; in 2 closed loops." in page.text


def test_what_is_odd_about_a_seam_is_said(page_input):
    odd = replace(SEAM, distance_px=2.0, gap_px=30.0, overlap_px=4.0)
    alone = ShownJoin(0, 1, SE2.identity(), 0.5, 0, odd)
    assert seam_words(replace(page_input, dpi=None), alone) == (
        "Seam of 60 px, borders 0.4 px apart beside the gap of 2.0 px that worn edges leave, colour step 3.5 Lab,"
        " 30 px of it open, overlap 4.0 px; no closed loop holds it."
    )
    implied = replace(alone, seam=None, loops=1)
    assert seam_words(page_input, implied) == "Follows from the places of the pieces; in 1 closed loop."


@pytest.mark.parametrize("shift", [(0.0, 50.0), (0.0, -50.0), (70.0, 0.0), (-70.0, 0.0)])
def test_a_close_up_has_the_first_piece_above_and_no_crack(shift):
    mask = np.zeros((60, 80), bool)
    mask[5:55, 5:75] = True
    colors = ((200, 0, 0), (0, 0, 200))
    made = pictures.DrawnPieces(
        Puzzle("p", tuple(Piece(k, str(k), np.full((60, 80, 3), colors[k], np.uint8), mask.copy()) for k in (0, 1)))
    )
    view = pictures.close_up(made[0], made[1], SE2(0.0, *shift), (280, 170))
    assert view.image[40, 140].tolist() == [200, 0, 0]
    assert view.image[130, 140].tolist() == [0, 0, 200]
    column = view.image[30:140, 140].astype(int)
    assert (column[:, 0] + column[:, 2]).max() <= 202
    assert column[:, 1].max() == 0, "paper shows between pieces that touch"
    length = 3.0 * (70 if shift[0] == 0 else 50)
    assert view.to_x - view.from_x == pytest.approx(length, abs=8)
    assert (view.from_x + view.to_x) / 2 == pytest.approx(140, abs=2)
    assert (view.left_y, view.right_y) == pytest.approx((85, 85), abs=6)


def test_the_seam_is_marked_outside_the_picture(page_input):
    page = report_html(page_input)
    left, top, width, height = map(
        int, re.search(r'class="frame" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', page).groups()
    )
    assert (width, height) == (280, 170)
    marks = re.findall(
        r'<path d="M([\d.]+) ([\d.]+)l-9 -5v10z"/><path d="M([\d.]+) ([\d.]+)l9 -5v10z"/>'
        r'<path fill="none" stroke-width="2" d="M([\d.]+) ([\d.]+)v8m0 -4H([\d.]+)m0 -4v8"/>',
        page,
    )
    assert len(marks) == len(page_input.assembly.joins)
    for mark in marks:
        left_x, left_y, right_x, right_y, start, below, end = map(float, mark)
        assert left_x < left < start < end < left + width < right_x
        assert top < left_y < top + height
        assert top < right_y < top + height
        assert below > top + height


@pytest.mark.parametrize("gap", [8.0, 30.0])
def test_a_gap_between_worn_pieces_shows_as_paper(gap):
    mask = np.zeros((60, 80), bool)
    mask[5:55, 5:75] = True
    puzzle = Puzzle("p", tuple(Piece(k, str(k), np.full((60, 80, 3), 90, np.uint8), mask.copy()) for k in range(2)))
    made = pictures.DrawnPieces(puzzle)
    view = pictures.close_up(made[0], made[1], SE2(0.0, 0.0, 50.0 + gap), (280, 170))
    assert view.image[85, 140].tolist() == [236, 236, 236]
    assert view.to_x - view.from_x == pytest.approx(3.0 * 70, abs=8)


def test_the_picture_lies_on_grey_where_it_is_transparent():
    rgba = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [36, 136, 236, 128]]], np.uint8)
    assert pictures.shrunk(rgba).tolist() == [[[10, 20, 30], [236, 236, 236], [136, 186, 236]]]


def test_large_pieces_are_made_smaller_for_a_close_up(turned):
    piece = turned.puzzle.pieces[0]
    large = Piece(
        0, "large", np.kron(piece.image, np.ones((12, 12, 1), np.uint8)), np.kron(piece.mask, np.ones((12, 12), bool))
    )
    image = pictures.thumbnail(pictures.DrawnPieces(Puzzle("p", (large,)))[0], (150, 120))
    paper = (image == 236).all(axis=2)
    assert 0.1 < paper.mean() < 0.9
    assert abs(float(image[~paper].mean()) - float(piece.image[piece.mask].mean())) < 6


def test_best_guesses_come_first_and_say_how_likely_they_are(turned):
    assembly, rows = solved(turned, left_out=(0, 8))
    beside = [GuessedPlace(k, turned.truth.poses[k].inverse() @ turned.truth.poses[8], p) for k, p in ((7, 0.321), (5, 0.12))]
    run = replace(RUN, best_guesses=(BestGuess(8, *beside),))
    page = Page(report_html(make_input(turned, assembly, rows, run=run)))
    assert "7 of 9 pieces are placed in one picture; 2 pieces have no place (1 best guess below)." in page.text
    guess, considered = page.text.index("best guess, 32.1 %"), page.text.index("No place is likely enough to be a best guess: ")
    assert guess < page.text.index("next best, 12 %") < considered
    alts = [attributes["alt"] for tag, attributes in page.elements if "laid beside" in attributes.get("alt", "")]
    assert alts[:2] == ["piece 8.png laid beside piece 7.png", "piece 8.png laid beside piece 5.png"]


def test_considered_are_the_best_candidates_with_different_pieces(turned):
    assembly, rows = solved(turned, left_out=(4,))
    all_joins = [rows.join_at(row) for row in range(len(rows))]
    worse = Alignment(1, 4, SE2(0.3, 1.0, 2.0), 0.1)
    places = best_candidates(assembly, scored([*all_joins, Join(worse, 0.01)]), 3)[4]
    beside = sorted((e.score, e.alignment.i + e.alignment.j - 4) for e in all_joins if 4 in (e.alignment.i, e.alignment.j))
    assert [(place.score, place.other) for place in places] == beside[:0:-1]
    for place in places:
        true = turned.truth.poses[place.other].inverse() @ turned.truth.poses[4]
        assert place.other_from_piece.distance(true) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_joins_are_shown_as_they_lie_in_the_picture(turned):
    assembly, _ = solved(turned)
    shifted = replace(assembly, poses={k: SE2(0.0, 3.0 * k, 0.0) @ pose for k, pose in assembly.poses.items()})
    for join in weakest_first(shifted):
        laid = shifted.poses[join.i] @ join.i_from_j
        assert laid.distance(shifted.poses[join.j]) == pytest.approx((0, 0), abs=1e-9)


def test_limits_hold_and_are_said(turned, monkeypatch):
    monkeypatch.setattr(report, "MOST_CLOSE_UPS", 4)
    monkeypatch.setattr(report, "MOST_ROWS", 2)
    monkeypatch.setattr(report, "MOST_PIECES", 1)
    given_input = make_input(turned, *solved(turned, left_out=(0, 1)))
    page = Page(report_html(given_input))
    assert sum(attributes.get("aria-label", "").startswith("Seam of") for _, attributes in page.elements) == 4
    n = len(given_input.assembly.joins)
    assert f"{n - 4} joins with higher confidence are not shown as pictures." in page.text
    assert f"{n - 6} more join" in page.text
    assert "Not shown: 1 more piece." in page.text


def test_a_large_picture_is_shown_smaller(turned):
    assembly, graph = solved(turned)
    scale = 12
    big = tuple(
        Piece(f.idx, f.name, f.image.repeat(scale, 0).repeat(scale, 1), f.mask.repeat(scale, 0).repeat(scale, 1))
        for f in turned.puzzle.pieces
    )
    half = (scale - 1) / 2
    at_centre = SE2(0.0, half, half)
    poses = {k: at_centre @ SE2(p.theta, scale * p.x, scale * p.y) @ at_centre.inverse() for k, p in assembly.poses.items()}
    page = report_html(make_input(turned, replace(assembly, poses=poses), graph, Puzzle("big", big)))
    data = base64.b64decode(re.search(r'id="picture"[^>]*base64,([^"]+)"', page)[1])
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert max(picture.shape[:2]) == 1600
    assert "It is shown smaller here." in page


def test_nothing_placed_is_still_a_report(turned):
    page = Page(report_html(make_input(turned, *solved(turned, left_out=range(9)))))
    assert "None of the 9 pieces could be placed." in page.text
    assert "No two pieces were joined." in page.text


def test_no_pieces_at_all():
    empty = Puzzle("none", ())
    given_input = ReportInput(empty, Assembly(0, {}, ()), Candidates.none(), RUN, np.zeros((1, 1, 4), np.uint8))
    assert "None of the 0 pieces" in report_html(given_input)


def test_a_picture_of_another_assembly_is_refused(page_input):
    with pytest.raises(ValueError, match="picture"):
        report_html(replace(page_input, picture=page_input.picture[:-5]))


def test_the_same_run_gives_the_same_page(page_input):
    assert report_html(page_input) == report_html(page_input)


def test_many_warnings_are_folded_and_bounded(page_input):
    many = replace(page_input, report=replace(RUN, warnings=tuple(f"Note {k}." for k in range(500))))
    page = Page(report_html(many))
    assert "494 more warnings" in page.text
    assert "Note 99." in page.text
    assert "Note 100." not in page.text
    assert "400 more in report.json" in page.text


def test_options_that_were_changed_are_named(page_input):
    assert "Every option has its default." in report_html(replace(page_input, defaults={"match": {"step": 2.0}}))
    page = Page(report_html(replace(page_input, defaults={"match": {"step": 3.5}})))
    assert "option that was changed" in page.text
    assert "3.5" in page.text


def test_a_share_is_never_rounded_up():
    assert percent(0.99999) == "99.9 %"
    assert percent(1.0) == "100 %"
    assert percent(0.29) == "29 %"
    assert percent(None) == "–"


def test_every_confidence_has_a_colour():
    assert grade_of(1.0) == GRADES[0]
    assert grade_of(0.8).at_least == 0.8
    assert grade_of(-0.1) == GRADES[-1]


def test_the_citation_is_that_of_the_citation_file(page_input):
    page = Page(report_html(replace(page_input, report=replace(RUN, version="9.8.7"))))
    words = " ".join(page.text[page.text.rindex("How to cite") :].split())
    facts = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    paper = facts[facts.index("preferred-citation") :]
    fields = "title|family-names|given-names|journal|volume|issue|start|end|year|value"
    for value in re.findall(rf'^\s+(?:- )?(?:{fields}): "?([^"\n]+)', paper, re.MULTILINE):
        assert value in words[: words.index("@article")]
    address = re.search(r'url: "([^"]+)"', paper)[1]
    assert f"url = {{{address}}}" in words
    assert "author = {{The jigsawnet developers}}, version = {9.8.7} }" in words


def test_parts_and_pieces_beyond_the_limits_are_named(turned, monkeypatch):
    monkeypatch.setattr(report, "MOST_PIECES", 1)
    monkeypatch.setattr(report, "MOST_NAMES", 2)
    monkeypatch.setattr(report, "MOST_PARTS", 1)
    kept = {idx: turned.truth.poses[idx] for idx in (0, 1, 2, 3, 4)}
    parts = Assembly(9, kept, ((0, 1, 2), (3, 4)))
    text = " ".join(Page(report_html(make_input(turned, parts, Candidates.none()))).text.split())
    assert "5 of 9 pieces are placed in 2 separate parts; 4 pieces have no place." in text
    assert "piece 0.png, piece 1.png and 1 more" in text
    assert "1 more part not shown." in text
    assert "No candidate join was found for it." in text
    assert "Not shown: 3 more pieces.Their names piece 6.png, piece 7.png …" in text
