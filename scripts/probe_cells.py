"""The probing experiments: translators of the translation experiments on UD English-EWT, controls, other probes."""

from __future__ import annotations

from collections.abc import Iterator

import translation_cells

TREES = "UD_English-EWT"
#: Translation experiments from English, whose encoders are probed, and the systems compared. (Captions are too simple:
#: encoders of Multi30k held less of the syntax of web text than the chain of words does.)
CELLS = ("iwslt14-en-de-64",)
SYSTEMS = ("hybonet", "hatt", "euclidean")
#: Half of the recipe's epochs.
SHORT = ("epochs=6",)
#: What the probe can do without what the encoder has learnt.
CONTROLS = {"random-weights": "random", "shuffled-labels": "shuffled"}
#: Recipes with the paper's own settings for each system's states.
PAPER = {"hybonet": "paper-probe", "hatt": "paper-probe-hatt", "euclidean": "paper-probe-euclid"}


def probings() -> Iterator[tuple[str, str, str, int, tuple[str, ...], str, str]]:
    """Name, treebank, recipe, seeds, settings, the run that is probed and a word on the time of each experiment."""
    minutes = "about three minutes each on one core, after the translator's training"
    for cell in CELLS:
        for system in SYSTEMS:
            encoder = f"{cell}-{system}-seed0"
            name = f"probe-{cell}-{system}"
            yield name, TREES, "probe", 3, SHORT, encoder, minutes
            for control, short in CONTROLS.items():
                yield f"{name}-{short}", TREES, "probe", 1, (*SHORT, f"control={control}"), encoder, minutes
            for probe in ("poincare", "euclidean"):
                yield f"{name}-by-{probe}", TREES, "probe", 1, (*SHORT, f"probe={probe}"), encoder, minutes
            yield f"{name}-paper", TREES, PAPER[system], 1, (), encoder, "about twenty minutes on one core"
    cell, system, _ = translation_cells.SHORT
    yield f"probe-{cell}-{system}", TREES, "probe", 1, SHORT, f"{cell}-{system}-seed0", minutes
