"""What all workers have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from jigsawnet.stopping import Stop

Data = TypeVar("Data")
Block = TypeVar("Block")
Result = TypeVar("Result")

Told = Callable[[int, int], None]
"""Called as ``told(done, total)`` whenever another block is done."""


def tell_nobody(done: int, total: int) -> None:
    """A `Told` that says nothing."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shared(Generic[Data]):
    """What all blocks look at. Keep and reuse the handle: a cluster is sent the data once, when it first needs them."""

    data: Data


class Workers(Protocol):
    """Somebody who does blocks of work side by side."""

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
        told: Told = tell_nobody,
        stop: Stop | None = None,
    ) -> list[Result]:
        """Do ``work(shared.data, block)`` for all blocks: results in order; if it ends early, those of the first blocks."""
