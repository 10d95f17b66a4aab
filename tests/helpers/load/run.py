"""Many clients edit one run at the same time; every edit that was taken must be in the list, and memory must not grow.

    PYTHONPATH=tests/helpers python -m load.run --clients 50 --edits 10000

The workbench is a process of its own, as `jigsawnet view` starts it; the clients are threads that talk to it as the page does:
each listens to what others do, and an edit that comes too late is made again on what is shown then.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from jigsawnet.cli import main_code
from jigsawnet.io.edits_json import load_edits
from jigsawnet.runs import open_run

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")
_MOST_GROWTH = 1.10
_SETTLED = 0.2
"""Memory is compared with what it was after this share of the edits."""


@dataclass
class Load:
    """What the clients have done so far."""

    wanted: int
    taken: int = 0
    late: int = 0
    other: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    """Bytes that the workbench held after each hundredth of the edits."""
    heard: int = 0
    """Events that the clients were sent."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_done(self) -> bool:
        """True when there are enough edits."""
        return self.taken >= self.wanted or bool(self.other)

    def growth(self) -> float:
        """Memory at the end, over memory when all was loaded."""
        settled = self.memory[int(len(self.memory) * _SETTLED)]
        return max(self.memory[-max(1, len(self.memory) // 10) :]) / settled


def prepare(folder: Path, pieces: int = 9) -> Path:
    """A solved run."""
    photo = Path(__file__).parents[3] / "examples" / "photo.jpg"
    assert main_code(["shred", str(photo), "-o", str(folder / "pieces"), "--pieces", str(pieces)]) == 0
    assert main_code(["solve", str(folder / "pieces"), "-o", str(folder / "out"), "--scorer", "fit"]) in (0, 1)
    return folder / "out"


@contextmanager
def workbench(out: Path) -> Iterator[tuple[httpx.URL, dict[str, str], psutil.Process]]:
    """Its room, the cookie that opens it, and its process."""
    command = [sys.executable, "-u", "-m", "jigsawnet", "view", str(out), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            found = next(found for line in process.stdout if (found := _ADDRESS.search(line)))
            address = httpx.URL(found[0])
            answer = httpx.get(address, timeout=600)
            yield (
                address.copy_with(query=None, path=answer.headers["location"]),
                dict(answer.cookies),
                psutil.Process(process.pid),
            )
        finally:
            process.terminate()
            process.stdout.read()


def _edit_of(state: dict[str, Any], number: int) -> dict[str, Any]:
    """Something that makes sense as the pieces lie."""
    piece = state["pieces"][number % len(state["pieces"])]
    if number % 5 == 0:
        return {"kind": "move", "poses": {str(piece["idx"]): [0.001 * (number % 7), 1000.0 + number % 13, 50.0 * (number % 9)]}}
    return {"kind": "unpin" if piece["pinned"] else "pin", "pieces": [piece["idx"]]}


def _edit(load: Load, base: httpx.URL, cookies: dict[str, str], first: int, process: psutil.Process) -> None:
    with httpx.Client(base_url=base, cookies=cookies, timeout=600) as client:
        state = client.get("/api/state").json()
        for number in itertools.count(first, 7):
            if load.is_done:
                return
            body = {"revision": state["revision"], "edit": _edit_of(state, number)}
            answer = client.post("/api/edits", json=body)
            with load.lock:
                if answer.status_code == 200:
                    load.taken += 1
                    if load.taken % max(1, load.wanted // 100) == 0:
                        load.memory.append(process.memory_info().rss)
                elif answer.status_code == 409:
                    load.late += 1
                elif answer.status_code != 422:  # as when the piece is not on the table
                    load.other.append(f"{answer.status_code} {answer.text[:200]}")
            state = answer.json() if answer.status_code == 200 else client.get("/api/state").json()


def _listen(load: Load, base: httpx.URL, cookies: dict[str, str]) -> None:
    with (
        suppress(httpx.HTTPError),  # the workbench ends it
        httpx.Client(base_url=base, cookies=cookies, timeout=600) as client,
        client.stream("GET", "/api/events") as lines,
    ):
        for _ in lines.iter_lines():
            load.heard += 1


def edit_together(out: Path, clients: int, edits: int) -> tuple[Load, int]:
    """What happened, and how many edits are in the list afterwards."""
    load = Load(edits)
    with workbench(out) as (base, cookies, process), ExitStack() as stack:
        listeners = [threading.Thread(target=_listen, args=(load, base, cookies), daemon=True) for _ in range(clients)]
        editors = [threading.Thread(target=_edit, args=(load, base, cookies, k, process)) for k in range(clients)]
        for thread in (*listeners, *editors):
            thread.start()
        stack.callback(lambda: [thread.join() for thread in editors])
    return load, load_edits(out, open_run(out).puzzle.names()).in_force


def main(words: Sequence[str] | None = None) -> int:
    """Edit, and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m load.run", description="Many clients edit one run at the same time.")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--edits", type=int, default=10_000)
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        load, listed = edit_together(prepare(Path(folder)), given.clients, given.edits)
    print(f"{load.taken} edits taken, {listed} in the list; {load.late} came too late; {load.heard} lines were heard")
    print(f"memory {load.memory[0] >> 20} MB at first, {load.memory[-1] >> 20} MB at last, {load.growth():.3f} of what it was")
    for other in load.other:
        print(f"answered {other}")
    return 0 if load.taken == listed and not load.other and load.growth() <= _MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
