"""``jigsawnet completion``: what the shell needs to complete a command line, made from the options of all commands.

The script has all words in it, so that pressing Tab starts nothing; the completion that tyro makes starts Python each time, and
passes over files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from jigsawnet.cli.commands import COMMANDS
from jigsawnet.cli.console import Command, answer
from jigsawnet.cli.reference import Option, groups_of

_BASH = """# Completion of jigsawnet for bash.
_jigsawnet() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} words=
  if (( COMP_CWORD == 1 )); then
    words={first}
  else
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}
      *) case "${{COMP_WORDS[1]}} ${{cur:0:1}}" in
{options}
{positional}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _jigsawnet jigsawnet
"""
_ZSH = """#compdef jigsawnet
# Completion of jigsawnet for zsh.
_jigsawnet() {{
  local -a found
  if (( CURRENT == 2 )); then
    found=({first})
    _describe command found
    return
  fi
  case "$words[2] $words[CURRENT-1]" in
{values}
    *) case "$words[2] ${{PREFIX[1]}}" in
{options}
{positional}
    esac ;;
  esac
  if (( $#found )); then _describe value found; else _files; fi
}}
compdef _jigsawnet jigsawnet
"""


@dataclass(frozen=True, slots=True)
class Completion(Command):
    """Print a script with which the shell completes what is typed when Tab is pressed.

    That is commands, options, their values and files.
    """

    shell: Annotated[Literal["bash", "zsh"], tyro.conf.Positional]
    """The shell that it is for."""

    def run(self) -> int:
        """Make and print it."""
        for line in script(self.shell).splitlines():
            answer(line)
        return 0


def script(shell: Literal["bash", "zsh"]) -> str:
    """The script for one shell."""
    listed = {name: [*_options(name)] for name in COMMANDS}
    written = _zsh_words if shell == "zsh" else _bash_words
    what = "found" if shell == "zsh" else "words"
    first = [(name, entry.summary) for name, entry in COMMANDS.items()] + [("--help", "Help."), ("--version", "The version.")]

    def cases(found: Iterable[tuple[str, list[tuple[str, str]]]]) -> str:
        return "\n".join(f'      "{head}") {what}={written(words)} ;;' for head, words in found)

    options = ((f"{name} -", [pair for o in found if not o.positional for pair in _names(o)]) for name, found in listed.items())
    values = (
        (f"{name} {word}", _choices(o)) for name, found in listed.items() for o in found if _choices(o) for word, _ in _names(o)
    )
    positional = ((name, _choices(o)) for name, found in listed.items() for o in found if o.positional and _choices(o))
    template, begin = (_ZSH, _zsh_words(first)[1:-1]) if shell == "zsh" else (_BASH, _bash_words(first))
    return template.format(
        first=begin,
        values=cases(values),
        options=cases(options),
        positional="\n".join(f'      "{name} "*) {what}={written(words)} ;;' for name, words in positional),
    )


def _options(name: str) -> Iterator[Option]:
    for group in groups_of(COMMANDS[name].load()):
        yield from group.options
    yield Option("-h, --help", "", "", "Help.")


def _names(option: Option) -> list[tuple[str, str]]:
    """The words of an option, none for one without a name, and what each does."""
    about = option.help.partition(". ")[0].partition(";")[0]
    return [] if option.positional else [(word, about) for word in option.written.split(", ")]


def _choices(option: Option) -> list[tuple[str, str]]:
    """What an option takes, where that is one of a few words."""
    takes = option.takes.removesuffix(" ...")
    return [(word, "") for word in takes.split("|")] if "|" in takes else []


def _bash_words(words: Iterable[tuple[str, str]]) -> str:
    return shlex.quote(" ".join(word for word, _ in words))


def _zsh_words(words: Iterable[tuple[str, str]]) -> str:
    """An array of ``word:what it does``."""
    return f"({' '.join(shlex.quote(f'{word}:{about}' if about else word) for word, about in words)})"
