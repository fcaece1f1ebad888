"""The cells of the graph table: data, recipe, and the systems that are compared in each."""

from __future__ import annotations

import searched

#: Data and recipe of every cell that the data at hand allows.
CELLS = {
    "disease-lp": ("disease_lp", "disease-lp"),
    "disease-nc": ("disease_lp", "disease-nc"),
    "tree-nc": ("disease-small", "disease-nc"),
    "airport-lp": ("airport", "airport-lp"),
    "airport-nc": ("airport", "airport-nc"),
    "cora-lp": ("cora", "cora-lp"),
    "cora-nc": ("cora", "cora-nc"),
    "pubmed-lp": ("pubmed", "pubmed-lp"),
}
#: The systems HyboNet is compared with.
BASELINES = ("GCN", "GAT", "SAGE", "SGC", "HGCN", "HAT", "LGCN", "MLP")
HYBONET_SEEDS, BASELINE_SEEDS = 10, 3
#: HyboNet with settings that were not chosen by hand, but searched as those of the others; its search starts without
#: the weight decay and dropout that were found by hand, while the others' start with them.
SEARCHED = "hybonet-searched"
#: Where the search for a system's settings starts: cross-entropy with a trained decoder, two layers, a usual rate.
_START = {
    "lp": ("lr=0.01", "layers=2", "loss=cross_entropy", "learn_decoder=true", "max_grad_norm=none"),
    "nc": ("lr=0.01", "layers=2", "loss=cross_entropy", "max_grad_norm=none"),
}
#: The published code splits the nodes of these as ours does, so that one training stands for both protocols.
SAME_UNDER_BOTH = ("cora-nc", "disease-nc", "tree-nc")


def searched_as(cell: str) -> str:
    """The cell whose search gives the settings of this one: that of the same kind of graph."""
    return {"tree-nc": "disease-nc", "pubmed-lp": "cora-lp"}.get(cell, cell)


def systems(cell: str, *, searched_too: bool = True) -> list[tuple[str, tuple[str, ...], int]]:
    """Name, changes to the cell's recipe and number of seeds of every system."""
    found: list[tuple[str, tuple[str, ...], int]] = [("hybonet", (), HYBONET_SEEDS)]
    start = _START[cell.rsplit("-", 1)[1]]
    starts = {SEARCHED: (*start, "weight_decay=0", "dropout=0"), "hybonet-tangent": ("model=hybonet-tangent",)}
    starts |= {model: (f"model={model}", *start, "activation=none") for model in BASELINES}
    for name, changes in starts.items():
        if searched_too:
            changes += searched.chosen(f"{searched_as(cell)}-{name.lower()}")
        found.append((name.lower(), changes, HYBONET_SEEDS if name == SEARCHED else BASELINE_SEEDS))
    return found
