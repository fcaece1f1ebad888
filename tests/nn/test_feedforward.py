"""The feed-forward block is two linear layers, activation and residual in the second."""

import warnings

import pytest
import torch

from hybonet.nn import LorentzFeedForward

from . import plain


@pytest.mark.parametrize("form", ["scaled", "paper"])
def test_is_two_linear_layers(manifold, dtype, form):
    block = LorentzFeedForward(5, 11, activation=torch.tanh, form=form, manifold=manifold, dtype=dtype)
    x = plain.points(manifold, 3, 4, 5, dtype=dtype).requires_grad_()
    one, two, K = block.linear1, block.linear2, manifold.K
    for residual in (None, x):
        if form == "scaled":
            expected = plain.ungated(two, plain.ungated(one, x), residual)
        else:
            hidden = plain.linear(x, one.weight, one.bias, one.scale, K)
            expected = plain.linear(
                hidden, two.weight, two.bias, two.scale, K, activation=torch.tanh, residual=residual
            )
        y = block(x, residual)
        plain.assert_on_sheet(y, K)
        torch.testing.assert_close(y, expected, **plain.tolerance(dtype))


def test_options_and_reset():
    block = LorentzFeedForward(5, 11, 0.4, bias=False, form="paper", linear={"scale": 2.0})
    assert block.linear1.bias is None
    assert (block.linear1.dropout, block.linear2.dropout) == (0.0, 0.4)
    assert block.linear1.initial_scale == block.linear2.initial_scale == 2.0
    before = [p.clone() for p in (block.linear1.weight, block.linear2.weight)]
    block.reset_parameters()
    assert not torch.equal(block.linear1.weight, before[0])
    assert not torch.equal(block.linear2.weight, before[1])


def test_takes_points_for_points_and_notices_what_is_none():
    block = LorentzFeedForward(5, 11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block(block.manifold.random_normal(3, 5))
    with pytest.warns(UserWarning, match="LorentzFeedForward.*off the hyperboloid"):
        LorentzFeedForward(5, 11)(torch.randn(3, 5))
