"""``history.jsonl`` of a training: one line per epoch."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hybonet.files import naming, parse_json, write_atomically

HISTORY = "history.jsonl"


def read_history(folder: Path) -> list[dict[str, Any]]:
    """The lines of a training so far; none before the first."""
    try:
        return [parse_json(line) for line in _lines(folder)]
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{folder / HISTORY}: expected a JSON object per line, but {error}; restore or remove it"
        ) from None


def append_to_history(folder: Path, row: dict[str, Any]) -> None:
    """Write one line more. A kill may leave half of it, which :func:`keep_lines` drops when the run goes on."""
    with naming(folder / HISTORY), open(folder / HISTORY, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def keep_lines(folder: Path, count: int) -> None:
    """Drop all after the first ``count`` lines, which are those of the last checkpoint."""
    lines = _lines(folder)
    if len(lines) > count:
        text = "".join(f"{line}\n" for line in lines[:count])
        write_atomically(folder / HISTORY, lambda target: target.write_text(text, encoding="utf-8"))


def history_sha256(folder: Path, count: int) -> str:
    """Checksum of the first ``count`` lines; empty if there is no file, as when somebody took it away."""
    if not (folder / HISTORY).exists():
        return ""
    return hashlib.sha256("\n".join(_lines(folder)[:count]).encode("utf-8")).hexdigest()


def check_history(folder: Path, count: int, sha256: str) -> bool:
    """Whether there is a checksum of the first lines; a ``ValueError`` if it is not theirs."""
    found = history_sha256(folder, count)
    if found and sha256 and found != sha256:
        raise ValueError(
            f"{folder / HISTORY}: expected the {count} lines that the checkpoint is of, but they were changed or "
            "damaged since; restore the file, or remove it to go on without"
        )
    return bool(found and sha256)


def _lines(folder: Path) -> list[str]:
    path = folder / HISTORY
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
