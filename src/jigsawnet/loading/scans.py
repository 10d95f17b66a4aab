"""Scans of many pieces → their pieces, on one scale, with their backs and with what is wrong with the scans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments.background import Box
from jigsawnet.fragments.backs import lay_back, pair_backs
from jigsawnet.fragments.check import Finding, check_scan
from jigsawnet.fragments.draw import draw_findings
from jigsawnet.fragments.rim import clean_rim
from jigsawnet.fragments.scale import common_scale, rescale
from jigsawnet.fragments.scan import ScanConfig, ScanPiece, ScanResult, find_pieces
from jigsawnet.io.scans import piece_stems, read_dpi, read_scan
from jigsawnet.types import Fragment, Progress, UInt8Array, no_progress


@dataclass(frozen=True, slots=True)
class ScanInput:
    """How scans are read."""

    back: tuple[Path, ...] = ()
    """Scans of the backs, one for each scan, the whole page turned over from left to right; or the folder that holds them.
    Files are taken in the order given, those of a folder in the order of their names. For a folder of pieces: the folder of
    their backs, under the same names or in the same order."""
    scale: tuple[float, ...] = ()
    """One factor for each scan that brings its pieces to a common size; otherwise the resolution tags of the files decide."""
    exclude: tuple[str, ...] = ()
    """Boxes as x,y,width,height in px in which nothing is looked for, such as where a ruler or a colour card lies; they hold
    for every scan."""
    scan: ScanConfig = field(default_factory=ScanConfig)

    def __post_init__(self) -> None:
        if not all(0.01 <= factor <= 100 for factor in self.scale):
            raise ConfigError("scale needs factors between 0.01 and 100.")
        self.boxes()

    def boxes(self) -> tuple[Box, ...]:
        """The boxes of ``exclude``."""
        return tuple(_read_box(text) for text in self.exclude)


@dataclass(frozen=True, slots=True, eq=False)
class CheckPicture:
    """What was found on a scan: a drawing ``picture (H, W, 3)`` to be saved as ``name``, and sentences about it."""

    name: str
    picture: UInt8Array
    scan_name: str
    findings: tuple[Finding, ...]

    def sentences(self, *, grave: bool | None = None) -> tuple[str, ...]:
        """The findings for a person; only those that make success unlikely, or only the others, on request."""
        chosen = (finding for finding in self.findings if grave is None or finding.is_grave == grave)
        return tuple(f"{self.scan_name}: {finding.sentence}" for finding in chosen)


@dataclass(frozen=True, slots=True, eq=False)
class CutScan:
    """The pieces of one scan: ``fragments`` numbered from 0, with their ``corners`` in the scan, backs by the same numbers."""

    name: str
    factor: float
    fragments: tuple[Fragment, ...]
    corners: tuple[tuple[int, int], ...]
    backs: dict[int, Fragment]
    findings: tuple[Finding, ...]
    checks: tuple[CheckPicture, ...]


@dataclass(frozen=True, slots=True)
class ScanScale:
    """The factor of each scan, the resolution that all then have, and what is doubtful about it."""

    factors: tuple[float, ...]
    dpi: float | None
    findings: tuple[Finding, ...]


def find_scale(scans: Sequence[Path], options: ScanInput) -> ScanScale:
    """One scale for all scans, by ``options.scale`` or else by their tags.

    Raises:
        ConfigError: the number of factors is not that of the scans.
    """
    dpis = [read_dpi(path) for path in scans]
    factors, findings = common_scale([path.name for path in scans], dpis)
    if options.scale:
        if len(options.scale) != len(scans):
            raise ConfigError(f"scale needs one factor for each of the {len(scans)} scans, not {len(options.scale)}.")
        factors, findings = list(options.scale), []
    scaled = [dpi * factor for dpi, factor in zip(dpis, factors, strict=True) if dpi is not None]
    agree = bool(scaled) and max(scaled) < 1.02 * min(scaled)
    return ScanScale(tuple(factors), round(float(np.median(scaled)), 1) if agree else None, tuple(findings))


def cut_scans(
    scans: Sequence[Path], scale: ScanScale, backs: Sequence[Path], options: ScanInput, progress: Progress = no_progress
) -> Iterator[CutScan]:
    """Cut the pieces out of each scan in turn; ``backs`` is empty or holds the back of each scan.

    Raises:
        InputError: a scan cannot be read, or is too small to show pieces.
        ConfigError: there are not as many backs as scans.
    """
    if backs and len(backs) != len(scans):
        raise ConfigError(f"There are {len(scans)} scans but {len(backs)} of backs: give one back for each scan.")
    for k, (path, stem) in enumerate(zip(scans, piece_stems(scans), strict=True)):
        yield _cut_scan(path, stem, scale.factors[k], backs[k] if backs else None, options)
        progress("cut", k + 1, len(scans))


def no_pieces(scans: Sequence[Path]) -> InputError:
    """What is said when no scan shows any piece."""
    names = _listed([path.name for path in scans])
    return InputError(f"No pieces were found on {names}: lay them apart on a plain background of another colour.")


def _cut_scan(path: Path, stem: str, factor: float, back_path: Path | None, options: ScanInput) -> CutScan:
    picture, front = _find(path, options.scan, options.boxes())
    fragments = tuple(_to_fragment(k, stem, piece, factor) for k, piece in enumerate(front.pieces))
    findings, checks = _check(front), []
    backs: dict[int, Fragment] = {}
    if back_path is not None:
        back_picture, back = _find(back_path, options.scan, ())
        pairs = pair_backs(front, back)
        for i, j in sorted(pairs.items()):
            backs[i] = lay_back(fragments[i], _to_fragment(i, stem, back.pieces[j], factor))
        findings += _unpaired(front, pairs, back_path.name)
        back_findings = tuple(_check(back))
        drawn = draw_findings(back_picture, back, back_findings)
        checks.append(CheckPicture(f"{stem} back.png", drawn, back_path.name, back_findings))
    checks.insert(0, CheckPicture(f"{stem}.png", draw_findings(picture, front, findings), path.name, tuple(findings)))
    corners = tuple(piece.corner for piece in front.pieces)
    return CutScan(path.name, factor, fragments, corners, backs, tuple(findings), tuple(checks))


def _find(path: Path, config: ScanConfig, exclude: Sequence[Box]) -> tuple[UInt8Array, ScanResult]:
    picture = read_scan(path)
    if min(picture.shape[:2]) < 16:
        raise InputError(f"{path.name} is smaller than 16 x 16 px, too small to show pieces.")
    return picture, find_pieces(picture, config, exclude=exclude)


def _check(result: ScanResult) -> list[Finding]:
    nothing = [] if result.pieces else [Finding("ignored", "No pieces were found on it.")]
    return check_scan(result) + nothing


def _to_fragment(number: int, stem: str, piece: ScanPiece, factor: float) -> Fragment:
    image, mask = rescale(clean_rim(piece.image, piece.mask), piece.mask, factor)
    return Fragment(number, f"{stem}-{number + 1:03d}.png", np.where(mask[..., None], image, np.uint8(0)), mask.copy())


def _unpaired(front: ScanResult, pairs: dict[int, int], back_name: str) -> list[Finding]:
    missing = tuple(i for i in range(len(front.pieces)) if i not in pairs)
    if not missing:
        return []
    which = _listed([str(i + 1) for i in missing])
    sentence = f"No back was found on {back_name} for piece {which}: turn the whole page over from left to right."
    return [Finding("unpaired", sentence, None, missing)]


def _read_box(text: str) -> Box:
    try:
        x, y, width, height = (int(word) for word in text.split(","))
    except ValueError:
        raise ConfigError(f"exclude is {text!r}; it must be x,y,width,height in px, such as 0,0,400,120.") from None
    if min(x, y) < 0 or min(width, height) < 1:
        raise ConfigError(f"exclude is {text!r}; x and y must be 0 or more, width and height 1 or more.")
    return x, y, width, height


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
