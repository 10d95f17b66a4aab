"""The front door: ``jigsawnet solve | shred | eval | bench | train | cut``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from jigsawnet.cli.bench import Bench
from jigsawnet.cli.console import say_error
from jigsawnet.cli.cut import Cut
from jigsawnet.cli.evaluate import Eval
from jigsawnet.cli.shred import Shred
from jigsawnet.cli.solve import Solve
from jigsawnet.cli.train import Train
from jigsawnet.errors import JigsawNetError

DESCRIPTION = """Put torn, shredded or cut pictures together again.

  jigsawnet solve pieces/ -o result/       pieces in, picture out
  jigsawnet cut scan.png -o pieces/        find the pieces in a scan of many
  jigsawnet shred photo.jpg -o pieces/     cut a picture into pieces, to try it
  jigsawnet eval result/ --truth pieces/   how much of the result is right

Exit code 0: done, every piece is placed in one picture; 1: solved in part; 2: bad input, said in one sentence."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``jigsawnet`` command."""
    sys.exit(main_code(arguments))


def main_code(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; bad input becomes one sentence and 2."""
    commands: dict[str, Callable[..., Any]] = {
        "solve": Solve,
        "shred": Shred,
        "eval": Eval,
        "bench": Bench,
        "train": Train,
        "cut": Cut,
    }
    try:
        command = tyro.extras.subcommand_cli_from_dict(commands, prog="jigsawnet", description=DESCRIPTION, args=arguments)
        return int(command.run())
    except JigsawNetError as error:
        say_error(str(error))
        return 2
    except BrokenPipeError:  # the reader has seen enough, as in `jigsawnet --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        say_error(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}")
        return 2
    except KeyboardInterrupt:
        say_error("Stopped.")
        return 130
