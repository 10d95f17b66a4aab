"""The truth beside the pieces of a puzzle, in our format or the authors'."""

from __future__ import annotations

from pathlib import Path

from jigsawnet.errors import InputError
from jigsawnet.io.assembly_json import read_assembly
from jigsawnet.io.authors import read_ground_truth
from jigsawnet.io.files import refuse_link_outside
from jigsawnet.io.pieces import list_pictures
from jigsawnet.types import Assembly, Puzzle

TRUTH_FILE = "truth.json"
AUTHORS_TRUTH_FILE = "groundTruth.txt"


def read_truth(folder: Path, puzzle: Puzzle) -> Assembly:
    """The truth that lies beside the pieces, in our format or the authors'; pieces that could not be loaded are left out.

    ``folder`` may also be the file of the truth itself.
    """
    given = folder.is_file()
    folder, path = (folder.parent, folder) if given else (folder, folder / TRUTH_FILE)
    for beside in () if given else (path, folder / AUTHORS_TRUTH_FILE):
        refuse_link_outside(beside, folder)
    if (given and path.name != AUTHORS_TRUTH_FILE) or (path.is_file() and not given):
        truth, names = read_assembly(path)
    elif (path := folder / AUTHORS_TRUTH_FILE).is_file():
        names = tuple(picture.name for picture in list_pictures(folder))
        truth = read_ground_truth(path, names)
    else:
        raise InputError(f"{folder} holds no {TRUTH_FILE} and no {AUTHORS_TRUTH_FILE}, so there is nothing to compare with.")
    lacking = sorted(set(puzzle.names()) - set(names))
    if lacking:
        raise InputError(f"{path} does not name the piece {lacking[0]!r}.")
    number = {name: idx for idx, name in enumerate(names)}
    return truth.renumbered([number[name] for name in puzzle.names()])
