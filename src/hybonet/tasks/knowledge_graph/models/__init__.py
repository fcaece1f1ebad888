"""The other rows of the knowledge-graph table, each in its essential form, all with reciprocal relations."""

from hybonet.tasks.knowledge_graph.models.attention_poincare import AttH, RotH
from hybonet.tasks.knowledge_graph.models.bilinear import ComplEx, DistMult, TuckER
from hybonet.tasks.knowledge_graph.models.convolution import ConvE
from hybonet.tasks.knowledge_graph.models.multi_relational import MuRE, MuRP
from hybonet.tasks.knowledge_graph.models.translational import RotatE, TransE

__all__ = ["AttH", "ComplEx", "ConvE", "DistMult", "MuRE", "MuRP", "RotH", "RotatE", "TransE", "TuckER"]
