"""Everything that can be run, by name."""

from __future__ import annotations

from functools import partial

from results.cells import Cell, Trial
from results.cold_start import cells as cold_start
from results.entity_typing import cells as entity_typing
from results.graphs import cells as graphs
from results.knowledge_graphs import cells as knowledge_graphs
from results.probing import cells as probing
from results.translation import cells as translation
from results.trials import grid, kill, leak


def experiments() -> dict[str, Cell]:
    """What `run` knows: trainings of every task, and trials."""
    trials = {
        "kill-kg": Trial(partial(kill.trial, "kg", 50), "a quarter of an hour"),
        "kill-translation": Trial(partial(kill.trial, "translation", 20), "half an hour"),
        "leak-wordnet": Trial(partial(leak.trial, "wordnet", 3), "ten minutes"),
        "leak-WN18RR": Trial(partial(leak.trial, "WN18RR", 1), "an hour on one core"),
        "grid-disease": Trial(grid.trial, "an hour on one core"),
    }
    tasks = (knowledge_graphs, graphs, translation, probing, entity_typing, cold_start)
    found = {name: training for task in tasks for name, training in task.trainings().items()}
    return {**found, **trials}


def searches() -> dict[str, Cell]:
    """What `search` knows."""
    return {**knowledge_graphs.searches(), **graphs.searches(), **entity_typing.searches()}
