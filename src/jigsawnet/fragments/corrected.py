"""The pieces found on a scan as a person has corrected them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jigsawnet.edits.cutting import Correction
from jigsawnet.edits.parts import Part, Parts
from jigsawnet.errors import EditError
from jigsawnet.fragments.scan import ScanResult, cut_out
from jigsawnet.types import UInt8Array


def parts_of(result: ScanResult) -> Parts:
    """The pieces that were found, with their numbers."""
    parts = (Part(result.number(k), piece.mask, piece.corner) for k, piece in enumerate(result.pieces))
    return Parts(tuple(parts), result.background.page_size)


def correct_parts(parts: Parts, corrections: Sequence[Correction]) -> tuple[Parts, list[str]]:
    """The pieces after all corrections, and a sentence for each that finds nothing to correct any more."""
    passed_over = []
    for correction in corrections:
        try:
            parts = correction.apply(parts)
        except EditError as error:
            passed_over.append(f"A correction ({correction.describe().lower()}) was passed over: {error}")
    return parts, passed_over


def with_parts(result: ScanResult, parts: Parts, picture: UInt8Array, margin_px: int) -> ScanResult:
    """What was found on ``picture (H, W, 3)`` with these pieces in the place of those that were found.

    What is said of pieces that were changed is dropped: a person has looked at them.
    """
    before = {result.number(k): piece for k, piece in enumerate(result.pieces)}
    masks = {number: piece.mask for number, piece in before.items()}
    kept = {part.number for part in parts.parts if masks.get(part.number) is part.mask}
    pieces = tuple(
        before[part.number] if part.number in kept else cut_out(picture, part.mask, part.corner, margin_px)
        for part in parts.parts
    )
    numbers = tuple(part.number for part in parts.parts)
    place = {number: k for k, number in enumerate(numbers) if number in kept}

    def moved(chosen: Sequence[int]) -> tuple[int, ...]:
        return tuple(place[result.number(k)] for k in chosen if result.number(k) in place)

    groups = tuple(moved(group) for group in result.split if len(moved(group)) == len(group))
    return replace(result, pieces=pieces, numbers=numbers, split=groups, suspects=moved(result.suspects))
