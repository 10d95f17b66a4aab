"""Fitting of the coefficients: one penalised logistic regression, on whatever puzzles and rows `FITS` names.

Some puzzles check what the others gave, then all of them make the coefficients. What was measured on a puzzle is kept in a file
of its own, so that an interrupted fit goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from scipy.optimize import minimize

from jigsawnet.errors import ConfigError, ModelError
from jigsawnet.io.files import make_folder, write_text
from jigsawnet.learned import Learned, Logistic
from jigsawnet.shred.documents import Typefaces
from jigsawnet.training.examples import Columns, read_part, write_part
from jigsawnet.training.fit_kinds import FITS, Case, Fit, FitName
from jigsawnet.types import BoolArray, FloatArray, Progress, no_progress

_STEPS = 800
"""Of the minimiser, at most."""


@dataclass(frozen=True, slots=True)
class FitsConfig:
    """Puzzles that the coefficients are fitted on."""

    puzzles: int = 0
    """Puzzles for each regression, spread over its list; 0 takes the whole list, as for the coefficients in the package."""
    largest: int = 400
    """Most pieces of a puzzle."""
    fonts: tuple[Path, ...] = ()
    """Folders of font files to print documents with, for `lines`; without any, one Latin font."""

    def __post_init__(self) -> None:
        if self.puzzles < 0 or self.puzzles == 1 or self.largest < 4:
            raise ConfigError("Fits need two puzzles of four pieces; fits.puzzles 0 takes the whole list.")


def fit_part(
    name: FitName, photos: Sequence[Path], learned: Learned, config: FitsConfig, folder: Path, progress: Progress = no_progress
) -> tuple[Logistic, str]:
    """Fit one regression with the rest of ``learned`` as it is; writes ``folder/NAME.json``, or keeps one that is the same.

    Gives the coefficients, and a sentence where there was too little to learn from and those of ``learned`` were kept, else "".

    Raises:
        OutputError: ``folder`` cannot be written.
    """
    fit, before = FITS[name], getattr(learned, name)
    cases = fit.plan(sorted(photos), config.puzzles, config.largest, config.fonts)
    digest = learned.digest_of(*fit.needs)
    keys = [_key(name, case, digest) for case in cases]
    key, path = hashlib.sha256("".join([*keys, str(fit.penalty)]).encode()).hexdigest()[:16], folder / f"{name}.json"
    kept = _read_kept(path, key, type(before))
    if kept is not None:
        return kept, ""
    make_folder(folder / "fits")
    parts = []
    for done, (case, case_key) in enumerate(zip(cases, keys, strict=True), start=1):
        file = folder / "fits" / f"{name}-{case_key}.npz"
        part = read_part(file, fit.columns)
        if part is None:
            part = fit.measure(case, learned)
            write_part(file, part)
        parts.append(part)
        progress(fit.title, done, len(cases))
    right = np.concatenate([part["right"] for part in parts])
    if right.all() or not right.any():
        missing = "wrong" if right.any() else "right"
        return before, f"The puzzles hold no {missing} joins to fit {name} on; its coefficients were kept as they were."
    half = [k for k in range(len(cases)) if not fit.checks(k)]
    checked = [k for k in range(len(cases)) if fit.checks(k)]
    check = fit.figures(_regress(fit, [parts[k] for k in half]), [(cases[k], parts[k]) for k in checked])
    found = _regress(fit, parts)
    record = {"key": key, "puzzles": len(cases), "rows": len(right), "right": int(right.sum()), "penalty": fit.penalty}
    content = {**dataclasses.asdict(before), **dataclasses.asdict(found), "training": {**record, "held_out": check}}
    write_text(path, json.dumps(content, indent=1) + "\n")
    return dataclasses.replace(before, bias=found.bias, weights=found.weights), ""


def _key(name: str, case: Case, learned: str) -> str:
    photos = [(path.name, path.stat().st_size) for path in case.photos]
    text = json.dumps(
        [name, 4 if name == "confidence" else 1, case.shred.record(), photos, case.page_seed, case.seed, learned]
        + ([case.squares] if case.squares else [])
        + ([Typefaces.find(case.fonts).names()] if case.fonts is not None else []),
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_kept(path: Path, key: str, kind: type[Logistic]) -> Logistic | None:
    try:
        content = msgspec.json.decode(path.read_bytes())
        return msgspec.convert(content, kind) if content["training"]["key"] == key else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError):
        return None


def _regress(fit: Fit, parts: Sequence[Columns]) -> Logistic:
    terms, right, weight = (np.concatenate(column) for column in zip(*map(fit.rows, parts), strict=True))
    return regress(terms, right, weight, fit.penalty, fit.digits)


def regress(terms: FloatArray, right: BoolArray, weight: FloatArray, penalty: float, digits: int) -> Logistic:
    """Weighted, lightly penalised logistic regression of ``right (R,)`` on raw ``terms (R, T)``, rounded."""
    mean, scale = terms.mean(0), terms.std(0) + 1e-9
    z, total = (terms - mean) / scale, weight.sum()

    def loss(b: FloatArray) -> tuple[float, FloatArray]:
        logit = z @ b[1:] + b[0]
        with np.errstate(over="ignore"):
            error = weight * (1 / (1 + np.exp(-logit)) - right)
        value = (weight * (np.logaddexp(0, logit) - right * logit)).sum() / total + penalty * (b[1:] ** 2).sum()
        return float(value), np.r_[error.sum(), z.T @ error] / total + np.r_[0, 2 * penalty * b[1:]]

    b = minimize(loss, np.zeros(z.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    weights = b[1:] / scale
    bias = float(b[0] - weights @ mean)
    if not np.isfinite([bias, *weights]).all():
        raise ModelError("The coefficients do not settle on these puzzles; give more photos or more puzzles.")
    return Logistic(float(f"{bias:.6g}"), tuple(float(f"{value:.{digits}g}") for value in weights))
