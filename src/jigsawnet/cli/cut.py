"""``jigsawnet cut``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from jigsawnet.cli.console import Out, progress_bars, say, say_notes
from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments.background import Box
from jigsawnet.fragments.backs import on_front_canvas, pair_backs
from jigsawnet.fragments.check import Finding, check_scan
from jigsawnet.fragments.draw import draw_findings
from jigsawnet.fragments.scale import common_scale, rescale
from jigsawnet.fragments.scan import ScanConfig, ScanPiece, ScanResult, find_pieces
from jigsawnet.io.files import staged_folder
from jigsawnet.io.images import silent_decoders, write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.scans import CUT_FILE, piece_stems, read_dpi, read_scan, write_cut_record
from jigsawnet.types import Fragment, Puzzle

CHECK_FOLDER = "check"
BACK_FOLDER = "back"


@dataclass(frozen=True, slots=True)
class Cut:
    """Cut the pieces out of scans or photos that show many of them on one plain background."""

    scans: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SCAN", help_behavior_hint="(required)")]
    """Scans or photos of pieces that lie apart."""
    out: Out
    """Folder for the pieces, named after the scan and numbered; check/ shows what was found on each scan, and cut.json says
    where each piece lay."""
    back: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="SCAN")] = ()
    """Scans of the backs, one for each scan and in the same order, the whole page turned over from left to right; the backs
    go to back/ under the same names."""
    scale: Annotated[tuple[float, ...], tyro.conf.arg(metavar="FACTOR")] = ()
    """One factor for each scan that brings its pieces to a common size; otherwise the resolution tags of the files decide."""
    exclude: Annotated[tuple[str, ...], tyro.conf.arg(metavar="X,Y,WIDTH,HEIGHT")] = ()
    """Boxes in px in which nothing is looked for, such as where a ruler or a colour card lies; they hold for every scan."""
    config: Annotated[ScanConfig, tyro.conf.arg(name="")] = field(default_factory=ScanConfig)

    def __post_init__(self) -> None:
        if self.scale and (len(self.scale) != len(self.scans) or not all(0.01 <= factor <= 100 for factor in self.scale)):
            raise ConfigError(f"scale needs one factor between 0.01 and 100 for each of the {len(self.scans)} scans.")
        if self.back and len(self.back) != len(self.scans):
            raise ConfigError(f"There are {len(self.scans)} scans but {len(self.back)} of backs: give one back for each scan.")
        self.boxes()

    def boxes(self) -> tuple[Box, ...]:
        """The boxes of ``--exclude``."""
        return tuple(_read_box(text) for text in self.exclude)

    def run(self) -> int:
        """Find, check and write."""
        if not self.scans:
            raise InputError("Name at least one scan to cut.")
        names, stems = [path.name for path in self.scans], piece_stems(self.scans)
        factors, notes = (list(self.scale), []) if self.scale else common_scale(names, [read_dpi(path) for path in self.scans])
        pieces: list[dict[str, Any]] = []
        scans: list[dict[str, Any]] = []
        with staged_folder(self.out, CUT_FILE) as stage, progress_bars() as progress, silent_decoders():
            for k, path in enumerate(self.scans):
                result, findings = self._find(stage, path, stems[k])
                if self.back:
                    findings += self._cut_back(stage, k, result, stems[k], factors[k])
                written = _write(stage, stems[k], list(enumerate(result.pieces)), factors[k])
                pieces += [record | {"scan": path.name} for record in written]
                scans.append({"name": path.name, "scale": factors[k], "findings": _to_json(findings)})
                progress("cut", k + 1, len(self.scans))
            if not pieces:
                raise InputError(
                    f"No pieces were found on {_listed(names)}: lay them apart on a plain background of another colour."
                )
            write_cut_record(stage / CUT_FILE, scans, pieces)
        say_notes([note.sentence for note in notes])
        say_notes([f"{scan['name']}: {finding['sentence']}" for scan in scans for finding in scan["findings"]])
        say(f"{len(pieces)} pieces from {len(self.scans)} {'scan' if len(self.scans) == 1 else 'scans'} in {self.out}")
        say(f"  {self.out / CHECK_FOLDER} shows what was found")
        return 0

    def _find(self, stage: Path, path: Path, stem: str, side: str = "") -> tuple[ScanResult, list[Finding]]:
        """Pieces of one scan and what is wrong with it; its check picture is written."""
        picture = read_scan(path)
        if min(picture.shape[:2]) < 16:
            raise InputError(f"{path.name} is smaller than 16 x 16 px, too small to show pieces.")
        result = find_pieces(picture, self.config, exclude=self.boxes() if not side else ())
        findings = check_scan(result)
        if not result.pieces:
            findings.append(Finding("ignored", "No pieces were found on it."))
        folder = stage / CHECK_FOLDER
        folder.mkdir(exist_ok=True)
        write_png(folder / f"{stem}{side}.png", draw_findings(picture, result, findings))
        return result, findings

    def _cut_back(self, stage: Path, k: int, front: ScanResult, stem: str, factor: float) -> list[Finding]:
        """Write the backs of a scan's pieces; says which pieces have none."""
        back, _ = self._find(stage, self.back[k], stem, " back")
        pairs = pair_backs(front, back)
        laid = [(i, on_front_canvas(front.pieces[i], back.pieces[j])) for i, j in sorted(pairs.items())]
        if laid:
            _write(stage / BACK_FOLDER, stem, laid, factor)
        missing = tuple(i for i in range(len(front.pieces)) if i not in pairs)
        if not missing:
            return []
        which = _listed([str(i + 1) for i in missing])
        sentence = f"No back was found on {self.back[k].name} for piece {which}: turn the whole page over from left to right."
        return [Finding("unpaired", sentence, None, missing)]


def _read_box(text: str) -> Box:
    try:
        x, y, width, height = (int(word) for word in text.split(","))
    except ValueError:
        raise ConfigError(f"exclude is {text!r}; it must be x,y,width,height in px, such as 0,0,400,120.") from None
    if min(x, y) < 0 or min(width, height) < 1:
        raise ConfigError(f"exclude is {text!r}; x and y must be 0 or more, width and height 1 or more.")
    return x, y, width, height


def _write(folder: Path, stem: str, pieces: Sequence[tuple[int, ScanPiece]], factor: float) -> list[dict[str, Any]]:
    """Write numbered pieces and give their records."""
    fragments: list[Fragment] = []
    records: list[dict[str, Any]] = []
    for number, piece in pieces:
        image, mask = rescale(piece.image, piece.mask, factor)
        name = f"{stem}-{number + 1:03d}.png"
        fragments.append(Fragment(len(fragments), name, np.where(mask[..., None], image, np.uint8(0)), mask.copy()))
        records.append({"name": name, "x": piece.corner[0], "y": piece.corner[1], "scale": factor})
    if fragments:
        write_pieces(folder, Puzzle(stem, tuple(fragments)))
    return records


def _to_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [{"kind": f.kind, "sentence": f.sentence, "box": f.box, "pieces": [k + 1 for k in f.pieces]} for f in findings]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
