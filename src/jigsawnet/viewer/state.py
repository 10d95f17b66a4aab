"""What is sent to the page, as plain values for JSON; poses are ``[theta, x, y]`` on the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.edits import Pair, hint_sentence
from jigsawnet.errors import EditError
from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.geometry import SE2, carry_rows, fit_rigid
from jigsawnet.types import Assembly, FloatArray, Puzzle, loops_through
from jigsawnet.viewer.places import Place
from jigsawnet.viewer.seams import SeamView
from jigsawnet.viewer.session import Session

OUTLINE_POINTS = 60
_OUTLINE_PX = 0.9
"""How far an outline may depart from the border; more for pieces whose border needs more points than are sent."""

_CLOSE_COLOR, _FAR_COLOR = 6.0, 18.0
"""Lab distances up to which colours across a seam count as alike, and from which as very different."""


def outlines(puzzle: Puzzle, borders: Borders) -> list[list[list[int]]]:
    """The border of each piece in whole pixels, at most sixty points, in its own frame."""
    found = []
    for idx, piece in enumerate(puzzle.pieces):
        points = borders.points[borders.samples(idx)]
        height, width = piece.mask.shape
        if not len(points):
            points = np.array([(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)], np.float32)
        departs, shape = _OUTLINE_PX, np.asarray(points)
        while len(shape) > OUTLINE_POINTS or departs == _OUTLINE_PX:
            shape = cv2.approxPolyDP(points, departs, True)[:, 0].astype(np.float32)
            departs *= 1.5
        found.append(np.rint(shape).astype(int).tolist())
    return found


def state_json(session: Session, shapes: list[list[list[int]]]) -> dict[str, Any]:
    """All that the page shows; ``shapes`` are the `outlines`."""
    now, edits = session.arrangement, session.edits
    component = {idx: k for k, members in enumerate(now.components) for idx in members}
    decided = now.pinned | now.by_hand | {idx for pair in now.accepted for idx in pair}
    pieces = []
    for idx, name in enumerate(session.pieces.names):
        width, height = session.pieces.sizes[idx]
        pose, sure = now.poses.get(idx), now.confidence.get(idx)
        pieces.append({
            "idx": idx, "name": name, "width": width, "height": height, "outline": shapes[idx],
            "pose": None if pose is None else _row(pose), "component": component.get(idx),
            "confidence": None if sure is None else round(sure, 4),
            "pinned": idx in now.pinned, "aside": idx in now.aside, "fixed_by_person": idx in decided,
            "note": now.remarks.pieces.get(idx, ""),
        })  # fmt: skip
    joins = [
        {"i": i, "j": j, "confidence": round(join.confidence, 4), "seam": line, "status": _status(session, (i, j))}
        for ((i, j), join), line in zip(now.joins.items(), _lines_on_table(session), strict=True)
    ]
    return {
        "revision": session.revision, "name": session.puzzle.name, "unit_px": session.places.unit_px,
        "images": session.pictures.key, "pieces": pieces,
        "components": [{"id": k, "pieces": list(members)} for k, members in enumerate(now.components)], "joins": joins,
        "note": now.remarks.case,
        "hints": [
            {
                "kind": hint.kind, "pieces": list(hint.pieces), "firm": hint.firm,
                "text": hint_sentence(hint, session.pieces.names),
            }
            for hint in now.hints
        ],
        "pages": [
            {
                "id": component[page.pieces[0]], "name": page.name, "title": page.title, "pieces": list(page.pieces),
                "note": page.text,
            }
            for page in now.pages
        ],
        "edits": [{"kind": edit.kind, "text": edit.describe(session.pieces.names)} for edit in edits.entries],
        "in_force": edits.in_force, "can_undo": edits.in_force > 0, "can_redo": bool(edits.undone),
        "busy": session.busy, "truth": session.truth is not None, "read_only": session.read_only,
        "saved": session.scribe.is_done, "dpi": session.run.dpi,
        "start": {str(idx): _row(pose) for idx, pose in sorted(edits.start.poses.items())},
    }  # fmt: skip


def _lines_on_table(session: Session) -> list[list[list[float]]]:
    """Where the seam of each join runs, all carried at once."""
    now = session.arrangement
    lines = [seam.line for seam in session.seams.look_up([join.alignment for join in now.joins.values()])]
    if not lines:
        return []
    sizes = [len(line) for line in lines]
    poses = np.repeat([(now.poses[i].theta, now.poses[i].x, now.poses[i].y) for i, _ in now.joins], sizes, axis=0)
    points = _points(carry_rows(poses, np.concatenate(lines)))
    ends = np.cumsum(sizes).tolist()
    return [points[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def piece_json(session: Session, idx: int) -> dict[str, Any]:
    """Why a piece lies where it lies, its joins, and where else it could lie."""
    now, loops = session.arrangement, _loops(session)
    pairs = sorted((pair for pair in now.joins if idx in pair), key=lambda pair: (-now.joins[pair].confidence, pair))
    seams = session.seams.look_up([now.joins[pair].alignment for pair in pairs])
    others = session.places.alternatives(now, idx)
    joins = [
        {"j": sum(pair) - idx, "confidence": round(now.joins[pair].confidence, 4), "status": _status(session, pair)}
        | _measures(seam, loops[pair])
        for pair, seam in zip(pairs, seams, strict=True)
    ]
    closed = sum(loops[pair] for pair in pairs)
    return {
        "idx": idx, "name": session.pieces.names[idx], "confidence": now.confidence.get(idx), "joins": joins,
        "why": _why(session, idx, pairs, seams, closed, others) if idx in now.poses else _why_not(session, idx, others),
        "alternatives": [{"j": p.beside, "pose": _row(p.pose), "score": round(p.score, 4)} for p in others],
    }  # fmt: skip


def _why(
    session: Session, idx: int, pairs: Sequence[Pair], seams: Sequence[SeamView], loops: int, others: Sequence[Place]
) -> list[str]:
    """What supports the place of a piece, in sentences; its joins with their seams, the surest first."""
    now = session.arrangement
    accepted = sum(pair in now.accepted for pair in pairs)
    lines = ["You pinned it here."] if idx in now.pinned else []
    lines += [f"You accepted {accepted} of its joins."] if accepted else []
    if pairs:
        total, best = sum(seam.length_px for seam in seams), seams[0]
        step = best.color_step
        colors = "are alike" if step < _CLOSE_COLOR else "differ" if step < _FAR_COLOR else "differ much"
        lines += [
            f"Its border runs along {_count(len(pairs), 'neighbour', 'neighbours')} for {total:.0f} px in all.",
            f"The surest seam, with {session.pieces.names[sum(pairs[0]) - idx]}, is {best.length_px:.0f} px long, the borders "
            f"{best.residual_px:.1f} px apart, {now.joins[pairs[0]].confidence:.0%} sure.",
            f"Across it the colours {colors} (a step of {step:.0f} in Lab).",
            f"{_count(loops, 'closed loop of joins agrees', 'closed loops of joins agree')} with its place."
            if loops
            else "No closed loop of joins confirms its place.",
        ]
    else:
        lines.append("No join holds it.")
    rival = f"The best other place has a score of {others[0].score:.2f}." if others else "It has no other candidates."
    return [*lines, rival]


def _why_not(session: Session, idx: int, others: Sequence[Place]) -> list[str]:
    if idx in session.arrangement.aside:
        return ["You set it aside, so it is not placed."]
    if idx in session.arrangement.backs:
        return ["You said that it is the back of another, so it is not placed."]
    if not others:
        return ["It is not placed: no candidate leads to a piece that is."]
    return [f"It is not placed: its best candidate against a placed piece has a score of {others[0].score:.2f}."]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def places_json(session: Session, idx: int) -> dict[str, Any]:
    """The best three places of a piece, in order."""
    if idx in session.arrangement.aside:
        raise EditError(f"{session.pieces.names[idx]} is set aside; take it back before you place it.")
    component = {k: number for number, members in enumerate(session.arrangement.components) for k in members}
    found = session.places.places(session.arrangement, idx)
    return {
        "places": [
            {
                "pose": _row(place.pose), "component": component[place.beside], "score": round(place.score, 4),
                "joins": [i + j - idx for i, j in place.joins],
            }
            for place in found
        ]
    }  # fmt: skip


def join_json(session: Session, pair: Pair) -> dict[str, Any]:
    """One join of the arrangement with all that is measured of it."""
    now, (i, j) = session.arrangement, pair
    join, pose = now.joins[pair], now.poses[i]
    (seam,) = session.seams.look_up([join.alignment])
    normal = SE2(pose.theta, 0.0, 0.0) @ seam.normal
    return {
        "i": i, "j": j, "confidence": round(join.confidence, 4), "status": _status(session, pair),
        "seam": _points(pose @ seam.line), "normal": [round(float(v), 6) for v in normal],
        "i_pose": _row(pose), "j_pose": _row(now.poses[j]), "note": now.remarks.joins.get(pair, ""),
    } | _measures(seam, _loops(session)[pair])  # fmt: skip


def truth_json(session: Session, truth: Assembly) -> dict[str, Any]:
    """Where the pieces belong, laid over what is right already, and which pieces are right."""
    now = session.arrangement
    right = right_pieces(session.puzzle, now.to_assembly(len(session.pieces)), truth)
    poses: dict[int, SE2] = {}
    for picture in truth.components:
        hits = sorted(right.intersection(picture)) or sorted(set(picture) & set(now.poses))[:1]
        middles = {idx: session.borders.center[idx].astype(np.float64) for idx in hits}
        points = [(idx, middles[idx] + shift) for idx in hits for shift in ((0.0, 0.0), (50.0, 0.0))]  # two fix a rotation
        source = np.array([truth.poses[idx] @ point for idx, point in points]).reshape(-1, 2)
        target = np.array([now.poses[idx] @ point for idx, point in points]).reshape(-1, 2)
        move = fit_rigid(source, target) or SE2.identity()
        poses |= {idx: move @ truth.poses[idx] for idx in picture}
    return {
        "poses": {str(idx): _row(pose) for idx, pose in sorted(poses.items())},
        "right": {str(idx): idx in right for idx in sorted(now.poses)},
    }


def snap_json(place: Place | None) -> dict[str, Any]:
    """Where held pieces would snap to."""
    if place is None:
        return {"pose": None, "joins": [], "score": None}
    return {"pose": _row(place.pose), "joins": [list(pair) for pair in place.joins], "score": round(place.score, 4)}


def _status(session: Session, pair: Pair) -> str:
    return "accepted" if pair in session.arrangement.accepted else "found"


def _loops(session: Session) -> dict[Pair, int]:
    """How many loops of three and of four joins close through each join."""
    joins = session.arrangement.joins
    return dict(zip(joins, loops_through(tuple(joins.values())), strict=True))


def _measures(seam: SeamView, loops: int) -> dict[str, Any]:
    return {
        "length_px": round(seam.length_px, 1), "residual_px": round(seam.residual_px, 2),
        "color_step": round(seam.color_step, 1), "loops": loops,
    }  # fmt: skip


def _row(pose: SE2) -> list[float]:
    """``[theta, x, y]`` to a thousandth of a pixel, also at the far end of a piece."""
    return [round(pose.theta, 7), round(pose.x, 3), round(pose.y, 3)]


def _points(points: FloatArray) -> list[list[float]]:
    rounded: list[list[float]] = np.round(points, 1).tolist()
    return rounded
