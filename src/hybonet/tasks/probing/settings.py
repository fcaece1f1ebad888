"""Everything a probing depends on, encoder and treebank apart."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from hybonet.tasks.probing.models.tree_probe import ProbeForm, ProbeKind
from hybonet.training import ModelSettings, ScheduleSettings


class ProbeSettings(ModelSettings):
    """Settings of probes; the defaults suit a treebank of ten thousand sentences."""

    told_apart_by: ClassVar[str] = "probe"

    epochs: int = Field(12, ge=1, description="passes over the training sentences")
    validate_every: int = Field(2, ge=1, description="epochs between measurements on the validation sentences")
    schedule: ScheduleSettings = ScheduleSettings(kind="linear")
    probe: ProbeKind = Field(
        "lorentz",
        description="lorentz: the paper's; poincare: Chen et al. (2021); euclidean: the structural probe of Hewitt and "
        "Manning (2019)",
    )
    dim: int = Field(
        64, ge=2, description="coordinates of the probe's space, for lorentz and poincare ambient: time included"
    )
    state_length: float | None = Field(
        3.0,
        gt=0,
        description="bring the states of each layer to this mean length (of points: distance from the origin), so that "
        "the probes of all layers learn alike; none: leave them as they are",
    )
    batch_size: int = Field(32, ge=1, description="sentences per batch")
    lr: float = Field(0.005, gt=0, description="learning rate of Adam")
    weight_decay: float = Field(0.0, ge=0, description="of Adam, added to the gradient")
    control: Literal["none", "random-weights", "shuffled-labels"] = Field(
        "none",
        description="to see what the probe itself can do: random-weights takes the encoder before its training; "
        "shuffled-labels gives the words of every sentence each other's places in the tree",
    )


class LorentzSettings(ProbeSettings):
    """Those of Lorentz probes."""

    probe: Literal["lorentz"] = "lorentz"
    K: float = Field(-1.0, lt=0, description="curvature of the space")
    form: ProbeForm = Field(
        "paper", description="of the linear layers: paper, whose gate suits depths, or scaled, which has none"
    )
    scale: float = Field(2.0, gt=0, description="form=paper: λ of the linear layers at the start")

    def unused(self) -> dict[str, str]:
        """λ, in the form that has none.

        Example:
            >>> LorentzSettings(form="scaled").unused()["scale"]
            'form is scaled'
        """
        return {**super().unused(), **({"scale": "form is scaled"} if self.form == "scaled" else {})}


class OtherSettings(ProbeSettings):
    """Those of other probes."""

    probe: Literal["poincare", "euclidean"] = "euclidean"
