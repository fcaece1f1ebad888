"""`LorentzGraphConv` against PyTorch Geometric's `GCNConv`: a training step on a small and on a large graph."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from benchmarks.timing import Job, Ratio, lower_is_better, medians
from hybonet import Lorentz
from hybonet.kernels.sparse_product import compressed
from hybonet.nn import LorentzGraphConv

#: name: nodes, undirected edges, coordinates in and out, whether the input is trained, repeats
GRAPHS = {
    "Cora-sized: 2,708 nodes, 5,278 edges, 1433→16": (2_708, 5_278, 1433, 16, False, 40),
    "100,000 nodes, 1,000,000 edges, 64→64": (100_000, 500_000, 64, 64, True, 7),
}
BOUND = 1.5


def run() -> list[Ratio]:
    rows = []
    for name, (nodes, edges, width, out, trained, repeats) in GRAPHS.items():
        torch.manual_seed(0)
        ends = torch.randint(nodes, (2, edges))
        edge_index = torch.cat((ends, ends.flip(0)), dim=1)
        adj_t = compressed(edge_index[1], edge_index[0], torch.ones(2 * edges), (nodes, nodes))
        x = torch.randn(nodes, width).requires_grad_(trained)
        points = Lorentz().random_normal(nodes, width, std=width**-0.5).requires_grad_(trained)
        gradient = torch.randn(nodes, out)
        jobs: dict[str, Job] = {}
        for form, graph in (("edge_index", edge_index), ("CSR adj_t", adj_t)):
            for cached in (False, True):
                case = f"{form}, cached" if cached else form
                jobs[f"gcn {case}"] = _step(GCNConv(width, out, cached=cached), x, graph, gradient)
                jobs[f"ours {case}"] = _step(LorentzGraphConv(width, out, cached=cached), points, graph, gradient)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the peer's remarks on sparse tensors
            t = medians(jobs, repeats=repeats, warmup=1)
        for case in ("edge_index", "edge_index, cached", "CSR adj_t", "CSR adj_t, cached"):
            ours, peer = t[f"ours {case}"], t[f"gcn {case}"]
            rows.append(lower_is_better("LorentzGraphConv / GCNConv", f"{name}, {case}", ours, peer, BOUND))
    return rows


def _step(layer: nn.Module, x: Tensor, graph: Tensor, gradient: Tensor) -> Job:
    """Forward and backward: gradients of the parameters, and of the input if it is trained."""
    parameters = list(layer.parameters())

    def job() -> None:
        x.grad = None
        for parameter in parameters:
            parameter.grad = None
        layer(x, graph).backward(gradient)

    return job
