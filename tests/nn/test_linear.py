"""The Lorentz linear layer against its written definition, and the claims made for it."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck, gradgradcheck

from hybonet import Lorentz
from hybonet.geometry import boost, random_boost, random_rotation, transform
from hybonet.nn import LorentzLinear, LorentzNorm, gated_lift, scales
from hybonet.nn.scales import time_unit

from . import plain


def layer_with_bias(*sizes, manifold, dtype, **options):
    """A layer with no zero entry that could hide a mistake: time column and biases are filled as well."""
    layer = LorentzLinear(*sizes, manifold=manifold, dtype=dtype, **options)
    with torch.no_grad():
        layer.weight.normal_(std=0.4)
        if layer.bias is not None:
            layer.bias.normal_(std=0.4)
    return layer


@pytest.mark.parametrize("form", ["paper", "pure", "scaled"])
@pytest.mark.parametrize("radius", [0.01, 1.0, 6.0])
def test_outputs_are_points(manifold, dtype, form, radius):
    layer = layer_with_bias(6, 9, manifold=manifold, dtype=dtype, form=form)
    y = layer(plain.points(manifold, 20, 6, dtype=dtype, std=radius / 2.2))
    assert y.shape == (20, 9)
    assert y.dtype == dtype
    plain.assert_on_sheet(y, manifold.K)


@pytest.mark.parametrize("gate", ["paper", "paper_code"])
@pytest.mark.parametrize("gate_bias", [True, False])
@pytest.mark.parametrize("activation", [None, torch.tanh])
@pytest.mark.parametrize("with_residual", [False, True])
def test_normalised_form_is_the_formula(dtype, K, gate, gate_bias, activation, with_residual):
    manifold = Lorentz(K, learnable=True).to(dtype)
    layer = layer_with_bias(
        5, 7, form=gate, manifold=manifold, dtype=dtype, activation=activation, gate_bias=gate_bias, scale=3.0
    )
    x = plain.points(manifold, 4, 3, 5, dtype=dtype).requires_grad_()
    residual = plain.points(manifold, 4, 3, 7, dtype=dtype).requires_grad_() if with_residual else None
    inputs = [x, layer.weight, layer.bias, layer.log_scale, manifold.log_neg_curvature]
    inputs += [residual] if with_residual else []
    expected = plain.linear(
        x,
        layer.weight,
        layer.bias,
        layer.log_scale.exp(),
        -manifold.log_neg_curvature.exp(),
        activation=activation,
        residual=residual,
        gate=gate,
        gate_bias=gate_bias,
    )
    y = layer(x, residual)
    plain.assert_same(y, expected, inputs, dtype)


@pytest.mark.parametrize("form", ["paper", "paper_code", "pure", "scaled"])
def test_residual_dropout_drops_some_of_what_is_added_and_no_gate(form):
    manifold = Lorentz(-0.7)
    layer = LorentzLinear(6, 40, manifold=manifold, form=form, residual_dropout=0.5)
    x, residual = manifold.random_normal(20, 6), manifold.random_normal(20, 40)
    torch.testing.assert_close(layer(x), layer.eval()(x))  # there is nothing to add to
    whole = layer(x, residual)
    y = layer.train()(x, residual)
    assert manifold.check_point(y)
    space, own = y[..., 1:], residual[..., 1:]
    if form in ("paper", "paper_code"):
        torch.testing.assert_close(y[..., 0], whole[..., 0])
    else:
        assert 0.4 < (space == own).double().mean() < 0.6
    layer.residual_dropout = 1.0
    alone = layer(x, residual)[..., 1:]
    torch.testing.assert_close(alone * own.norm(dim=-1, keepdim=True), own * alone.norm(dim=-1, keepdim=True))


def test_time_gate_option_matters_only_with_activation_dropout_or_residual():
    manifold = Lorentz()
    x, residual = manifold.random_normal(8, 5, std=0.5), manifold.random_normal(8, 5, std=0.5)
    paper = layer_with_bias(5, 5, form="paper", manifold=manifold, dtype=torch.float32)
    released = copy.deepcopy(paper)
    released.form = "paper_code"
    assert torch.equal(paper(x), released(x))
    assert not torch.allclose(paper(x, residual)[:, 0], released(x, residual)[:, 0], atol=1e-3)
    assert torch.equal(paper(x, residual)[:, 0], paper(x)[:, 0])  # the paper's gate does not see the residual
    for layer in (paper, released):
        layer.activation = torch.relu
    assert not torch.allclose(paper(x)[:, 0], released(x)[:, 0], atol=1e-3)


def test_dropout_is_for_training_and_stays_out_of_the_papers_gate():
    manifold = Lorentz()
    x = manifold.random_normal(50, 6, std=0.5)
    layer = layer_with_bias(6, 6, form="paper", manifold=manifold, dtype=torch.float32, dropout=0.5)
    plain_layer = copy.deepcopy(layer)
    plain_layer.dropout = 0.0
    y = layer(x)
    torch.testing.assert_close(y[:, 0], plain_layer(x)[:, 0])
    assert not torch.allclose(y[:, 1:], plain_layer(x)[:, 1:], atol=1e-2)
    plain.assert_on_sheet(y, -1.0)
    layer.form = "paper_code"
    assert not torch.allclose(layer(x)[:, 0], plain_layer(x)[:, 0], atol=1e-2)
    assert torch.equal(layer.eval()(x), plain_layer(x))


def test_heads_are_separate_layers(manifold, dtype):
    whole = layer_with_bias(
        5,
        12,
        form="paper",
        manifold=manifold,
        dtype=dtype,
        num_heads=3,
        activation=torch.tanh,
        gate_bias=False,
        scale=2.0,
    )
    x, residual = (plain.points(manifold, 7, n, dtype=dtype) for n in (5, 12))
    for gate in ("paper", "paper_code"):
        whole.form = gate
        y = whole(x, residual)
        assert y.shape == (7, 3, 4)
        for i, part in enumerate(range(0, 12, 4)):
            rows = slice(part, part + 4)
            expected = plain.linear(
                x,
                whole.weight[rows],
                whole.bias[rows],
                2.0,
                manifold.K,
                activation=torch.tanh,
                residual=residual[:, rows],
                gate=gate,
                gate_bias=False,
            )
            torch.testing.assert_close(y[:, i], expected, **plain.tolerance(dtype))


@pytest.mark.parametrize("form", ["pure", "scaled"])
class TestUngatedForms:
    @pytest.mark.parametrize("rapidity", [0.3, 2.0])
    def test_contain_every_boost(self, manifold, dtype, form, rapidity):
        self.assert_is(random_boost(5, rapidity=rapidity, dtype=dtype), manifold, dtype, form)

    def test_contain_every_rotation(self, manifold, dtype, form):
        self.assert_is(random_rotation(5, dtype=dtype), manifold, dtype, form)

    def test_contain_their_products(self, manifold, dtype, form):
        matrix = random_rotation(5, dtype=dtype) @ boost(torch.full((5,), 0.2, dtype=dtype))
        self.assert_is(matrix, manifold, dtype, form)

    @staticmethod
    def assert_is(matrix, manifold, dtype, form):
        layer = LorentzLinear(6, 6, bias=False, form=form, manifold=manifold, dtype=dtype)
        with torch.no_grad():
            layer.weight.copy_(matrix[1:])
            layer.weight[:, 0] /= time_unit(6) if form == "scaled" else 1.0
        x = plain.points(manifold, 9, 6, dtype=dtype)
        torch.testing.assert_close(
            layer(x), transform(matrix, x), **({"rtol": 2e-5, "atol": 1e-5} if dtype == torch.float32 else {})
        )

    @pytest.mark.parametrize("with_residual", [False, True])
    @pytest.mark.parametrize("heads", [{}, {"num_heads": 2}, {"in_heads": 3}], ids=str)
    def test_are_the_formula(self, K, dtype, form, heads, with_residual):
        manifold = Lorentz(K, learnable=True).to(dtype)
        layer = layer_with_bias(12, 8, manifold=manifold, dtype=dtype, form=form, activation=torch.tanh, **heads)
        x = plain.points(manifold, 7, heads.get("in_heads", 1), 12 // heads.get("in_heads", 1), dtype=dtype)
        residual = plain.points(manifold, 7, heads.get("num_heads", 1), 8 // heads.get("num_heads", 1), dtype=dtype)
        x, residual = x.flatten(-2).requires_grad_(), residual.flatten(-2).requires_grad_()
        expected = plain.ungated(layer, x, residual if with_residual else None)
        inputs = [x, layer.weight, layer.bias, manifold.log_neg_curvature, *([residual] if with_residual else [])]
        plain.assert_same(layer(x, residual if with_residual else None), expected, inputs, dtype)

    def test_have_no_gate_and_no_scale(self, form):
        layer = LorentzLinear(5, 4, form=form)
        assert layer.weight.shape == (3, 5)
        assert {name for name, _ in layer.named_parameters()} == {"weight", "bias"}


def test_scaled_form_gives_parameters_the_size_they_have_in_torch():
    """On normed points a weight, a time weight and a bias of the same size add about as much."""
    manifold = Lorentz(-0.3)
    layer = LorentzLinear(65, 65, manifold=manifold)
    x = LorentzNorm(65, manifold=manifold)(manifold.random_normal(50, 65)).detach()
    unit_of = scales.unit(65, K=-0.3)
    assert x[:, 1:].square().mean().sqrt().item() == pytest.approx(unit_of, rel=1e-5)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.fill_(0.5)
        torch.testing.assert_close(layer(x)[:, 1:], torch.full((50, 64), 0.5 * unit_of))
        layer.bias.zero_()
        layer.weight[:, 0] = 0.5
        torch.testing.assert_close(layer(x)[:, 1:], torch.full((50, 64), 0.5 * unit_of))


def test_activations_of_the_scaled_form_are_applied_in_units():
    """GELU of a unit is GELU of 1, however long the unit is."""
    manifold = Lorentz(-0.3)
    layer = LorentzLinear(65, 65, bias=False, activation="gelu", manifold=manifold)
    unit_of = scales.unit(65, K=-0.3)
    with torch.no_grad():
        layer.weight[:, 1:] = torch.eye(64)
    x = torch.randn(9, 64)
    torch.testing.assert_close(layer(manifold.lift(unit_of * x))[:, 1:], unit_of * F.gelu(x))


def test_start_of_a_given_deviation():
    layer = LorentzLinear(12, 200, in_heads=3, init_std=0.02)
    assert layer.weight.std().item() == pytest.approx(0.02 * (3 / 4) ** 0.5, rel=0.1)
    assert bool((layer.weight[:, [0, 4, 8]] == 0).all())


class TestGatedLift:
    @pytest.mark.parametrize("learned", [True, False])
    def test_first_and_second_derivatives(self, K, learned):
        u = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
        scale = torch.tensor([[1.5], [0.7]], dtype=torch.float64, requires_grad=True)
        curvature = torch.tensor(K, dtype=torch.float64, requires_grad=learned)

        def lifted(u, scale, curvature):
            return gated_lift(u, scale, K=curvature if learned else K)

        assert gradcheck(lifted, (u, scale, curvature))
        assert gradgradcheck(lifted, (u, scale, curvature))

    def test_zero_direction_is_the_origin_with_zero_gradient(self, manifold, dtype):
        u = torch.zeros(3, 5, dtype=dtype)
        u[0] = torch.randn(5, dtype=dtype)
        u[2, 0] = 40.0
        u.requires_grad_()
        y = gated_lift(u, 3.0, K=manifold.K)
        torch.testing.assert_close(y[1:], manifold.origin(2, 5, dtype=dtype))
        (grad,) = plain.gradients((y * torch.randn_like(y)).sum(), [u])
        assert bool(grad.isfinite().all())
        assert not grad[0].eq(0).any()
        assert bool(grad[1:].eq(0).all())

    @pytest.mark.parametrize("size", [1e-30, 1e-12, 1e-6, 1e6, 1e15])
    def test_direction_counts_and_length_does_not(self, dtype, K, size):
        direction = torch.tensor([0.6, -0.8, 0.0], dtype=dtype)
        u = torch.cat((torch.zeros(1, dtype=dtype), size * direction)).requires_grad_()
        y = gated_lift(u, 2.0, K=K)
        plain.assert_on_sheet(y, K)
        (grad,) = plain.gradients(y.sum(), [u])
        assert bool(grad.isfinite().all())
        counts = size > 1e-15 or dtype == torch.float64
        expected = direction * ((1 + 1.1 * (-1 / K) ** 0.5) ** 2 + 1 / K) ** 0.5 if counts else 0.0 * direction
        torch.testing.assert_close(y[1:], expected, **plain.tolerance(dtype))

    def test_min_time_scales_with_curvature(self, K):
        u = torch.tensor([-200.0, 1.0, 2.0])  # a closed gate leaves the least time
        assert gated_lift(u, 5.0, K=K)[0].item() == pytest.approx(1.1 * math.sqrt(-1 / K), rel=1e-6)
        assert gated_lift(u, 5.0, K=K, min_time=1.5)[0].item() == pytest.approx(1.5 * math.sqrt(-1 / K), rel=1e-6)


@pytest.mark.parametrize("form", ["paper", "pure", "scaled"])
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e15])
def test_extreme_inputs_stay_finite(manifold, dtype, form, size):
    layer = layer_with_bias(5, 4, manifold=manifold, dtype=dtype, form=form, bias=False)
    x = torch.full((2, 5), size, dtype=dtype).requires_grad_()
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    assert all(bool(g.isfinite().all()) for g in plain.gradients(y.square().mean(), [x, *layer.parameters()]))


def test_scale_fixed_or_learned(K):
    manifold = Lorentz(K)
    fixed = LorentzLinear(4, 4, form="paper", manifold=manifold, scale=2.5, learnable_scale=False)
    assert fixed.scale == 2.5
    assert "log_scale" not in dict(fixed.named_parameters())
    learned = LorentzLinear(4, 4, form="paper", manifold=manifold, scale=2.5)
    assert learned.log_scale.item() == pytest.approx(math.log(2.5))
    fixed.load_state_dict(learned.state_dict(), strict=False)
    x = manifold.random_normal(3, 4)
    torch.testing.assert_close(fixed(x), learned(x))
    with torch.no_grad():
        learned.log_scale.add_(1.0)
    assert bool((learned(x)[:, 0] > fixed(x)[:, 0]).all())


def test_reset_parameters_draws_anew_and_closes_the_time_column():
    layer = LorentzLinear(9, 5, form="paper", scale=4.0)
    before = layer.weight.clone()
    with torch.no_grad():
        layer.bias.fill_(1.0)
        layer.log_scale.zero_()
    layer.reset_parameters()
    assert not torch.equal(layer.weight, before)
    assert bool((layer.weight[:, 0] == 0).all())
    assert layer.weight[:, 1:].abs().max() <= 1 / 3
    assert layer.weight[:, 1:].abs().max() > 0.2
    assert bool((layer.bias == 0).all())
    assert layer.log_scale.item() == pytest.approx(math.log(4.0))


def test_repr_tells_the_options():
    text = repr(LorentzLinear(4, 6, bias=False, dropout=0.2, num_heads=2, manifold=Lorentz(-2.0)))
    assert "in_features=4, out_features=6, bias=False, form=scaled, dropout=0.2, num_heads=2" in text
    assert "K=-2" in text


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((1, 4), {}, "at least 2 ambient coordinates.*in_features=1"),
        ((4, 1), {}, "at least 2 ambient coordinates.*out_features=1"),
        ((4, 4), {"form": "papers"}, "'scaled', 'pure', 'paper' or 'paper_code', got 'papers'"),
        ((4, 4), {"scale": 3.0}, "belong to the time gate, which form='scaled' has not.*form='paper'"),
        ((4, 4), {"form": "pure", "gate_bias": False}, "belong to the time gate, which form='pure' has not"),
        ((4, 4), {"scale": 0.0}, "scale.*> 0, got 0.0"),
        ((4, 4), {"dropout": 1.5}, "between 0 and 1, got 1.5"),
        ((4, 4), {"residual_dropout": -0.1}, "residual_dropout probability between 0 and 1, got -0.1"),
        ((4, 7), {"num_heads": 2}, r"out_features \(7\).*num_heads=2.*out_features=8"),
        (
            (4, 4),
            {"num_heads": 4},
            "at least 2 ambient coordinates per head, got out_features=4 over 4 heads.*num_heads=2",
        ),
        ((7, 4), {"in_heads": 2}, r"in_features \(7\).*in_heads=2.*in_features=8"),
        ((4, 4), {"manifold": -1.0}, r"hybonet.Lorentz, got float.*Lorentz\(K=-2.0\)"),
    ],
)
def test_wrong_options_are_explained(sizes, options, message):
    with pytest.raises(ValueError, match=message):
        LorentzLinear(*sizes, **options)


def test_wrong_inputs_are_explained():
    layer = LorentzLinear(4, 6)
    with pytest.raises(ValueError, match=r"expected input with 4 ambient coordinates.*got shape \(2, 5\)"):
        layer(torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"expected residual with 6 ambient coordinates.*got shape \(2, 4\)"):
        layer(layer.manifold.random_normal(2, 4), torch.ones(2, 4))


def test_check_looks_at_each_of_several_concatenated_points():
    manifold = Lorentz(check=True)
    heads = manifold.random_normal(3, 2, 4)
    layer = LorentzLinear(8, 5, manifold=manifold, in_heads=2)
    plain.assert_on_sheet(layer(heads.flatten(-2)), -1.0)
    heads[1, 1, 0] += 1.0
    with pytest.raises(ValueError, match="off the hyperboloid at row 3"):
        layer(heads.flatten(-2))
    with pytest.raises(ValueError, match="8 ambient coordinates"):
        layer(heads)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("rows", ["ordinary", "one without direction", "one beyond the dtype", "none"])
def test_without_gradients_the_lift_is_the_same(rows, learned, dtype):
    u = torch.randn(5, 3, 6, dtype=dtype)
    if rows == "one without direction":
        u[2, 1, 1:] = 0.0
    elif rows == "one beyond the dtype":
        u[2, 1, 1:] = torch.finfo(dtype).max
    elif rows == "none":
        u = u[:0]
    scale = torch.tensor(2.5, dtype=dtype) if learned else 2.5
    expected = gated_lift(u.clone().requires_grad_(), scale, K=-0.7)
    with torch.no_grad():
        found = gated_lift(u, scale, K=-0.7)
    torch.testing.assert_close(found, expected.detach())
    assert bool(found.isfinite().all())
