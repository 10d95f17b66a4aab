"""Case files from strangers: looked through before anything is written, refused in one sentence, and bounded."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from jigsawnet.errors import FormatError, InputError, JigsawNetError, OutputError
from jigsawnet.io import case_file
from jigsawnet.io.case_file import MANIFEST, Case, is_portable, read_case, unpack_case, write_case

FILES = {"run.json": b"{}", "stages/pieces-0123456789abcdef.npz": b"pixels" * 50, "report.html": b"<p>"}


def accept(folder: Path) -> None:
    """Nothing to say against it."""


def packed(path: Path, files: dict[str, bytes] | None = None) -> Path:
    write_case(path, Case("1.0", "letters", {}), dict(FILES if files is None else files))
    return path


def by_hand(path: Path, entries: list[tuple[zipfile.ZipInfo | str, bytes]], **head: object) -> Path:
    """A zip with a manifest that lists its entries truly, whatever they are called."""
    listed = [
        {"path": getattr(name, "filename", name), "bytes": len(data), "sha256": sha256(data).hexdigest()}
        for name, data in entries
    ]
    manifest = {"format": "jigsawnet/case", "version": 1, "jigsawnet": "1.0", "name": "x", "files": listed} | head
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(manifest))
        for name, data in entries:
            archive.writestr(name, data)
    return path


def refused(path: Path, words: str, out: Path | None = None) -> None:
    """It is refused in one sentence, by looking and by unpacking, and nothing is left behind."""
    out = out or path.parent / "opened"
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(JigsawNetError, match=words) as error:
        unpack_case(path, out, accept)
    assert isinstance(error.value, FormatError | InputError | OutputError)
    assert "\n" not in str(error.value)
    assert sorted(path.parent.rglob("*")) == before


def test_what_comes_out_is_what_went_in_and_the_bytes_are_the_same_again(tmp_path: Path) -> None:
    first, second = packed(tmp_path / "a.jigsaw"), packed(tmp_path / "b.jigsaw", dict(reversed(FILES.items())))
    assert first.read_bytes() == second.read_bytes()
    case = unpack_case(first, tmp_path / "opened", accept)
    assert case == read_case(first)
    found = {p.relative_to(tmp_path / "opened").as_posix(): p.read_bytes() for p in (tmp_path / "opened").rglob("*.*")}
    assert found.pop(MANIFEST).decode() == case.to_json()
    assert found == FILES
    with zipfile.ZipFile(first) as archive:
        assert archive.testzip() is None, "any program can open it"
        assert archive.namelist() == [MANIFEST, *sorted(FILES)]


@pytest.mark.parametrize("kept", [0, 1, 20, 200, -1, -20, -200])
def test_cut_short(tmp_path: Path, kept: int) -> None:
    path = packed(tmp_path / "a.jigsaw")
    path.write_bytes(path.read_bytes()[:kept])
    refused(path, "no case file, or was cut short|does not hold")


def test_a_changed_byte_in_any_file_is_noticed(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jigsaw")
    data = path.read_bytes()
    for content in FILES.values():
        at = data.index(content)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        refused(path, "is not what was packed")


def test_a_file_whose_zip_checksum_was_mended_is_noticed_by_its_own(tmp_path: Path) -> None:
    data = b"other text"
    path = by_hand(tmp_path / "a.jigsaw", [("run.json", data)], files=[{"path": "run.json", "bytes": 10, "sha256": "0" * 64}])
    refused(path, r"run\.json is not what was packed")


def test_a_newer_version_is_told_as_such(tmp_path: Path) -> None:
    refused(by_hand(tmp_path / "a.jigsaw", [("run.json", b"{}")], version=2), "install a newer one")
    refused(by_hand(tmp_path / "b.jigsaw", [("run.json", b"{}")], version=10**4000), "install a newer one")


@pytest.mark.parametrize(
    "name",
    ["../run.json", "/etc/passwd", "a/../../b", "C:/x", "C:x", "\\\\host\\x", "a\\..\\b", "stages/../x", "con", "aux.txt",
     "a./b", "a /b", "x:stream", ".lock", "stages/.hidden", "a\nb", "x" * 201, "/".join(["ab"] * 400), "", "a//b", "./a"],
)  # fmt: skip
def test_names_that_lead_out_or_mean_something_else_elsewhere(tmp_path: Path, name: str) -> None:
    assert not is_portable(name)
    if "\\" not in name and name:  # zipfile makes slashes of them
        refused(
            by_hand(tmp_path / "a.jigsaw", [("run.json", b"{}"), (name, b"x")]), "no place within a case|a link|does not hold"
        )
    with pytest.raises(InputError, match="name that other systems cannot hold"):
        packed(tmp_path / "b.jigsaw", {"run.json": b"{}", name: b"x"})
    assert not (tmp_path / "b.jigsaw").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_links_and_devices(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("report.html")
    info.external_attr = (kind | 0o777) << 16
    refused(by_hand(tmp_path / "a.jigsaw", [("run.json", b"{}"), (info, b"/etc/passwd")]), "is a link or a device")


@pytest.mark.parametrize(
    ("one", "other"), [("a.png", "A.PNG"), ("\u00e9", "e\u0301"), ("run.json", "run.json/x"), ("a/b", "A/b")]
)
def test_names_that_are_one_on_some_systems(tmp_path: Path, one: str, other: str) -> None:
    files = {"run.json": b"{}", one: b"1", other: b"2"}
    refused(by_hand(tmp_path / "a.jigsaw", list(files.items())), r"one name on some systems|a file and a folder")
    with pytest.raises(InputError, match=r"one name on some systems|a file and a folder"):
        packed(tmp_path / "b.jigsaw", files)


def test_what_is_listed_and_what_is_there_must_be_the_same(tmp_path: Path) -> None:
    more = by_hand(tmp_path / "a.jigsaw", [("run.json", b"{}"), ("x", b"")], files=[])
    refused(more, "does not hold what")
    refused(by_hand(tmp_path / "b.jigsaw", [("x", b"")]), "holds no run")
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = by_hand(tmp_path / "c.jigsaw", [("run.json", b"{}"), ("run.json", b"[]")])
    refused(twice, "names a file twice")
    with zipfile.ZipFile(tmp_path / "d.jigsaw", "w") as archive:
        archive.writestr("run.json", b"{}")
    refused(tmp_path / "d.jigsaw", "does not begin with")


def test_compressed_and_locked_files_are_refused(tmp_path: Path) -> None:
    """What swells when it is unpacked could fill any disk."""
    with zipfile.ZipFile(tmp_path / "a.jigsaw", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, "{}")
        archive.writestr("run.json", b"\0" * 10_000_000)
    refused(tmp_path / "a.jigsaw", "is compressed, and a case is not")
    data = packed(tmp_path / "b.jigsaw").read_bytes()
    at = data.rindex(b"PK\1\2") + 8
    (tmp_path / "b.jigsaw").write_bytes(data[:at] + struct.pack("<H", 1) + data[at + 2 :])
    refused(tmp_path / "b.jigsaw", "password")


def _with_list(path: Path, change: Callable[[list[bytearray]], None]) -> None:
    """Change the entries of the zip's list, without touching what they speak of."""
    data = path.read_bytes()
    at, end = data.index(b"PK\1\2"), data.rindex(b"PK\5\6")
    entries = [bytearray(b"PK\1\2" + part) for part in data[at:end].split(b"PK\1\2")[1:]]
    change(entries)
    listed = b"".join(entries)
    fields = list(struct.unpack("<4s4H2LH", data[end:]))
    fields[3:7] = [len(entries), len(entries), len(listed), at]
    path.write_bytes(data[:at] + listed + struct.pack("<4s4H2LH", *fields))


def test_sizes_that_lie_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Ten gigabytes are declared, and none are there."""
    size = 10 * 10**9
    listed = [{"path": "run.json", "bytes": size, "sha256": "0" * 64}]
    path = by_hand(tmp_path / "a.jigsaw", [("run.json", b"{}")], files=listed)
    refused(path, "does not hold what")

    def lie(entries: list[bytearray]) -> None:
        struct.pack_into("<2L", entries[-1], 20, 2**32 - 2, 2**32 - 2)

    path = by_hand(tmp_path / "b.jigsaw", [("run.json", b"{}")], files=[listed[0] | {"bytes": 2**32 - 2}])
    _with_list(path, lie)
    refused(path, "cut short or altered")


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jigsaw")

    def share(entries: list[bytearray]) -> None:
        entries[2:] = [entries[1][:], entries[1][:]]

    _with_list(path, share)
    refused(path, "cut short or altered|does not hold")


def test_a_case_that_does_not_fit_the_disk_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "a.jigsaw")
    monkeypatch.setattr(case_file, "_free_bytes", lambda _: 1000)
    refused(path, "has room for")


def test_too_many_files_are_refused_on_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "a.jigsaw")
    monkeypatch.setattr(case_file, "MOST_FILES", 2)
    refused(path, "too many for a case")
    with pytest.raises(InputError, match="at most 2"):
        packed(tmp_path / "b.jigsaw")


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jigsaw")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("precious")
    refused(path, "holds something already", tmp_path / "there")
    assert (tmp_path / "there" / "file").read_text() == "precious"


def test_what_the_caller_refuses_is_not_left_behind(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jigsaw")

    def refuse(folder: Path) -> None:
        assert (folder / "run.json").read_bytes() == b"{}"
        raise FormatError("No.")

    with pytest.raises(FormatError, match="No"):
        unpack_case(path, tmp_path / "opened", refuse)
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_file_that_changes_while_it_is_packed_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "run.json"
    source.write_text("one")
    known = case_file._size_and_digest

    def late(path: Path | bytes) -> tuple[int, str]:
        answer = known(path)
        source.write_text("two")
        return answer

    monkeypatch.setattr(case_file, "_size_and_digest", late)
    with pytest.raises(InputError, match="changed while it was packed"):
        write_case(tmp_path / "a.jigsaw", Case("1.0", "x", {}), {"run.json": source})
    assert sorted(tmp_path.iterdir()) == [source]


def test_large_files_pass_in_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is held in memory as a whole, on either way."""
    path = tmp_path / "large"
    path.write_bytes(bytes(range(256)) * 4096)
    asked: list[int] = []
    read = zipfile.ZipExtFile.read

    def watched(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        asked.append(n or -1)
        return read(self, n)

    write_case(tmp_path / "a.jigsaw", Case("1.0", "x", {}), {"run.json": b"{}", "large": path})
    monkeypatch.setattr(case_file, "_CHUNK", 1000)
    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipExtFile, "read", watched)
        unpack_case(tmp_path / "a.jigsaw", tmp_path / "opened", accept)
    assert (tmp_path / "opened" / "large").read_bytes() == path.read_bytes()
    assert max(asked[1:]) <= 1000, "all but the manifest"


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"format": "jigsawnet/case"}', b"\xff", b"[" * 100_000])
def test_manifests_that_are_none(tmp_path: Path, text: bytes) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(MANIFEST, text)
        archive.writestr("run.json", b"{}")
    (tmp_path / "a.jigsaw").write_bytes(stream.getvalue())
    refused(tmp_path / "a.jigsaw", "no case file|version")
