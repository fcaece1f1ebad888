"""Training and loading from Python, whatever the task: ``hybonet.train`` and ``hybonet.load``."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hybonet.tasks import auto
from hybonet.tasks.base import TaskSpec, spec
from hybonet.tasks.comparison import comparison
from hybonet.tasks.options import Options, as_path
from hybonet.tasks.predictor import Predictor
from hybonet.tasks.recipes import recipe as find_recipe
from hybonet.tasks.recipes import recipes
from hybonet.tasks.run import Run, goes_on, start
from hybonet.training import LoopSettings, Reporter, TerminalReporter, near_match, override
from hybonet.training.processes import check_device, joined_processes, process_count
from hybonet.training.progress import print_line
from hybonet.training.settings import check_name


def train(
    task: str,
    /,
    data: Any = None,
    *,
    out: str | Path | None = None,
    recipe: str | None = None,
    budget: str | float | None = None,
    compare: bool = False,
    reporter: Reporter | bool = True,
    overwrite: bool = False,
    resume: bool = False,
    **chosen: Any,
) -> Predictor:
    """Train a model, and return it ready to be asked.

    Args:
        task: what to learn: ``"kg"``, ``"graph"``, ``"translation"``, ``"typing"``, ``"hierarchy"`` or ``"probe"``.
        data: a name (``hybonet data list``), a path, or objects of Python: a data frame, a list of tuples, …
        out: folder for the run; by default a temporary one, which the returned model names in ``model.run.folder``.
        recipe: settings to start from, by name or as a ``.json`` file. By default they follow from the data, and from a
            short race on the validation data (:mod:`hybonet.tasks.auto`).
        budget: what the race may cost: ``"5m"``, or a number of steps; 0: no race. A third of the training by default.
        compare: train the Euclidean twin, too, and say which is better.
        reporter: is told of the progress; True: the terminal or notebook, False: nobody.
        overwrite: replace an earlier run in ``out``.
        resume: go on with the run in ``out``; only ``epochs`` and the like may change.
        chosen: settings (``dim=32``, ``minutes=5``; ``schedule={"kind": "cosine"}`` or ``schedule__kind="cosine"``) and
            options about the data (``columns="s,p,o"``), by name.

    Example:
        >>> steps = {"next": 1, "skip": 2}
        >>> ring = [(f"n{i}", name, f"n{(i + step) % 9}") for i in range(9) for name, step in steps.items()]
        >>> model = train("kg", ring, epochs=1, dim=8, reporter=False)
        >>> model.predict(head="n0", relation="next", top=1).columns[:3]
        ['head', 'relation', 'tail']
    """
    of = spec(task)
    folder = Path(tempfile.mkdtemp(prefix=f"hybonet-{of.name}-")) / "run" if out is None else as_path(out)
    options, changes = sort_chosen(of, chosen)
    if resume:
        if data is not None or options or recipe is not None or budget is not None:
            raise ValueError("expected no data, recipe or budget with resume=True: a run keeps its own; leave them out")
        run = Run(folder, of.name)
        run.change_settings(changes)
        train_in(run, resume=True, reporter=reporter)
        return load(run.folder)
    reading = of.options.checked(options)
    started_from, settings = settings_for(of, recipe, changes, reading, data)
    about = about_settings(of, recipe, started_from, changes, budget, compare=compare)
    resume = goes_on(folder, settings, overwrite=overwrite)
    notes: list[str] = []

    def begin() -> None:
        loaded = load_data(of, data, settings, reading)
        notes.extend((*notes_of(of, settings, loaded), recipes_for(of, recipe, settings, data)))
        start(folder, of, settings, loaded, overwrite=overwrite, **about)

    with joined_processes(settings) as processes:
        folder = processes.agree(folder)  # each has a temporary one of its own
        if not resume:
            processes.main_first(begin)
            for note in filter(None, notes):
                warnings.warn(note, stacklevel=2)
        train_in(Run(folder, of.name), resume=resume, reporter=reporter)
    return load(folder)


def load(folder: str | Path | Run) -> Predictor:
    """The trained model in a folder, of any task: a run, or what ``save_pretrained`` wrote.

    Example:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        ValueError: expected a run in 'no/such/folder', but config.json is missing; give a folder made by hybonet train
    """
    run = folder if isinstance(folder, Run) else Run(as_path(folder))
    predictor = run.predictor()
    if run.unfinished:
        warnings.warn(run.unfinished, stacklevel=2)
    return predictor


def train_in(run: Run, *, resume: bool, reporter: Reporter | bool = True) -> None:
    """Train a run that is started; of several processes, the first reports."""
    say = print_line if reporter is True else None
    run.choose_settings(say)
    with joined_processes(run.settings) as processes:
        told: Reporter | None = None
        if processes.is_main:
            told = reporter if isinstance(reporter, Reporter) else terminal_reporter(run) if reporter else None
        run.train(resume=resume, reporter=told, say=say)
        record = (run.record or {}) if processes.is_main else {}
        if say is not None:
            for line in said_besides(record):
                say(line)
        elif "guessing" in record:
            warnings.warn(auto.guessing_note(record), stacklevel=3)


def said_besides(record: Mapping[str, Any]) -> Iterator[str]:
    """What a person should know of a finished training beside its figures."""
    if "guessing" in record:
        yield f"note: {auto.guessing_note(record)}"
    if "compare" in record:
        yield from comparison(record["compare"])


def terminal_reporter(run: Run, echo: Callable[[str], None] | None = None) -> TerminalReporter:
    """Progress with loss, metric, speed and time left; ``echo`` prints a line."""
    unit, amount = getattr(run.task, "unit", None), getattr(run.settings, "batch_size", None) or 1
    return TerminalReporter(run.settings.epochs, (amount, unit) if unit else (1, "batches/s"), echo=echo)


def settings_for(
    of: TaskSpec, started_from: str | None, changes: list[str], options: Options, data: Any = None
) -> tuple[str, LoopSettings]:
    """The settings of a new run, and the recipe they start from, for a device that is there.

    They are a recipe of the task with ``key=value`` changes; a task may choose the recipe by its options and data.
    """
    started_from = None if started_from == auto.NAME else started_from
    if choose := of.part("choose_recipe"):
        name, changes = choose(started_from, changes, options, of.data if data is None else data)
    else:
        name = started_from or of.recipe
    settings = override(find_recipe(name, of.name).settings, changes)
    unused = settings.unused()
    for change in changes:
        name_set = check_name(settings, change.partition("=")[0].strip())
        if name_set in unused:
            raise ValueError(f"setting {name_set}: it changes nothing here, since {unused[name_set]}; leave it out")
    check_device(settings.device)
    return name, settings


def recipes_for(of: TaskSpec, started_from: str | None, settings: LoopSettings, data: Any) -> str:
    """What to tell who trains on named data without a recipe: that they have one of their own, if they have."""
    purpose = getattr(settings, "task", None)
    fitting = [
        each.name
        for each in recipes().values()
        if each.task == of.name
        and each.data is not None
        and each.data.casefold() == str(data).casefold()
        and not each.distilled
        and getattr(each.settings, "task", None) == purpose
    ]
    if started_from is not None or not fitting:
        return ""
    return f"{data} has settings of its own, which --recipe takes: {', '.join(fitting)}"


def about_settings(
    of: TaskSpec,
    recipe: str | None,
    started_from: str,
    changes: list[str],
    budget: str | float | None,
    *,
    compare: bool = False,
) -> dict[str, Any]:
    """What ``config.json`` is to say of where the settings come from.

    Without a recipe, and with the recipe ``auto``, they are still to be chosen, but for those that are fixed.

    Args:
        recipe: the one that was asked for.
        started_from: the one that it is.
        compare: whether the Euclidean twin is trained, too.
    """
    if compare and of.part("twin") is None:
        raise ValueError(f"expected a task with a Euclidean twin to compare with, got {of.name}; leave compare out")
    more: dict[str, Any] = {"compare": True} if compare else {}
    auto.Budget.read(budget)
    chosen = recipe in (None, auto.NAME) and of.auto
    if not chosen and (budget is not None or recipe == auto.NAME):
        why = f"the recipe {recipe!r} leaves nothing to choose" if recipe != auto.NAME else "there is none to choose by"
        raise ValueError(f"expected no budget and no recipe 'auto' here: {why}; leave it out")
    if not chosen or process_count() > 1:  # several processes train with the plain settings
        return {"recipe": started_from, **more}
    fixed = [change.partition("=")[0].strip() for change in changes]
    return {"recipe": auto.NAME, auto.NAME: {"plain": started_from, "fixed": fixed, "budget": budget}, **more}


def load_data(of: TaskSpec, data: Any, settings: LoopSettings, options: Options) -> Any:
    """What is trained on; the task's own data if nothing is given."""
    source = of.data if data is None and not options.name_data() else data
    if isinstance(source, Path):
        source = str(source)
    if source is None and not options.given():
        raise ValueError(f"expected data to train on, got none; {of.data_help}")
    return of.implementation.load(source, settings, options)


def notes_of(of: TaskSpec, settings: LoopSettings, data: Any) -> list[str]:
    """What is to be said of data that were loaded, and of how they are split."""
    return [*getattr(data, "notes", ()), *of.part("notes", lambda settings, data: ())(settings, data)]


def sort_chosen(of: TaskSpec, chosen: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Options about the data, and changes of settings as ``key=value``; an unknown name is an error with a near one."""
    options = {name: value for name, value in chosen.items() if name in of.options.model_fields}
    changes = []
    known = of.implementation.settings.every_field()
    for name, value in chosen.items():
        if name in options:
            continue
        first = name.partition("__")[0].partition(".")[0]
        if first not in known:
            raise ValueError(f"unknown setting {name!r}; {near_match(name, [*known, *of.options.model_fields])}")
        if isinstance(value, dict):
            changes += [f"{name}.{inner}={each}" for inner, each in value.items()]
        else:
            changes.append(f"{name.replace('__', '.')}={'none' if value is None else value}")
    return options, changes
