"""A contact sheet: the worst puzzles of a suite, one below the other, so that failures can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from jigsawnet.errors import InputError
from jigsawnet.evaluation.suites.methods import OURS
from jigsawnet.evaluation.suites.records import thumbnail_path
from jigsawnet.evaluation.suites.runner import Run
from jigsawnet.io.images import read_image
from jigsawnet.types import UInt8Array

MOST = 24
_LABEL_PX = 26
_JPEG_QUALITY = 80
_LEGEND = "pieces · result · truth; outlined: in a wrong place (orange) or left out (blue)"


def shown_method(runs: Sequence[Run]) -> str:
    """The method that is looked at: ours, or the last one."""
    methods = list(dict.fromkeys(run.method for run in runs))
    return OURS if OURS in methods else methods[-1]


def worst_first(runs: Sequence[Run]) -> list[Run]:
    """Solved puzzles of one method, the one with most pieces in wrong places first; each puzzle once."""
    solved = {run.key: run for run in runs if run.record.error is None}
    return sorted(
        solved.values(), key=lambda run: (run.record.measured["pcr"], run.record.measured["pcr_tight"], run.case.title)
    )


def write_contact_sheet(runs: Sequence[Run], work: Path, path: Path) -> None:
    """Stack the pictures of the worst runs of the method looked at, each with a line above, as a JPEG; ``work`` holds them."""
    method = shown_method(runs)
    chosen = worst_first([run for run in runs if run.method == method])[:MOST]
    rows: list[UInt8Array] = []
    for run in chosen:
        try:
            strip = read_image(thumbnail_path(work, run.key))[..., :3]
        except InputError:
            continue  # the working folder was emptied in part
        rows += [_label(_line(run), strip.shape[1]), strip]
    if rows:
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet = np.vstack([_label(f"{method}: {_LEGEND}", rows[0].shape[1]), *rows])
        Image.fromarray(sheet).save(path, quality=_JPEG_QUALITY)


def _line(run: Run) -> str:
    measured = run.record.measured
    figures = f"PCR {100 * measured['pcr']:.1f} %, tight {100 * measured['pcr_tight']:.1f} %"
    return f"{run.case.group.kind.name} · {run.case.title} · seed {run.case.number} · {figures}"


def _label(text: str, width: int) -> UInt8Array:
    """A line of text on white, ``(_LABEL_PX, width, 3)``."""
    strip = Image.new("RGB", (width, _LABEL_PX), (255, 255, 255))
    ImageDraw.Draw(strip).text((6, 5), text, font=ImageFont.load_default(15), fill=(20, 20, 20))
    return np.asarray(strip, dtype=np.uint8).copy()
