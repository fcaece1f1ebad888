"""Many sentences translated by a model, in batches of about equal length."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from hybonet.data.text.token_pairs import Sequences
from hybonet.tasks.translation.models.decoding import Hypothesis, beam_search, greedy, sample
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.training import generator_for


@dataclass(frozen=True)
class Decoding:
    """How translations are searched for, or drawn at random.

    Args:
        beam: translations followed at a time; 1 takes the likeliest token, always.
        length_penalty: by which power of their length they are compared.
        n_best: translations returned for a sentence.
        temperature: draw at random instead of searching; 1 as the model says, lower is tamer.
        top_k, top_p: draw among so many likeliest tokens; among those with so much probability together.
        max_length: most tokens of a translation; as many as the model can by default.

    Example:
        >>> Decoding(beam=2, n_best=3)
        Traceback (most recent call last):
        ValueError: expected n_best of at most the beam's 2, got 3; widen the beam
    """

    beam: int = 4
    length_penalty: float = 1.0
    n_best: int = 1
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
    max_length: int | None = None

    def __post_init__(self) -> None:
        for name, value, expected, fits in (
            ("beam", self.beam, "of at least 1", self.beam >= 1),
            ("n_best", self.n_best, "of at least 1", self.n_best >= 1),
            ("length_penalty", self.length_penalty, "of at least 0", 0 <= self.length_penalty < math.inf),
            ("temperature", self.temperature, "above 0", self.temperature is None or 0 < self.temperature < math.inf),
            ("top_k", self.top_k, "of at least 1", self.top_k is None or self.top_k >= 1),
            ("top_p", self.top_p, "above 0 and at most 1", self.top_p is None or 0 < self.top_p <= 1),
        ):
            if not fits:
                raise ValueError(f"expected {name} {expected}, got {value}")
        if self.temperature is None and (self.top_k is not None or self.top_p is not None):
            raise ValueError("expected top_k and top_p with a temperature: a search draws nothing at random; give both")
        if self.temperature is None and self.n_best > self.beam:
            raise ValueError(f"expected n_best of at most the beam's {self.beam}, got {self.n_best}; widen the beam")


def decode_all(
    model: TranslatorBase,
    sentences: Sequences,
    how: Decoding,
    *,
    batch_size: int = 64,
    progress: Callable[[int], None] | None = None,
) -> list[list[Hypothesis]]:
    """Translations of sentences (numbers without end), ``n_best`` for each, in the order of the sentences.

    ``progress`` is called with the number of sentences done after each batch.
    """
    found: list[list[Hypothesis]] = [[] for _ in range(len(sentences))]
    device = next(model.parameters()).device
    order = sentences.lengths.argsort(descending=True, stable=True)  # memory runs out at once or never
    for number, rows in enumerate(order.split(batch_size) if len(order) else ()):
        source = sentences.padded(rows.tolist(), end=True).to(device)
        for row, hypotheses in zip(rows.tolist(), _decode(model, source, how, number), strict=True):
            found[row] = hypotheses
        if progress is not None:
            progress(len(rows))
    return found


@torch.no_grad()
def _decode(model: TranslatorBase, source: torch.Tensor, how: Decoding, batch: int) -> Sequence[list[Hypothesis]]:
    if how.temperature is not None:
        drawn = sample(
            model,
            source.repeat_interleave(how.n_best, dim=0),
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
            max_length=how.max_length,
            generator=generator_for(how.seed, batch),
        )
        groups = [drawn[start : start + how.n_best] for start in range(0, len(drawn), how.n_best)]
        return [sorted(group, key=lambda hypothesis: -hypothesis.score) for group in groups]
    if how.beam == 1:
        return [[hypothesis] for hypothesis in greedy(model, source, max_length=how.max_length)]
    return beam_search(
        model,
        source,
        beam=how.beam,
        length_penalty=how.length_penalty,
        n_best=how.n_best,
        max_length=how.max_length,
    )
