"""The translation experiments: every system on every corpus, with the same budget of time."""

from __future__ import annotations

from collections.abc import Iterator

#: Systems with their learning rates; all else is the recipe's.
SYSTEMS = {"hybonet": 0.005, "euclidean": 0.003, "hatt": 0.003, "convolution": 0.003, "poincare": 0.003}
#: Corpus, direction, recipe, minutes of training on two cores, and whether two systems get a second seed.
CELLS = {
    "multi30k-64": ("multi30k", "en-de", "multi30k-64", 45, True),
    "multi30k-128": ("multi30k", "en-de", "multi30k-128", 45, True),
    "iwslt14-de-en-64": ("iwslt14", "de-en", "iwslt14-64", 60, False),
    "iwslt14-en-de-64": ("iwslt14", "en-de", "iwslt14-64", 60, False),
}


def trainings() -> Iterator[tuple[str, str, str, int, tuple[str, ...], tuple[str, ...], str]]:
    """Name, corpus, recipe, seeds, settings, options and a word on the time of each experiment."""
    for cell, (corpus, direction, recipe, minutes, twice) in CELLS.items():
        for system, rate in SYSTEMS.items():
            seeds = 2 if twice and system in ("hybonet", "euclidean") else 1
            changes = (f"model={system}", f"lr={rate}", f"minutes={minutes}")
            about = f"up to {minutes} minutes each on two cores"
            yield f"{cell}-{system}", corpus, recipe, seeds, changes, ("--direction", direction), about
