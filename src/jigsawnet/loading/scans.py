"""Scans of many pieces → their pieces, on one scale, with their backs and with what is wrong with the scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from jigsawnet.edits.cutting import Correction
from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments.background import Box
from jigsawnet.fragments.backs import lay_back, pair_sides
from jigsawnet.fragments.check import Finding, check_scan, draw_findings
from jigsawnet.fragments.corrected import correct_parts, parts_of, with_parts
from jigsawnet.fragments.scan import STEPS, ScanConfig, ScanPiece, ScanResult, clean_rim, find_pieces, rescale
from jigsawnet.fragments.straighten import UNCHANGED, Straightening, draw_straightening, find_straightening
from jigsawnet.fragments.view import View
from jigsawnet.io.pages import Page, as_page, parse_pages
from jigsawnet.io.review_json import load_review
from jigsawnet.io.scans import on_white, piece_stems, read_dpi, read_scan
from jigsawnet.options import group
from jigsawnet.types import Piece, Progress, UInt8Array, no_progress

_SAME = 1.01
"""Resolutions that differ by less count as the same."""
_STRONG = 2.5
"""Resolutions that differ by more are probably wrong tags."""
_SAME_RATIO = 1.01
"""Sheets whose proportions differ by less may be the same sheet."""
_KEPT_PX = 100_000_000
"""Pixels of pictures that are kept from being looked at to being cut."""


@dataclass(frozen=True, slots=True)
class ScanInput:
    """How scans are read."""

    back: tuple[Path, ...] = ()
    """Scans of the backs, one for each scan, the whole page turned over from left to right; or the folder that holds them.
    Files are taken in the order given, those of a folder in the order of their names. For a folder of pieces: the folder of
    their backs, under the same names or in the same order."""
    pages: str = ""
    """Which pages of files with several are taken, such as 1-4,7; all of them otherwise, up to 100."""
    scale: tuple[float, ...] = ()
    """One factor for each scan that brings its pieces to a common size; otherwise the resolution tags of the files decide."""
    exclude: tuple[str, ...] = ()
    """Boxes as x,y,width,height in px in which nothing is looked for, such as where a ruler or a colour card lies; they hold
    for every scan."""
    straighten: bool = True
    """Take out perspective and lens distortion of photographs, by the markers of a printed sheet (jigsawnet sheet) or by the
    four edges of the sheet on which the pieces lie, when they are clearly seen."""
    filled: Literal["auto", "yes", "no"] = "auto"
    """Whether each picture is one piece that fills it to its sides, as strips and tiles that a program cut out do; auto: when
    three and more strips, or six and more small tiles, are alike in size and what they show reaches their sides."""
    corrections: Path | None = None
    """What a person has corrected about the pieces found on the scans: the review.json that the page of review writes."""
    scan: ScanConfig = group(ScanConfig)

    def __post_init__(self) -> None:
        if not all(0.01 <= factor <= 100 for factor in self.scale):
            raise ConfigError("scale needs factors between 0.01 and 100.")
        self.boxes()
        parse_pages(self.pages)

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
    """The pieces of one scan: ``pieces`` numbered from 0, with their ``corners`` in the scan, backs by the same numbers."""

    name: str
    factor: float
    pieces: tuple[Piece, ...]
    corners: tuple[tuple[int, int], ...]
    backs: dict[int, Piece]
    findings: tuple[Finding, ...]
    checks: tuple[CheckPicture, ...]
    view: View | None = None
    """How its sheet was seen, when it was straightened; corners are those of the straightened picture then."""
    numbers: tuple[int, ...] = ()
    """Numbers of the pieces for people."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a sheet: the file, the picture as it was taken and as it was straightened, and the pieces found on it."""

    page: Page
    look: Straightening
    result: ScanResult
    pictures: tuple[UInt8Array, UInt8Array] | None
    """As taken and straightened ``(H, W, 3)``; None: let go, and read again when they are needed."""

    def read(self) -> tuple[UInt8Array, UInt8Array]:
        """Both pictures."""
        if self.pictures is not None:
            return self.pictures
        taken = read_scan(self.page)
        return taken, self.look.straighten(taken)

    @property
    def n_pixels(self) -> int:
        """Pixels of the picture, if it is kept."""
        return 0 if self.pictures is None else self.pictures[1].shape[0] * self.pictures[1].shape[1]


@dataclass(frozen=True, slots=True, eq=False)
class FoundScan:
    """What was found on one scan, before it is corrected and cut out."""

    stem: str
    factor: float
    front: Side
    back: Side | None = None

    def let_go(self) -> FoundScan:
        """The same without the pictures."""
        back = self.back and replace(self.back, pictures=None)
        return replace(self, front=replace(self.front, pictures=None), back=back)


@dataclass(frozen=True, slots=True)
class ScanScale:
    """The factor of each scan, the resolution that all then have, and what is doubtful about it."""

    factors: tuple[float, ...]
    dpi: float | None
    findings: tuple[Finding, ...]
    looks: tuple[Straightening, ...] = ()
    """How each scan was taken."""


@dataclass(slots=True)
class _Count:
    """Steps of work that are done, of all scans."""

    progress: Progress
    done: int
    total: int

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        self.progress("cut", self.done, self.total)


def find_scale(
    scans: Sequence[Path | Page], options: ScanInput, already_read: MutableMapping[Page, UInt8Array] | None = None
) -> ScanScale:
    """One scale for all scans, by ``options.scale`` or else by the sheets on them and their tags.

    Pictures that are read on the way are kept in ``already_read``, as far as there is room.

    Raises:
        InputError: a scan cannot be read, or shows two printed sheets.
        ConfigError: the number of factors is not that of the scans.
    """
    looks = tuple(_look(path, options, {} if already_read is None else already_read) for path in scans)
    dpis = [_dpi_of(path, look) for path, look in zip(scans, looks, strict=True)]
    factors, findings = _same_sheet(looks) or common_scale([path.name for path in scans], dpis)
    if options.scale:
        if len(options.scale) != len(scans):
            raise ConfigError(f"scale needs one factor for each of the {len(scans)} scans, not {len(options.scale)}.")
        factors, findings = list(options.scale), []
    scaled = [dpi * factor for dpi, factor in zip(dpis, factors, strict=True) if dpi is not None]
    agree = bool(scaled) and max(scaled) < 1.02 * min(scaled)
    return ScanScale(tuple(factors), round(float(np.median(scaled)), 1) if agree else None, tuple(findings), looks)


def _look(path: Path | Page, options: ScanInput, already_read: MutableMapping[Page, UInt8Array]) -> Straightening:
    pixels = already_read.get(as_page(path))
    if pixels is None:
        pixels = read_scan(path)
        room = _KEPT_PX - sum(kept.shape[0] * kept.shape[1] for kept in already_read.values())
        if pixels.shape[0] * pixels.shape[1] <= room:
            already_read[as_page(path)] = pixels
    return find_straightening(path.name, on_white(pixels), switched_on=options.straighten)


def _dpi_of(path: Path | Page, look: Straightening) -> float | None:
    """Resolution by the markers; by the tag, unless it is a photograph, in whose tag a camera writes anything."""
    return read_dpi(path) if look.view is None else look.view.dpi


def _same_sheet(looks: Sequence[Straightening]) -> tuple[list[float], list[Finding]] | None:
    """Factors by the size of the sheet, where all scans show a plain sheet of like proportions; None elsewhere."""
    sizes = [look.view.size for look in looks if look.view is not None and look.view.by == "sheet"]
    if len(looks) < 2 or len(sizes) < len(looks):
        return None
    ratios = [max(size) / min(size) for size in sizes]
    if max(ratios) > _SAME_RATIO * min(ratios):
        return None
    least = min(max(size) for size in sizes)
    sentence = "The scans are brought to one scale by the sheets on them, taken to be of one size: otherwise give --scale."
    return [least / max(size) for size in sizes], [Finding("scale", sentence)]


def common_scale(names: Sequence[str], dpis: Sequence[float | None]) -> tuple[list[float], list[Finding]]:
    """Factor for each scan, by its resolution in dots per inch, that brings all to the coarsest; and what is doubtful about it.

    A scan without a tag keeps its size.
    """
    known = [dpi for dpi in dpis if dpi is not None]
    if len(names) < 2 or not known:
        findings = []
        if len(names) > 1:
            sentence = "None of the scans says its resolution, so all are taken to be at the same one: otherwise give --scale."
            findings.append(Finding("scale", sentence))
        return [1.0] * len(names), findings
    coarsest, finest = min(known), max(known)
    factors = [1.0 if dpi is None or dpi < _SAME * coarsest else coarsest / dpi for dpi in dpis]
    findings = [
        Finding("scale", f"{name} does not say its resolution and is taken to be at {coarsest:g} dpi: otherwise give --scale.")
        for name, dpi in zip(names, dpis, strict=True)
        if dpi is None
    ]
    if finest > _SAME * coarsest:
        sentence = f"The scans are at {coarsest:g} to {finest:g} dpi and were brought to {coarsest:g} dpi"
        doubt = ": this is a large difference, so check that the tags are right, or give --scale."
        findings.append(Finding("scale", sentence + (doubt if finest > _STRONG * coarsest else ".")))
    return factors, findings


def find_scans(
    scans: Sequence[Path | Page],
    scale: ScanScale,
    backs: Sequence[Path | Page],
    options: ScanInput,
    progress: Progress = no_progress,
    already_read: MutableMapping[Page, UInt8Array] | None = None,
) -> Iterator[FoundScan]:
    """Find the pieces on each scan in turn; ``backs`` is empty or holds the back of each scan.

    Pictures in ``already_read``, by their pages, are taken out of it instead of being read again.

    Raises:
        InputError: a scan cannot be read, or is too small to show pieces.
        ConfigError: there are not as many backs as scans.
    """
    if backs and len(backs) != len(scans):
        raise ConfigError(f"There are {len(scans)} scans but {len(backs)} of backs: give one back for each scan.")
    per_scan = STEPS * (2 if backs else 1) + 1
    for k, (path, stem) in enumerate(zip(scans, piece_stems(scans), strict=True)):
        pixels = (already_read or {}).pop(as_page(path), None)
        taken = read_scan(path) if pixels is None else on_white(pixels)
        count = _Count(progress, k * per_scan, per_scan * len(scans))
        look = scale.looks[k] if scale.looks else UNCHANGED
        front = _find(path, taken, look, options, options.boxes(), count.step)
        yield FoundScan(stem, scale.factors[k], front, _find_back(backs[k], options, count.step) if backs else None)
        count.step()


def cut_scans(
    scans: Sequence[Path | Page],
    scale: ScanScale,
    backs: Sequence[Path | Page],
    options: ScanInput,
    progress: Progress = no_progress,
    already_read: MutableMapping[Page, UInt8Array] | None = None,
) -> Iterator[CutScan]:
    """Cut the pieces out of each scan in turn, as a person has corrected them; as `find_scans`.

    Raises:
        InputError, ConfigError: as for `find_scans`.
        FormatError: the file of corrections breaks its format.
    """
    corrections = read_corrections(options)
    for found in find_scans(scans, scale, backs, options, progress, already_read):
        yield cut_scan(found, options, corrections)


def read_corrections(options: ScanInput) -> tuple[Correction, ...]:
    """What a person has corrected; nothing without such a file."""
    return () if options.corrections is None else load_review(options.corrections)


def no_pieces(scans: Sequence[Path | Page]) -> InputError:
    """What is said when no scan shows any piece."""
    names = _listed([path.name for path in scans])
    return InputError(f"No pieces were found on {names}: lay them apart on a plain background of another colour.")


def cut_scan(found: FoundScan, options: ScanInput, corrections: Sequence[Correction] = ()) -> CutScan:
    """Cut out what was found on one scan; ``corrections`` are those of all scans."""
    side, name = found.front, found.front.page.name
    taken, picture = side.read()
    front, passed_over = _corrected(side.result, picture, [one for one in corrections if one.scan == name], options)
    names = [f"{found.stem}-{front.number(k):03d}.png" for k in range(len(front.pieces))]
    pieces = tuple(_to_piece(k, names[k], piece, found.factor) for k, piece in enumerate(front.pieces))
    findings = [*_said(side.look), *passed_over, *_check(front)]
    checks = _shown(found.stem, side.page, taken, side.look)
    backs: dict[int, Piece] = {}
    if found.back is not None:
        backs, said, drawn = _cut_back(found, found.back, front, pieces)
        findings += said
        checks += drawn
    checks.insert(0, CheckPicture(f"{found.stem}.png", draw_findings(picture, front, findings), name, tuple(findings)))
    corners = tuple(piece.corner for piece in front.pieces)
    numbers = tuple(front.number(k) for k in range(len(pieces)))
    return CutScan(name, found.factor, pieces, corners, backs, tuple(findings), tuple(checks), side.look.view, numbers)


def _corrected(
    result: ScanResult, picture: UInt8Array, corrections: Sequence[Correction], options: ScanInput
) -> tuple[ScanResult, list[Finding]]:
    if not corrections:
        return result, []
    parts, passed_over = correct_parts(parts_of(result), corrections)
    corrected = with_parts(result, parts, picture, options.scan.margin_px)
    return corrected, [Finding("ignored", sentence) for sentence in passed_over]


def _cut_back(
    found: FoundScan, side: Side, front: ScanResult, pieces: Sequence[Piece]
) -> tuple[dict[int, Piece], list[Finding], list[CheckPicture]]:
    """The backs by the numbers of their fronts, what is to be said of pieces without one, and the check pictures."""
    taken, picture = side.read()
    placed, shaped = pair_sides(front, side.result)
    pairs, backs = placed | shaped, {}
    for i, j in sorted(pairs.items()):
        factor = found.factor * _relative(found.front.look, side.look)
        back_piece = _to_piece(i, pieces[i].name, side.result.pieces[j], factor)
        backs[i] = lay_back(pieces[i], back_piece, any_angle=i in shaped)
    findings = (*_said(side.look), *_check(side.result))
    checks = _shown(f"{found.stem} back", side.page, taken, side.look)
    drawn = draw_findings(picture, side.result, findings)
    checks.append(CheckPicture(f"{found.stem} back.png", drawn, side.page.name, findings))
    return backs, _unpaired(front, pairs, side.page.name), checks


def _said(look: Straightening) -> list[Finding]:
    return [Finding("straightened", look.sentence)] if look.sentence else []


def _shown(stem: str, path: Path | Page, taken: UInt8Array, look: Straightening) -> list[CheckPicture]:
    """The photograph with what it was straightened by; what is said of it stands beside the straightened picture."""
    if look.view is None:
        return []
    return [CheckPicture(f"{stem} photograph.png", draw_straightening(taken, look.view), path.name, ())]


def _relative(front: Straightening, back: Straightening) -> float:
    """What brings the back to the scale of its front, where printed sheets tell both."""
    if front.view is None or back.view is None or front.view.dpi is None or back.view.dpi is None:
        return 1.0
    return front.view.dpi / back.view.dpi


def _find_back(path: Path | Page, options: ScanInput, step: Callable[[], None]) -> Side:
    taken = read_scan(path)
    look = find_straightening(path.name, taken, switched_on=options.straighten)
    return _find(path, taken, look, options, (), step)


def _find(
    path: Path | Page,
    taken: UInt8Array,
    look: Straightening,
    options: ScanInput,
    boxes: Sequence[Box],
    step: Callable[[], None],
) -> Side:
    picture = look.straighten(taken)
    if min(picture.shape[:2]) < 16:
        raise InputError(f"{path.name} is smaller than 16 x 16 px, too small to show pieces.")
    result = find_pieces(picture, options.scan, exclude=look.exclude(boxes), step=step)
    return Side(as_page(path), look, result, (taken, picture))


def _check(result: ScanResult) -> list[Finding]:
    nothing = [] if result.pieces else [Finding("ignored", "No pieces were found on it.")]
    return check_scan(result) + nothing


def _to_piece(idx: int, name: str, piece: ScanPiece, factor: float) -> Piece:
    image, mask = rescale(clean_rim(piece.image, piece.mask), piece.mask, factor)
    return Piece(idx, name, np.where(mask[..., None], image, np.uint8(0)), mask.copy())


def _unpaired(front: ScanResult, pairs: dict[int, int], back_name: str) -> list[Finding]:
    missing = tuple(i for i in range(len(front.pieces)) if i not in pairs)
    if not missing:
        return []
    which = _listed([str(front.number(i)) for i in missing])
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
