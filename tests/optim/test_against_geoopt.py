"""The exact updates give geoopt's trajectory: float64, 100 steps, 1e-9."""

import geoopt
import pytest
import torch

from hybonet import Lorentz
from hybonet.optim import RiemannianAdam, RiemannianSGD

pytestmark = pytest.mark.usefixtures("either_way")


def problem(K, spread, seed=0):
    """Points pulled to targets, and a Euclidean vector in the same loss.

    geoopt takes a step shorter than 1e-4 for one of 1e-4 and so drifts by 5e-9 a step near the optimum; the spread is
    chosen so that no optimiser gets there (nor diverges) within the steps compared.
    """
    generator = torch.Generator().manual_seed(seed)
    manifold = Lorentz(K)
    start = manifold.random_normal(7, 5, std=spread, dtype=torch.float64, generator=generator)
    target = manifold.random_normal(7, 5, std=spread, dtype=torch.float64, generator=generator)
    offset = torch.randn(7, dtype=torch.float64, generator=generator)

    def loss(x, b):
        # The ambient inner product, so that the gradient has a time part for both libraries.
        inner = (x[:, 1:] * target[:, 1:]).sum(-1) - x[:, 0] * target[:, 0]
        return ((-inner - b) ** 2).mean() + (b - offset).square().mean()

    return manifold, start, offset, loss


def trajectory(optimizer, x, b, loss, steps=100):
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x, b).backward()
        optimizer.step()
        path.append(torch.cat((x.detach().flatten(), b.detach())))
    return torch.stack(path)


def run_both(ours, theirs, K, spread):
    manifold, start, offset, loss = problem(K, spread)
    x, b = torch.nn.Parameter(start.clone()), torch.nn.Parameter(torch.zeros_like(offset))
    mine = trajectory(ours([{"params": [x], "manifold": manifold}, {"params": [b]}]), x, b, loss)
    peer_manifold = geoopt.Lorentz(k=torch.tensor(-1.0 / K, dtype=torch.float64))
    y = geoopt.ManifoldParameter(start.clone(), manifold=peer_manifold)
    c = torch.nn.Parameter(torch.zeros_like(offset))
    peer = trajectory(theirs([y, c]), y, c, loss)
    assert (mine[-1] - mine[0]).abs().max() > 0.01, "nothing moved: the comparison would be empty"
    return mine, peer


@pytest.mark.parametrize("K", [-1.0, -0.4, -2.5])
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_adam_follows_geoopt(K, amsgrad, weight_decay):
    options = {"lr": 0.02, "betas": (0.9, 0.99), "amsgrad": amsgrad, "weight_decay": weight_decay}
    mine, peer = run_both(
        lambda groups: RiemannianAdam(groups, decay_manifold=True, **options),
        lambda params: geoopt.optim.RiemannianAdam(params, **options),
        K,
        spread=0.8,
    )
    torch.testing.assert_close(mine, peer, rtol=0, atol=1e-9)


@pytest.mark.parametrize("K", [-1.0, -0.4, -2.5])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.7},
        {"momentum": 0.7, "dampening": 0.3},
        {"momentum": 0.7, "nesterov": True},
        {"momentum": 0.5, "weight_decay": 0.01},
    ],
    ids=str,
)
def test_sgd_follows_geoopt(K, options):
    mine, peer = run_both(
        lambda groups: RiemannianSGD(groups, lr=0.005, decay_manifold=True, **options),
        lambda params: geoopt.optim.RiemannianSGD(params, lr=0.005, **options),
        K,
        spread=0.4,
    )
    torch.testing.assert_close(mine, peer, rtol=0, atol=1e-9)
