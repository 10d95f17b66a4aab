"""One puzzle, one method: saved stages change nothing but the time, and errors are recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.evaluation.suites import work as module
from jigsawnet.evaluation.suites.cases import Case, build_puzzle
from jigsawnet.evaluation.suites.definition import Group, Kind
from jigsawnet.evaluation.suites.digest import source_digest
from jigsawnet.evaluation.suites.measure import NEIGHBOR_PX
from jigsawnet.evaluation.suites.methods import METHODS
from jigsawnet.evaluation.suites.records import Record, read_record, record_path, thumbnail_path, write_record
from jigsawnet.evaluation.suites.stages import SavedStage, load_stage, save_stage
from jigsawnet.evaluation.suites.work import STAGE_FOLDER, Job, run_job, solve_case
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.shred import ShredConfig
from jigsawnet.types import Alignment, Seam

NAMES = ("one", "two", "three")
STAGE = SavedStage(
    (
        Alignment(0, 1, SE2(0.25, 3.0, -4.5), 0.75, Seam(1.5, 0.2, 0.0, 0.5, 7.0, 2.0, 1.0)),
        Alignment(1, 2, SE2(3.0, 1.0, 2.0), 0.5),
    ),
    1.25,
    None,
)


@pytest.fixture
def job(photos: Path, tmp_path: Path) -> Job:
    case = Case(Group(Kind("four"), ShredConfig(pieces=4)), 0, (photos / "a.png",))
    return Job(case, METHODS["ours"], tmp_path / "work", source_digest("solve"))


def test_a_stage_can_be_read_back(tmp_path: Path) -> None:
    save_stage(tmp_path / "new", "key", NAMES, STAGE)
    saved = load_stage(tmp_path / "new", "key", NAMES)
    assert saved is not None
    assert (saved.seconds, saved.peak_mb) == (1.25, None)
    for found, wanted in zip(saved.alignments, STAGE.alignments, strict=True):
        assert (found.i, found.j, found.fit, found.seam) == (wanted.i, wanted.j, wanted.fit, wanted.seam)
        assert found.i_from_j.distance(wanted.i_from_j) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_stage_that_can_not_be_used_is_done_again(tmp_path: Path) -> None:
    assert load_stage(tmp_path, "key", NAMES) is None
    save_stage(tmp_path, "key", NAMES, STAGE)
    assert load_stage(tmp_path, "key", ("other", "pieces", "here")) is None
    for text in ("{", '{"format": "jigsawnet/suite-stage", "version": 0, "seconds": 1.0, "seams": [null, null]}'):
        (tmp_path / "key.json").write_text(text, encoding="utf-8")
        assert load_stage(tmp_path, "key", NAMES) is None


def test_a_record_can_be_read_back_and_a_damaged_one_is_done_again(tmp_path: Path) -> None:
    record = Record(2.5, {"match": 2.0}, None, {"match": 250.0}, {"pcr": 1.0})
    write_record(tmp_path / "new", "key", record)
    assert read_record(tmp_path / "new", "key") == record
    assert read_record(tmp_path, "nothing") is None
    path = record_path(tmp_path / "new", "key")
    path.write_text(path.read_text(encoding="utf-8").replace('"version": 1', '"version": 0'), encoding="utf-8")
    assert read_record(tmp_path / "new", "key") is None


def test_the_way_is_that_of_the_pipeline_with_or_without_saved_stages(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, truth = build_puzzle(job.case)
    metrics = evaluate(puzzle, solve_puzzle(puzzle, job.method.config).assembly, truth, NEIGHBOR_PX)
    fresh = solve_case(job, thumbnail_path(job.folder, "fresh"))
    assert (fresh.measured["pcr"], fresh.measured["lcr"]) == (metrics.pcr, metrics.lcr) == (1.0, 1.0)
    assert fresh.seconds == pytest.approx(sum(fresh.stages.values()), abs=0.01)
    assert read_image(thumbnail_path(job.folder, "fresh")).shape[1] > 1000
    monkeypatch.setattr(module, "find_candidates", None)  # not needed again
    again = solve_case(job, thumbnail_path(job.folder, "again"))
    assert again.measured == fresh.measured
    assert again.stages["match"] == fresh.stages["match"]


def test_methods_of_one_matcher_share_its_candidates(job: Job) -> None:
    keys = {name: replace(job, method=METHODS[name]).match_key() for name in METHODS}
    assert len({keys[name] for name in ("Zhang", "CNN+BF", "CNN+GLC", "CNN+HLM", "only GLC", "only HLM")}) == 1
    assert len(set(keys.values())) == 3
    scores = {name: replace(job, method=METHODS[name]).score_key() for name in ("CNN+BF", "CNN+HLM", "Zhang")}
    assert scores["CNN+BF"] == scores["CNN+HLM"] != scores["Zhang"]
    assert len({replace(job, method=METHODS[name]).key() for name in METHODS}) == len(METHODS)


def test_an_error_is_recorded_in_words(job: Job, tmp_path: Path) -> None:
    lost = replace(job, case=replace(job.case, sources=(tmp_path / "photos" / "b.png",)))
    key = lost.key()
    (tmp_path / "photos" / "b.png").write_bytes(b"no picture")
    run_job(lost)
    record = read_record(lost.folder, key)
    assert record is not None
    assert record.error is not None
    assert "b.png" in record.error
    assert not (lost.folder / STAGE_FOLDER).exists()


def test_a_program_changed_on_the_way_is_not_measured(job: Job) -> None:
    old = replace(job, source="another state")
    run_job(old)
    record = read_record(old.folder, old.key())
    assert record is not None
    assert record.error == "The program was changed while the bench ran; run it again."
