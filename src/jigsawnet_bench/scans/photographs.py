"""Photographs of flat sheets, made with their truth: a camera that looks obliquely, a lens, a table around the sheet, JPEG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import cv2
import numpy as np

from jigsawnet.cli.sheet import GroundName, draw_sheet
from jigsawnet.fragments.markers import PAPERS, PaperName
from jigsawnet.fragments.view import Lens, View, project
from jigsawnet.io.images import read_image
from jigsawnet.types import Float32Array, FloatArray, UInt8Array

Table = Literal["dark", "wood", "bright", "noisy"]
_TABLES = {"dark": (38, 34, 30), "wood": (150, 105, 65), "bright": (225, 220, 210), "noisy": (90, 95, 100)}


@dataclass(frozen=True, slots=True)
class Camera:
    """How a sheet is photographed."""

    keystone: float = 0.03
    """By which part what is nearest appears larger than what is farthest."""
    toward_deg: float = 80.0
    """Direction in the picture in which things come nearer, from x to y: 90 is downwards."""
    turn_deg: float = 1.5
    """By which the sheet is turned in the picture."""
    k1: float = -0.03
    """Lens: ``1 + k1 r^2``, r in half diagonals; below 0 the sides bulge outwards."""
    k2: float = 0.0
    """And ``k2 r^4``."""
    off_center: float = 0.0
    """By which part of the width the lens's centre is beside that of the picture, as when it was cut."""
    focal: float = 0.65
    """Focal length over the diagonal."""
    frame: float = 0.06
    """Table around the sheet, as a part of its longer side."""
    table: Table = "dark"
    light: float = 0.1
    """By which part it is darker at one side."""
    blur_px: float = 0.6
    noise: float = 1.0
    jpeg_quality: int | None = 90


@dataclass(frozen=True, slots=True, eq=False)
class Photograph:
    """A photograph ``(H, W, 3)`` and where points of the page are seen in it."""

    picture: UInt8Array
    matrix: FloatArray
    lens: Lens

    def see(self, page: FloatArray) -> FloatArray:
        """Where points ``(N, 2)`` of the page, in its px, are seen."""
        return self.lens.distort(project(self.matrix, page))


def photograph(page: UInt8Array, camera: Camera, rng: np.random.Generator) -> Photograph:
    """Photograph a page ``(h, w, 3)`` at about its own resolution."""
    height, width = page.shape[:2]
    matrix, size = camera_view(width, height, camera)
    middle = Lens.of(size)
    center = middle.center[0] + camera.off_center * size[0], middle.center[1]
    lens = Lens(center, middle.radius_px, camera.k1, camera.k2)
    ys, xs = np.mgrid[: size[1], : size[0]].astype(np.float64)
    seen = np.column_stack([xs.ravel(), ys.ravel()])
    back = np.asarray(np.linalg.inv(matrix), np.float64)
    at = project(back, lens.correct(seen)).reshape(size[1], size[0], 2).astype(np.float32)
    table = _table(camera.table, size, rng)
    inside = cv2.remap(page, at[..., 0], at[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
    on_page = np.minimum(
        np.clip(np.minimum(at[..., 0], width - 1 - at[..., 0]) + 1.0, 0, 1),
        np.clip(np.minimum(at[..., 1], height - 1 - at[..., 1]) + 1.0, 0, 1),
    )[..., None]
    scene = inside * on_page + table * (1 - on_page)
    scene *= (1 - camera.light * (xs / size[0]) ** 2)[..., None].astype(np.float32)
    if camera.blur_px:
        scene = cv2.GaussianBlur(scene, (0, 0), camera.blur_px)
    scene = scene + camera.noise * rng.standard_normal(scene.shape, np.float32)
    picture = np.clip(np.rint(scene), 0, 255).astype(np.uint8)
    if camera.jpeg_quality is not None:
        _, data = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, camera.jpeg_quality])
        picture = np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1])
    return Photograph(picture, matrix, lens)


def camera_view(width: int, height: int, camera: Camera) -> tuple[FloatArray, tuple[int, int]]:
    """``ideal_from_page`` of a page, and width and height of its photograph."""
    border = camera.frame * max(width, height) * 2
    size = round(width + border), round(height + border)
    return _look(width, height, size, camera), size


def _look(width: int, height: int, size: tuple[int, int], camera: Camera) -> FloatArray:
    """``ideal_from_page``: the page turned, tilted about its middle until the keystone is as asked for, seen from afar."""
    focal = camera.focal * math.hypot(*size)
    toward = math.radians(camera.toward_deg)
    reach = (abs(math.cos(toward)) * width + abs(math.sin(toward)) * height) / 2
    tilt = math.asin(min(0.9, focal * camera.keystone / (2 + camera.keystone) / reach))
    turn = math.radians(camera.turn_deg)
    spin = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    axis = np.array([-math.sin(toward), math.cos(toward), 0.0])
    lean = cv2.Rodrigues(axis * tilt)[0]
    rotation = lean @ spin
    middle = np.array([[1.0, 0.0, -(width - 1) / 2], [0.0, 1.0, -(height - 1) / 2], [0.0, 0.0, 1.0]])
    flat = np.column_stack([rotation[:, 0], rotation[:, 1], [0.0, 0.0, focal]])
    camera_matrix = np.array([[focal, 0, (size[0] - 1) / 2], [0, focal, (size[1] - 1) / 2], [0, 0, 1.0]])
    return np.asarray(camera_matrix @ flat @ middle, np.float64)


def _table(kind: Table, size: tuple[int, int], rng: np.random.Generator) -> Float32Array:
    ground = np.broadcast_to(np.array(_TABLES[kind], np.float32), (size[1], size[0], 3)).copy()
    if kind in ("wood", "noisy"):
        across = 1.5 if kind == "noisy" else 40.0
        grain = cv2.GaussianBlur(rng.standard_normal((size[1], size[0])).astype(np.float32), (0, 0), across, sigmaY=1.5)
        ground *= 1 + 0.12 * (grain / grain.std())[..., None]
    return ground


@cache
def blank_sheet(paper: PaperName, dpi: int, ground: GroundName = "white") -> UInt8Array:
    """The printed sheet as a picture ``(h, w, 3)``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.pdf"
        path.write_bytes(draw_sheet(PAPERS[paper], ground))
        fine = read_image(path)[..., :3]
    size = round(PAPERS[paper].width / 25.4 * dpi), round(PAPERS[paper].height / 25.4 * dpi)
    return np.asarray(cv2.resize(fine, size, interpolation=cv2.INTER_AREA), np.uint8)


def lay_on_sheet(page: UInt8Array, paper: PaperName, dpi: int) -> tuple[UInt8Array, tuple[int, int]]:
    """A page with pieces laid inside the printed sheet, and where its top-left pixel lies there."""
    sheet = blank_sheet(paper, dpi).copy()
    left, top, width, height = (value / 25.4 * dpi for value in PAPERS[paper].inside)
    x, y = round(left + (width - page.shape[1]) / 2), round(top + (height - page.shape[0]) / 2)
    sheet[y : y + page.shape[0], x : x + page.shape[1]] = page
    return sheet, (x, y)


@dataclass(frozen=True, slots=True)
class Left:
    """What stays of the distortion: px of the straightened picture, in the mean and at most; and parts of a length."""

    mean_px: float
    most_px: float
    most_part: float
    """Largest difference between a length at one place and direction and the usual one."""
    scale: float
    """Px of the straightened picture per px of the page."""


def distortion_left(shot: Photograph, view: View | None, size: tuple[int, int], corner: tuple[int, int] = (0, 0)) -> Left:
    """How far the straightened picture is from the page but for place, turn and scale; seen on a part of it at ``corner``."""
    xs, ys = np.linspace(0.02, 0.98, 15) * size[0], np.linspace(0.02, 0.98, 15) * size[1]
    grid = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2) + corner
    seen = shot.see(grid)
    flat = seen if view is None else view.to_flat(seen)
    before, after = ((p - p.mean(axis=0)) @ np.array([1.0, 1.0j]) for p in (grid, flat))
    turn = np.vdot(before, after) / np.vdot(before, before).real
    off, scale = np.abs(turn * before - after), float(abs(turn))
    step = 10.0
    parts = []
    for move in ((step, 0.0), (0.0, step), (step, step), (step, -step)):
        moved = shot.see(grid + move)
        there = moved if view is None else view.to_flat(moved)
        parts.append(np.linalg.norm(there - flat, axis=1) / (scale * math.hypot(*move)) - 1)
    return Left(float(off.mean()), float(off.max()), float(np.abs(np.concatenate(parts)).max()), scale)
