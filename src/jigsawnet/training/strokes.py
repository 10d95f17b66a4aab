"""Learning what goes on across a cut: the networks that look along strips, and how likely a join is by what they say."""

from __future__ import annotations

import hashlib
import io
import json
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn

from jigsawnet.io.files import make_folder, read_text, write_bytes, write_text
from jigsawnet.learned import NETWORK_FORMAT, NETWORK_VERSION
from jigsawnet.strips import INSIDE_PX, OUTSIDE_PX
from jigsawnet.training.checkpoints import load_checkpoint, remove_checkpoints, save_checkpoint
from jigsawnet.training.cuts import INK, MASK, PAPER, CutsConfig, make_cuts
from jigsawnet.training.loop import prepare_torch
from jigsawnet.training.straight import make_pages, straight_cuts
from jigsawnet.training.strokes_config import StrokesConfig
from jigsawnet.training.strokes_network import SidePair, contrast
from jigsawnet.types import Progress, UInt8Array, no_progress
from jigsawnet.version import __version__

_OPSET = 17
_HELD_OUT = 16
_MOST_HELD_OUT = 24
"""One example in so many is not trained on, at most the second."""
_RAGGED = 0.3
"""Part of all steps at which the sides are ragged."""
_ROWS = (192, 256)
_SEGMENTS = (24, 48, 96)
"""Rows of vectors whose evidence is summed, or all of them."""
_NEAR, _FAR = (3, -3, 4, -4), (6, 45)
"""Slides that a wrong place may have, in rows of vectors."""
_FRAYED, _DEEPEST_FRAY = 0.35, 4.5
_LARGEST_DEPARTURE = 1e-3
_CHECKED, _CHECKED_ROWS = 5, 1200
"""Seed, and rows of pages, that held-out pages are cut by."""


def learn_strokes(
    photos: Sequence[Path], cuts: CutsConfig, config: StrokesConfig, folder: Path, progress: Progress = no_progress
) -> None:
    """Shred pages, train both networks and write ``strokes.json`` with its ONNX files; an interrupted run goes on.

    Raises:
        ModelError: ``folder`` holds a run with other options or photos.
        OutputError: ``folder`` cannot be written.
    """
    asked = {"options": asdict(config), "cuts": {"pages": cuts.pages, "shredded": cuts.shredded, "seed": cuts.seed}}
    if _is_done(folder / "strokes.json", asked):
        return
    shredded, held = _parted(make_cuts(photos, cuts, folder / "cuts", config.threads, progress))
    pages, kept = _parted(make_pages(photos, cuts, folder / "cuts", config.threads, progress))
    pair, seconds = _train(pages, shredded, config, folder / "networks" / "strokes", progress)
    figures = {
        "hours": round(seconds / 3600, 3), "pages": len(pages), "shredded": len(shredded),
        "right neighbour first": {
            "held-out pages": len(kept), "straight": _first_of_all(pair, _straight_pages(kept)),
            "held-out shredded": len(held), "ragged": _first_of_all(pair, _ragged_pages(held)),
        },
    }  # fmt: skip
    _write(folder, pair, asked | figures)


def _parted(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Files to train on, and the others."""
    held = list(files[::_HELD_OUT])[:_MOST_HELD_OUT]
    return [path for path in files if path not in held], held


def _is_done(path: Path, asked: dict[str, Any]) -> bool:
    """Whether networks of the same options are there already."""
    if not path.is_file():
        return False
    training = json.loads(read_text(path)).get("training", {})
    return all(training.get(name) == value for name, value in asked.items())


def _train(
    pages: Sequence[Path], shredded: Sequence[Path], config: StrokesConfig, folder: Path, progress: Progress
) -> tuple[SidePair, float]:
    prepare_torch(config.threads)
    torch.manual_seed(config.seed)
    pair = SidePair()
    optimizer = torch.optim.AdamW(pair.parameters(), lr=config.learning_rate, weight_decay=1e-4)
    names = hashlib.sha256(json.dumps([path.name for path in (*pages, *shredded)]).encode()).hexdigest()[:16]
    stamp = {**{k: v for k, v in asdict(config).items() if k not in ("checkpoint_every", "threads")}, "data": names}
    make_folder(folder)
    saved = load_checkpoint(folder, stamp)
    first, spent = 0, 0.0
    if saved is not None:
        pair.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first, spent = saved["step"], saved["seconds"]
    started = time.monotonic() - spent
    for step in range(first, config.steps):
        rng = np.random.default_rng([config.seed, step])
        for group in optimizer.param_groups:
            group["lr"] = _rate(config, step)
        loss = _loss(pair, *_sides(pages, shredded, rng), rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(pair.parameters(), 1.0)
        optimizer.step()
        done = step + 1
        if done % config.checkpoint_every == 0 or done == config.steps:
            state = {"model": pair.state_dict(), "optimizer": optimizer.state_dict(), "step": done}
            save_checkpoint(folder, done, state | {"seconds": time.monotonic() - started}, stamp)
        progress("strokes", done, config.steps)
    return pair.eval(), time.monotonic() - started


def _rate(config: StrokesConfig, step: int) -> float:
    warm_up = max(1, config.steps // 20)
    if step < warm_up:
        return config.learning_rate * (step + 1) / warm_up
    return config.learning_rate * 0.5 * (1 + float(np.cos(np.pi * (step - warm_up) / max(1, config.steps - warm_up))))


def _sides(pages: Sequence[Path], shredded: Sequence[Path], rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Both sides of all cuts through a part of one page, either way up."""
    rows = int(rng.choice(_ROWS))
    if rng.random() >= _RAGGED:
        found = straight_cuts(_read_page(pages[int(rng.integers(len(pages)))]), rng, rows)
        if found is not None:
            return torch.from_numpy(found[0]), torch.from_numpy(found[1])
    page = np.load(shredded[int(rng.integers(len(shredded)))], allow_pickle=False)
    start = int(rng.integers(0, page.shape[3] - rows + 1))
    right, left = page[..., start : start + rows, :]
    if rng.random() < 0.5:  # upside down the sides change their roles
        right, left = left[..., ::-1, ::-1], right[..., ::-1, ::-1]
    frays = rng.random() < _FRAYED
    return _varied(unpack(right), True, frays, rng), _varied(unpack(left), False, frays, rng)


def _loss(pair: SidePair, right: Tensor, left: Tensor, rng: np.random.Generator) -> Tensor:
    far = rng.integers(*_FAR, 2) * rng.choice((-1, 1), 2)
    shifts = [0, *rng.choice(_NEAR, 2, replace=False).tolist(), *far.tolist()]
    return contrast(pair, right, left, shifts, int(rng.choice((*_SEGMENTS, right.shape[2] // 4))))


def _read_page(path: Path) -> UInt8Array:
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), np.uint8)


def unpack(side: UInt8Array) -> Tensor:
    """Bands ``(K, 2, H, 40)`` as the networks see them, of those kept as bytes."""
    values = torch.from_numpy(np.ascontiguousarray(side)).float()
    mask = values[:, 1] / MASK
    return torch.stack([(values[:, 0] - PAPER) / INK * mask, mask], 1)


def _varied(band: Tensor, outer_last: bool, frays: bool, rng: np.random.Generator) -> Tensor:
    """Print stronger or fainter, and at times lost at the very edge, to a depth of its own in each row or pixel."""
    ink, mask = band[:, 0] * float(rng.uniform(0.7, 1.4)), band[:, 1]
    if frays:
        solid = (mask > 0.5).float()
        depth = solid.flip(-1).cumsum(-1).flip(-1) if outer_last else solid.cumsum(-1)
        cuts, rows, columns = ink.shape
        deepest = rng.uniform(0, _DEEPEST_FRAY, (cuts, 1, 1)).astype(np.float32)
        part = rng.random((cuts, rows, 1 if rng.random() < 0.5 else columns), np.float32)
        limit = torch.from_numpy(deepest * part + 0.5 * (deepest > 1))
        ink = torch.where(depth <= limit, torch.zeros_like(ink), ink)
    return torch.stack([ink, mask], 1)


def _ragged_pages(files: Sequence[Path]) -> Iterator[tuple[Tensor, Tensor]]:
    for path in files:
        right, left = (unpack(side) for side in np.load(path, allow_pickle=False))
        yield right, left


def _straight_pages(files: Sequence[Path]) -> Iterator[tuple[Tensor, Tensor]]:
    for number, path in enumerate(files):
        found = straight_cuts(_read_page(path), np.random.default_rng([_CHECKED, number]), _CHECKED_ROWS)
        if found is not None:
            yield torch.from_numpy(found[0]), torch.from_numpy(found[1])


def _first_of_all(pair: SidePair, pages: Iterable[tuple[Tensor, Tensor]]) -> float:
    """Part of all sides whose true neighbour has the most evidence of all of its page, upright and slid by up to 24 px."""
    found = []
    with torch.inference_mode():
        for right, left in pages:
            f, g = pair.right(right), pair.left(left)
            slides = [torch.einsum("kyd,lyd->kl", f, torch.roll(g, -d, 1)) for d in range(-12, 13)]
            evidence, at = torch.stack(slides).amax(0), torch.arange(len(f))
            found += [(evidence.argmax(axis) == at).float().mean().item() for axis in (0, 1)]
    return round(float(np.mean(found)), 4) if found else 0.0


def _write(folder: Path, pair: SidePair, training: dict[str, Any]) -> None:
    files = []
    for number, network in enumerate(pair.scaled(), start=1):
        data, departure = _to_onnx(network)
        name = f"strokes-{number}.onnx"
        write_bytes(folder / name, data)
        files.append({"name": name, "sha256": hashlib.sha256(data).hexdigest(), "departure": departure})
    manifest = {
        "format": NETWORK_FORMAT, "version": NETWORK_VERSION, "jigsawnet": __version__, "network": "strokes",
        "alphas": [1.0, 1.0], "files": files, "training": training,
    }  # fmt: skip
    write_text(folder / "strokes.json", json.dumps(manifest, indent=1, default=str) + "\n")
    remove_checkpoints(folder / "networks" / "strokes")


def _to_onnx(network: nn.Module) -> tuple[bytes, float]:
    """The model for any number and height of bands, and how far it departs from PyTorch's answers on noise."""
    sample = torch.rand(2, 2, 101, OUTSIDE_PX + INSIDE_PX, generator=torch.Generator().manual_seed(0))
    buffer: Any = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, (sample,), buffer, input_names=["band"], output_names=["vectors"], opset_version=_OPSET, dynamo=False,
            dynamic_axes={"band": {0: "batch", 2: "rows"}, "vectors": {0: "batch", 1: "rows"}},
        )  # fmt: skip
    data = buffer.getvalue()
    onnx.checker.check_model(onnx.load_from_string(data))
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    with torch.inference_mode():
        departure = float(np.abs(session.run(None, {"band": sample.numpy()})[0] - network(sample).numpy()).max())
    if departure > _LARGEST_DEPARTURE:
        raise RuntimeError(f"the exported network departs by {departure}")
    return data, departure
