"""The training of a run folder, whatever its task: the loop, then the record and the picture of its curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hybonet.reporting.charts import draw_curves
from hybonet.tasks.provenance import provenance
from hybonet.tasks.run_folder import CURVES, write_record
from hybonet.training import FitResult, Reporter, Task, Trainer
from hybonet.training.processes import joined_processes


@dataclass(frozen=True)
class CurvesPicture:
    """What the picture of a training says: its title, and what the axis calls the figure that selects."""

    title: str
    label: str
    log: bool = False


def train_task(
    folder: Path,
    task: Task,
    measures: Callable[[FitResult], dict[str, Any]],
    *,
    resume: bool,
    resume_command: str = "",
    reporter: Reporter | None = None,
    curves: CurvesPicture | None = None,
) -> FitResult:
    """Train a task in its folder and store the record of it; of several processes, the first measures and writes.

    Args:
        folder: the run, with its ``config.json``.
        task: what the folder describes.
        measures: what the record says about the trained model.
        resume: go on from the last checkpoint, if there is one.
        resume_command: what a stopped training tells its user to say.
        reporter: is told of the progress.
        curves: draw ``curves.png`` if matplotlib is there; None: draw nothing.
    """
    with joined_processes(task.settings.device) as processes:
        origin = provenance()
        result = Trainer(task, folder, resume_command=resume_command, reporter=reporter).fit(resume=resume)
        if processes.is_main:
            write_record(folder, task, result, origin, **measures(result))
            if curves is not None and find_spec("matplotlib"):
                place, how = folder / CURVES, curves
                draw_curves(result.history, task.monitor, place, title=how.title, label=how.label, log=how.log)
    return result
