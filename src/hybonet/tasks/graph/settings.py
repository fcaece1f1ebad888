"""What a training on a graph depends on, the graph apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hybonet.data.graphs.splits import SPLIT_SEED, GraphProtocol
from hybonet.nn.linear import head_features
from hybonet.training import ModelSettings

#: Short names, as the command line takes them: link prediction and node classification.
TaskName = Literal["lp", "nc"]
_Lorentz = Literal["hybonet", "hybonet-attention", "hybonet-tangent"]
_Hyperbolic = Literal[_Lorentz, "HGCN", "HAT", "LGCN"]
_Euclidean = Literal["GCN", "SAGE", "SGC", "MLP"]
ModelName = Literal[_Hyperbolic, "GAT", _Euclidean]
Inputs = Literal["features", "degrees", "learned"]


class GraphSettings(ModelSettings):
    """Everything a training depends on, the graph apart: what all models have.

    Example:
        >>> GraphSettings(task="nc").model
        'hybonet'
        >>> GraphSettings.checked({"batch_size": 100, "model": "SGC"})
        Traceback (most recent call last):
        ValueError: expected another model than SGC with batch_size: it propagates ...
    """

    old_values: ClassVar[dict[str, dict[str, str]]] = {
        "protocol": {"released": "paper_code"},
        "time_gate": {"released": "paper_code"},
    }

    task: TaskName = Field("lp", description="what to predict: lp (missing links), nc (classes of nodes)")
    model: ModelName = Field(
        "hybonet",
        description="hybonet (the paper's), hybonet-attention (neighbours weighed by attention), hybonet-tangent (its "
        "maps through the tangent space), or one of the models it is compared with",
    )
    dim: int = Field(16, ge=2, description="dimensions per node; in hyperbolic models time included")
    layers: int = Field(2, ge=1, description="graph layers: how many steps away a node's neighbourhood reaches")
    inputs: Inputs | None = Field(
        None,
        description="what the model knows of a node: features (the graph's own), degrees (how many neighbours it has), "
        "learned (a vector of its own); none: features if the graph has some, else learned",
    )
    scale_columns: bool = Field(
        False,
        description="subtract the mean of each column of features and divide by its standard deviation, so that none "
        "outweighs the others by its unit",
    )
    input_radius: float | None = Field(
        None,
        gt=0,
        description="stretch features so that they have this length on average, which in hyperbolic models is a node's "
        "distance from the origin; none: leave them",
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="share of a layer's inputs set to 0 at random in training")
    loss: Literal["cross_entropy", "margin"] = Field(
        "cross_entropy",
        description="cross_entropy (the paper's text): of links, binary, or of classes; margin (its code): right "
        "scores must exceed wrong ones by the margin",
    )
    margin: float = Field(2.0, gt=0, description="loss=margin: how far scores must be apart")
    radius: float = Field(2.0, description="lp: squared distance at which a link is as likely as not")
    temperature: float = Field(1.0, gt=0, description="lp: how slowly the probability falls with the squared distance")
    learn_decoder: bool = Field(False, description="lp, loss=cross_entropy: train radius and temperature, too")
    lr: float = Field(0.01, gt=0, description="learning rate: the size of a step")
    weight_decay: float = Field(0.0, ge=0, description="L2 penalty on matrices; none on biases, scales and points")
    decoupled_weight_decay: bool = Field(
        False,
        description="matrices shrink by themselves, as with AdamW (the authors' code), instead of by their gradients",
    )
    protocol: GraphProtocol = Field(
        "standard",
        description="standard: nothing of validation or test is known in training; paper_code: splits and negatives as "
        "in the published code, which leak some of it, for comparison",
    )
    split_seed: int = Field(SPLIT_SEED, ge=0, lt=2**32, description="seed of the split; the published one is 1234")
    batch_size: int | None = Field(
        None,
        ge=1,
        description="links or nodes per batch, with neighbours sampled, for large graphs; none: the whole graph at "
        "once",
    )
    fan_out: int = Field(10, ge=1, description="batch_size: neighbours that a node samples in each layer, at most")

    @model_validator(mode="after")
    def _options_that_would_do_nothing(self) -> GraphSettings:
        if self.input_radius is not None and self.inputs == "learned":
            raise ValueError("expected input_radius=none with inputs=learned: there are no features to stretch")
        if self.scale_columns and self.inputs in ("learned", "degrees"):
            raise ValueError(f"expected scale_columns=false with inputs={self.inputs}: no features are read")
        if self.batch_size is not None and self.model == "SGC":
            raise ValueError(
                "expected another model than SGC with batch_size: it propagates features of the whole graph; use "
                "batch_size=none"
            )
        if self.task == "nc" and self.learn_decoder:
            raise ValueError("expected learn_decoder=false with task=nc: classes have no radius and temperature")
        return self

    def unused(self) -> dict[str, str]:
        """As for every task; also what the other purpose or loss reads alone.

        Example:
            >>> GraphSettings(task="nc").unused()["radius"]
            'task is nc'
        """
        unused = super().unused()
        if self.task == "nc":
            unused |= dict.fromkeys(("radius", "temperature"), "task is nc")
        else:
            unused["optimizer"] = "task is lp, and only points of classes are moved so"
        if self.loss != "margin":
            unused["margin"] = f"loss is {self.loss}"
        if self.batch_size is None:
            unused["fan_out"] = "batch_size is none"
        return unused


class HyperbolicSettings(GraphSettings):
    """Those of models whose nodes are points."""

    model: _Hyperbolic = "HGCN"
    K: float = Field(-1.0, lt=0, description="curvature of the space, below 0")
    learn_curvature: bool = Field(False, description="train the curvature too, from K on")


class ClassPointSettings(HyperbolicSettings):
    """Those of models whose classes are points, too."""

    model: Literal[_Lorentz, "LGCN"] = "LGCN"
    optimizer: Literal["riemannian", "chart"] = Field(
        "riemannian",
        description="how class points are moved. riemannian (the paper): along geodesics; chart: Adam on the space "
        "coordinates, from which time follows",
    )


class TangentSettings(ClassPointSettings):
    """Those of HyboNet with maps through the tangent space."""

    model: _Lorentz = "hybonet-tangent"
    activation: Literal["none", "relu"] = Field(
        "none", description="applied to points before the linear maps, but for the first"
    )


class HyboNetSettings(TangentSettings):
    """Those of HyboNet."""

    model: Literal["hybonet", "hybonet-attention"] = "hybonet"
    scale: float = Field(10.0, gt=0, description="lambda, how far out (in time) a layer can take a node")
    time_gate: Literal["paper", "paper_code"] = Field(
        "paper",
        description="whether the gate for time reads inputs before dropout and activation "
        "(paper) or after (paper_code)",
    )


class AttentionSettings(HyboNetSettings):
    """Those of HyboNet with attention."""

    model: Literal["hybonet-attention"] = "hybonet-attention"
    heads: int = Field(1, ge=1, description="attention heads, which share the dimensions")

    @model_validator(mode="after")
    def _heads_that_fit(self) -> AttentionSettings:
        head_features(self.dim, self.heads, name="dim", heads_name="heads")
        return self


class GATSettings(GraphSettings):
    """Those of GAT."""

    model: Literal["GAT"] = "GAT"
    heads: int = Field(1, ge=1, description="attention heads, which share the dimensions")


class EuclideanSettings(GraphSettings):
    """Those of models that need no other."""

    model: _Euclidean = "GCN"
