"""Ground floor: what flows between the stages. Frozen data, arrays read-only, nothing that reads or writes files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jigsawnet.geometry import SE2

UInt8Array = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]

UNSURE = 0.5
"""Below this confidence a place is a guess: it is more likely wrong than right, or as likely."""

_SHOWN_SIDE = 480

Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)`` by long work."""


def no_progress(stage: str, done: int, total: int) -> None:
    """A `Progress` that says nothing."""


def _freeze(*arrays: NDArray[Any]) -> None:
    for array in arrays:
        array.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One piece: ``image (H, W, 3)`` uint8 RGB and ``mask (H, W)`` bool, true where there is paper."""

    idx: int
    name: str
    image: UInt8Array
    mask: BoolArray

    def __post_init__(self) -> None:
        if self.image.ndim != 3 or self.image.shape[2] != 3 or self.image.dtype != np.uint8:
            raise ValueError(f"{self.name}: image must be (H, W, 3) uint8")
        if self.mask.shape != self.image.shape[:2] or self.mask.dtype != np.bool_:
            raise ValueError(f"{self.name}: mask must be bool and as large as the image")
        _freeze(self.image, self.mask)

    def __repr__(self) -> str:
        height, width = self.mask.shape
        return f"Piece({self.idx}, {self.name!r}, {width} x {height} px)"

    def _repr_png_(self) -> bytes:
        """What a notebook shows: the picture without what lies outside the mask, large pieces smaller."""
        import cv2  # noqa: PLC0415 - no stage of a solve comes here

        step = -(-max(self.mask.shape) // _SHOWN_SIDE)
        bgra = np.dstack([self.image[::step, ::step, ::-1], np.where(self.mask, np.uint8(255), np.uint8(0))[::step, ::step]])
        return cv2.imencode(".png", np.ascontiguousarray(bgra))[1].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Puzzle:
    """The pieces, numbered ``0 .. n-1`` in order; no truth inside. ``warnings`` says in sentences what was left out."""

    name: str
    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if [piece.idx for piece in self.pieces] != list(range(len(self.pieces))):
            raise ValueError("pieces must be numbered 0 .. n-1 in order")
        if len({piece.name for piece in self.pieces}) != len(self.pieces):
            raise ValueError("names of pieces must be unique")

    def __len__(self) -> int:
        return len(self.pieces)

    def __repr__(self) -> str:
        return f"Puzzle({self.name!r}, {len(self)} pieces, {len(self.warnings)} warnings)"

    def names(self) -> tuple[str, ...]:
        """Names in order of idx."""
        return tuple(piece.name for piece in self.pieces)


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """The outer border of a piece, closed, evenly spaced; the piece lies to the right when walking along it in (x, y), y down.

    ``points (N, 2)`` px in the piece's frame; ``normals (N, 2)`` unit, inward; ``colors (N, 3)`` CIE Lab from just inside
    the edge; ``step_px`` the arc length between neighbouring samples.
    """

    piece_idx: int
    points: FloatArray
    normals: FloatArray
    colors: FloatArray
    step_px: float

    def __post_init__(self) -> None:
        n = len(self.points)
        if self.points.shape != (n, 2) or self.normals.shape != (n, 2) or self.colors.shape != (n, 3):
            raise ValueError("contour arrays must be (N, 2), (N, 2) and (N, 3)")
        _freeze(self.points, self.normals, self.colors)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def perimeter_px(self) -> float:
        """Length of the closed curve."""
        return self.step_px * len(self.points)


@dataclass(frozen=True, slots=True)
class Seam:
    """What the common border of two aligned pieces looks like; lengths in px, colours as Lab distance."""

    length_px: float
    """Arc length over which the two borders run together."""
    residual_px: float
    """Root mean square distance of the two borders along the seam."""
    gap_px: float
    """Arc length within the seam's span where the borders do not touch."""
    overlap_px: float
    """Deepest penetration of one piece into the other."""
    color_step: float
    """Mean Lab distance across the seam."""
    flatness_px: float = 0.0
    """How far the seam departs from a straight line: the spread of its points across their main direction."""
    distance_px: float = 0.0
    """How far apart the two borders are placed, for pieces that have lost paper along the cuts."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A candidate join of pieces ``i < j``: ``i_from_j`` carries j into i's frame; ``fit`` is the matcher's own score."""

    i: int
    j: int
    i_from_j: SE2
    fit: float
    seam: Seam | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.i < self.j:
            raise ValueError(f"an alignment needs 0 <= i < j, not i={self.i}, j={self.j}")


@dataclass(frozen=True, slots=True)
class Join:
    """A candidate and its ``score``, the scorer's probability that it is right; in [0, 1].

    ``confidence`` is what the whole assembly makes of it, in [0, 1]; until that is judged, it is the score.
    """

    alignment: Alignment
    score: float
    confidence: float = -1.0

    def __post_init__(self) -> None:
        if self.confidence < 0:
            object.__setattr__(self, "confidence", self.score)


def loops_through(joins: Sequence[Join]) -> list[int]:
    """For each join, how many loops of three and of four joins close through it."""
    near: dict[int, set[int]] = {}
    for join in joins:
        near.setdefault(join.alignment.i, set()).add(join.alignment.j)
        near.setdefault(join.alignment.j, set()).add(join.alignment.i)
    ends = ((join.alignment.i, join.alignment.j) for join in joins)
    return [len(near[i] & near[j]) + sum(len(near[a] & near[j] - {i}) for a in near[i] - {j}) for i, j in ends]


def chance_of_any(probabilities: Iterable[float]) -> float:
    """The chance that at least one of several independent joins is right: ``1 - prod(1 - p)``."""
    return 1.0 - math.prod(1.0 - p for p in probabilities)


@dataclass(frozen=True, slots=True)
class Assembly:
    """Where the pieces lie. ``poses[idx]`` is ``world_from_piece``, in the frame of the piece's own component.

    ``components`` are sorted by size, largest first; a piece in none of them is unplaced. ``joins`` are the joins selected,
    loop-closing ones included. ``confidence[idx]`` in [0, 1] for placed pieces. ``gap_px``: how far apart refinement laid the
    borders of neighbours, negative where they overlap; not saved. ``chosen``: of the candidates, those by which the composer
    itself put the pieces together, not all that agree with their places; None where nobody knows.
    """

    n_pieces: int
    poses: Mapping[int, SE2]
    components: tuple[tuple[int, ...], ...]
    joins: tuple[Join, ...] = ()
    confidence: Mapping[int, float] = field(default_factory=dict)
    gap_px: float = field(default=0.0, compare=False)
    chosen: tuple[Join, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        listed = [idx for component in self.components for idx in component]
        if sorted(listed) != sorted(self.poses) or len(set(listed)) != len(listed):
            raise ValueError("components must hold every placed piece exactly once")
        if any(not 0 <= idx < self.n_pieces for idx in listed):
            raise ValueError("a pose names a piece that does not exist")
        if [len(c) for c in self.components] != sorted((len(c) for c in self.components), reverse=True):
            raise ValueError("components must be sorted by size, largest first")
        object.__setattr__(self, "poses", MappingProxyType(dict(self.poses)))
        object.__setattr__(self, "confidence", MappingProxyType(dict(self.confidence)))

    @property
    def unplaced(self) -> tuple[int, ...]:
        """Pieces without a pose."""
        return tuple(idx for idx in range(self.n_pieces) if idx not in self.poses)

    @property
    def complete(self) -> bool:
        """True when every piece is placed in one component."""
        return len(self.components) == 1 and not self.unplaced

    @property
    def guesses(self) -> tuple[int, ...]:
        """Placed pieces whose place is a guess: known to be less than `UNSURE` sure."""
        return tuple(idx for idx in sorted(self.poses) if self.confidence.get(idx, 1.0) < UNSURE)

    @property
    def summary(self) -> str:
        """How much is placed, in words."""
        parts = "1 part" if len(self.components) == 1 else f"{len(self.components)} parts"
        return f"{len(self.poses)} of {self.n_pieces} pieces placed in {parts}, {len(self.joins)} joins"

    def __repr__(self) -> str:
        return f"Assembly({self.summary})"

    def fits(self, n_pieces: int) -> bool:
        """True when it is of so many pieces."""
        return self.n_pieces == n_pieces

    def renumbered(self, order: Sequence[int]) -> Assembly:
        """The same poses with old piece ``order[k]`` as piece k; pieces not in ``order`` and all joins are dropped."""
        new = {old: idx for idx, old in enumerate(order)}
        kept = ([new[old] for old in component if old in new] for component in self.components)
        return Assembly(
            len(order),
            {new[old]: pose for old, pose in self.poses.items() if old in new},
            sort_components(component for component in kept if component),
            confidence={new[old]: value for old, value in self.confidence.items() if old in new},
        )


def sort_components(components: Iterable[Iterable[int]]) -> tuple[tuple[int, ...], ...]:
    """Order components as `Assembly` wants them: largest first, then by smallest idx."""
    return tuple(sorted((tuple(sorted(c)) for c in components), key=lambda c: (-len(c), c)))


@dataclass(frozen=True, slots=True)
class OtherPlace:
    """Another place that fits about as well: ``pieces`` would lie so that ``piece`` of them joins ``beside``.

    ``score`` is the scorer's probability of that join, ``chosen`` of the join that the assembly has in its place.
    """

    pieces: tuple[int, ...]
    piece: int
    beside: int
    beside_from_piece: SE2
    score: float
    chosen: float


@dataclass(frozen=True, slots=True)
class GuessedPlace:
    """A place beside another piece, placed or not, and the ``probability`` that the two lie so."""

    beside: int
    beside_from_piece: SE2
    probability: float


@dataclass(frozen=True, slots=True)
class BestGuess:
    """Where a piece that is not placed most likely belongs, and the next best place (None: there is none worth naming)."""

    piece: int
    best: GuessedPlace
    runner_up: GuessedPlace | None


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage of a run: its wall seconds and what it counted."""

    name: str
    seconds: float
    counts: Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class RunReport:
    """A whole run, for ``report.json``."""

    version: str
    puzzle: str
    seed: int
    stages: tuple[StageReport, ...]
    warnings: tuple[str, ...]
    config: Mapping[str, Any]
    seconds: float = 0.0
    """Of the whole command, from its start until this was written; stages taken from an earlier run do not count in it."""
    other_places: tuple[OtherPlace, ...] = ()
    """Where pieces fit about as well as where they lie."""
    best_guesses: tuple[BestGuess, ...] = ()
    """Where pieces that are not placed most likely belong."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a person knows of pieces without knowing a join.

    ``together``: they belong together; ``same_page``: they are of one page; ``apart``: they are not; ``edge``: the side that
    faces ``angle`` is an outer border; ``up``: that way is up; ``back``: the first is the back of the second. Angles are
    directions in the piece's own frame. A hint that is not ``firm`` makes likelier or less likely only.
    """

    kind: Literal["together", "same_page", "apart", "edge", "up", "back"]
    pieces: tuple[int, ...]
    angle: float = 0.0
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a person has decided; every composer obeys."""

    joins: tuple[Alignment, ...] = ()
    """Joins that hold."""
    forbidden: tuple[Alignment, ...] = ()
    """Joins that do not hold: nothing puts the pair together nearly so, no candidate of it and no other joins either."""
    pinned: Mapping[int, SE2] = field(default_factory=dict)
    """Pieces fixed in place, ``world_from_piece`` in one common frame."""
    aside: frozenset[int] = frozenset()
    """Pieces that are not to be placed."""
    hints: tuple[Hint, ...] = ()
    """What a person knows of pieces besides."""
