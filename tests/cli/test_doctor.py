"""``jigsawnet doctor`` finds what is there and what is missing."""

from __future__ import annotations

import json
import webbrowser

import pytest

from jigsawnet.cli import doctor, main_code
from jigsawnet.errors import ModelError
from jigsawnet.version import __version__

Capture = pytest.CaptureFixture[str]


def test_all_is_well_here(capsys: Capture) -> None:
    assert main_code(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"ok    jigsawnet: {__version__} on Python 3.")
    assert any(line.startswith("ok    weights: ") for line in lines)
    assert all(line.split()[0] in ("ok", "note") for line in lines)


def test_what_is_missing_is_named_with_what_to_do(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: object) -> None:
        raise ModelError("The weights are damaged.")

    monkeypatch.setattr("jigsawnet.learned.load_learned", broken)
    monkeypatch.setattr(doctor, "LIBRARIES", ("numpy", "no-such-library"))
    assert main_code(["doctor", "--json"]) == 1
    found = {entry["what"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["weights"]["state"] == "bad"
    assert "Install jigsawnet again" in found["weights"]["words"]
    assert found["no-such-library"]["state"] == "bad"
    assert found["numpy"]["state"] == "ok"


def test_a_machine_without_a_browser_is_told_how_to_go_on() -> None:
    def none() -> object:
        raise webbrowser.Error("could not locate runnable browser")

    finding = doctor._browser(none)
    assert finding.state == "note"
    assert "open the address" in finding.words
