"""Output layers: distances to class points, and edge probabilities."""

from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F

from hybonet import Lorentz
from hybonet.geometry import sqdist
from hybonet.nn import FermiDiracDecoder, LorentzDistanceHead, LorentzEmbedding

from . import plain


class TestDistanceHead:
    @pytest.mark.parametrize("bias", [True, False])
    def test_logits_are_negative_squared_distances(self, manifold, dtype, bias):
        head = LorentzDistanceHead(6, 7, bias, form="paper", manifold=manifold, dtype=dtype)
        if bias:
            with torch.no_grad():
                head.bias.normal_()
        x = plain.points(manifold, 2, 3, 6, dtype=dtype)
        expected = -sqdist(x.unsqueeze(-2), head.points(), K=manifold.K) + (head.bias if bias else 0.0)
        torch.testing.assert_close(head(x), expected, **plain.tolerance(dtype))

    @pytest.mark.parametrize("tied", [False, True])
    @pytest.mark.parametrize("distance", ["squared", "geodesic"])
    @pytest.mark.parametrize("bias", [True, False, "origin"])
    def test_scaled_logits_are_the_written_formula(self, K, dtype, bias, distance, tied):
        manifold = Lorentz(K, learnable=True).to(dtype)
        options = {"manifold": manifold, "dtype": dtype}
        table = LorentzEmbedding(7, 6, **options) if tied else None
        head = LorentzDistanceHead(6, 7, bias, distance=distance, tied=table, **options)
        if bias:
            with torch.no_grad():
                head.bias.normal_()
        x = plain.points(manifold, 4, 6, dtype=dtype).requires_grad_()
        K, R, length = manifold.K, (-1 / manifold.K).sqrt(), 2.0 if tied else 1.0
        c = R * length * head.weight[:, 1:]
        c = torch.cat(((c.square().sum(-1, keepdim=True) - 1 / K).sqrt(), c), -1)
        cosh = K * plain.inner(x.unsqueeze(-2), c), K * -R * c[:, 0]
        if distance == "squared":
            far, at_origin = ((2 / K - 2 * each / K) for each in cosh)
            scale = 5**0.5 / (2 * 2 * length * R**2)
        else:
            far, at_origin = (torch.acosh(each) * R for each in cosh)
            scale = 5**0.5 / (2 * length * R) * (5 * (1 + length**2) - 1) ** 0.5
        logits = -scale * head.log_scale.exp() * (far - at_origin if bias == "origin" else far)
        inputs = [x, head.weight, head.log_scale, manifold.log_neg_curvature, *([head.bias] if bias else [])]
        plain.assert_same(head(x), logits + head.bias if bias else logits, inputs, dtype)
        if distance == "squared":
            question, classes = head.inner_form(x)
            apart = question @ classes.T - head(x)
            torch.testing.assert_close(apart, apart[:1, :1].expand_as(apart), rtol=1e-4, atol=1e-4)

    def test_tied_head_trains_the_table(self):
        table = LorentzEmbedding(9, 5)
        head = LorentzDistanceHead(5, 9, distance="geodesic", tied=table)
        assert head.weight is table.weight
        torch.testing.assert_close(head.points(), table.points())
        before = table.weight.detach().clone()
        head.reset_parameters()
        assert torch.equal(table.weight, before)
        with pytest.raises(ValueError, match=r"tied with 8 rows of 5 coordinates.*got \(9, 5\)"):
            LorentzDistanceHead(5, 8, tied=table)

    def test_geodesic_logits_of_coincident_points_have_finite_gradients(self, dtype):
        head = LorentzDistanceHead(5, 3, True, distance="geodesic", dtype=dtype)
        x = head.points().detach().requires_grad_()
        logits = head(x)
        assert logits.diagonal().abs().max() < (1e-5 if dtype == torch.float64 else 0.1)
        assert all(bool(g.isfinite().all()) for g in plain.gradients(logits.sum(), [x, *head.parameters()]))

    def test_gradients_reach_points_bias_and_curvature(self, K):
        manifold = Lorentz(K, learnable=True).double()
        head = LorentzDistanceHead(5, 3, form="paper", manifold=manifold, dtype=torch.float64)
        space = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
        logits = head(manifold.lift(space))
        points = manifold.projx(head.weight)
        expected = -(2 / manifold.K - 2 * plain.inner(manifold.lift(space).unsqueeze(1), points)) + head.bias
        plain.assert_same(logits, expected, [space, head.weight, head.bias, manifold.log_neg_curvature], torch.float64)

    def test_class_points_are_on_the_sheet_and_marked(self, manifold):
        head = LorentzDistanceHead(6, 50, form="paper", manifold=manifold, init_std=0.3)
        plain.assert_on_sheet(head.points(), manifold.K)
        assert manifold.logmap0(head.points())[:, 1:].std().item() == pytest.approx(0.3, rel=0.2)
        assert head.weight.manifold is manifold
        assert bool((head.bias == 0).all())

    @pytest.mark.parametrize(("init_std", "length"), [(None, 3**-0.5), (0.2, 0.2 * 64**0.5)])
    def test_scaled_class_points_start_at_their_length(self, init_std, length):
        """In units of R; by default that of rows of a linear layer of torch's."""
        head = LorentzDistanceHead(65, 500, init_std=init_std, manifold=Lorentz(-0.5))
        assert head.points()[:, 1:].norm(dim=-1).mean().item() == pytest.approx(2**0.5 * length, rel=0.02)

    @pytest.mark.parametrize("form", ["scaled", "paper"])
    def test_from_embedding_starts_equal_and_is_trained_apart(self, manifold, dtype, form):
        table = LorentzEmbedding(9, 5, form=form, manifold=manifold, dtype=dtype)
        head = LorentzDistanceHead.from_embedding(table)
        torch.testing.assert_close(head.points(), table.points())
        assert head.manifold is manifold
        assert torch.equal(head.weight, table.weight)
        assert head.weight.data_ptr() != table.weight.data_ptr()
        if form == "paper":  # a row is its own nearest class
            assert head(table.points()).argmax(-1).tolist() == list(range(9))
        assert LorentzDistanceHead.from_embedding(table, bias=False).bias is None

    def test_mistakes_are_explained(self):
        with pytest.raises(ValueError, match=r"at least 1 class .*num_classes=0"):
            LorentzDistanceHead(4, 0)
        with pytest.raises(ValueError, match=r"2 ambient coordinates.*in_features=1"):
            LorentzDistanceHead(1, 3)
        with pytest.raises(ValueError, match="expected input with 4 ambient coordinates"):
            LorentzDistanceHead(4, 3)(torch.ones(2, 5))
        with pytest.raises(ValueError, match="distance to be 'squared' or 'geodesic', got 'euclidean'"):
            LorentzDistanceHead(4, 3, distance="euclidean")
        with pytest.raises(ValueError, match="geodesic distances are no inner products"):
            LorentzDistanceHead(4, 3, distance="geodesic").inner_form(torch.ones(2, 4))
        assert "4, 3, bias=False" in repr(LorentzDistanceHead(4, 3, bias=False))


class TestFermiDirac:
    def test_is_the_formula(self, dtype):
        decoder = FermiDiracDecoder(r=1.5, t=0.4).to(dtype)
        square = torch.linspace(0, 6, 20, dtype=dtype)
        expected = 1 / (torch.exp((square - 1.5) / 0.4) + 1)
        torch.testing.assert_close(decoder(square), expected, rtol=1e-5, atol=1e-8)
        torch.testing.assert_close(torch.sigmoid(decoder.logits(square)), decoder(square))

    def test_far_points_do_not_overflow(self):
        square = torch.tensor([0.0, 1e4, 1e30], requires_grad=True)
        p = FermiDiracDecoder()(square)
        p.sum().backward()
        assert p[1:].tolist() == [0.0, 0.0]
        assert bool(square.grad.isfinite().all())

    def test_learnable(self):
        fixed, learned = FermiDiracDecoder(), FermiDiracDecoder(learnable=True)
        assert not any(p.requires_grad for p in fixed.parameters())
        learned(torch.tensor([0.5, 3.0])).prod().backward()
        assert all(p.grad.abs() > 0 for p in learned.parameters())
        assert "r=2, t=1, learnable=True" in repr(learned)

    @pytest.mark.parametrize("learnable", [False, True])
    def test_scalars_of_older_files_are_loaded_as_vectors(self, learnable):
        decoder = FermiDiracDecoder(learnable=learnable)
        decoder.load_state_dict({"radius": torch.tensor(3.0), "log_temperature": torch.tensor(0.5)})
        assert {name: value.tolist() for name, value in decoder.state_dict().items()} == {
            "radius": [3.0],
            "log_temperature": [0.5],
        }
        assert decoder(torch.tensor(3.0)) == 0.5

    def test_temperature_must_be_positive(self):
        with pytest.raises(ValueError, match="t > 0, got 0"):
            FermiDiracDecoder(t=0)


@pytest.mark.parametrize("distance", ["squared", "geodesic"])
@pytest.mark.parametrize("bias", ["origin", True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_is_that_of_the_logits(distance, bias, smoothing):
    head = LorentzDistanceHead(5, 7, bias, distance=distance, manifold=Lorentz(-0.6), dtype=torch.float64)
    if head.bias is not None:
        torch.nn.init.normal_(head.bias)
    x = plain.points(head.manifold, 2, 6, 5, dtype=torch.float64).requires_grad_()
    target = torch.randint(7, (2, 6))
    target[0, 2] = target[1, 5] = -100
    inputs = [x, *head.parameters()]
    expected = F.cross_entropy(head(x).flatten(0, 1), target.flatten(), label_smoothing=smoothing)
    with patch("hybonet.kernels.geodesic_softmax._BLOCK", 35):  # blocks of five rows
        got = head.cross_entropy(x, target, label_smoothing=smoothing)
        found = plain.gradients(got, inputs)
    torch.testing.assert_close(got, expected)
    for ours, theirs in zip(found, plain.gradients(expected, inputs), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)


def test_cross_entropy_of_a_tied_head_and_its_mistakes():
    table = LorentzEmbedding(7, 5)
    head = LorentzDistanceHead(5, 7, distance="geodesic", tied=table)
    x = table(torch.arange(7))
    loss = head.cross_entropy(x, torch.arange(7))  # every class point in its own place: finite slopes
    torch.testing.assert_close(loss, F.cross_entropy(head(x), torch.arange(7)), rtol=1e-3, atol=1e-3)
    (slope,) = torch.autograd.grad(loss, table.weight)
    assert bool(slope.isfinite().all())
    with pytest.raises(ValueError, match=r"expected a target of shape \(7,\)"):
        head.cross_entropy(x, torch.arange(6))
    with pytest.raises(ValueError, match="label_smoothing between 0 and 1, got 2"):
        head.cross_entropy(x, torch.arange(7), label_smoothing=2.0)


def test_logits_may_be_masked_in_place():
    """As decoding does with tokens that may not follow."""
    head = LorentzDistanceHead(4, 3)
    logits = head(Lorentz().random_normal(2, 5, 4))[0, -1]
    logits[[0]] = -torch.inf
    torch.log_softmax(logits, -1)[1].backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in head.parameters())
