"""What all workers have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from jigsawnet.stopping import Stop

Data = TypeVar("Data")
Block = TypeVar("Block")
Result = TypeVar("Result")

OnBlock = Callable[[int, int], None]
"""Called as ``on_block(done, total)`` whenever another block is done."""


def ignore_progress(done: int, total: int) -> None:
    """An `OnBlock` that does nothing."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shared(Generic[Data]):
    """What all blocks look at. Keep and reuse the handle: a cluster is sent the data once, when it first needs them."""

    data: Data


class Workers(Protocol):
    """Do blocks of work side by side, here or elsewhere."""

    @property
    def slots(self) -> int:
        """How many blocks run at a time."""

    @property
    def grain(self) -> int:
        """How much larger than on this machine a block must be to be worth sending."""

    def run(
        self,
        work: Callable[[Data, Block], Result],
        shared: Shared[Data],
        blocks: Sequence[Block],
        on_block: OnBlock = ignore_progress,
        stop: Stop | None = None,
    ) -> list[Result]:
        """Do ``work(shared.data, block)`` for all blocks: results in order; if it ends early, those of the first blocks."""
