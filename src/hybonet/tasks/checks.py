"""The contract that every task keeps, as one public check: what is trained is measured, asked, drawn, saved and loaded,
and goes on after a stop. :func:`hybonet.testing.check_task` is the name to call it by.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from hybonet.tasks.api import load, train
from hybonet.tasks.base import VERBS
from hybonet.tasks.predictor import Predictor
from hybonet.training import Reporter
from hybonet.training.checkpoint import read_tensors
from hybonet.training.loop import BEST, LAST

#: What differs between two measurements of the same model.
_TIMES = ("seconds", "examples")


def check_task(task: str, /, data: Any, *, question: Mapping[str, Any] | None = None, **chosen: Any) -> None:
    """Train a model of a task in a temporary folder, and raise an ``AssertionError`` if it breaks the contract.

    - ``evaluate`` of the finished run gives the record's figures, and so does the run when it is loaded again;
    - ``predict`` and ``vectors`` give the same after ``save_pretrained`` and ``hybonet.load``, or are refused;
    - ``plot`` gives files, or says what is missing;
    - a training that is killed on the way and goes on ends as one that was not, bit for bit;
    - a mistaken setting, option or file is a ``ValueError`` that names it.

    Example:
        >>> family = [("dog", "canine"), ("wolf", "canine"), ("canine", "mammal"), ("cat", "mammal")]
        >>> check_task("hierarchy", family, question={"node": "dog"}, epochs=2, dim=3)
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = train(task, data, out=folder / "run", reporter=False, **chosen)
        check_figures(model)
        _check_answers(model, dict(question or {}), folder)
        _check_pictures(model, folder / "pictures")
        check_resumed(model, data, chosen, folder)
        _check_refusals(model, data, chosen, folder)


def check_figures(model: Predictor) -> None:
    """``evaluate`` gives what the record says, of every part of the data that it can be asked for."""
    assert model.run is not None
    assert model.record is not None
    verb = model.spec.verb("evaluate")
    if verb is None:
        return
    splits = [{"split": "valid"}] if "split" in verb.model_fields else []
    for options in [{}, *splits]:
        said = f"evaluate({', '.join(f'{name}={value!r}' for name, value in options.items())})"
        figures, record = model.evaluate(**options), model.record
        split = options.get("split", "test")
        parts = [record, *(part for name, part in record.items() if name.startswith(split))]
        own = [figures, *(part for part in figures.values() if isinstance(part, Mapping))]
        shared = sorted(([*_shared(one, part)] for one in own for part in parts), key=len, reverse=True)
        _hold(bool(shared[0]), f"{said} gives figures that the record has, too", list(figures))
        # Several parts may have them, such as those at several thresholds; one with some of them is none of these.
        candidates = [pairs for pairs in shared if 2 * len(pairs) > len(shared[0])]
        _hold(any(map(_agree, candidates)), f"{said} gives the record's figures", _first_odd(shared[0]))
        _same(figures, load(model.run.folder).evaluate(**options), f"{said} of the run when it is loaded again")


def _check_answers(model: Predictor, question: dict[str, Any], folder: Path) -> None:
    """A saved model answers as the run does, when it is loaded again and when it is saved again."""
    answers = {"predict": lambda each: each.predict(**question), "vectors": _vectors}
    model.save_pretrained(folder / "saved")
    saved = load(folder / "saved")
    _hold(type(saved) is type(model), "load gives the saved model's own class", type(saved))
    _hold(saved.model.state_dict().keys() == model.model.state_dict().keys(), "load gives all weights", saved)
    said = model.export(folder / "exported")
    _hold(str(folder / "exported") in said, "export says where it has written", said)
    for name, ask in answers.items():
        before = _outcome(ask, model)
        if name == "predict" and model.spec.verb("predict") is not None:
            _hold(not isinstance(before, ValueError), f"predict answers {question}", before)
        for place in ("saved", "exported"):
            after = _outcome(ask, load(folder / place))
            same = type(after) is ValueError if isinstance(before, ValueError) else bool(after == before)
            _hold(same, f"{name} of the {place} model is that of the run", after)
    measured = _outcome(lambda each: each.evaluate(), saved)
    if not isinstance(measured, ValueError):  # of a model whose data may not be handed on
        _same(model.evaluate(), measured, "evaluate of the saved model")


def _check_pictures(model: Predictor, folder: Path) -> None:
    drawn = _outcome(lambda each: each.plot(folder), model)
    if isinstance(drawn, ValueError):
        return
    _hold(bool(drawn or drawn.missing), "plot draws, or says what is missing", drawn)
    for path in drawn:
        _hold(path.is_file() and path.stat().st_size > 0, "plot's files are there", path)


def check_resumed(model: Predictor, data: Any, chosen: dict[str, Any], folder: Path) -> None:
    """A training that is killed within an epoch, and goes on, equals the straight one."""
    assert model.run is not None
    task, out = model.task_name, folder / "stopped"
    often = {**chosen, "checkpoint_seconds": 0}
    try:
        train(task, data, out=out, reporter=_Killed(), **often)
    except _Kill:
        pass
    else:
        _hold(False, "a reporter is told of every batch", chosen)
    resumed = train(task, out=out, resume=True, reporter=False)
    for name in (LAST, BEST):
        straight, other = (read_tensors(each / name) for each in (model.run.folder, out))
        _hold(straight.keys() == other.keys(), f"{name} of a resumed run has the same tensors", sorted(other))
        for key, value in straight.items():
            _hold(torch.equal(value, other[key]), f"{name} of a resumed run is the straight one's", key)
    _same(model.evaluate(), resumed.evaluate(), "evaluate of a resumed run")


def _check_refusals(model: Predictor, data: Any, chosen: dict[str, Any], folder: Path) -> None:
    """What is not known is named, and nothing else is done."""
    nothing = folder / "nothing-of-the-kind"
    _refused(lambda: train(model.task_name, data, reporter=False, **{**chosen, "epoch": 3}), "'epochs'")
    _refused(lambda: train(model.task_name, nothing, reporter=False, **chosen), nothing.name)
    _refused(lambda: load(nothing), nothing.name)
    for name in VERBS:
        verb, places = model.spec.verb(name), [nothing] if name in ("plot", "export") else []
        call: Callable[..., Any] = getattr(model, name)
        if verb is None:
            _refused(call, "what works on it")
            continue
        for option in verb.model_fields:
            _refused(partial(call, *places, **{f"{option}_": 1}), repr(option))
    _hold(not nothing.exists(), "what is refused writes nothing", nothing)


class _Kill(Exception):  # noqa: N818 - what a killed process would be
    pass


class _Killed(Reporter):
    """Ends a training on the way, as a power cut would."""

    @contextmanager
    def running(self, total: int, done: int) -> Iterator[None]:
        self.left = total // 2 + 1 - done  # past the middle: not where an epoch ends, if it has several batches
        yield

    def advance(self, epoch: int, loss: float) -> None:
        self.left -= 1
        if self.left == 0:
            raise _Kill


def _vectors(model: Predictor) -> tuple[Any, ...]:
    table = model.vectors()
    return table.labels, table.names, table.values.tolist(), table.chart, table.K


def _outcome(ask: Callable[[Predictor], Any], model: Predictor) -> Any:
    """What a model answers, or the error that it is refused with, which says what is expected."""
    try:
        return ask(model)
    except ValueError as error:
        _hold("expected" in str(error), "a refusal says what is expected", error)
        return error


def _refused(call: Callable[[], Any], named: str) -> None:
    try:
        found = call()
    except ValueError as error:
        _hold(named in str(error), f"a refusal names {named}", error)
    else:
        _hold(False, f"what is not known is refused with {named}", found)


def _shared(figures: Any, record: Any) -> Iterator[tuple[str, float, float]]:
    """Numbers that two mappings have by the same names, at any depth."""
    if not (isinstance(figures, Mapping) and isinstance(record, Mapping)):
        return
    for name in figures.keys() & record.keys() - set(_TIMES):
        one, other = figures[name], record[name]
        if isinstance(one, (int, float)) and isinstance(other, (int, float)):
            yield name, one, other
        else:
            yield from ((f"{name}.{inner}", *rest) for inner, *rest in _shared(one, other))  # type: ignore[misc]


def _first_odd(pairs: list[tuple[str, float, float]]) -> tuple[str, float, float] | None:
    return next((row for row in pairs if row[1] != row[2] and not (math.isnan(row[1]) and math.isnan(row[2]))), None)


def _agree(pairs: list[tuple[str, float, float]]) -> bool:
    return _first_odd(pairs) is None


def _same(before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> None:
    _hold(before.keys() == after.keys(), f"{what} has the same figures", list(after))
    _hold(_agree([*_shared(before, after)]), f"{what} is the same", _first_odd([*_shared(before, after)]))


def _hold(true: bool, law: str, found: Any) -> None:
    if not true:
        raise AssertionError(f"{law}: found {found!s:.300}")
