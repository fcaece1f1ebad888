"""Mixed precision: a Transformer trained under bfloat16 autocast ends where float32 ends, and points stay points."""

import math

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzMultiheadAttention,
    LorentzPositionalEncoding,
    LorentzTransformer,
    lorentz_attention,
)
from hybonet.optim import RiemannianAdam, clip_grad_norm_

from . import plain
from .catalogue import LAYERS, K, first, points

WORDS, LENGTH, NOISE, STEPS = 6, 4, 0.25, 200

#: Cross-entropy of the best possible model, which knows each word up to the noise. Chance is log(6) = 1.79.
RIGHT, WRONG = 1 - NOISE + NOISE / WORDS, NOISE / WORDS
FLOOR = -RIGHT * math.log(RIGHT) - (WORDS - 1) * WRONG * math.log(WRONG)


class Reverser(nn.Module):
    """A sequence in, the same sequence backwards out."""

    def __init__(self) -> None:
        super().__init__()
        manifold = Lorentz()
        self.source, self.target = (LorentzEmbedding(WORDS + 1, 32, manifold=manifold) for _ in range(2))
        self.position = LorentzPositionalEncoding(32, LENGTH, kind="sinusoidal", manifold=manifold)
        self.transformer = LorentzTransformer(32, 2, 1, 1, 64, 0.0, manifold=manifold)
        self.head = LorentzDistanceHead(32, WORDS, manifold=manifold)

    def forward(self, source, target):
        x, y = self.position(self.source(source)), self.position(self.target(target))
        out = self.transformer(x, y, tgt_is_causal=True)
        return out, self.head(out)


def noisy_batch(size, generator):
    """Words, and their reversal in which a quarter was drawn anew: no model can bring the loss to zero."""
    source = torch.randint(WORDS, (size, LENGTH), generator=generator)
    noise = torch.rand(source.shape, generator=generator) < NOISE
    labels = torch.where(noise, torch.randint(WORDS, source.shape, generator=generator), source.flip(1))
    before = torch.cat((torch.full((size, 1), WORDS), labels[:, :-1]), dim=1)
    return source, before, labels


def train(half: bool):
    """200 steps from the same start on the same batches; returns the last points, all losses, and the held-out loss."""
    torch.manual_seed(0)
    model, generator = Reverser(), torch.Generator().manual_seed(1)
    optimizer = RiemannianAdam(model, lr=5e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, 2 - 2 * step / STEPS))

    def forward(source, before, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            out, logits = model(source, before)
            return out, nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        out, loss = forward(*noisy_batch(32, generator))
        loss.backward()
        losses.append(loss.item())
        assert math.isfinite(losses[-1])
        assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        out, loss = forward(*noisy_batch(500, torch.Generator().manual_seed(2)))
    assert model.source.manifold.check_point(model.source.points())
    return out, losses, loss.item()


def test_bfloat16_training_ends_where_float32_ends():
    half_out, half_losses, half = train(half=True)
    full_out, full_losses, full = train(half=False)
    # The comparison means something: both learned the task from chance down to the noise, along different paths.
    for losses, last in ((half_losses, half), (full_losses, full)):
        assert losses[0] > 1.7
        assert 0.97 * FLOOR < last < 1.05 * FLOOR
    assert max(abs(a - b) for a, b in zip(half_losses, full_losses, strict=True)) > 0.01
    assert half == pytest.approx(full, rel=0.02)
    # Products are bfloat16, normalisations are not: the points are on the hyperboloid to float32.
    assert half_out.dtype == full_out.dtype == torch.float32
    plain.assert_on_sheet(half_out, -1.0)
    plain.assert_on_sheet(full_out, -1.0)


POINTS_OUT = [name for name in LAYERS if name not in ("LorentzDistanceHead", "LorentzToEuclidean", "FermiDiracDecoder")]


@pytest.mark.parametrize("name", POINTS_OUT)
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_points_under_autocast_are_on_the_sheet_to_float32(name, half):
    build, make_inputs = LAYERS[name]
    layer, inputs = build(Lorentz(K)), make_inputs()
    expected = first(layer(*inputs))
    with torch.autocast("cpu", dtype=half):
        out = first(layer(*inputs))
    assert out.dtype == torch.float32
    plain.assert_on_sheet(out, K)
    assert (out - expected).norm() < 0.05 * expected.norm()
    if out.requires_grad:
        out.square().mean().backward()
        assert all(bool(p.grad.isfinite().all()) for p in layer.parameters() if p.grad is not None)


@pytest.mark.parametrize("name", POINTS_OUT)
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_layers_wholly_in_half_precision(name, half):
    build, make_inputs = LAYERS[name]
    layer = build(Lorentz(K))
    inputs = make_inputs()
    expected = first(layer(*inputs))
    layer = layer.to(half)
    out = first(layer(*(x.to(half) if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs)))
    assert out.dtype == half
    plain.assert_on_sheet(out, K)
    assert (out - expected).norm() < 0.1 * expected.norm()


def test_attention_under_autocast_is_on_the_sheet_to_float32():
    manifold, q = Lorentz(K), points(2, 2, 4)
    expected = lorentz_attention(q, q, q, manifold=manifold)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = lorentz_attention(q, q, q, manifold=manifold)
    assert out.dtype == torch.float32
    plain.assert_on_sheet(out, K)
    assert 1e-5 < (out - expected).norm() / expected.norm() < 0.02  # computed in half precision, but not stored in it


@pytest.mark.parametrize("form", ["paper", "paper_code"])
def test_gated_attention_is_not_computed_in_half_precision(form):
    attention = LorentzMultiheadAttention(12, 3, form=form).eval()
    x = attention.manifold.random_normal(2, 7, 12, std=2.0)
    q, k, v = attention._project(x, x, x)
    expected = lorentz_attention(q, k, v, manifold=attention.manifold)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q, k, v = attention._project(x, x, x)
        inside = []
        attention.out_proj.register_forward_pre_hook(lambda _, inputs: inside.append(inputs[0]))
        _, weights = attention(x, need_weights=True)
    right = lorentz_attention(q, k, v, manifold=attention.manifold)  # of the heads that autocast made
    torch.testing.assert_close(inside[0], right.transpose(-2, -3).flatten(-2))
    assert weights.dtype == torch.float32
    assert not torch.equal(right, expected)  # the maps themselves are in half precision


def test_autocast_leaves_float64_alone():
    manifold = Lorentz(K)
    q = manifold.projx(points(2, 2, 4).double())
    expected = lorentz_attention(q, q, q, manifold=manifold)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = lorentz_attention(q, q, q, manifold=manifold)
    assert out.dtype == torch.float64
    torch.testing.assert_close(out, expected)
