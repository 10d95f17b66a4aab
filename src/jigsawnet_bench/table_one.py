"""The paper's Table I: Baseline, Boost, RoI and Boost+RoI on all of Zhang's candidates, in the paper's proportions.

Beside them stand the rule of the authors' code, and the plain mean of five networks, which tells boosting from averaging. Of
large puzzles all right candidates and a random part of the wrong ones are looked at, each of which then stands for several.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.evaluation.detect_metrics import average_precision, count_decisions, precision_recall
from jigsawnet.io.files import make_folder, read_text
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.learned import Learned, Weights, load_learned, read_network
from jigsawnet.score.detectors import Detector
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet.score.views import SeamViews
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.training.examples import read_part, write_part
from jigsawnet.training.imbalance import all_candidates
from jigsawnet.training.solving import look
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Progress, no_progress
from jigsawnet_bench.decisions import convergence_rows
from jigsawnet_bench.learners import EXAMPLES, FOLDER
from jigsawnet_bench.networks import THRESHOLD, Ensemble
from jigsawnet_bench.paper import TABLE_ONE
from jigsawnet_bench.plots import finish, panels, plot_convergence
from jigsawnet_bench.results import EXPERIMENT, Results, Row, write_results
from jigsawnet_bench.tables import Table, table_of

NAME, CONVERGENCE = "table-1", "table-1-convergence"
RECALLS = (0.96, 0.97, 0.98)
_LOT = 64


@dataclass(frozen=True, slots=True)
class Cut:
    """Puzzles of one size: in which part of the table they count, how many, and the part of wrong candidates looked at."""

    part: str
    pieces: int
    puzzles: int
    share: float


CUTS = (
    Cut("36 and 100 pieces", 36, 10, 1.0),
    Cut("36 and 100 pieces", 100, 10, 0.5),
    Cut("400 pieces", 400, 5, 0.1),
)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """C candidates: ``right (C,)``, how many candidates each stands for ``(C,)``, probabilities ``(C,)`` by network file."""

    part: str
    right: BoolArray
    each: FloatArray
    said: Mapping[str, Float32Array]


@dataclass(frozen=True, slots=True)
class Voters:
    """A row of the table: networks by their checksums, and their say; several of equal say are averaged."""

    name: str
    networks: tuple[str, ...]
    alphas: tuple[float, ...]
    votes: bool
    """True: decides by the sign of the sum of ``alpha`` or ``-alpha``; False: by the mean probability."""

    def judge(self, judged: Judged) -> tuple[FloatArray, BoolArray]:
        """Score ``(C,)`` that ranks, and decisions ``(C,)``."""
        said = np.stack([judged.said[name] for name in self.networks]).astype(np.float64)
        shares = np.array(self.alphas) / sum(self.alphas)
        score = shares @ said
        return score, shares @ np.where(said >= THRESHOLD, 1.0, -1.0) > 0 if self.votes else score >= THRESHOLD


def measure_table(
    photos: Path, out: Path, work: Path, most: int | None, command: str, progress: Progress = no_progress,
    largest: int | None = None,
) -> Table:  # fmt: skip
    """Judge the candidates of puzzles cut from ``photos`` by all networks that are there; write JSON, Markdown and curves.

    ``most`` puzzles of each size at most, none with more than ``largest`` pieces. What a network said of a puzzle is kept
    under ``work``. How the losses fell, with RoI and without, is drawn and written beside the table.
    """
    series = load_series(out / FOLDER)
    sessions = {entry["sha256"]: session for each in series.values() for entry, session in _files(each)}
    pictures, learned = list_pictures(photos), load_learned()
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs that were not trained on.")
    cuts = [cut for cut in CUTS if largest is None or cut.pieces <= largest]
    if not cuts:
        raise InputError(f"All puzzles of Table I have more than {largest} pieces; nothing is left to do.")
    jobs = [(cut, number) for cut in cuts for number in range(min(cut.puzzles, most or cut.puzzles))]
    judged = []
    for done, (cut, number) in enumerate(jobs):
        photo = pictures[number * len(pictures) // cut.puzzles % len(pictures)]
        judged.append(judge_puzzle(photo, cut, number, sessions, learned, work))
        progress("table 1", done + 1, len(jobs))
    rows = [row for part in dict.fromkeys(each.part for each in judged) for row in part_rows(part, judged, detectors(series))]
    title = "The paper's Table I: all of Zhang's candidates, in the paper's proportions"
    results = Results(NAME, title, command, 1, rows, rows, format=EXPERIMENT)
    write_results(out, results)
    table = table_of(NAME, rows, "Recall is of the right candidates that the matcher found. " + results.where)
    (out / f"{NAME}.md").write_text(f"# {title}\n\n`{command}`\n\n{table.markdown()}\n\n{table.note}\n", encoding="utf-8")
    plot_table(judged, detectors(series), out / f"{NAME}.png")
    _write_convergence(series, out, command)
    return table


def _write_convergence(series: Mapping[str, Weights], out: Path, command: str) -> None:
    """Loss by step of the boosted networks, or of those there are, without RoI and with it."""
    shown = {name.split("-")[0]: weights for name, weights in sorted(series.items(), reverse=True)}
    ensembles = [Ensemble(Detector(weights), _history(out / FOLDER, weights)) for weights in shown.values()]
    rows, summary = convergence_rows(ensembles)
    title = "How the losses of the paper's networks fell"
    write_results(out, Results(CONVERGENCE, title, command, 1, summary, rows, format=EXPERIMENT))
    plot_convergence(ensembles, out / f"{CONVERGENCE}.png")


def _history(folder: Path, weights: Weights) -> list[dict[str, float]]:
    """The rows of the records beside the networks of a series."""
    records = [(folder / entry["name"]).with_suffix(".json") for entry, _ in _files(weights)]
    return [row for path in records if path.is_file() for row in json.loads(read_text(path))["history"]]


def load_series(folder: Path) -> dict[str, Weights]:
    """The series that were begun, by name.

    Raises:
        InputError: there is none.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if path.stem.count("-") == 1]
    if not paths:
        raise InputError(f"{folder} holds no networks; train them with `jigsawnet bench learners`.")
    return {path.stem: read_network(path).load() for path in paths}


def detectors(series: Mapping[str, Weights]) -> list[Voters]:
    """The rows: the first network alone, the vote by each rule, the plain mean; without RoI, then with it."""
    rows = []
    for kind, suffix in (("pool", ""), ("roi", "+RoI")):
        own = {name.split("-")[1]: weights for name, weights in series.items() if name.startswith(kind)}
        names = {"paper": f"Boost{suffix}", "code": f"Boost{suffix}, authors' code", "plain": f"Mean of five{suffix}"}
        if own:
            first = next(iter(own.values())).manifest["files"][0]["sha256"]
            rows.append(Voters("RoI" if suffix else "Baseline", (first,), (1.0,), votes=False))
        for rule, name in names.items():
            if rule in own and len(own[rule].alphas) > 1:
                files = tuple(entry["sha256"] for entry, _ in _files(own[rule]))
                rows.append(Voters(name, files, own[rule].alphas, votes=rule != "plain"))
    return rows


def judge_puzzle(photo: Path, cut: Cut, number: int, sessions: Mapping[str, Any], learned: Learned, work: Path) -> Judged:
    """All right and some wrong candidates of one puzzle, seen by all networks; none is asked again for what is kept."""
    key = [photo.name, photo.stat().st_size, cut.pieces, number, cut.share, EXAMPLES.matches_per_pair, learned.digest_of("fit")]
    path = work / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]}.npz"
    known = read_part(path, ("right", "each"))
    seen = _answers(path, sessions) if known else {}
    missing = [name for name in sessions if name not in seen]
    if known is None or missing:
        rng = np.random.default_rng([cut.pieces, number])
        puzzle, truth = shred_images([read_image(photo)[..., :3]], ShredConfig(pieces=cut.pieces), rng)
        rows, right = all_candidates(puzzle, truth, learned, EXAMPLES.matches_per_pair)
        chosen = np.flatnonzero(right | (rng.random(len(right)) < cut.share))
        each = np.where(right[chosen], 1.0, ((~right).sum()) / max(1, (~right[chosen]).sum()))
        views = SeamViews(*look(puzzle, learned), rows.take(chosen))
        known = {"right": right[chosen], "each": each}
        seen |= _ask({name: sessions[name] for name in missing}, views, EXAMPLES.picture)
        make_folder(work)
        write_part(path, {**known, **seen})
    return Judged(cut.part, known["right"], known["each"], seen)


def part_rows(part: str, judged: Sequence[Judged], rows: Sequence[Voters]) -> list[Row]:
    """One row for each detector over all puzzles of a part, with the paper's precision and recall where it has them."""
    own = [each for each in judged if each.part == part]
    right, each = (np.concatenate([getattr(one, name) for one in own]) for name in ("right", "each"))
    found: list[Row] = []
    first: dict[bool, BoolArray] = {}
    for detector in rows:
        parts = [detector.judge(one) for one in own]
        score, said = (np.concatenate(column) for column in zip(*parts, strict=True))
        alone = first.setdefault("RoI" in detector.name, said)
        counts = count_decisions(said, right, each)
        precision, recall = precision_recall(score, right, each)
        changed = said != alone
        paper = TABLE_ONE.get((part, detector.name))
        found.append({
            "puzzles": f"{len(own)} of {part}", "detector": detector.name, "networks": len(detector.networks),
            "right, %": round(100 * float(right.sum() / each.sum()), 2),
            "tp": counts.tp, "tn": counts.tn, "fp": counts.fp, "fn": counts.fn,
            "precision": round(counts.precision, 4), "recall": round(counts.recall, 4),
            "average precision": round(average_precision(score, right, each), 4),
            **{f"precision at recall {100 * r:g} %": round(float(precision[recall >= r - 1e-12].max()), 4) for r in RECALLS},
            "overruled": round(float(each[changed].sum())),
            "for the better": round(float(each[changed & (said == right)].sum())),
            "paper's precision": paper and paper.precision, "paper's recall": paper and paper.recall,
        })  # fmt: skip
    return found


def plot_table(judged: Sequence[Judged], rows: Sequence[Voters], path: Path) -> None:
    """Precision over recall, a panel for each part of the table."""
    parts = list(dict.fromkeys(each.part for each in judged))
    figure, axes = panels(len(parts))
    for axis, part in zip(axes, parts, strict=True):
        own = [each for each in judged if each.part == part]
        right, each = (np.concatenate([getattr(one, name) for one in own]) for name in ("right", "each"))
        for detector in rows:
            precision, recall = precision_recall(np.concatenate([detector.judge(one)[0] for one in own]), right, each)
            color = "#0072B2" if "RoI" in detector.name else "#E69F00"
            dashes = "-" if "Boost" in detector.name else "--" if "Mean" in detector.name else ":"
            axis.plot(
                100 * recall, 100 * precision, "-." if "code" in detector.name else dashes, color=color, label=detector.name
            )
        axis.set(title=part, xlabel="recall, %", ylabel="precision, %", xlim=(60, 100.5), ylim=(0, 103))
    finish(figure, axes, path)


def _files(weights: Weights) -> list[tuple[Mapping[str, Any], Any]]:
    return list(zip(weights.manifest["files"], weights.sessions, strict=True))


def _answers(path: Path, sessions: Mapping[str, Any]) -> dict[str, Float32Array]:
    """What is kept of what these networks said."""
    seen = {}
    for name in sessions:
        part = read_part(path, (name,))
        seen.update(part or {})
    return seen


def _ask(sessions: Mapping[str, Any], views: SeamViews, picture: PictureConfig) -> dict[str, Float32Array]:
    """Probabilities ``(C,)`` by network; 0 where the borders do not meet, so that there is nothing to see."""
    said = {name: np.zeros(len(views), np.float32) for name in sessions}
    met = np.flatnonzero(views.met)
    for start in range(0, len(met), _LOT):
        rows = met[start : start + _LOT]
        pictures, rois = views.pictures(rows, picture)
        inputs = {"picture": pictures, "roi": rois}
        for name, session in sessions.items():
            wanted = {node.name: inputs[node.name] for node in session.get_inputs()}
            said[name][rows] = session.run(None, wanted)[0].reshape(-1)
    return said
