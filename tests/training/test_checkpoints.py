from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from jigsawnet.errors import ModelError, OutputError  # noqa: E402
from jigsawnet.training.checkpoints import (  # noqa: E402
    load_checkpoint,
    load_state,
    remove_checkpoints,
    save_checkpoint,
    save_state,
)

STAMP = {"steps": 10, "data": "abc"}


def _save(folder: Path, *steps: int) -> None:
    for step in steps:
        save_checkpoint(folder, step, {"step": step, "model": {"w": torch.full((3,), float(step))}}, STAMP)


def test_the_newest_is_read_and_two_are_kept(tmp_path: Path) -> None:
    _save(tmp_path, 1, 2, 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint-00000002.pt", "checkpoint-00000003.pt"]
    state = load_checkpoint(tmp_path, STAMP)
    assert state is not None
    assert state["step"] == 3
    assert state["model"]["w"].tolist() == [3.0, 3.0, 3.0]


def test_no_folder_is_no_checkpoint(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "none", STAMP) is None


@pytest.mark.parametrize("cut", [0, 10, 60, -1])
def test_a_cut_newest_falls_back_to_the_one_before(tmp_path: Path, cut: int) -> None:
    _save(tmp_path, 1, 2)
    newest = tmp_path / "checkpoint-00000002.pt"
    newest.write_bytes(newest.read_bytes()[:cut])
    state = load_checkpoint(tmp_path, STAMP)
    assert state is not None
    assert state["step"] == 1


def test_one_changed_byte_is_noticed(tmp_path: Path) -> None:
    _save(tmp_path, 1, 2)
    newest = tmp_path / "checkpoint-00000002.pt"
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    newest.write_bytes(data)
    state = load_checkpoint(tmp_path, STAMP)
    assert state is not None
    assert state["step"] == 1


def test_when_none_can_be_read_it_is_said(tmp_path: Path) -> None:
    _save(tmp_path, 1)
    (tmp_path / "checkpoint-00000001.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match=r"No checkpoint in .* can be read"):
        load_checkpoint(tmp_path, STAMP)


@pytest.mark.parametrize(
    ("stamp", "sentence"),
    [({"steps": 20, "data": "abc"}, "steps = 10, not 20"), ({"steps": 10, "data": "x"}, "other examples")],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path, stamp: dict[str, object], sentence: str) -> None:
    _save(tmp_path, 1)
    with pytest.raises(ModelError, match=sentence):
        load_checkpoint(tmp_path, stamp)


def test_a_damaged_finished_network_is_refused(tmp_path: Path) -> None:
    save_state(tmp_path / "network.pt", {"a": 1}, STAMP)
    assert load_state(tmp_path / "network.pt", STAMP) == {"a": 1}
    (tmp_path / "network.pt").write_bytes(b"x")
    with pytest.raises(ModelError, match="damaged or was written by another version"):
        load_state(tmp_path / "network.pt", STAMP)


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_full_disk_is_said_and_the_last_good_checkpoint_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    _save(tmp_path, 1)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        with pytest.raises(OutputError, match="disk is full"):
            _save(tmp_path, 2)
    state = load_checkpoint(tmp_path, STAMP)
    assert state is not None
    assert state["step"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint-00000001.pt"]


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        _save(tmp_path / "file", 1)


def test_remove_leaves_other_files(tmp_path: Path) -> None:
    _save(tmp_path / "a", 1)
    remove_checkpoints(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    _save(tmp_path / "b", 1)
    (tmp_path / "b" / "notes.txt").write_text("mine")
    remove_checkpoints(tmp_path / "b")
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["notes.txt"]
