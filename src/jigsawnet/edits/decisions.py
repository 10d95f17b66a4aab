"""What the solver has to keep when it goes on."""

from __future__ import annotations

from jigsawnet.edits.arrangement import Arrangement
from jigsawnet.edits.kinds import Pair
from jigsawnet.types import Alignment, Constraints


def fixed_joins(arrangement: Arrangement) -> list[Pair]:
    """Accepted joins, and those inside of what a person has moved as it was."""
    held = arrangement.held
    return [pair for pair in arrangement.joins if pair in arrangement.accepted or held.issuperset(pair)]


def constraints_of(arrangement: Arrangement) -> Constraints:
    """The decisions in force. Fixed joins hold as the pieces lie, so that they cannot contradict each other."""
    return Constraints(
        joins=tuple(Alignment(i, j, arrangement.relation(i, j), 1.0) for i, j in fixed_joins(arrangement)),
        forbidden=arrangement.rejected,
        pinned={idx: arrangement.poses[idx] for idx in sorted(arrangement.pinned)},
        aside=arrangement.aside,
    )
