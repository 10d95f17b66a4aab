"""The docs are a site that builds without a warning and needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").glob("**/*.md")]
    missing = [page for page in pages if not (site / page.with_suffix(".html")).is_file()]
    assert not missing


def test_every_page_is_in_the_menu(site: Path) -> None:
    menu = (site / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("**/*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in menu or f'href="./{name}"' in menu or name == "index.html", f"{name} is not in mkdocs.yml"


def test_nothing_is_loaded_from_outside(site: Path) -> None:
    for page in site.glob("**/*.html"):
        outside = [address for address in LOADED.findall(page.read_text(encoding="utf-8")) if "canonical" not in address]
        assert not outside, page.name


def test_no_code_is_in_the_site(site: Path) -> None:
    assert not list(site.glob("**/*.py"))
