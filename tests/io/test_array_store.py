"""Arrays on disk: exact, bounded, and refused when anything about them is wrong."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from jigsawnet.io import array_store
from jigsawnet.io.array_store import Arrays, FolderStore, Saved, read_arrays, read_text_array, text_array, write_arrays
from jigsawnet.types import StageReport

DTYPES = st.sampled_from([np.dtype(name) for name in ("bool", "uint8", "int32", "int64", "float32", "float64")])
ARRAYS = st.dictionaries(
    st.text("abcdefgh-0123", min_size=1, max_size=8),
    DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))),
    max_size=4,
)
on_disk = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@on_disk
@given(arrays=ARRAYS)
def test_what_is_read_back_is_what_was_written(arrays: dict[str, Any], tmp_path: Path) -> None:
    checksum = write_arrays(tmp_path / "a.npz", arrays)
    assert checksum == sha256((tmp_path / "a.npz").read_bytes()).hexdigest()
    assert write_arrays(tmp_path / "b.npz", arrays) == checksum, "the same arrays give the same bytes"
    found = read_arrays(tmp_path / "a.npz", checksum)
    assert found is not None
    with np.load(tmp_path / "a.npz", allow_pickle=False) as by_numpy:
        assert set(found) == set(by_numpy) == set(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)
            np.testing.assert_array_equal(by_numpy[name], array)


@on_disk
@given(data=st.binary(max_size=300))
def test_any_bytes_are_refused_quietly(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(data)
    assert read_arrays(tmp_path / "x.npz", sha256(data).hexdigest()) in (None, {})
    assert read_arrays(tmp_path / "x.npz", "0" * 64) is None


@on_disk
@given(place=st.integers(0, 10_000), change=st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int, tmp_path: Path) -> None:
    checksum = write_arrays(tmp_path / "a.npz", {"a": np.arange(20.0)})
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[place % len(data)] ^= change
    (tmp_path / "a.npz").write_bytes(data)
    assert read_arrays(tmp_path / "a.npz", checksum) is None


def npy(header: dict[str, Any], body: bytes) -> bytes:
    text = repr(header).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + body


HOSTILE = {
    "larger than it is": npy({"descr": "<f8", "fortran_order": False, "shape": (10**15,)}, b"\0" * 80),
    "objects": npy({"descr": "|O", "fortran_order": False, "shape": (1,)}, b"\x80\x04K\x01."),
    "text": npy({"descr": "<U4", "fortran_order": False, "shape": (2,)}, b"\0" * 32),
    "negative": npy({"descr": "<f8", "fortran_order": False, "shape": (-1,)}, b""),
    "no header": b"hello",
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_hostile_entries_are_refused(kind: str, method: int, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("a.npy", HOSTILE[kind])
    (tmp_path / "x.npz").write_bytes(stream.getvalue())
    assert read_arrays(tmp_path / "x.npz", sha256(stream.getvalue()).hexdigest()) is None


def test_compressed_entries_are_refused(tmp_path: Path) -> None:
    """They could swell to any size."""
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(1000))
    assert read_arrays(tmp_path / "x.npz", sha256((tmp_path / "x.npz").read_bytes()).hexdigest()) is None


def _with_directory(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A file with its list of entries changed, and its end made to fit."""
    at = data.index(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    listed = change(data[at:end])
    fields = list(struct.unpack("<4s4H2LH", data[end:]))
    fields[5:7] = [len(listed), at]
    return data[:at] + listed + struct.pack("<4s4H2LH", *fields)


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    """Each would be unpacked by itself: a small file could take any amount of memory."""
    write_arrays(tmp_path / "a.npz", {"a": np.arange(1000.0), "b": np.arange(3.0)})
    data = (tmp_path / "a.npz").read_bytes()
    same = _with_directory(data, lambda listed: listed)
    doubled = _with_directory(data, lambda listed: listed + listed[: listed.index(b"PK\1\2", 4)].replace(b"a.npy", b"c.npy"))
    (tmp_path / "a.npz").write_bytes(same)
    assert set(read_arrays(tmp_path / "a.npz", None) or {}) == {"a", "b"}
    (tmp_path / "a.npz").write_bytes(doubled)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert len(archive.infolist()) == 3, "it is a file that can be listed"
    assert read_arrays(tmp_path / "a.npz", None) is None


def test_entries_that_lie_in_each_other_are_refused(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("i.npy", npy({"descr": "|u1", "fortran_order": False, "shape": (4,)}, b"1234"))
    body = inner.getvalue()[: inner.getvalue().index(b"PK\1\2")]
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("o.npy", npy({"descr": "|u1", "fortran_order": False, "shape": (len(body),)}, body))
    at = outer.getvalue().index(body)
    listed = bytearray(inner.getvalue()[inner.getvalue().index(b"PK\1\2") : inner.getvalue().rindex(b"PK\5\6")])
    listed[42:46] = struct.pack("<L", at)
    (tmp_path / "a.npz").write_bytes(_with_directory(outer.getvalue(), lambda own: own + bytes(listed)))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert [len(archive.read(name)) for name in ("o.npy", "i.npy")] == [128 + len(body), 132]
    assert read_arrays(tmp_path / "a.npz", None) is None


def test_a_list_of_entries_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_arrays(tmp_path / "a.npz", {f"a{k}": np.arange(3) for k in range(50)})
    assert len(read_arrays(tmp_path / "a.npz", None) or {}) == 50
    monkeypatch.setattr(array_store, "_MOST_DIRECTORY", 1000)
    monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda *_: pytest.fail("it was read"))
    assert read_arrays(tmp_path / "a.npz", None) is None


def test_many_entries_need_a_longer_end_and_are_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", {str(k): np.zeros(0, bool) for k in range(70_000)})
    assert len(read_arrays(tmp_path / "a.npz", None) or {}) == 70_000


def test_only_what_is_named_is_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", {"a": np.arange(3), "b": np.arange(5)})
    assert set(read_arrays(tmp_path / "a.npz", None, ["b"]) or {}) == {"b"}
    assert read_arrays(tmp_path / "a.npz", None, ["b", "c"]) is None


def test_a_lost_file_is_none(tmp_path: Path) -> None:
    assert read_arrays(tmp_path / "gone.npz", "") is None


@settings(deadline=None, max_examples=20)
@given(value=st.recursive(st.none() | st.integers(-9, 9) | st.text(max_size=5), lambda part: st.lists(part, max_size=3)))
def test_texts_lie_beside_arrays(value: Any) -> None:
    assert read_text_array(text_array(value)) == json.loads(json.dumps(value))


# --- a folder of stages ---------------------------------------------------------------------------------------------

KEY, OTHER = "ab" * 32, "cd" * 32
REPORTS = (StageReport("match", 1.25, {"pairs": 6, "gap_px": 0.5}), StageReport("score", 0.0, {}))
STAGE = Saved(KEY, "its source", {"fit": np.linspace(0, 1, 7), "i": np.arange(7, dtype=np.int32)}, REPORTS)


def assert_whole(found: Saved | None) -> None:
    assert found is not None
    assert (found.key, found.source, found.reports) == (KEY, "its source", REPORTS)
    assert set(found.arrays) == set(STAGE.arrays)
    for name, array in STAGE.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def test_a_stage_is_given_back_under_its_name_and_key(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "made" / "when needed")
    assert store.load("match", KEY) is None
    store.save({"match": STAGE})
    assert_whole(store.load("match", KEY))
    assert_whole(FolderStore(store.path).load("match", KEY))
    assert store.load("score", KEY) is None
    assert store.load("match", OTHER) is None
    assert store.load("match") is None, "of many there is no newest"


def test_stages_of_many_keys_lie_side_by_side(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    other = Saved(OTHER, "", {"fit": np.zeros(1)})
    store.save({"match": STAGE, "score": other})
    store.save({"match": other})
    assert_whole(store.load("match", KEY))
    found = store.load("match", OTHER)
    assert found is not None
    assert found.arrays["fit"].tolist() == [0.0]
    assert len(list(tmp_path.iterdir())) == 3
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    store.save({"match": STAGE})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "the same arrays give the same bytes"


def test_a_key_that_begins_alike_is_another(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.save({"match": STAGE})
    assert store.load("match", KEY[:32] + OTHER[:32]) is None


@pytest.mark.parametrize(
    "head",
    [None, np.zeros(3), text_array([]), text_array({"key": KEY}), text_array({"key": KEY, "source": "", "reports": [1]}),
     text_array({"key": KEY, "source": "", "reports": [{"name": "x"}]}), np.frombuffer(b"\xff", np.uint8)],
)  # fmt: skip
def test_a_file_with_another_head_is_none(head: Any, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.save({"match": STAGE})
    (path,) = tmp_path.iterdir()
    arrays: Arrays = dict(STAGE.arrays) if head is None else {"head": head, **STAGE.arrays}
    write_arrays(path, arrays)
    assert store.load("match", KEY) is None


def test_any_changed_byte_gives_the_stage_as_it_was_or_nothing_wrong(tmp_path: Path) -> None:
    """There is no checksum of the whole file here, but one of each array; bytes between these may change."""
    store = FolderStore(tmp_path)
    store.save({"match": STAGE})
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    lost = 0
    for place in range(len(data)):
        for change in (0x01, 0x80, 0xFF):
            path.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
            found = store.load("match", KEY)
            if found is None or set(found.arrays) != set(STAGE.arrays):  # a changed name: the stage misses an array
                lost += 1
            else:
                assert_whole(found)
    assert lost > len(data)


@pytest.mark.parametrize("left", [0, 1, 100, -1, -30])
def test_a_cut_file_is_none(left: int, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.save({"match": STAGE})
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:left])
    assert store.load("match", KEY) is None


def test_a_folder_in_place_of_a_file_is_none(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.save({"match": STAGE})
    (path,) = tmp_path.iterdir()
    path.unlink()
    path.mkdir()
    assert store.load("match", KEY) is None


def test_too_little_memory_is_not_taken_for_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be made anew, and a run that had pieces added would come out otherwise."""
    write_arrays(tmp_path / "a.npz", {"a": np.zeros(3)})

    def none_left(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(array_store, "_read", none_left)
    with pytest.raises(MemoryError):
        read_arrays(tmp_path / "a.npz", None)
