"""What a person does to an arrangement: a list of edits that can be undone, replayed, and handed to the solver.

Pure: no files, no pictures. All poses lie in one frame, the table; components lie apart from each other on it.
"""

from __future__ import annotations

from jigsawnet.edits.arrangement import Arrangement, Pair, PieceSizes
from jigsawnet.edits.base import Edit
from jigsawnet.edits.hint_kinds import Apart, BackOf, DropHint, EdgeSide, SamePage, Together, UpSide, hint_sentence
from jigsawnet.edits.history import Edits, as_on_disk, put_back
from jigsawnet.edits.kinds import KINDS, Accept, Cut, Move, Pin, Reject, SetAside, Solved, TakeBack, TakeOff, Unpin
from jigsawnet.edits.note_kinds import NoteCase, NoteJoin, NotePage, NotePiece
from jigsawnet.edits.page_kinds import LayOutPages, NamePage, OrderPage, TurnPage
from jigsawnet.edits.pages import Page, PageNote
from jigsawnet.edits.parting import room_px
from jigsawnet.edits.remarks import Notes

__all__ = [
    "KINDS",
    "Accept",
    "Apart",
    "Arrangement",
    "BackOf",
    "Cut",
    "DropHint",
    "EdgeSide",
    "Edit",
    "Edits",
    "LayOutPages",
    "Move",
    "NamePage",
    "NoteCase",
    "NoteJoin",
    "NotePage",
    "NotePiece",
    "Notes",
    "OrderPage",
    "Page",
    "PageNote",
    "Pair",
    "PieceSizes",
    "Pin",
    "Reject",
    "SamePage",
    "SetAside",
    "Solved",
    "TakeBack",
    "TakeOff",
    "Together",
    "TurnPage",
    "Unpin",
    "UpSide",
    "as_on_disk",
    "hint_sentence",
    "put_back",
    "room_px",
]
