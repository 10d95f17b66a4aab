"""``jigsawnet train``."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Out, progress_bars, say, say_notes
from jigsawnet.errors import InputError
from jigsawnet.learned import CARD, MANIFEST, load_learned
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import ExamplesConfig, usable_photos
from jigsawnet.training.fits import FitsConfig
from jigsawnet.training.run import STEPS, Plan, StepName, learn

_NEEDED = {"torch": "PyTorch", "onnx": "onnx", "matplotlib": "matplotlib"}


@dataclass(frozen=True, slots=True)
class Train:
    """Learn to tell right joins from wrong ones, on puzzles cut from a folder of photographs.

    Writes a folder of weights that solve can use: a network that is trained, the coefficients that are fitted with it, and all
    else from the base. Started again with the same options after an interruption, it goes on, to the same result.
    """

    photos: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PHOTOS")]
    """Folder of photographs to cut; two at least, better forty."""
    out: Out
    """Folder for everything learned: bundle.json, the networks (*.onnx) and coefficients (*.json) that it lists, model-card.md;
    beside them curves.png, history.csv, and what an interrupted run needs to go on."""
    parts: tuple[StepName, ...] = STEPS
    """What is learned anew, each with what the earlier ones gave; the rest is taken from the base."""
    base: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder written by an earlier training, to take the rest from; by default what comes with jigsawnet."""
    config: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    fits: FitsConfig = field(default_factory=FitsConfig)

    def run(self) -> int:
        """Learn and write."""
        for module, name in _NEEDED.items() if "network" in self.parts else ():
            if find_spec(module) is None:
                raise InputError(f"Training needs {name}: pip install 'jigsawnet[train]'.")
        base = load_learned(self.base)
        plan = Plan(self.parts, self.config, self.examples, self.fits)
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
