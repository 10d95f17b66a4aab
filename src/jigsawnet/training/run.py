"""The whole training in its order: seam fit → network → combined score → confidence → one folder with everything learned."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError, ModelError, OutputError
from jigsawnet.io.files import make_folder, write_bytes, write_text
from jigsawnet.learned import CARD, FORMAT, MANIFEST, NETWORKS, PARTS, VERSION, Learned, PartName, load_learned, read_network
from jigsawnet.shred.documents import Typefaces
from jigsawnet.training.card import describe_examples, model_card, write_curves, write_history
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.cuts import CutsConfig
from jigsawnet.training.examples import Examples, ExamplesConfig, make_examples
from jigsawnet.training.fit_kinds import FitName
from jigsawnet.training.fit_strips import StripFitConfig, fit_strips
from jigsawnet.training.fits import FitsConfig, fit_part
from jigsawnet.training.strokes_config import StrokesConfig
from jigsawnet.types import Progress, no_progress
from jigsawnet.version import __version__

if TYPE_CHECKING:
    from jigsawnet.training.train import Trained

StepName = Literal["fit", "contact", "network", "strokes", "strips", "combined", "touching", "lines", "confidence"]
STEPS: tuple[StepName, ...] = ("fit", "contact", "network", "strokes", "strips", "combined", "touching", "lines", "confidence")
"""In this order: each is learned with what those before it gave."""
FROM_PHOTOS: tuple[StepName, ...] = tuple(step for step in STEPS if step not in ("strokes", "strips"))
"""What is learned from photographs; the others take documents that are made up."""
NETWORKS_FOLDER = "networks"
_COMPARED = 256
"""Held-out examples on which the weights in the file are compared with the trained ones."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is learned, and how."""

    steps: tuple[StepName, ...] = FROM_PHOTOS
    network: TrainConfig = field(default_factory=TrainConfig)
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    fits: FitsConfig = field(default_factory=FitsConfig)
    cuts: CutsConfig = field(default_factory=CutsConfig)
    strokes: StrokesConfig = field(default_factory=StrokesConfig)
    strip_fit: StripFitConfig = field(default_factory=StripFitConfig)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The finished bundle, the trained networks if there are any, and what a person should know."""

    learned: Learned
    trained: Trained | None
    notes: tuple[str, ...]


def learn(photos: Sequence[Path], plan: Plan, base: Learned, folder: Path, progress: Progress = no_progress) -> Outcome:
    """Learn the steps of ``plan`` from photographs, take the rest from ``base``, and write ``folder``.

    An interrupted run goes on when it is started again: every finished part, and every puzzle that was measured, is kept.
    ``bundle.json`` comes last, so that a folder which has it is whole.

    Raises:
        InputError: the photographs give no right joins, no wrong joins or no held-out puzzles.
        ConfigError: ``folder`` is that of the base, or holds parts of another training that ``plan`` does not learn.
        ModelError: ``folder`` holds a run with other options or photos, or the base is damaged.
        OutputError: ``folder`` cannot be written.
    """
    if folder.resolve() == base.folder.resolve():
        raise ConfigError(f"{folder} is the base itself; give another folder for what is learned from it.")
    planned: set[str] = {plan.network.network if step == "network" else step for step in plan.steps}
    for part in PARTS:
        path = folder / f"{part}.json"
        if part not in planned and path.exists() and _bytes_of(path) != _bytes_of(base.folder / path.name):
            raise ConfigError(f"{path} is not that of the base and would be lost; take {folder} as the base of another folder.")
    make_folder(folder)
    _remove(folder / MANIFEST)
    learned, fresh, notes, trained = base, list[PartName](), list[str](), None
    for step in (step for step in STEPS if step in plan.steps):
        if step == "network":
            examples = make_examples(photos, plan.examples, learned, folder / "examples", progress)
            trained = train_and_write(examples, plan.examples, plan.network, folder, progress)
            name = plan.network.network
            networks = {**learned.networks, name: read_network(folder / f"{name}.json")}
            learned, fresh = dataclasses.replace(learned, networks=networks), [*fresh, name]
        elif step == "strokes":
            from jigsawnet.training.strokes import learn_strokes  # noqa: PLC0415 - loads PyTorch

            learn_strokes(photos, plan.cuts, plan.strokes, folder, progress)
            networks = {**learned.networks, step: read_network(folder / f"{step}.json")}
            learned, fresh = dataclasses.replace(learned, networks=networks), [*fresh, step]
        elif step == "strips":
            found = fit_strips(photos, plan.cuts, plan.strip_fit, learned, folder, progress)
            learned, fresh = dataclasses.replace(learned, strips=found), [*fresh, step]
        else:
            found, note = fit_part(step, photos, learned, plan.fits, folder, progress)
            if note:
                notes.append(note)
            else:
                learned, fresh = _with_fit(learned, step, found), [*fresh, step]
    return Outcome(write_bundle(folder, base, fresh), trained, tuple(notes))


def _with_fit(learned: Learned, name: FitName, found: Any) -> Learned:
    return dataclasses.replace(learned, **{name: found})


def write_bundle(folder: Path, base: Learned, fresh: Sequence[PartName]) -> Learned:
    """Put what ``base`` has beside the ``fresh`` parts of ``folder``, with the card and, last, the manifest; reads it back.

    Raises:
        ModelError: the base is damaged.
        OutputError: ``folder`` cannot be written.
    """
    names, parts = [CARD], {}
    for part in PARTS:
        file = f"{part}.json"
        if part not in fresh:
            write_bytes(folder / file, _bytes_of(base.folder / file))
        parts[part] = json.loads(_bytes_of(folder / file))
        names.append(file)
        if part in NETWORKS:
            for entry in parts[part]["files"]:
                if part not in fresh:
                    write_bytes(folder / entry["name"], base.networks[part].read(entry["name"]))
                names.append(entry["name"])
    write_text(folder / CARD, model_card(parts, fresh))
    files = {name: hashlib.sha256(_bytes_of(folder / name)).hexdigest() for name in sorted(names)}
    manifest = {"format": FORMAT, "version": VERSION, "jigsawnet": __version__, "files": files}
    write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
    return load_learned(folder)


def train_and_write(
    examples: Examples, examples_config: ExamplesConfig, config: TrainConfig, folder: Path, progress: Progress = no_progress
) -> Trained:
    """Train networks on ``examples`` and write history, curves and, last, the weights; an interrupted run goes on.

    Raises:
        InputError: the examples lack right joins, wrong joins or held-out puzzles.
        ModelError: ``folder`` holds a run with other options or photos.
        OutputError: ``folder`` cannot be written.
    """
    from jigsawnet.training.export import write_weights  # noqa: PLC0415 - loads PyTorch
    from jigsawnet.training.train import train  # noqa: PLC0415

    trained, name = train(examples, config, folder / NETWORKS_FOLDER, progress), config.network
    write_history(folder, trained.history)
    write_curves(folder / "curves.png", trained.history, f"{name}: training and held-out puzzles")
    about: dict[str, Any] = {"network": name, "reject_below": trained.reject_below}
    rows = np.flatnonzero(examples.held_out)[:_COMPARED]
    samples: dict[str, NDArray[Any]] = {"band": np.ascontiguousarray(examples.images(name)[rows])}
    if name == "jigsawnet":
        about["picture"] = asdict(examples_config.picture)
        samples = {"picture": examples.pictures[rows], "roi": examples.rois[rows]}
    about["training"] = {
        "options": asdict(config),
        "examples": asdict(replace(examples_config, fonts=())) | {"fonts": len(Typefaces.find(examples_config.fonts).names())},
        "data": describe_examples(examples, trained.rows),
        "hours": round(trained.seconds / 3600, 3),
        "errors": list(trained.errors),
        "held_out": {"networks": [asdict(scores) for scores in trained.scores], "ensemble": asdict(trained.ensemble)},
        "held_out_puzzles": Counter(examples.case[k] for k in sorted(set(examples.puzzle[examples.held_out].tolist()))),
    }
    write_weights(folder, name, trained.networks, trained.alphas, samples, about)
    return trained


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be replaced: {error.strerror or error}.") from error
