"""A run on disk, whatever its task: a folder that appears whole or not at all, and its files with clear errors.

``config.json`` names the task and holds the settings; a folder is a run if it has one. The training adds
``checkpoint.safetensors``, ``model.safetensors`` (the best) and ``history.jsonl``, and at its end ``record.json``. What
else there is belongs to the task.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from hybonet.files import write_atomically
from hybonet.tasks.new_folder import new_folder, unfinished
from hybonet.tasks.provenance import now
from hybonet.training import FitResult, LoopSettings, Task, describe, override
from hybonet.training.checkpoint import load_model, read_position
from hybonet.training.loop import BEST, LAST
from hybonet.training.settings import CHANGEABLE

CONFIG, RECORD = "config.json", "record.json"
#: Pictures that runs of several tasks have.
CURVES, DISK = "curves.png", "disk.png"
#: Folder for TensorBoard, if asked for.
TENSORBOARD = "tensorboard"
#: Kinds of file a run consists of; a folder with anything else is never replaced.
_SUFFIXES = {".json", ".jsonl", ".tsv", ".safetensors", ".png", ".svg", ".html", ".spm", ".conllu", ".partial"}
_Model = TypeVar("_Model", bound=nn.Module)
_Settings = TypeVar("_Settings", bound=LoopSettings)


# -- making a run -----------------------------------------------------------------------------------------------------


def holds_run(folder: Path) -> bool:
    """Whether a folder is a run.

    Example:
        >>> holds_run(Path("no/such/folder"))
        False
    """
    try:
        return "task" in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def command_for(task: str) -> str:
    """The command that makes runs of a task.

    Example:
        >>> command_for("kg"), command_for("probe")
        ('hybonet train kg', 'hybonet probe')
    """
    return "hybonet probe" if task == "probe" else f"hybonet train {task}"


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
    own = (entry.name == TENSORBOARD if entry.is_dir() else entry.suffix in _SUFFIXES for entry in present)
    foreign = [entry for entry, known in zip(present, own, strict=True) if not known]
    if foreign or not holds_run(out):
        raise ValueError(
            f"expected an empty folder or an earlier run, but {str(out)!r} holds {(foreign or present)[0].name!r}; "
            "choose another --out"
        )


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


# -- its files --------------------------------------------------------------------------------------------------------


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda target: Path(target).write_text(text, encoding="utf-8"))


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """One of a run's JSON files; a ``ValueError`` says if it is missing or damaged."""
    path = folder / name
    if not path.is_file():
        what = "a finished run" if name == RECORD else "a run"
        raise ValueError(
            f"expected {what} in {str(folder)!r}, but {name} is missing; give a folder made by hybonet train"
        )
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected JSON, but {error}; restore the file or train again") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: expected a JSON object, got {value!r:.40}; restore the file or train again")
    return value


def read_config(folder: Path, *tasks: str) -> dict[str, Any]:
    """The ``config.json`` of a run of one of these tasks; a ``ValueError`` says if the run is another's."""
    config = read_json(folder, CONFIG)
    made_by = config.get("task")
    if made_by not in tasks:
        found = f"it was made by {command_for(made_by)}" if made_by else f"{CONFIG} names no task"
        *others, last = map(command_for, tasks)
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"expected a run of {wanted} in {str(folder)!r}, but {found}; give another folder")
    return renewed(config)


def renewed(content: dict[str, Any]) -> dict[str, Any]:
    """A configuration or a record of any task by the names of today, if an earlier version wrote it."""
    from hybonet.tasks.graph.settings import GraphSettings
    from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings

    settings = content.get("settings")
    kinds: dict[Any, type[LoopSettings]] = {"kg": KnowledgeGraphSettings, "graph": GraphSettings}
    kind = kinds.get(content.get("task"))
    if kind is None or not isinstance(settings, dict):
        return content
    return {**kind.renewed(content), "settings": kind.renewed(settings)}


def read_settings_as(kind: type[_Settings], config: dict[str, Any], folder: Path) -> _Settings:
    """The settings that a run's ``config.json`` holds, checked."""
    settings = config.get("settings")
    if not isinstance(settings, dict):
        raise ValueError(f"{folder / CONFIG}: expected settings, got {settings!r:.40}; restore the file or train again")
    try:
        return kind.checked({**kind.before, **settings})
    except ValueError as error:
        raise ValueError(f"restore or correct {folder / CONFIG}: {error}") from None


def refuse_saved_model(config: dict[str, Any], folder: Path) -> None:
    """Raise a ``ValueError`` if the folder is one of ``save_pretrained``, whose training cannot go on."""
    if "library_name" in config:
        raise ValueError(
            f"expected a run to go on with, but {str(folder)!r} holds a model saved for use, without the state of its "
            "training; start a new run"
        )


def change_settings(folder: Path, before: _Settings, changes: list[str]) -> _Settings:
    """Give a run more epochs, or another of the few settings that may change before it goes on, and return them all.

    The learning rate of the ``linear`` and ``cosine`` schedules, which depends on the number of epochs, follows the new
    number from here on.

    Args:
        folder: the run.
        before: its settings.
        changes: ``key=value`` assignments to epochs, minutes, patience, validate_every, checkpoint_seconds or device.
    """
    after = override(before, changes)
    old = {name: value for name, value, _ in describe(before)}
    changed = [name for name, value, _ in describe(after) if value != old[name]]
    fixed = [name for name in changed if name not in CHANGEABLE]
    if fixed:
        raise ValueError(
            f"expected no other change than of {', '.join(CHANGEABLE)} with --resume, got {fixed[0]}: a run keeps its "
            "data and settings; start a new one to change them"
        )
    position = read_position(folder / LAST) if (folder / LAST).exists() else {"epoch": 0, "stale": 0, "seconds": 0.0}
    if "epochs" in changed and after.epochs <= position["epoch"]:
        raise ValueError(
            f"expected more than the {position['epoch']} epochs already done, got epochs={after.epochs}; give a larger "
            "total, or leave it out"
        )
    if "minutes" in changed and after.minutes is not None and position["seconds"] >= 60 * after.minutes:
        raise ValueError(
            f"expected more than the {position['seconds'] / 60:.3g} minutes already trained, got "
            f"minutes={after.minutes:g}; give a larger total, or --set minutes=none"
        )
    if changed and after.patience is not None and position["stale"] >= after.patience:
        raise ValueError(
            f"expected patience above {position['stale']} (the validations since the best one), got "
            f"patience={after.patience}: training would stop at once; add --set patience={2 * position['stale']} or "
            "--set patience=none"
        )
    if changed:
        write_json(folder / CONFIG, {**read_json(folder, CONFIG), "settings": after.model_dump()})
    return after


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run."""
    return renewed(read_json(folder, RECORD))


def source_name(source: str) -> str:
    """What titles call the data: the name of the file or folder, or of what ships with the package.

    Example:
        >>> source_name("data/people.csv"), source_name("wordnet_mammals"), source_name("benchmarks/UMLS")
        ('people.csv', 'wordnet mammals', 'UMLS')
    """
    name = Path(source).name
    return name if Path(name).suffix else name.replace("_", " ")


def load_best(folder: Path, model: _Model) -> _Model:
    """Put the weights of a run's best model into a model built from the run's settings."""
    path = folder / BEST
    if not path.exists():
        raise ValueError(
            f"{folder} has no model yet: it was stopped before its first validation; go on with "
            f"{command_for(str(read_json(folder, CONFIG).get('task')))} --out {folder} --resume"
        )
    load_model(path, model)
    return model.eval()


#: What a record keeps of a validation beside what it measured.
_OF_A_VALIDATION = ("epoch", "updates", "seconds", "processor_seconds", "loss")


def write_record(folder: Path, task: Task, result: FitResult, origin: Mapping[str, Any], **measures: Any) -> None:
    """Store the measures of a finished training with everything that they depend on.

    Args:
        origin: :func:`~hybonet.tasks.provenance.provenance` as the training began: the code may change meanwhile.
    """
    record = {
        **task.describe(),
        "recipe": read_config(folder, task.name).get("recipe"),
        "settings": task.settings.model_dump(),
        "seed": task.settings.seed,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "seconds": round(result.seconds, 2),
        "parameters": sum(parameter.numel() for parameter in result.model.parameters()),
        "validations": [
            {name: row[name] for name in (*_OF_A_VALIDATION, task.monitor) if name in row}
            for row in result.history
            if task.monitor in row
        ],
        **measures,
        **origin,
        "created": now(),
        "device": task.settings.device,
    }
    write_json(folder / RECORD, record)


def without_examples(record: Any) -> Any:
    """A record without the sentences that it quotes from a corpus: those may not be ours to pass on.

    Example:
        >>> without_examples({"seed": 0, "test": {"bleu": 30.0, "examples": ["ein Haus"]}})
        {'seed': 0, 'test': {'bleu': 30.0}}
    """
    if not isinstance(record, Mapping):
        return record
    return {name: without_examples(part) for name, part in record.items() if name != "examples"}
