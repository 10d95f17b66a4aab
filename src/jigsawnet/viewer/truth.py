"""The difference from the truth, for a run whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.state import row


def truth_json(session: Session) -> dict[str, Any] | None:
    """Where the pieces belong, laid over what is right already; None without a truth."""
    truth = session.truth
    if truth is None:
        return None
    now = session.arrangement
    assembly = now.to_assembly(len(session.pieces))
    right = right_pieces(session.puzzle, assembly, truth)
    poses: dict[int, SE2] = {}
    for picture in truth.components:
        hits = sorted(right.intersection(picture)) or sorted(set(picture) & set(now.poses))[:1]
        middles = [session.bank.center[idx].astype(np.float64) for idx in hits]
        spread = [m + d for m in middles for d in ((0.0, 0.0), (50.0, 0.0))]
        twice = [idx for idx in hits for _ in range(2)]
        source = np.array([truth.poses[idx] @ p for idx, p in zip(twice, spread, strict=True)]).reshape(-1, 2)
        target = np.array([now.poses[idx] @ p for idx, p in zip(twice, spread, strict=True)]).reshape(-1, 2)
        move = fit_rigid(source, target) or SE2.identity()
        poses |= {idx: move @ truth.poses[idx] for idx in picture}
    return {
        "poses": {str(idx): row(pose) for idx, pose in sorted(poses.items())},
        "right": {str(idx): idx in right for idx in sorted(now.poses)},
    }
