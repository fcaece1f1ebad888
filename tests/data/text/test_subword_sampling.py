"""Sentences that are cut in another way every epoch."""

import itertools
import math
import subprocess
import sys
from collections import Counter
from random import Random
from types import SimpleNamespace

import pytest

from hybonet.data import load_corpus
from hybonet.data.text.sentence_pieces import SentencePieces
from hybonet.data.text.subword_sampling import SubwordSampling, WaysToCut
from hybonet.data.text.token_pairs import TokenPairs
from hybonet.data.text.translation_data import prepare
from hybonet.tasks.translation.task import TranslationSettings, TranslationTask

pytest.importorskip("sentencepiece")
SETTINGS = TranslationSettings(vocabulary=200, dim=8, heads=2, layers=1, batch_tokens=400, subword_sampling=0.2)


@pytest.fixture(scope="module")
def data():
    return prepare(load_corpus("toy"), "unigram", 200)


def batches(data, epoch, start=0, **changes):
    task = TranslationTask(SETTINGS.model_copy(update=changes), data)
    assert len(list(task.batches(epoch, 0))) == task.batches_per_epoch()
    return [(batch.source.tolist(), batch.target_out.tolist()) for batch in task.batches(epoch, start)]


def test_an_epoch_repeats_itself_and_another_differs(data):
    first = batches(data, 0)
    batches(data, 1)
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


def every_way(word, scores):
    """All ways to cut a word, found by trying every set of places, with the log probability of each."""
    for inner in itertools.product((False, True), repeat=len(word) - 1):
        places = [0, *(place for place, cut in enumerate(inner, 1) if cut), len(word)]
        parts = [word[start:end] for start, end in itertools.pairwise(places)]
        if all(part in scores for part in parts):
            yield tuple(scores[part][0] for part in parts), sum(scores[part][1] for part in parts)


@pytest.mark.parametrize("power", [0.1, 0.25])
def test_ways_are_drawn_with_their_probability_to_the_power(power):
    text = ["then the other", "they heather", "hers here", "her hen then", "the there", "no hero her"] * 9
    pieces = SentencePieces.train(text, 26, "unigram")
    scores = {piece: (number, score) for number, (piece, score) in pieces.scores().items()}
    expected = {way: math.exp(power * log) for way, log in every_way("▁heather", scores)}
    assert len(expected) > 3
    ways, random, draws = WaysToCut(pieces, power), Random(0).random, 20_000
    counts = Counter(tuple(ways.draw(pieces.encode("heather"), random)) for _ in range(draws))
    assert counts.keys() <= expected.keys()
    for way, weight in expected.items():
        assert counts[way] / draws == pytest.approx(weight / sum(expected.values()), abs=0.02)


def test_a_way_through_a_place_that_many_reach_is_not_drawn_too_often():
    scores = {1: ("▁", -1.0), 2: ("a", -1.0), 3: ("aa", -1.4), 4: ("aaa", -1.9)}
    expected = dict(every_way("▁aaaaa", {piece: (number, score) for number, (piece, score) in scores.items()}))
    whole = sum(map(math.exp, expected.values()))
    ways, random, draws = WaysToCut(SimpleNamespace(scores=lambda: scores), 1.0), Random(0).random, 20_000
    counts = Counter(tuple(ways.draw([1, 4, 3], random)) for _ in range(draws))
    for way, log in expected.items():
        assert counts[way] / draws == pytest.approx(math.exp(log) / whole, abs=0.015)


def test_how_a_sentence_is_cut_does_not_depend_on_how_it_was_cut_before(data):
    pieces = data.source_tokenizer
    usual = pieces.encode("the small dog saw a bird")
    numbers = {piece: number for number, (piece, _) in pieces.scores().items()}
    letters = [numbers[letter] for number in usual for letter in pieces.tokens([number])[0]]
    assert len(letters) > len(usual)
    ways = WaysToCut(pieces, 0.1)
    for seed in range(20):
        assert ways.draw(letters, Random(seed).random) == ways.draw(usual, Random(seed).random)


def test_characters_without_a_piece_stay(data):
    numbers = data.source_tokenizer.encode("the small dog 雪 saw")
    unknown = data.source_tokenizer.encode("雪")[-1]
    ways = WaysToCut(data.source_tokenizer, 0.1)
    found = [ways.draw(numbers, Random(seed).random) for seed in range(20)]
    assert all(each.count(unknown) == 1 for each in found)
    assert len({len(each) for each in found}) > 1


def test_another_process_cuts_in_the_same_ways(data):
    """Or a training that was stopped would go on with other sentences."""
    script = (
        "from random import Random; from hybonet.data import load_corpus\n"
        "from hybonet.data.text.subword_sampling import WaysToCut\n"
        "from hybonet.data.text.translation_data import prepare\n"
        "data = prepare(load_corpus('toy'), 'unigram', 200); tokens = data.tokens['train'].source[0].tolist()\n"
        "print(WaysToCut(data.source_tokenizer, 0.1).draw(tokens, Random(7).random))"
    )
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    tokens = data.tokens["train"].source[0].tolist()
    assert there == str(WaysToCut(data.source_tokenizer, 0.1).draw(tokens, Random(7).random))


def test_none_is_longer_than_allowed(data):
    limit = int(max(data.tokens["train"].source.lengths.max(), data.tokens["train"].target.lengths.max()))
    found = batches(data, 0, max_length=limit)
    assert all(len(row) <= limit + 1 for batch in found for side in batch for row in side)  # and its end
    assert any(len(row) > limit + 1 for batch in batches(data, 0) for side in batch for row in side)


def test_a_drawn_sentence_as_long_as_allowed_is_taken_and_a_longer_one_is_not(data):
    pairs, pieces = data.tokens["train"], data.source_tokenizer

    def first(max_length):
        sampling = SubwordSampling(pairs, pieces, data.target_tokenizer, power=0.2, max_length=max_length)
        return sampling.draw(seed=5).source[0].tolist()

    drawn, usual = first(1000), pairs.source[0].tolist()
    assert len(drawn) > len(usual)
    assert first(len(drawn)) == drawn
    assert first(len(drawn) - 1) == usual


def test_source_and_target_are_drawn_apart(data):
    """Not even those of another epoch: neighbouring seeds are no reason for equal draws."""
    usual = data.tokens["train"].source
    pieces = data.source_tokenizer
    sampling = SubwordSampling(TokenPairs(usual, usual), pieces, pieces, power=0.2, max_length=100)
    first, second = sampling.draw(seed=5), sampling.draw(seed=6)
    sides = [first.source, first.target, second.source, second.target]
    drawn = [[side[row].tolist() for row in range(len(side))] for side in sides]
    assert all(one != other for one, other in itertools.combinations(drawn, 2))


def test_only_unigram_pieces_can_be_drawn():
    with pytest.raises(ValueError, match=r"subword_sampling with tokenizer=unigram, got tokenizer=bpe"):
        TranslationSettings(tokenizer="bpe", subword_sampling=0.2)
