"""The tangent-space linear layer: its formula, and the paper's lemma that it is a special case of the pure form."""

import copy

import pytest
import torch

from hybonet.nn import LorentzLinear, TangentLinear

from . import plain


@pytest.mark.parametrize("activation", [None, torch.tanh])
@pytest.mark.parametrize("bias", [True, False])
def test_is_the_formula(manifold, dtype, activation, bias):
    layer = TangentLinear(5, 7, bias, manifold=manifold, activation=activation, dtype=dtype)
    if bias:
        with torch.no_grad():
            layer.bias.normal_(std=0.3)
    x = plain.points(manifold, 6, 5, dtype=dtype)
    radius = (-1 / manifold.K) ** 0.5
    space = x[:, 1:]
    length = space.norm(dim=-1, keepdim=True)
    tangent = radius * torch.asinh(length / radius) * space / length
    tangent = (tangent if activation is None else activation(tangent)) @ layer.weight.T
    tangent = tangent + layer.bias if bias else tangent
    norm = tangent.norm(dim=-1, keepdim=True)
    expected = torch.cat((radius * torch.cosh(norm / radius), radius * torch.sinh(norm / radius) * tangent / norm), -1)
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y, expected, **plain.tolerance(dtype))


def test_is_a_block_diagonal_pure_layer_without_boost(manifold, dtype):
    """exp_o(W log_o(x)) = f_x(diag(*, W'))x, where W' is W times a number that depends on x."""
    tangent = TangentLinear(5, 7, bias=False, manifold=manifold, dtype=dtype)
    pure = LorentzLinear(5, 7, bias=False, form="pure", manifold=manifold, dtype=dtype)
    radius = (-1 / manifold.K) ** 0.5
    for x in plain.points(manifold, 6, 5, dtype=dtype):
        length = x[1:].norm()
        shrink = radius * torch.asinh(length / radius) / length
        norm = (shrink * tangent.weight @ x[1:]).norm()
        stretch = radius * torch.sinh(norm / radius) / norm
        with torch.no_grad():
            pure.weight[:, 0] = 0.0  # no boost: time does not enter space
            pure.weight[:, 1:] = shrink * stretch * tangent.weight
        torch.testing.assert_close(tangent(x), pure(x), **plain.tolerance(dtype))


def test_the_origin_stays_and_has_a_gradient(manifold, dtype):
    layer = TangentLinear(5, 7, manifold=manifold, dtype=dtype)
    x = manifold.origin(2, 5, dtype=dtype).requires_grad_()
    y = layer(x)
    torch.testing.assert_close(y, manifold.origin(2, 7, dtype=dtype))
    (grad,) = plain.gradients(y[:, 1:].sum(), [x])
    torch.testing.assert_close(grad[0, 1:], layer.weight.detach().sum(0))


@pytest.mark.parametrize("size", [1e-30, 1e15])
def test_extreme_inputs_stay_finite(manifold, dtype, size):
    layer = TangentLinear(5, 7, manifold=manifold, dtype=dtype)
    x = torch.full((2, 5), size, dtype=dtype).requires_grad_()
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    assert all(bool(g.isfinite().all()) for g in plain.gradients(y.mean(), [x, *layer.parameters()]))


def test_dropout_only_in_training():
    layer = TangentLinear(6, 6, dropout=0.5)
    x = layer.manifold.random_normal(20, 6)
    without = copy.deepcopy(layer)
    without.dropout = 0.0
    assert not torch.allclose(layer(x), without(x), atol=1e-3)
    assert torch.equal(layer.eval()(x), without(x))


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="at least 2 ambient coordinates, got in_features=1"):
        TangentLinear(1, 4)
    with pytest.raises(ValueError, match="expected input with 4 ambient coordinates"):
        TangentLinear(4, 4)(torch.ones(2, 5))
    assert "in_features=4, out_features=5, bias=False" in repr(TangentLinear(4, 5, bias=False))
