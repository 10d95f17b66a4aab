"""Makes the drawings of concepts.md from a real solve of nine pieces: ``python docs/images/make_concepts.py``."""

from __future__ import annotations

import base64
from pathlib import Path

import cv2
import numpy as np

import jigsawnet as jn
from jigsawnet.config import SolveConfig
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.pipeline import find_candidates
from jigsawnet.pixels import build_pixels
from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import outline, straighten_components
from jigsawnet.render.report.pictures import Pieces, close_up, whole_pair
from jigsawnet.score.seam_band import render_bands
from jigsawnet.score.seam_path import trace_seams, unit_of
from jigsawnet.types import Assembly

HERE = Path(__file__).resolve().parent
BLUE, ORANGE, INK = "#1f5f99", "#c45a00", "#222"


def main() -> None:
    """Solve once and draw each step."""
    photo = read_image(HERE.parents[1] / "examples" / "photo.jpg")[..., :3]
    small = np.asarray(cv2.resize(photo, (600, 400), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    puzzle, truth = jn.shred_images([small], jn.ShredConfig(pieces=9), np.random.default_rng(5))
    solution = jn.solve_puzzle(puzzle)
    borders, candidates = find_candidates(puzzle, SolveConfig())
    assembly = straighten_components(puzzle, solution.assembly)
    pieces = Pieces(puzzle)

    tray = on_white(render_assembly(puzzle, Assembly(len(puzzle), {}, ()), with_unplaced=True))
    save("1-pieces", *fitted(tray, 640))
    save("2-contours", *contour_drawing(puzzle, borders))

    best = {(a.i, a.j): a for a in reversed(candidates)}
    ranked = sorted(best.values(), key=lambda a: -a.fit)
    right = [a for a in ranked if is_right(a, truth)]
    wrong = [a for a in ranked if not is_right(a, truth)]
    shown = [("right", right[0]), ("right", right[-1]), ("wrong", wrong[0]), ("wrong", wrong[-1])]
    cells = []
    for k, (word, a) in enumerate(shown):
        picture = whole_pair(pieces[a.i], pieces[a.j], a.i_from_j, (210, 190))
        cells.append(image(picture, 10 + 220 * k, 5) + words(115 + 220 * k, 218, word, BLUE if word == "right" else ORANGE))
    save("3-candidates", 890, 230, "".join(cells))

    a = right[0]
    pose = np.array([[a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y]], np.float32)
    i, j = np.array([a.i], np.int32), np.array([a.j], np.int32)
    path, _ = trace_seams(borders, i, j, pose, np.zeros(1, np.float32))
    band = render_bands(build_pixels(puzzle, unit_of(borders)), i, j, pose, path, unit_of(borders))[0, ..., :3]
    view = close_up(pieces[a.i], pieces[a.j], a.i_from_j, (380, 190))
    strip = cv2.resize(band, (512, 128), interpolation=cv2.INTER_CUBIC)
    save(
        "4-seam",
        940,
        225,
        image(view.image, 10, 5)
        + words(200, 215, "as the two pieces lie")
        + f'<path d="M402 100h12m-5 -5l6 5l-6 5" stroke="{INK}" fill="none" stroke-width="2"/>'
        + image(np.asarray(strip, np.uint8), 425, 35)
        + words(680, 185, "the band along the seam, straightened"),
    )

    save("5-loops", *loop_drawing(puzzle, assembly))
    save("6-picture", *fitted(on_white(render_assembly(puzzle, assembly)), 560))
    save("frames", *frames_drawing(puzzle, assembly))


def is_right(a: jn.Alignment, truth: Assembly) -> bool:
    """True when a candidate lays two neighbours as they lay."""
    angle, shift = a.i_from_j.distance(truth.poses[a.i].inverse() @ truth.poses[a.j])
    return angle < 0.05 and shift < 6


def contour_drawing(puzzle: jn.Puzzle, borders: object) -> tuple[float, float, str]:
    """A piece, then its border samples with normals."""
    k, zoom = 4, 1.5
    piece = puzzle.pieces[k]
    rgba = np.dstack([piece.image, piece.mask * np.uint8(255)])
    height, width = piece.mask.shape
    points, normals = borders.points[borders.samples(k)], borders.normals[borders.samples(k)]
    parts = [image(on_white(rgba), 0, 0, zoom), image(on_white(rgba), width * zoom + 40, 0, zoom, opacity=0.35)]
    left = width * zoom + 40
    closed = " ".join(f"{left + zoom * (x + 0.5):.1f},{zoom * (y + 0.5):.1f}" for x, y in points)
    parts.append(f'<polygon points="{closed}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    for (x, y), (nx, ny) in list(zip(points, normals, strict=True))[::4]:
        x0, y0 = left + zoom * (x + 0.5), zoom * (y + 0.5)
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}l{12 * nx:.1f} {12 * ny:.1f}" stroke="{ORANGE}" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{x0:.1f}" cy="{y0:.1f}" r="2.4" fill="{BLUE}"/>')
    bottom = height * zoom + 20
    parts += [
        words(width * zoom / 2, bottom, "the picture of a piece"),
        words(left + width * zoom / 2, bottom, "its border: points, and normals that point inward"),
    ]
    return left + width * zoom, bottom + 10, "".join(parts)


def loop_drawing(puzzle: jn.Puzzle, assembly: Assembly) -> tuple[float, float, str]:
    """All pieces moved apart, joins as lines, and one closed loop."""
    centers = {k: assembly.poses[k] @ outline(puzzle.pieces[k]).mean(axis=0) for k in assembly.poses}
    middle = np.mean(list(centers.values()), axis=0)
    moved = {k: 0.22 * (center - middle) for k, center in centers.items()}
    everything = np.concatenate([assembly.poses[k] @ outline(puzzle.pieces[k]) + moved[k] for k in centers])
    corner = everything.min(axis=0) - 10
    moved = {k: shift - corner for k, shift in moved.items()}
    size = everything.max(axis=0) - corner + 10
    near: dict[int, set[int]] = {k: set() for k in assembly.poses}
    for join in assembly.joins:
        near[join.alignment.i].add(join.alignment.j)
        near[join.alignment.j].add(join.alignment.i)
    a, b, c, d = next(
        (a, b, c, d)
        for a in sorted(near)
        for b in sorted(near[a])
        for c in sorted(near[b] - {a})
        for d in sorted((near[c] & near[a]) - {b})
        if c not in near[a]
    )
    parts = []
    for k in assembly.poses:
        curve = cv2.approxPolyDP(outline_closed(puzzle.pieces[k]), 1.0, True).reshape(-1, 2).astype(float)
        points = assembly.poses[k] @ curve + moved[k]
        color = "#cfe3f5" if k in (a, b, c, d) else "#eeeeee"
        listed = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        parts.append(f'<polygon points="{listed}" fill="{color}" stroke="{INK}"/>')
    at = {k: centers[k] + moved[k] for k in centers}
    for join in assembly.joins:
        (x0, y0), (x1, y1) = at[join.alignment.i], at[join.alignment.j]
        parts.append(f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="#999" stroke-width="2"/>')
    ring = " ".join(f"{at[k][0]:.0f},{at[k][1]:.0f}" for k in (a, b, c, d))
    parts.append(f'<polygon points="{ring}" fill="none" stroke="{ORANGE}" stroke-width="4"/>')
    parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="6" fill="{INK}"/>' for x, y in at.values()]
    return size[0], size[1], "".join(parts)


def frames_drawing(puzzle: jn.Puzzle, assembly: Assembly) -> tuple[float, float, str]:
    """Two pieces, each in its own frame, and both in the world."""
    join = max(assembly.joins, key=lambda e: e.alignment.seam.length_px if e.alignment.seam else 0)
    i, j = join.alignment.i, join.alignment.j
    parts, left = [], 60.0
    for name, k, color in (("piece i", i, "#cfe3f5"), ("piece j", j, "#fbe3cf")):
        parts.append(axes(left, 60, name))
        parts.append(shape(puzzle, k, SE2(0.0, left, 60.0), color))
        left += puzzle.pieces[k].mask.shape[1] + 90
    both = np.concatenate([assembly.poses[k] @ outline(puzzle.pieces[k]) for k in (i, j)])
    x, y = both.min(axis=0)
    parts.append(axes(left, 60, "world"))
    for k, color in ((i, "#cfe3f5"), (j, "#fbe3cf")):
        parts.append(shape(puzzle, k, SE2(0.0, left + 30 - float(x), 85 - float(y)) @ assembly.poses[k], color))
    right, low = left + float(both[:, 0].max() - x) + 60, 130 + float(both[:, 1].max() - y)
    low = max(low, 100.0 + max(puzzle.pieces[k].mask.shape[0] for k in (i, j)))
    parts.append(words(right / 2, low + 15, "world_from_j = world_from_i @ i_from_j"))
    return right, low + 30, "".join(parts)


def shape(puzzle: jn.Puzzle, k: int, pose: SE2, color: str) -> str:
    """The outline of a piece, moved."""
    curve = cv2.approxPolyDP(outline_closed(puzzle.pieces[k]), 0.8, True).reshape(-1, 2).astype(float)
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in pose @ curve)}" fill="{color}" stroke="{INK}"/>'


def axes(x: float, y: float, name: str) -> str:
    """Two arrows from an origin: x to the right, y down."""
    arrows = f"M{x} {y}h60m-7 -4l7 4l-7 4M{x} {y}v60m-4 -7l4 7l4 -7"
    return (
        f'<path d="{arrows}" stroke="{BLUE}" fill="none" stroke-width="2"/>'
        + words(x + 70, y + 5, "x", BLUE)
        + words(x, y + 78, "y", BLUE)
        + words(x + 40, y - 18, name)
    )


def outline_closed(piece: jn.Piece) -> np.ndarray:
    """The outer border as OpenCV has it."""
    curves, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return max(curves, key=len)


def on_white(rgba: np.ndarray) -> np.ndarray:
    """RGB on white."""
    alpha = rgba[..., 3:] / 255.0
    return np.rint(rgba[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)


def image(rgb: np.ndarray, x: float, y: float, zoom: float = 1.0, opacity: float = 1.0) -> str:
    """An embedded picture."""
    _, data = cv2.imencode(".jpg", rgb[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])
    height, width = rgb.shape[:2]
    address = base64.b64encode(data.tobytes()).decode("ascii")
    return (
        f'<image x="{x:.0f}" y="{y:.0f}" width="{zoom * width:.0f}" height="{zoom * height:.0f}" opacity="{opacity}"'
        f' href="data:image/jpeg;base64,{address}"/>'
    )


def fitted(rgb: np.ndarray, width: int) -> tuple[float, float, str]:
    """A picture alone, this wide."""
    height = round(rgb.shape[0] * width / rgb.shape[1])
    return width, height, image(np.asarray(cv2.resize(rgb, (width, height), interpolation=cv2.INTER_AREA)), 0, 0)


def words(x: float, y: float, text: str, color: str = INK) -> str:
    """A line of text around its middle."""
    style = 'font-family="sans-serif" font-size="15" text-anchor="middle"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style} fill="{color}">{text}</text>'


def save(name: str, width: float, height: float, inner: str) -> None:
    """Write a drawing on white, so that it can be read on a dark page."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    text = f'{head}<rect width="100%" height="100%" fill="#fff"/>{inner}</svg>\n'
    (HERE / f"concept-{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
