"""``bench detect``: the paper's vote, run folders, tables done by hand, and the whole command on small puzzles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, FormatError, InputError
from jigsawnet.evaluation import detect_candidates as module
from jigsawnet.evaluation.bench_detect import bench_detect, study_puzzle
from jigsawnet.evaluation.detect_candidates import KINDS, Candidates, Job, Kind, Verdict, detect_jobs
from jigsawnet.evaluation.detect_networks import Ensemble, judge, load_ensembles, read_run, training_steps
from jigsawnet.evaluation.detect_tables import (
    calibrations,
    convergence_rows,
    decision_table,
    greedy_rows,
    greedy_table,
    speed_rows,
)
from jigsawnet.io.images import write_png
from jigsawnet.judging import Judge
from jigsawnet.pipeline import find_candidates
from jigsawnet.pixels import build_pixels
from jigsawnet.raster import ShapeBank
from jigsawnet.score import ScorerName
from jigsawnet.score.views import SeamViews
from jigsawnet.shred import ShredConfig
from jigsawnet.types import Alignment, Assembly, FloatArray, Progress, Puzzle, UInt8Array, no_progress

WIDTH, HEIGHT = 64, 32
PLAIN = Kind("4 pieces", ShredConfig(pieces=4), ("dense", "zhang", "tsamoura"), plain=True)
STRAIGHT = Kind("4 pieces, straight cuts", ShredConfig(pieces=4, perturbation=0.0))
LARGE = Kind("9 pieces", ShredConfig(pieces=9), networks=False)

WriteRun = Callable[..., Path]


def brightness_network(bias: float, roi: bool) -> bytes:
    """ONNX of a network that finds joins right the surer, the brighter their picture is."""
    helper, tensor = pytest.importorskip("onnx.helper"), pytest.importorskip("onnx").TensorProto
    nodes = [
        helper.make_node("Cast", ["picture"], ["values"], to=tensor.FLOAT),
        helper.make_node("ReduceMean", ["values"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Mul", ["mean", "slope"], ["scaled"]),
        helper.make_node("Add", ["scaled", "bias"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["probability"]),
    ]
    inputs = [helper.make_tensor_value_info("picture", tensor.UINT8, ["batch", HEIGHT, WIDTH, 3])]
    if roi:
        inputs.append(helper.make_tensor_value_info("roi", tensor.FLOAT, ["batch", 4]))
    output = helper.make_tensor_value_info("probability", tensor.FLOAT, ["batch"])
    numbers = [helper.make_tensor(name, tensor.FLOAT, [], [value]) for name, value in (("slope", 0.1), ("bias", bias))]
    graph = helper.make_graph(nodes, "brightness", inputs, [output], numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """``write_run(roi, biases, alphas)``: a folder as `jigsawnet train` leaves it."""

    def write(roi: bool, biases: Sequence[float] = (-12.5, -13.0, -15.0), alphas: Sequence[float] = (1.0, 0.7, 0.7)) -> Path:
        folder = tmp_path / f"run-{roi}-{len(biases)}"
        folder.mkdir()
        files = []
        for k, bias in enumerate(biases):
            data = brightness_network(bias, roi)
            (folder / f"{k}.onnx").write_bytes(data)
            files.append({"name": f"{k}.onnx", "sha256": hashlib.sha256(data).hexdigest()})
        manifest = {
            "format": "jigsawnet/weights", "version": 1, "network": "jigsawnet", "alphas": list(alphas), "files": files,
            "picture": {"width": WIDTH, "height": HEIGHT}, "training": {"options": {"steps": 400, "later_steps": 100}},
        }  # fmt: skip
        (folder / "jigsawnet.json").write_text(json.dumps(manifest), encoding="utf-8")
        history = [
            {"learner": k, "step": step, "loss": 40 / step + k, "recall": 0.5}
            for k in range(len(biases))
            for step in (100, 200)
        ]
        (folder / "history.json").write_text(json.dumps(history), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def photos(tmp_path: Path, picture: UInt8Array) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    write_png(folder / "photo.png", picture)
    return folder


@pytest.fixture
def views(tiny_puzzle: tuple[Puzzle, Assembly]) -> SeamViews:
    bank, found = find_candidates(tiny_puzzle[0], SolveConfig())
    return SeamViews(build_pixels(tiny_puzzle[0], 1.0), bank, found)


def some_candidates(kind: Kind, score: Sequence[float], right: Sequence[bool], seconds: float = 0.5) -> Candidates:
    """Candidates along a chain of pieces, with a verdict of every scorer."""
    values = np.array(score)
    joins = np.array([(k, k + 1) for k in range(len(values))])
    verdict = Verdict(values, values >= 0.5, seconds=seconds)
    verdicts = dict.fromkeys(module.SCORERS, verdict)
    return Candidates(kind, "dense", 0, "photo.png", len(values) + 1, joins, np.array(right), verdicts)


def test_boosted_networks_decide_by_the_sign_of_the_weighted_votes(write_run: WriteRun, views: SeamViews) -> None:
    ensemble = read_run(write_run(roi=True))
    rows = np.flatnonzero(views.met)
    votes = ensemble.detector.votes(views, rows, range(3)).astype(float)
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
    monkeypatch.setattr("jigsawnet.score.weights.PACKAGED", with_roi)
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


def test_decisions_of_all_puzzles_of_a_kind_are_counted_together() -> None:
    sets = [
        some_candidates(PLAIN, [0.9, 0.6, 0.2], [True, False, False]),
        some_candidates(STRAIGHT, [0.9], [True]),
        some_candidates(PLAIN, [0.8, 0.4], [True, True]),
    ]
    rows = [row for row in decision_table(sets) if row["detector"] == "seam"]
    assert [(row["puzzle"], row["puzzles"], row["candidates"]) for row in rows] == [(PLAIN.name, 2, 5), (STRAIGHT.name, 1, 1)]
    assert [rows[0][key] for key in ("tp", "tn", "fp", "fn")] == [2, 1, 1, 1]
    assert (rows[0]["precision"], rows[0]["recall"]) == (0.6667, 0.6667)
    assert rows[0]["average_precision"] == round((1 + 1 + 3 / 4) / 3, 4)
    assert rows[0]["precision at recall 97 %"] == 0.75


def test_the_greedy_table_holds_means_over_puzzles() -> None:
    sets = [some_candidates(PLAIN, [0.9, 0.6], [True, False]), some_candidates(PLAIN, [0.9, 0.6], [True, True])]
    table = greedy_table(greedy_rows(sets))
    assert {(row["detector"], row["puzzles"], row["taken"], row["precision"], row["recall"]) for row in table} == {
        (scorer, 2, 2.0, 0.75, 1.0) for scorer in module.SCORERS
    }


def test_calibration_leaves_out_puzzles_that_are_only_solved() -> None:
    sets = [some_candidates(PLAIN, [0.75] * 4, [True, True, True, False]), some_candidates(LARGE, [0.75] * 4, [False] * 4)]
    assert calibrations(sets)["combined"].error == 0.0


def test_speed_is_that_of_the_largest_plain_puzzles() -> None:
    larger = Kind("9 pieces", ShredConfig(pieces=9), plain=True)
    sets = [some_candidates(PLAIN, [0.5] * 3, [True] * 3), some_candidates(larger, [0.5] * 6, [True] * 6)]
    _, means = speed_rows(sets)
    assert {(row["scorer"], row["puzzle"], row["per_second"]) for row in means} == {
        (scorer, "9 pieces", 12.0) for scorer in ("jigsawnet", "seam", "combined")
    }
    assert speed_rows([]) == ([], [])


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


def test_the_suite_has_the_kinds_that_were_asked_for(photos: Path) -> None:
    assert [kind.name for kind in KINDS] == [
        "36 pieces", "100 pieces", "36 pieces, erosion 2 px", "36 pieces, straight cuts", "400 pieces",
    ]  # fmt: skip
    jobs = detect_jobs(photos, (0, 1), largest=99)
    assert [(job.kind.shred.pieces, job.seed) for job in jobs] == [(36, seed) for _ in range(3) for seed in (0, 1)]
    assert jobs == detect_jobs(photos, (0, 1), largest=36)
    for seeds, largest in (((0,), 35), ((), 400)):
        with pytest.raises(ConfigError, match="36 pieces"):
            detect_jobs(photos, seeds, largest)


def test_a_folder_without_photos_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no pictures"):
        bench_detect(tmp_path, tmp_path / "out", (), (0,), 36, "the command")
    assert not (tmp_path / "out").exists()


class NoisyFit(Judge):
    """Stands for the scorers: the matcher's score, with noise for all but ``fit``."""

    def __init__(self, puzzle: Puzzle, bank: ShapeBank, scorer: ScorerName, candidates: Sequence[Alignment]) -> None:
        self.scorer = scorer

    def __call__(self, alignments: Sequence[Alignment], progress: Progress = no_progress) -> FloatArray:
        noise = 0.0 if self.scorer == "fit" else 0.1
        rng = np.random.default_rng(len(self.scorer))
        return np.array([np.clip(a.fit + noise * rng.standard_normal(), 0, 1) for a in alignments])


def test_one_puzzle_gives_the_same_twice(photos: Path, write_run: WriteRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Judge", NoisyFit)
    ensembles, job = load_ensembles([write_run(roi=True)]), Job(STRAIGHT, 1, photos / "photo.png")
    (sets, solved), (sets_again, solved_again) = (study_puzzle(job, ensembles, lambda: None) for _ in range(2))
    assert decision_table(sets) == decision_table(sets_again)
    assert solved == solved_again


def test_the_whole_command_writes_tables_and_figures(
    photos: Path, write_run: WriteRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KINDS", (PLAIN, STRAIGHT, LARGE))
    monkeypatch.setattr(module, "Judge", NoisyFit)
    runs = [write_run(roi=False), write_run(roi=True)]
    told: list[tuple[str, int, int]] = []
    tables = bench_detect(photos, tmp_path / "out", runs, (0,), 9, "the command", lambda *step: told.append(step))
    assert told == [("bench", step, len(told)) for step in range(1, len(told) + 1)]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    written = ["detect", "detect_greedy", "detect_calibration", "detect_convergence", "detect_speed", "detect_solve"]
    assert names >= {f"{name}.{suffix}" for name in written for suffix in ("json", "md")}
    data = {name: json.loads((tmp_path / "out" / f"{name}.json").read_text(encoding="utf-8")) for name in written}
    assert [data[name]["summary"] for name in written] == tables
    assert data["detect"]["command"] == "the command"
    detectors = {(row["puzzle"], row["matcher"]): [] for row in tables[0]}
    for row in tables[0]:
        detectors[row["puzzle"], row["matcher"]].append(row["detector"])
        assert row["tp"] + row["tn"] + row["fp"] + row["fn"] == row["candidates"]
    scorers, networks = [*module.SCORERS], ["Baseline", "Boost", "RoI", "Boost+RoI"]
    assert detectors == {
        (PLAIN.name, "dense"): networks + scorers,
        (PLAIN.name, "zhang"): networks + scorers,
        (PLAIN.name, "tsamoura"): scorers,
        (STRAIGHT.name, "dense"): networks + scorers,
        (LARGE.name, "dense"): scorers,
    }
    solved = {(row["puzzle"], row["method"], row["scorer"]): row["pcr"] for row in tables[-1]}
    assert len(solved) == 3 * 4 * 4
    assert solved[PLAIN.name, "default", "fit"] == 1.0
    pytest.importorskip("matplotlib")
    figures = {"networks", "scorers", "greedy", "convergence", "calibration"}
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {f"detect_{name}.png" for name in figures}
