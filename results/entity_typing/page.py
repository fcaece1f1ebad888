"""Entity typing: every system on equal data."""

from __future__ import annotations

import math
from statistics import mean, variance

from hybonet.reporting.run_report import markdown_table
from results.entity_typing.cells import EPOCHS, TRIALS
from results.figures import NOTHING, spread, values, worked_minutes
from results.store import records

#: What the experiments are called, and the paper's table (development data, total, coarse, fine, ultra-fine).
SYSTEMS: dict[str, tuple[str, str]] = {
    "typing-multitask": ("MultiTask", "31.0 / 61.0 / 39.0 / 14.0"),
    "typing-labelgcn": ("LabelGCN", "35.8 / 67.5 / 42.2 / 21.3"),
    "typing-hy": ("HY (Poincaré)", "36.3 / 68.1 / 38.9 / 21.2 (base)"),
    "typing-hybonet-tangent": ("Lorentz (tangent)", "37.2 / 68.0 / 40.3 / 22.4"),
    "typing-hybonet": ("**HyboNet**", "38.2 / 68.1 / 43.2 / 23.5"),
    "typing-paper-settings": ("HyboNet, the paper's settings", "38.2 / 68.1 / 43.2 / 23.5"),
}
LEVELS = ("total", "coarse", "fine", "ultra-fine")


def parts() -> dict[str, object]:
    """What page.md has in braces."""
    total, levels = [], []
    for name, (label, paper) in SYSTEMS.items():
        found = records(name)
        if not found:
            total.append([label, "not trained yet", *[NOTHING] * 6])
            continue
        sizes = [str(len(found)), f"{found[0]['parameters'] / 1e6:.2f}M"]
        splits = ("valid", "test", "valid_calibrated", "test_calibrated")
        figures = [spread(found, f"{split}.total.f1", 1, times=100) for split in splits]
        total.append([label, *sizes, *figures, f"{worked_minutes(found):.1f}"])
        for split, shown, beside in (("valid", "dev", paper), ("test", "test", NOTHING)):
            figures = [spread(found, f"{split}.{level}.f1", 1, times=100) for level in LEVELS]
            levels.append([label, shown, *figures, beside])
    header = ["system", "seeds", "parameters", "dev", "test", "dev, calibrated", "test, calibrated", "minutes"]
    return {
        "epochs": EPOCHS,
        "trials": TRIALS,
        "leaders": leaders(),
        "total": markdown_table(header, total),
        "levels": markdown_table(["system", "split", *LEVELS, "the paper, dev"], levels),
    }


def leaders() -> str:
    """Who is first on test, by either threshold, and by how much."""
    said = []
    for split, rule in (
        ("test", "by the usual rule, a threshold of one half"),
        ("test_calibrated", "calibrated on dev"),
    ):
        figures = {
            label.strip("*"): values(found, f"{split}.total.f1", times=100)
            for name, (label, _) in SYSTEMS.items()
            if name != "typing-paper-settings" and (found := records(name))
        }
        first, second = sorted(figures, key=lambda label: -mean(figures[label]))[:2]
        apart = mean(figures[first]) - mean(figures[second])
        error = math.sqrt(sum(variance(figures[label]) / len(figures[label]) for label in (first, second)))
        said.append(f"{first} {rule} ({apart:.1f} above {second}, {apart / error:.1f} standard errors)")
    return f"First on test: {'; '.join(said)}."
