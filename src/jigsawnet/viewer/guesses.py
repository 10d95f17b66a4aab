"""Best guesses on the table: pale pictures of what has no place, and what taking one puts where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jigsawnet.edits import Arrangement
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.pipeline import guess_places
from jigsawnet.render.guessed import lay_out_guesses
from jigsawnet.render.layout import MARGIN_PX, Layout, outline
from jigsawnet.types import BestGuess, Puzzle
from jigsawnet.viewer.session import Session


def guesses_json(session: Session) -> dict[str, Any]:
    """The best guesses of pieces in the tray, the likeliest first; none while the solver is at work.

    ``pose`` is where the piece is drawn, ``ground`` where its neighbour is; ``poses`` and ``joins`` are the move that takes the
    guess, the neighbour included where it has no place either.
    """
    now, run = session.arrangement, session.run
    if session.busy or run.is_draft or run.request.scores_are_ranks:
        return {"guesses": []}
    table = now.to_assembly(len(session.pieces))
    found = guess_places(table, run.candidates, session.borders, run.config, now.constraints())
    drawn = lay_out_guesses(session.puzzle, _ground(session.puzzle, now), found, MARGIN_PX).canvas_from_piece
    shown = sorted(found, key=lambda guess: (-guess.best.probability, guess.piece))
    return {"guesses": [_guess_json(guess, now, drawn) for guess in shown]}


def _guess_json(guess: BestGuess, now: Arrangement, drawn: Mapping[int, SE2]) -> dict[str, Any]:
    idx, best, other = guess.piece, guess.best, guess.runner_up
    ground = now.poses.get(best.beside) or drawn[best.beside]
    poses = {idx: ground @ best.beside_from_piece} | ({} if best.beside in now.poses else {best.beside: ground})
    return {
        "idx": idx, "beside": best.beside, "probability": round(best.probability, 4),
        "pose": _row(drawn[idx]), "ground": _row(ground),
        "poses": {str(k): _row(pose) for k, pose in sorted(poses.items())},
        "joins": [[min(idx, best.beside), max(idx, best.beside)]],
        "runner_up": other and {"beside": other.beside, "probability": round(other.probability, 4)},
    }  # fmt: skip


def _ground(puzzle: Puzzle, now: Arrangement) -> Layout:
    """The table as a canvas: what leads to no placed piece is drawn below all that lies there."""
    unplaced = tuple(idx for idx in range(len(puzzle)) if idx not in now.poses)
    lows = [(pose @ outline(puzzle.pieces[idx])).max(axis=0) for idx, pose in now.poses.items()]
    width, height = np.ceil(np.max(lows, axis=0)).astype(int).tolist() if lows else (1, 1)
    return Layout(now.poses, max(1, width), max(1, height), unplaced)


def _row(pose: SE2) -> list[float]:
    theta, x, y = pose_row(pose)
    return [round(theta, 7), round(x, 3), round(y, 3)]
