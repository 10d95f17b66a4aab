"""``jigsawnet shred``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from jigsawnet.cli.console import Command, Out, check_seed, say, say_notes
from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.authors import write_ground_truth
from jigsawnet.io.images import read_image, silent_decoders
from jigsawnet.io.pages import list_pages, parse_pages
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.scans import read_dpi
from jigsawnet.io.staged import staged_folder
from jigsawnet.io.truth import AUTHORS_TRUTH_FILE, TRUTH_FILE
from jigsawnet.shred import ShredConfig, shred_images, with_preset

PresetName = Literal["fresco", "torn-photo", "torn-page", "phone", "old-print", "strip-cut", "cross-cut"]


@dataclass(frozen=True, slots=True)
class Shred(Command):
    """Cut pictures into pieces whose true places are known, for tests, training and trials."""

    images: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PICTURE", help_behavior_hint="(required)")]
    """Pictures to cut; the pieces of several pictures are mixed."""
    out: Out
    """Folder for the pieces and the truth (truth.json, and groundTruth.txt when it is one picture)."""
    pages: str = ""
    """Which pages of files with several are taken, such as 1-4,7; all of them otherwise, up to 100."""
    seed: int = 0
    """Number that all randomness comes from; the same seed gives the same pieces."""
    key_color: Annotated[tuple[int, int, int] | None, tyro.conf.arg(metavar="RED GREEN BLUE")] = None
    """Colour, 0 to 255 each, to put behind the pieces instead of transparency; bg_color.txt will name it."""
    preset: PresetName | None = None
    """Damage as the world does it, a mixture at random strength; other options override it."""
    strength: float = 0.5
    """How bad the preset's damage is, 0 to 1; the single damages are drawn around it."""
    config: Annotated[ShredConfig, tyro.conf.arg(name="")] = field(default_factory=ShredConfig)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        parse_pages(self.pages)
        if self.key_color is not None and not all(0 <= level <= 255 for level in self.key_color):
            raise ConfigError("The key colour must be three whole numbers from 0 to 255.")
        if not 0 <= self.strength <= 1:
            raise ConfigError(f"strength is {self.strength}; it must be between 0 and 1.")

    def run(self) -> int:
        """Cut and write."""
        if not self.images:
            raise InputError("Name at least one picture to cut.")
        with staged_folder(self.out, TRUTH_FILE) as stage:
            with silent_decoders():
                pages = [page for path in self.images for page in list_pages(path, self.pages)]
                pictures = [read_image(page)[..., :3] for page in pages]
            config = self.config
            if self.preset is not None:
                config = with_preset(config, self.preset, self.strength, np.random.default_rng([self.seed, 1]))
            puzzle, truth = shred_images(pictures, config, np.random.default_rng(self.seed))
            dpis = {read_dpi(page) for page in pages}
            write_pieces(stage, puzzle, self.key_color, dpis.pop() if len(dpis) == 1 else None)
            write_assembly(stage / TRUTH_FILE, truth, puzzle.names())
            if truth.complete:
                write_ground_truth(stage / AUTHORS_TRUTH_FILE, truth, puzzle.names())
        say_notes(puzzle.warnings)
        say(f"{len(puzzle)} pieces and the truth in {self.out}")
        return 0
