"""Sentences that are cut in another way every epoch."""

import pytest

from hybonet.data.corpora import load_named_corpus
from hybonet.data.translation_data import prepare
from hybonet.tasks.translation import TranslationSettings, TranslationTask

pytest.importorskip("sentencepiece")
SETTINGS = TranslationSettings(vocabulary=200, dim=8, heads=2, layers=1, batch_tokens=400, subword_sampling=0.2)


@pytest.fixture(scope="module")
def data():
    return prepare(load_named_corpus("toy"), "unigram", 200)


def batches(data, epoch, start=0, **changes):
    task = TranslationTask(SETTINGS.model_copy(update=changes), data)
    assert len(list(task.batches(epoch, 0))) == task.batches_per_epoch()
    return [(batch.source.tolist(), batch.target_out.tolist()) for batch in task.batches(epoch, start)]


def test_an_epoch_repeats_itself_and_another_differs(data):
    first = batches(data, 0)
    batches(data, 1)  # sentencepiece's random numbers have moved on by now
    assert batches(data, 0) == first
    assert batches(data, 0, start=3) == first[3:]
    assert batches(data, 1) != first
    assert batches(data, 0, seed=1) != first


def test_the_sentences_are_the_same_whatever_way_they_are_cut(data):
    def texts(found):
        source, target = data.source_tokenizer, data.target_tokenizer
        return [
            (source.decode(first), target.decode(second))
            for batch in found
            for first, second in zip(*batch, strict=True)
        ]

    sampled, usual = batches(data, 0), batches(data, 0, subword_sampling=None)
    assert texts(sampled) == texts(usual)
    assert sampled != usual


def test_none_is_longer_than_allowed(data):
    limit = int(max(data.tokens["train"].source.lengths.max(), data.tokens["train"].target.lengths.max()))
    found = batches(data, 0, max_length=limit)
    assert all(len(row) <= limit + 1 for batch in found for side in batch for row in side)  # and its end
    assert any(len(row) > limit + 1 for batch in batches(data, 0) for side in batch for row in side)


def test_only_unigram_pieces_can_be_drawn():
    with pytest.raises(ValueError, match=r"subword_sampling with tokenizer=unigram, got tokenizer=bpe"):
        TranslationSettings(tokenizer="bpe", subword_sampling=0.2)
