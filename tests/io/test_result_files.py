from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.io.result_files import COLUMNS, POSES_FILE, poses_to_csv, write_poses_csv
from jigsawnet.types import Assembly

POSES = {0: SE2(0.5, 12.25, -3.0), 2: SE2(-math.pi / 2, -0.00001, 7.5)}
PARTLY = Assembly(3, POSES, ((0,), (2,)), confidence={0: 0.987654321, 2: 1.0})


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_piece_has_a_line_and_the_pose_can_be_read_back(tmp_path: Path) -> None:
    write_poses_csv(tmp_path / POSES_FILE, PARTLY, ("a.png", "b.png", "c.png"))
    first, second, third = rows_of((tmp_path / POSES_FILE).read_text(encoding="utf-8"))
    assert tuple(first) == COLUMNS
    assert (first["name"], first["component"], first["confidence"]) == ("a.png", "0", "0.987654")
    pose = SE2(math.radians(float(first["angle_deg"])), float(first["x"]), float(first["y"]))
    assert pose.distance(POSES[0]) == pytest.approx((0.0, 0.0), abs=1e-4)
    assert list(second.values()) == ["b.png", "", "", "", "", "", ""]
    assert (third["component"], third["x"], third["angle_deg"]) == ("1", "0", "-90")


def test_notes_are_in_their_column_and_no_formulas() -> None:
    rows = rows_of(poses_to_csv(PARTLY, ("a", "b", "c"), {1: "=1+1", 2: "two\nlines"}))
    assert [row["note"] for row in rows] == ["", "'=1+1", "two\\nlines"]


@pytest.mark.parametrize("name", ["=1+1.png", "+cmd", "-2", "@SUM(A1)", "  =HYPERLINK(0)"])
def test_no_name_is_a_formula(name: str) -> None:
    (row,) = rows_of(poses_to_csv(Assembly(1, {}, ()), (name,)))
    assert row["name"] == f"'{name}"


def test_a_name_with_line_breaks_stays_in_one_line() -> None:
    text = poses_to_csv(Assembly(1, {}, ()), ('a\r\nb\t,"c',))
    assert text.count("\n") == 2
    assert rows_of(text)[0]["name"] == 'a\\r\\nb\\t,"c'


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4, unique=True))
def test_any_name_is_one_cell_of_one_line(names: list[str]) -> None:
    text = poses_to_csv(Assembly(len(names), {}, ()), names)
    assert text.count("\n") == len(names) + 1
    assert [len(row) for row in csv.reader(io.StringIO(text, newline=""))] == [len(COLUMNS)] * (len(names) + 1)
    assert not any(row["name"].lstrip().startswith(("=", "+", "-", "@")) for row in rows_of(text))
