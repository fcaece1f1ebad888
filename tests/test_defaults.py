"""Defaults of everything public are those of defaults.txt: whoever changes one says so there."""

import importlib
import inspect
from pathlib import Path

from pydantic import BaseModel

from hybonet.tasks.base import specs

STORED = Path(__file__).with_name("defaults.txt")
ROOMS = ("geometry", "nn", "optim", "metrics", "data", "training")


def defaults() -> str:
    """A line for every function, class and model of settings that has any."""
    lines = set()
    for room in ROOMS:
        module = importlib.import_module(f"hybonet.{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, BaseModel):
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                try:
                    lines.add(line(f"{room}.{name}", inspect.signature(thing).parameters))
                except ValueError:  # exceptions have none
                    continue
    for spec in specs().values():
        for kind in every(spec.implementation.settings):
            own = {name: kind.model_fields[name] for name in inspect.get_annotations(kind) if name in kind.model_fields}
            lines.add(line(f"{kind.__module__}.{kind.__name__}", own))
    return "".join(sorted(lines))


def every(kind):
    """A class of settings with those that it is made from, and those made from it; not those of tests."""
    below = {each for sub in kind.__subclasses__() for each in every(sub)}
    return {each for each in {*kind.__mro__, *below} if each.__module__.startswith("hybonet.")}


def line(name, parameters):
    plain = (bool, int, float, str, tuple, type(None))
    said = [f"{each}={part.default!r}" for each, part in parameters.items() if type(part.default) in plain]
    return f"{name}: {', '.join(said)}\n" if said else ""


def test_defaults_are_those_that_are_written_down():
    """Where a change is meant: ``python -m tests.test_defaults`` writes the file anew."""
    assert defaults().splitlines() == STORED.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    STORED.write_text(defaults(), encoding="utf-8")
