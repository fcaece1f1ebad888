"""The knowledge-graph models that are compared: what is searched for each, and how long each trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import searched

MODELS = (
    "hybonet", "hybonet-tangent", "TransE", "DistMult", "ComplEx", "ConvE", "RotatE", "TuckER", "MuRE", "MuRP", "RotH",
    "AttH",
)  # fmt: skip

#: Customary rates, where none has been searched for; HyboNet has the recipes'.
_CUSTOMARY = {
    "TransE": 0.01, "DistMult": 0.01, "ComplEx": 0.01, "ConvE": 0.003, "RotatE": 0.01, "TuckER": 0.003, "MuRE": 0.01,
    "MuRP": 0.005, "RotH": 0.005, "AttH": 0.005, "hybonet-tangent": 0.01,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One column of the table: data, recipe, the rates that are tried, how long models train."""

    data: str
    recipe: str
    seeds: int
    rates: tuple[float, ...]
    about: str
    #: How many epochs of each model fit into twenty minutes of one core; none: as many as the recipe has.
    epochs: dict[str, int] | None = None


#: Trials of a rate are as much shorter than the training it is searched for.
SHORTER = 20
_FEW_RATES = (0.003, 0.01, 0.03)
_RATES = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2)
_TWENTY_MINUTES = "twenty minutes on one core"
CELLS = {
    "twenty-wn18rr": Cell(
        "WN18RR",
        "comparison",
        1,
        _FEW_RATES,
        _TWENTY_MINUTES,
        {
            "hybonet": 170, "hybonet-tangent": 150, "TransE": 80, "DistMult": 220, "ComplEx": 220, "ConvE": 130,
            "RotatE": 45, "TuckER": 150, "MuRE": 200, "MuRP": 45, "RotH": 50, "AttH": 55,
        },
    ),
    "twenty-fb15k-237": Cell(
        "FB15k-237",
        "comparison",
        1,
        _FEW_RATES,
        _TWENTY_MINUTES,
        {
            "hybonet": 55, "hybonet-tangent": 50, "TransE": 32, "DistMult": 90, "ComplEx": 90, "ConvE": 34,
            "RotatE": 14, "TuckER": 55, "MuRE": 90, "MuRP": 16, "RotH": 16, "AttH": 19,
        },
    ),
    "umls": Cell("UMLS", "default", 5, _RATES, "two minutes in all"),
    "nations": Cell("Nations", "default", 5, _RATES, "a minute in all"),
}  # fmt: skip


def trainings() -> Iterator[tuple[str, Cell, tuple[str, ...]]]:
    """Name, cell and changes to the cell's recipe of every model's training, with the rate that was found, if any."""
    for name, cell in CELLS.items():
        for model in MODELS:
            own = f"{name}-{model.lower()}"
            usual = (f"lr={_CUSTOMARY[model]}",) if model in _CUSTOMARY else ()
            yield own, cell, (f"model={model}", *(searched.chosen(own) or usual), *_length(cell, model, 1))


def searches() -> Iterator[tuple[str, Cell, tuple[str, ...]]]:
    """The same for the searches, whose trials are shorter where trainings are long."""
    for name, cell in CELLS.items():
        for model in MODELS:
            yield f"{name}-{model.lower()}", cell, (f"model={model}", *_length(cell, model, SHORTER))


def are_searched(*cells: str) -> bool:
    """Whether the rates of all models have been searched for."""
    return all(searched.chosen(f"{cell}-{model.lower()}") for cell in cells for model in MODELS)


def at_the_largest(*cells: str) -> tuple[int, int]:
    """How many searches found the largest rate that was tried the best, of how many."""
    found = [
        searched.chosen(f"{cell}-{model.lower()}") == (f"lr={max(CELLS[cell].rates)}",)
        for cell in cells
        for model in MODELS
    ]
    return sum(found), len(found)


def _length(cell: Cell, model: str, shorter: int) -> tuple[str, ...]:
    if cell.epochs is None:
        return ()
    epochs = max(2, round(cell.epochs[model] / shorter))
    return f"epochs={epochs}", f"validate_every={max(1, epochs // 10) if shorter == 1 else epochs}"
