"""What a person gives → `Puzzle`: brings `io` (files) and `fragments` (pixels) together.

`load_input` takes everything that ``solve`` takes: folders of pieces, scans of many pieces, their backs; what the pictures show
decides how they are read. `load_puzzle` reads one folder of pieces, and `cut_scans` the pieces of scans one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments import NoPieceError
from jigsawnet.fragments.backs import lay_back
from jigsawnet.fragments.filled import are_filled, whole_piece
from jigsawnet.io.images import read_image
from jigsawnet.io.pages import Page, list_pages
from jigsawnet.io.pieces import list_unread, say_unread
from jigsawnet.io.scans import piece_stems, read_dpi
from jigsawnet.loading.pieces import (
    Outcome,
    Picture,
    folder_name,
    list_folder,
    load_puzzle,
    name_identical,
    read_pieces,
    to_puzzle,
)
from jigsawnet.loading.scans import (
    CheckPicture,
    CutScan,
    FoundScan,
    ScanInput,
    ScanScale,
    cut_scan,
    cut_scans,
    find_scale,
    find_scans,
    no_pieces,
    read_corrections,
)
from jigsawnet.types import Piece, Progress, Puzzle, UInt8Array, no_progress

__all__ = [
    "CheckPicture",
    "CutScan",
    "FoundScan",
    "Loaded",
    "Memory",
    "ScanInput",
    "cut_scans",
    "find_scale",
    "list_scans",
    "load_input",
    "load_puzzle",
    "no_pieces",
    "say_left_out",
]


_SAID_WHOLE = (
    "The {} pictures are alike in size and filled to their sides: each was taken as one whole piece (--filled no: as scans)."
)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """What was given: the pieces, and whatever else is known of them.

    ``backs[idx]`` is the back of a piece as it is seen from behind, on a canvas as large as the piece's: flipped from left to
    right it lies on the front. ``dpi`` holds for all pieces.
    """

    puzzle: Puzzle
    backs: Mapping[int, Piece] = field(default_factory=dict)
    dpi: float | None = None
    checks: tuple[CheckPicture, ...] = ()

    def __repr__(self) -> str:
        known = f", {self.dpi:g} dpi" if self.dpi else ""
        return f"Loaded({len(self.puzzle)} pieces of {self.puzzle.name!r}, {len(self.backs)} backs{known})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "backs", MappingProxyType(dict(self.backs)))


@dataclass(slots=True)
class Memory:
    """What was found on scans, so that pieces can be corrected without being looked for again."""

    room_px: int = 200_000_000
    """Pixels of pictures that are kept; others are read again when they are needed."""
    scale: ScanScale = field(default_factory=lambda: ScanScale((), None, ()))
    scans: list[FoundScan] = field(default_factory=list)
    is_whole: bool = False
    """True when all scans have been looked at."""

    def keep(self, found: Iterable[FoundScan]) -> Iterator[FoundScan]:
        """The same scans, each kept when it has been used."""
        for one in found:
            yield one
            if self.room_px:
                is_room = sum(old.front.n_pixels for old in self.scans) + one.front.n_pixels <= self.room_px
                self.scans.append(one if is_room else one.let_go())
        self.is_whole = bool(self.scans)


def load_input(
    paths: Sequence[str | Path],
    options: ScanInput = ScanInput(),  # noqa: B008 - frozen and empty
    progress: Progress = no_progress,
    memory: Memory | None = None,
) -> Loaded:
    """Read pieces and scans: folders, files, or both.

    Pictures with transparency or a known background colour hold one piece each. So do the others, unless they show several:
    files of which any does, or a folder of which at least half do, are scans. Pictures of like size that are filled to their
    sides are whole pieces (`ScanInput.filled`). ``Loaded.puzzle.warnings`` says all that a person
    should know, the findings on the scans included, the gravest first. What was found on scans is kept in ``memory``, if it is
    given, and taken from there the next time.

    Raises:
        InputError: something cannot be read, scans and single pieces are mixed, or there are fewer than two pieces.
        ConfigError: options do not fit the input.
        FormatError: a ``bg_color.txt`` is wrong.
    """
    places = [Path(path) for path in paths]
    if not places:
        raise InputError("Give a folder of pieces, or scans of them.")
    pictures = [picture for place in places for picture in _list_place(place, options.pages)]
    unread = say_left_out([*places, *options.back])
    if memory is not None and memory.is_whole:
        return _with_words(_cut_and_join(memory.scale, memory.scans, options), unread)
    any_file = any(not place.is_dir() for place in places)
    backs, said = list_scans(options.back, options.pages) if options.back else [], ""
    outcomes = read_pieces(pictures, progress)
    if _are_whole(outcomes, options):
        outcomes = [Outcome(whole_piece(0, p.page.name, read_image(p.page)), cut_out=True) for p in pictures]
        said = _SAID_WHOLE.format(len(pictures)) if options.filled == "auto" else ""
    elif _are_scans(outcomes, any_file):
        scans = [picture.page for picture in pictures]
        read = {page: outcome.pixels for page, outcome in zip(scans, outcomes, strict=True) if outcome.pixels is not None}
        del outcomes
        return _with_words(_load_scans(scans, read, backs, options, progress, memory or Memory(0)), unread)
    _refuse_scan_options(options)
    name = folder_name(places[0]) if places[0].is_dir() else places[0].resolve().parent.name or "puzzle"
    puzzle = to_puzzle(name, outcomes, " and ".join(str(place) for place in places[:2]))
    if said:
        puzzle = replace(puzzle, warnings=(said, *puzzle.warnings))
    loaded = Loaded(puzzle, _load_backs(puzzle, backs, progress), _common_dpi([p.page for p in pictures]), ())
    return _with_words(loaded, unread)


def list_scans(places: Sequence[Path], pages: str = "") -> list[Page]:
    """Files as given, and in the place of a folder its pictures in natural order of their names; all, or these, pages."""
    return [picture.page for place in places for picture in _list_place(place, pages)]


def say_left_out(places: Sequence[Path]) -> list[str]:
    """A sentence for each folder about the files in it that may be meant as pictures and are not read."""
    return [sentence for place in places if place.is_dir() for sentence in say_unread(list_unread(place))]


def _with_words(loaded: Loaded, sentences: Sequence[str]) -> Loaded:
    return replace(loaded, puzzle=replace(loaded.puzzle, warnings=(*sentences, *loaded.puzzle.warnings)))


def _list_place(place: Path, pages: str) -> list[Picture]:
    try:
        is_folder = place.is_dir()
        exists = is_folder or place.exists()
    except (OSError, ValueError) as error:
        raise InputError(f"{place} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if not exists:
        raise InputError(f"There is no file or folder {place}.")
    return list_folder(place, pages) if is_folder else [Picture(page) for page in list_pages(place, pages)]


def _are_whole(outcomes: Sequence[Outcome], options: ScanInput) -> bool:
    """Whether each picture is one piece that fills it; not where a piece can be told from a background in half of them."""
    if options.filled != "auto":
        return options.filled == "yes"
    outlines = [outcome.outline for outcome in outcomes if outcome.outline is not None]
    alone = sum(isinstance(outcome.piece, Piece) for outcome in outcomes)
    return len(outlines) == len(outcomes) and 2 * alone < len(outcomes) and are_filled(outlines)


def _are_scans(outcomes: Sequence[Outcome], any_file: bool) -> bool:
    """Whether pictures show many pieces each: a single file, files if any does, those of folders if at least half do.

    A picture on which nothing is seen does not count: pale paper on white is seen only when it is looked for as on a scan.
    """
    if any(outcome.cut_out for outcome in outcomes):
        return False
    if any_file and len(outcomes) == 1:
        return True
    shown = [outcome.piece for outcome in outcomes if not isinstance(outcome.piece, NoPieceError)]
    n_scans = sum(not isinstance(piece, Piece) for piece in shown)
    return n_scans > 0 if any_file and shown else 2 * n_scans >= len(shown)


def _refuse_scan_options(options: ScanInput) -> None:
    for option in ("scale", "exclude"):
        if getattr(options, option):
            raise ConfigError(f"{option} is for scans of many pieces, but each picture given here shows one piece.")


def _load_scans(
    scans: list[Page],
    read: dict[Page, UInt8Array],
    backs: list[Page],
    options: ScanInput,
    progress: Progress,
    memory: Memory,
) -> Loaded:
    memory.scale = find_scale(scans, options, read)
    found = find_scans(scans, memory.scale, backs, options, progress, read)
    return _cut_and_join(memory.scale, memory.keep(found), options)


def _cut_and_join(scale: ScanScale, found: Iterable[FoundScan], options: ScanInput) -> Loaded:
    """The pieces of all scans, cut out one scan after the other."""
    corrections = read_corrections(options)
    pieces: list[Piece] = []
    laid: dict[int, Piece] = {}
    checks: list[CheckPicture] = []
    scans: list[Page] = []
    for one in found:
        cut, first = cut_scan(one, options, corrections), len(pieces)
        scans.append(one.front.page)
        pieces += [replace(piece, idx=first + piece.idx) for piece in cut.pieces]
        laid |= {first + k: replace(back, idx=first + k) for k, back in cut.backs.items()}
        checks += cut.checks
    if not pieces:
        raise no_pieces(scans)
    if len(pieces) < 2:
        raise InputError(f"At least two pieces are needed, but only one was found on {scans[0].name}.")
    sentences = [finding.sentence for finding in scale.findings]
    for grave in (True, False):
        sentences += [sentence for check in checks for sentence in check.sentences(grave=grave)]
    name = piece_stems(scans)[0]
    return Loaded(Puzzle(name, tuple(pieces), (*sentences, *name_identical(pieces))), laid, scale.dpi, tuple(checks))


def _load_backs(puzzle: Puzzle, backs: Sequence[Page], progress: Progress) -> dict[int, Piece]:
    """The backs of single pieces: under the names of the fronts, or in the same order; turned to lie on their fronts."""
    if not backs:
        return {}
    outcomes = read_pieces([Picture(page) for page in backs], progress)
    pieces = {piece.name: piece for piece in (outcome.piece for outcome in outcomes) if isinstance(piece, Piece)}
    if not set(puzzle.names()) & set(pieces):
        if len(pieces) != len(puzzle):
            raise InputError(
                f"There are {len(puzzle)} pieces but {len(pieces)} pictures of backs: give one back for each piece, "
                "or give backs the names of their fronts."
            )
        pieces = dict(zip(puzzle.names(), pieces.values(), strict=True))
    return {front.idx: lay_back(front, pieces[front.name], any_angle=True) for front in puzzle.pieces if front.name in pieces}


def _common_dpi(pictures: Sequence[Page]) -> float | None:
    """The resolution on which the tags of all pictures agree."""
    dpis = {read_dpi(page) for page in pictures}
    return dpis.pop() if len(dpis) == 1 else None
