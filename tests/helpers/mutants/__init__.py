"""The list of mutants: small errors put into the source one at a time, and the tests that should notice each."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LIST = Path(__file__).with_name("list.toml")
RESULTS = ROOT / "benchmarks" / "results" / "mutants.json"
PAGE = ROOT / "docs" / "mutants.md"
SOURCE = Path("src", "jigsawnet")
GROUND = "ground"
"""What the files beside the packages are called together."""
PACKAGES = ("compose", "score", "training", "evaluation", GROUND)
CAUGHT, SURVIVED = "caught", "survived"

Row = Mapping[str, Any]

_HEAD = """# Mutants

Made by `make mutants`. A mutant is a small error put into the source, one at a time, such as a person could make; it is caught
when one of the few test files named for it fails. The list is `tests/helpers/mutants/list.toml`. A mutant that survives is an
error that no test would notice, or that changes nothing.
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One error: ``old`` becomes ``new`` in a file of the product."""

    file: str
    name: str
    old: str
    new: str
    tests: tuple[str, ...]
    words: str = ""
    """Where the files are slow: words of the tests that should notice, tried first (as of ``pytest -k``)."""

    @property
    def package(self) -> str:
        return self.file.split("/")[0] if "/" in self.file else GROUND

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.name

    def path(self, root: Path = ROOT) -> Path:
        return root / SOURCE / self.file

    def is_stale(self) -> bool:
        """True when the text does not occur, or not just once, so that the mutant is not what its name says."""
        path = self.path()
        return not path.is_file() or path.read_text(encoding="utf-8").count(self.old) != 1

    def digest(self, by: str, root: Path = ROOT) -> str:
        """Names what an outcome depends on at sight: the mutated file and the tests that noticed it, or all when none did."""
        tests = [by.partition("::")[0]] if "::" in by else self.tests
        files = [self.path(root), *(root / test for test in tests)]
        parts = [self.old, self.new, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def read_mutants() -> list[Mutant]:
    files = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Mutant(file, name, old, new, tuple(part["tests"]), *words)
        for file, part in files.items()
        for name, old, new, *words in part["mutants"]
    ]


def read_results() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {"rows": []}
    return data


def page_text(results: Mapping[str, Any]) -> str:
    """The page: counts of each package, and the names of those that survived, or that were not tried."""
    rows, machine, mutants = results["rows"], results["machine"], read_mutants()
    tried = {(row["file"], row["name"]) for row in rows}
    commits = [f"{count} at {name[:7]}" for name, count in Counter(row["commit"] for row in rows).items()]
    lines = [_HEAD, f"Last on {machine['processor']}, {machine['cores']} cores; tried: {', '.join(commits)}.\n"]
    lines += ["| package | mutants | tried | caught | caught of the tried, % |", "| --- | --- | --- | --- | --- |"]
    for package in (*PACKAGES, "all"):
        own = [row for row in rows if package in ("all", row["package"])]
        listed, caught = sum(package in ("all", mutant.package) for mutant in mutants), count_caught(own)
        lines.append(f"| {package} | {listed} | {len(own)} | {caught} | {100 * caught / max(1, len(own)):.1f} |")
    lines += ["", "## Survivors", ""]
    lines += [f"- `{row['file']}`: {row['name']}." for row in rows if row["outcome"] != CAUGHT] or ["None."]
    waiting = [f"- `{mutant.file}`: {mutant.name}." for mutant in mutants if mutant.key not in tried]
    lines += ["", "## Not tried yet", "", *waiting] if waiting else []
    return "\n".join(lines) + "\n"


def count_caught(rows: Sequence[Row]) -> int:
    return sum(row["outcome"] == CAUGHT for row in rows)
