"""The text files of the paper's authors.

Their matrices act on (row, col); ours on (x, y). With S the swap of the two axes, ``S T S`` goes both ways: the angle
changes its sign and the shift its order. Pieces are numbered from 0, in ``groundTruth.txt`` from 1.

- ``groundTruth.txt``: the number of a piece, then nine numbers of its pose on the next line.
- ``pose_result_0.txt``: ``k k``, then three lines of pose; one file per component.
- ``alignments.txt``: ``Node k`` lines, then a line ``i j score``, nine numbers of ``i_from_j``, and the word ``line``
  followed by the stitch line: the border pixels of j that touch i, as ``x y`` (not row, col) in the frame of j.
- ``filtered_alignments.txt``, ``selected_transformation.txt``: ``i j score``, then three lines of ``i_from_j``.

Empty lines and lines that begin with ``#`` are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from jigsawnet.errors import FormatError, OutputError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import read_text, write_text
from jigsawnet.io.json_files import parse_rigid
from jigsawnet.types import Alignment, Assembly, FloatArray, Join

_Line = tuple[str, list[str]]
"""Where it stands, for error messages, and its words."""


def read_ground_truth(path: Path, names: Sequence[str]) -> Assembly:
    """Read ``groundTruth.txt`` as an assembly of one component.

    Number k in the file is the k-th of the sorted ``names``; pieces of the assembly are numbered as in ``names``.
    """
    ranked = sorted(range(len(names)), key=lambda idx: names[idx])
    poses: dict[int, SE2] = {}
    for where, head, matrix in _records(path, rows=1):
        number = _integer(head, 0, where)
        if not 1 <= number <= len(names) or ranked[number - 1] in poses:
            raise FormatError(f"{where}: pieces must be numbered from 1 to {len(names)}, each once, not {number}.")
        poses[ranked[number - 1]] = matrix
    if len(poses) != len(names):
        raise FormatError(f"{path} holds {len(poses)} poses, but the puzzle has {len(names)} pieces.")
    return Assembly(len(names), poses, (tuple(sorted(poses)),) if poses else ())


def write_ground_truth(path: Path, truth: Assembly, names: Sequence[str]) -> None:
    """Write ``groundTruth.txt``; the format knows only one picture with all its pieces."""
    if not truth.complete:
        raise OutputError(f"{path} cannot be written: the format can hold only one picture with all pieces placed.")
    ranked = sorted(range(len(names)), key=lambda idx: names[idx])
    write_text(path, "".join(f"{k} \n{_words(truth.poses[idx])}\n" for k, idx in enumerate(ranked, start=1)))


def read_poses(path: Path, n_pieces: int) -> Assembly:
    """Read ``pose_result_0.txt``: the pieces of one component; all others are unplaced."""
    poses: dict[int, SE2] = {}
    for where, head, pose in _records(path, rows=3):
        idx = _piece(head, 0, n_pieces, where)
        if idx in poses:
            raise FormatError(f"{where}: piece {idx} has a pose already.")
        poses[idx] = pose
    return Assembly(n_pieces, poses, (tuple(sorted(poses)),) if poses else ())


def write_poses(path: Path, assembly: Assembly, component: int = 0) -> None:
    """Write one component of an assembly as ``pose_result_<component>.txt``."""
    write_text(path, "".join(f"{k}\t{k}\n{_matrix_rows(assembly.poses[k])}" for k in assembly.components[component]))


def read_alignments(path: Path, n_pieces: int) -> tuple[Alignment, ...]:
    """Read ``alignments.txt``: candidates with the matcher's score as ``fit``, in the order of the file."""
    return tuple(alignment for alignment, _ in _read_candidates(path, n_pieces))


def read_stitch_lines(path: Path, n_pieces: int) -> tuple[FloatArray, ...]:
    """The stitch line of each candidate of `read_alignments`: points ``(K, 2)``, (x, y) in j's frame; K = 0 without one."""
    return tuple(points for _, points in _read_candidates(path, n_pieces))


def write_alignments(
    path: Path, alignments: Iterable[Alignment], n_pieces: int, stitch_lines: Sequence[FloatArray] | None = None
) -> None:
    """Write ``alignments.txt``.

    ``stitch_lines`` holds for each candidate the points ``(K, 2)``, (x, y) in j's frame, where j touches i. Without it the
    lines end after the matrix: the authors' composer reads such a file, but their network needs the stitch lines.
    """
    alignments = tuple(alignments)
    lines = [f"Node {k}" for k in range(n_pieces)]
    points = [np.empty((0, 2))] * len(alignments) if stitch_lines is None else stitch_lines
    for a, stitch in zip(alignments, points, strict=True):
        tail = "".join(f" {value:.6f}" for value in np.ravel(stitch))
        lines.append(f"{a.i} {a.j} {a.fit:.9g} {_words(a.i_from_j)}" + (f" line{tail}" if stitch_lines is not None else ""))
    write_text(path, "".join(f"{line} \n" for line in lines))


def read_joins(path: Path, n_pieces: int) -> tuple[Join, ...]:
    """Read ``filtered_alignments.txt`` or ``selected_transformation.txt``: joins with a score in [0, 1]."""
    joins = []
    for where, head, i_from_j in _records(path, rows=3):
        alignment = _alignment(head, i_from_j, n_pieces, where)
        if not 0 <= alignment.fit <= 1:
            raise FormatError(f"{where}: the score must lie between 0 and 1, not {alignment.fit:g}.")
        joins.append(Join(alignment, alignment.fit))
    return tuple(joins)


def write_joins(path: Path, joins: Iterable[Join]) -> None:
    """Write joins as ``selected_transformation.txt``; their composer reads it as ``filtered_alignments.txt`` too."""
    blocks = (f"{e.alignment.i}\t{e.alignment.j}\t{e.confidence:.9f}\n{_matrix_rows(e.alignment.i_from_j)}" for e in joins)
    write_text(path, "# selected relative transformation \n\n" + "".join(blocks))


def _read_candidates(path: Path, n_pieces: int) -> list[tuple[Alignment, FloatArray]]:
    candidates = []
    for where, words in _lines(path):
        if words[0] == "Node":
            _piece(words, 1, n_pieces, where)
            continue
        if len(words) < 12 or words[12:13] not in ([], ["line"]) or len(words) % 2 != len(words[12:13]):
            raise FormatError(f'{where} must be "i j score", nine numbers of a matrix, and "line" with pairs of numbers.')
        pose = _pose_from_words(words[3:12], where)
        alignment = _alignment(words, pose, n_pieces, where)
        points = np.array([_number(word, where) for word in words[13:]]).reshape(-1, 2)
        candidates.append((alignment, points if int(words[0]) < int(words[1]) else pose @ points))
    return candidates


def _alignment(words: list[str], i_from_j: SE2, n_pieces: int, where: str) -> Alignment:
    i, j = _piece(words, 0, n_pieces, where), _piece(words, 1, n_pieces, where)
    if i == j:
        raise FormatError(f"{where}: piece {i} is joined to itself.")
    fit = _number(words[2] if len(words) > 2 else "", where)
    return Alignment(i, j, i_from_j, fit) if i < j else Alignment(j, i, i_from_j.inverse(), fit)


def _records(path: Path, rows: int) -> Iterable[tuple[str, list[str], SE2]]:
    """Walk over a head line followed by a matrix on the next ``rows`` lines: ``(where, head words, pose)``."""
    lines = _lines(path)
    for k in range(0, len(lines), rows + 1):
        where, head = lines[k]
        body = lines[k + 1 : k + 1 + rows]
        if len(body) < rows or any(len(words) != 9 // rows for _, words in body):
            raise FormatError(f"{where} must be followed by a 3x3 matrix on {rows} line{'s' * (rows > 1)}.")
        yield where, head, _pose_from_words([word for _, words in body for word in words], where)


def _lines(path: Path) -> list[_Line]:
    numbered = ((f"{path}, line {k}", line.split()) for k, line in enumerate(read_text(path).splitlines(), start=1))
    return [(where, words) for where, words in numbered if words and not words[0].startswith("#")]


def _piece(words: list[str], position: int, n_pieces: int, where: str) -> int:
    idx = _integer(words, position, where)
    if not 0 <= idx < n_pieces:
        raise FormatError(f"{where}: there is no piece {idx}; pieces are numbered from 0 to {n_pieces - 1}.")
    return idx


def _integer(words: list[str], position: int, where: str) -> int:
    word = words[position] if position < len(words) else ""
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise FormatError(f"{where}: the number of a piece is expected, not {word[:40]!r}.")
    return int(word)


def _number(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not abs(value) < 1e9:
        raise FormatError(f"{where}: a number is expected, not {word[:40]!r}.")
    return value


def _pose_from_words(words: list[str], where: str) -> SE2:
    """Nine words, a (row, col) matrix row by row, as a pose in (x, y)."""
    values = [_number(word, where) for word in words]
    return _swap_axes(parse_rigid([values[0:3], values[3:6], values[6:9]], f"{where}: the matrix"))


def _swap_axes(pose: SE2) -> SE2:
    """``S T S``: between (row, col) and (x, y), the same in both directions."""
    return SE2(-pose.theta, pose.y, pose.x)


def _words(pose: SE2) -> str:
    return " ".join(f"{value:.9f}" for value in _swap_axes(pose).matrix().ravel())


def _matrix_rows(pose: SE2) -> str:
    return "".join(" ".join(f"{value:.9f}" for value in row) + "\n" for row in _swap_axes(pose).matrix())
