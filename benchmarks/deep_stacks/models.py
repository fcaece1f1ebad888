"""The two sides: stacks of the library's defaults, and torch's with norms first and the same start tricks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.deep_stacks.plain import Pieces, PlainStack
from benchmarks.deep_stacks.tasks import positions
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzPositionalEncoding,
    LorentzTransformer,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    scales,
)
from hybonet.nn.position import sinusoids

OFF = "distance", "centroid", "time", "classes"

#: The library's block with pieces on or off.
PIECES: dict[str, Pieces] = {
    "all pieces on": Pieces(),
    "all pieces off": Pieces.without(*OFF),
    **{f"all but {name}": Pieces.without(name) for name in OFF},
    **{f"{name} alone": Pieces.without(*set(OFF) - {name}) for name in OFF},
}
#: Start values changed or learned, one at a time.
STARTS: dict[str, Pieces] = {
    "attention 1/32": Pieces(attention_unit=1 / 32),
    "raw time columns": Pieces(time_unit=8.9),
    "logits as in the paper": Pieces(class_unit=1 / 4),
    "centroids as long as they are": Pieces(context_unit=1.0),
    "centroids twice as long": Pieces(context_unit=2.0),
    "ρ = 0.5": Pieces(rho=0.5),
    "ρ = 1": Pieces(rho=1.0),
    "ρ = 4": Pieces(rho=4.0),
    "learned ρ by block": Pieces(learned_rho=True),
    "learned scale by head": Pieces(learned_scale=True),
}
#: Options of the library's layers.
OPTIONS: dict[str, dict[str, Any]] = {
    "ours": {},
    "ours, GELU": {"activation": "gelu"},
    "ours, learned scale by layer": {"attention": {"learnable_scale": True}},
    "ours, norms after": {"norm_first": False},
    "paper's form": {"form": "paper"},
}


class Lorentz(nn.Module):
    """Ours, as a user would write it; padding is token 0 of translations."""

    def __init__(self, cell: dict[str, Any], **options: Any) -> None:
        super().__init__()
        width, heads, depth = cell["width"], cell["heads"], cell["layers"]
        translates = cell["task"] == "multi30k"
        self.causal, self.heads, self.translates = cell["task"] == "brackets", heads, translates
        form = {"form": options["form"]} if "form" in options else {}
        self.table = LorentzEmbedding(cell["words"], width, **form)
        self.position = None
        if kind := positions(cell):
            self.position = LorentzPositionalEncoding(width, cell["length"], kind=kind, **form)
        if translates:
            self.target_table = LorentzEmbedding(cell["words"], width, **form)
            sides = depth // 2, depth // 2
            self.body: Any = LorentzTransformer(width, heads, *sides, cell["inner"], 0.0, **options)
        else:
            layer = LorentzTransformerEncoderLayer(width, heads, cell["inner"], 0.0, **options)
            self.body = LorentzTransformerEncoder(layer, depth)
        self.head = LorentzDistanceHead(width, cell["words"], **form)

    def forward(self, *words: Tensor) -> Tensor:
        points = [
            table(rows) if position is None else position(table(rows))
            for table, position, rows in zip(self.tables(), self.positions(), words, strict=True)
        ]
        if not self.translates:
            return self.head(self.body(points[0], is_causal=self.causal))
        padding = self.padding_mask(words[0])
        masks = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
        return self.head(self.body(*points, tgt_is_causal=True, **masks))

    def tables(self) -> list[LorentzEmbedding]:
        return [self.table, self.target_table] if self.translates else [self.table]

    def positions(self) -> list[LorentzPositionalEncoding | None]:
        return [self.position] * (2 if self.translates else 1)

    def encoder(self) -> Any:
        return self.body.encoder if self.translates else self.body

    def decoder(self) -> Any:
        return self.body.decoder

    def padding_mask(self, words: Tensor) -> Tensor | None:
        return words == 0 if self.translates else None


class Torch(nn.Module):
    """``nn.TransformerEncoder`` or ``nn.Transformer`` with norms first, and the tricks."""

    def __init__(self, cell: dict[str, Any], tricks: bool = True, activation: str = "relu") -> None:
        super().__init__()
        width, words = cell["width"], cell["words"]
        depth = cell["layers"] // 2 if cell["task"] == "multi30k" else cell["layers"]
        self.causal, self.translates = cell["task"] == "brackets", cell["task"] == "multi30k"
        self.tables = nn.ModuleList(nn.Embedding(words, width) for _ in range(1 + self.translates))
        for table in self.tables:
            nn.init.normal_(table.weight, std=width**-0.5)
        position = None
        if (kind := positions(cell)) in ("sinusoidal", "centred"):
            codes = sinusoids(cell["length"], width, centred=kind == "centred").float()
            position = nn.Parameter(codes, requires_grad=False)
        elif kind == "learned":
            position = nn.Parameter(torch.randn(cell["length"], width) * (scales.POSITION_STD if tricks else 0.02))
        self.position = position
        sizes = (width, cell["heads"], cell["inner"], 0.0, activation)
        layer: dict[str, Any] = {"batch_first": True, "norm_first": True}
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, **layer), depth, nn.LayerNorm(width), enable_nested_tensor=False
        )
        decoder = None
        if self.translates:
            decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(*sizes, **layer), depth, nn.LayerNorm(width))
        self.encoder, self.decoder = encoder, decoder
        for part in [encoder] if decoder is None else [encoder, decoder]:
            start(part, depth, tricks)
        self.head = nn.Linear(width, words)
        self.gain = scales.CLASS_GAIN if tricks else 1.0

    def forward(self, *words: Tensor) -> Tensor:
        x = [table(rows) * table.embedding_dim**0.5 for table, rows in zip(self.tables, words, strict=True)]
        if self.position is not None:
            x = [each + self.position[: each.shape[1]] for each in x]
        length = words[-1].shape[1]
        later = nn.Transformer.generate_square_subsequent_mask(length) if self.causal or self.translates else None
        if self.decoder is None:
            out = self.encoder(x[0], later, is_causal=self.causal)
        else:
            padding = words[0] == 0
            memory = self.encoder(x[0], src_key_padding_mask=padding)
            out = self.decoder(x[1], memory, later, memory_key_padding_mask=padding, tgt_is_causal=True)
        return self.head(self.gain * out)


@torch.no_grad()
def start(stack: nn.Module, depth: int, tricks: bool = True) -> None:
    """Draw torch's layers, which start as copies of one, each anew; with the tricks as near the identity as ours."""
    for name, parameter in stack.named_parameters():
        if parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
        if tricks and parameter.dim() == 2 and ("out_proj" in name or "linear2" in name):
            nn.init.normal_(parameter, std=scales.residual_std(depth))
        if tricks and name.endswith("bias"):
            nn.init.zeros_(parameter)  # those of linear2 add to the stream


def build(cell: dict[str, Any]) -> nn.Module:
    """The model that a cell names."""
    name = cell["model"]
    if name in PIECES | STARTS:
        return PlainStack(Lorentz(cell), (PIECES | STARTS)[name])
    if name in OPTIONS:
        return Lorentz(cell, **OPTIONS[name])
    model = Torch(cell, tricks="no tricks" not in name, activation="gelu" if "GELU" in name else "relu")
    return with_rms_norms(model) if "RMS norms" in name else model


def with_rms_norms(model: nn.Module) -> nn.Module:
    """Torch's side without the mean over coordinates that layer norms take off, and without their biases."""
    for part in list(model.modules()):
        for name, inner in part.named_children():
            if isinstance(inner, nn.LayerNorm):
                setattr(part, name, nn.RMSNorm(inner.normalized_shape, inner.eps))
    return model
