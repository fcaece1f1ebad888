"""Write docs/results/probing.md from the stored records; nothing in its tables is typed by hand.

python scripts/probe_results.py
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from statistics import variance

import probe_cells
import translation_cells
from hybonet.reporting.run_report import Spread, markdown_table
from hybonet.tasks.probing.report import MEASURES
from stored_records import of_experiment

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/results/probing.md"

LABELS = {"hybonet": "**HyboNet**", "hatt": "HAtt", "euclidean": "Transformer"}
#: With the Transformer that was stopped early.
ALL_LABELS = LABELS | {translation_cells.SHORT[1]: f"Transformer after {translation_cells.SHORT[2]} epochs"}
#: The paper's table: a parser's trees of IWSLT'14 text, translators trained on all of IWSLT'14.
PAPER = {"hybonet": (0.59, 0.70, 0.64, 0.92), "hatt": (0.50, 0.64, 0.49, 0.88), "euclidean": (0.36, 0.30, 0.12, 0.88)}
INTRODUCTION = """
# Dependency-tree probing: results

Made by `python scripts/probe_results.py` from run records; do not edit. Each record ([records](records/probe)) holds settings, seed, commit,
versions, data checksums, protocol and time; all come from `python scripts/reproduce.py 'probe-*' --threads 1`, after the translators
([their results](translation.md)).

Encoders are those of English-German translators, 64 coordinates and 3 layers, trained on equal pairs for about equal time; the trees are the gold ones
of UD English-EWT. Every layer is probed, for 6 epochs (half of the recipe's); the layer and the epoch are chosen on dev (column "layer": what each seed chose), and the figures
are on test. Mean ± standard deviation over seeds of the probe, all on one and the same translator: how much another translator of the same kind would differ is not in it.
`chain` is the tree in which every word hangs on the one before it, which needs no encoder. The paper's figures are of other text (a parser's trees of IWSLT'14 sentences)
and of translators trained on all of IWSLT'14, three times these pairs: they stand beside for their order, not their size. Steps are larger here than the paper's (a rate of .005, not
.00005, for fewer of them); its own settings, recipes `paper-probe…`, have not been run.

The states of every layer are brought to one mean length first (`state_length`): in the Transformer and HAtt those of inner layers are up to ten times as long as those of the last,
and Lorentz probes do not learn from long states.
"""


def row(label: str, name: str) -> list[str] | None:
    """The four measures of one experiment, None if it has not been run."""
    found = of_experiment("probe", name)
    if not found:
        return None
    layers = "/".join(str(record["best_layer"]) for record in found)
    figures = (Spread.of([100 * record["test"][measure] for record in found]).text(1) for measure in MEASURES)
    return [label, str(len(found)), layers, *figures]


def chain(cell: str) -> list[str]:
    """The measures of the tree in which every word hangs on the one before it, on the same test sentences."""
    records = (record for system in LABELS for record in of_experiment("probe", f"probe-{cell}-{system}"))
    scores = next(records)["chain"]["test"]
    return ["chain", "–", "–", *(f"{100 * scores[measure]:.1f}" for measure in MEASURES)]


def table(cell: str, rows: list[tuple[str, str]], *, paper: bool = False) -> str:
    """Rows of the experiments that were run, with the paper's below."""
    found = [found for label, name in rows if (found := row(label, f"probe-{cell}-{name}")) is not None]
    if found and paper:
        found.append(chain(cell))
        found += [
            [f"paper: {LABELS[system].strip('*')}", "–", "–", *(f"{100 * each:.0f}" for each in figures)]
            for system, figures in PAPER.items()
        ]
    return markdown_table(["encoder", "seeds", "layer", *MEASURES.values()], found) if found else ""


def order(cell: str) -> str:
    """The systems from the most of the tree to the least, measure by measure, beside how well their translators had learnt."""
    systems = {
        system: label.strip("*")
        for system, label in ALL_LABELS.items()
        if of_experiment("probe", f"probe-{cell}-{system}") and of_experiment("translation", f"{cell}-{system}")
    }
    if not systems:
        return ""
    ranked = "; ".join(f"{shown}: {_ranked(cell, systems, measure)}" for measure, shown in MEASURES.items())
    learnt = ", ".join(
        f"{label} {of_experiment('translation', f'{cell}-{system}')[0]['valid']['perplexity']:.1f}"
        for system, label in systems.items()
    )
    return (
        f"**The order** (the paper's is HyboNet, HAtt, Transformer; ≈: apart by less than two standard errors of the seeds): {ranked}. "
        f"Perplexity of the translators on their validation pairs: {learnt}."
    )


def at_equal_perplexity(cell: str) -> str:
    """What a Transformer that had learnt as much as another system would hold, by the line through the two there are."""
    short = translation_cells.SHORT[1]
    if not all(of_experiment("probe", f"probe-{cell}-{system}") for system in (*LABELS, short)):
        return ""
    learnt = {
        system: math.log(of_experiment("translation", f"{cell}-{system}")[0]["valid"]["perplexity"])
        for system in (*LABELS, short)
    }
    told = []
    for other in ("hatt", "hybonet"):
        share = (learnt[other] - learnt["euclidean"]) / (learnt[short] - learnt["euclidean"])
        figures = []
        for measure, shown in MEASURES.items():
            one, two, own = (mean(f"probe-{cell}-{system}", measure) for system in ("euclidean", short, other))
            figures.append(f"{shown} {own:.1f} against {one + share * (two - one):.1f}")
        told.append(f"{LABELS[other].strip('*')}'s {', '.join(figures)}")
    return (
        "**How much of it is what the translators have learnt?** In equal time HAtt's learns least and HyboNet's most, and what an encoder holds of the "
        "syntax goes with it, as the Transformer stopped early shows. Against the line through the two Transformers (by the logarithm of perplexity, drawn out to HyboNet's): "
        f"{'; '.join(told)}."
    )


def _ranked(cell: str, systems: dict[str, str], measure: str) -> str:
    """The systems by one measure, the best first."""
    ranked = sorted(systems, key=lambda system: -mean(f"probe-{cell}-{system}", measure))
    text = systems[ranked[0]]
    for before, after in itertools.pairwise(ranked):
        first, second = (_values(f"probe-{cell}-{system}", measure) for system in (before, after))
        error = math.sqrt(sum(variance(values) / len(values) for values in (first, second) if len(values) > 1))
        apart = sum(first) / len(first) - sum(second) / len(second)
        text += f" {'>' if apart > 2 * error else '≈'} {systems[after]}"
    return text


def _values(name: str, measure: str) -> list[float]:
    return [100 * record["test"][measure] for record in of_experiment("probe", name)]


def mean(name: str, measure: str) -> float:
    """Of one experiment's seeds, per cent."""
    return Spread.of(_values(name, measure)).mean


def is_higher(name: str, other: str, measure: str) -> bool:
    """By more than the seeds differ, or half a point."""
    deviation = Spread.of(_values(name, measure)).deviation
    return mean(name, measure) > mean(other, measure) + max(2 * (deviation or 0.0), 0.5)


def verdict(cell: str) -> str:
    """How many measures training has raised, for every encoder with a control."""
    said = []
    for system, label in LABELS.items():
        trained, random = f"probe-{cell}-{system}", f"probe-{cell}-{system}-{probe_cells.CONTROLS['random-weights']}"
        if of_experiment("probe", trained) and of_experiment("probe", random):
            higher = [shown for measure, shown in MEASURES.items() if is_higher(trained, random, measure)]
            said.append(f"{label.strip('*')}: {', '.join(higher) or 'none'}")
    if not said:
        return ""
    return (
        f"**Measures that are higher after training than before it: {'; '.join(said)}.** Where a measure is not, the probe found its figure by the words "
        "alone, and the order of the systems says nothing about what translation has taught them. The untrained encoders of HAtt and the Transformer may have the same figures: "
        "at layer 0 both are the same table of words, drawn by the same seed."
    )


def page() -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION.strip()]
    for cell in probe_cells.CELLS:
        main = table(cell, [(label, system) for system, label in ALL_LABELS.items()], paper=True)
        if not main:
            continue
        controls = [
            (f"{label}, {control.replace('-', ' ')}", f"{system}-{short}")
            for system, label in LABELS.items()
            for control, short in probe_cells.CONTROLS.items()
        ]
        others = [
            (f"{label}, {probe} probe", f"{system}-by-{probe}")
            for system, label in LABELS.items()
            for probe in ("poincare", "euclidean")
        ]
        parts += [f"## Translators {cell}", "Lorentz probes, per cent:", main, order(cell), at_equal_perplexity(cell)]
        for about, rows in (
            ("What the probe can do by itself (`random weights`: an untrained encoder of the same make):", controls),
            ("Other probes on the same states:", others),
        ):
            if found := table(cell, rows):
                parts += [about, found]
        parts.append(verdict(cell))
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
