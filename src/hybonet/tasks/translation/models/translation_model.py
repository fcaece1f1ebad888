"""What every translation model has in common: source sentences in, scores of the next target token out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry.numerics import working
from hybonet.kernels.inner_softmax import Places, inner_softmax_loss


class Memory(NamedTuple):
    """An encoded batch of source sentences: states ``(B, S, d)``, and where they are padding ``(B, S)``."""

    states: Tensor
    padding: Tensor
    #: What attention gathers, ``(B, S, d)``, in models where it is not the states.
    values: Tensor | None = None


class AttentionMaps(NamedTuple):
    """Attention weights of each layer, ``(B, heads, queries, keys)``; a kind that a model has not is empty."""

    encoder: list[Tensor]
    decoder: list[Tensor]
    cross: list[Tensor]


class DecodingCache(ABC):
    """What a model remembers of the positions decoded so far, ``copies`` rows for each source sentence."""

    def __init__(self, memory: Memory, copies: int) -> None:
        self.memory, self.copies, self.position = memory, copies, 0

    @abstractmethod
    def reorder(self, rows: Tensor) -> None:
        """Keep these rows, in this order; rows of one sentence stay together, ``copies`` of each sentence kept."""


class TranslatorBase(nn.Module, ABC):
    """An encoder of source sentences and a decoder that scores the next token of the target.

    Sentences are rows of token ids, padded at the end; the target given to the decoder starts with ``begin``. Masks
    follow from the padding.

    ``forward(source, target_in)`` gives logits ``(B, T, target_vocab)``. ``forward(source, target_in, labels,
    label_smoothing=ε)`` gives the mean cross-entropy of the labels ``(B, T)`` over all that are not padding, without
    ever holding the logits: train with this call, through whatever wraps the model (DDP, a compiled module). Without
    smoothing its exponential is the perplexity. ``model.compile(dynamic=True)`` compiles the layers for it; one graph
    a kind of layer serves all of them and all batch sizes and lengths.

    Decoding, under ``torch.no_grad()``: ``cache = model.start(model.encode(source), copies=beam)``, then
    ``model.step(tokens, cache)`` gives logits of the next token for every row (see ``decoding.py``).
    Row ``i * copies + j`` is copy j of sentence i.

    Args:
        dim: coordinates of a state (time included, for Lorentz models).
        layers: of the encoder, and as many of the decoder.
        heads, feedforward: of each layer; ``feedforward`` counts coordinates, 4 ``dim`` by default.
        dropout: on embedded tokens, and inside layers; attention_dropout: on attention weights.
        max_length: the longest sentence on either side, in tokens, ``begin`` or ``end`` included.
        padding, begin, end: ids of the special tokens, the same on both sides.
    """

    head: nn.Module

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        dim: int,
        *,
        layers: int = 6,
        heads: int = 4,
        feedforward: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float = 0.1,
        share_vocabulary: bool = False,
        max_length: int = 256,
        padding: int = 0,
        begin: int = 2,
        end: int = 3,
    ) -> None:
        super().__init__()
        if share_vocabulary and source_vocab != target_vocab:
            raise ValueError(
                f"expected vocabularies of one size to share, got {source_vocab} source and {target_vocab} target "
                "tokens; build one vocabulary from both sides, or leave share_vocabulary out"
            )
        special = {"padding": padding, "begin": begin, "end": end}
        if len(set(special.values())) < 3 or not all(
            0 <= i < min(source_vocab, target_vocab) for i in special.values()
        ):
            raise ValueError(f"expected three different ids within both vocabularies, got {special}")
        self.source_vocab, self.target_vocab, self.dim = source_vocab, target_vocab, dim
        self.depth, self.heads, self.inside = layers, heads, 4 * dim if feedforward is None else feedforward
        self.dropout, self.attention_dropout = dropout, attention_dropout
        self.share_vocabulary, self.max_length = share_vocabulary, max_length
        self.padding, self.begin, self.end = padding, begin, end

    def embed_tokens(self, table: Callable[[int], nn.Module]) -> None:
        """A table of tokens for each side, or one for both; it is made of the number of tokens."""
        self.target_embedding = table(self.target_vocab)
        self.source_embedding = self.target_embedding if self.share_vocabulary else table(self.source_vocab)

    @abstractmethod
    def layer_states(self, source: Tensor) -> list[Tensor]:
        """States after the embedding and after every encoder layer, ``(B, S) -> (B, S, d)`` each; the last are the
        memory's. Layers between may be of another width than ``dim``.
        """

    @abstractmethod
    def decode(self, target_in: Tensor, memory: Memory) -> Tensor:
        """What the output layer reads at every target position, ``(B, T) -> (B, T, d)``."""

    @abstractmethod
    def start(self, memory: Memory, copies: int = 1) -> Any:
        """A cache to decode step by step, with so many rows for each sentence."""

    @abstractmethod
    def step(self, tokens: Tensor, cache: Any) -> Tensor:
        """Logits ``(N, target_vocab)`` of what follows the rows' next tokens ``(N,)``; the cache remembers them."""

    @abstractmethod
    def attention_maps(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """The attention weights of every layer, for pictures."""

    @abstractmethod
    def repeated_layers(self) -> Iterator[nn.Module]:
        """The layers that nearly all of the work is done in."""

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of all target tokens, ``(..., d) -> (..., target_vocab)``."""
        return self.head(hidden)

    def inner_form(self, hidden: Tensor) -> tuple[Tensor, Tensor] | None:
        """``(question, candidates)`` whose products are the logits up to a number per row; None if there are none such.

        Shapes: ``(N, d) -> (N, k), (target_vocab, k)``.
        """
        return None

    def encode(self, source: Tensor) -> Memory:
        """States of source sentences ``(B, S)``, with their padding."""
        return Memory(self.layer_states(source)[-1], source == self.padding)

    def forward(
        self, source: Tensor, target_in: Tensor, labels: Tensor | None = None, *, label_smoothing: float = 0.0
    ) -> Tensor:
        hidden = self.decode(target_in, self.encode(source))
        return self.logits(hidden) if labels is None else self._loss(hidden, labels, label_smoothing)

    def compile(self, *args: Any, **options: Any) -> None:
        """Compile every layer apart, with the options of ``torch.compile``.

        Layers of a kind share their code, so that it is traced and built once and not once a layer: a graph of the
        whole model would take many minutes. Steps of decoding are not compiled.
        """
        for layer in self.repeated_layers():
            layer.compile(*args, **options)

    def _loss(self, hidden: Tensor, labels: Tensor, label_smoothing: float) -> Tensor:
        """Mean cross-entropy of the labels that are not padding."""
        asked = labels != self.padding
        hidden, labels = hidden[asked], labels[asked]
        form = self.inner_form(hidden)
        if form is None:
            total = F.cross_entropy(self.logits(hidden), labels, label_smoothing=label_smoothing, reduction="sum")
        else:
            total = token_cross_entropy(*form, labels, label_smoothing)
        return total / max(1, len(labels))


def token_cross_entropy(question: Tensor, candidates: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    r"""Sum of :math:`\log\sum_j e^{s_{ij}} - (1-\varepsilon)\, s_{i,y_i} - \varepsilon\,\overline{s_i}` with
    :math:`s_{ij} = q_i \cdot c_j`, as ``F.cross_entropy(question @ candidates.T, labels, label_smoothing=ε)`` has it.

    A number added to all scores of a row changes nothing. Half precision is computed in float32. Shapes:
    ``(N, k), (V, k), (N,) -> ()``. Differentiable once.
    """
    question, candidates = working(question), working(candidates)
    rows = torch.arange(len(labels), device=labels.device)
    truth = (question * candidates[labels]).sum(-1)
    loss = inner_softmax_loss(question, candidates, truth, weight=torch.ones_like(truth), left_out=Places(rows, labels))
    if label_smoothing:
        # The mean of all scores needs none of them: it is the product with the candidates' mean. Not by @, which
        # autocast would round.
        loss = loss + label_smoothing * (truth.sum() - (question.sum(0) * candidates.mean(0)).sum())
    return loss


@contextmanager
def recorded_weights(blocks: Iterable[nn.Module]) -> Iterator[dict[nn.Module, Tensor]]:
    """While inside, every call of a block asks it for its weights, head by head; they are in the dictionary afterwards.

    Blocks are called as ``nn.MultiheadAttention`` is: ``need_weights``, ``average_attn_weights``, and a pair as answer.
    """
    weights: dict[nn.Module, Tensor] = {}

    def ask(block: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return given, {**named, "need_weights": True, "average_attn_weights": False}

    def keep(block: nn.Module, given: tuple[Any, ...], answer: tuple[Tensor, Tensor]) -> None:
        weights[block] = answer[1]

    handles = []
    for block in blocks:
        handles += [block.register_forward_pre_hook(ask, with_kwargs=True), block.register_forward_hook(keep)]
    try:
        with torch.compiler.set_stance("force_eager"):  # a compiled caller knows nothing of hooks
            yield weights
    finally:
        for handle in handles:
            handle.remove()
