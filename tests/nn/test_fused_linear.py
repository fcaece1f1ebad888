"""Linear layers in few steps give what they give step by step."""

from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.autograd import gradgradcheck

from hybonet import Lorentz
from hybonet.nn import LorentzFeedForward, LorentzLinear, LorentzMultiheadAttention

from . import plain

K = -0.7
LAYERS = {
    "heads": lambda **o: LorentzLinear(6, 8, num_heads=2, **o),
    "concatenated heads": lambda **o: LorentzLinear(6, 8, in_heads=2, width=9, **o),
    "no bias": lambda **o: LorentzLinear(6, 8, bias=False, **o),
    "pure": lambda **o: LorentzLinear(6, 8, form="pure", activation="relu", **o),
    "feed-forward": lambda **o: LorentzFeedForward(6, 8, **o),
    "attention": lambda **o: LorentzMultiheadAttention(6, 2, **o),
}


def built(name: str) -> nn.Module:
    layer = LAYERS[name](manifold=Lorentz(K), dtype=torch.float64)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.4)
    return layer


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("with_residual", [False, True])
def test_same_as_step_by_step(name, with_residual):
    layer = built(name)
    out = 6 if name in ("feed-forward", "attention") else 8
    x = plain.points(layer.manifold, 2, 3, 6, dtype=torch.float64).requires_grad_()
    residual = plain.points(layer.manifold, 2, 3, out, dtype=torch.float64).requires_grad_() if with_residual else None

    def run():
        y = layer(x, residual=residual)
        return y[0] if isinstance(y, tuple) else y

    inputs = [x, *([residual] if with_residual else []), *layer.parameters()]
    with patch("hybonet.nn.linear.is_ordinary", return_value=False):
        steps = run()
    plain.assert_same(run(), steps, inputs, torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(run(), steps)


@pytest.mark.parametrize("name", ["concatenated heads", "pure", "feed-forward"])
def test_second_derivatives(name):
    layer = built(name)
    residual = plain.points(layer.manifold, 3, 6 if name == "feed-forward" else 8, dtype=torch.float64).requires_grad_()
    x = plain.points(layer.manifold, 3, 6, dtype=torch.float64).requires_grad_()

    def called(x, residual, *weights):
        names = [name for name, _ in layer.named_parameters()]
        return torch.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x, residual))

    assert gradgradcheck(called, (x, residual, *layer.parameters()))


@pytest.mark.parametrize("p", [0.4, 1.0])
def test_dropout_of_hidden_coordinates_has_its_gradient(p):
    block = LorentzFeedForward(6, 40, p, manifold=Lorentz(K), dtype=torch.float64)
    nn.init.normal_(block.linear2.weight, std=0.3)
    x = plain.points(block.manifold, 3, 6, dtype=torch.float64).requires_grad_()
    torch.manual_seed(0)
    y = block(x)
    (slope,) = torch.autograd.grad(y[..., 1:].sum(), x)
    step = 1e-6 * torch.randn_like(x)
    moved = []
    for sign in (1, -1):
        torch.manual_seed(0)
        moved.append(block(x.detach() + sign * step)[..., 1:].sum().item())
    assert (moved[0] - moved[1]) / 2 == pytest.approx((slope * step).sum().item(), rel=1e-4, abs=1e-12)


def test_inputs_have_gradients_where_weights_are_frozen():
    layer = built("heads").requires_grad_(False)
    x = plain.points(layer.manifold, 3, 6, dtype=torch.float64).requires_grad_()
    with patch("hybonet.nn.linear.is_ordinary", return_value=False):
        steps = layer(x)
    plain.assert_same(layer(x), steps, [x], torch.float64)
