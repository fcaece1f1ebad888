"""Decoding against brute force: a vocabulary so small that all translations can be written down."""

import itertools
import math

import pytest
import torch

from hybonet.tasks.translation.models.convolution_translator import ConvolutionTranslator
from hybonet.tasks.translation.models.decoding import beam_search, greedy, sample
from hybonet.tasks.translation.models.translator import Translator
from tests.tasks.translation.translators import build

#: Tokens that a translation of the tiny model may have: unknown, 4 and 5.
WORDS, END, LIMIT = (1, 4, 5), 3, 3
SOURCES = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0], [5, 5, 3, 0]])


@pytest.fixture(scope="module", params=[Translator, ConvolutionTranslator], ids=lambda kind: kind.__name__)
def model(request):
    return build(request.param, source=8, target=6, layers=1)


def log_probabilities(model, source, tokens):
    """Of each next token after a prefix, by the full forward; padding and begin never follow."""
    logits = model(source[None], torch.tensor([[2, *tokens]]))[0, -1]
    logits[[0, 2]] = -torch.inf
    return torch.log_softmax(logits, -1).tolist()


@pytest.fixture(scope="module")
def translations(model):
    """All translations of each source."""
    return [all_translations(model, source) for source in SOURCES]


@torch.no_grad()
def all_translations(model, source):
    """Every translation of at most LIMIT tokens with its log probability."""
    found = {}
    for length in range(LIMIT + 1):
        for tokens in itertools.product(WORDS, repeat=length):
            total = 0.0
            for i, token in enumerate((*tokens, END)):
                total += log_probabilities(model, source, tokens[:i])[token]
            found[tokens] = total
    return found


def penalised(total, tokens, alpha):
    return total / ((5 + len(tokens) + 1) / 6) ** alpha


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5])
def test_a_beam_wide_enough_finds_what_enumeration_finds(model, translations, alpha):
    searched = beam_search(model, SOURCES, beam=40, n_best=40, length_penalty=alpha, max_length=LIMIT)
    for every, found in zip(translations, searched, strict=True):
        expected = sorted(((penalised(p, t, alpha), t) for t, p in every.items()), reverse=True)
        assert [tuple(h.tokens) for h in found] == [tokens for _, tokens in expected]
        for hypothesis, (score, tokens) in zip(found, expected, strict=True):
            assert math.isclose(hypothesis.score, score, rel_tol=1e-6)
            assert math.isclose(hypothesis.log_probability, every[tokens], rel_tol=1e-6)


@torch.no_grad()
def plain_beam(model, source, beam, alpha):
    """Beam search as one would explain it: one sentence, no cache, lists."""
    open_, ended = [((), 0.0)], []
    for length in range(LIMIT + 1):
        candidates = []
        for tokens, total in open_:
            scores = log_probabilities(model, source, tokens)
            allowed = (END,) if length == LIMIT else (*WORDS, END)
            candidates += [((*tokens, token), total + scores[token]) for token in allowed]
        candidates.sort(key=lambda c: -c[1])
        ended += [(penalised(p, t[:-1], alpha), t[:-1]) for t, p in candidates[:beam] if t[-1] == END]
        open_ = [c for c in candidates if c[0][-1] != END][:beam]
        if not open_ or (len(ended) >= beam and max(ended)[0] >= penalised(open_[0][1], open_[0][0], alpha)):
            break
    return sorted(ended, reverse=True)


@pytest.mark.parametrize("beam", [1, 2, 3])
def test_a_narrow_beam_does_what_plain_lists_do(model, beam):
    for source, [best] in zip(SOURCES, beam_search(model, SOURCES, beam=beam, max_length=LIMIT), strict=True):
        score, tokens = plain_beam(model, source, beam, 1.0)[0]
        assert tuple(best.tokens) == tokens
        assert math.isclose(best.score, score, rel_tol=1e-6)


class Sure:
    """Counts from 4 to 9 and ends: sure of every token, it gives the end a small chance before its time."""

    begin, end, padding, max_length = 2, 3, 0, 20

    def encode(self, source):
        return source

    def start(self, memory, beam=1):
        return self

    def reorder(self, rows):
        pass

    def step(self, last, cache):
        logits = torch.full((len(last), 12), -9.0)
        logits[:, self.end] = -3.0
        following = torch.where(last == self.begin, 4, torch.where(last >= 9, self.end, last + 1))
        return logits.scatter(1, following[:, None], 0.0)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_short_translations_that_end_early_do_not_end_the_search_for_the_best(alpha):
    """A hypothesis ends at every step, so that as many as the beam is wide are there before the likeliest."""
    [[best]] = beam_search(Sure(), torch.tensor([[4, 3]]), beam=2, length_penalty=alpha)
    assert best.tokens == [4, 5, 6, 7, 8, 9]
    [[best, second]] = beam_search(Sure(), torch.tensor([[4, 3]]), beam=4, n_best=2, length_penalty=alpha)
    assert best.tokens == [4, 5, 6, 7, 8, 9]
    assert best.score > second.score


def test_greedy_takes_the_likeliest_token_every_time(model):
    for source, hypothesis in zip(SOURCES, greedy(model, SOURCES, max_length=LIMIT), strict=True):
        tokens, total = [], 0.0
        while True:
            scores = log_probabilities(model, source, tokens)
            token = END if len(tokens) == LIMIT else max((*WORDS, END), key=scores.__getitem__)
            total += scores[token]
            if token == END:
                break
            tokens.append(token)
        assert hypothesis.tokens == tokens
        assert math.isclose(hypothesis.log_probability, total, rel_tol=1e-6)


def test_samples_come_as_often_as_they_are_likely(model, translations):
    draws = 4000
    drawn = sample(model, SOURCES[:1].expand(draws, -1), max_length=LIMIT, generator=torch.Generator().manual_seed(0))
    every = translations[0]
    counts = dict.fromkeys(every, 0)
    for hypothesis in drawn:
        counts[tuple(hypothesis.tokens)] += 1
    for tokens in itertools.chain(((),), itertools.product(WORDS, repeat=1), itertools.product(WORDS, repeat=2)):
        p = math.exp(every[tokens])
        assert abs(counts[tokens] - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1


@pytest.mark.parametrize("options", [{"top_k": 2}, {"top_p": 0.6}, {"temperature": 0.5}], ids=str)
def test_narrowed_samples_come_as_often_as_they_then_are_likely(model, options):
    draws = 3000
    drawn = sample(
        model, SOURCES[:1].expand(draws, -1), max_length=LIMIT, generator=torch.Generator().manual_seed(0), **options
    )
    likely = sorted(enumerate(log_probabilities(model, SOURCES[0], [])), key=lambda each: -each[1])
    weights = [math.exp(score / options.get("temperature", 1.0)) for _, score in likely]
    total = sum(weights)
    if "top_p" in options:  # as few as reach it
        enough = next(n for n in range(1, len(weights) + 1) if sum(weights[:n]) >= options["top_p"] * total)
        weights = weights[:enough]
    weights = weights[: options.get("top_k")]
    expected = {token: weight / sum(weights) for (token, _), weight in zip(likely, weights, strict=False)}
    counts = dict.fromkeys(expected, 0)
    for hypothesis in drawn:
        counts[hypothesis.tokens[0] if hypothesis.tokens else END] += 1
    for token, p in expected.items():
        assert abs(counts[token] - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1


def test_narrowed_samples(model):
    likeliest = [h.tokens for h in greedy(model, SOURCES, max_length=LIMIT)]
    for options in ({"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-4}):
        assert [h.tokens for h in sample(model, SOURCES, max_length=LIMIT, **options)] == likeliest
    first, second = (
        [h.tokens for h in sample(model, SOURCES, max_length=LIMIT, generator=torch.Generator().manual_seed(5))]
        for _ in range(2)
    )
    assert first == second


def test_nothing_to_translate(model):
    nothing = SOURCES[:0]
    assert greedy(model, nothing) == []
    assert beam_search(model, nothing) == []


def test_bad_options_are_refused(model):
    for options, message in (
        ({"beam": 0}, "beam of at least 1"),
        ({"beam": 2, "n_best": 3}, "widen the beam"),
        ({"max_length": 12}, "from 1 to 11"),
    ):
        with pytest.raises(ValueError, match=message):
            beam_search(model, SOURCES, **options)
    for options, message in (
        ({"temperature": 0.0}, "temperature > 0"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": 1.5}, "top_p"),
    ):
        with pytest.raises(ValueError, match=message):
            sample(model, SOURCES, **options)
