"""The command line, ``jigsawnet COMMAND``. What a command needs is imported only when it is named."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from jigsawnet.cli.commands import COMMANDS, without_collecting
from jigsawnet.cli.speech import hushed, say, say_error, say_notes
from jigsawnet.errors import TROUBLE, sentence_of
from jigsawnet.version import __version__

EXAMPLES = """
  jigsawnet                                    the page in the browser: drop scans, solve, correct, export
  jigsawnet solve pieces/ -o result/           pieces in, picture out
  jigsawnet solve scan1.png -o result/         the same from a scan that shows many pieces
  jigsawnet view result/                       see it in the browser, correct it, solve on
  jigsawnet export result/ -o pages/           each page as PDF, TIFF, PNG and SVG
  jigsawnet shred photo.jpg -o pieces/         cut a picture into pieces, to try it
  jigsawnet eval result/ --truth pieces/       how much of the result is right"""
EXIT_CODES = (
    "Every command takes --quiet (print nothing but errors) and --config FILE (options, instead of jigsawnet.toml).\n\n"
    "Exit code 0: done, every piece is placed in one picture; 1: solved in part, or partly by guesses;\n"
    "2: bad input, said in one sentence; 130: stopped."
)


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``jigsawnet`` command."""
    code = main_code(arguments, alone=True)
    gc.freeze()  # the process ends: without this, looking for garbage among all that was imported takes 0.3 s
    sys.exit(code)


def main_code(arguments: Sequence[str] | None = None, *, alone: bool = False) -> int:
    """Run a command and give its exit code; bad input becomes one sentence and 2. ``alone``: the process does nothing else."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words, alone)
    except BrokenPipeError:  # the reader has closed the pipe, as in `jigsawnet --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except ModuleNotFoundError:
        raise
    except TROUBLE as error:
        say_error(sentence_of(error))
        return 2
    except KeyboardInterrupt:
        say_error("Stopped.")
        return 130


def _run(words: list[str], alone: bool) -> int:
    if words and words[0] in ("-h", "--help"):
        _say_help()
        return 0
    if words and words[0] == "--version":
        say(f"jigsawnet {__version__}")
        return 0
    if not words:
        if find_spec("fastapi") is None or find_spec("uvicorn") is None:
            say_error("The page in the browser needs FastAPI and uvicorn: install them with pip install 'jigsawnet[web]'.")
            _say_help(error=True)
            return 2
        words = ["start"]
    if words[0] not in COMMANDS:
        return _no_such_command(words[0])
    with without_collecting():
        from jigsawnet.cli.parsing import parse  # noqa: PLC0415 - not needed to list the commands

        command, notes = parse(words[0], words[1:])
        if alone:
            gc.freeze()  # what was imported stays: it need not be looked through again and again
    with hushed(command.quiet):
        say_notes(notes)
        return int(command.run())


def _say_help(*, error: bool = False) -> None:
    for line in help_text().splitlines():
        say(line, error=error)


def help_text() -> str:
    """What ``jigsawnet --help`` prints."""
    width = max(len(name) for name in COMMANDS)
    listed = "\n".join(f"  {name:<{width}}  {entry.summary}" for name, entry in COMMANDS.items())
    return (
        "usage: jigsawnet COMMAND [OPTIONS]\n\nPut torn, shredded or cut pictures together again.\n"
        f"{EXAMPLES}\n\nCommands (jigsawnet COMMAND --help lists the options of one):\n{listed}\n\n{EXIT_CODES}"
    )


def _no_such_command(word: str) -> int:
    from difflib import get_close_matches  # noqa: PLC0415 - only for typing mistakes

    near = get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}."
    say_error(f"There is no command {word[:60]!r}: {hint} See jigsawnet --help.")
    return 2
