"""The versions that the tests ran with: all that the project and its extras need, as installed. ``make lock`` writes them."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from platform import python_version_tuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HEAD = """\
# Versions that the tests of jigsawnet ran with, all extras included, on Python {}; written by `make lock`.
# pip install -c requirements.lock 'jigsawnet[web]' installs these.
"""


def requirements() -> list[Requirement]:
    """What pyproject.toml asks for, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    return [Requirement(line) for line in (*project["dependencies"], *extras)]


def needed_by_users() -> list[str]:
    """The packages that the core and the workbench need, to the end."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*installed([Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["web"])])]


def installed(asked: list[Requirement] | None = None) -> dict[str, str]:
    """Name and version of each package that is needed, in order; without the label of a build, such as ``+cpu``."""
    found: dict[str, str] = {}
    waiting = [(each, "") for each in (requirements() if asked is None else asked)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        found[name] = metadata.version(name).partition("+")[0]
        for of_extra in ("", *wanted.extras):
            if (name, of_extra) not in seen:
                seen.add((name, of_extra))
                waiting += [(Requirement(line), of_extra) for line in metadata.requires(name) or ()]
    return dict(sorted(found.items()))


def lines() -> Iterator[str]:
    """The lines of the file."""
    yield HEAD.format(".".join(python_version_tuple()[:2]))
    for name, version in installed().items():
        yield f"{name}=={version}\n"


def oldest() -> Iterator[str]:
    """The lowest series of versions that is asked for, of each package that a user gets: the core, and the workbench."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in (*project["dependencies"], *project["optional-dependencies"]["web"]):
        wanted = Requirement(line)
        lowest = [each.version for each in wanted.specifier if each.operator in (">=", "==")]
        yield f"{canonicalize_name(wanted.name)}=={lowest[0]}.*"


if __name__ == "__main__":
    print("\n".join(oldest()) if "--oldest" in sys.argv else "".join(lines()), end="")
