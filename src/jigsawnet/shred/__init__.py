"""The shredder: whole pictures → a puzzle and its true assembly.

Cuts as in the paper (number, orientation, perturbation along the curve), then what real pieces suffer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.shred.capture import Scan
from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.cuts import cut_cells, find_regions
from jigsawnet.shred.damage import Damage
from jigsawnet.shred.damaged import Damaged, prepare_picture
from jigsawnet.shred.pieces import CutPiece, crop_to_mask, cut_out, erode, spoil_colors, tear_rims
from jigsawnet.shred.presets import PRESETS, preset, with_preset
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array, sort_components

__all__ = ["PRESETS", "Damage", "ShredConfig", "preset", "shred_images", "with_preset"]

MIN_PIECE_AREA_PX = 25


def shred_images(images: Sequence[UInt8Array], config: ShredConfig, rng: np.random.Generator) -> tuple[Puzzle, Assembly]:
    """Cut pictures ``(H, W, 3)`` RGB into pieces, damage them, and mix them all.

    Returns:
        The puzzle, and the truth: one component per picture, whose poses carry pieces into that picture's pixel frame.

    Raises:
        InputError: a picture is no RGB picture, or too small for the pieces or the erosion wanted.
    """
    if not images:
        raise InputError("There is no picture to cut; give at least one.")
    pieces: list[tuple[int, CutPiece]] = []
    n_lost = 0
    hurt = rng.spawn(1)[0] if config.damage.changed() else None  # leaves the stream of the cuts as it is
    scan = None if hurt is None else Scan.draw(hurt)
    for picture_idx, image in enumerate(images):
        _check_picture(image)
        if hurt is None or scan is None:
            cut = _shred_image(image, config, rng)
        else:
            cut = _damage_image(image, config, scan, rng, hurt)
        kept = [piece for piece in cut if np.count_nonzero(piece.mask) >= MIN_PIECE_AREA_PX]
        n_lost += len(cut) - len(kept)
        pieces.extend((picture_idx, piece) for piece in kept)
    if len(pieces) < 2:
        raise InputError(
            f"Only {len(pieces)} of the pieces cut from {len(images)} pictures remain, and a puzzle needs two; "
            "use larger pictures, more cuts or less erosion."
        )
    n_kept = max(2, len(pieces) - round(config.missing * len(pieces)))
    mixed = [pieces[k] for k in rng.permutation(len(pieces))[:n_kept]]
    lost = f"Left out {n_lost} pieces of which less than {MIN_PIECE_AREA_PX} px remained."
    return _build_puzzle(mixed, config, rng, (lost,) if n_lost else ())


def _check_picture(image: UInt8Array) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise InputError(f"A picture to be cut must be (H, W, 3) uint8 RGB, not {image.shape} {image.dtype}; convert it first.")


def _shred_image(image: UInt8Array, config: ShredConfig, rng: np.random.Generator) -> list[CutPiece]:
    """Cut one picture; the pieces come in order of their regions, not yet trimmed, the mask of a lost one empty."""
    regions = find_regions(cut_cells(image.shape[0], image.shape[1], config, rng))
    picture = tear_rims(image, regions, config.rim_px, rng) if config.rim_px > 0 else image
    pieces = []
    for region, box in enumerate(scipy.ndimage.find_objects(regions + 1)):
        theta = rng.uniform(-math.pi, math.pi) if config.rotate else None
        piece = cut_out(picture, regions[box] == region, box[1].start, box[0].start, theta)
        pieces.append(CutPiece(piece.image, erode(piece.mask, config.erosion_px), piece.picture_from_piece))
    return pieces


def _damage_image(
    image: UInt8Array, config: ShredConfig, scan: Scan, rng: np.random.Generator, hurt: np.random.Generator
) -> list[CutPiece]:
    """As `_shred_image`, with all damage, drawn from ``hurt``; cuts and turns are those of ``rng``, as without damage."""
    picture = prepare_picture(image, config, hurt)
    regions = find_regions(cut_cells(picture.shape[0], picture.shape[1], config, rng))
    if config.rim_px > 0:
        picture = tear_rims(picture, regions, config.rim_px, rng)
    damaged = Damaged.draw(picture, regions, config, scan, hurt)
    thetas = [rng.uniform(-math.pi, math.pi) if config.rotate else None for _ in damaged.boxes]
    return [damaged.take(region, theta) for region, theta in enumerate(thetas)]


def _build_puzzle(
    pieces: Sequence[tuple[int, CutPiece]], config: ShredConfig, rng: np.random.Generator, warnings: tuple[str, ...]
) -> tuple[Puzzle, Assembly]:
    """Trim, spoil and number the pieces, each given with the number of its picture."""
    placed: list[Piece] = []
    poses: dict[int, SE2] = {}
    pictures: dict[int, list[int]] = {}
    for idx, (picture_idx, piece) in enumerate(pieces):
        trimmed = crop_to_mask(piece)
        if config.damage.changed():  # the scan has spoilt the colours already
            image = np.where(trimmed.mask[..., None], trimmed.image, np.uint8(0))
        else:
            image = spoil_colors(trimmed.image, trimmed.mask, config, rng)
        placed.append(Piece(idx, f"fragment_{idx + 1:04d}.png", image, trimmed.mask))
        poses[idx] = trimmed.picture_from_piece
        pictures.setdefault(picture_idx, []).append(idx)
    truth = Assembly(len(placed), poses, sort_components(pictures.values()), confidence=dict.fromkeys(poses, 1.0))
    return Puzzle("shredded", tuple(placed), warnings), truth
