"""One puzzle, one method: saved stages change nothing but the time, and errors are recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jigsawnet import pipeline
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.io.images import read_image
from jigsawnet.shred import ShredConfig
from jigsawnet_bench.cases import Case, build_puzzle
from jigsawnet_bench.layouts import NEIGHBOR_PX
from jigsawnet_bench.methods import METHODS
from jigsawnet_bench.records import Record, read_record, record_path, thumbnail_path, write_record
from jigsawnet_bench.suite import Group, Kind
from jigsawnet_bench.tasks import run_job
from jigsawnet_bench.work import PEAK, STAGE_FOLDER, Job, MemoryClock, solve_case, source_digest


@pytest.fixture
def job(photos: Path, tmp_path: Path) -> Job:
    case = Case(Group(Kind("four"), ShredConfig(pieces=4)), 0, (photos / "a.png",))
    return Job(case, METHODS["solve"]["ours"], tmp_path / "work", source_digest())


def test_a_record_can_be_read_back_and_a_damaged_one_is_done_again(tmp_path: Path) -> None:
    record = Record(2.5, 2.0, {"match": 2.0}, None, {"match": 250.0}, {"pcr": 1.0})
    write_record(tmp_path / "new", "key", record)
    assert read_record(tmp_path / "new", "key") == record
    assert read_record(tmp_path, "nothing") is None
    path = record_path(tmp_path / "new", "key")
    path.write_text(path.read_text(encoding="utf-8").replace('"version": 2', '"version": 0'), encoding="utf-8")
    assert read_record(tmp_path / "new", "key") is None


def test_the_way_is_that_of_the_pipeline_with_or_without_saved_stages(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, truth = build_puzzle(job.case)
    metrics = evaluate(puzzle, pipeline.solve_puzzle(puzzle, job.method.config).assembly, truth, NEIGHBOR_PX)
    fresh = solve_case(job, thumbnail_path(job.folder, "fresh"))
    assert (fresh.measured["pcr"], fresh.measured["lcr"]) == (metrics.pcr, metrics.lcr) == (1.0, 1.0)
    assert fresh.seconds == pytest.approx(sum(fresh.stages.values()), abs=0.01)
    assert fresh.stage_seconds == pytest.approx(fresh.seconds - fresh.stages["read"] - fresh.stages["write"], abs=0.01)
    assert [*fresh.stages][:4] == ["read", "halo", "contours", "match"]
    assert [*fresh.stages][-3:] == ["second round", "confidence", "write"]
    assert min(fresh.stages["read"], fresh.stages["write"], fresh.stage_seconds) > 0
    assert read_image(thumbnail_path(job.folder, "fresh")).shape[1] > 1000
    assert fresh.peak_mb == max(fresh.memory.values())
    names = {"read", "halo", "contours", "match", "score", "compose", "refine", "second round", "confidence", "write"}
    assert set(fresh.memory) == names
    for name in ("find_candidates", "score_candidates", "compose"):
        monkeypatch.setattr(pipeline, name, None)  # not needed again
    again = solve_case(job, thumbnail_path(job.folder, "again"))
    assert again.measured == fresh.measured
    for name in ("match", "score", "compose", "refine"):
        assert (again.stages[name], again.memory[name]) == (fresh.stages[name], fresh.memory[name])
    assert again.seconds == pytest.approx(sum(again.stages.values()), abs=0.01)


def test_a_stage_that_can_not_be_used_is_done_again(job: Job) -> None:
    fresh = solve_case(job, thumbnail_path(job.folder, "fresh"))
    saved = sorted((job.folder / STAGE_FOLDER).rglob("*.npz"))
    assert {path.name.split("-")[0] for path in saved} >= {"match", "score", "assembly"}
    for path in saved:
        path.write_bytes(b"damaged")
    assert solve_case(job, thumbnail_path(job.folder, "again")).measured == fresh.measured


def test_another_product_shares_no_stages(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle, _ = build_puzzle(job.case)
    job.corridor(puzzle).get("candidates")
    assert job.corridor(puzzle).find("candidates") is not None
    monkeypatch.setattr("jigsawnet_bench.work.source_digest", lambda *packages: "changed")
    assert job.corridor(puzzle).find("candidates") is None


def test_the_digest_names_files_that_figures_depend_on(tmp_path: Path) -> None:
    for name in ("match/dense.py", "weights/seam.onnx", "cli/words.py", "match/__pycache__/dense.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
    first = source_digest.__wrapped__(tmp_path)
    for name, same in (("cli/words.py", True), ("match/__pycache__/dense.pyc", True), ("weights/seam.onnx", False)):
        (tmp_path / name).write_text("2", encoding="utf-8")
        assert (source_digest.__wrapped__(tmp_path) == first) is same


def test_the_clock_keeps_memory_and_what_is_not_reported() -> None:
    clock = MemoryClock()
    with clock.stage("confidence") as counts:
        counts["pieces"] = 4
    (report,) = clock.stages
    assert clock.took == {"confidence": report.seconds}
    assert report.counts["pieces"] == 4
    assert report.counts[PEAK] > 10


def test_methods_of_one_matcher_share_its_candidates(job: Job) -> None:
    jobs = {name: replace(job, method=method) for name, method in METHODS["solve"].items()}
    puzzle, _ = build_puzzle(job.case)
    walks = {name: each.corridor(puzzle) for name, each in jobs.items()}
    assert len({str(walk.store.path) for walk in walks.values()}) == 1
    keys = {name: walk.key("candidates") for name, walk in walks.items()}
    assert len({keys[name] for name in ("Zhang", "CNN+BF", "CNN+GLC", "CNN+HLM", "only GLC", "only HLM")}) == 1
    assert len(set(keys.values())) == 3
    scores = {name: walks[name].key("scored") for name in ("CNN+BF", "CNN+HLM", "Zhang", "only GLC")}
    assert scores["CNN+BF"] == scores["CNN+HLM"] != scores["Zhang"] == scores["only GLC"]
    assert walks["Zhang"].get("candidates").rows.alignments() == walks["CNN+BF"].get("candidates").rows.alignments()
    assert walks["Zhang"].made == ["halo", "contours", "match"]
    assert (walks["CNN+BF"].made, walks["CNN+BF"].reused) == ([], ["match"])
    assert len({each.key() for each in jobs.values()}) == len(METHODS["solve"])
    assert len({walk.key("assembly") for walk in walks.values()}) == len(METHODS["solve"])


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
