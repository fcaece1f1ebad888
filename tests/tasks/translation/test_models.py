"""Every translator keeps one contract: masks, loss, steps of decoding, maps; and what is the Lorentz one's own."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F

from hybonet import Lorentz
from hybonet.nn import LorentzLinear
from hybonet.optim import RiemannianAdam
from hybonet.tasks.translation.models.convolution_translator import ConvolutionTranslator
from hybonet.tasks.translation.models.euclidean_translator import EuclideanTranslator, HyperbolicAttention
from hybonet.tasks.translation.models.poincare_translator import PoincareLinear, gyromidpoint, squared_distances
from hybonet.tasks.translation.models.translator import Translator
from tests.tasks.translation.translators import DIM, KINDS, LAYERS, SOURCE, TARGET, build, sentences

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
@pytest.mark.parametrize("copies", [1, 3])
def test_steps_with_a_cache_equal_the_full_forward(kind, copies):
    model, (source, target_in, _) = build(kind), sentences()
    whole = model(source, target_in).repeat_interleave(copies, 0)
    with torch.no_grad():
        cache = model.start(model.encode(source), copies)
        tokens = target_in.repeat_interleave(copies, 0)
        steps = [model.step(tokens[:, i], cache) for i in range(tokens.shape[1])]
    torch.testing.assert_close(torch.stack(steps, 1), whole)


@every_kind
def test_a_reordered_cache_goes_on_with_the_rows_it_was_given(kind):
    """Copies change places within a sentence, and a sentence leaves the batch, as beams do."""
    model, (source, _, _) = build(kind), sentences()
    first = torch.arange(4, 10)  # two copies of three sentences, all different
    rows, then = torch.tensor([5, 4, 1, 1]), torch.tensor([7, 8, 9, 10])
    with torch.no_grad():
        cache = model.start(model.encode(source), 2)
        model.step(first, cache)
        cache.reorder(rows)
        logits = model.step(then, cache)
        expected = model(source[rows // 2], torch.stack((first[rows], then), 1))[:, -1]
    torch.testing.assert_close(logits, expected)


@every_kind
def test_later_tokens_and_padding_change_nothing(kind):
    model, (source, target_in, _) = build(kind), sentences()
    logits = model(source, target_in)
    later = target_in.clone()
    later[:, 3:] = 7
    torch.testing.assert_close(model(source, later)[:, :3], logits[:, :3])
    torch.testing.assert_close(model(F.pad(source, (0, 3)), target_in), logits)


@every_kind
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_is_the_cross_entropy_of_the_logits(kind, smoothing):
    model, (source, target_in, labels) = build(kind), sentences()
    expected = F.cross_entropy(
        model(source, target_in).flatten(0, 1), labels.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    parameters = list(model.parameters())
    loss = model(source, target_in, labels, label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(
        torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@every_kind
def test_a_batch_without_labels_has_no_loss(kind):
    model, (source, target_in, labels) = build(kind), sentences()
    assert model(source, target_in, torch.zeros_like(labels)).item() == 0.0


@every_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("autocast", [False, True])
def test_training_gradients_are_finite(kind, dtype, autocast):
    model, (source, target_in, labels) = build(kind, dtype, dropout=0.1, attention_dropout=0.1).train(), sentences()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast and dtype == torch.float32):
        loss = model(source, target_in, labels, label_smoothing=0.1)
    loss.backward()
    assert loss.dtype == dtype
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@every_kind
def test_attention_maps(kind):
    model, (source, target_in, _) = build(kind), sentences()
    maps = model.attention_maps(source, target_in)
    assert len(maps.cross) == LAYERS
    for weights in [*maps.encoder, *maps.decoder, *maps.cross]:
        total = weights[:2].sum(-1)
        torch.testing.assert_close(total, torch.ones_like(total))
    for weights in maps.cross:
        assert weights.shape == (3, 2, 5, 6)
        assert (weights[1, :, :, 4:] == 0).all(), "padding gets no attention"
        assert (weights[2] == 0).all(), "an empty source has nothing to attend to"
    for weights in maps.decoder:
        assert (weights.triu(1) == 0).all(), "nobody sees what comes later"


@every_kind
def test_layer_states_end_with_the_memory(kind):
    model, (source, _, _) = build(kind), sentences()
    states = model.layer_states(source)
    assert len(states) == 1 + LAYERS
    assert states[0].shape == states[-1].shape == (3, 6, DIM)
    torch.testing.assert_close(states[-1], model.encode(source).states)


@every_kind
def test_a_shared_vocabulary_is_one_table(kind):
    apart, shared = build(kind, source=TARGET), build(kind, source=TARGET, share_vocabulary=True)
    assert shared.source_embedding is shared.target_embedding
    assert len(list(shared.parameters())) < len(list(apart.parameters()))
    with pytest.raises(ValueError, match="one size"):
        build(kind, share_vocabulary=True)


@every_kind
def test_too_long_a_sentence_is_refused(kind):
    model, (_, target_in, _) = build(kind), sentences()
    with pytest.raises(ValueError, match="larger max_len"):
        model(torch.full((3, 13), 5), target_in)


def test_bad_ids_and_sizes_are_refused():
    with pytest.raises(ValueError, match="three different ids"):
        Translator(30, 3, 8)
    with pytest.raises(ValueError, match="multiple of heads"):
        EuclideanTranslator(30, 30, 8, heads=3)
    with pytest.raises(ValueError, match="odd width"):
        ConvolutionTranslator(30, 30, 8, width=2)
    with pytest.raises(ValueError, match="sinusoidal"):
        EuclideanTranslator(30, 30, 8, positions="rotary")


def test_pre_norm_ends_with_a_norm():
    model, (source, target_in, _) = build(EuclideanTranslator, norm_first=True), sentences()
    states = model.encode(source).states
    torch.testing.assert_close(states.mean(-1), torch.zeros(3, 6, dtype=torch.float64), atol=1e-6, rtol=0)
    assert not torch.allclose(model(source, target_in), build(EuclideanTranslator)(source, target_in))


class TestLorentz:
    @pytest.mark.parametrize("manifold", [Lorentz(-0.4), Lorentz(-2.0, learnable=True)], ids=["fixed", "learnable"])
    @pytest.mark.parametrize("form", ["scaled", "paper"])
    def test_states_lie_on_the_sheet_of_any_curvature(self, manifold, form):
        model, (source, target_in, labels) = build(Translator, manifold=manifold, form=form), sentences()
        for states in model.layer_states(source):
            assert manifold.check_point(states)
        hidden = model.decode(target_in, model.encode(source))
        assert manifold.check_point(hidden)
        if form == "paper":
            points = manifold.projx(model.head.weight)
            torch.testing.assert_close(model.logits(hidden), -manifold.csqdist(hidden, points) + model.head.bias)
        model(source, target_in, labels).backward()
        assert all(parameter.grad is not None for parameter in model.parameters())

    def test_starts_as_the_paper_says(self):
        model = Translator(2000, 2000, 64, layers=1, heads=4, form="paper")
        assert torch.equal(model.head.weight, model.target_embedding.weight)
        assert model.head.weight is not model.target_embedding.weight
        radius = model.manifold.dist0(model.source_embedding.weight[1:])
        assert 0.9 < radius.mean() < 1.1
        for layer in model.modules():
            if isinstance(layer, LorentzLinear):
                assert layer.weight.abs().max() <= 0.02
                assert (layer.weight[:, 0] == 0).all()

    def test_bfloat16_trains_like_float32(self):
        """Equal steps from equal weights: the loss within two percent, master weights in float32."""
        source, target_in, labels = sentences()
        losses = []
        start = build(Translator, torch.float32)
        for enabled in (False, True):
            model = copy.deepcopy(start)
            optimizer = RiemannianAdam(model, lr=2e-3)
            for _ in range(15):
                with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
                    loss = model(source, target_in, labels, label_smoothing=0.1)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            assert all(p.dtype == torch.float32 and p.isfinite().all() for p in model.parameters())
            losses.append(loss.item())
        assert losses[0] < 0.8 * start(source, target_in, labels, label_smoothing=0.1).item()
        assert math.isclose(*losses, rel_tol=0.02)

    def test_one_graph_a_kind_of_layer_serves_all_lengths(self):
        from torch._dynamo.testing import CompileCounter

        counter, model = CompileCounter(), build(Translator, torch.float32).train()
        plain = copy.deepcopy(model)
        model.compile(backend=counter, dynamic=True)
        for batch, length in ((3, 5), (4, 7), (2, 9)):
            source, target = torch.randint(4, SOURCE, (batch, length)), torch.randint(4, TARGET, (batch, length - 1))
            torch.manual_seed(0)
            ours = model(source, target, target)
            torch.manual_seed(0)
            torch.testing.assert_close(ours, plain(source, target, target))
        assert counter.frame_count == 2


class TestBaselineLayers:
    def test_hyperbolic_attention_weighs_by_geodesic_distance(self):
        """One head, against the law of cosines of the hyperbolic plane."""
        torch.manual_seed(0)
        attention = HyperbolicAttention(4, 1).double()
        q, k = torch.randn(1, 1, 2, 4).double(), torch.randn(1, 1, 3, 4).double()
        weights = attention.weights(q, k, None)[0, 0]
        a, b = q[0, 0] / 2, k[0, 0] / 2  # √4
        distance = torch.zeros(2, 3).double()
        for i in range(2):
            for j in range(3):
                ra, rb = a[i].norm(), b[j].norm()
                cosh = ra.cosh() * rb.cosh() - ra.sinh() * rb.sinh() * (a[i] @ b[j]) / (ra * rb)
                distance[i, j] = cosh.acosh()
        torch.testing.assert_close(weights, torch.softmax(-distance, -1))

    def test_poincare_linear_gives_the_distances_it_computed(self):
        """Signed distances of the output to the axes' hyperplanes are the layer's first half."""
        torch.manual_seed(0)
        layer = PoincareLinear(4, 3, torch.ones(())).double()
        with torch.no_grad():
            layer.weight.mul_(4)
            layer.offset.uniform_(-0.3, 0.3)
        x = 0.8 * torch.rand(5, 4).double() - 0.4
        y = layer(x)
        to_axis = torch.asinh(2 * y / (1 - y.square().sum(-1, keepdim=True)))
        signed = super(PoincareLinear, layer).forward(x)
        torch.testing.assert_close(to_axis, signed)

    def test_gyromidpoint_is_the_lorentz_centroid_seen_in_the_ball(self):
        manifold = Lorentz()
        points, weights = manifold.random_normal(6, 4).double(), torch.rand(2, 6).double()
        points = manifold.projx(points)
        c = torch.ones(()).double()
        ball = manifold.to_poincare(points)
        expected = manifold.to_poincare(manifold.to_sheet(weights @ points))
        torch.testing.assert_close(gyromidpoint(weights, ball, c), expected)
        torch.testing.assert_close(squared_distances(ball, ball[:2], c), manifold.cdist(points, points[:2]).square())
