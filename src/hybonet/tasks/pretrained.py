"""A trained model of any task as a folder to hand on, in the layout that the Hugging Face hub knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.run_folder import CONFIG, RECORD, read_record, write_json
from hybonet.training.checkpoint import save_model
from hybonet.training.loop import BEST

CARD = "README.md"


def write_model_folder(
    folder: Path,
    model: nn.Module,
    write_data: Callable[[Path], Mapping[str, Any]],
    record: Mapping[str, Any] | None,
    card: str,
) -> None:
    """Write a new folder that the task's ``from_pretrained`` reads; refuse one that holds files.

    Args:
        folder: appears complete or not at all.
        model: its weights.
        write_data: writes what else the model needs into a folder, and returns what ``config.json`` is to say.
        record: its metrics, if they are known.
        card: the model card.
    """
    with new_folder(folder) as staging:
        write_json(staging / CONFIG, {**write_data(staging), "library_name": "hybonet"})
        save_model(staging / BEST, model)
        if record is not None:
            write_json(staging / RECORD, record)
        (staging / CARD).write_text(card, encoding="utf-8")


def record_if_known(folder: Path) -> dict[str, Any] | None:
    """The metrics of a run or of a saved model; None where it was stopped, or saved, without."""
    return read_record(folder) if (folder / RECORD).exists() else None
