"""A run on disk, whatever its task: a folder that is written whole or not at all, and read once and checked once.

``config.json`` names the task and holds the settings and what is said of the data; a folder is a run if it has one. The
training adds ``checkpoint.safetensors``, ``model.safetensors`` (the best) and ``history.jsonl``, and at its end
``record.json`` and, with matplotlib, ``curves.png``. The data's own files belong to the task. A folder of
``save_pretrained`` is read by the same class; its training cannot go on.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybonet.reporting.answers import Measures
from hybonet.tasks import auto
from hybonet.tasks.base import TaskSpec, spec, specs
from hybonet.tasks.comparison import compare
from hybonet.tasks.integrity import FILES, FileState, check_files, checksums, verify
from hybonet.tasks.provenance import now, provenance
from hybonet.tasks.run_folder import CONFIG, CURVES, RECORD, holds_run, new_run, read_json, source_name, write_sealed
from hybonet.training import FitResult, LoopSettings, Reporter, Task, Trainer, describe, override
from hybonet.training.checkpoint import load_model, newest_readable, read_position
from hybonet.training.history import read_history
from hybonet.training.lock import locked
from hybonet.training.loop import BEST, checkpoints
from hybonet.training.memory import at_most, memory_of_machine
from hybonet.training.processes import check_device, is_main_process, joined_processes, restarts
from hybonet.training.settings import CHANGEABLE

if TYPE_CHECKING:
    from hybonet.tasks.predictor import Predictor

#: What building a model may take: so many times its file, and something beside it.
_TIMES, _BESIDE = 16, 1 << 28
#: What a record keeps of a validation beside what it measured.
_OF_A_VALIDATION = ("epoch", "updates", "seconds", "processor_seconds", "loss")


class Run:
    """A run folder, or an exported model: its configuration is read and checked once, all else when it is asked for.

    Args:
        folder: where it is.
        task: refuse runs of other tasks.

    Example: ``Run("runs/kg").settings.dim``
    """

    def __init__(self, folder: str | Path, task: str | None = None) -> None:
        self.folder = Path(folder)
        self.config = read_json(self.folder, CONFIG)
        made_by = self.config.get("task")
        known = specs()
        if made_by not in known or task not in (None, made_by):
            wanted = command_for(task) if task else "hybonet train"
            found = f"it was made by {command_for(made_by)}" if made_by in known else f"{CONFIG} names no task"
            raise ValueError(f"expected a run of {wanted} in {str(folder)!r}, but {found}; give another folder")
        self.spec: TaskSpec = known[made_by]
        self.config = renewed(self.config)
        key = self.spec.data_key
        if not isinstance(self.config.get(key), dict):
            raise ValueError(
                f"{self.folder / CONFIG}: expected {key} of a run of {command_for(self.spec.name)}, got "
                f"{self.config.get(key)!r:.40}; restore the file or train again"
            )

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, task={self.spec.name!r})"

    # -- what it holds -------------------------------------------------------------------------------------------------

    @cached_property
    def settings(self) -> LoopSettings:
        """The settings, checked."""
        settings = self.config.get("settings")
        if not isinstance(settings, dict):
            raise ValueError(
                f"{self.folder / CONFIG}: expected settings, got {settings!r:.40}; restore the file or train again"
            )
        try:
            kind = self.spec.implementation.settings
            return kind.checked(kind.fitting({**kind.before, **settings}))
        except ValueError as error:
            raise ValueError(f"restore or correct {self.folder / CONFIG}: {error}") from None

    @property
    def about(self) -> dict[str, Any]:
        """What the configuration says of the data."""
        return self.config[self.spec.data_key]

    @property
    def is_export(self) -> bool:
        """Whether it is a model saved for use, without the state of its training."""
        return "library_name" in self.config

    @cached_property
    def data(self) -> Any:
        """The data that it was trained on; a ``ValueError`` if their files are not those that were written."""
        check_files(self.folder, self.config)
        return self.spec.implementation.read(self.folder, self.about)

    @cached_property
    def task(self) -> Task:
        """What the training loop trains."""
        return self.spec.implementation.task(self.settings, self.data)

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The record of a finished training, which shows its figures; None where there is none yet."""
        if not (self.folder / RECORD).exists():
            return None
        found = renewed(read_json(self.folder, RECORD))
        return Measures(found, tables=lambda: Measures(self.spec.headline(found).figures(found)).tables())

    @property
    def unfinished(self) -> str:
        """That its training has not ended, and how far it is; nothing of one that has, or of a saved model."""
        if self.is_export or (self.folder / RECORD).exists():
            return ""
        epochs = len(read_history(self.folder))
        return (
            f"{self.folder} is unfinished, after epoch {epochs} of {self.settings.epochs}: this is its best model so "
            f"far; go on with {self.resume_command}"
        )

    def model(self) -> Any:
        """The best model."""
        path = self.folder / BEST
        most = _BESIDE + _TIMES * (path.stat().st_size if path.exists() else 0)
        with at_most(most, f"{self.folder / CONFIG} does not fit {BEST}: restore it or train again"):
            model = self.task.build_model()
        return self.load_into(model)

    def load_into(self, model: Any) -> Any:
        """Put the weights of the best model into one that was built like it."""
        path = self.folder / BEST
        if not path.exists():
            raise ValueError(
                f"{self.folder} has no model yet: it was stopped before its first validation; go on with "
                f"{self.resume_command}"
            )
        load_model(path, model, sealed=FILES in self.config)
        return model.eval()

    def predictor(self) -> Predictor:
        """The best model, ready to be asked."""
        if self.is_export:  # it may need no data
            check_files(self.folder, self.config)
        predictor = self.spec.implementation.predictor.of_run(self)
        predictor.comes_from(self)
        return predictor

    def verify(self) -> list[FileState]:
        """What its checksums say of every file: nothing is loaded into a model, and no damage is an error here."""
        return verify(self.folder, self.config)

    # -- its training --------------------------------------------------------------------------------------------------

    @property
    def resume_command(self) -> str:
        """How to go on with it in a terminal."""
        return f"{command_for(self.spec.name)} --out {shlex.quote(str(self.folder))} --resume"

    def choose_settings(self, say: Callable[[str], None] | None = None) -> None:
        """Let the data, and a race on the validation data, decide the settings, if that was asked for and is not done.

        Args:
            say: prints a line.
        """
        asked = self.config.get(auto.NAME)
        if asked is None or "chosen" in asked:
            return
        with self._lock():
            again = self.resume_command
            chosen, about = auto.settle(
                self.folder, self.spec, self.settings, self.data, asked, resume_command=again, say=say
            )
            write_sealed(self.folder / CONFIG, {**self.config, auto.NAME: about, "settings": chosen.model_dump()})
            self._forget_config()

    def _forget_config(self) -> None:
        self.config = renewed(read_json(self.folder, CONFIG))
        for name in ("settings", "task"):
            self.__dict__.pop(name, None)

    def train(
        self, *, resume: bool = False, reporter: Reporter | None = None, say: Callable[[str], None] | None = None
    ) -> FitResult:
        """Train it, and store the record and the picture of the curves; of several processes, the first writes.

        Args:
            resume: go on from the last checkpoint, if there is one.
            reporter: is told of the progress.
            say: prints a line, of what is trained besides.
        """
        self.choose_settings(say)
        with joined_processes(self.settings) as processes, ExitStack() as held:
            processes.main_first(lambda: held.enter_context(self._lock()))
            task = self.task
            origin = provenance()  # the code may change while it trains
            trainer = Trainer(task, self.folder, resume_command=self.resume_command, reporter=reporter)
            result = trainer.fit(resume=resume)
            if processes.is_main:
                measures = self.spec.implementation.measures(task, result)
                measures |= self._beside(task, result, say)
                self._write_record(result, measures, origin)
                self._draw_curves(result)
        return result

    def _beside(self, task: Task, result: FitResult, say: Callable[[str], None] | None) -> dict[str, Any]:
        """What the record says of the Euclidean twin, if that was asked for, and of guessing, if that is as good."""
        found: dict[str, Any] = {}
        if guess := auto.guessing(self.spec, task, result):
            found["guessing"] = guess
        if self.config.get("compare"):
            found["compare"] = compare(
                self.folder, self.spec, task, self.data, result, resume_command=self.resume_command, say=say
            )
        return found

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Nobody else trains it meanwhile, and nobody has changed it since it was read."""
        with locked(self.folder):
            if Run(self.folder).config != self.config:
                raise ValueError(
                    f"expected the run in {str(self.folder)!r} as it was read, but another process has changed or "
                    "replaced it since; look at it, and start again"
                )
            yield

    def _write_record(self, result: FitResult, measures: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """The measures of a finished training with everything that they depend on."""
        task, settings = self.task, self.settings
        record = {
            **task.describe(),
            "recipe": self.config.get("recipe"),
            **({auto.NAME: self.config[auto.NAME]} if auto.NAME in self.config else {}),
            "settings": settings.model_dump(),
            "seed": settings.seed,
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
            "device": settings.device,
        }
        write_sealed(self.folder / RECORD, record)
        self.__dict__.pop("record", None)

    def _draw_curves(self, result: FitResult) -> None:
        if find_spec("matplotlib") is None or not result.history:  # somebody took the history away
            return
        from hybonet.reporting.charts import draw_curves

        label = getattr(self.task, "monitor_label", f"validation {self.task.monitor}")
        title = f"Training on {source_name(self.task.describe()['data']['source'])}"
        logarithmic = not self.task.higher_is_better
        draw_curves(result.history, self.task.monitor, self.folder / CURVES, title=title, label=label, log=logarithmic)

    def change_settings(self, changes: list[str]) -> None:
        """Give the run more epochs, or another of the few settings that may change before it goes on.

        The learning rate of the ``linear`` and ``cosine`` schedules, which depends on the number of epochs, follows the
        new number from here on.

        Args:
            changes: ``key=value`` assignments to epochs, minutes, patience, validate_every, checkpoint_seconds or
                device.
        """
        if self.is_export:
            raise ValueError(
                f"expected a run to go on with, but {str(self.folder)!r} holds a model saved for use, without the "
                "state of its training; start a new run"
            )
        with self._lock() if is_main_process() else nullcontext():
            self._change_settings(changes)

    def _change_settings(self, changes: list[str]) -> None:
        before = self.settings
        after = override(before, changes)
        check_device(after.device)
        old = {name: value for name, value, _ in describe(before)}
        changed = [name for name, value, _ in describe(after) if value != old[name]]
        fixed = [name for name in changed if name not in CHANGEABLE]
        if fixed:
            raise ValueError(
                f"expected no other change than of {', '.join(CHANGEABLE)} with --resume, got {fixed[0]}: a run keeps "
                "its data and settings; start a new one to change them"
            )
        if not changed:
            return
        position = {"epoch": 0, "stale": 0, "seconds": 0.0}
        if present := checkpoints(self.folder):
            _, position = newest_readable(present, read_position)
        if "epochs" in changed and after.epochs <= position["epoch"]:
            raise ValueError(
                f"expected more than the {position['epoch']} epochs already done, got epochs={after.epochs}; give a "
                "larger total, or leave it out"
            )
        if "minutes" in changed and after.minutes is not None and position["seconds"] >= 60 * after.minutes:
            raise ValueError(
                f"expected more than the {position['seconds'] / 60:.3g} minutes already trained, got "
                f"minutes={after.minutes:g}; give a larger total, or --set minutes=none"
            )
        if after.patience is not None and position["stale"] >= after.patience:
            raise ValueError(
                f"expected patience above {position['stale']} (the validations since the best one), got "
                f"patience={after.patience}: training would stop at once; add --set patience={2 * position['stale']} "
                "or --set patience=none"
            )
        assert self.data is not None  # a run whose data are lost cannot go on, and nothing is written
        if is_main_process():
            write_sealed(self.folder / CONFIG, {**self.config, "settings": after.model_dump()})
        self._forget_config()


def start(
    folder: str | Path,
    task: str | TaskSpec,
    settings: LoopSettings,
    data: Any,
    *,
    overwrite: bool = False,
    **about: Any,
) -> Run:
    """Write what a training starts from into a new or empty folder, or over an earlier run: all of it or nothing.

    Args:
        data: as the task's ``load`` gives them.
        about: what else ``config.json`` is to say, such as the recipe.
    """
    folder, of = Path(folder), task if isinstance(task, TaskSpec) else spec(task)
    with at_most(memory_of_machine(), "choose smaller settings"):
        of.implementation.task(settings, data).build_model()  # refuses what cannot be trained; nothing is written yet
    with new_run(folder, overwrite=overwrite) as staging:
        kept = of.implementation.write(staging, data)
        content = {"task": of.name, **about, "settings": settings.model_dump(), of.data_key: kept}
        write_sealed(staging / CONFIG, {**content, FILES: checksums(staging)})
    return Run(folder)


def goes_on(folder: Path, settings: LoopSettings, *, overwrite: bool) -> bool:
    """Whether a training is started again by ``torchrun --max-restarts``, and its run is there: then it goes on.

    Example:
        >>> goes_on(Path("no/such/folder"), LoopSettings(), overwrite=False)
        False
    """
    if not restarts() or not holds_run(folder):
        return False
    # An earlier run that was to be replaced may still be there.
    return not overwrite or Run(folder).settings == settings


def renewed(content: dict[str, Any]) -> dict[str, Any]:
    """A configuration or a record of any task by the names of today, if an earlier version wrote it."""
    task, settings = specs().get(str(content.get("task"))), content.get("settings")
    if task is None or not isinstance(settings, dict):
        return content
    kind = task.implementation.settings
    return {**kind.renewed(content), "settings": kind.fitting(kind.renewed(settings))}


def command_for(task: str | None) -> str:
    """The command that makes runs of a task.

    Example:
        >>> command_for("kg")
        'hybonet train kg'
    """
    return f"hybonet train {task}"
