"""Positions enter as the residual of one shared linear layer."""

import math

import pytest
import torch

from hybonet.nn import LorentzPositionalEncoding

from . import plain


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "centred"])
def test_adds_the_position_in_units_of_the_chart(manifold, dtype, kind):
    layer = LorentzPositionalEncoding(6, max_len=9, kind=kind, manifold=manifold, dtype=dtype)
    x = plain.points(manifold, 2, 5, 6, dtype=dtype)
    unit = 2.0 * (-1.0 / manifold.K) ** 0.5 / 5**0.5
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y[..., 1:], x[..., 1:] + unit * layer.position[:5], **plain.tolerance(dtype))
    torch.testing.assert_close(layer(x[1]), y[1])  # unbatched


def test_dropout_is_on_the_sum():
    layer = LorentzPositionalEncoding(30, dropout=0.5)
    x = layer.manifold.random_normal(2, 5, 30)
    y = layer(x)
    plain.assert_on_sheet(y, -1.0)
    assert 0.4 < (y[..., 1:] == 0).double().mean() < 0.6
    assert not bool((layer.eval()(x)[..., 1:] == 0).any())


@pytest.mark.parametrize("kind", ["learned", "sinusoidal"])
def test_in_the_papers_form_is_a_linear_layer_with_the_position_as_residual(manifold, dtype, kind):
    layer = LorentzPositionalEncoding(6, max_len=9, kind=kind, form="paper", manifold=manifold, dtype=dtype)
    x = plain.points(manifold, 2, 5, 6, dtype=dtype)
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    linear = layer.linear
    for i in range(5):
        expected = plain.linear(
            x[:, i], linear.weight, linear.bias, linear.scale, manifold.K, residual=layer.position[i].expand(2, 6)
        )
        torch.testing.assert_close(y[:, i], expected, **plain.tolerance(dtype))
    torch.testing.assert_close(layer(x[1]), y[1])  # unbatched
    same = layer(x[:, :1].expand(2, 5, 6))
    assert not torch.allclose(same[:, 0], same[:, 1], atol=1e-3)  # one point, two positions


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "centred"])
def test_offset_continues_a_sequence(kind):
    layer = LorentzPositionalEncoding(6, max_len=9, kind=kind)
    x = layer.manifold.random_normal(2, 9, 6)
    parts = [layer(x[:, :4]), layer(x[:, 4:5], offset=4), layer(x[:, 5:], offset=5)]
    torch.testing.assert_close(torch.cat(parts, 1), layer(x))


def test_sinusoidal_values():
    layer = LorentzPositionalEncoding(7, max_len=50, kind="sinusoidal", dtype=torch.float64)
    for position in (0, 1, 37):
        for pair in range(3):
            angle = position / 10000 ** (2 * pair / 6)
            assert layer.position[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert layer.position[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


def test_centred_values_are_sinusoidal_ones_without_what_near_positions_share():
    usual, centred, long = (
        LorentzPositionalEncoding(65, max_len=length, kind=kind, dtype=torch.float64).position
        for kind, length in (("sinusoidal", 100), ("centred", 100), ("centred", 300))
    )
    shared = usual - centred
    torch.testing.assert_close(shared, shared[:1].expand(100, 64))
    torch.testing.assert_close(centred.mean(0), torch.zeros(64, dtype=torch.float64))
    assert shared[0].square().sum() > 0.5 * usual[0].square().sum()
    torch.testing.assert_close(long[:100], centred, rtol=0.0, atol=0.0)  # a longer table has the same vectors


def test_learned_positions_first_add_as_much_as_sines_and_cosines():
    learned, fixed = (LorentzPositionalEncoding(65, max_len=200, kind=kind) for kind in ("learned", "sinusoidal"))
    origins = learned.manifold.origin(200, 65)
    sizes = [layer(origins)[:, 1:].square().mean().sqrt().item() for layer in (learned, fixed)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_learned_positions_are_trained_and_fixed_ones_are_not_stored():
    learned, fixed = (LorentzPositionalEncoding(6, max_len=9, kind=kind) for kind in ("learned", "sinusoidal"))
    learned(learned.manifold.random_normal(2, 3, 6)).sum().backward()
    assert bool((learned.position.grad[:3] != 0).all())
    assert bool((learned.position.grad[3:] == 0).all())
    assert "position" in learned.state_dict()
    assert "position" not in fixed.state_dict()
    assert fixed.double().position.dtype == torch.float64


@pytest.mark.parametrize("form", ["scaled", "paper"])
def test_reset_parameters_draws_anew(form):
    layer = LorentzPositionalEncoding(6, max_len=9, form=form)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    layer.reset_parameters()
    assert not torch.equal(layer.position, before["position"])
    if form == "paper":
        assert not torch.equal(layer.linear.weight, before["linear.weight"])


def test_options_reach_the_linear_layer():
    layer = LorentzPositionalEncoding(6, dropout=0.3, form="paper_code", linear={"scale": 2.0})
    assert (layer.linear.dropout, layer.linear.form, layer.linear.initial_scale) == (0.3, "paper_code", 2.0)


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="'learned', 'sinusoidal' or 'centred', got 'rotary'"):
        LorentzPositionalEncoding(6, kind="rotary")
    with pytest.raises(ValueError, match=r"form='scaled' has no linear layer for .*form='paper'"):
        LorentzPositionalEncoding(6, linear={"scale": 2.0})
    layer = LorentzPositionalEncoding(6, max_len=9)
    x = layer.manifold.random_normal(2, 4, 6)
    for offset in (6, -1):
        with pytest.raises(
            ValueError, match=f"positions within 0 to 8, got {offset} to {offset + 3}; .*larger max_len"
        ):
            layer(x, offset=offset)
    assert layer(x, offset=5).shape == x.shape
    assert "6, max_len=9, kind=learned" in repr(layer)
