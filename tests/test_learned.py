"""Everything learned as one folder: what ships, what is refused, what a change changes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.confidence import gather_evidence
from jigsawnet.errors import ModelError
from jigsawnet.learned import COEFFICIENTS, NETWORKS, PACKAGED, PARTS, VERSION, Learned, PartName, load_learned
from jigsawnet.match.strips import SideJoins, strip_terms
from jigsawnet.match.verify import FEATURES
from jigsawnet.score.combine import combined_terms, printed_terms, ragged_terms
from jigsawnet.score.detectors import load_detector
from jigsawnet.seam_fit import contact_terms, seam_terms, with_products
from jigsawnet.types import Assembly


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A copy of the shipped bundle that may be spoiled."""
    return Path(shutil.copytree(PACKAGED, tmp_path / "bundle"))


def rewrite(bundle: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a JSON file of a bundle, and its checksum with it."""
    content = json.loads((bundle / name).read_text(encoding="utf-8"))
    change(content)
    (bundle / name).write_text(json.dumps(content), encoding="utf-8")
    if name != "bundle.json":
        digest = hashlib.sha256((bundle / name).read_bytes()).hexdigest()
        rewrite(bundle, "bundle.json", lambda manifest: manifest["files"].update({name: digest}))


def test_there_is_a_coefficient_for_every_term() -> None:
    terms = seam_terms(np.ones((1, len(FEATURES)), np.float32), 3.0)
    both = combined_terms(terms, np.full((1, 2), 0.5))
    joins = gather_evidence(Assembly(2, {}, ()), Candidates.none()).features
    nothing = Candidates.none()
    contact = with_products(contact_terms(nothing, 3.0))
    touching = ragged_terms(nothing, 3.0, np.zeros((0, 2)), np.zeros((0, 2)))
    lines = printed_terms(nothing, 3.0, np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0))
    assert {
        "lines": lines.shape[1],
        "fit": terms.shape[1], "contact": contact.shape[1], "combined": both.shape[1], "touching": touching.shape[1],
        "confidence": joins.shape[1], "strips": strip_terms(SideJoins(*np.zeros((6, 0), np.int64))).shape[1],
    } == COEFFICIENTS  # fmt: skip


def test_the_shipped_bundle_is_whole() -> None:
    learned = load_learned()
    listed = set(json.loads((PACKAGED / "bundle.json").read_text())["files"])
    assert listed | {"bundle.json"} == {path.name for path in PACKAGED.iterdir()}
    assert {name: len(getattr(learned, name).weights) for name in COEFFICIENTS} == COEFFICIENTS
    assert [len(learned.network(name).sessions) for name in NETWORKS] == [1, 1, 1, 3, 2]
    assert all(f"## {part}" in learned.card for part in PARTS)


def test_loading_needs_neither_onnxruntime_nor_torch() -> None:
    code = (
        "import sys; from jigsawnet.learned import load_learned; load_learned().digest; "
        "sys.exit(bool({'onnxruntime', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_network_is_read_without_the_other(bundle: Path) -> None:
    (bundle / "jigsawnet-2.onnx").write_bytes(b"damaged")
    learned = load_learned(bundle)
    assert len(learned.network("seam").sessions) == 1
    with pytest.raises(ModelError, match=r"jigsawnet-2\.onnx is damaged"):
        learned.network("jigsawnet")


def test_it_can_be_sent_to_another_process(tmp_path: Path, bundle: Path) -> None:
    learned = load_learned(bundle)
    assert pickle.loads(pickle.dumps(learned)) == learned
    sent = pickle.dumps(load_detector("seam", learned))
    shutil.rmtree(bundle)  # the worker has no such folder
    band = np.full((2, 32, 128, 5), 90, np.uint8)
    again = pickle.loads(sent).weights.sessions[0].run(None, {"band": band})[0]
    assert (again == load_detector("seam", load_learned()).weights.sessions[0].run(None, {"band": band})[0]).all()


def _heavier(content: dict[str, Any]) -> None:
    content["weights"][0] += 0.5


@pytest.mark.parametrize(
    ("name", "change", "part"),
    [
        ("fit.json", _heavier, "fit"),
        ("contact.json", _heavier, "contact"),
        ("touching.json", _heavier, "touching"),
        ("touching.json", lambda content: content.update(hopeless=0.5), "touching"),
        ("ragged.json", lambda content: content.update(reject_below=0.3), "ragged"),
        ("combined.json", _heavier, "combined"),
        ("combined.json", lambda content: content.update(hopeless=0.5), "combined"),
        ("confidence.json", lambda content: content.update(bias=0.0), "confidence"),
        ("seam.json", lambda content: content.update(reject_below=0.3), "seam"),
        ("jigsawnet.json", lambda content: content.update(alphas=[1.0, 2.0, 3.0]), "jigsawnet"),
        ("jigsawnet.json", lambda content: content["picture"].update(width=200), "jigsawnet"),
    ],
)
def test_a_change_changes_the_digest_of_its_part_alone(
    bundle: Path, name: str, change: Callable[[dict[str, Any]], None], part: PartName
) -> None:
    shipped = load_learned()
    rewrite(bundle, name, change)
    changed = load_learned(bundle)
    assert changed.digest != shipped.digest
    assert [p for p in PARTS if changed.digest_of(p) != shipped.digest_of(p)] == [part]


def test_the_record_of_a_training_and_the_folder_do_not_change_the_digest(bundle: Path) -> None:
    rewrite(bundle, "seam.json", lambda content: content["training"].update(hours=99))
    rewrite(bundle, "fit.json", lambda content: content.update(training={}))
    assert load_learned(bundle).digest == load_learned().digest


def _drop(name: str) -> Callable[[Path], None]:
    return lambda bundle: (bundle / name).unlink()


def _write(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda bundle: (bundle / name).write_bytes(data) and None


def _edit(name: str, **values: Any) -> Callable[[Path], None]:
    return lambda bundle: rewrite(bundle, name, lambda content: content.update(values))


def _list(**files: Any) -> Callable[[Path], None]:
    return lambda bundle: rewrite(bundle, "bundle.json", lambda content: content["files"].update(files))


def _unlisted(name: str) -> Callable[[Path], None]:
    return lambda bundle: rewrite(bundle, "bundle.json", lambda content: content["files"].pop(name))


def _other_network(bundle: Path) -> None:
    entry = {"name": "jigsawnet-1.onnx", "sha256": "0" * 64}
    rewrite(bundle, "seam.json", lambda content: content.update(files=[entry]))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (shutil.rmtree, r"are missing, for there is no bundle\.json"),
        (_drop("bundle.json"), r"are missing, for there is no bundle\.json"),
        (_drop("fit.json"), r"fit\.json is missing"),
        (_drop("seam-1.onnx"), r"seam-1\.onnx is missing"),
        (_drop("model-card.md"), r"model-card\.md is missing"),
        (_write("bundle.json", b"{"), "cannot be read"),
        (_write("bundle.json", b"[]"), "cannot be read"),
        (_write("bundle.json", b"\xff\xfe\x00"), "cannot be read"),
        (_write("bundle.json", b"[" * 100_000), "cannot be read"),
        (_write("bundle.json", b" " * (2**20 + 1)), "is larger than 1 MiB"),
        (_write("fit.json", b"{}"), r"fit\.json is damaged"),
        (_write("model-card.md", b"another"), r"model-card\.md is damaged"),
        (_edit("bundle.json", format="jigsawnet/assembly"), "does not describe learned"),
        (_edit("bundle.json", version=VERSION + 1), f"has version {VERSION + 1} .* reads {VERSION}"),
        (_edit("bundle.json", version=1), rf"has version 1 .* reads {VERSION}; train again"),
        (_unlisted("ragged.json"), r"does not list ragged\.json"),
        (_unlisted("touching.json"), r"does not list touching\.json"),
        (_edit("contact.json", weights=[0.5] * 77), "77 weights where 350 belong"),
        (_edit("bundle.json", version={"major": 1}), "has version"),
        (_edit("bundle.json", files=["fit.json"]), "does not list its files"),
        (_list(**{"fit.json": 7}), "does not list its files"),
        (_list(**{"../outside.json": "0"}), "outside its own folder"),
        (_list(**{"/etc/passwd": "0"}), "outside its own folder"),
        (_list(**{"..": "0"}), "outside its own folder"),
        (_list(**{"a\\b": "0"}), "outside its own folder"),
        (_unlisted("fit.json"), r"does not list fit\.json"),
        (_other_network, r"disagree about jigsawnet-1\.onnx"),
        (_edit("fit.json", weights=[0.5] * 76), "76 weights where 77 belong"),
        (_edit("confidence.json", weights=[0.5] * 4), "4 weights where 5 belong"),
        (_edit("combined.json", weights="many"), r"combined\.json cannot be read \(Expected `array`"),
        (_edit("combined.json", hopeless=None), r"combined\.json cannot be read"),
        (_edit("fit.json", bias=float("nan")), r"fit\.json cannot be read"),
        (_edit("fit.json", bias=float("inf")), r"fit\.json cannot be read"),
        (_edit("confidence.json", weights=[1, 2, 3, 10**400]), r"confidence\.json cannot be read"),
        (_edit("seam.json", version=7), "has version 7"),
    ],
)
def test_a_bad_bundle_is_refused_in_one_sentence(bundle: Path, spoil: Callable[[Path], None], sentence: str) -> None:
    spoil(bundle)
    with pytest.raises(ModelError, match=sentence) as refusal:
        load_learned(bundle)
    said = str(refusal.value)
    assert "\n" not in said
    assert len(said) < 500
    assert "jigsawnet train" in said


def test_a_folder_in_the_place_of_a_file_is_refused(bundle: Path) -> None:
    (bundle / "fit.json").unlink()
    (bundle / "fit.json").mkdir()
    with pytest.raises(ModelError, match=r"fit\.json is missing"):
        load_learned(bundle)


def test_parts_can_be_exchanged() -> None:
    learned = load_learned()
    other = dataclasses.replace(learned, fit=dataclasses.replace(learned.fit, bias=0.0))
    assert isinstance(other, Learned)
    assert other.digest_of("combined", "seam") == learned.digest_of("combined", "seam")
    assert other.digest_of("fit") != learned.digest_of("fit")
