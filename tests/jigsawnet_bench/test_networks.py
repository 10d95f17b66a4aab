"""The networks of the paper's table: its vote, run folders, and curves of convergence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.context import Context
from jigsawnet.errors import FormatError, InputError
from jigsawnet.pipeline import Corridor
from jigsawnet.score.views import SeamViews
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.decisions import convergence_rows
from jigsawnet_bench.networks import Ensemble, judge, load_ensembles, read_run, training_steps

WriteRun = Callable[..., Path]


@pytest.fixture
def views(tiny_puzzle: tuple[Puzzle, Assembly]) -> SeamViews:
    walk = Corridor(tiny_puzzle[0])
    return SeamViews(walk.get("scene").pixels, walk.get("borders"), walk.get("candidates").rows)


def test_boosted_networks_decide_by_the_sign_of_the_weighted_votes(write_run: WriteRun, views: SeamViews) -> None:
    ensemble = read_run(write_run(roi=True))
    rows = np.flatnonzero(views.met)
    votes = ensemble.detector.votes(views, rows, range(3), Context()).astype(float)
    verdicts = judge(ensemble, views)
    assert list(verdicts) == ["RoI", "Boost+RoI"]
    assert verdicts["RoI"].score[rows].tolist() == pytest.approx(votes[:, 0].tolist())
    assert verdicts["RoI"].said_right[rows].tolist() == (votes[:, 0] >= 0.5).tolist()
    expected = np.where(votes >= 0.5, 1, -1) @ (1.0, 0.7, 0.7) > 0
    assert len({*map(tuple, votes >= 0.5)}) > 1, "the networks must differ for this to be a test"
    assert verdicts["Boost+RoI"].said_right[rows].tolist() == expected.tolist()
    assert verdicts["Boost+RoI"].score[rows].tolist() == pytest.approx((votes @ (1.0, 0.7, 0.7) / 2.4).tolist())
    assert [(v.learners, v.steps) for v in verdicts.values()] == [(1, "400"), (3, "400, 100")]


def test_candidates_whose_borders_do_not_meet_are_wrong(
    write_run: WriteRun, views: SeamViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensemble = read_run(write_run(roi=True, biases=(50.0, 50.0), alphas=(1.0, 1.0)))
    met = views.met.copy()
    met[0] = False
    monkeypatch.setattr(SeamViews, "met", property(lambda _: met))
    for verdict in judge(ensemble, views).values():
        assert verdict.score[0] == 0.0
        assert not verdict.said_right[0]
        assert verdict.said_right[met].all()


def test_one_network_is_not_boosted(write_run: WriteRun, views: SeamViews) -> None:
    assert list(judge(read_run(write_run(roi=False, biases=(-12.0,), alphas=(1.0,))), views)) == ["Baseline"]


def test_networks_without_roi_come_from_runs_and_those_with_roi_from_the_package(
    write_run: WriteRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, with_roi = write_run(roi=False), write_run(roi=True)
    packaged = read_run(with_roi).detector
    monkeypatch.setattr("jigsawnet_bench.networks.load_detector", lambda name, learned: packaged)
    ensembles = load_ensembles([without])
    assert [(e.names, len(e.history)) for e in ensembles] == [(("Baseline", "Boost"), 6), (("RoI", "Boost+RoI"), 0)]
    assert [len(e.history) for e in load_ensembles([with_roi, without])] == [6, 6]
    assert [e.roi for e in load_ensembles([])] == [True]


def test_steps_are_those_of_the_training_record() -> None:
    files = [{}, {}, {}]
    assert training_steps({"files": files, "training": {"options": {"steps": 9, "later_steps": 0}}}) == ["9", "9", "9"]
    assert training_steps({"files": files, "training": {"options": {"steps": 9, "later_steps": 4}}}) == ["9", "4", "4"]
    assert training_steps({"files": files}) == ["?", "?", "?"]


def test_a_folder_that_is_no_finished_run_is_named(tmp_path: Path, write_run: WriteRun) -> None:
    with pytest.raises(InputError, match=r"holds no jigsawnet\.json"):
        read_run(tmp_path)
    run = write_run(roi=True)
    for text in ("[", "[1]", '[{"step": 1}]', "3"):
        (run / "history.json").write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match="damaged"):
            read_run(run)
    (run / "history.json").unlink()
    with pytest.raises(InputError, match=r"history\.json"):
        read_run(run)


def test_convergence_sets_first_networks_side_by_side(write_run: WriteRun) -> None:
    both = [read_run(write_run(roi=roi)) for roi in (False, True)]
    rows, table = convergence_rows(both)
    assert len(rows) == 12
    assert table == [
        {"step": 100.0, "loss with RoI": 0.4, "loss without RoI": 0.4},
        {"step": 200.0, "loss with RoI": 0.2, "loss without RoI": 0.2},
    ]
    assert convergence_rows(both[1:])[1][0] == {"step": 100.0, "loss with RoI": 0.4, "loss without RoI": ""}
    assert convergence_rows([Ensemble(both[0].detector)]) == ([], [])
