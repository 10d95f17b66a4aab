"""Wheel and sdist: all that is needed is in them, nothing compiled, and the one is made from the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
COMPILED = (".so", ".pyd", ".dylib", ".dll", ".o", ".a", ".pyc", ".nbc", ".nbi")


def build(folder: Path, kind: str, out: Path) -> Path:
    """The package of a source tree, by the backend itself: nothing is asked of the network."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    (made,) = (path for path in out.iterdir() if path.suffix == {"wheel": ".whl", "sdist": ".gz"}[kind])
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git has of the project, and no more."""
    folder = tmp_path_factory.mktemp("source") / "project"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, "sdist", tmp_path_factory.mktemp("sdist"))


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def test_the_wheel_is_for_every_system_and_has_no_compiled_code(wheel: Path) -> None:
    assert [str(tag) for tag in parse_wheel_filename(wheel.name)[3]] == ["py3-none-any"]
    assert not [name for name in names_in(wheel) if name.endswith(COMPILED) or "__pycache__" in name]


def test_the_wheel_has_weights_page_types_and_licence(wheel: Path) -> None:
    names = names_in(wheel)
    for folder in ("src/jigsawnet", "src/jigsawnet_bench"):
        here = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {name for name in here if "__pycache__" not in name} <= names
    for needed in ("weights/bundle.json", "viewer/static/index.html", "py.typed"):
        assert f"jigsawnet/{needed}" in names
    assert any(name.endswith(".onnx") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"jigsawnet", "jigsawnet_bench"}


def test_the_wheel_asks_for_what_the_project_says(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as packed:
        (path,) = (name for name in packed.namelist() if name.endswith("METADATA"))
        head = message_from_string(packed.read(path).decode("utf-8"))
        (entry,) = (name for name in packed.namelist() if name.endswith("entry_points.txt"))
        assert "jigsawnet = jigsawnet.cli:run" in packed.read(entry).decode()
    core = {Requirement(line).name for line in head.get_all("Requires-Dist") or () if Requirement(line).marker is None}
    assert core == {Requirement(line).name for line in project["dependencies"]}
    assert head["Requires-Python"] == project["requires-python"]


def test_the_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    again = build(folder, "wheel", tmp_path / "out")
    assert again.read_bytes() == wheel.read_bytes()


def test_nothing_of_the_size_of_a_mistake_is_packed(wheel: Path, sdist: Path) -> None:
    assert wheel.stat().st_size < 15e6
    assert sdist.stat().st_size < 20e6
