"""The probing experiments: translators of the translation experiments on UD English-EWT, controls, other probes."""

from __future__ import annotations

from results.cells import Training
from results.translation.cells import STOPPED_EARLY

TREES = "UD_English-EWT"
#: Translation experiments from English, whose encoders are probed, and the systems compared. (Captions are too simple:
#: encoders of Multi30k held less of the syntax of web text than the chain of words does.)
CELLS = ("iwslt14-en-de-64",)
#: What the probe can do without what the encoder has learnt.
CONTROLS = {"random-weights": "random", "shuffled-labels": "shuffled"}
OTHER_PROBES = ("poincare", "euclidean")
#: The systems, each with the recipe of the paper's own settings for its states.
SYSTEMS = {"hybonet": "paper-probe", "hatt": "paper-probe-hatt", "euclidean": "paper-probe-euclid"}
#: Half of the recipe's epochs.
_SHORT = ("epochs=6",)


def trainings() -> dict[str, Training]:
    """Every probing by name."""
    found = {}

    def add(name: str, encoder: str, seeds: int = 1, *changes: str) -> None:
        about = "about three minutes each on one core, after the translator's training"
        cell = next(cell for cell in CELLS if encoder.startswith(cell))
        found[name] = Training(
            "probe", cell, TREES, "probe", seeds, (*_SHORT, *changes), about, encoder=f"{encoder}-seed0"
        )

    for cell in CELLS:
        for system, recipe in SYSTEMS.items():
            encoder = f"{cell}-{system}"
            name = f"probe-{encoder}"
            add(name, encoder, 3)
            for control, short in CONTROLS.items():
                add(f"{name}-{short}", encoder, 1, f"control={control}")
            for probe in OTHER_PROBES:
                add(f"{name}-by-{probe}", encoder, 1, f"probe={probe}")
            about = "about twenty minutes on one core"
            found[f"{name}-paper"] = Training("probe", cell, TREES, recipe, about=about, encoder=f"{encoder}-seed0")
    cell, system, _ = STOPPED_EARLY
    add(f"probe-{cell}-{system}", f"{cell}-{system}")
    return found
