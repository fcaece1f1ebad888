"""The other rows of the knowledge-graph table, each in its essential form, all with reciprocal relations."""

from hybonet.models.baselines.attention_poincare import AttH, RotH
from hybonet.models.baselines.bilinear import ComplEx, DistMult, TuckER
from hybonet.models.baselines.convolution import ConvE
from hybonet.models.baselines.multi_relational import MuRE, MuRP
from hybonet.models.baselines.translation import RotatE, TransE

__all__ = ["AttH", "ComplEx", "ConvE", "DistMult", "MuRE", "MuRP", "RotH", "RotatE", "TransE", "TuckER"]
