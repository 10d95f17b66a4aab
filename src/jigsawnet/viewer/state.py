"""What the page is told, as plain values for JSON; poses are ``[theta, x, y]`` on the table."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from jigsawnet.compose.edge_table import carry
from jigsawnet.edits import describe
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2
from jigsawnet.raster import ShapeBank
from jigsawnet.types import FloatArray, Puzzle
from jigsawnet.viewer.candidates import Place
from jigsawnet.viewer.seams import SeamView, loops_of
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.why import why_sentences

OUTLINE_POINTS = 60
_OUTLINE_PX = 0.9
"""How far an outline may depart from the border; more for pieces whose border needs more points than the page is told."""


def outlines(puzzle: Puzzle, bank: ShapeBank) -> list[list[list[int]]]:
    """The border of each piece in whole pixels, at most sixty points, in its own frame."""
    found = []
    for idx, fragment in enumerate(puzzle.fragments):
        points = bank.points[bank.samples(idx)]
        height, width = fragment.mask.shape
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
    component = {idx: k for k, group in enumerate(now.groups) for idx in group}
    decided = now.pinned | now.held | {idx for pair in now.accepted for idx in pair}
    pieces = []
    for idx, name in enumerate(session.pieces.names):
        width, height = session.pieces.sizes[idx]
        pose, sure = now.poses.get(idx), now.confidence.get(idx)
        pieces.append({
            "idx": idx, "name": name, "width": width, "height": height, "outline": shapes[idx],
            "pose": None if pose is None else row(pose), "component": component.get(idx),
            "confidence": None if sure is None else round(sure, 4),
            "pinned": idx in now.pinned, "aside": idx in now.aside, "fixed_by_person": idx in decided,
        })  # fmt: skip
    lines = _lines_on_table(session)
    joins = [
        {
            "i": i, "j": j, "score": round(edge.score, 4), "seam": line,
            "status": "accepted" if (i, j) in now.accepted else "found",
        }
        for ((i, j), edge), line in zip(now.joins.items(), lines, strict=True)
    ]  # fmt: skip
    return {
        "revision": session.revision, "name": session.puzzle.name, "unit_px": session.candidates.unit_px,
        "images": session.pictures.key, "pieces": pieces,
        "components": [{"id": k, "pieces": list(group)} for k, group in enumerate(now.groups)], "joins": joins,
        "edits": [{"kind": kind_of(edit), "text": describe(edit, session.pieces.names)} for edit in edits.entries],
        "in_force": edits.in_force, "can_undo": edits.in_force > 0, "can_redo": bool(edits.undone),
        "busy": session.busy, "truth": session.truth is not None,
        "start": {str(idx): row(pose) for idx, pose in sorted(edits.start.poses.items())},
    }  # fmt: skip


def _lines_on_table(session: Session) -> list[list[list[float]]]:
    """Where the seam of each join runs, all carried at once."""
    now = session.arrangement
    lines = [seam.line for seam in session.seams.look_up([edge.alignment for edge in now.joins.values()])]
    if not lines:
        return []
    sizes = [len(line) for line in lines]
    poses = np.repeat([(now.poses[i].theta, now.poses[i].x, now.poses[i].y) for i, _ in now.joins], sizes, axis=0)
    points = _points(carry(poses, np.concatenate(lines)))
    ends = np.cumsum(sizes).tolist()
    return [points[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def kind_of(edit: object) -> str:
    """``TakeOff`` → ``take_off``."""
    name = type(edit).__name__
    return name[0].lower() + "".join(f"_{c.lower()}" if c.isupper() else c for c in name[1:])


def piece_json(session: Session, idx: int) -> dict[str, Any]:
    """Why a piece lies where it lies, its joins, and where else it could lie."""
    now, names = session.arrangement, session.pieces.names
    loops = loops_of(now)
    pairs = [(min(idx, other), max(idx, other)) for other in loops.neighbours(idx)]
    edges = [now.joins[pair] for pair in pairs]
    seams = session.seams.look_up([edge.alignment for edge in edges])
    rows = sorted(zip(pairs, edges, seams, strict=True), key=lambda row: (-row[1].score, row[0]))
    others = session.candidates.alternatives(now, idx)
    told = [(names[i + j - idx], seam, edge.score, loops.through_join(i, j)) for (i, j), edge, seam in rows]
    decided = sum(pair in now.accepted for pair in pairs)
    joins = [
        {"j": i + j - idx, "score": round(edge.score, 4), "status": "accepted" if (i, j) in now.accepted else "found"}
        | _measures(seam, loops.through_join(i, j))
        for (i, j), edge, seam in rows
    ]
    why = why_sentences(told, others, pinned=idx in now.pinned, decided=decided) if idx in now.poses else _why_not(session, idx)
    return {
        "idx": idx, "name": names[idx], "confidence": now.confidence.get(idx), "why": why, "joins": joins,
        "alternatives": [{"j": p.beside, "pose": row(p.pose), "score": round(p.score, 4)} for p in others],
    }  # fmt: skip


def _why_not(session: Session, idx: int) -> list[str]:
    if idx in session.arrangement.aside:
        return ["You set it aside, so it is not placed."]
    best = session.candidates.alternatives(session.arrangement, idx, most=1)
    if not best:
        return ["It is not placed: no candidate leads to a piece that is."]
    return [f"It is not placed: its best candidate against a placed piece has a score of {best[0].score:.2f}."]


def places_json(session: Session, idx: int) -> dict[str, Any]:
    """The best three places of a piece, in order."""
    if idx in session.arrangement.aside:
        raise EditError(f"{session.pieces.names[idx]} is set aside; take it back before you place it.")
    component = {k: number for number, group in enumerate(session.arrangement.groups) for k in group}
    found = session.candidates.places(session.arrangement, idx)
    return {
        "places": [
            {
                "pose": row(place.pose), "component": component[place.beside], "score": round(place.score, 4),
                "joins": [i + j - idx for i, j in place.joins],
            }
            for place in found
        ]
    }  # fmt: skip


def join_json(session: Session, i: int, j: int) -> dict[str, Any]:
    """One join with all that is measured of it."""
    now, names = session.arrangement, session.pieces.names
    i, j = min(i, j), max(i, j)
    if (i, j) not in now.joins:
        raise EditError(f"There is no join of {names[i]} and {names[j]} now.")
    edge = now.joins[i, j]
    (seam,) = session.seams.look_up([edge.alignment])
    pose = now.poses[i]
    normal = SE2(pose.theta, 0.0, 0.0) @ seam.normal
    return {
        "i": i, "j": j, "score": round(edge.score, 4), "status": "accepted" if (i, j) in now.accepted else "found",
        "seam": _points(pose @ seam.line), "normal": [round(float(v), 6) for v in normal],
        "i_pose": row(pose), "j_pose": row(now.poses[j]),
    } | _measures(seam, loops_of(now).through_join(i, j))  # fmt: skip


def snap_json(place: Place | None) -> dict[str, Any]:
    """Where held pieces would snap to."""
    if place is None:
        return {"pose": None, "joins": [], "score": None}
    return {"pose": row(place.pose), "joins": [list(pair) for pair in place.joins], "score": round(place.score, 4)}


def _measures(seam: SeamView, loops: int) -> dict[str, Any]:
    return {
        "length_px": round(seam.length_px, 1), "residual_px": round(seam.residual_px, 2),
        "color_step": round(seam.color_step, 1), "loops": loops,
    }  # fmt: skip


def row(pose: SE2) -> list[float]:
    """``[theta, x, y]`` to a thousandth of a pixel, also at the far end of a piece."""
    return [round(pose.theta, 7), round(pose.x, 3), round(pose.y, 3)]


def _points(points: FloatArray) -> list[list[float]]:
    rounded: list[list[float]] = np.round(points, 1).tolist()
    return rounded
