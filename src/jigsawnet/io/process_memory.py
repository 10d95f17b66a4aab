"""What this process holds, as the system says."""

from __future__ import annotations

import sys
from pathlib import Path

_SYSTEM: str = sys.platform


def resident_bytes() -> int | None:
    """Memory of the process now, or where only that is known the most it has held; None where neither is known."""
    try:
        return _windows_bytes() if _SYSTEM == "win32" else _posix_bytes()
    except (OSError, ValueError, ImportError, AttributeError, IndexError):
        return None


def _posix_bytes() -> int:
    import resource  # noqa: PLC0415 - not on Windows

    if _SYSTEM == "linux":
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if _SYSTEM == "darwin" else peak * 1024


def _windows_bytes() -> int | None:
    import ctypes  # noqa: PLC0415 - on Windows only
    from ctypes import wintypes  # noqa: PLC0415

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", wintypes.DWORD), ("faults", wintypes.DWORD),
            *((name, ctypes.c_size_t) for name in ("peak", "working", "a", "b", "c", "d", "page", "peak_page")),
        )  # fmt: skip

    counters = Counters(cb=ctypes.sizeof(Counters))
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    kernel.K32GetProcessMemoryInfo.argtypes = [wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD]
    done = kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
    return int(counters.working) if done else None
