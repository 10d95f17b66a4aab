"""What the program is made of: tested versions are on record, and nothing is ever asked of the network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from locked import ROOT, installed, oldest, requirements
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image

from jigsawnet.io.pieces import write_pieces
from jigsawnet.types import Assembly, Puzzle, UInt8Array

LOCK = ROOT / "requirements.lock"
WITHOUT_SOCKETS = """
import os, sys
def refuse(event, arguments):
    if event.startswith("socket.") or event in ("urllib.Request", "webbrowser.open"):
        sys.__stderr__.write(f"FORBIDDEN {event} {arguments!r}\\n")
        os._exit(77)
sys.addaudithook(refuse)
if sys.argv[1] == "probe":
    import socket
    socket.create_connection(("127.0.0.1", 9))
from jigsawnet.cli import main_code
for words in " ".join(sys.argv[1:]).split(" then "):
    code = main_code(words.split())
    if code:
        sys.exit(code)
"""


def _locked() -> dict[str, str]:
    lines = [line for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("==") for line in lines)


def test_the_lock_file_names_one_version_of_each_package_and_no_place_to_get_it() -> None:
    for line in LOCK.read_text().splitlines():
        if not line.startswith("#"):
            (specifier,) = Requirement(line).specifier
            assert specifier.operator == "=="
            assert Requirement(line).url is None
    assert "://" not in LOCK.read_text()
    assert "--" not in LOCK.read_text()


def test_all_that_is_asked_for_is_locked_within_what_is_asked() -> None:
    locked = _locked()
    for wanted in requirements():
        if wanted.marker is None or wanted.marker.evaluate():
            assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)], prereleases=True), (
                f"{wanted}; run make lock"
            )


def test_what_is_needed_is_found_to_the_end() -> None:
    """FastAPI needs Starlette, which is not named by us."""
    found = installed()
    assert {"numpy", "llvmlite", "starlette", "h11", "torch"} <= set(found)
    assert not any("+" in version for version in found.values())


@pytest.fixture(scope="module")
def pieces(tiny_puzzle: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pieces")
    write_pieces(folder, tiny_puzzle[0])
    return folder


def _without_sockets(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_SOCKETS, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_a_socket_would_be_noticed() -> None:
    assert _without_sockets("probe").returncode == 77


def test_a_solve_and_what_follows_open_no_socket(pieces: Path, tmp_path: Path) -> None:
    out, photo = tmp_path / "out", ROOT / "examples" / "photo.jpg"
    shred = ("shred", photo, "-o", tmp_path / "cut", "--pieces", "4")
    export = (
        "export",
        out,
        "-o",
        tmp_path / "pages",
        "--formats",
        "pdf",
        "png",
        "iiif",
        "--base-url",
        "https://archive.example/9",
    )
    Image.fromarray(colorful_scan()).save(tmp_path / "scan.png")
    cut = ("cut", tmp_path / "scan.png", "-o", tmp_path / "pieces")
    then = [word for words in (("solve", pieces, "-o", out), shred, export, cut) for word in ("then", *words)]
    done = _without_sockets("solve", pieces, "-o", out, *then)
    assert (done.returncode, "FORBIDDEN" in done.stderr) == (0, False), done.stderr
    assert (out / "assembly.png").is_file()
    assert (tmp_path / "cut" / "truth.json").is_file()
    assert (tmp_path / "pages" / "manifest.json").is_file()
    assert len(list((tmp_path / "pieces").glob("scan-*.png"))) == 2


def colorful_scan() -> UInt8Array:
    """Two pieces on a pale page."""
    page = np.full((200, 300, 3), (235, 232, 228), np.uint8)
    page[40:140, 30:120], page[50:160, 170:270] = (150, 60, 60), (60, 90, 160)
    return page


def test_the_oldest_versions_are_those_that_are_asked_for() -> None:
    """`make oldest` installs them and runs a few tests."""
    pins = dict(line.removesuffix(".*").split("==") for line in oldest())
    assert pins["numpy"] == "1.26"
    for wanted in requirements():
        if canonicalize_name(wanted.name) in pins:
            assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)], prereleases=True), wanted
    assert {"numpy", "scipy", "numba", "onnxruntime", "pillow", "fastapi", "uvicorn"} <= set(pins)
