"""Losses against torch's own, and estimates against what they estimate."""

import math

import pytest
import torch
import torch.nn.functional as F

from hybonet.tasks.knowledge_graph.losses import (
    all_entities_loss,
    binary_loss,
    binary_loss_against,
    regularisation,
    self_adversarial_loss,
    softmax_loss,
    triple_loss,
)

B, C = 6, 9


@pytest.fixture
def scores():
    torch.manual_seed(0)
    return torch.randn(B, dtype=torch.float64) * 3, torch.randn(B, C, dtype=torch.float64) * 3


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_binary_loss_is_torchs(scores, smoothing):
    truth, others = scores
    both = torch.cat((truth[:, None], others), 1)
    target = torch.full_like(both, smoothing)
    target[:, 0] = 1 - smoothing
    expected = F.binary_cross_entropy_with_logits(both, target, reduction="none").mean(1)
    torch.testing.assert_close(binary_loss(truth, others, smoothing=smoothing), expected)


def test_softmax_loss_is_torchs(scores):
    truth, others = scores
    both = torch.cat((truth[:, None], others), 1)
    expected = F.cross_entropy(both, torch.zeros(B, dtype=torch.long), reduction="none")
    torch.testing.assert_close(softmax_loss(truth, others), expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_sampled_softmax_estimates_the_full_one(smoothing):
    torch.manual_seed(0)
    every = torch.randn(1, 50_000, dtype=torch.float64)
    full = F.cross_entropy(every, torch.tensor([0]), label_smoothing=smoothing)
    pool = torch.randint(1, 50_000, (20_000,))
    sampled = softmax_loss(every[:, 0], every[:, pool], smoothing=smoothing, total=torch.tensor([49_999]))
    assert sampled.item() == pytest.approx(full.item(), abs=0.03)
    assert abs(softmax_loss(every[:, 0], every[:, pool]).item() - full.item()) > 0.5  # without the weight it does not


def test_candidates_drawn_more_often_than_there_are_others_stand_for_less_than_one():
    loss = softmax_loss(torch.zeros(1), torch.zeros(1, 8), total=torch.tensor([2]))
    assert loss.item() == pytest.approx(math.log(1 + 2))


def test_self_adversarial_loss_is_its_formula(scores):
    truth, others = scores
    weight = torch.softmax(0.5 * others, 1)
    expected = -(F.logsigmoid(truth) + (weight * F.logsigmoid(-others)).sum(1)) / 2
    torch.testing.assert_close(self_adversarial_loss(truth, others, temperature=0.5), expected)


def test_self_adversarial_weights_are_no_way_for_the_gradient(scores):
    truth, others = scores
    others.requires_grad_()
    self_adversarial_loss(truth, others).sum().backward()
    torch.testing.assert_close(others.grad, (torch.softmax(others, 1) * torch.sigmoid(others)).detach() / 2)


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_self_adversarial_candidates_may_be_masked(temperature):
    others = torch.tensor([[1.0, -torch.inf, 2.0], [-torch.inf] * 3], requires_grad=True)
    loss = self_adversarial_loss(torch.zeros(2), others, temperature=temperature)
    without = self_adversarial_loss(torch.zeros(1), torch.tensor([[1.0, 2.0]]), temperature=temperature)
    torch.testing.assert_close(loss, torch.cat((without, torch.tensor([math.log(2) / 2]))))
    loss.sum().backward()
    assert others.grad.isfinite().all()


@pytest.mark.parametrize("kind", ["bce", "softmax", "self_adversarial"])
def test_candidates_at_minus_infinity_do_not_count(scores, kind):
    truth, others = scores
    masked = torch.cat((others, torch.full((B, 3), -torch.inf, dtype=others.dtype)), 1).requires_grad_()
    loss = triple_loss(kind, truth, masked, smoothing=0.1 if kind != "self_adversarial" else 0.0)
    expected = triple_loss(kind, truth, others, smoothing=0.1 if kind != "self_adversarial" else 0.0)
    torch.testing.assert_close(loss, expected)
    loss.sum().backward()
    assert masked.grad.isfinite().all()


@pytest.mark.parametrize("kind", ["bce", "softmax", "self_adversarial"])
def test_all_entities_are_the_truth_and_the_others(scores, kind):
    truth, others = scores
    every = torch.cat((others[:, :4], truth[:, None], others[:, 4:]), 1)
    loss = all_entities_loss(kind, every, torch.full((B,), 4))
    torch.testing.assert_close(loss, triple_loss(kind, truth, others))


def test_regularisation_is_n3_of_all_parts():
    parts = [torch.tensor([[1.0, -2.0], [0.0, 1.0]]), torch.tensor([[3.0]])]
    assert regularisation(parts, 3).item() == pytest.approx((9 + 1) / 2 + 27)
    assert math.isclose(regularisation(parts, 2).item(), (5 + 1) / 2 + 9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_binary_loss_with_its_gradient_is_the_plain_one(dtype):
    torch.manual_seed(0)
    scores = (20 * torch.randn(6, 9, dtype=dtype)).requires_grad_()
    wrong = torch.rand(6, 8) < 0.6
    wrong[0], wrong[1] = False, True
    weight = torch.rand(6, dtype=dtype)
    results = []
    for fused in (True, False):
        masked = scores[:, 1:].masked_fill(~wrong, -torch.inf)
        loss = binary_loss_against(scores, wrong) if fused else binary_loss(scores[:, 0], masked)
        results.append((loss, *torch.autograd.grad((weight * loss).sum(), scores)))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
