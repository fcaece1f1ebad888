"""What an entity-typing training depends on, the data apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hybonet.training import ModelSettings

_Lorentz = Literal["hybonet", "hybonet-tangent"]
_Baseline = Literal["MultiTask", "LabelGCN", "HY"]
ModelName = Literal[_Lorentz, _Baseline]


class TypingSettings(ModelSettings):
    """Everything a training depends on, the data apart: what all models have."""

    before: ClassVar[dict[str, str]] = {"form": "paper"}

    model: ModelName = Field(
        "hybonet",
        description="what tells types: hybonet (the paper's), hybonet-tangent (its maps through the tangent space), or "
        "one of the models it is compared with",
    )
    dim: int = Field(
        128,
        ge=4,
        description="dimensions per type and mention; for hybonet time included: dim - 1 hyperbolic dimensions",
    )
    mention_words: int = Field(5, ge=1, description="longest mention; the rest is cut off")
    context_words: int = Field(
        25, ge=1, description="longest sentence; words farthest from the mention are cut off at the longer side"
    )
    word_radius: float = Field(1.0, gt=0, description="mean length that word vectors are scaled to, all by one factor")
    type_std: float | None = Field(
        None, gt=0, description="spread of the types' coordinates at the start; none: length 1 on the average"
    )
    bias_start: Literal["even", "prior"] = Field(
        "prior",
        description="probabilities before training. even (the paper): one half; prior: how frequent each type is in "
        "the training data",
    )
    word_dropout: float = Field(0.0, ge=0, lt=1, description="share of words read as unknown at random in training")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of inner coordinates set to 0 at random in training")
    merge_dropout: float = Field(
        0.1, ge=0, lt=1, description="the same for mention and context where they are put together"
    )
    positive_weight: float = Field(
        1.0, gt=0, description="how much more a type that holds counts in the loss than one that does not"
    )
    calibrate: bool = Field(
        False, description="choose the threshold of the probabilities on the validation data instead of one half"
    )
    batch_size: int = Field(200, ge=1, description="mentions per batch")
    lr: float = Field(0.001, gt=0, description="learning rate: the size of a step")
    weight_decay: float = Field(0.0, ge=0, description="pull of ordinary weights (not points) towards 0")


class LorentzSettings(TypingSettings):
    """Those of HyboNet, with its own maps or with maps through the tangent space."""

    model: _Lorentz = "hybonet-tangent"
    layers: int = Field(2, ge=1, description="layers of the context's Transformer")
    heads: int = Field(4, ge=1, description="attention heads of a layer; they share dim evenly")
    feedforward: int = Field(512, ge=2, description="coordinates inside a feed-forward block")
    merge_feedforward: int | None = Field(
        None,
        ge=2,
        description="coordinates inside a feed-forward block after mention and context are put together; none "
        "(the paper): there is no such block",
    )
    positions: Literal["relative", "absolute"] = Field(
        "relative",
        description="how words of the context are numbered: relative to the mention, or absolute from the first word",
    )
    attention_dropout: float = Field(0.2, ge=0, lt=1, description="the same for attention weights")
    optimizer: Literal["riemannian", "chart"] = Field(
        "riemannian",
        description="how type points are moved: riemannian (the paper), along geodesics; chart: Adam on their space "
        "coordinates, from which time follows",
    )
    K: float = Field(-1.0, lt=0, description="curvature of the space, below 0")

    @model_validator(mode="after")
    def _sizes_that_fit(self) -> LorentzSettings:
        if self.dim % self.heads or self.dim // self.heads < 2:
            raise ValueError(
                f"expected dim to be a multiple of heads with 2 or more coordinates each, got dim={self.dim} and "
                f"heads={self.heads}; change one"
            )
        return self


class HyboNetSettings(LorentzSettings):
    """Those of HyboNet alone."""

    model: Literal["hybonet"] = "hybonet"
    form: Literal["scaled", "paper"] = Field(
        "scaled",
        description="of the linear maps: scaled (parameters in the units of Euclidean layers, and norms: learns at any "
        "depth) or paper",
    )
    norm_first: bool = Field(
        False,
        description="form=paper: blocks add to their input, instead of normalising the sum (the paper): learns sooner",
    )
    scale: float = Field(
        10.0, gt=0, description="form=paper: lambda of the linear maps at the start: how far out (in time) they can map"
    )

    def unused(self) -> dict[str, str]:
        """Those of the gate, in the form that has none.

        Example:
            >>> HyboNetSettings().unused()["scale"]
            'form is scaled'
        """
        gate = ("norm_first", "scale") if self.form == "scaled" else ()
        return {**super().unused(), **dict.fromkeys(gate, f"form is {self.form}")}


class BaselineSettings(TypingSettings):
    """Those of models that need no other."""

    model: _Baseline = "LabelGCN"
