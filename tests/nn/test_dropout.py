"""Dropout by many bits at a time: the law of large numbers, torch's conventions, and attention with it."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from hybonet.nn.dropout import Dropout, dot_product_attention, dropout


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
    with pytest.raises(ValueError, match="between 0 and 1"):
        dropout(x, 1.5)
    layer = Dropout(0.5)
    assert torch.equal(layer.eval()(x), x)
    assert set(layer.train()(torch.ones(100)).tolist()) == {0.0, 2.0}


def test_attention_has_torchs_mean_over_masks() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 4, 8)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    mask[2] = False  # this query may attend to nothing
    for options in ({"attn_mask": mask}, {"attn_mask": mask.double().log().float()}, {"is_causal": True}, {}):
        expected = F.scaled_dot_product_attention(q, k, v, **options)
        draws = torch.stack([dot_product_attention(q, k, v, dropout_p=0.2, **options) for _ in range(2000)])
        assert (draws.mean(0) - expected).abs().max() < 0.1
        assert not torch.equal(draws[0], draws[1])


def test_a_query_that_sees_nothing_has_finite_gradients() -> None:
    q = torch.randn(1, 1, 3, 4, requires_grad=True)
    mask = torch.tensor([[True, False, False], [False, False, False], [True, True, True]])
    out = dot_product_attention(q, q, q, attn_mask=mask, dropout_p=0.5)
    out.sum().backward()
    assert torch.equal(out[0, 0, 1], torch.zeros(4))
    assert q.grad.isfinite().all()
