"""Stacks of the default layers learn, at the rates of Euclidean ones."""

import pytest
import torch
import torch.nn.functional as F

from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzPositionalEncoding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
)
from hybonet.optim import RiemannianAdam


def loss_after(steps: int, rate: float, *, width: int = 32, layers: int = 6, reverse: bool = False) -> float:
    """Of copying or reversing rows of twelve words out of fifty: chance is log 50 = 3.9."""
    torch.manual_seed(0)
    parts = [
        LorentzEmbedding(50, width),
        LorentzPositionalEncoding(width, 12) if reverse else torch.nn.Identity(),
        LorentzTransformerEncoder(LorentzTransformerEncoderLayer(width, 4, 2 * width, 0.0), layers),
        LorentzDistanceHead(width, 50),
    ]
    model = torch.nn.Sequential(*parts)
    optimizer = RiemannianAdam(model, lr=rate)
    for _ in range(steps):
        words = torch.randint(50, (32, 12))
        loss = F.cross_entropy(model(words).flatten(0, 1), (words.flip(1) if reverse else words).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@pytest.mark.parametrize(("width", "layers", "steps"), [(16, 6, 60), (32, 6, 40), (256, 2, 8), (16, 24, 40)])
def test_copying_is_learned_at_once(width, layers, steps):
    assert loss_after(steps, 3e-3, width=width, layers=layers) < 1.0


def test_learned_positions_are_learned():
    assert loss_after(120, 3e-3, layers=2, reverse=True) < 1.0
