"""``python -m jigsawnet.cli.reference``: every command with its options, as Markdown, made from the classes of the commands."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from jigsawnet.cli.commands import COMMANDS

_INTRO = """# Commands

Made from the code by `python -m jigsawnet.cli.reference > docs/commands.md`. `jigsawnet --help` lists the commands,
`jigsawnet COMMAND --help` the options of one, `jigsawnet --version` tells the version.
"""
_WORDS = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option or positional argument: how it is written, what it takes, what it is without it."""

    written: str
    takes: str
    default: str
    help: str
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Options of one dataclass: of the command itself, or of a stage."""

    title: str
    about: str
    options: tuple[Option, ...]


def reference() -> str:
    """The whole page."""
    return "\n".join([_INTRO, *(_command(name, entry.load()) for name, entry in COMMANDS.items())])


def groups_of(cls: Any, prefix: str = "") -> Iterator[Group]:
    """The options of a command, its own first and then those of each nested dataclass, as tyro names them."""
    hints, helps = get_type_hints(cls, include_extras=True), field_help(cls)
    own: list[Option] = []
    nested: list[Group] = []
    inherited = {item.name for parent in cls.__mro__[1:] if is_dataclass(parent) for item in fields(parent)}
    for item in sorted(fields(cls), key=lambda item: item.name in inherited):
        kind, notes = unwrap(hints[item.name])
        if tyro.conf.Fixed in notes:
            continue
        if is_dataclass(kind):
            flat = any(getattr(note, "name", None) == "" for note in notes)
            inner = list(groups_of(kind, prefix if flat else f"{prefix}{dashed(item.name)}."))
            own += inner[0].options if flat else ()
            nested += inner[1:] if flat else inner
        else:
            own.append(_option(item, kind, notes, prefix, helps.get(item.name, "")))
    yield Group(prefix.rstrip("."), inspect.getdoc(cls) or "", tuple(own))
    yield from nested


def field_help(cls: Any) -> dict[str, str]:
    """The string under each field of a dataclass."""
    found: dict[str, str] = {}
    for parent in filter(is_dataclass, cls.__mro__[1:]):
        found |= field_help(parent)
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    for field_line, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field_line, ast.AnnAssign) and isinstance(field_line.target, ast.Name) and isinstance(below, ast.Expr):
            found[field_line.target.id] = " ".join(str(ast.literal_eval(below.value)).split())
    return found


def _command(name: str, cls: Any) -> str:
    own, *nested = groups_of(cls)
    words = [option.takes for option in own.options if option.positional]
    words += [f"{o.written.split(',')[0]} {o.takes}" for o in own.options if o.default == "needed" and not o.positional]
    usage = " ".join(["jigsawnet", name, *words, "[OPTIONS]"])
    lines = [f"## {name}", "", own.about, "", f"```text\n{usage}\n```", "", _table(own), ""]
    for group in (group for group in nested if group.options):
        lines += [f"### {name}: {group.title}", "", group.about.split("\n\n")[0], "", _table(group), ""]
    return "\n".join(lines)


def _table(group: Group) -> str:
    rows = ["| option | takes | without it | what it does |", "|---|---|---|---|"]
    for option in group.options:
        words = re.sub(r"([*_<])", r"\\\1", option.help)
        cells = (f"`{option.written}`", f"`{option.takes}`" if option.takes else "", option.default, words)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _option(item: Field[Any], kind: Any, notes: tuple[Any, ...], prefix: str, words: str) -> Option:
    metavar = next((note.metavar for note in notes if getattr(note, "metavar", None)), None)
    aliases = next((note.aliases for note in notes if getattr(note, "aliases", None)), ())
    takes, default = _takes(kind, metavar), _default(item)
    if is_positional(notes):
        takes = takes if metavar or "|" in takes else item.name.upper()
        return Option(takes.split()[0], takes, default, words, positional=True)
    name = f"--{prefix}{next((note.name for note in notes if getattr(note, 'name', None)), dashed(item.name))}"
    if kind is bool:
        pairs = not any("createpairsoff" in str(note).lower().replace("_", "") for note in notes)
        if pairs:
            name += f", --{prefix}no-{dashed(item.name)}"
        return Option(name, "", default, words)
    return Option(", ".join([*aliases, name]), takes, default, words)


def _takes(kind: Any, metavar: str | None = None) -> str:
    """What is written after an option, in words."""
    if get_origin(kind) in (Union, types.UnionType):
        return _takes(next(part for part in get_args(kind) if part is not type(None)), metavar)
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        if parts[-1] is Ellipsis:
            return f"{_takes(parts[0], metavar)} ..."
        return metavar or " ".join(_takes(part) for part in parts)
    if get_origin(kind) is Literal:
        return "|".join(str(choice) for choice in get_args(kind))
    return metavar or _WORDS.get(kind, getattr(kind, "__name__", str(kind)).upper())


def _default(item: Field[Any]) -> str:
    if item.default is MISSING:
        return "needed"
    if item.default is None or item.default == ():
        return "–"
    if isinstance(item.default, bool):
        return "on" if item.default else "off"
    return f"`{' '.join(map(str, item.default)) if isinstance(item.default, tuple) else item.default}`"


def is_positional(notes: tuple[Any, ...]) -> bool:
    """True for an argument that has no name on the command line."""
    return any("positional" in str(note).lower() for note in notes)


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its notes, and the notes."""
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        inner, more = unwrap(kind)
        return inner, (*notes, *more)
    return hint, ()


def dashed(name: str) -> str:
    """A name as options are written."""
    return name.replace("_", "-")


if __name__ == "__main__":
    sys.stdout.write(reference())
