"""The linear layer whose outputs are distances to hyperplanes."""

import pytest
import torch
from torch import nn

from benchmarks.norm_growth import LAYERS, radii
from hybonet import Lorentz
from hybonet.geometry import to_sheet
from hybonet.nn import LorentzHyperplaneLinear

from . import plain


def built(manifold, *sizes: int, **options) -> LorentzHyperplaneLinear:
    layer = LorentzHyperplaneLinear(*sizes, manifold=manifold, dtype=torch.float64, **options)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.6)
    return layer


@pytest.mark.parametrize("K", [-1.0, -0.3])
def test_outputs_lie_as_far_from_their_axes_as_inputs_from_the_hyperplanes(K):
    manifold = Lorentz(K)
    layer, radius = built(manifold, 5, 4), (-1 / K) ** 0.5
    x = plain.points(manifold, 6, 5, dtype=torch.float64)
    y = layer(x)
    plain.assert_on_sheet(y, K)
    length = layer.weight.norm(dim=-1, keepdim=True)
    b = layer.bias[:, None] / radius
    normals = torch.cat((b.sinh(), b.cosh() * layer.weight / length), -1)  # of Lorentzian length 1
    products = (normals[None, :, 1:] * x[:, None, 1:]).sum(-1) - normals[None, :, 0] * x[:, None, 0]
    feet = to_sheet(x[:, None] - products[..., None] * normals, K=K)
    assert plain.inner(normals[None], feet).abs().max() < 1e-12  # they lie on the hyperplanes
    wanted = length.squeeze(-1) * manifold.dist(x[:, None], feet) * products.sign()
    torch.testing.assert_close(radius * (y[:, 1:] / radius).asinh(), wanted)
    # Each hyperplane lies b from the origin.
    origin = manifold.origin(5, dtype=torch.float64)
    from_origin = radius * ((-normals[:, 0] * origin[0]) / radius).asinh()
    torch.testing.assert_close(from_origin, -layer.bias)


def test_flat_space_has_a_linear_layer():
    layer = built(Lorentz(-1e-8), 5, 4)
    x = layer.manifold.lift(torch.randn(6, 4, dtype=torch.float64))
    wanted = x[:, 1:] @ layer.weight.T - layer.weight.norm(dim=-1) * layer.bias
    torch.testing.assert_close(layer(x)[:, 1:], wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("learnable", [False, True])
def test_gradients(learnable):
    manifold = Lorentz(-0.7, learnable=learnable)
    layer = built(manifold, 4, 3, activation=torch.tanh)
    x = manifold.random_normal(3, 4, dtype=torch.float64).detach().requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def called(x, *weights):
        return torch.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x,))

    assert torch.autograd.gradcheck(called, (x, *layer.parameters()))


def test_large_weights_and_no_direction_stay_finite(manifold, dtype):
    layer = LorentzHyperplaneLinear(4, 5, manifold=manifold, dtype=dtype)
    with torch.no_grad():
        layer.weight[0] = 0.0
        layer.weight[1] = 1e6
        layer.bias[2] = -1e6
    x = plain.points(manifold, 3, 4, dtype=dtype).requires_grad_()
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    assert bool((y[:, 1] == 0).all())
    assert all(bool(g.isfinite().all()) for g in plain.gradients(y.log1p().sum(), [x, layer.weight, layer.bias]))


def test_mistakes():
    with pytest.raises(ValueError, match="at least 2 ambient coordinates"):
        LorentzHyperplaneLinear(1, 3)


def test_radii_grow_with_the_steps_and_those_of_products_with_their_logarithm():
    found = {name: radii(build(), steps=1000) for name, build in LAYERS.items() if name in ("pure", "hyperplanes")}
    assert found["hyperplanes"][1000] - found["hyperplanes"][100] > 5 * (
        found["hyperplanes"][100] - found["hyperplanes"][10]
    )
    assert found["pure"][1000] - found["pure"][100] < 3 * (found["pure"][100] - found["pure"][10])
