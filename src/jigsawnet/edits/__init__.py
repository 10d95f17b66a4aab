"""What a person does to an arrangement: a list of edits that can be undone, replayed, and handed to the solver.

Pure: no files, no pictures. All poses lie in one frame, the table; components lie apart from each other on it.
"""

from __future__ import annotations

from jigsawnet.edits.apply import apply_edit, apply_edits, arrange
from jigsawnet.edits.arrangement import Arrangement, Pieces
from jigsawnet.edits.decisions import constraints_of
from jigsawnet.edits.history import Edits
from jigsawnet.edits.kinds import Accept, Cut, Edit, Move, Pin, Reject, SetAside, Solved, TakeBack, TakeOff, Unpin, describe

__all__ = [
    "Accept",
    "Arrangement",
    "Cut",
    "Edit",
    "Edits",
    "Move",
    "Pieces",
    "Pin",
    "Reject",
    "SetAside",
    "Solved",
    "TakeBack",
    "TakeOff",
    "Unpin",
    "apply_edit",
    "apply_edits",
    "arrange",
    "constraints_of",
    "describe",
]
