"""What the commands ``hybonet tune …`` share: checking, searching, stopping, and showing what was found."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hybonet.cli.options import tell_notes
from hybonet.cli.training import settings_for

if TYPE_CHECKING:
    from hybonet.training import LoopSettings, Task
    from hybonet.training.ranges import Range
    from hybonet.tuning.study import TrialResult

_TRIALS = 30
_SHOWN = 4  # trials in the table, which fits 80 columns
_NOT_ABOUT_DATA = ("recipe", "set", "range", "own_ranges", "seed")


@dataclass(frozen=True)
class Kind:
    """What a search must know about a task."""

    name: str
    #: The recipe to start from unless another is asked for.
    recipe: str
    #: From the options about data, what makes a task of settings.
    tasks: Callable[[Mapping[str, Any]], Callable[[Any], Task]]
    #: What else to say about the figures.
    note: str = ""
    #: Settings that cannot be searched, and why; ``{name}`` in it is the setting's.
    fixed: Mapping[str, str] = field(default_factory=dict)


def tune_in(
    kind: Kind, out: Path, given: Mapping[str, Any], *, trials: int | None, minutes: float | None, resume: bool
) -> None:
    """What the commands share: check everything, search, and show what was found."""
    from hybonet.training import Interrupted
    from hybonet.training.ranges import as_text, out_of_range
    from hybonet.tuning.progress import TerminalSearchReporter
    from hybonet.tuning.search import require_one_process, run_search
    from hybonet.tuning.search_folder import describe_search, prepare_folder, read_search, resume_command
    from hybonet.tuning.study import require_optuna

    require_optuna()
    require_one_process()
    earlier: dict[str, Any] = read_search(out, kind.name) if resume else {"options": {}, "trials": _TRIALS}
    options = _merged(earlier["options"], {key: value for key, value in given.items() if value is not None})
    recipe, seed = options.get("recipe", kind.recipe), options.get("seed", 0)
    total: int = trials or earlier["trials"]
    settings = settings_for(kind.name, recipe, options.get("set", []))
    ranges = _ranges(settings, kind, recipe, options)
    about_data = {key: value for key, value in options.items() if key not in _NOT_ABOUT_DATA}
    make_task = kind.tasks(about_data)
    task = make_task(settings)
    described = describe_search(task, ranges, seed=seed, recipe=recipe, options=options, trials=total)
    prepare_folder(out, described, resume=resume)
    again = resume_command(out, kind.name, total if resume and total != earlier["trials"] else None)
    searched = ", ".join(f"{name} {each}" for name, each in ranges.items())
    typer.echo(f"Searching the best validation {task.monitor} over {searched}")
    tell_notes(
        f"the recipe's {name}={as_text(value)} is not in the range {ranges[name]}, so that the first trial is drawn as "
        f"the others are; a --range with it lets the recipe come first"
        for name, value in out_of_range(settings, ranges).items()
    )
    unused = settings.unused()
    tell_notes(
        f"{name} is searched and changes nothing here, since {unused[name]}; --set {name}=… takes it out"
        for name in ranges
        if name in unused
    )
    reporter = TerminalSearchReporter(total, task.monitor, higher_is_better=task.higher_is_better)
    try:
        results = run_search(
            out,
            make_task,
            settings,
            ranges,
            trials=total,
            seed=seed,
            minutes=minutes,
            resume_command=again,
            reporter=reporter,
        )
    except Interrupted as stop:
        typer.echo(str(stop), err=True)
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        typer.echo(f"stopped at once; go on from the last checkpoint with {again}", err=True)
        raise typer.Exit(130) from None
    _show(out, task, results, ranges, about_data)
    if kind.note:
        typer.echo(kind.note)
    if len(results) < total and not reporter.nothing_left:
        typer.echo(f"The time is over after {len(results)} of {total} trials; go on with {again}")


def _merged(earlier: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an earlier search with those given now; of repeated ones, those for the same setting give way."""
    merged = {**earlier, **given}
    for key in ("set", "range"):
        names = {assignment.partition("=")[0].strip() for assignment in given.get(key, [])}
        kept = [each for each in earlier.get(key, []) if each.partition("=")[0].strip() not in names]
        if kept:
            merged[key] = [*kept, *given.get(key, [])]
    return merged


def _ranges(settings: LoopSettings, kind: Kind, recipe_name: str, options: Mapping[str, Any]) -> dict[str, Range]:
    """The recipe's ranges but for what --set fixes, none with --own-ranges, then those of --range."""
    from hybonet.recipes import recipe
    from hybonet.training.ranges import check_ranges
    from hybonet.tuning import read_ranges

    fixed = {assignment.partition("=")[0].strip() for assignment in options.get("set", [])}
    declared: dict[str, Range] = {}
    if not options.get("own_ranges"):
        declared = {name: each for name, each in recipe(recipe_name, kind.name).ranges.items() if name not in fixed}
    ranges = declared | read_ranges(settings, options.get("range", []))
    if not ranges:
        own = options.get("own_ranges")
        why = "--own-ranges comes without --range" if own else f"recipe {recipe_name} leaves nothing"
        raise ValueError(f"expected something to search, but {why}; give a range, for example --range lr=0.001:0.1:log")
    check_ranges(settings, ranges)
    for name, reason in kind.fixed.items():
        if name in ranges:
            raise ValueError(f"range of {name}: {reason.format(name=name)}")
    return ranges


def _show(
    out: Path, task: Task, results: Sequence[TrialResult], ranges: Mapping[str, Range], about_data: Mapping[str, Any]
) -> None:
    """Table, files, picture, and the command that trains with what was found."""
    from rich.console import Console

    from hybonet.reporting.search_table import search_table
    from hybonet.training.ranges import value_of
    from hybonet.tuning.progress import ranked, shortened
    from hybonet.tuning.search_folder import BEST_SETTINGS, TRIALS

    best = ranked(results, higher_is_better=task.higher_is_better)
    if not best:
        raise ValueError(
            f"none of the {len(results)} trials finished, the last one because {results[-1].reason}; {out / TRIALS} "
            "has them all; try other ranges in a new folder"
        )
    columns = [
        {**asdict(each), "values": {name: shortened(value) for name, value in each.values.items()}}
        for each in best[:_SHOWN]
    ]
    table = search_table(columns, task.monitor, {name: str(each) for name, each in ranges.items()})
    Console(highlight=False).print("", table, "")
    settings = task.settings
    counts = {state: sum(each.state == state for each in results) for state in ("finished", "pruned", "failed")}
    meaning = {"finished": "", "pruned": " (ended early, worse than most)", "failed": " (trials.csv says why)"}
    typer.echo("Trials: " + ", ".join(f"{n} {state}{meaning[state]}" for state, n in counts.items() if n))
    usual = next((each for each in results if all(value_of(settings, k) == v for k, v in each.values.items())), None)
    if usual is best[0]:
        typer.echo(f"None was better than the recipe as it is (trial {usual.number})")
    elif usual is not None and usual.figure is not None:
        typer.echo(f"The recipe as it is (trial {usual.number}) has {task.monitor} {usual.figure:.4f}")
    typer.echo(f"Every trial: {out / TRIALS}")
    picture = _draw(out, task, results, ranges)
    if picture:
        typer.echo(f"Picture: {picture}")
    words = ["hybonet", "train", task.name]
    for name, value in about_data.items():
        option = name.replace("_", "-")
        words += [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", value]
    words += ["--recipe", str(out / BEST_SETTINGS), "--out", str(out / "best")]
    typer.echo(f"Train with the best settings:\n{shlex.join(words)}")


def _draw(out: Path, task: Task, results: Sequence[TrialResult], ranges: Mapping[str, Range]) -> Path | None:
    """The picture of the search, if matplotlib is there."""
    from hybonet.reporting.search_chart import draw_search
    from hybonet.tasks.run_folder import source_name
    from hybonet.training.ranges import Between
    from hybonet.tuning.search_folder import PICTURE

    if not find_spec("matplotlib"):
        return None
    draw_search(
        [asdict(each) for each in results],
        out / PICTURE,
        title=f"{len(results)} trials on {source_name(task.describe()['data']['source'])}",
        label=f"validation {task.monitor}",
        spans={name: (each.low, each.high, each.log) for name, each in ranges.items() if isinstance(each, Between)},
        choices={name: each.values for name, each in ranges.items() if not isinstance(each, Between)},
        higher_is_better=task.higher_is_better,
    )
    return out / PICTURE
