"""`LorentzLinear` against `nn.Linear` and HypLL's Poincaré linear layer: forward and backward, batch 4096."""

from __future__ import annotations

import torch

from benchmarks.timing import Ratio, lower_is_better, medians, times_faster, training_step
from hybonet import Lorentz
from hybonet.nn import LorentzLinear

BATCH = 4096
TARGETS = {64: 1.1, 512: 1.1}


def run() -> list[Ratio]:
    rows = []
    for size, bound in TARGETS.items():
        torch.manual_seed(0)
        euclidean, lorentz = torch.nn.Linear(size, size), LorentzLinear(size, size)
        x = torch.randn(BATCH, size, requires_grad=True)
        points = Lorentz().random_normal(BATCH, size, std=size**-0.5).requires_grad_()
        gradient = torch.randn(BATCH, size)
        jobs = {
            "linear": training_step(euclidean, x, gradient),
            "linear compiled": training_step(torch.compile(euclidean), x, gradient),
            "lorentz": training_step(lorentz, points, gradient),
            "lorentz compiled": training_step(torch.compile(lorentz, fullgraph=True), points, gradient),
            "hypll": _hypll_step(size, points, gradient),
        }
        t = medians(jobs, repeats=60 if size < 100 else 20)
        fastest = min(t["linear"], t["linear compiled"])
        case = f"{size}→{size}"
        name = "LorentzLinear / nn.Linear"
        rows += [
            lower_is_better(name, f"{case}, both compiled", t["lorentz compiled"], t["linear compiled"], bound),
            lower_is_better(name, f"{case}, eager", t["lorentz"], t["linear"], bound),
            lower_is_better(name, f"{case}, best of each", min(t["lorentz"], t["lorentz compiled"]), fastest),
            times_faster("LorentzLinear / HypLL HLinear", f"{case}, eager", t["lorentz"], t["hypll"], 3.0),
        ]
    return rows


def _hypll_step(size: int, points: torch.Tensor, gradient: torch.Tensor):
    from hypll.manifolds.poincare_ball import Curvature, PoincareBall
    from hypll.nn import HLinear
    from hypll.tensors import ManifoldTensor

    ball = PoincareBall(c=Curvature(1.0))
    layer = HLinear(size, size, manifold=ball)
    x = Lorentz().to_poincare(torch.cat((points, points[:, :1]), -1)).detach().requires_grad_()
    parameters = list(layer.parameters())

    def job() -> None:
        x.grad = None
        for parameter in parameters:
            parameter.grad = None
        layer(ManifoldTensor(data=x, manifold=ball, man_dim=-1)).tensor.backward(gradient)

    return job
