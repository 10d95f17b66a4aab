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

from jigsawnet.geometry import SE2
from jigsawnet.render import render_assembly
from jigsawnet.render.report import ReportInput, joins, pieces, report_html
from jigsawnet.render.report.citation import PAPER, bibtex
from jigsawnet.render.report.confidence_map import GRADES, grade_of
from jigsawnet.render.report.facts import Join, best_guesses, seam_words, weakest_first
from jigsawnet.render.report.page import percent, text
from jigsawnet.types import Alignment, Assembly, Edge, Fragment, MatchGraph, Puzzle, RunReport, Seam, StageReport

ROOT = Path(__file__).resolve().parents[3]
EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)'",
    "\u202eright to left",
    "&amp;</title>",
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
    edges = []
    for k, (i, j) in enumerate(GRID):
        alignment = Alignment(i, j, cut.truth.poses[i].inverse() @ cut.truth.poses[j], 0.9, SEAM)
        edges.append(Edge(alignment, scores[k] if scores else 0.5 + 0.04 * k))
    kept = tuple(idx for idx in range(9) if idx not in left_out)
    selected = tuple(e for e in edges if e.alignment.i in kept and e.alignment.j in kept)
    poses = {idx: cut.truth.poses[idx] for idx in kept}
    assembly = Assembly(9, poses, (kept,) if kept else (), selected, {idx: 0.3 + 0.08 * idx for idx in kept})
    return assembly, MatchGraph(9, tuple(edges))


def make_input(cut, assembly, graph, puzzle=None, run=RUN, dpi=None):
    puzzle = puzzle or cut.puzzle
    return ReportInput(puzzle, assembly, graph, run, render_assembly(puzzle, assembly), dpi)


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
    fragments = tuple(replace(f, name=name) for f, name in zip(turned.puzzle.fragments, names, strict=True))
    puzzle = Puzzle(EVIL[0], fragments)
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
    page = Page(f"<p title='{text(words)}'>{text(words)}</p>")
    assert [tag for tag, _ in page.elements] == ["p"]
    assert set(page.text) <= set(words)


def test_joins_come_weakest_first_with_what_is_known(page_input):
    page = Page(report_html(page_input))
    shown = [float(share) for share in re.findall(r"([\d.]+) %", page.text[page.text.index("Joins, weakest first") :])]
    scores = sorted(edge.score for edge in page_input.assembly.edges)
    assert shown[: len(scores)] == pytest.approx([100 * score for score in scores])
    assert "Seam of 60 px (5.1 mm), borders 0.4 px apart, colour step 3.5 Lab; in 2 closed loops." in page.text


def test_what_is_odd_about_a_seam_is_said(page_input):
    odd = replace(SEAM, distance_px=2.0, gap_px=30.0, overlap_px=4.0)
    alone = Join(0, 1, SE2.identity(), 0.5, 0, odd)
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
    made = pieces.Pieces(
        Puzzle("p", tuple(Fragment(k, str(k), np.full((60, 80, 3), colors[k], np.uint8), mask.copy()) for k in (0, 1)))
    )
    view = joins.close_up(made[0], made[1], SE2(0.0, *shift), (280, 170))
    assert view.image[40, 140].tolist() == [200, 0, 0]
    assert view.image[130, 140].tolist() == [0, 0, 200]
    column = view.image[30:140, 140].astype(int)
    assert (column[:, 0] + column[:, 2]).max() <= 202
    assert column[:, 1].max() == 0, "paper shows between pieces that touch"
    length = 3.0 * (70 if shift[0] == 0 else 50)
    assert view.to_x - view.from_x == pytest.approx(length, abs=8)
    assert (view.from_x + view.to_x) / 2 == pytest.approx(140, abs=2)
    assert (view.left_y, view.right_y) == pytest.approx((85, 85), abs=6)


def test_the_seam_is_marked_outside_the_picture():
    view = joins.CloseUp(np.zeros((170, 280, 3), np.uint8), 30.0, 250.0, 80.0, 90.0)
    drawing = joins._drawing(view, "a & b")
    assert 'aria-label="a &amp; b"' in drawing
    left, right = (float(word) for word in re.findall(r'<path d="M([\d.]+)', drawing))
    assert left < joins._SIDE
    assert right > joins._SIDE + 280
    (below,) = (float(word) for word in re.findall(r'd="M42 ([\d.]+)v8m0 -4H262', drawing))
    assert below > 170


def test_a_gap_between_worn_pieces_shows_as_paper():
    mask = np.zeros((60, 80), bool)
    mask[5:55, 5:75] = True
    puzzle = Puzzle("p", tuple(Fragment(k, str(k), np.full((60, 80, 3), 90, np.uint8), mask.copy()) for k in range(2)))
    made = pieces.Pieces(puzzle)
    view = joins.close_up(made[0], made[1], SE2(0.0, 0.0, 58.0), (280, 170))
    assert view.image[85, 140].tolist() == [236, 236, 236]


def test_large_pieces_are_made_smaller_for_a_close_up(turned):
    fragment = turned.puzzle.fragments[0]
    large = Fragment(
        0, "large", np.kron(fragment.image, np.ones((12, 12, 1), np.uint8)), np.kron(fragment.mask, np.ones((12, 12), bool))
    )
    image = pieces.thumbnail(pieces.Pieces(Puzzle("p", (large,)))[0], (150, 120))
    paper = (image == 236).all(axis=2)
    assert 0.1 < paper.mean() < 0.9
    assert abs(float(image[~paper].mean()) - float(fragment.image[fragment.mask].mean())) < 6


def test_guesses_are_the_best_candidates_with_different_pieces(turned):
    assembly, graph = solved(turned, left_out=(4,))
    worse = Alignment(1, 4, SE2(0.3, 1.0, 2.0), 0.1)
    guesses = best_guesses(assembly, MatchGraph(9, (*graph.edges, Edge(worse, 0.01))), 3)[4]
    beside = sorted((e.score, e.alignment.i + e.alignment.j - 4) for e in graph.edges if 4 in (e.alignment.i, e.alignment.j))
    assert [(guess.score, guess.other) for guess in guesses] == beside[:0:-1]
    for guess in guesses:
        true = turned.truth.poses[guess.other].inverse() @ turned.truth.poses[4]
        assert guess.other_from_piece.distance(true) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_joins_are_shown_as_they_lie_in_the_picture(turned):
    assembly, _ = solved(turned)
    shifted = replace(assembly, poses={k: SE2(0.0, 3.0 * k, 0.0) @ pose for k, pose in assembly.poses.items()})
    for join in weakest_first(shifted):
        laid = shifted.poses[join.i] @ join.i_from_j
        assert laid.distance(shifted.poses[join.j]) == pytest.approx((0, 0), abs=1e-9)


def test_limits_hold_and_are_said(turned, monkeypatch):
    monkeypatch.setattr(joins, "MOST_CLOSE_UPS", 4)
    monkeypatch.setattr(joins, "MOST_ROWS", 2)
    monkeypatch.setattr(pieces, "MOST_PIECES", 1)
    given_input = make_input(turned, *solved(turned, left_out=(0, 1)))
    page = Page(report_html(given_input))
    assert sum(attributes.get("aria-label", "").startswith("Seam of") for _, attributes in page.elements) == 4
    n = len(given_input.assembly.edges)
    assert f"{n - 4} joins with higher confidence are not shown as pictures." in page.text
    assert f"{n - 6} more join" in page.text
    assert "Not shown: 1 more piece." in page.text


def test_a_large_picture_is_shown_smaller(turned):
    assembly, graph = solved(turned)
    scale = 12
    big = tuple(
        Fragment(f.idx, f.name, f.image.repeat(scale, 0).repeat(scale, 1), f.mask.repeat(scale, 0).repeat(scale, 1))
        for f in turned.puzzle.fragments
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
    given_input = ReportInput(empty, Assembly(0, {}, ()), MatchGraph(0, ()), RUN, np.zeros((1, 1, 4), np.uint8))
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


def test_the_citation_is_that_of_the_citation_file():
    facts = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    paper = facts[facts.index("preferred-citation") :]
    fields = "title|family-names|given-names|journal|volume|issue|start|end|year|value"
    for value in re.findall(rf'^\s+(?:- )?(?:{fields}): "?([^"\n]+)', paper, re.MULTILINE):
        assert value in PAPER
    assert re.search(r'url: "([^"]+)"', paper)[1] in bibtex("1.0")
    assert "version = {9.8.7}" in bibtex("9.8.7")
