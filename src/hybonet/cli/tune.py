"""``hybonet tune TASK``: search for good settings by training, made once for all tasks."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybonet.cli import made
from hybonet.cli.app import app
from hybonet.cli.options import say, tell_notes
from hybonet.cli.training import Changes, Quiet, Threads, data_option, recipe_option, use_threads
from hybonet.tasks.base import TaskSpec, specs

if TYPE_CHECKING:
    from hybonet.training import LoopSettings, Task
    from hybonet.training.ranges import Range
    from hybonet.tuning.study import TrialResult

tune_app = typer.Typer(
    help="Search for good settings; `hybonet tune kg --help`, and the same for the other tasks, says how.",
    no_args_is_help=True,
)
app.add_typer(tune_app, name="tune")

Out = Annotated[Path, typer.Option(help="Folder for the search: new, empty, or with --resume an earlier search.")]
Ranges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        help="Search a setting: key=low:high, key=low:high:log (orders of magnitude), or key=a,b,c. May be repeated; "
        "it comes before the recipe's own range, which --set key=value takes out.",
    ),
]
OwnRanges = Annotated[
    bool, typer.Option("--own-ranges", help="Search what --range names, and nothing that the recipe declares.")
]
Trials = Annotated[int | None, typer.Option(min=1, help="How many trials in all.", show_default="30")]
Minutes = Annotated[
    float | None, typer.Option(min=0, help="Begin no further trial after so many minutes.", show_default="no limit")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Of the values that are tried.", show_default="0")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the search in --out; --trials N gives it more trials.")
]
Replace = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier search in --out.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write trials and the best settings as JSON when it is done.")]
_TRIALS = 30
_SHOWN = 4  # trials in the table, which fits 80 columns
_NOT_ABOUT_DATA = ("recipe", "set", "range", "own_ranges", "seed")
_ABOUT = """search for the settings that do best on the validation data; the test data have no part in it.

The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
ended early, those that diverge count as failed. Ctrl-C stops at the next batch, saves, and says how to go on."""
_EXAMPLES = """
What the recipe declares (`hybonet recipes show {recipe}` lists it), 30 trials:
`hybonet tune {task} --data {data} --out runs/search`

Short trials, as many as half an hour has room for:
`hybonet tune {task} --data {data} --set epochs=20 --trials 200 --minutes 30 --out runs/search`

Ranges of your own, and a setting that stays as it is:
`hybonet tune {task} --data {data} --range lr=0.001:0.1:log --range dim=16,32,64 --set seed=1 --out runs/search`

Three learning rates, and nothing else:
`hybonet tune {task} --data {data} --own-ranges --range lr=0.01,0.03,0.1 --out runs/search`

Go on after Ctrl-C or a crash: `hybonet tune {task} --out runs/search --resume`

Train with the best settings and measure on the test data:
`hybonet train {task} --data {data} --recipe runs/search/best.json --out runs/search/best`
"""


def add(spec: TaskSpec) -> None:
    """Add a task's command."""
    given = [
        made.parameter("out", Out),
        made.parameter("data", data_option(spec), None),
        made.parameter("recipe", recipe_option(spec), None),
        made.parameter("trials", Trials, None),
        made.parameter("minutes", Minutes, None),
        made.parameter("range_", Ranges, None),
        made.parameter("own_ranges", OwnRanges, False),
        made.parameter("set_", Changes, None),
        made.parameter("seed", Seed, None),
        *made.parameters(spec.options),
        made.parameter("resume", Resume, False),
        made.parameter("overwrite", Replace, False),
        made.parameter("threads", Threads, None),
        made.parameter("quiet", Quiet, False),
        made.parameter("as_json", AsJson, False),
    ]
    text = _EXAMPLES.format(task=spec.name, recipe=spec.recipe, data=spec.data or "mine")
    about = f"{spec.title}: {_ABOUT}"
    made.add(tune_app, partial(tune, spec), given, name=spec.name, about=about, examples=text)


def tune(
    spec: TaskSpec,
    *,
    out: Path,
    data: str | None,
    recipe: str | None,
    trials: int | None,
    minutes: float | None,
    range_: list[str] | None,
    own_ranges: bool,
    set_: list[str] | None,
    seed: int | None,
    resume: bool,
    overwrite: bool,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Check everything, search, and show what was found; ``values`` are the task's options about data."""
    from hybonet.tasks.api import load_data, notes_of, settings_for
    from hybonet.training import Interrupted
    from hybonet.training.ranges import as_text, out_of_range
    from hybonet.tuning.progress import SearchReporter, TerminalSearchReporter
    from hybonet.tuning.search import require_one_process, run_search
    from hybonet.tuning.search_folder import (
        BEST_SETTINGS,
        SEARCH,
        describe_search,
        prepare_folder,
        read_search,
        result_rows,
        resume_command,
    )
    from hybonet.tuning.study import require_optuna

    use_threads(threads)
    require_optuna()
    require_one_process()
    of_data = made.chosen(spec.options, values).model_dump(mode="json", exclude_unset=True)
    named = {"recipe": recipe, "set": set_, "range": range_, "own_ranges": own_ranges or None, "seed": seed}
    given = {name: value for name, value in {"data": data, **of_data, **named}.items() if value is not None}
    earlier: dict[str, Any] = read_search(out, spec.name) if resume else {"options": {}, "trials": _TRIALS}
    options = _merged(earlier["options"], given)
    total: int = trials or earlier["trials"]
    about_data = {key: value for key, value in options.items() if key not in _NOT_ABOUT_DATA}
    reading = spec.options.checked({key: value for key, value in about_data.items() if key != "data"})
    recipe, settings = settings_for(
        spec, options.get("recipe"), options.get("set", []), reading, about_data.get("data")
    )
    ranges = _ranges(settings, spec, recipe, options)
    loaded = load_data(spec, about_data.get("data"), settings, reading)
    tell = (lambda _: None) if quiet else tell_notes
    tell(notes_of(spec, settings, loaded))
    loaded = loaded.without_test() if hasattr(loaded, "without_test") else loaded

    def make_task(tried: Any) -> Task:
        return spec.implementation.task(tried, loaded)

    task = make_task(settings)
    described = describe_search(task, ranges, seed=options.get("seed", 0), recipe=recipe, options=options, trials=total)
    if overwrite and not resume and (out / SEARCH).is_file():
        shutil.rmtree(out)
    prepare_folder(out, described, resume=resume)
    again = resume_command(out, spec.name, total if resume and total != earlier["trials"] else None)
    searched = ", ".join(f"{name} {each}" for name, each in ranges.items())
    told: Callable[..., None] = (lambda *_, **__: None) if quiet else partial(say, err=as_json)
    told(f"Searching the best validation {task.monitor} over {searched}")
    tell(
        f"the recipe's {name}={as_text(value)} is not in the range {ranges[name]}, so that the first trial is drawn as "
        f"the others are; a --range with it lets the recipe come first"
        for name, value in out_of_range(settings, ranges).items()
    )
    unused = settings.unused()
    tell(
        f"{name} is searched and changes nothing here, since {unused[name]}; --set {name}=… takes it out"
        for name in ranges
        if name in unused
    )
    shown = TerminalSearchReporter(total, task.monitor, higher_is_better=task.higher_is_better, echo=told)
    reporter = SearchReporter() if quiet else shown
    try:
        results = run_search(
            out,
            make_task,
            settings,
            ranges,
            trials=total,
            seed=options.get("seed", 0),
            minutes=minutes,
            resume_command=again,
            reporter=reporter,
        )
    except Interrupted as stop:
        say(str(stop), err=True)
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        say(f"stopped at once; go on from the last checkpoint with {again}", err=True)
        raise typer.Exit(130) from None
    if as_json:
        best = out / BEST_SETTINGS
        found = {"best": json.loads(best.read_text(encoding="utf-8")) if best.is_file() else None}
        say(json.dumps({**found, "trials": result_rows(results, task.monitor)}, indent=1))
        return
    if quiet:
        return
    _show(out, task, results, ranges, about_data)
    if note := spec.part("tune_note"):
        say(note)
    if len(results) < total and not reporter.nothing_left:
        say(f"The time is over after {len(results)} of {total} trials; go on with {again}")


def _merged(earlier: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an earlier search with those given now; of repeated ones, those for the same setting give way."""
    merged = {**earlier, **given}
    for key in ("set", "range"):
        names = {assignment.partition("=")[0].strip() for assignment in given.get(key, [])}
        kept = [each for each in earlier.get(key, []) if each.partition("=")[0].strip() not in names]
        if kept:
            merged[key] = [*kept, *given.get(key, [])]
    return merged


def _ranges(settings: LoopSettings, spec: TaskSpec, recipe_name: str, options: Mapping[str, Any]) -> dict[str, Range]:
    """The recipe's ranges but for what --set fixes, none with --own-ranges, then those of --range."""
    from hybonet.recipes import recipe
    from hybonet.training import describe
    from hybonet.training.ranges import check_ranges
    from hybonet.tuning import read_ranges

    fixed = {assignment.partition("=")[0].strip() for assignment in options.get("set", [])}
    declared: dict[str, Range] = {}
    if not options.get("own_ranges"):
        known = {name for name, _, _ in describe(settings)}  # another model has other settings than the recipe's
        searched = recipe(recipe_name, spec.name).ranges
        declared = {name: each for name, each in searched.items() if name not in fixed and name in known}
    ranges = declared | read_ranges(settings, options.get("range", []))
    if not ranges:
        own = options.get("own_ranges")
        why = "--own-ranges comes without --range" if own else f"recipe {recipe_name} leaves nothing"
        raise ValueError(f"expected something to search, but {why}; give a range, for example --range lr=0.001:0.1:log")
    check_ranges(settings, ranges)
    for name, reason in spec.part("not_searched", {}).items():
        if name in ranges:
            raise ValueError(f"range of {name}: {reason.format(name=name)}")
    return ranges


def _show(
    out: Path, task: Task, results: Sequence[TrialResult], ranges: Mapping[str, Range], about_data: Mapping[str, Any]
) -> None:
    """Table, files, picture, and the command that trains with what was found."""
    from hybonet.reporting.console import Console
    from hybonet.reporting.search_chart import search_table
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
    say("Trials: " + ", ".join(f"{n} {state}{meaning[state]}" for state, n in counts.items() if n))
    usual = next((each for each in results if all(value_of(settings, k) == v for k, v in each.values.items())), None)
    if usual is best[0]:
        say(f"None was better than the recipe as it is (trial {usual.number})")
    elif usual is not None and usual.figure is not None:
        say(f"The recipe as it is (trial {usual.number}) has {task.monitor} {usual.figure:.4f}")
    say(f"Every trial: {out / TRIALS}")
    picture = _draw(out, task, results, ranges)
    if picture:
        say(f"Picture: {picture}")
    words = ["hybonet", "train", task.name]
    for name, value in about_data.items():
        option = name.replace("_", "-")
        several = value if isinstance(value, list) else [value]
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [word for each in several for word in (f"--{option}", str(each))]
    words += ["--recipe", str(out / BEST_SETTINGS), "--out", str(out / "best")]
    say(f"Train with the best settings:\n{shlex.join(words)}")


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


for _spec in specs().values():
    add(_spec)
