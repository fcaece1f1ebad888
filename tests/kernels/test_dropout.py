"""Dropout by many bits at a time: the law of large numbers, and torch's conventions."""

from __future__ import annotations

import math

import pytest
import torch

from hybonet.nn.dropout import Dropout, dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_as_many_are_dropped_as_asked_for_and_the_mean_stays(p: float) -> None:
    torch.manual_seed(0)
    x = torch.ones(501, 799)  # not a multiple of the elements that share a draw
    y = dropout(x, p)
    error = 5.0 * math.sqrt(p * (1 - p) / x.numel())
    assert (y == 0).double().mean().item() == pytest.approx(p, abs=error)
    assert y[y != 0].unique().item() == pytest.approx(1 / (1 - p))


def test_neighbours_are_dropped_independently() -> None:
    """Four of them come from one draw."""
    torch.manual_seed(0)
    kept = (dropout(torch.ones(4 * 100_000), 0.5) != 0).view(-1, 4).double()
    assert (torch.corrcoef(kept.T) - torch.eye(4)).abs().max() < 0.02


def test_the_seed_decides_and_every_call_is_new() -> None:
    x = torch.ones(1000)
    torch.manual_seed(3)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    torch.manual_seed(3)
    assert torch.equal(first, dropout(x, 0.5))
    assert not torch.equal(first, second)


def test_gradients_go_where_the_values_went() -> None:
    x = torch.randn(40, 30, dtype=torch.float64, requires_grad=True)
    y = dropout(x, 0.3)
    y.sum().backward()
    torch.testing.assert_close(x.grad, (y != 0).double() / 0.7)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_type_and_shape_stay(dtype: torch.dtype) -> None:
    for shape in ((), (3,), (0, 4), (2, 3, 5)):
        y = dropout(torch.ones(shape, dtype=dtype), 0.5)
        assert y.dtype == dtype
        assert y.shape == shape


def test_nothing_or_all_is_dropped_as_torch_does() -> None:
    x = torch.ones(5)
    assert torch.equal(dropout(x, 0.0), x)
    assert torch.equal(dropout(x, 0.5, training=False), x)
    assert torch.equal(dropout(x, 1.0), torch.zeros(5))
    assert torch.equal(dropout(x, 1.0 - 1e-9), torch.zeros(5))
    with pytest.raises(ValueError, match="between 0 and 1"):
        dropout(x, 1.5)
    layer = Dropout(0.5)
    assert torch.equal(layer.eval()(x), x)
    assert set(layer.train()(torch.ones(100)).tolist()) == {0.0, 2.0}
