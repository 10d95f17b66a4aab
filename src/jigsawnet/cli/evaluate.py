"""``jigsawnet eval``."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from jigsawnet.candidates import Candidates
from jigsawnet.cli.console import Command, Flag, answer
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import candidate_recall, evaluate
from jigsawnet.evaluation.reliability import confidence_bins
from jigsawnet.io.assembly_json import CANDIDATES_FILE, read_assembly, read_choices
from jigsawnet.io.files import RESULT_FILE
from jigsawnet.io.images import silent_decoders
from jigsawnet.io.truth import read_truth
from jigsawnet.loading import load_puzzle
from jigsawnet.types import Join


@dataclass(frozen=True, slots=True)
class Eval(Command):
    """Compare a result with the truth."""

    result: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RESULT")]
    """Folder that `jigsawnet solve` wrote, or an assembly.json."""
    truth: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the pieces, with truth.json or groundTruth.txt."""
    gap_px: float = 5.0
    """Pieces whose borders come this close in the truth are neighbours; give more for worn pieces."""
    confidence: Flag = False
    """Also print how far the confidences can be trusted: what they say, how many were right, and how many there are, for pieces
    and for joins."""
    json: Flag = False
    """Print one JSON line, for programs."""

    def __post_init__(self) -> None:
        if not 0 < self.gap_px <= 1000:
            raise ConfigError("gap-px must be more than 0 and at most 1000.")

    def run(self) -> int:
        """Read, compare, print."""
        with silent_decoders():
            puzzle = load_puzzle(self.truth)
        truth = read_truth(self.truth, puzzle)
        path = self.result / RESULT_FILE if self.result.is_dir() else self.result
        assembly, _ = read_assembly(path, puzzle.names())
        candidates = path.parent / CANDIDATES_FILE
        found = read_choices(candidates, puzzle.names()) if candidates.is_file() else ()
        offered = Candidates.of(a for a, choice in found if choice)
        if any(choice for _, choice in found):
            chosen = tuple(Join(a, a.fit) for a, choice in found if choice == "chosen")
            assembly = dataclasses.replace(assembly, chosen=chosen)
        values = dataclasses.asdict(evaluate(puzzle, assembly, truth, self.gap_px, offered))
        if found:
            values["candidate_recall"] = candidate_recall(puzzle, (a for a, _ in found), truth, gap_px=self.gap_px)
        if self.confidence:
            bins = confidence_bins(puzzle, assembly, truth)
            values["confidence"] = {what: [dataclasses.asdict(each) for each in found] for what, found in bins.items()}
        for line in [json.dumps(values)] if self.json else _metric_lines(values):
            answer(line)
        return 0


def _metric_lines(values: dict[str, Any]) -> list[str]:
    def percent(key: str) -> str:
        value = values.get(key)
        return "-" if value is None else f"{100 * value:.1f} %"

    lines = [
        f"PCR {percent('pcr')} (tight {percent('pcr_tight')})   pieces in the right place, {values['n']} in all",
        f"ACR {percent('acr')}   right candidates that were chosen, of those that could be",
        f"joins right {percent('acr_precision')}, found {percent('acr_recall')}   over all joins, over all true neighbours",
        f"LCR {percent('lcr')}   largest part connected by right joins",
        f"candidate recall {percent('candidate_recall')}   true neighbours with a right candidate",
    ]
    return lines + [line for what, bins in values.get("confidence", {}).items() for line in _confidence_lines(what, bins)]


def _confidence_lines(what: str, bins: list[dict[str, Any]]) -> list[str]:
    """A table of what was said and what was right."""
    if not bins:
        return ["", f"{what}: none has a confidence"]
    rows = [
        f"{each['low']:4.0%} to {each['high']:4.0%}  {each['said']:8.1%}  {each['right']:8.1%}  {each['count']:6d}"
        for each in bins
    ]
    return ["", f"{what:<12}  {'said':>8}  {'right':>8}  {'count':>6}", *rows]
