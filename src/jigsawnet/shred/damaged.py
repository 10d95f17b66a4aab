"""One picture's pieces with all their damage: paper lost or torn, turned, bent, laid on a backdrop, scanned, cut out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import scipy

from jigsawnet.geometry import SE2
from jigsawnet.nearest import nearest_pixels
from jigsawnet.shred.bending import Sheet, best_pose, unbend
from jigsawnet.shred.capture import Scan, add_whiskers, cut_mask, lay_on_backdrop, record, signed_distance
from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.cuts import Int32Array, config_shape
from jigsawnet.shred.light import age_picture, light_piece
from jigsawnet.shred.loss import Tears, bite, corners_in, find_corners, frayed, paint_paper, widen
from jigsawnet.shred.pieces import CutPiece, erode, keep_largest
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

ROOM_PX = 24
"""Room around the paper for kernels, shadows and whiskers, in px."""
_BEFORE_SHRINKING = 0.35
"""Blur before a picture is scaled down, in px of the small one: fine patterns leave no moiré."""


def prepare_picture(picture: UInt8Array, config: ShredConfig, rng: np.random.Generator) -> UInt8Array:
    """Scale a picture ``(H, W, 3)`` down to ``piece_px`` a piece, without moiré, and let it grow old."""
    wanted = config.damage.piece_px
    if wanted is not None:
        height, width = picture.shape[:2]
        rows, cols = config_shape(height, width, config)
        ratio = wanted / math.sqrt(height / rows * width / cols)
        if ratio < 1.0:
            size = max(1, round(width * ratio)), max(1, round(height * ratio))
            soft = cv2.GaussianBlur(picture, (0, 0), _BEFORE_SHRINKING * math.sqrt(ratio**-2 - 1.0) + 1e-3)
            picture = np.asarray(cv2.resize(soft, size, interpolation=cv2.INTER_AREA), np.uint8)
    return age_picture(picture, config.damage, rng)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A picture cut into ``regions (H, W)``, with what its pieces have in common; `take` gives one of them."""

    picture: UInt8Array
    regions: Int32Array
    config: ShredConfig
    scan: Scan
    corners: FloatArray
    boxes: list[tuple[slice, slice]]
    sheet: Sheet
    tears: Tears | None
    seed: int

    @staticmethod
    def draw(picture: UInt8Array, regions: Int32Array, config: ShredConfig, scan: Scan, rng: np.random.Generator) -> Damaged:
        """Draw what is common."""
        boxes = [(box[0], box[1]) for box in scipy.ndimage.find_objects(regions + 1)]
        sizes_px = np.array([math.hypot(box[0].stop - box[0].start, box[1].stop - box[1].start) for box in boxes])
        tears = Tears.draw(regions, config.damage.tear_px, rng) if config.damage.tear_px > 0 else None
        sheet = Sheet.draw(sizes_px, config.damage, rng)
        seed = int(rng.integers(2**62))
        return Damaged(picture, regions, config, scan, find_corners(regions), boxes, sheet, tears, seed)

    def take(self, region: int, theta: float | None) -> CutPiece:
        """Piece ``region``, turned by ``-theta``; its mask is empty when nothing of it remains."""
        rng = np.random.default_rng([self.seed, region])
        image, paper, origin = self._paper(region, rng)
        if not paper.any():
            return CutPiece(image, paper, SE2(0.0, *origin))
        filled = image.reshape(-1, 3)[nearest_pixels(paper)[0]]
        at, pose = self._where(paper, theta or 0.0, region, rng)
        x, y = np.ascontiguousarray(at[..., 0]), np.ascontiguousarray(at[..., 1])
        wide = cv2.remap(signed_distance(paper), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        left, top, width, height = cv2.boundingRect((wide > 2.0 - ROOM_PX).astype(np.uint8))
        window = np.s_[top : top + height, left : left + width]
        distance = np.asarray(wide[window], np.float32)
        flat = cv2.remap(filled, x[window], y[window], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        colors = light_piece(np.asarray(flat, np.uint8), self.config.damage, self.config.color_shift, rng)
        scene = lay_on_backdrop(colors, distance, self.config, self.scan)
        mask = add_whiskers(scene, cut_mask(distance, self.config, self.scan, rng), self.config, rng)
        seen = record(scene, self.config, rng)
        picture_from_piece = SE2(0.0, *origin) @ pose @ SE2(0.0, left, top)
        return CutPiece(np.where(mask[..., None], seen, np.uint8(0)), mask, picture_from_piece)

    def _paper(self, region: int, rng: np.random.Generator) -> tuple[UInt8Array, BoolArray, tuple[float, float]]:
        """The piece before it is turned: image, mask with room around it, and where its first pixel lay in the picture."""
        damage = self.config.damage
        window = widen(self.boxes[region], self.regions.shape, damage.tear_px + 2.0)
        image = self.picture[window].copy()
        paper: BoolArray = self.regions[window] == region
        if self.tears is not None:
            rim = self.tears.rim(self.regions, window, region, rng)
            paint_paper(image, rim, rng)
            paper = paper | rim
        if max(damage.loss_px, damage.rough_px, damage.crumble_px) > 0:
            near = corners_in(self.corners, window, 3.0 * damage.crumble_px)
            paper = bite(paper, near, damage, rng)
        paper = keep_largest(erode(np.pad(paper, ROOM_PX), self.config.erosion_px))
        image = np.pad(image, ((ROOM_PX, ROOM_PX), (ROOM_PX, ROOM_PX), (0, 0)))
        if damage.fray_px > 0:
            paint_paper(image, frayed(paper, damage.fray_px, rng), rng)
        return image, paper, (window[1].start - ROOM_PX, window[0].start - ROOM_PX)

    def _where(self, paper: BoolArray, theta: float, region: int, rng: np.random.Generator) -> tuple[Float32Array, SE2]:
        """For each pixel of the scan its point ``(H, W, 2)`` on the flat paper, and the (nearest) pose ``flat_from_scan``."""
        height, width = paper.shape
        cos, sin = abs(math.cos(theta)), abs(math.sin(theta))
        size = math.ceil(width * cos + height * sin - 1e-9), math.ceil(width * sin + height * cos - 1e-9)
        middle = np.array([(size[0] - 1) / 2.0, (size[1] - 1) / 2.0])
        turn = SE2(theta, (width - 1) / 2.0, (height - 1) / 2.0)
        pixels = np.stack(np.meshgrid(np.arange(size[0]), np.arange(size[1])), axis=-1).astype(np.float64)
        if not self.config.damage.warps:
            pose = turn @ SE2(0.0, -float(middle[0]), -float(middle[1]))
            return (pose @ pixels).astype(np.float32), pose
        box = self.boxes[region]
        size_px = float(max(box[0].stop - box[0].start, box[1].stop - box[1].start))
        at = turn @ unbend(pixels - middle, size_px, self.sheet, region, self.config.damage, rng)
        nearest = np.clip(np.rint(at), 0, [width - 1, height - 1]).astype(np.intp)
        inside = paper[nearest[..., 1], nearest[..., 0]]
        return at.astype(np.float32), best_pose(at[inside], pixels[inside])
