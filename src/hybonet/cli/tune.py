"""``hybonet tune``: search for good settings by training, whatever the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybonet.cli import entity_typing, graph, hierarchy, knowledge_graph, translation
from hybonet.cli.app import app, clean_errors
from hybonet.cli.search import Kind, tune_in
from hybonet.cli.training import RECIPE_HELP, Changes, Threads, use_threads

if TYPE_CHECKING:
    from hybonet.data.text.translation_data import TranslationData
    from hybonet.tasks.translation.settings import TranslationSettings
    from hybonet.training import Task

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

_KG_EXAMPLES = """
**Examples**

What the recipe declares (`hybonet recipes show default` lists it), 30 trials:
`hybonet tune kg --data facts.tsv --out runs/search`

Short trials, as many as half an hour has room for:
`hybonet tune kg --data Nations --set epochs=20 --trials 200 --minutes 30 --out runs/search`

Ranges of your own, and a setting that stays as it is:
`hybonet tune kg --range lr=0.001:0.1:log --range dim=32,64,128 --set dropout=0 --out runs/search`

Three learning rates, and nothing else:
`hybonet tune kg --data Nations --own-ranges --range lr=0.01,0.03,0.1 --out runs/search`

Go on after Ctrl-C or a crash: `hybonet tune kg --out runs/search --resume`

Twenty trials more: `hybonet tune kg --out runs/search --resume --trials 50`

Train with the best settings and measure on the test triples:
`hybonet train kg --data facts.tsv --recipe runs/search/best.json --out runs/search/best`
"""
_GRAPH_EXAMPLES = """
**Examples**

`hybonet tune graph --data cora --task nc --trials 30 --out runs/search` searches what the recipe declares.

`hybonet tune graph --data edges.csv --range lr=0.001:0.1:log --set layers=2 --out runs/search` has ranges of its own.

`hybonet tune graph --out runs/search --resume` goes on with a search that was stopped.
"""
_HIERARCHY_EXAMPLES = """
**Examples**

`hybonet tune hierarchy --data my_edges.csv --trials 20 --out runs/search` searches what the recipe declares.

`hybonet tune hierarchy --range lr=0.01:1:log --range dim=3,6,11 --out runs/search` has ranges of its own, too.

`hybonet tune hierarchy --out runs/search --resume` goes on with a search that was stopped.

`hybonet train hierarchy --data my_edges.csv --recipe runs/search/best.json --out runs/best` uses what was found.
"""

_TYPING_EXAMPLES = """
**Examples**

`hybonet tune typing --data mine --words glove.6B.100d.txt --out runs/search` searches what the recipe declares.

`hybonet tune typing --data ufet --set model=HY --trials 10 --out runs/hy` searches for another model.
"""

_TRANSLATION_EXAMPLES = """
**Examples**

`hybonet tune translation --data multi30k --recipe multi30k-64 --set epochs=2 --trials 12 --out runs/search` has short
trials.

`hybonet tune translation --source talks.en --target talks.de --direction en-de --range lr=0.001:0.01:log --out
runs/search` has a range of its own.
"""


@tune_app.command("kg", epilog=_KG_EXAMPLES)
def tune_kg(
    out: Out,
    data: knowledge_graph.Data = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="default")] = None,
    trials: Trials = None,
    minutes: Minutes = None,
    range_: Ranges = None,
    own_ranges: OwnRanges = False,
    set_: Changes = None,
    seed: Seed = None,
    columns: knowledge_graph.Columns = None,
    separator: knowledge_graph.Separator = None,
    names: knowledge_graph.Names = None,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Search for the settings with the best validation MRR; the test triples have no part in it.

    The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
    ended early, those that diverge count as failed. Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        given = {"data": data, "columns": columns, "separator": separator, "names": names and str(names)}
        others = {"recipe": recipe, "set": set_, "range": range_, "own_ranges": own_ranges or None, "seed": seed}
        tune_in(_KG, out, given | others, trials=trials, minutes=minutes, resume=resume)


@tune_app.command("graph", epilog=_GRAPH_EXAMPLES)
def tune_graph(
    out: Out,
    data: graph.Data = None,
    task: graph.TaskOption = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="graph-lp or graph-nc")] = None,
    trials: Trials = None,
    minutes: Minutes = None,
    range_: Ranges = None,
    own_ranges: OwnRanges = False,
    set_: Changes = None,
    seed: Seed = None,
    features: graph.Features = None,
    labels: graph.Labels = None,
    label_column: graph.LabelColumn = None,
    columns: graph.Columns = None,
    header: graph.Header = None,
    allow_unlabelled: graph.Unlabelled = False,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Search for the settings that do best on the validation links or nodes; the test part has no part in it.

    The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
    ended early, those that diverge count as failed. Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        given = graph.about_data(data, features, labels, label_column, columns, header, allow_unlabelled)
        if not resume:
            recipe, set_ = graph.recipe_and_changes(task, recipe, set_ or [])
        others = {
            "recipe": recipe,
            "set": set_ or None,
            "range": range_,
            "own_ranges": own_ranges or None,
            "seed": seed,
        }
        tune_in(_GRAPH, out, given | others, trials=trials, minutes=minutes, resume=resume)


@tune_app.command("hierarchy", epilog=_HIERARCHY_EXAMPLES)
def tune_hierarchy(
    out: Out,
    data: hierarchy.Data = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="hierarchy")] = None,
    trials: Trials = None,
    minutes: Minutes = None,
    range_: Ranges = None,
    own_ranges: OwnRanges = False,
    set_: Changes = None,
    seed: Seed = None,
    resume: Resume = False,
    threads: hierarchy.Threads = 1,
) -> None:
    """Search for settings whose embedding gives the hierarchy back best, by mean average precision.

    The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
    ended early. Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        others = {"recipe": recipe, "set": set_, "range": range_, "own_ranges": own_ranges or None, "seed": seed}
        tune_in(_HIERARCHY, out, {"data": data} | others, trials=trials, minutes=minutes, resume=resume)


@tune_app.command("typing", epilog=_TYPING_EXAMPLES)
def tune_typing(
    out: Out,
    data: entity_typing.Data = None,
    types: entity_typing.Types = None,
    words: entity_typing.Words = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="typing")] = None,
    trials: Trials = None,
    minutes: Minutes = None,
    range_: Ranges = None,
    own_ranges: OwnRanges = False,
    set_: Changes = None,
    seed: Seed = None,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Search for the settings with the best macro F1 on the validation mentions; the test mentions have no part in it.

    The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
    ended early. Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        given = {"data": data, "types": types and str(types), "words": words and str(words)}
        others = {"recipe": recipe, "set": set_, "range": range_, "own_ranges": own_ranges or None, "seed": seed}
        tune_in(_TYPING, out, given | others, trials=trials, minutes=minutes, resume=resume)


@tune_app.command("translation", epilog=_TRANSLATION_EXAMPLES)
def tune_translation(
    out: Out,
    data: translation.Data = None,
    source: translation.Source = None,
    target: translation.Target = None,
    direction: translation.Direction = None,
    tokenized: translation.Tokenized = False,
    codes: translation.Codes = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP, show_default="translation")] = None,
    trials: Trials = None,
    minutes: Minutes = None,
    range_: Ranges = None,
    own_ranges: OwnRanges = False,
    set_: Changes = None,
    seed: Seed = None,
    resume: Resume = False,
    threads: Threads = None,
) -> None:
    """Search for the settings with the lowest perplexity on the validation pairs; test sentences have no part in it.

    The first trial is the recipe as it is, if the ranges have it. Trials that are worse than most at the same epoch are
    ended early, those that diverge count as failed. Ctrl-C stops at the next batch, saves, and says how to go on.
    """
    with clean_errors():
        use_threads(threads)
        given = translation.about_data(data, source, target, direction, tokenized, codes)
        others = {"recipe": recipe, "set": set_, "range": range_, "own_ranges": own_ranges or None, "seed": seed}
        tune_in(_TRANSLATION, out, given | others, trials=trials, minutes=minutes, resume=resume)


def _kg_tasks(options: Mapping[str, Any]) -> Callable[[Any], Task]:
    """Knowledge-graph tasks that do not know the test triples, not even to leave them out of rankings."""
    from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask

    triples = knowledge_graph.load_data(dict(options)).without_test()
    return lambda settings: KnowledgeGraphTask(settings, triples)


def _graph_tasks(options: Mapping[str, Any]) -> Callable[[Any], Task]:
    from hybonet.tasks.graph.task import GraphLearningTask

    network = graph.load_data(dict(options))
    return lambda settings: GraphLearningTask(settings, network)


def _hierarchy_tasks(options: Mapping[str, Any]) -> Callable[[Any], Task]:
    from hybonet.data import load_hierarchy
    from hybonet.tasks.hierarchy.task import HierarchyTask

    edges = load_hierarchy(options.get("data", "wordnet_mammals"))
    return lambda settings: HierarchyTask(settings, edges)


def _typing_tasks(options: Mapping[str, Any]) -> Callable[[Any], Task]:
    from hybonet.data.mentions.loading import load_mentions
    from hybonet.tasks.typing.task import EntityTypingTask

    files = {name: options.get(name) for name in ("types", "words")}
    mentions = replace(load_mentions(options.get("data", "little-town"), **files), test=())
    return lambda settings: EntityTypingTask(settings, mentions)


def _translation_tasks(options: Mapping[str, Any]) -> Callable[[Any], Task]:
    """Translation tasks of the same subwords, which no trial changes."""
    from hybonet.tasks.translation.task import TranslationTask

    prepared: list[TranslationData] = []

    def task(settings: TranslationSettings) -> Task:
        if not prepared:
            prepared.append(translation.load_data(settings, options).without_test())
        return TranslationTask(settings, prepared[0])

    return task


_KG = Kind(
    "kg",
    "default",
    _kg_tasks,
    "The search knows no test triples. hybonet train leaves them, too, out of the rankings, so its validation figures "
    "are higher.",
    fixed=dict.fromkeys(
        ("distillation_weight", "distillation_answers", "teacher_logit_scale"),
        "a search has no teachers to learn from; leave it out",
    ),
)
_GRAPH = Kind("graph", "graph-lp", _graph_tasks)
_HIERARCHY = Kind("hierarchy", "hierarchy", _hierarchy_tasks)
_TYPING = Kind("typing", "typing", _typing_tasks)
_TRANSLATION = Kind(
    "translation",
    "translation",
    _translation_tasks,
    fixed=dict.fromkeys(
        ("tokenizer", "vocabulary", "share_vocabulary", "max_length"),
        "perplexities of different tokens cannot be compared; fix it with --set {name}=…, and search for each by "
        "itself",
    ),
)
