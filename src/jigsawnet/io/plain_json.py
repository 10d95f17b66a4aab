"""Options and counts of any kind as the text of a JSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from typing import Any

import numpy as np


def to_json(value: Any) -> str:
    """JSON that a person can read; numbers that are not finite become null."""
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Turn options and counts into what JSON has: objects, lists, numbers, text and null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
