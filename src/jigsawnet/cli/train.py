"""``jigsawnet train``."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Command, Out, progress_bars, say, say_notes
from jigsawnet.errors import InputError
from jigsawnet.learned import CARD, MANIFEST, load_learned
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.cuts import CutsConfig
from jigsawnet.training.examples import ExamplesConfig, usable_photos
from jigsawnet.training.fit_strips import StripFitConfig
from jigsawnet.training.fits import FitsConfig
from jigsawnet.training.run import FROM_PHOTOS, Plan, StepName, learn
from jigsawnet.training.strokes_config import StrokesConfig

_NEEDED = {"torch": "PyTorch", "onnx": "onnx", "matplotlib": "matplotlib"}


@dataclass(frozen=True, slots=True)
class Train(Command):
    """Learn to tell right joins from wrong ones, on puzzles cut from a folder of photographs.

    Writes a folder of weights that solve can use: a network that is trained, the coefficients that are fitted with it, and all
    else from the base. Started again with the same options after an interruption, it goes on, to the same result.
    """

    photos: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PHOTOS")]
    """Folder of photographs to cut; two at least, better forty."""
    out: Out
    """Folder for everything learned: bundle.json, the networks (*.onnx) and coefficients (*.json) that it lists, model-card.md;
    beside them curves.png, history.csv, and what an interrupted run needs to go on."""
    parts: tuple[StepName, ...] = FROM_PHOTOS
    """What is learned anew, each with what the earlier ones gave; the rest is taken from the base. strokes and strips, for what
    comes out of a shredder, are learned from documents that are made up."""
    base: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder written by an earlier training, to take the rest from; by default what comes with jigsawnet."""
    config: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    fits: FitsConfig = field(default_factory=FitsConfig)
    cuts: CutsConfig = field(default_factory=CutsConfig)
    strokes: StrokesConfig = field(default_factory=StrokesConfig)
    strip_fit: StripFitConfig = field(default_factory=StripFitConfig)

    def run(self) -> int:
        """Learn and write."""
        for module, name in _NEEDED.items() if {"network", "strokes"} & set(self.parts) else ():
            if find_spec(module) is None:
                raise InputError(f"Training needs {name}: pip install 'jigsawnet[train]'.")
        base = load_learned(self.base)
        plan = Plan(self.parts, self.config, self.examples, self.fits, self.cuts, self.strokes, self.strip_fit)
        photos, broken = usable_photos(self.photos)
        say_notes(broken)
        with progress_bars() as progress:
            outcome = learn(photos, plan, base, self.out, progress)
        say_notes(outcome.notes)
        if outcome.trained is not None:
            scores, hours = outcome.trained.ensemble, outcome.trained.seconds / 3600
            say(f"{self.config.learners} x {self.config.network} trained in {hours:.2f} h")
            say(
                f"held-out puzzles: average precision {scores.average_precision:.4f}, "
                f"precision {scores.precision:.1%}, recall {scores.recall:.1%}"
            )
            say(f"  {self.out / 'curves.png'}")
        for name in (MANIFEST, CARD):
            say(f"  {self.out / name}")
        return 0
