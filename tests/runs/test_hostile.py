"""A run folder that somebody else packed: going on in it changes and deletes nothing outside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jigsawnet.errors import OutputError
from jigsawnet.runs import Request, solve_run


@pytest.fixture
def packed(undisturbed: Path, tmp_path: Path) -> Path:
    """A solved run whose results are to be written anew, beside a folder that is none of its business."""
    shutil.copytree(undisturbed, tmp_path / "out")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "file").write_text("precious")
    return tmp_path / "out"


def _name_results(out: Path, *names: str) -> None:
    record = json.loads((out / "run.json").read_text())
    record |= {"results": "", "result_files": [*record["result_files"], *names]}
    (out / "run.json").write_text(json.dumps(record))


def _link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target, target_is_directory=True)
    except OSError:
        pytest.skip("the system has no links")


def test_old_results_are_not_deleted_through_links(packed: Path, nine: Path) -> None:
    away = packed.parent / "away"
    (packed / "deep").mkdir()
    _link(packed / "sub", away)
    _link(packed / "deep" / "sub", away)
    (packed / "old.txt").write_text("of an earlier version")
    _name_results(packed, "sub/file", "deep/sub/file", "old.txt")
    solve_run(Request((nine,)), packed)
    assert (away / "file").read_text() == "precious"
    assert not (packed / "old.txt").exists()


@pytest.mark.parametrize("name", ["../away/file", "{away}/file", "sub/../../away/file"])
def test_results_that_lie_elsewhere_are_refused(packed: Path, nine: Path, name: str) -> None:
    away = packed.parent / "away"
    _name_results(packed, name.format(away=away))
    with pytest.raises(OutputError, match=r"run\.json is damaged"):
        solve_run(Request((nine,)), packed)
    assert (away / "file").read_text() == "precious"


def test_stages_are_not_saved_through_a_link(packed: Path, nine: Path) -> None:
    away = packed.parent / "away"
    shutil.rmtree(packed / "stages")
    _link(packed / "stages", away)
    with pytest.raises(OutputError, match=r"stages is a link, and nothing is written through links; remove it"):
        solve_run(Request((nine,)), packed)
    assert [path.name for path in away.iterdir()] == ["file"]
