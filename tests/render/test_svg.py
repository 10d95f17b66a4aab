"""The drawing parses, names its pieces, and puts them where the picture has them."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.render import assembly_svg, lay_out, render_assembly
from jigsawnet.render.svg import SvgLayers
from jigsawnet.types import Assembly, BestGuess, GuessedPlace, Piece, Puzzle

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
LABEL = "{http://www.inkscape.org/namespaces/inkscape}label"
GROUPMODE = "{http://www.inkscape.org/namespaces/inkscape}groupmode"


def one_piece(name):
    image = np.full((4, 5, 3), 80, np.uint8)
    return Puzzle("p & q", (Piece(0, name, image, np.ones((4, 5), bool)),)), Assembly(1, {0: SE2.identity()}, ((0,),))


def matrix_of(image):
    a, b, c, d, e, f = (float(v) for v in re.fullmatch(r"matrix\((.*)\)", image.get("transform")).group(1).split())
    return np.array([[a, c, e], [b, d, f], [0, 0, 1]])


def pixels_of(image):
    """The embedded PNG as RGBA."""
    data = base64.b64decode(image.get(HREF).removeprefix("data:image/png;base64,"))
    return cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED), cv2.COLOR_BGRA2RGBA)


def images_of(svg):
    return list(ET.fromstring(svg).iter(f"{SVG}image"))


def test_every_piece_is_one_image_in_the_layer_of_its_component(upright):
    poses = {i: upright.truth.poses[i] for i in (0, 1, 3, 7, 8)}
    root = ET.fromstring(assembly_svg(upright.puzzle, Assembly(9, poses, ((0, 1, 3), (7, 8)))))
    *layers, names_layer = root.findall(f"{SVG}g")
    assert names_layer.get("id") == "names"
    assert all(layer.get(GROUPMODE) == "layer" for layer in layers)
    assert [layer.get("id") for layer in layers] == ["component-0", "component-1", "unplaced"]
    names = [[image.get(LABEL) for image in layer] for layer in layers]
    assert names == [[f"piece {i}.png" for i in members] for members in ((0, 1, 3), (7, 8), (2, 4, 5, 6))]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) == 13


def test_the_matrix_is_the_pose_with_pixel_edges_at_whole_numbers(turned):
    layout = lay_out(turned.puzzle, turned.truth)
    half = SE2(0.0, 0.5, 0.5)
    for idx, image in enumerate(images_of(assembly_svg(turned.puzzle, turned.truth))):
        pose = SE2.from_matrix(half.inverse().matrix() @ matrix_of(image) @ half.matrix())
        assert pose.distance(layout.canvas_from_piece[idx]) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_drawing_and_picture_agree_pixel_by_pixel(upright):
    drawn = np.zeros((180, 240, 4), np.uint8)
    for image in images_of(assembly_svg(upright.puzzle, upright.truth)):
        left, top = matrix_of(image) @ (float(image.get("x")), float(image.get("y")), 1) @ np.eye(3, 2)
        assert (left, top) == pytest.approx((round(left), round(top)), abs=1e-6)
        rgba = pixels_of(image)
        rows, cols = np.nonzero(rgba[..., 3])
        drawn[rows + round(top), cols + round(left)] = rgba[rows, cols]
    assert np.abs(drawn.astype(int) - render_assembly(upright.puzzle, upright.truth)).max() <= 1


def test_the_png_is_the_piece_cropped_with_its_mask_as_alpha(turned):
    for piece, image in zip(turned.puzzle.pieces, images_of(assembly_svg(turned.puzzle, turned.truth)), strict=True):
        rgba = pixels_of(image)
        assert rgba.shape[:2] == (int(image.get("height")), int(image.get("width")))
        x, y = int(image.get("x")), int(image.get("y"))
        rows, cols = np.nonzero(rgba[..., 3])
        assert np.array_equal(rgba[rows, cols, :3], piece.image[rows + y, cols + x])
        assert len(rows) == piece.mask.sum()
        assert rgba.shape[0] == np.ptp(rows) + 3  # one transparent pixel around
        assert not (rgba[..., :3] == (255, 0, 255)).all(axis=2).any()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a<b>&\"c\"'d'.png", "a<b>&\"c\"'d'.png"),
        ("Zürich 東京 🧩", "Zürich 東京 🧩"),
        ("bell\x07 nul\x00 line\nend\x9f", "bell nul lineend"),
        ("bad\udc80bytes\uffff", "badbytes"),
        ("]]>", "]]>"),
    ],
)
def test_names_are_escaped(name, shown):
    (image,) = images_of(assembly_svg(*one_piece(name)))
    assert image.get(LABEL) == shown
    assert image.find(f"{SVG}title").text == shown


@settings(deadline=None, max_examples=50)
@given(name=st.text(st.characters(codec=None), max_size=8))
def test_any_name_gives_valid_utf8_xml(name):
    root = ET.fromstring(assembly_svg(*one_piece(name)).encode())
    assert root.find(f"{SVG}title").text == "p & q"


def test_the_tray_can_be_left_out(upright):
    some = upright.moved(lambda i: (0.0, 0.0), members=(0, 1))
    assert len(images_of(assembly_svg(upright.puzzle, some))) == 9
    assert len(images_of(assembly_svg(upright.puzzle, some, with_unplaced=False))) == 2


def guess(turned, piece, beside, probability):
    return BestGuess(
        piece, GuessedPlace(beside, turned.truth.poses[beside].inverse() @ turned.truth.poses[piece], probability), None
    )


def test_best_guesses_are_a_pale_layer_of_their_own(turned):
    some = turned.moved(lambda i: (0.0, 0.0), members=(0, 1, 3, 4))
    guesses = (guess(turned, 2, 1, 0.432), guess(turned, 5, 2, 0.2), guess(turned, 7, 8, 0.15), guess(turned, 8, 7, 0.15))
    plain, root = (ET.fromstring(assembly_svg(turned.puzzle, some, layers=SvgLayers(guesses=each))) for each in ((), guesses))
    layer = next(each for each in root.findall(f"{SVG}g") if each.get("id") == "guesses")
    assert layer.get(LABEL) == "Best guesses"
    assert float(layer.get("opacity")) < 1
    assert [each.get("id") for each in layer] == ["guess-2", "guess-5", "guess-7", "guess-8"]
    assert layer[0].find(f"{SVG}title").text == "piece 2.png: best guess, 43 %, beside piece 1.png"
    assert layer[0].find(f"{SVG}text").text == "43 %"
    assert all(each.find(f"{SVG}polygon").get("stroke-dasharray") for each in layer)
    layout = lay_out(turned.puzzle, some)
    world = layout.canvas_from_piece[0] @ some.poses[0].inverse()
    half = SE2(0.0, 0.5, 0.5)
    for element, idx in zip(layer[:2], (2, 5), strict=True):  # 5 lies beside 2, which is guessed to lie beside 1
        expected = (half @ world @ turned.truth.poses[idx] @ half.inverse()).matrix()
        assert matrix_of(element.find(f"{SVG}image")) == pytest.approx(expected, abs=1e-6)
    seven, eight = (matrix_of(each.find(f"{SVG}image")) for each in layer[2:])
    true = (half @ turned.truth.poses[7].inverse() @ turned.truth.poses[8] @ half.inverse()).matrix()
    assert np.linalg.inv(seven) @ eight == pytest.approx(true, abs=1e-6)
    assert seven[1, 2] > float(plain.get("viewBox").split()[3]), "a group that leads to no placed piece lies below all else"
    for group in (plain, root):  # the rest is the same
        group.attrib.clear()
    root.remove(layer)
    assert ET.tostring(root) == ET.tostring(plain)


def test_pictures_of_best_guesses_are_small_but_drawn_at_full_size(turned):
    large = replace(
        turned.puzzle.pieces[1],
        image=np.kron(turned.puzzle.pieces[1].image, np.ones((6, 6, 1), np.uint8)),
        mask=np.kron(turned.puzzle.pieces[1].mask, np.ones((6, 6), bool)),
    )
    puzzle = replace(turned.puzzle, pieces=(turned.puzzle.pieces[0], large, *turned.puzzle.pieces[2:]))
    some = Assembly(9, {0: SE2.identity()}, ((0,),))
    place = GuessedPlace(0, SE2(0.0, 80.0, 0.0), 0.3)
    root = ET.fromstring(assembly_svg(puzzle, some, layers=SvgLayers(guesses=(BestGuess(1, place, None),))))
    picture = root.find(f".//{SVG}g[@id='guess-1']/{SVG}image")
    height, width, _ = pixels_of(picture).shape
    assert max(height, width) < 0.5 * max(large.mask.shape)
    times = float(picture.get("width")) / width
    assert times == float(picture.get("height")) / height > 1
    assert float(picture.get("width")) == pytest.approx(np.ptp(np.flatnonzero(large.mask.any(axis=0))) + 1, abs=4 * times)


def test_what_is_guessed_to_lie_outside_of_the_drawing_is_seen_and_moves_nothing(turned):
    some = turned.moved(lambda i: (0.0, 0.0), members=(4, 5))
    layers = SvgLayers(guesses=(guess(turned, 3, 4, 0.4), guess(turned, 1, 4, 0.4)))
    with_guesses, without = (ET.fromstring(assembly_svg(turned.puzzle, some, layers=each)) for each in (layers, None))
    left, top, width, height = (float(v) for v in with_guesses.get("viewBox").split())
    _, _, narrow, low = (float(v) for v in without.get("viewBox").split())
    assert (left, top) == (pytest.approx(-81, abs=9), pytest.approx(-62, abs=9))
    assert (width, height) == (narrow - left, low - top)
    assert (with_guesses.get("width"), with_guesses.get("height")) == (f"{width:.0f}px", f"{height:.0f}px")
    assert matrix_of(with_guesses.find(".//*[@id='piece-4']")) == pytest.approx(matrix_of(without.find(".//*[@id='piece-4']")))


def test_without_the_tray_there_are_no_best_guesses(turned):
    some = turned.moved(lambda i: (0.0, 0.0), members=(0, 1))
    layers = SvgLayers(guesses=(guess(turned, 2, 1, 0.4),))
    assert "guess" not in assembly_svg(turned.puzzle, some, with_unplaced=False, layers=layers)


def test_pieces_lie_inside_the_drawing(turned):
    some = turned.moved(lambda i: (0.0, 0.0), members=(0, 1, 2))
    root = ET.fromstring(assembly_svg(turned.puzzle, some))
    _, _, width, height = (float(v) for v in root.get("viewBox").split())
    assert (root.get("width"), root.get("height")) == (f"{width:.0f}px", f"{height:.0f}px")
    for image in root.iter(f"{SVG}image"):
        rows, cols = np.nonzero(pixels_of(image)[..., 3])
        local = np.stack([cols + 0.5 + float(image.get("x")), rows + 0.5 + float(image.get("y")), np.ones(len(rows))])
        x, y, _ = matrix_of(image) @ local
        assert x.min() > 0
        assert y.min() > 0
        assert x.max() < width
        assert y.max() < height


def test_nothing_at_all_is_still_a_drawing():
    assert images_of(assembly_svg(Puzzle("none", ()), Assembly(0, {}, ()))) == []


def test_a_piece_without_paper_is_left_out():
    puzzle = Puzzle("p", (Piece(0, "empty", np.zeros((3, 3, 3), np.uint8), np.zeros((3, 3), bool)),))
    assert images_of(assembly_svg(puzzle, Assembly(1, {}, ()))) == []


def test_the_same_input_gives_the_same_drawing(turned):
    assert assembly_svg(turned.puzzle, turned.truth) == assembly_svg(turned.puzzle, turned.truth)


def test_the_drawing_has_its_true_size_when_the_resolution_is_known(upright):
    plain, sized = (ET.fromstring(assembly_svg(upright.puzzle, upright.truth, dpi=dpi)) for dpi in (None, 300.0))
    _, _, width, height = (float(v) for v in sized.get("viewBox").split())
    assert sized.get("viewBox") == plain.get("viewBox")
    assert float(sized.get("width").removesuffix("mm")) == pytest.approx(width / 300 * 25.4, abs=1e-3)
    assert float(sized.get("height").removesuffix("mm")) == pytest.approx(height / 300 * 25.4, abs=1e-3)


def test_names_lie_on_their_pieces_in_a_hidden_layer(turned):
    some = turned.moved(lambda i: (0.0, 0.0), members=(0, 1, 2))
    root = ET.fromstring(assembly_svg(turned.puzzle, some))
    layer = root.findall(f"{SVG}g")[-1]
    assert (layer.get("id"), layer.get(GROUPMODE), layer.get("style")) == ("names", "layer", "display:none")
    assert {label.text for label in layer} == set(turned.puzzle.names())
    layout = lay_out(turned.puzzle, some, with_unplaced=True)
    for label in layer:
        piece = turned.puzzle.pieces[turned.puzzle.names().index(label.text)]
        there = layout.canvas_from_piece[piece.idx].inverse() @ (np.array([float(label.get("x")), float(label.get("y"))]) - 0.5)
        col, row = np.rint(there).astype(int)
        assert piece.mask[row, col]
