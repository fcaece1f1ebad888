"""What a task declares, and nothing else: its :class:`TaskSpec`. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from hybonet.tasks.options import EvaluateOptions, ExportOptions, NoOptions, Options, PlotOptions

if TYPE_CHECKING:
    from pathlib import Path

    from hybonet.reporting.headlines import Headline
    from hybonet.tasks.auto import Candidate
    from hybonet.tasks.predictor import Predictor
    from hybonet.training import FitResult, LoopSettings, Task

#: Packages declare tasks of their own under this name: ``my-task = "my_package.my_task:SPEC"``.
ENTRY_POINTS = "hybonet.tasks"
_OWN = ("knowledge_graph", "graph", "translation", "typing", "hierarchy", "probing")


#: What can be done with every task's models, ``hybonet evaluate RUN`` or ``model.evaluate()``, and its options, unless
#: the task says something else; a verb that is None is refused. The predictor's method takes the options as keywords.
VERBS: dict[str, type[Options] | None] = {
    "evaluate": EvaluateOptions, "predict": None, "plot": PlotOptions, "export": ExportOptions,
}  # fmt: skip


@dataclass(frozen=True)
class TaskSpec:
    """A task, seen from outside. The command line, Python's ``train`` and ``load``, run folders, ``tune``, ``report``
    and export know it by this alone.

    Attributes:
        name: as in ``hybonet train NAME``.
        title: what headings call it.
        parts: the module (or its name, or any object) that has what needs torch; see :class:`Parts`.
        options: how data are read; their docstring is the help of the training.
        verbs: the options of what can be done with its models, where they differ from :data:`VERBS`; likewise.
        data: what is trained on if nothing is given; None: something must be.
        data_help: what ``--data`` may be.
        recipe: the settings to start from.
        auto: whether its parts have ``candidates``, so that settings follow from the data where no recipe is named.
        data_key: what ``config.json`` of its runs calls the data.
    """

    name: str
    title: str
    parts: Any
    options: type[Options] = NoOptions
    verbs: Mapping[str, type[Options] | None] = field(default_factory=dict)
    data: str | None = None
    data_help: str = "What to train on."
    recipe: str = "default"
    auto: bool = False
    data_key: str = "data"

    @cached_property
    def implementation(self) -> Parts:
        """What the task is made of; the first use imports it."""
        return import_module(self.parts) if isinstance(self.parts, str) else self.parts  # type: ignore[return-value]

    def part(self, name: str, default: Any = None) -> Any:
        """A part that a task may do without."""
        return getattr(self.implementation, name, default)

    def headline(self, record: Mapping[str, Any]) -> Headline:
        """What is shown of a record."""
        from hybonet.reporting.headlines import plain_headline

        own = self.part("headline")
        return own(record) if callable(own) else own or plain_headline(self.title, record)

    def verb(self, name: str) -> type[Options] | None:
        """The options of a verb; None if it does nothing with the task's models."""
        return self.verbs.get(name, VERBS[name])


class Parts:
    """What :attr:`TaskSpec.parts` has, defined there or imported: five functions and two classes. This class only names
    them.

    Attributes:
        settings: the class of its settings.
        predictor: the class of its trained models.
    """

    settings: type[LoopSettings]
    predictor: type[Predictor]

    #: ``load(source, settings, options)``: the data, from a path, a name or objects of Python, checked.
    load: Callable[[Any, Any, Any], Any]
    #: ``write(folder, data)``: keep the data in a run folder, and return what its ``config.json`` is to say of them.
    write: Callable[[Path, Any], dict[str, Any]]
    #: ``read(folder, about)``: the same data again.
    read: Callable[[Path, dict[str, Any]], Any]
    #: ``task(settings, data)``: what the training loop trains; see :class:`hybonet.training.Task`.
    task: Callable[[Any, Any], Task]
    #: ``measures(task, result)``: what the record of a finished training says of its model.
    measures: Callable[[Any, FitResult], dict[str, Any]]

    # -- what a task may do without --------------------------------------------------------------------------------
    #: Recipes by name; see :class:`hybonet.recipes.Recipe`.
    RECIPES: Mapping[str, Mapping[str, Any]]
    #: ``candidates(settings, data)``: settings that suit the data, for a race if there are several; see
    #: :mod:`hybonet.tasks.auto`.
    candidates: Callable[[Any, Any], Sequence[Candidate]]
    #: What else settings that were chosen so have: what is fitted to the validation data when training is done.
    AFTERWARDS: Mapping[str, Any]
    #: ``twin(settings)``: what to change for the Euclidean model of equal size, for ``--compare``.
    twin: Callable[[Any], dict[str, Any]]
    #: ``guess(task)``: what guessing reaches on the validation data, and how; a model that is no better says so.
    guess: Callable[[Any], tuple[float, str]]
    #: ``edges_of(task)``: what is known of a graph in training, and how many nodes it has: for Gromov's delta.
    edges_of: Callable[[Any], tuple[Any, int]]
    #: ``notes(settings, data)``: what is to be said of a training's data beside their own ``notes``.
    notes: Callable[[Any, Any], Sequence[str]]
    #: What ``hybonet report`` shows of a record; or ``headline(record)``, where that depends on the record.
    headline: Headline | Callable[[Mapping[str, Any]], Headline]
    #: ``pictures(model, folder, options)``: draw into a folder, and return the files and what is missing, and why.
    pictures: Callable[..., Any]


def specs() -> dict[str, TaskSpec]:
    """All tasks by name: those of this package, then those that other packages declare.

    Example:
        >>> list(specs())[:3]
        ['kg', 'graph', 'translation']
    """
    found = [import_module(f"hybonet.tasks.{name}").SPEC for name in _OWN]
    own = {each.name for each in found}
    for point in entry_points(group=ENTRY_POINTS):
        each = point.load()
        if not isinstance(each, TaskSpec):
            raise ValueError(f"expected a TaskSpec at entry point {point.value}, got {type(each).__name__}")
        if each.name in own:
            raise ValueError(f"expected another name for the task of {point.value}: {each.name!r} is taken")
        own.add(each.name)
        found.append(each)
    return {each.name: each for each in found}


def spec(name: str) -> TaskSpec:
    """A task by its name, whatever its case.

    Example:
        >>> spec("KG").title
        'Knowledge graphs'
        >>> spec("graphs")
        Traceback (most recent call last):
        ValueError: unknown task 'graphs'; did you mean 'graph'?
    """
    from hybonet.training.settings import near_match

    known = specs()
    if name.lower() not in known:
        raise ValueError(f"unknown task {name!r}; {near_match(name, known)}")
    return known[name.lower()]


def headline_of(record: Mapping[str, Any]) -> Headline:
    """What is shown of a record of any task."""
    return spec(record["task"]).headline(record)


def refuse_verb(task: TaskSpec, verb: str) -> ValueError:
    """The error for a verb that a task's models do not know."""
    others = [name for name in VERBS if task.verb(name) is not None]
    return ValueError(
        f"expected a model that can be asked to {verb}, got one of {task.title.lower()}; what works on it: "
        f"{', '.join(others)}"
    )
