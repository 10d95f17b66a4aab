"""What somebody who watches is shown while pieces are joined."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.compose import problem
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.runs import open_run
from jigsawnet.runs.snapshots import spread_components
from jigsawnet.types import Constraints


@pytest.mark.parametrize("composer", ["hlm", "glc", "best-first"])
def test_groups_are_shown_while_they_grow(
    composer: str, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problem, "SNAPSHOT_S", 0.0)
    run = open_run(Path(shutil.copytree(undisturbed, tmp_path / "out")))
    request = replace(run.request, config=SolveConfig(composer=composer))
    shown: list[Mapping[int, SE2]] = []
    solved = replace(run, request=request).solve_on(Constraints(aside=frozenset({0})), on_poses=shown.append)
    assert shown
    assert set(shown[-1]) <= set(solved.assembly.poses)
    assert max(map(len, shown)) >= 4


def test_snapshots_come_some_times_a_second_at_most(undisturbed: Path, tmp_path: Path) -> None:
    run = open_run(Path(shutil.copytree(undisturbed, tmp_path / "out")))
    shown: list[Mapping[int, SE2]] = []
    pace = problem.Pace(Context(on_snapshot=lambda components: shown.append(components[0])))
    rows = np.array([[0.0, 0, 0, 0], [1.0, 0, 9, 0]])
    for _ in range(100):
        pace.show(lambda: [rows])
    assert len(shown) == 1
    assert run.solve_on(Constraints(aside=frozenset({1}))).assembly.unplaced == (1,)


def test_groups_lie_beside_each_other_and_pinned_ones_stay(square_tiles: object) -> None:
    borders = square_tiles(8)  # type: ignore[operator]
    assert isinstance(borders, Borders)
    pair = {0: SE2(0.0, 0.0, 0.0), 1: SE2(0.0, 60.0, 0.0)}
    components = [pair, *({k: SE2(0.3, 5.0, 7.0), k + 1: SE2(0.3, 65.0, 7.0)} for k in (2, 4, 6))]
    poses = spread_components(borders, components, pinned=(1,))
    assert {idx: poses[idx] for idx in pair} == pair
    middles = {idx: pose @ borders.center[idx].astype(float) for idx, pose in poses.items()}
    for one in range(8):
        for two in range(one):
            if one // 2 != two // 2:
                assert np.linalg.norm(middles[one] - middles[two]) > borders.radius[one]
