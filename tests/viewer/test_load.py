"""A few clients at the same time; ``make load`` has fifty, and ten thousand edits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the workbench needs the extra web")

from load.run import Load, edit_together


def test_clients_that_edit_at_the_same_time_lose_nothing(solved_nine: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(solved_nine, tmp_path / "out"))
    load, listed = edit_together(out, 5, 20)
    assert load.other == []
    assert load.taken == listed >= 20
    assert load.heard > 20


def test_growth_is_of_what_is_held_when_all_is_loaded() -> None:
    load = Load(100, memory=[50, 90, *[100] * 90, *[120] * 8])
    assert load.growth() == 1.2
