"""What a reported number must carry along: versions, commit, machine."""

from __future__ import annotations

import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

import hybonet


def provenance() -> dict[str, Any]:
    """Versions, the commit of this package if it runs from a checkout, time and machine, ready for JSON.

    Example:
        >>> sorted(provenance())
        ['commit', 'created', 'device', 'machine', 'threads', 'versions']
    """
    return {
        "created": now(),
        "commit": source_commit(Path(hybonet.__file__).parent),
        "versions": {
            "hybonet": hybonet.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
        },
        "machine": f"{platform.system()} {platform.machine()}",
        "device": "cpu",
        "threads": torch.get_num_threads(),
    }


def now() -> str:
    """The time as records state it.

    Example:
        >>> now().endswith("+00:00")
        True
    """
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def source_commit(folder: Path, except_for: tuple[str, ...] = ()) -> str | None:
    """The commit that tracks the folder's code, with `+changes` if files differ from it; None outside a checkout.

    Changes under the paths of ``except_for`` (relative to the folder) do not count.
    """
    # An installed copy may lie inside somebody else's repository, which then does not track it.
    if not _git(folder, "ls-files", "."):
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--", ".", *(f":!{path}" for path in except_for))
    return f"{commit}+changes" if commit and changes else commit or None


def _git(folder: Path, *arguments: str) -> str:
    """Output of a git command, empty if it fails or there is no git."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
