"""Does hyperbolic help here? A trained model beside its Euclidean twin, with how much of a tree the data are."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hybonet.metrics.hyperbolicity import hyperbolicity
from hybonet.tasks.auto import EVEN, Say, differences
from hybonet.tasks.base import TaskSpec
from hybonet.tasks.run_folder import RACE
from hybonet.training import FitResult, Reporter, Task, TerminalReporter
from hybonet.training.ranges import with_values
from hybonet.training.trial import run_trial


def compare(
    folder: Path,
    spec: TaskSpec,
    task: Task,
    data: Any,
    result: FitResult,
    *,
    resume_command: str = "",
    say: Say | None = None,
) -> dict[str, Any]:
    """Train the Euclidean twin of a trained model, of equal size and settings, and say what either is worth.

    Args:
        folder: of the run; the twin trains in ``race/twin``.
        task, result: of the training that it is compared with.
        data: that it was trained on.
    """
    settings = with_values(task.settings, spec.implementation.twin(task.settings))

    def reporter(task: Task) -> Reporter:
        if say is None:
            return Reporter()
        return TerminalReporter(settings.epochs, echo=say, title="Euclidean twin", with_validations=False)

    place = folder / RACE / "twin"
    outcome = run_trial(
        place,
        lambda: spec.implementation.task(settings, data),
        name="the Euclidean twin",
        resume_command=resume_command,
        reporter=reporter,
    )
    if outcome.figure is None:
        raise ValueError(f"the Euclidean twin cannot be trained: {outcome.reason}; leave --compare out")
    twin = spec.implementation.task(settings, data).build_model()
    found: dict[str, Any] = {
        "changes": differences(task.settings, settings),
        "monitor": task.monitor,
        "figure": result.best[task.monitor],
        "twin": outcome.figure,
        "parameters": sum(each.numel() for each in result.model.parameters()),
        "twin_parameters": sum(each.numel() for each in twin.parameters()),
        "seconds": outcome.seconds,
    }
    if guess := spec.part("guess"):
        found["guess"] = guess(task)[0]
    if edges := spec.part("edges_of"):
        delta = hyperbolicity(*edges(task))
        found["delta"] = {
            "delta": delta.delta, "diameter": delta.diameter, "relative": delta.relative, "exact": delta.exact,
            "meaning": delta.meaning(),
        }  # fmt: skip
    shutil.rmtree(folder / RACE, ignore_errors=True)
    return found


def comparison(found: Mapping[str, Any], *, higher_is_better: bool = True) -> Iterator[str]:
    """What a comparison says, in plain words."""
    ahead = (found["figure"] - found["twin"]) * (1 if higher_is_better else -1)
    model = found["changes"].get("model", "flat")
    figures = f"validation {found['monitor']} {found['figure']:.4f}, Euclidean ({model}) {found['twin']:.4f}"
    if abs(ahead) < EVEN * abs(found["twin"]):
        verdict = "no difference that one seed can show"
    else:
        verdict = f"{'hyperbolic' if ahead > 0 else 'Euclidean'} is better by {abs(ahead):.4f}"
    yield f"Does hyperbolic help here? {verdict}: {figures}"
    yield f"  parameters: {found['parameters']:,}, of the twin {found['twin_parameters']:,}"
    sign = 1 if higher_is_better else -1
    if "guess" in found and sign * (found["twin"] - found["guess"]) <= 0:
        guess = f"{found['guess']:.3f}"
        yield f"  the twin is no better than guessing ({guess}): its layers fail here, which says little of space"
    if delta := found.get("delta"):
        kind = "" if delta["exact"] else " or more"
        yield f"  Gromov's delta {delta['delta']:g}{kind}, diameter {delta['diameter']}: {delta['meaning']}"
