"""Ground floor: every error a person can meet, as one small tree.

    JigsawNetError
    ├── InputError    a folder, picture or piece that cannot be used
    ├── OutputError   a place that cannot be written
    ├── FormatError   a text or JSON file that does not follow its format
    ├── ConfigError   an option out of range
    ├── EditError     a correction by hand that makes no sense as the pieces lie
    ├── MemoryLimitError  more memory than is allowed
    ├── UnreadError   stopped while the pictures were read
    ├── ModelError    weights that are missing, damaged or of another version
    └── WorkersError  a cluster that cannot be reached or used

A message is one sentence for a person: what is wrong, where, what to do. "Could not place this
piece" is a result, not an error.
"""

from __future__ import annotations


class JigsawNetError(Exception):
    """Base of all errors that are the input's fault and not a programming mistake."""


class InputError(JigsawNetError):
    """A folder, picture or piece cannot be used."""


class OutputError(JigsawNetError):
    """A result cannot be written."""


class FormatError(JigsawNetError):
    """A file does not follow its format."""


class ConfigError(JigsawNetError):
    """An option is out of range."""


class EditError(JigsawNetError):
    """A correction by hand makes no sense as the pieces lie."""


class MemoryLimitError(JigsawNetError):
    """More memory would be taken than is allowed."""


class UnreadError(JigsawNetError):
    """The work was stopped while its pictures were read, so there is nothing to show."""


class ModelError(JigsawNetError):
    """Network weights are missing, damaged or of another version."""


class WorkersError(JigsawNetError):
    """A cluster cannot be reached or used."""


TROUBLE = (JigsawNetError, OSError, ImportError, MemoryError)
"""What is the input's or the machine's fault, and is said without a traceback."""


def sentence_of(error: Exception) -> str:
    """One sentence for a person about something of `TROUBLE`."""
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; give fewer or smaller pictures, or use a larger machine."
    if isinstance(error, ImportError) or (isinstance(error, OSError) and "shared object" in str(error)):  # as numba says it
        reason = [*str(error).splitlines(), "no reason is given"][0][:300].rstrip(".")
        return f"A library cannot be loaded, as when there is not enough memory: {reason}."
    if isinstance(error, OSError):
        return f"{error.filename or 'A file'} cannot be used: {error.strerror or error}"
    return str(error)
