"""What runs elsewhere: the workflows name what the project promises, and ask for no more rights than they need."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from locked import needed_by_users
from wheels import row, wheels_of

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.load((ROOT / ".github" / "workflows" / name).read_text("utf-8"), Loader=yaml.BaseLoader)
    return data


def test_every_python_that_is_promised_is_tried_on_every_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = [match[1] for line in project["classifiers"] if (match := re.search(r":: Python :: (3\.\d+)$", line))]
    matrix = read("tests.yml")["jobs"]["installed"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_read_only_but_for_publishing_and_every_job_ends(path: Path) -> None:
    workflow = read(path.name)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        publishes = name == "publish"
        assert job.get("permissions") == ({"id-token": "write"} if publishes else None)
        assert publishes or 0 < int(job["timeout-minutes"]) <= 60
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_what_is_published_was_built_checked_and_tried() -> None:
    jobs = read("release.yml")["jobs"]
    assert jobs["publish"]["needs"] == "build"
    steps = " ".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert "twine check --strict" in steps
    assert "jigsawnet" in steps
    assert read("release.yml")["on"] == {"push": {"tags": ["v*"]}}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_files_and_commands_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"(?:\.\./)?((?:tests|examples|src|\.ci)/[\w./]+)", text):
        assert (ROOT / name).exists(), name


def test_the_container_takes_what_it_needs_and_runs_as_a_person() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in sent)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"src", "pyproject.toml", "requirements.lock", project["readme"], *project["license-files"]} <= sent
    user = next(k for k, line in enumerate(lines) if line == "USER jigsawnet")
    assert all("pip install" not in line for line in lines[user:])
    assert lines[-2] == 'ENTRYPOINT ["jigsawnet"]'
    assert not any(line.startswith("EXPOSE") for line in lines), "it listens on 127.0.0.1 alone"


def test_wheels_are_told_by_their_tags() -> None:
    files = (
        "a-1.0-cp311-cp311-win_amd64.whl", "a-1.0-cp312-cp312-macosx_15_0_arm64.whl", "a-2.0-cp313-cp313-win_amd64.whl",
        "a-1.0-cp311-abi3-manylinux_2_28_x86_64.whl", "b-1.0-py3-none-any.whl", "a-1.0-cp312-cp312-macosx_11_0_x86_64.whl",
    )  # fmt: skip
    page = " ".join(f'<a href="../{name}#sha256=0">{name}</a>' for name in files)
    cells = "3.11, 3.12, 3.13 (abi3) | no 3.11, no 3.12, no 3.13 | 3.11, no 3.12, no 3.13"
    assert row("a", wheels_of(page, "a", "1.0")) == f"| a | {cells} |"
    assert row("b", wheels_of(page, "b", "1.0")) == "| b | any | any | any |"


def test_the_table_of_wheels_has_every_package_that_users_get() -> None:
    table = [line for line in (ROOT / "docs" / "platforms.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    named = {name for line in table for name in line.split("|")[1].strip().split(", ")}
    assert set(needed_by_users()) <= named
