"""Tables of probes."""

from __future__ import annotations

import itertools
import math
from statistics import variance

from hybonet.reporting.run_report import Spread, markdown_table
from hybonet.tasks.probing.report import MEASURES
from results import figures
from results.figures import NOTHING, spread
from results.probing.cells import CELLS, CONTROLS, OTHER_PROBES
from results.store import records
from results.translation.cells import STOPPED_EARLY

LABELS = {"hybonet": "HyboNet", "hatt": "HAtt", "euclidean": "Transformer"}
#: The Transformer that was stopped early, and all of them.
SHORT = STOPPED_EARLY[1]
ALL_LABELS = LABELS | {SHORT: f"Transformer after {STOPPED_EARLY[2]} epochs"}
_BOLD = ALL_LABELS | {"hybonet": "**HyboNet**"}
#: The paper's table: a parser's trees of IWSLT'14 text, translators trained on all of IWSLT'14.
PAPER = {"hybonet": (0.59, 0.70, 0.64, 0.92), "hatt": (0.50, 0.64, 0.49, 0.88), "euclidean": (0.36, 0.30, 0.12, 0.88)}
#: The translators that are probed.
[CELL] = CELLS


def parts() -> dict[str, str]:
    """What page.md has in braces."""
    paper = [
        [f"paper: {LABELS[system]}", NOTHING, NOTHING, *(f"{100 * each:.0f}" for each in measured)]
        for system, measured in PAPER.items()
    ]
    controls = [
        (f"{_BOLD[system]}, {control.replace('-', ' ')}", f"{system}-{short}")
        for system in LABELS
        for control, short in CONTROLS.items()
    ]
    others = [
        (f"{_BOLD[system]}, {probe} probe", f"{system}-by-{probe}") for system in LABELS for probe in OTHER_PROBES
    ]
    other_probes = rows(others)
    return {
        "cell": CELL,
        "main": table([*rows([(_BOLD[system], system) for system in ALL_LABELS]), chain(), *paper]),
        "order": "; ".join(f"{shown}: {ranked(measure)}" for measure, shown in MEASURES.items()),
        "learnt": ", ".join(f"{label} {perplexity(system):.1f}" for system, label in ALL_LABELS.items()),
        "equal_perplexity": at_equal_perplexity(),
        "controls": table(rows(controls)),
        "others": f"\nOther probes on the same states:\n\n{table(other_probes)}\n" if other_probes else "",
        "higher": higher_after_training(),
    }


def table(rows: list[list[str]]) -> str:
    return markdown_table(["encoder", "seeds", "layer", *MEASURES.values()], rows)


def rows(named: list[tuple[str, str]]) -> list[list[str]]:
    """The four measures of every experiment that has been run."""
    found = []
    for label, name in named:
        if of := records(f"probe-{CELL}-{name}"):
            layers = "/".join(str(record["best_layer"]) for record in of)
            found.append([label, str(len(of)), layers, *(spread(of, f"test.{each}", 1, 100) for each in MEASURES)])
    return found


def chain() -> list[str]:
    """The measures of the tree in which every word hangs on the one before it, on the same test sentences."""
    [record, *_] = records(f"probe-{CELL}-hybonet")
    return ["chain", NOTHING, NOTHING, *(spread([record], f"chain.test.{each}", 1, 100) for each in MEASURES)]


def values(system: str, measure: str) -> list[float]:
    """Of a system's seeds, per cent."""
    return figures.values(records(f"probe-{CELL}-{system}"), f"test.{measure}", 100)


def mean(system: str, measure: str) -> float:
    return Spread.of(values(system, measure)).mean


def perplexity(system: str) -> float:
    """How well a translator has learnt."""
    return records(f"{CELL}-{system}")[0]["valid"]["perplexity"]


def ranked(measure: str) -> str:
    """The systems by one measure, the best first."""
    order = sorted(ALL_LABELS, key=lambda system: -mean(system, measure))
    text = ALL_LABELS[order[0]]
    for before, after in itertools.pairwise(order):
        samples = values(before, measure), values(after, measure)
        error = math.sqrt(sum(variance(sample) / len(sample) for sample in samples if len(sample) > 1))
        apart = mean(before, measure) - mean(after, measure)
        text += f" {'>' if apart > 2 * error else '≈'} {ALL_LABELS[after]}"
    return text


def at_equal_perplexity() -> str:
    """What a Transformer that had learnt as much as another system would hold, by the line through the two."""
    learnt = {system: math.log(perplexity(system)) for system in ALL_LABELS}
    told = []
    for other in ("hatt", "hybonet"):
        share = (learnt[other] - learnt["euclidean"]) / (learnt[SHORT] - learnt["euclidean"])
        said = []
        for measure, shown in MEASURES.items():
            one, two, own = (mean(system, measure) for system in ("euclidean", SHORT, other))
            said.append(f"{shown} {own:.1f} against {one + share * (two - one):.1f}")
        told.append(f"{LABELS[other]}'s {', '.join(said)}")
    return "; ".join(told)


def higher_after_training() -> str:
    """The measures that training has raised by more than the seeds differ, or half a point, for every encoder."""
    said = []
    for system, label in LABELS.items():
        random = f"{system}-{CONTROLS['random-weights']}"
        higher = []
        for measure, shown in MEASURES.items():
            trained = Spread.of(values(system, measure))
            if trained.mean > mean(random, measure) + max(2 * (trained.deviation or 0.0), 0.5):
                higher.append(shown)
        said.append(f"{label}: {', '.join(higher) or 'none'}")
    return "; ".join(said)
