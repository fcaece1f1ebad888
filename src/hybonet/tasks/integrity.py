"""Whether the files of a run are those that were written.

What is written once is listed with its checksum in ``config.json``. What changes as a training goes on has its checksum
in itself (weights, checkpoints, ``config.json``, ``record.json``) or in the checkpoint that goes with it (the history):
a crash cannot come between a file and its checksum. Pictures and model cards are made from the rest, and have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hybonet.files import SEAL, parse_json, sha256_of
from hybonet.tasks.run_folder import AUTO, CONFIG, RECORD, read_json
from hybonet.training.checkpoint import newest_readable, read_file, read_position
from hybonet.training.history import HISTORY, check_history
from hybonet.training.loop import BEST, checkpoints

#: What ``config.json`` calls the checksums of the files beside it.
FILES = "files"
State = Literal["whole", "not checked", "damaged", "missing"]


@dataclass(frozen=True)
class FileState:
    """What a checksum says of a file.

    Attributes:
        name: in the run folder.
        state: ``not checked`` if there is no checksum, as for files of earlier versions.
        about: what is wrong.
    """

    name: str
    state: State
    about: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether the run has lost something."""
        return self.state in ("damaged", "missing")


def checksums(folder: Path) -> dict[str, str]:
    """The checksum of every file of a folder that has none in itself.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> written = (folder / "train.tsv").write_text("dog")
        >>> checksums(folder)["train.tsv"][:8]
        'cd6357ef'
    """
    return {
        path.name: sha256_of(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in (CONFIG, RECORD, BEST)
    }


def check_files(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise a ``ValueError`` if a file that is there is not the one that the configuration has the checksum of."""
    for name, wanted in _listed(config).items():
        path = folder / name
        if path.is_file() and sha256_of(path) != wanted:
            raise ValueError(
                f"{path}: expected the file that {CONFIG} has the checksum of, but it was changed or damaged since; "
                "restore it or train again"
            )


def verify(folder: Path, config: Mapping[str, Any]) -> list[FileState]:
    """What the checksums say of every file of a run, in the order of their names.

    Args:
        folder: the run.
        config: its configuration, which was checked when it was read.
    """
    found = {name: _of_listed(folder / name, wanted) for name, wanted in _listed(config).items()}
    for path in folder.iterdir():
        if path.is_file() and path.name not in found and not path.name.startswith("."):
            found[path.name] = _of_own(path)
    return [found[name] for name in sorted(found)]


def _listed(config: Mapping[str, Any]) -> dict[str, str]:
    listed = config.get(FILES)
    if not isinstance(listed, Mapping):  # of an earlier version
        return {}
    return {name: str(wanted) for name, wanted in listed.items() if Path(name).name == name}


def _of_listed(path: Path, wanted: str) -> FileState:
    if not path.is_file():
        return FileState(path.name, "missing", f"{CONFIG} has its checksum")
    if sha256_of(path) != wanted:
        return FileState(path.name, "damaged", f"not the file that {CONFIG} has the checksum of")
    return FileState(path.name, "whole")


def _of_own(path: Path) -> FileState:
    try:
        if path.suffix == ".safetensors":
            checked = read_file(path)[2]
        elif path.name in (CONFIG, RECORD, AUTO):
            read_json(path.parent, path.name)
            checked = SEAL in parse_json(path.read_text(encoding="utf-8"))
        elif path.name == HISTORY:
            checked = _is_checked_history(path.parent)
        else:
            checked = False
    except ValueError as error:
        return FileState(path.name, "damaged", str(error).removeprefix(f"{path}: "))
    return FileState(path.name, "whole" if checked else "not checked")


def _is_checked_history(folder: Path) -> bool:
    try:
        _, position = newest_readable(checkpoints(folder), read_position)
    except ValueError:  # no checkpoint to check it by
        return False
    return check_history(folder, position["history_lines"], position.get("history_sha256", ""))
