"""Write docs/results/entity-typing.md from the stored records; nothing in its tables is typed by hand.

python scripts/typing_results.py
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import mean, variance
from typing import Any

import searches
from hybonet.reporting.run_report import Spread, markdown_table
from stored_records import of_experiment, worked_seconds

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/results/entity-typing.md"

#: The paper's table (development data, total, coarse, fine, ultra-fine) and what the experiments are called.
SYSTEMS: dict[str, tuple[str, str]] = {
    "typing-multitask": ("MultiTask", "31.0 / 61.0 / 39.0 / 14.0"),
    "typing-labelgcn": ("LabelGCN", "35.8 / 67.5 / 42.2 / 21.3"),
    "typing-hy": ("HY (Poincaré)", "36.3 / 68.1 / 38.9 / 21.2 (base)"),
    "typing-hybonet-tangent": ("Lorentz (tangent)", "37.2 / 68.0 / 40.3 / 22.4"),
    "typing-hybonet": ("**HyboNet**", "38.2 / 68.1 / 43.2 / 23.5"),
    "typing-paper-settings": ("HyboNet, the paper's settings", "38.2 / 68.1 / 43.2 / 23.5"),
}
LEVELS = ("total", "coarse", "fine", "ultra-fine")
INTRODUCTION = """
# Entity typing: results

Made by `python scripts/typing_results.py` from run records; do not edit. Each record ([records](records/typing)) holds settings, seed,
commit, versions, data checksums, protocol and time. The data are the crowd-sourced examples of the Open Entity data (1,998 each for train,
dev and test; 10,331 types) and GloVe of 100 numbers. **The paper's figures had six million distantly supervised examples more and Poincaré
GloVe**: they stand beside to be read, not to be compared with. Systems are compared with each other, on equal data, with about equally many
parameters, by the same loop, {epochs} epochs each. **Each system, HyboNet included, has the best of {trials} trials on dev** of learning rate,
weight of types that hold, and three dropouts, for the others also of the length of word vectors (`python scripts/searches.py 'typing-*'`,
[stored](records/searches)). The first trial is the recipe `typing`, but for the tangent-space variant, which starts with longer word vectors and more weight on types that hold, and has a range
to match: from the recipe it hardly learns. **For HyboNet the first trial was the best**: its settings, its form (blocks that add to their input, a feed-forward block behind the merging) and
the batch size had been chosen by hand on dev, in about thirty tries that were not kept; the other systems had about five such tries each.

{leaders} Macro F1 in per cent, mean ±
standard deviation over seeds; a type is predicted if its probability is above one half, and the likeliest always; "calibrated" has the threshold
with the best F1 on dev instead. The epoch is chosen on dev, so dev figures are a little high for all. Minutes were taken on one shared, busy core.
The paper's settings are for its millions of examples: batches of 900 of these two thousand are three steps an epoch, 180 in all.
"""


def percent(records: list[dict[str, Any]], split: str, level: str) -> str:
    """Mean and spread of F1 over records."""
    return Spread.of([100 * record[split][level]["f1"] for record in records]).text(1)


def leaders() -> str:
    """Who is first on test, by either threshold, and by how much."""
    said = []
    for split, rule in (
        ("test", "by the usual rule, a threshold of one half"),
        ("test_calibrated", "calibrated on dev"),
    ):
        figures = {
            label.strip("*"): [100 * record[split]["total"]["f1"] for record in records]
            for name, (label, _) in SYSTEMS.items()
            if name != "typing-paper-settings" and (records := of_experiment("typing", name))
        }
        first, second = sorted(figures, key=lambda label: -mean(figures[label]))[:2]
        apart = mean(figures[first]) - mean(figures[second])
        error = math.sqrt(sum(variance(figures[label]) / len(figures[label]) for label in (first, second)))
        said.append(f"{first} {rule} ({apart:.1f} above {second}, {apart / error:.1f} standard errors)")
    return f"First on test: {'; '.join(said)}."


def page() -> str:
    """The whole page as Markdown."""
    main, levels = [], []
    for name, (label, paper) in SYSTEMS.items():
        records = of_experiment("typing", name)
        if not records:
            main.append([label, "not trained yet", "–", "–", "–", "–", "–", "–"])
            continue
        minutes = Spread.of([worked_seconds(record) / 60 for record in records])
        figures = [
            percent(records, split, "total") for split in ("valid", "test", "valid_calibrated", "test_calibrated")
        ]
        sizes = [str(len(records)), f"{records[0]['parameters'] / 1e6:.2f}M"]
        main.append([label, *sizes, *figures, f"{minutes.mean:.1f}"])
        for split, shown in (("valid", "dev"), ("test", "test")):
            levels.append(
                [
                    label,
                    shown,
                    *(percent(records, split, level) for level in LEVELS),
                    paper if split == "valid" else "–",
                ]
            )
    header = ["system", "seeds", "parameters", "dev", "test", "dev, calibrated", "test, calibrated", "minutes"]
    introduction = INTRODUCTION.format(trials=searches.TYPING_TRIALS, epochs=searches.TYPING_EPOCHS, leaders=leaders())
    parts = [introduction, "## Total macro F1", markdown_table(header, main)]
    if levels:
        parts += ["## By level", markdown_table(["system", "split", *LEVELS, "the paper, dev"], levels)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
