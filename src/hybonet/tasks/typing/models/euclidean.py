"""MultiTask and LabelGCN: a BiLSTM with attention reads the context; types are vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from hybonet.nn.dropout import dropout
from hybonet.tasks.typing.models.mention_classifier import MentionClassifier

_PLACES = 16  # numbers for left, inside, right


class _Pool(nn.Module):
    """Attention with one learned question: weights from a small network, then their weighted sum."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.look = nn.Sequential(nn.Linear(size, inner), nn.Tanh(), nn.Linear(inner, 1))

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        weights = self.look(x).squeeze(-1).masked_fill(padding, -torch.inf)
        weights = weights.masked_fill(padding.all(-1, keepdim=True), 0.0)  # nothing but padding: any weights will do
        return (torch.softmax(weights, -1).unsqueeze(-2) @ x).squeeze(-2)


class MultiTask(MentionClassifier):
    """Choi et al. (2018): attention over the mention's words, a BiLSTM with attention over the context, and a vector a
    type. The character network of the original is left out.
    """

    def __init__(self, words: Tensor, num_types: int, dim: int = 128, **options: Any) -> None:
        super().__init__(words, num_types, dim, **options)
        size = words.shape[1]
        self.places = nn.Embedding(3, _PLACES)
        self.lstm = nn.LSTM(size + _PLACES, dim, batch_first=True, bidirectional=True)
        self.mention_pool, self.context_pool = _Pool(size, dim), _Pool(2 * dim, dim)
        self.merge = nn.Linear(size + 2 * dim, dim)
        self.types = nn.Linear(dim, num_types)
        nn.init.normal_(self.types.weight, std=self.type_std or dim**-0.5)
        nn.init.zeros_(self.types.bias)

    @property
    def type_bias(self) -> Tensor:
        return self.types.bias

    def represent(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        """A vector for each mention in its context, ``(N, dim)``."""
        m = self.mention_pool(self._dropped(self.words[mention]), mention == 0)
        x = torch.cat((self._dropped(self.words[context]), self.places(place.sign() + 1)), dim=-1)
        length = (context != 0).sum(-1).clamp_min(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(x, length, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=context.shape[1])
        c = self.context_pool(self._dropped(h), context == 0)
        return torch.tanh(self.merge(dropout(torch.cat((m, c), dim=-1), self.merge_dropout, self.training)))

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)

    def forward(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        return self.types(self.represent(mention, context, place))


class LabelGCN(MultiTask):
    r"""Xiong et al. (2019): the same reader, and type vectors mixed with those of types that occur together,
    :math:`W' = D^{-1}(A + I) W T`, A being 1 where two types share a training mention, however many, and 0 elsewhere.

    Args:
        together: the types of the training mentions, sparse 0 and 1, ``(mentions, types)``; None: no type goes with
            another.
    """

    neighbours: Tensor

    def __init__(
        self, words: Tensor, num_types: int, dim: int = 128, *, together: Tensor | None, **options: Any
    ) -> None:
        super().__init__(words, num_types, dim, **options)
        self.mix = nn.Linear(dim, dim, bias=False)
        nn.init.eye_(self.mix.weight)
        self.register_buffer("neighbours", neighbours(pairs_of(together, num_types), num_types), persistent=False)

    def forward(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        vectors = torch.sparse.mm(self.neighbours, self.mix(self.types.weight))
        return self.represent(mention, context, place) @ vectors.T + self.types.bias


def pairs_of(together: Tensor | None, num_types: int) -> Tensor:
    """Each type with itself and with each that it occurs with, ``(2, pairs)``."""
    pairs = [torch.arange(num_types).repeat(2, 1)]
    if together is not None:
        mention, kind = together.coalesce().indices()
        for own in torch.split(kind, torch.bincount(mention).tolist()):
            pairs.append(torch.cartesian_prod(own, own).T)
    return torch.cat(pairs, dim=1).unique(dim=1)


def neighbours(pairs: Tensor, num_types: int) -> Tensor:
    """D^-1 (A + I), sparse: for each type, equal shares of itself and of the types it occurs with."""
    share = 1.0 / torch.bincount(pairs[0], minlength=num_types)[pairs[0]]
    return torch.sparse_coo_tensor(pairs, share, (num_types, num_types), check_invariants=True).coalesce()
