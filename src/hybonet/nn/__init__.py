"""Lorentz layers with torch.nn's habits: points in, points out, all sizes in ambient coordinates."""

from hybonet.nn.attention import attention_weights, lorentz_attention
from hybonet.nn.embedding import LorentzEmbedding
from hybonet.nn.feedforward import LorentzFeedForward
from hybonet.nn.heads import FermiDiracDecoder, LorentzDistanceHead
from hybonet.nn.kv_cache import KVCache
from hybonet.nn.lifts import EuclideanToLorentz, LorentzToEuclidean
from hybonet.nn.linear import LorentzLinear, gated_lift
from hybonet.nn.module import LorentzModule, require_same_manifold
from hybonet.nn.multihead_attention import LorentzMultiheadAttention
from hybonet.nn.pooling import LorentzCentroidPooling
from hybonet.nn.position import LorentzPositionalEncoding
from hybonet.nn.tangent import TangentLinear
from hybonet.nn.transformer import (
    LorentzTransformer,
    LorentzTransformerDecoder,
    LorentzTransformerDecoderLayer,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
)

__all__ = [
    "EuclideanToLorentz",
    "FermiDiracDecoder",
    "KVCache",
    "LorentzCentroidPooling",
    "LorentzDistanceHead",
    "LorentzEmbedding",
    "LorentzFeedForward",
    "LorentzLinear",
    "LorentzModule",
    "LorentzMultiheadAttention",
    "LorentzPositionalEncoding",
    "LorentzToEuclidean",
    "LorentzTransformer",
    "LorentzTransformerDecoder",
    "LorentzTransformerDecoderLayer",
    "LorentzTransformerEncoder",
    "LorentzTransformerEncoderLayer",
    "TangentLinear",
    "attention_weights",
    "gated_lift",
    "lorentz_attention",
    "require_same_manifold",
]
