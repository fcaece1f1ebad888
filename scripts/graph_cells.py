"""The cells of the graph table: data, recipe, and the systems that are compared in each."""

from __future__ import annotations

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
#: What suits the baselines: cross-entropy with a trained decoder, and their own usual learning rate.
_OWN = {
    "lp": ("loss=cross_entropy", "learn_decoder=true", "max_grad_norm=none", "activation=none"),
    "nc": ("loss=cross_entropy", "max_grad_norm=none", "activation=none"),
}


def systems(cell: str) -> list[tuple[str, tuple[str, ...], int]]:
    """Name, changes to the cell's recipe and number of seeds of every system."""
    found: list[tuple[str, tuple[str, ...], int]] = [("hybonet", (), HYBONET_SEEDS)]
    found.append(("hybonet-tangent", ("model=hybonet-tangent",), BASELINE_SEEDS))
    for model in BASELINES:
        changes = (f"model={model}", "lr=0.01", "layers=2", *_OWN[cell.rsplit("-", 1)[1]])
        found.append((model.lower(), changes, BASELINE_SEEDS))
    return found
