"""Result files that are written only: ``poses.csv``, where the pieces lie, and ``report.json``, what a run did."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from jigsawnet.geometry import pose_row, wrap_angle
from jigsawnet.io.files import write_text
from jigsawnet.io.json_files import to_json
from jigsawnet.types import Assembly, GuessedPlace, RunReport

REPORT_FORMAT, REPORT_VERSION = "jigsawnet/report", 1
POSES_FILE = "poses.csv"
COLUMNS = ("name", "component", "x", "y", "angle_deg", "confidence", "note")
PAGE_COLUMNS = ("page", "title", "number", "name", "x", "y", "angle_deg", "confidence")
_FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula."""


def poses_to_csv(assembly: Assembly, names: Sequence[str], notes: Mapping[int, str] = MappingProxyType({})) -> str:
    """One line per piece in order, with what a person noted of it; the places of a piece without a pose are empty.

    ``x`` and ``y`` are where the centre of the first pixel of the piece's picture lies, in px of its component's frame;
    the picture is turned about that point by ``angle_deg``, clockwise on the screen.
    """
    component = {idx: number for number, members in enumerate(assembly.components) for idx in members}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for idx, name in enumerate(names):
        pose, sure = assembly.poses.get(idx), assembly.confidence.get(idx)
        row = [_harmless(name), *[""] * (len(COLUMNS) - 1)]
        if pose is not None:
            angle = math.degrees(wrap_angle(pose.theta))
            row[1:5] = [str(component[idx]), *(_number(value, 4) for value in (pose.x, pose.y)), _number(angle, 6)]
            row[5] = "" if sure is None else _number(sure, 6)
        row[6] = _harmless(notes.get(idx, ""))
        writer.writerow(row)
    return text.getvalue()


def write_poses_csv(
    path: Path, assembly: Assembly, names: Sequence[str], notes: Mapping[int, str] = MappingProxyType({})
) -> None:
    """Write ``poses.csv``.

    Raises:
        OutputError: the file cannot be written.
    """
    write_text(path, poses_to_csv(assembly, names, notes))


def pages_to_csv(assembly: Assembly, names: Sequence[str], pages: Sequence[tuple[str, Sequence[int]]]) -> str:
    """One line per piece: those of the pages (title and pieces) in their order, then those on none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(PAGE_COLUMNS)
    for number, (title, members) in enumerate(pages, 1):
        for idx in members:
            pose, sure = assembly.poses[idx], assembly.confidence.get(idx)
            angle = _number(math.degrees(wrap_angle(pose.theta)), 6)
            row = [str(number), _harmless(title), str(idx + 1), _harmless(names[idx]), _number(pose.x, 4), _number(pose.y, 4)]
            writer.writerow([*row, angle, "" if sure is None else _number(sure, 6)])
    for idx in assembly.unplaced:
        writer.writerow(["", "", str(idx + 1), _harmless(names[idx]), "", "", "", ""])
    return text.getvalue()


def write_report(path: Path, report: RunReport, names: Sequence[str] = ()) -> None:
    """Write ``report.json``: how long each stage took, and with which options; numbers that are not finite become null.

    ``names`` of the pieces are needed for other places and best guesses.
    """
    data = {
        "format": REPORT_FORMAT,
        "version": REPORT_VERSION,
        "jigsawnet": report.version,
        "puzzle": report.puzzle,
        "seed": report.seed,
        "total_seconds": round(report.seconds, 6),
        "stages": [{"name": s.name, "seconds": round(s.seconds, 6), "counts": s.counts} for s in report.stages],
        "warnings": report.warnings,
        "other_places": [
            {
                "fragments": [names[idx] for idx in place.pieces],
                "fragment": names[place.piece],
                "beside": names[place.beside],
                "beside_from_fragment": [round(value, 6) for value in pose_row(place.beside_from_piece)],
                "score": round(place.score, 6),
                "chosen_score": round(place.chosen, 6),
            }
            for place in report.other_places
        ],
        "best_guesses": [
            {"fragment": names[guess.piece], **_guessed(guess.best, names)}
            | {"runner_up": None if guess.runner_up is None else _guessed(guess.runner_up, names)}
            for guess in report.best_guesses
        ],
        "config": report.config,
    }
    write_text(path, to_json(data))


def _guessed(place: GuessedPlace, names: Sequence[str]) -> dict[str, object]:
    return {
        "beside": names[place.beside],
        "beside_from_fragment": [round(value, 6) for value in pose_row(place.beside_from_piece)],
        "probability": round(place.probability, 6),
    }


def _harmless(name: str) -> str:
    """A name that stays in its line and that no spreadsheet runs as a formula.

    Control characters are written as their escape codes; an apostrophe goes before what looks like a formula.
    """
    plain = "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) == "Cc" else c for c in name)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain


def _number(value: float, digits: int) -> str:
    """With so many decimals at most, never a negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".")
