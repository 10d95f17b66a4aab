"""``jigsawnet.toml``: options by command, for those that are not given on the command line.

    [solve]
    workers = 2
    match.dense.probes = 12

The file of the working folder may have come with somebody's pieces, so it cannot say what is trusted: other
machines, weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.parsing import OPTION
from jigsawnet.cli.reference import dashed, is_positional, unwrap
from jigsawnet.errors import ConfigError, FormatError
from jigsawnet.io.files import read_text
from jigsawnet.io.json_files import convert
from jigsawnet.io.toml_text import parse_toml

MAX_BYTES = 2**18
_ON_TRUST = ("scheduler", "weights", "base")
"""Who is sent the pieces, and what was learned."""
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says about one command."""

    path: Path
    default: Any
    """The command with these options; what has no default is `tyro.MISSING`."""
    names: Mapping[str, tuple[str, ...]]
    """The options that are in the file, and the attributes that lead to them."""

    def taken(self, command: Any) -> tuple[str, ...]:
        """The options that a command has as the file says, as lines for the record; no path is in them."""
        same = (name for name, way in self.names.items() if _at(command, way) == _at(self.default, way))
        return tuple(f"{self.path.name}: {name}" for name in sorted(same))


def read_settings(path: Path, command: str, cls: Any, *, trusted: bool = False) -> Settings:
    """What a file says about the command ``cls``.

    Args:
        path: the file.
        command: the command's name.
        cls: the command's class.
        trusted: the file was named, not found.

    Raises:
        JigsawNetError: the file cannot be read, names something that is not there, or a value is wrong; file and key are named.
    """
    tables = _dashed_keys(parse_toml(read_text(path, MAX_BYTES), str(path)), str(path))
    for name, table in tables.items():
        if name not in COMMANDS:
            raise _unknown(str(path), (), name, "is no command", COMMANDS)
        if not isinstance(table, dict):
            raise FormatError(f"{path}: {name} must be a table, written as [{name}].")
    filler = _Filler(path, trusted, {})
    own = tables.get(command, {})
    changes = filler.changes(cls, own, (command,), ())
    filler.refuse_rest(cls, own, (command,))
    return Settings(path, _unchecked(cls, changes), filler.names)


@dataclass(frozen=True, slots=True)
class _Filler:
    """Takes values out of tables, as fields of the dataclasses of options."""

    path: Path
    trusted: bool
    names: dict[str, tuple[str, ...]]

    def changes(self, cls: Any, table: dict[str, Any], keys: tuple[str, ...], way: tuple[str, ...]) -> dict[str, Any]:
        """The fields of ``cls`` that a table gives; what was taken is gone from the table.

        ``keys`` lead to the table in the file, ``way`` are the attributes that lead to ``cls`` in the command.
        """
        hints, found = get_type_hints(cls, include_extras=True), {}
        for item in fields(cls):
            kind, notes = unwrap(hints[item.name])
            key, here = dashed(item.name), (*way, item.name)
            if is_dataclass(kind):
                flat = any(getattr(note, "name", None) == "" for note in notes)
                inner = table if flat else self._table(table, key, keys)
                if inner is None:
                    continue
                place = keys if flat else (*keys, key)
                changed = self.changes(kind, inner, place, here)
                if not flat:
                    self.refuse_rest(kind, inner, place)
                if changed:
                    found[item.name] = self._made(item.default_factory, changed, place)
            elif key in table and _can_be_set(item, notes):
                found[item.name] = self._value(kind, table.pop(key), (*keys, key))
                self.names[".".join((*keys[1:], key))] = here
        return found

    def refuse_rest(self, cls: Any, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        """Refuse the keys that are left."""
        for key in table:
            raise _unknown(str(self.path), keys, key, "is no option that can be set here", _keys_of(cls))

    def _table(self, table: dict[str, Any], key: str, keys: tuple[str, ...]) -> dict[str, Any] | None:
        inner = table.pop(key, None)
        if inner is None or isinstance(inner, dict):
            return inner
        raise FormatError(f"{self.path}: {'.'.join((*keys, key))} is a group of options, so it must be a table.")

    def _value(self, kind: Any, value: Any, keys: tuple[str, ...]) -> Any:
        where = f"{self.path}: {'.'.join(keys)}"
        if keys[-1] in _ON_TRUST and not self.trusted:
            raise ConfigError(
                f"{where} is not taken from a file that was found; name the file with {OPTION}, or give the option."
            )
        for single in value if isinstance(value, list) else [value]:
            if isinstance(single, str) and any(c < " " or c == "\x7f" for c in single):
                raise FormatError(f"{where} must be one line of text.")
            if isinstance(single, int | float) and not -_LARGEST < single < _LARGEST:
                raise FormatError(f"{where} holds a number that is too large, or none.")
        try:
            return _from_folder(convert(kind, value, where), self.path.parent)
        except FormatError as error:
            raise FormatError(str(error).replace(" or null.", ".")) from error  # there is no null in TOML

    def _made(self, factory: Any, changed: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
        try:
            return replace(factory(), **changed)
        except ConfigError as error:
            raise FormatError(f"{self.path}, {'.'.join(keys)}: {error}") from error


def _can_be_set(item: Any, notes: tuple[Any, ...]) -> bool:
    """What a command needs is said on the command line."""
    has_default = item.default is not MISSING or item.default_factory is not MISSING
    return has_default and not is_positional(notes) and item.name not in ("settings", "from_file")


def _keys_of(cls: Any) -> Iterator[str]:
    """The keys that a table of ``cls`` may have."""
    hints = get_type_hints(cls, include_extras=True)
    for item in fields(cls):
        kind, notes = unwrap(hints[item.name])
        if is_dataclass(kind) and any(getattr(note, "name", None) == "" for note in notes):
            yield from _keys_of(kind)
        elif is_dataclass(kind) or _can_be_set(item, notes):
            yield dashed(item.name)


def _unknown(where: str, keys: tuple[str, ...], key: str, what: str, known: Iterable[str]) -> FormatError:
    shown = key if len(key) <= 60 else f"{key[:60]}..."
    near = get_close_matches(shown, list(known), n=1)
    hint = f"; did you mean {'.'.join((*keys, near[0]))}?" if near else "."
    return FormatError(f"{where}: {'.'.join((*keys, shown))} {what}{hint}")


def _dashed_keys(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The same with keys as options are written, in all tables."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = dashed(key)
        if name in found:
            raise FormatError(f"{where}: {name[:60]} is there twice, with - and with _.")
        found[name] = _dashed_keys(value, where) if isinstance(value, dict) else value
    return found


def _from_folder(value: Any, folder: Path) -> Any:
    """Paths count from the folder of the file."""
    if isinstance(value, tuple):
        return tuple(_from_folder(single, folder) for single in value)
    return folder / value if isinstance(value, Path) else value


def _unchecked(cls: Any, changes: Mapping[str, Any]) -> Any:
    """A command that lacks what it needs, to be completed by the command line, which checks the whole."""
    import tyro  # noqa: PLC0415 - takes a while to load

    made = object.__new__(cls)
    for item in fields(cls):
        usual = tyro.MISSING if item.default_factory is MISSING else item.default_factory()
        usual = usual if item.default is MISSING else item.default
        object.__setattr__(made, item.name, changes.get(item.name, usual))
    return made


def _at(command: Any, way: tuple[str, ...]) -> Any:
    for name in way:
        command = getattr(command, name)
    return command
