"""What a knowledge-graph training depends on, the data apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from hybonet.tasks.knowledge_graph.losses import Loss
from hybonet.training import ModelSettings

Baseline = Literal["DistMult", "ComplEx", "ConvE", "TuckER", "MuRE", "MuRP", "RotH", "AttH"]
ModelName = Literal["hybonet", "hybonet-tangent", "TransE", "RotatE", Baseline]


class KnowledgeGraphSettings(ModelSettings):
    """Everything a training depends on, the data apart: what all models have.

    Example:
        >>> KnowledgeGraphSettings(dim=16).loss
        'softmax'
        >>> type(KnowledgeGraphSettings(model="RotatE", margin=6)).__name__
        'TranslationalSettings'
    """

    old_names: ClassVar[dict[str, str]] = {
        "candidates": "negative_sampling",
        "sharpness": "logit_scale",
        "symmetric_sharpness": "symmetric_logit_scale",
        "other_reading": "inverse_weight",
        "reading_power": "inverse_power",
        "teacher_share": "distillation_weight",
        "teacher_answers": "distillation_answers",
        "teacher_sharpness": "teacher_logit_scale",
        "test_one_reading": "test_one_direction",
        "test_released_protocol": "test_paper_code",
    }
    old_values: ClassVar[dict[str, dict[str, str]]] = {"negative_sampling": {"own": "per_triple", "pool": "shared"}}

    model: ModelName = Field(
        "hybonet",
        description="what scores triples: hybonet (the paper's), hybonet-tangent (its maps through the tangent "
        "space), or one of the models it is compared with",
    )
    dim: int = Field(
        32, ge=2, description="dimensions per entity; for hybonet time included: dim - 1 hyperbolic dimensions"
    )
    batch_size: int = Field(500, ge=1, description="triples per batch; each triple is there twice, once per direction")
    loss: Loss = Field(
        "softmax",
        description="softmax: choose the right tail among the candidates; bce (the paper): each candidate right or "
        "wrong, binary cross-entropy; self_adversarial: likewise, hard candidates weighing more",
    )
    negative_sampling: Literal["per_triple", "shared", "all"] = Field(
        "all",
        description="what the right tail is compared with. per_triple (the paper): random tails for each triple; "
        "shared: random tails for the whole batch, scored by one matrix product; all: every entity (1-vs-all)",
    )
    negatives: int = Field(50, ge=1, description="per_triple, shared: how many random tails, taken as wrong")
    filter_negatives: bool = Field(
        False, description="leave out candidates that the training triples (no others) know to be right"
    )
    bernoulli: bool = Field(
        False,
        description="weigh the two directions of a relation by tails per head and heads per tail (Wang et al. "
        "2014), so that the one with fewer false negatives counts more",
    )
    label_smoothing: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="softmax, bce: share of the target moved to the other candidates, against overconfidence",
    )
    logit_scale: float = Field(
        1.0,
        gt=0,
        description="inverse temperature: the loss multiplies scores with it. Large: a candidate must come close to "
        "the truth to matter, which learns the training triples by heart. Small: all of them matter, which generalises",
    )
    symmetric_logit_scale: float | None = Field(
        None,
        gt=0,
        description="the same for relations that are symmetric in most of the training triples; none: as the others",
    )
    adversarial_temperature: float = Field(
        1.0, ge=0, description="self_adversarial: how much more hard candidates weigh; 0: all the same"
    )
    regularizer: Literal["none", "l2", "n3"] = Field(
        "none",
        description="penalty on the coordinates of a batch's entities: their squares, or their cubes (n3; that of "
        "Lacroix et al. 2018 has relations in it, too, and complex moduli)",
    )
    regularization: float = Field(0.0, ge=0, description="l2, n3: weight of the penalty")
    sparse_updates: bool = Field(
        False,
        description="move only the entities of a batch, as torch's SparseAdam does: a step then costs the same however "
        "many entities there are; not with negative_sampling=all",
    )
    lr: float = Field(0.005, gt=0, description="learning rate: the size of a step")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of a head's coordinates set to 0 at random in training")
    inverse_weight: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="weight of the inverse relation, from tail to head, in the score of a triple when questions are "
        "answered, not in training; 0: none",
    )
    inverse_power: float = Field(
        0.5,
        allow_inf_nan=False,
        description="with inverse_weight: how much more the direction weighs whose questions have fewer answers in the "
        "training triples; 0: no more, 1: in proportion",
    )
    fit_inverse: bool = Field(
        False,
        description="after training, fit the weight of the inverse relation to the validation triples, for each "
        "relation; not with inverse_weight",
    )
    distillation_weight: float = Field(
        0.5, ge=0, le=1, description="with --teacher: share of a question's target that comes from the teachers"
    )
    distillation_answers: int = Field(
        16, ge=1, description="with --teacher: how many of their answers to each question the student learns from"
    )
    teacher_logit_scale: float = Field(
        1.0,
        gt=0,
        description="with --teacher: inverse temperature of the teachers' softmax; above 1: surer than they are",
    )

    @model_validator(mode="after")
    def _options_that_would_do_nothing(self) -> KnowledgeGraphSettings:
        if (self.regularizer == "none") != (self.regularization == 0):
            raise ValueError("expected regularizer and regularization together; set both, or neither")
        if self.fit_inverse and self.inverse_weight:
            raise ValueError("expected inverse_weight=0 with fit_inverse, which finds it; leave one out")
        if self.label_smoothing and self.loss == "self_adversarial":
            raise ValueError("expected label_smoothing=0 with loss=self_adversarial, which has no target to smooth")
        if self.sparse_updates and self.negative_sampling == "all":
            raise ValueError(
                "expected negative_sampling per_triple or shared with sparse_updates: with all, every entity is in "
                "a batch"
            )
        return self

    def unused(self) -> dict[str, str]:
        """As for every task; also what another loss or other candidates do not read.

        Example:
            >>> KnowledgeGraphSettings().unused()["negatives"]
            'negative_sampling is all: every entity is one'
        """
        unused = super().unused()
        if self.loss == "softmax":
            unused["margin"] = "loss is softmax, which compares scores"
        if self.loss != "self_adversarial":
            unused["adversarial_temperature"] = f"loss is {self.loss}"
        if not self.inverse_weight:
            unused["inverse_power"] = "inverse_weight is 0"
        if self.negative_sampling == "all":
            unused["negatives"] = "negative_sampling is all: every entity is one"
        return unused


class _WithMargin(KnowledgeGraphSettings):
    """Those of models whose scores have no natural zero."""

    margin: float = Field(
        8.0,
        description="added to every score; bce: the squared distance below which a triple counts as right",
    )


class LorentzSettings(_WithMargin):
    """Those of HyboNet, with its own maps or with maps through the tangent space."""

    model: Literal["hybonet", "hybonet-tangent"] = "hybonet-tangent"
    optimizer: Literal["riemannian", "chart"] = Field(
        "chart",
        description="how entities are moved. chart: Adam on the space coordinates (the chart), from which "
        "time follows; riemannian (the paper): along geodesics",
    )
    max_norm: float | None = Field(
        1.5,
        gt=0,
        description="longest space part an entity may have, so that none runs far out; none: no bound",
    )
    init_std: float | None = Field(
        None,
        gt=0,
        description="spread of an entity's coordinates at the start; small, rare entities lie where their few "
        "triples put them and not where chance did; none: radius 1, as the paper",
    )
    K: float = Field(-1.0, lt=0, description="curvature of the space, below 0")
    learn_curvature: bool = Field(False, description="train the curvature too, from K on")
    loop_bias: bool = Field(True, description="let each relation learn whether an entity may stand in it to itself")
    tie_symmetric: bool = Field(
        False,
        description="relations that are symmetric in most of the training triples share one map with their "
        "inverse, so that what is learnt of one is known of the other",
    )
    radius_order: float = Field(
        0.0,
        ge=0,
        description="weight of a term that draws the tails of hierarchical relations (parents) nearer to the origin "
        "than their heads, so that the radius says how general an entity is; 10 is much; 0: none, and nearly all "
        "entities have the radius of max_norm",
    )


class HyboNetSettings(LorentzSettings):
    """Those of HyboNet alone."""

    model: Literal["hybonet"] = "hybonet"
    scale: float = Field(
        2.5,
        gt=0,
        description="lambda of the relations' maps: how far out (in time) a relation can take an entity",
    )


class TranslationalSettings(_WithMargin):
    """Those of models that move the head to the tail."""

    model: Literal["TransE", "RotatE"] = "TransE"


class BaselineSettings(KnowledgeGraphSettings):
    """Those of models that need no other."""

    model: Baseline = "RotH"
