"""The other rows of the knowledge-graph table, each in its essential form, all with reciprocal relations."""

from hybonet.tasks.knowledge_graph.models.bilinear import ComplEx, ConvE, DistMult, TuckER
from hybonet.tasks.knowledge_graph.models.multi_relational import AttH, MuRE, MuRP, RotH
from hybonet.tasks.knowledge_graph.models.translational import RotatE, TransE

__all__ = ["AttH", "ComplEx", "ConvE", "DistMult", "MuRE", "MuRP", "RotH", "RotatE", "TransE", "TuckER"]
