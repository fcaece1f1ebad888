"""No gradient depends on what torch makes of a clamp at its bound, which changed with 2.14."""

import pytest
import torch

from hybonet import Lorentz
from tests.clamp_rules import assert_no_rule_matters
from tests.nn.catalogue import LAYERS, D, K, first


def _number(out):
    return (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum()


def test_the_rules_differ_at_the_bound_alone():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with pytest.raises(AssertionError, match="not close"):
        assert_no_rule_matters(lambda: x.clamp_min(0.0).sum(), [x])
    assert_no_rule_matters(lambda: x.clamp(-1.0, max=2.0).sum(), [x])


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("at", ["random points", "the origin and equal points"])
def test_layers(name, at):
    torch.manual_seed(0)
    build, inputs = LAYERS[name]
    layer = build(Lorentz(K)).double()
    given = [_exact(x) if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs()]
    if at != "random points":
        given = [_degenerate(x) if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in given]
    wanted = [x.requires_grad_() for x in given if isinstance(x, torch.Tensor) and x.is_floating_point()]
    wanted += [parameter for parameter in layer.parameters() if parameter.requires_grad]
    assert_no_rule_matters(lambda: _number(first(layer(*given))), wanted)


def _exact(x):
    """In float64, and on the hyperboloid if it is a point."""
    return Lorentz(K).projx(x.double()) if x.dim() > 1 and x.shape[-1] == D else x.double()


def _degenerate(x):
    """The first row is the origin, the last two are equal."""
    x = x.clone()
    rows = x.flatten(0, -2) if x.dim() > 1 else x
    if x.dim() > 1:
        rows[0] = torch.eye(x.shape[-1], dtype=x.dtype)[0] * (-1 / K) ** 0.5
    rows[-1] = rows[-2]
    return x


GEOMETRY = {
    "dist": lambda m, x, y: m.dist(x, y),
    "sqdist": lambda m, x, y: m.sqdist(x, y),
    "cdist": lambda m, x, y: m.cdist(x, y),
    "dist0": lambda m, x, y: m.dist0(x),
    "logmap": lambda m, x, y: m.logmap(x, y),
    "logmap0": lambda m, x, y: m.logmap0(x),
    "expmap": lambda m, x, y: m.expmap(x, m.logmap(x, y).detach()),
    "expmap0": lambda m, x, y: m.expmap0(m.logmap0(x)),
    "centroid": lambda m, x, y: m.centroid(torch.stack((x, y), -2)),
    "transp": lambda m, x, y: m.transp(x, y, m.logmap(x, y).detach()),
}


@pytest.mark.parametrize("name", GEOMETRY)
@pytest.mark.parametrize("order", [1, 2])
def test_geometry(name, order):
    torch.manual_seed(0)
    manifold = Lorentz(K)
    x = _degenerate(manifold.random_normal(6, 5).double()).requires_grad_()
    y = manifold.random_normal(6, 5).double()
    y[2], y[3] = x[2].detach(), x[0].detach()
    y.requires_grad_()

    def once():
        return _number(GEOMETRY[name](manifold, x, y))

    def twice():
        first_order = torch.autograd.grad(once(), [x, y], create_graph=True, materialize_grads=True)
        return sum(_number(each) for each in first_order)

    assert_no_rule_matters(once if order == 1 else twice, [x, y])
