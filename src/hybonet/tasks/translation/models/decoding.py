"""From scores of the next token to sentences: greedy, beam search and sampling, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from hybonet.geometry.numerics import working
from hybonet.tasks.translation.models.translation_model import TranslatorBase


@dataclass(frozen=True)
class Hypothesis:
    """A translation: its tokens without ``begin`` and ``end``, and how good it is."""

    tokens: list[int]
    #: What hypotheses are ranked by: the log probability, for beam search divided by the length penalty.
    score: float
    #: Logarithm of the probability of the tokens and the ``end`` after them.
    log_probability: float


@torch.no_grad()
def greedy(model: TranslatorBase, source: Tensor, *, max_length: int | None = None) -> list[Hypothesis]:
    """The likeliest next token, always; one hypothesis per sentence ``(B, S)``.

    ``max_length`` is the most tokens a translation may have; those that reach it are ended there.
    """
    return _one_by_one(model, source, max_length, lambda scores: scores.argmax(-1))


@torch.no_grad()
def sample(
    model: TranslatorBase,
    source: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_length: int | None = None,
    generator: torch.Generator | None = None,
) -> list[Hypothesis]:
    """A translation drawn at random for each sentence ``(B, S)``.

    Args:
        top_p: draw among the likeliest tokens that together have at least this probability.
        generator: the source of chance, on the processor; torch's global one by default.

    Scores are those of the model, not of the narrowed distribution that was drawn from.
    """
    if not temperature > 0:
        raise ValueError(f"expected temperature > 0, got {temperature}; for the likeliest tokens decode greedily")
    if top_k is not None and top_k < 1:
        raise ValueError(f"expected top_k of at least 1, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"expected top_p above 0 and at most 1, got {top_p}")

    def draw(scores: Tensor) -> Tensor:
        ordered, token = (scores / temperature).sort(-1, descending=True)
        chance = torch.softmax(ordered, dim=-1)
        if top_p is not None:
            chance = chance.masked_fill(chance.cumsum(-1) - chance >= top_p, 0.0)
        if top_k is not None:
            chance = chance[:, :top_k]
        place = torch.multinomial(chance.cpu(), 1, generator=generator)
        return token.gather(-1, place.to(token.device))[:, 0]

    return _one_by_one(model, source, max_length, draw)


@torch.no_grad()
def beam_search(
    model: TranslatorBase,
    source: Tensor,
    *,
    beam: int = 4,
    length_penalty: float = 1.0,
    n_best: int = 1,
    max_length: int | None = None,
) -> list[list[Hypothesis]]:
    r"""The best translations that a beam finds, best first, for each sentence ``(B, S)``.

    Scores are :math:`\log p \,/\, \big((5 + n)/6\big)^\alpha` with n the number of tokens, ``end`` included, and α the
    length penalty. A sentence is finished when no open hypothesis can still become better than the ``n_best`` found,
    or, once ``beam`` have ended, would be by ending next; finished sentences leave the batch.

    Args:
        length_penalty: α; 0 ranks by probability alone, which favours short translations.
        n_best: hypotheses to return, at most ``beam``; fewer if the vocabulary has not so many.
    """
    if beam < 1:
        raise ValueError(f"expected a beam of at least 1, got {beam}")
    if not 1 <= n_best <= beam:
        raise ValueError(f"expected n_best from 1 to the beam's {beam}, got {n_best}; widen the beam")
    limit = _limit(model, max_length)
    found: list[list[Hypothesis]] = [[] for _ in range(len(source))]
    if not len(source):
        return found
    sentences = torch.arange(len(source), device=source.device)  # those still open
    cache = model.start(model.encode(source), beam)
    tokens = torch.full((len(source), beam, 0), 0, dtype=torch.long, device=source.device)
    last = torch.full((len(source) * beam,), model.begin, dtype=torch.long, device=source.device)
    # All copies are equal at first: only one of them may go on.
    total = torch.full((len(source), beam), -torch.inf, device=source.device)
    total[:, 0] = 0.0
    for length in range(limit + 1):
        penalty = _penalty(length + 1, length_penalty)
        scores, normaliser = _allowed(model, model.step(last, cache), only_end=length == limit)
        count = min(2 * beam, scores.shape[-1])
        step, token = scores.topk(count, dim=-1)
        step = (step - normaliser).unflatten(0, (-1, beam)) + total[..., None]
        best, place = step.flatten(1).topk(2 * beam, dim=-1)  # twice the beam, so that it stays full whatever ends
        origin = place // count
        token = token.unflatten(0, (-1, beam)).flatten(1).gather(-1, place)
        ends = token == model.end
        _keep_ended(found, sentences, tokens, origin[:, :beam], best[:, :beam], ends[:, :beam], penalty)
        total, chosen = best.masked_fill(ends, -torch.inf).topk(beam, dim=-1)
        origin, token = origin.gather(-1, chosen), token.gather(-1, chosen)
        # A hypothesis only loses probability: what it can reach at best, it reaches by ending next or at the limit.
        soon = _penalty(length + 2, length_penalty)
        reach = max(soon, _penalty(limit + 1, length_penalty))
        open_rows = [
            row
            for row, (sentence, most) in enumerate(zip(sentences.tolist(), total[:, 0].tolist(), strict=True))
            if most > -torch.inf
            and _may_improve(found[sentence], most / (soon if len(found[sentence]) >= beam else reach), n_best)
        ]
        if not open_rows:
            break
        keep = torch.tensor(open_rows, device=source.device)
        sentences, total, origin, token = sentences[keep], total[keep], origin[keep], token[keep]
        tokens = torch.cat((tokens[keep[:, None], origin], token[..., None]), dim=-1)
        cache.reorder((keep[:, None] * beam + origin).flatten())
        last = token.flatten()
    return [sorted(each, key=lambda h: -h.score)[:n_best] for each in found]


def _penalty(tokens: int, length_penalty: float) -> float:
    return ((5 + tokens) / 6) ** length_penalty


def _may_improve(found: list[Hypothesis], reachable: float, n_best: int) -> bool:
    """Whether hypotheses that reach at most a given score may still change what a sentence's search returns."""
    return len(found) < n_best or sorted(h.score for h in found)[-n_best] < reachable


def _keep_ended(
    found: list[list[Hypothesis]],
    sentences: Tensor,
    tokens: Tensor,
    origin: Tensor,
    best: Tensor,
    ends: Tensor,
    penalty: float,
) -> None:
    """Add the hypotheses that end now to their sentences' finds."""
    rows, places = (ends & (best > -torch.inf)).nonzero(as_tuple=True)
    ended = tokens[rows, origin[rows, places]].tolist()
    for sentence, words, value in zip(sentences[rows].tolist(), ended, best[rows, places].tolist(), strict=True):
        found[sentence].append(Hypothesis(words, value / penalty, value))


def _allowed(model: TranslatorBase, logits: Tensor, *, only_end: bool) -> tuple[Tensor, Tensor]:
    """Logits without what never follows, ``(N, V)``, and the logarithm of their normaliser, ``(N, 1)``."""
    logits = working(logits)
    logits[:, [model.padding, model.begin]] = -torch.inf
    normaliser = logits.logsumexp(-1, keepdim=True)
    if only_end:
        end = logits[:, model.end].clone()
        logits.fill_(-torch.inf)[:, model.end] = end
    return logits, normaliser


def _limit(model: TranslatorBase, max_length: int | None) -> int:
    """The most tokens a translation may have; ``begin`` takes one of the model's positions."""
    most = model.max_length - 1
    if max_length is None:
        return most
    if not 1 <= max_length <= most:
        raise ValueError(
            f"expected max_length from 1 to {most}, which is what the model was built for, got {max_length}; "
            "a larger one takes a model with a larger max_length"
        )
    return max_length


def _one_by_one(
    model: TranslatorBase, source: Tensor, max_length: int | None, choose: Callable[[Tensor], Tensor]
) -> list[Hypothesis]:
    """One hypothesis per sentence, by a rule that chooses from the logits; finished ones leave the batch."""
    limit = _limit(model, max_length)
    words: list[list[int]] = [[] for _ in range(len(source))]
    totals = torch.zeros(len(source), dtype=torch.float64, device=source.device)
    sentences = torch.arange(len(source), device=source.device)  # those still open
    if not len(source):
        return []
    cache = model.start(model.encode(source))
    last = torch.full_like(sentences, model.begin)
    for length in range(limit + 1):
        scores, normaliser = _allowed(model, model.step(last, cache), only_end=length == limit)
        last = choose(scores)
        totals[sentences] += (scores.gather(-1, last[:, None]) - normaliser)[:, 0].double()
        keep = (last != model.end).nonzero()[:, 0]
        if len(keep) < len(last):
            cache.reorder(keep)
            sentences, last = sentences[keep], last[keep]
        if not len(keep):
            break
        for sentence, token in zip(sentences.tolist(), last.tolist(), strict=True):
            words[sentence].append(token)
    return [Hypothesis(tokens, total, total) for tokens, total in zip(words, totals.tolist(), strict=True)]
