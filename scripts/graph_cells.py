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
#: Where the search for a system's settings starts: cross-entropy with a trained decoder, and its usual learning rate.
_OWN = {
    "lp": ("loss=cross_entropy", "learn_decoder=true", "max_grad_norm=none", "activation=none"),
    "nc": ("loss=cross_entropy", "max_grad_norm=none", "activation=none"),
}
#: The published code splits the nodes of these as ours does, so that one training stands for both protocols.
SAME_UNDER_BOTH = ("cora-nc", "disease-nc", "tree-nc")


def searched_as(cell: str) -> str:
    """The cell whose search gives the settings of this one: that of the same kind of graph."""
    return {"tree-nc": "disease-nc", "pubmed-lp": "cora-lp"}.get(cell, cell)


def systems(cell: str, *, searched_too: bool = True) -> list[tuple[str, tuple[str, ...], int]]:
    """Name, changes to the cell's recipe and number of seeds of every system."""
    found: list[tuple[str, tuple[str, ...], int]] = [("hybonet", (), HYBONET_SEEDS)]
    for model in ("hybonet-tangent", *BASELINES):
        changes: tuple[str, ...] = (f"model={model}",)
        if model in BASELINES:
            changes += ("lr=0.01", "layers=2", *_OWN[cell.rsplit("-", 1)[1]])
        if searched_too:
            changes += searched.chosen(f"{searched_as(cell)}-{model.lower()}")
        found.append((model.lower(), changes, BASELINE_SEEDS))
    return found
