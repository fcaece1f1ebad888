"""geoopt's optimisers on our layers give what our optimisers give."""

import copy

import torch

geoopt = __import__("pytest").importorskip("geoopt")

from hybonet import Lorentz  # noqa: E402
from hybonet.interop.geoopt import with_geoopt_parameters  # noqa: E402
from hybonet.nn import LorentzEmbedding  # noqa: E402
from hybonet.optim import RiemannianAdam  # noqa: E402


def test_geoopt_adam_steps_our_embedding_as_ours_does():
    torch.manual_seed(0)
    ours = LorentzEmbedding(8, 5, manifold=Lorentz(-0.5), dtype=torch.float64, form="paper")
    theirs = with_geoopt_parameters(copy.deepcopy(ours))
    assert isinstance(theirs.weight, geoopt.ManifoldParameter)
    for model, optimizer in (
        (ours, RiemannianAdam(ours, lr=0.02)),
        (theirs, geoopt.optim.RiemannianAdam(theirs.parameters(), lr=0.02)),
    ):
        for _ in range(20):
            optimizer.zero_grad()
            rows = model(torch.arange(8))
            model.manifold.dist(rows[:-1], rows[1:]).sum().backward()
            optimizer.step()
    assert (ours.points() - theirs.weight).abs().max() < 1e-9
    assert theirs.manifold.check_point(theirs.weight)
