"""The files of a run folder that all tasks have, with clear errors, and where a run may be written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hybonet.files import parse_json, sealed, unsealed, write_atomically
from hybonet.tasks.new_folder import new_folder, unfinished
from hybonet.training.lock import refuse_locked

CONFIG, RECORD = "config.json", "record.json"
#: Pictures that runs of several tasks have.
CURVES, DISK = "curves.png", "disk.png"
#: Folder for TensorBoard, if asked for.
TENSORBOARD = "tensorboard"
#: What was found when settings were chosen by themselves, and the folder of the race that decides them.
AUTO, RACE = "auto.json", "race"
#: Kinds of file a run consists of; a folder with anything else is never replaced.
_SUFFIXES = {".json", ".jsonl", ".tsv", ".safetensors", ".png", ".svg", ".html", ".spm", ".conllu", ".partial"}


def holds_run(folder: Path) -> bool:
    """Whether a folder is a run.

    Example:
        >>> holds_run(Path("no/such/folder"))
        False
    """
    try:
        return "task" in parse_json((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def check_target(out: Path, *, overwrite: bool = False) -> None:
    """Raise a ``ValueError`` unless a run may be written to ``out``; nothing but an earlier run is ever replaced.

    Example:
        >>> check_target(Path(__file__), overwrite=True)
        Traceback (most recent call last):
        ValueError: expected a folder for the run, got the file ...
    """
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise ValueError(f"expected a folder for the run, got the file {str(nearest)!r}; choose another --out")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ValueError(
            f"expected a folder to write to, but {str(nearest)!r} may not be written; choose another --out"
        )
    if nearest != out:
        return
    present = [entry for entry in sorted(out.iterdir()) if entry not in unfinished(out)]
    if not present:
        return
    if not overwrite:
        raise ValueError(
            f"expected a new or empty folder, but {str(out)!r} holds files; go on with --resume if it is a run, or "
            "choose another --out"
        )
    own = (entry.name in (TENSORBOARD, RACE) if entry.is_dir() else entry.suffix in _SUFFIXES for entry in present)
    foreign = [entry for entry, known in zip(present, own, strict=True) if not known]
    if foreign or not holds_run(out):
        raise ValueError(
            f"expected an empty folder or an earlier run, but {str(out)!r} holds {(foreign or present)[0].name!r}; "
            "choose another --out"
        )
    refuse_locked(out)


@contextmanager
def new_run(out: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write a run into; it becomes ``out`` when the block ends, and vanishes if the block fails.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with new_run(Path(folder) / "runs" / "first") as staging:
        ...         written = (staging / "config.json").write_text("{}")
        ...     [path.name for path in (Path(folder) / "runs" / "first").iterdir()]
        ['config.json']
    """
    with new_folder(out, lambda: check_target(out, overwrite=overwrite), last=CONFIG) as staging:
        yield staging


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object with a checksum of its content, which :func:`read_json` checks."""
    write_json(path, sealed(content))


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda target: Path(target).write_text(text, encoding="utf-8"))


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """One of a run's JSON files; a ``ValueError`` says if it is missing, damaged, or not what its checksum is of."""
    path = folder / name
    if not path.is_file():
        what = "a finished run" if name == RECORD else "a run"
        raise ValueError(
            f"expected {what} in {str(folder)!r}, but {name} is missing; give a folder made by hybonet train"
        )
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected JSON, but {error}; restore the file or train again") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: expected a JSON object, got {value!r:.40}; restore the file or train again")
    return unsealed(value, path)


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run, as it was written."""
    return read_json(folder, RECORD)


def source_name(source: str) -> str:
    """What titles call the data: the name of the file or folder, or of what ships with the package.

    Example:
        >>> source_name("data/people.csv"), source_name("wordnet_mammals"), source_name("benchmarks/UMLS")
        ('people.csv', 'wordnet mammals', 'UMLS')
    """
    name = Path(source).name
    return name if Path(name).suffix else name.replace("_", " ")


def without_examples(record: Any) -> Any:
    """A record without the sentences that it quotes from a corpus: those may not be ours to pass on.

    Example:
        >>> without_examples({"seed": 0, "test": {"bleu": 30.0, "examples": ["ein Haus"]}})
        {'seed': 0, 'test': {'bleu': 30.0}}
    """
    if not isinstance(record, Mapping):
        return record
    return {name: without_examples(part) for name, part in record.items() if name != "examples"}
