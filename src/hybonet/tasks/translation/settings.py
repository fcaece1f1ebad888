"""What the training of a translation model depends on, the data apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hybonet.data.text.tokenizer import TokenizerKind
from hybonet.nn.position import PositionKind
from hybonet.training import ModelSettings

_Transformer = Literal["hybonet", "euclidean", "hatt"]
_Convolutional = Literal["convolution", "poincare"]
ModelName = Literal[_Transformer, _Convolutional]


class TranslationSettings(ModelSettings):
    """Everything a training depends on, the data apart: what all models have."""

    before: ClassVar[dict[str, str]] = {"form": "paper"}

    model: ModelName = Field(
        "hybonet",
        description="what translates: hybonet (the paper's Lorentz Transformer), or one of the models it is compared "
        "with: euclidean (the Transformer), hatt (hyperbolic attention alone), convolution (ConvSeq2Seq), poincare "
        "(HyperNN++)",
    )
    dim: int = Field(
        64, ge=4, description="dimensions per token; for hybonet time included: dim - 1 hyperbolic dimensions"
    )
    layers: int = Field(6, ge=1, description="layers of the encoder, and as many of the decoder")
    heads: int = Field(4, ge=1, description="attention heads; dim must be a multiple of them")
    feedforward: int | None = Field(None, ge=4, description="dimensions inside feed-forward blocks; none: 4 times dim")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of numbers set to 0 at random in training")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="the same for attention weights")
    positions: PositionKind | None = Field(
        None,
        description="vectors of places in a sentence (centred: sinusoidal without what near places have in common); "
        "none: sinusoidal for euclidean and hatt, else learned",
    )
    tokenizer: TokenizerKind = Field(
        "unigram",
        description="how sentences are cut: unigram or bpe (pieces of words, learned by sentencepiece), words (at "
        "spaces: text that is cut already), subword-nmt (by a file of merges)",
    )
    vocabulary: int | None = Field(
        8000,
        ge=8,
        description="tokens of each language at most, of both together if shared; none: three times the root of the "
        "number of characters",
    )
    share_vocabulary: bool = Field(False, description="one vocabulary, and one table of embeddings, for both languages")
    subword_sampling: float | None = Field(
        None,
        gt=0,
        description="unigram: cut training sentences in other ways each epoch, each drawn with its probability to this "
        "power (Kudo 2018), against learning them by heart; .2 to .5 for small corpora; none: in the likeliest way",
    )
    max_length: int = Field(
        100, ge=1, description="tokens of a sentence; longer training pairs are left out, others cut, both with a note"
    )
    batch_tokens: int = Field(
        4096, ge=2, description="tokens per batch: its sentences times the longest of them, on the longer side"
    )
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="share of the target moved to all other tokens, against overconfidence"
    )
    lr: float = Field(0.005, gt=0, description="learning rate: the size of a step, at its highest")
    weight_decay: float = Field(0.0, ge=0, description="pull of the matrices' numbers to 0 (not of points or biases)")
    compile: bool = Field(
        False,
        description="compile the model with torch.compile, which takes a minute or two and a C++ compiler; on "
        "processors it is quicker for some sizes and slower for others",
    )
    beam: int = Field(4, ge=1, description="translations followed at a time when the test sentences are translated")
    length_penalty: float = Field(
        1.0, ge=0, description="by which power of their length translations are compared; 0: short ones win"
    )

    @model_validator(mode="after")
    def _sizes_that_fit(self) -> TranslationSettings:
        if self.dim % self.heads or self.dim < 2 * self.heads:
            fitting = [n for n in range(1, 17) if self.dim % n == 0 and self.dim >= 2 * n]
            raise ValueError(
                f"expected dim to be a multiple of heads, two or more dimensions per head, got dim={self.dim} and "
                f"heads={self.heads}; for this dim use heads {', '.join(map(str, fitting))}"
            )
        if self.subword_sampling is not None and self.tokenizer != "unigram":
            raise ValueError(
                f"expected subword_sampling with tokenizer=unigram, got tokenizer={self.tokenizer}; leave it out"
            )
        if self.batch_tokens <= self.max_length:
            raise ValueError(
                f"expected batch_tokens above max_length, got {self.batch_tokens} and {self.max_length}: a batch must "
                "hold the longest sentence"
            )
        return self


class TransformerSettings(TranslationSettings):
    """Those of Transformers."""

    model: _Transformer = "euclidean"
    norm_first: bool | None = Field(
        None,
        description="blocks normalise what they read and add to it, instead of normalising "
        "the sum: bears larger steps; none: hybonet in the scaled form has it, others not",
    )


class HyboNetSettings(TransformerSettings):
    """Those of HyboNet."""

    model: Literal["hybonet"] = "hybonet"
    form: Literal["scaled", "paper"] = Field(
        "scaled",
        description="scaled (learns as the Euclidean Transformer with norms before its blocks does) or paper "
        "(the paper's layers)",
    )
    residual_dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="the same for what a block adds to its input; none: dropout, but 0 with form=paper; "
        "euclidean and hatt have dropout there",
    )
    optimizer: Literal["riemannian", "chart"] = Field(
        "riemannian",
        description="how points are moved. riemannian (the paper): along geodesics; chart: Adam on the space "
        "coordinates (the chart), from which time follows",
    )
    K: float = Field(-1.0, lt=0, description="curvature of the space, below 0")
    learn_curvature: bool = Field(False, description="train the curvature too, from K on")
    init_std: float | None = Field(
        None, gt=0, description="spread of a token's coordinates at the start; none: radius about 1"
    )


class ConvolutionSettings(TranslationSettings):
    """Those of models made of convolutions."""

    model: _Convolutional = "convolution"
