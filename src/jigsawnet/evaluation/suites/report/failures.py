"""Why a puzzle was not put together whole, in a sentence made from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jigsawnet.evaluation.suites.methods import OURS
from jigsawnet.evaluation.suites.report.results_file import Results

Row = Mapping[str, Any]
MOST = 5


def failures(results: Results, most: int = MOST) -> list[Row]:
    """Puzzles that our method did not put together whole and tight, the worst first, each once."""
    rows = {row["key"]: row for row in results.rows if row["method"] == OURS}
    failed = [row for row in rows.values() if row["error"] or row["pcr"] < 1.0 or row["pcr_tight"] < 1.0]
    return sorted(failed, key=lambda row: (0.0, 0.0) if row["error"] else (row["pcr"], row["pcr_tight"]))[:most]


def explain(row: Row) -> str:
    """One sentence on the cause that weighs most, from the first stage on: what is not found can not be scored or joined."""
    if row["error"]:
        return f"It stopped: {row['error']}"
    n, pairs = row["n"], row["neighbors"]
    unplaced, wrong = n - row["placed"], row["wrong_joins"]
    lacks = f"{row['missed_pairs']} of {pairs} true joins have no right candidate"
    doubted = row["doubted_pairs"]
    doubts = f"{doubted} right {'one scores' if doubted == 1 else 'ones score'} too low"
    if row["pcr"] >= 1.0:
        return f"All pieces are in place, but {round(n * (1.0 - row['pcr_tight']))} of {n} lie more than 2 degrees or 5 px off."
    if row["pcr_rest"] == 1.0 and row["true_parts"] > len(row["pcr_pictures"]):
        return f"Nothing connects the {row['true_parts']} parts that are left of it; each of them is right."
    cause = (
        f"{lacks}, and {doubts}" if row["missed_pairs"] or row["doubted_pairs"] else "all true joins were found and believed"
    )
    return f"{_outcome(unplaced, wrong, row['components'])}: {cause}; {row['believed_wrong']} wrong candidates are believed."


def _outcome(unplaced: int, wrong: int, components: int) -> str:
    parts: Sequence[str] = [
        f"{_are(wrong, 'join')} wrong" if wrong else "",
        f"{_are(unplaced, 'piece')} left out" if unplaced else "",
        f"the result is in {components} parts" if components > 1 else "",
    ]
    text = ", ".join(part for part in parts if part) or "Pieces are out of place although every join is right"
    return text[0].upper() + text[1:]


def _are(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"
