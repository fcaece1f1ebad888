"""Token batches: everything once an epoch, nothing over the limit, and any place to go on from."""

from dataclasses import FrozenInstanceError

import pytest
import torch

from hybonet.data import load_corpus
from hybonet.data.text.parallel_text import Pairs, ParallelText
from hybonet.data.text.token_pairs import TokenBatches
from hybonet.data.text.tokenizer import BOS, EOS, PAD
from hybonet.data.text.translation_data import prepare
from hybonet.tasks.translation.task import TranslationSettings, TranslationTask
from hybonet.training import generator_for


@pytest.fixture(scope="module")
def task() -> TranslationTask:
    settings = TranslationSettings(dim=8, heads=2, layers=1, dropout=0.0, attention_dropout=0.0, batch_tokens=150)
    return TranslationTask(settings, prepare(load_corpus("toy"), "words", 400))


def test_every_sentence_is_in_one_batch_of_an_epoch_and_none_is_too_large(task):
    batches = task.train_batches
    epochs = [batches.shuffled(generator_for(0, epoch)) for epoch in (0, 1)]
    for rows in epochs:
        assert len(rows) == len(batches) > 20
        assert torch.cat(rows).sort().values.tolist() == list(range(600))
        assert all(len(each) * int(batches.lengths[each].max()) <= 150 for each in rows)
    assert [each.tolist() for each in epochs[0]] != [each.tolist() for each in epochs[1]]
    filled = sum(int(batches.lengths[each].sum()) for each in epochs[0]) / (150 * len(batches))
    assert filled > 0.8  # sentences of equal length are together, so that there is little padding


def test_a_batch_has_begin_end_and_padding_where_they_belong(task):
    batch = task.train_batches.batch(torch.tensor([0, 1, 2]))
    for row in range(3):
        target = task.data.tokens["train"].target[row].tolist()
        assert batch.target_in[row][: len(target) + 1].tolist() == [BOS, *target]
        assert batch.target_out[row][: len(target) + 1].tolist() == [*target, EOS]
        assert (batch.target_out[row][len(target) + 1 :] == PAD).all()
    assert batch.tokens == int((batch.target_out != PAD).sum())


def test_an_epoch_goes_on_from_any_batch(task):
    whole = list(task.batches(3, 0))
    for start in (1, 7, len(whole)):
        rest = list(task.batches(3, start))
        assert len(rest) == len(whole) - start
        assert all(torch.equal(a.source, b.source) for a, b in zip(rest, whole[start:], strict=True))


def test_processes_together_have_the_gradient_of_one(task):
    torch.manual_seed(0)
    model = task.build_model().double()
    rows = task.train_batches.in_order()[-1][:3]  # three sentences for four processes: one has none of its own
    gradients = []
    for world in (1, 4):
        model.zero_grad()
        for rank in range(world):
            (task.loss(model, task.train_batches.batch(rows, rank, world)) / world).backward()
        gradients.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    for alone, together in zip(*gradients, strict=True):
        torch.testing.assert_close(alone, together, rtol=1e-7, atol=1e-9)


def test_numbers_of_a_sentence_cannot_be_put_in_place_of_others():
    same = Pairs(("a dog",), ("ein Hund",))
    data = prepare(ParallelText("dogs", ("en", "de"), {"train": same, "valid": same}), "words", 10)
    pairs = data.tokens["train"]
    for whole, part in ((data, "tokens"), (pairs, "source"), (pairs.source, "values")):
        with pytest.raises(FrozenInstanceError):
            setattr(whole, part, None)


def test_training_pairs_of_more_than_a_hundred_tokens_are_left_out_unless_told_otherwise():
    pairs = Pairs(("a " * 100, "a " * 101), ("b", "b"))
    text = ParallelText("long", ("en", "de"), {"train": pairs, "valid": pairs})
    assert prepare(text, "words", 10).statistics()["train"] == 1
    assert prepare(text, "words", 10, max_length=101).statistics()["train"] == 2


def test_a_sentence_longer_than_a_batch_is_refused(task):
    with pytest.raises(ValueError, match=r"hold the longest sentence \(\d+ tokens with its end\), got batch_tokens=3"):
        TokenBatches(task.data.tokens["train"], 3)
