"""Where data files are looked for: the directories of ``HYBONET_DATA``, then the user's cache."""

from __future__ import annotations

import os
from pathlib import Path


def directories() -> list[Path]:
    """The directories searched, in order.

    ``HYBONET_DATA`` holds directories separated as in ``PATH``; the cache is ``hybonet`` under ``XDG_CACHE_HOME`` or
    ``~/.cache``.
    """
    given = [Path(part) for part in os.environ.get("HYBONET_DATA", "").split(os.pathsep) if part]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hybonet"
    return [*given, cache]


def described() -> str:
    """The search path as messages name it."""
    return f"the search path ({', '.join(map(str, directories()))})"


def find(name: str) -> Path | None:
    """The first file or folder of that name (or relative path) on the search path, or None."""
    return next((path / name for path in directories() if (path / name).exists()), None)
