"""``jigsawnet train``."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Out, progress_bars, say, say_notes
from jigsawnet.errors import InputError
from jigsawnet.io.images import silent_decoders
from jigsawnet.io.pieces import list_pictures
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import Examples, ExamplesConfig, make_examples

_NEEDED = {"torch": "PyTorch", "onnx": "onnx", "matplotlib": "matplotlib"}


@dataclass(frozen=True, slots=True)
class Train:
    """Train the detector that tells right joins from wrong ones, on puzzles cut from a folder of photographs.

    Started again with the same options after an interruption, it goes on from its last checkpoint, to the same result.
    """

    photos: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PHOTOS")]
    """Folder of photographs to cut; two at least, better forty."""
    out: Out
    """Folder for the run: the weights (*.onnx and their *.json), curves.png, history.csv, model-card.md, and checkpoints."""
    config: Annotated[TrainConfig, tyro.conf.arg(name="")] = field(default_factory=TrainConfig)
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)

    def run(self) -> int:
        """Train and write."""
        for module, name in _NEEDED.items():
            if find_spec(module) is None:
                raise InputError(f"Training needs {name}: pip install 'jigsawnet[train]'.")
        from jigsawnet.training.run import CARD_FILE, train_and_write  # noqa: PLC0415 - loads PyTorch

        with progress_bars() as progress:
            with silent_decoders():
                examples = make_examples(self.photos, self.examples, self.out / "examples", progress)
            say_notes(self._broken(examples))
            trained = train_and_write(examples, self.examples, self.config, self.out, progress)
        scores, hours = trained.ensemble, trained.seconds / 3600
        say(f"{self.config.learners} x {self.config.network} trained in {hours:.2f} h")
        say(
            f"held-out puzzles: average precision {scores.average_precision:.4f}, "
            f"precision {scores.precision:.1%}, recall {scores.recall:.1%}"
        )
        for name in (f"{self.config.network}.json", "curves.png", CARD_FILE):
            say(f"  {self.out / name}")
        return 0

    def _broken(self, examples: Examples) -> list[str]:
        """A sentence for each picture in the folder that was passed over."""
        names = [path.name for path in list_pictures(self.photos)]
        return [f"{name} cannot be read as a picture and was left out." for name in names if name not in examples.photos]
