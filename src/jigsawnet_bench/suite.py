"""A suite: which puzzles to cut or read, what is done to them and by whom; a short TOML file → frozen data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jigsawnet.errors import ConfigError, FormatError, InputError
from jigsawnet.io.files import read_text
from jigsawnet.io.json_files import check_keys, fill, table, tables
from jigsawnet.io.toml_text import parse_toml
from jigsawnet.shred import PRESETS, ShredConfig
from jigsawnet_bench.machine import CLONE
from jigsawnet_bench.methods import METHODS, Task, check_methods

BUILTIN = Path(__file__).parent / "builtin"

Source = Literal["photos", "pages", "documents", "generated", "folders", "real"]
SHRED_KEY = "shred"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the puzzles of a group have in common, apart from how they are cut."""

    name: str
    """For people, such as "36 pieces"."""
    source: Source = "photos"
    """What is cut. photos: pictures of a folder; pages: made-up pages of text; documents:
    the same in A4 at 150 dpi, as they come to a shredder; generated: made-up pictures. folders: nothing,
    pieces with their truth are read. real: so are collections of such
    folders and strips in order, and for the task real also pieces without truth."""
    puzzles: int = 3
    """How many puzzles; each has a picture and a seed of its own."""
    mix: int = 1
    """Pictures mixed in one puzzle."""
    foreign: int = 0
    """Pieces added that belong to nothing: one of each of so many other pictures, cut in the same way."""
    preset: str = ""
    """Also damaged as this preset of the shredder says."""
    strength: float = 1.0
    """Of the preset, from 0 to 1."""
    dpi: float = 150.0
    """At which documents are printed and scanned."""
    cuts: int = 1
    """How often each picture is cut, each time by another seed; the spread is that of the means over the seeds."""
    methods: tuple[str, ...] = ()
    """Who puts them together; all methods of the suite when left out."""
    paper: tuple[str, ...] = ()
    """Sets of the paper's tables to compare with, such as "MIT 9"."""

    def __post_init__(self) -> None:
        if min(self.puzzles, self.cuts, self.mix) < 1 or self.foreign < 0:
            raise ConfigError("puzzles, cuts and mix must be 1 or more, foreign 0 or more.")
        if self.preset and self.preset not in PRESETS:
            raise ConfigError(f'there is no preset "{self.preset}"; use one of {", ".join(PRESETS)}.')
        if not 0.0 <= self.strength <= 1.0:
            raise ConfigError(f"strength is {self.strength}; it must be between 0 and 1.")
        if not 72.0 <= self.dpi <= 600.0:
            raise ConfigError(f"dpi is {self.dpi}; it must be between 72 and 600.")
        if self.foreign and self.is_read:
            raise ConfigError("foreign pieces are added to puzzles that are cut, not to those that are read.")

    @property
    def is_read(self) -> bool:
        """True when pieces are read and nothing is cut."""
        return self.source in ("folders", "real")


@dataclass(frozen=True, slots=True)
class Curve:
    """The place of a group on a curve of damage."""

    name: str
    axis: str
    """What is varied, with its unit."""
    at: float


@dataclass(frozen=True, slots=True)
class Group:
    """Puzzles of one kind, cut in one way."""

    kind: Kind
    shred: ShredConfig = field(default_factory=ShredConfig)
    curve: Curve | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One curve: a group for each value of one option."""

    name: str
    axis: str
    """What is varied, with its unit: the label of the axis."""
    vary: str
    """An option of the shredder, "mix", "foreign" or "strength"."""
    values: tuple[int | float, ...]
    source: Source = "photos"
    puzzles: int = 3
    preset: str = ""
    methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """What a suite says about itself."""

    title: str
    """One line for people."""
    task: Task = "solve"
    """What is done to each puzzle."""
    methods: tuple[str, ...] | None = None
    """Who does it; all methods of the task when left out."""
    photos: str | None = None
    """Folder of pictures when none is given: below the suite file's folder; for built-in suites below the repository."""
    time_limit: float = 3600.0
    """Seconds after which one method is stopped on one puzzle."""

    def __post_init__(self) -> None:
        if self.methods is not None and not self.methods:
            raise ConfigError("methods is empty; name at least one.")
        if not self.time_limit > 0:
            raise ConfigError("time_limit must be positive.")


@dataclass(frozen=True, slots=True)
class Suite:
    """A whole suite; ``base`` is the folder that ``head.photos`` lies below."""

    name: str
    head: Head
    groups: tuple[Group, ...]
    base: Path

    def methods_of(self, group: Group) -> tuple[str, ...]:
        """Who works on the puzzles of a group."""
        return group.kind.methods or self.head.methods or tuple(METHODS[self.head.task])


def builtin_suites() -> dict[str, Path]:
    """Names and files of the suites in the package."""
    return {path.stem: path for path in sorted(BUILTIN.glob("*.toml"))}


def load_suite(name: str) -> Suite:
    """Read a built-in suite by its name, or any suite by the path of its TOML file.

    Raises:
        InputError: there is no such suite or file.
        FormatError: the file is no suite.
    """
    builtin = builtin_suites()
    if name in builtin:
        return parse_suite(name, read_text(builtin[name]), name, CLONE)
    path = Path(name)
    if path.suffix != ".toml":
        raise InputError(f"There is no suite {name!r}; give the path of a .toml file or one of {', '.join(builtin)}.")
    return parse_suite(path.stem, read_text(path), str(path), path.parent)


def parse_suite(name: str, text: str, where: str, base: Path) -> Suite:
    """Make a suite of the text of its file; ``where`` names the file in errors."""
    data = parse_toml(text, where)
    lists = ("group", "sweep")
    head = fill(Head, {key: value for key, value in data.items() if key not in lists}, where)
    groups = [_group(entry, f"{where}: group {k + 1}") for k, entry in enumerate(tables(data, "group", where))]
    for k, entry in enumerate(tables(data, "sweep", where)):
        groups += _sweep(entry, f"{where}: sweep {k + 1}")
    if not groups:
        raise FormatError(f"{where} describes no puzzles; add [[group]] or [[sweep]].")
    try:
        check_methods([*(head.methods or ()), *(name for group in groups for name in group.kind.methods)], head.task)
    except ConfigError as error:
        raise FormatError(f"{where}: {error}") from error
    names = [group.kind.name for group in groups]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise FormatError(f'{where} has two groups named "{twice}"; every group needs a name of its own.')
    return Suite(name, head, tuple(groups), base)


def _group(entry: Mapping[str, Any], where: str) -> Group:
    plain = {key: value for key, value in entry.items() if key != SHRED_KEY}
    return Group(fill(Kind, plain, where), fill(ShredConfig, table(entry, SHRED_KEY, where), f"{where}, shred"))


def _sweep(entry: Mapping[str, Any], where: str) -> Iterator[Group]:
    sweep = fill(Sweep, {key: value for key, value in entry.items() if key != SHRED_KEY}, where)
    fixed = table(entry, SHRED_KEY, where)
    of_kind = sweep.vary in ("mix", "foreign", "strength")
    if not of_kind:
        check_keys({sweep.vary: None}, ShredConfig.__dataclass_fields__, f"{where}: vary")
    for value in sweep.values:
        curve = Curve(sweep.name, sweep.axis, float(value))
        kind: dict[str, Any] = {
            "name": f"{sweep.name} {value:g}",
            "source": sweep.source,
            "puzzles": sweep.puzzles,
            "preset": sweep.preset,
        }
        shred = {**fixed}
        (kind if of_kind else shred)[sweep.vary] = value
        filled = fill(Kind, {**kind, "methods": list(sweep.methods)}, where)
        yield Group(filled, fill(ShredConfig, shred, f"{where}, shred"), curve)
