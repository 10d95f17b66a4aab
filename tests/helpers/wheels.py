"""Which wheels the index has of all that a user installs, for each system and Python: the table of docs/platforms.md.

``PYTHONPATH=tests/helpers python -m wheels INDEX`` asks an index, given as the address of its simple pages, what files it has.
Versions are those of requirements.lock. What is needed on one system only (colorama, on Windows) is not asked for.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from collections.abc import Iterable, Iterator

from locked import ROOT, needed_by_users
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

PYTHONS = ((3, 11), (3, 12), (3, 13))
SYSTEMS = {
    "Linux": [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + ["manylinux2014_x86_64", "manylinux2010_x86_64"],
    "macOS": list(mac_platforms((14, 0), "arm64")),
    "Windows": ["win_amd64"],
}
_ASKED = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


def wheels_of(page: str, name: str, version: str) -> list[frozenset[Tag]]:
    """The tags of each wheel of one version that a page of the index lists."""
    found = []
    for file in set(re.findall(r"[\w.+!-]+\.whl", page)):
        try:
            of, number, _, tags = parse_wheel_filename(file)
        except InvalidWheelFilename:
            continue
        if of == canonicalize_name(name) and number == Version(version):
            found.append(tags)
    return found


def row(name: str, wheels: Iterable[frozenset[Tag]]) -> str:
    """The row of a package: for each system the Pythons that have a wheel."""
    cells = []
    for platforms in SYSTEMS.values():
        words, kinds = [], set()
        for python in PYTHONS:
            wanted = {
                *cpython_tags(python, platforms=platforms),
                *compatible_tags(python, f"cp{python[0]}{python[1]}", platforms),
            }
            tags = {tag for each in wheels for tag in each} & wanted
            words.append(".".join(map(str, python)) if tags else f"no {python[0]}.{python[1]}")
            kinds |= {"any" if tag.platform == "any" else tag.abi for tag in tags}
        if kinds == {"any"}:
            cells.append("any")
        else:
            cells.append(", ".join(words) + (" (abi3)" if kinds and kinds <= {"abi3", "none"} else ""))
    return f"| {name} | {' | '.join(cells)} |"


def rows(index: str) -> Iterator[str]:
    """All rows, those of packages in plain Python as one."""
    locked = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line)
    plain = []
    for name in needed_by_users():
        request = urllib.request.Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": _ASKED})
        with urllib.request.urlopen(request, timeout=60) as answer:
            line = row(name, wheels_of(answer.read().decode("utf-8"), name, locked[name]))
        if line.endswith("| any | any | any |"):
            plain.append(name)
        else:
            yield line
    yield f"| {', '.join(plain)} | any | any | any |"


if __name__ == "__main__":
    print("\n".join(rows(sys.argv[1])))
