"""``jigsawnet cut``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from jigsawnet.cli.console import Command, Out, progress_bars, say, say_notes
from jigsawnet.errors import InputError
from jigsawnet.fragments.check import Finding
from jigsawnet.io.images import silent_decoders
from jigsawnet.io.pages import Page
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.scans import CHECK_FOLDER, CUT_FILE, write_checks, write_cut_record
from jigsawnet.io.staged import staged_folder
from jigsawnet.loading import CutScan, ScanInput, cut_scans, find_scale, list_scans, no_pieces, say_left_out
from jigsawnet.types import Piece, Puzzle, UInt8Array

BACK_FOLDER = "back"


@dataclass(frozen=True, slots=True)
class Cut(Command):
    """Cut the pieces out of scans or photos that show many of them on one plain background."""

    scans: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SCAN", help_behavior_hint="(required)")]
    """Scans or photos of pieces that lie apart, or folders of them."""
    out: Out
    """Folder for the pieces, named after the scan and numbered; check/ shows what was found on each scan, cut.json says where
    each piece lay, and back/ holds the backs under the same names."""
    options: Annotated[ScanInput, tyro.conf.arg(name="")] = field(default_factory=ScanInput)

    def run(self) -> int:
        """Find, check and write."""
        scans = list_scans(self.scans, self.options.pages)
        if not scans:
            raise InputError("Name at least one scan to cut.")
        backs = list_scans(self.options.back, self.options.pages)
        done: list[CutScan] = []
        read: dict[Page, UInt8Array] = {}
        with staged_folder(self.out, CUT_FILE) as stage, progress_bars() as progress, silent_decoders():
            scale = find_scale(scans, self.options, read)
            for cut in cut_scans(scans, scale, backs, self.options, progress, read):
                _write(stage, cut.pieces, scale.dpi)
                _write(stage / BACK_FOLDER, cut.backs.values(), scale.dpi)
                write_checks(stage / CHECK_FOLDER, {check.name: check.picture for check in cut.checks})
                done.append(replace(cut, backs={}, checks=()))
            n_pieces = sum(len(cut.pieces) for cut in done)
            if not n_pieces:
                raise no_pieces(scans)
            pieces = [piece for cut in done for piece in _piece_records(cut)]
            write_cut_record(stage / CUT_FILE, [_scan_record(cut) for cut in done], pieces)
        say_notes(say_left_out([*self.scans, *self.options.back]))
        say_notes([finding.sentence for finding in scale.findings])
        say_notes([f"{cut.name}: {finding.sentence}" for cut in done for finding in cut.findings])
        say(f"{n_pieces} pieces from {len(scans)} {'scan' if len(scans) == 1 else 'scans'} in {self.out}")
        say(f"  {self.out / CHECK_FOLDER} shows what was found")
        return 0


def _write(folder: Path, pieces: Iterable[Piece], dpi: float | None) -> None:
    numbered = tuple(replace(piece, idx=k) for k, piece in enumerate(pieces))
    if numbered:
        write_pieces(folder, Puzzle(folder.name, numbered), dpi=dpi)


def _piece_records(cut: CutScan) -> list[dict[str, Any]]:
    places = zip(cut.pieces, cut.corners, strict=True)
    return [{"name": f.name, "x": x, "y": y, "scale": cut.factor, "scan": cut.name} for f, (x, y) in places]


def _scan_record(cut: CutScan) -> dict[str, Any]:
    record = {"name": cut.name, "scale": cut.factor, "findings": [_to_json(finding, cut.numbers) for finding in cut.findings]}
    return record if cut.view is None else record | {"straightened": cut.view.record()}


def _to_json(finding: Finding, numbers: Sequence[int]) -> dict[str, Any]:
    pieces = [numbers[k] for k in finding.pieces]
    return {"kind": finding.kind, "sentence": finding.sentence, "box": finding.box, "pieces": pieces}
