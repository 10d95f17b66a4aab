"""``python -m mutants.run [WORD...]``: put each mutant into a copy of the source and see whether its tests notice.

Outcomes are kept in ``benchmarks/results/mutants.json`` as they come, each with the commit it is of, and a mutant is not tried
again until its file or the tests that noticed it change; until it is, the old outcome stays. WORD: only mutants whose file or
name holds one of these.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jigsawnet.io.files import write_text
from jigsawnet_bench.machine import commit_of, describe_machine, git
from mutants import CAUGHT, PAGE, RESULTS, ROOT, SURVIVED, Mutant, Row, count_caught, page_text, read_mutants, read_results

COPIED = ("src", "tests", "examples", "docs", "benchmarks", "pyproject.toml", "README.md")
LEFT_OUT = "not (quick or time_is_up or flood or hundred_thousand or stay_within_bounds)"
"""Tests that look at the clock say nothing about a mutant."""
PRELOADED = ("cv2", "numba", "pytest", "scipy.optimize", "scipy.spatial", "torch")
"""Libraries that the children of this process need not import again."""
LIMIT_S, ENDLESS = 3600, "they do not end"
"""What is said of tests that run longer than this."""


def main(words: Sequence[str]) -> int:
    """Try the mutants that are wanted and not tried yet; 1 when one cannot be put into the source."""
    mutants = read_mutants()
    stale = [mutant for mutant in mutants if mutant.is_stale()]
    for mutant in stale:
        print(f"stale: {mutant.file}: {mutant.name}")
    if stale:
        return 1
    for library in PRELOADED:
        importlib.import_module(library)
    kept = {(row["file"], row["name"]): row for row in read_results()["rows"]}
    kept = {m.key: kept[m.key] for m in mutants if m.key in kept}
    true = {m.key for m in mutants if m.key in kept and kept[m.key]["digest"] == m.digest(kept[m.key]["by"])}
    wanted = [m for m in mutants if m.key not in true and (not words or any(word in f"{m.file} {m.name}" for word in words))]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in COPIED:
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy2)(ROOT / part, copy / part)
        passing: set[str] = set()
        for done, mutant in enumerate(wanted, start=1):
            row = try_mutant(copy, mutant, passing)
            kept[mutant.key] = row
            print(f"{done} of {len(wanted)}: {row['outcome']}: {mutant.file}: {mutant.name} ({row['seconds']} s)", flush=True)
            keep([kept[m.key] for m in mutants if m.key in kept])
    rows = [kept[m.key] for m in mutants if m.key in kept]
    keep(rows)
    print(f"{count_caught(rows)} of {len(rows)} caught; {len(mutants) - len(rows)} not tried")
    return 0


def keep(rows: Sequence[Row]) -> None:
    """Write the outcomes and the page."""
    results: dict[str, Any] = {
        "format": "jigsawnet/mutants", "version": 1, "command": "make mutants", "machine": describe_machine(),
        "commits": {row["commit"][:7]: row["commit"] for row in rows}, "rows": list(rows),
    }  # fmt: skip
    write_text(RESULTS, json.dumps(results, indent=1) + "\n")
    write_text(PAGE, page_text(results))


def commit() -> str:
    """As of the benchmark, but tests that differ from the commit count, too."""
    name = commit_of()
    return name + "+" if name and git(ROOT, "status", "--porcelain", "--", "tests") and not name.endswith("+") else name


def try_mutant(copy: Path, mutant: Mutant, passing: set[str]) -> Row:
    """Run the tests that should notice, then all of their files; a test that fails without the mutant as well notices nothing.

    ``passing``: tests that are known to pass without a mutant.
    """
    started = time.monotonic()
    by = ""
    with mutated(copy, mutant):
        for words in dict.fromkeys((mutant.words, "")):
            by = by or first_failure(copy, mutant.tests, words)
    digest = mutant.digest(by, copy)
    if by not in {"", ENDLESS} | passing:
        if first_failure(copy, [by]):
            raise SystemExit(f"fails as it is: {by}")
        passing.add(by)
    return {
        "package": mutant.package, "file": mutant.file, "name": mutant.name, "outcome": CAUGHT if by else SURVIVED, "by": by,
        "seconds": round(time.monotonic() - started, 1), "digest": digest, "commit": commit(),
    }  # fmt: skip


def first_failure(copy: Path, tests: Sequence[str], words: str = "") -> str:
    """The first test that fails in the copy, "" when all pass."""
    chosen = f"({LEFT_OUT}) and ({words})" if words else LEFT_OUT
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", chosen, "-m", "not slow", *tests]
    with tempfile.TemporaryFile() as said:
        code = in_child(copy, options, said.fileno())
        said.seek(0)
        text = said.read().decode(errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    if code in (0, 5):  # 5: no test has such a word
        return ""
    if code is not None and not failed:
        raise SystemExit(f"the tests cannot be run:\n{text}")
    return failed[1] if failed else ENDLESS


def in_child(copy: Path, options: Sequence[str], said: int) -> int | None:
    """Exit code of pytest in a child of this process, where the product is that of the copy; None when it does not end."""
    child = os.fork()
    if child == 0:
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(copy)
        os.environ["CI"] = "1"  # the same examples each time
        for name in [name for name in sys.modules if name.split(".")[0] in ("jigsawnet", "jigsawnet_bench", "mutants")]:
            del sys.modules[name]
        own = {str(ROOT / part) for part in ("", "src", "tests", "tests/helpers")}  # libraries may lie in the tree as well
        sys.path[:] = [str(copy / "src"), *(path for path in sys.path if path and path not in own)]
        os.environ["PYTHONPATH"] = str(copy / "src")
        os._exit(int(importlib.import_module("pytest").main(list(options))))
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.2)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@contextmanager
def mutated(copy: Path, mutant: Mutant) -> Iterator[None]:
    """The copy with the mutant in it; compiled code that may hold what it replaces is put aside."""
    path = mutant.path(copy)
    text, times = path.read_text(encoding="utf-8"), path.stat()
    compiled = {file: file.read_bytes() for file in compiled_of(copy, path)}
    for file in compiled:
        file.unlink()
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        for file in compiled_of(copy, path):
            file.unlink()
        for file, data in compiled.items():
            file.write_bytes(data)


def compiled_of(copy: Path, path: Path) -> list[Path]:
    """Numba's files for a module and for all compiled ones that import it, directly or not: those hold code of it."""
    modules = {file: file.read_text(encoding="utf-8") for file in (copy / "src").rglob("*.py")}
    modules = {file: text for file, text in modules.items() if "njit" in text}
    touched = {path}
    while True:
        names = [".".join(file.relative_to(copy / "src").with_suffix("").parts) for file in touched]
        more = {file for file, text in modules.items() if any(f"from {name} import" in text for name in names)} - touched
        if not more:
            break
        touched |= more
    return [each for file in touched for each in (file.parent / "__pycache__").glob(f"{file.stem}.*.nb[ic]")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
