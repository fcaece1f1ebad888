"""HyperNN++: convolutional translation in the Poincaré ball (Shimizu et al., 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybonet.geometry.poincare_ball import from_tangent, into_ball, mobius_add
from hybonet.nn.module import wide_in_autocast
from hybonet.tasks.translation.models.convolution_translator import ConvolutionTranslator
from hybonet.tasks.translation.models.poincare_layers import (
    PoincareConvolution,
    PoincareDistances,
    PoincareLinear,
    PoincareLookUp,
)


class PoincareTranslator(ConvolutionTranslator):
    """:class:`ConvolutionTranslator` with every part in the ball, as the published model is; the same arguments.

    Embeddings are tangent vectors at the centre, of length about 1; states are Poincaré coordinates; residuals are
    Möbius sums; the output layer is the ball's multinomial logistic regression.

    Example:
        >>> model = PoincareTranslator(100, 120, 16, layers=2, heads=2)
        >>> model(torch.tensor([[5, 6, 3, 0]]), torch.tensor([[2, 7, 8]])).shape
        torch.Size([1, 3, 120])
    """

    c: Tensor

    def build_layers(self, layers: int, hidden: int, heads: int, attention_dropout: float) -> None:
        self.register_buffer("c", torch.ones(()))
        dim, c = self.dim, self.c
        self.encoder_in, self.encoder_out = PoincareLinear(dim, hidden, c), PoincareLinear(hidden, dim, c)
        self.decoder_in, self.decoder_out = PoincareLinear(dim, hidden, c), PoincareLinear(hidden, dim, c)
        convolution = (hidden, self.width, self.dropout, c)
        self.encoder_layers = nn.ModuleList(PoincareConvolution(*convolution) for _ in range(layers))
        self.decoder_layers = nn.ModuleList(PoincareConvolution(*convolution) for _ in range(layers))
        self.look_ups = nn.ModuleList(PoincareLookUp(dim, hidden, heads, attention_dropout, c) for _ in range(layers))
        self.head = PoincareDistances(dim, self.target_vocab, c)

    def embed(self, table: nn.Module, tokens: Tensor, offset: int = 0) -> Tensor:
        return from_tangent(wide_in_autocast(super().embed(table, tokens, offset)) * self.dim**-0.5, self.c)

    def join(self, x: Tensor, y: Tensor) -> Tensor:
        return into_ball(mobius_add(x, y, self.c), self.c)
