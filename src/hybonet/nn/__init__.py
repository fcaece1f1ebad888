"""Lorentz layers with torch.nn's habits: points in, points out, all sizes in ambient coordinates."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hybonet.nn.attention import attention_weights, lorentz_attention
from hybonet.nn.embedding import LorentzEmbedding
from hybonet.nn.feedforward import LorentzFeedForward
from hybonet.nn.gated_lift import gated_lift
from hybonet.nn.heads import FermiDiracDecoder, LorentzDistanceHead
from hybonet.nn.hyperplane_linear import LorentzHyperplaneLinear
from hybonet.nn.kv_cache import KVCache
from hybonet.nn.lifts import EuclideanToLorentz, LorentzToEuclidean
from hybonet.nn.linear import LorentzLinear
from hybonet.nn.module import LorentzModule, require_same_manifold, set_checks
from hybonet.nn.multihead_attention import LorentzMultiheadAttention
from hybonet.nn.norm import LorentzNorm
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

if TYPE_CHECKING:
    from hybonet.nn.graph_attention import LorentzGraphAttention
    from hybonet.nn.graph_conv import LorentzGraphConv

#: Layers that need PyTorch Geometric, and where they are: imported when they are first asked for.
_GRAPH_LAYERS = {
    "LorentzGraphAttention": "hybonet.nn.graph_attention",
    "LorentzGraphConv": "hybonet.nn.graph_conv",
}

__all__ = [
    "EuclideanToLorentz",
    "FermiDiracDecoder",
    "KVCache",
    "LorentzCentroidPooling",
    "LorentzDistanceHead",
    "LorentzEmbedding",
    "LorentzFeedForward",
    "LorentzHyperplaneLinear",
    "LorentzLinear",
    "LorentzModule",
    "LorentzMultiheadAttention",
    "LorentzNorm",
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
    "set_checks",
]

if find_spec("torch_geometric") is not None:
    __all__ += ["LorentzGraphAttention", "LorentzGraphConv"]


def __getattr__(name: str) -> Any:
    if name not in _GRAPH_LAYERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(_GRAPH_LAYERS[name])
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch_geometric":
            raise
        raise ImportError(f"{name} needs torch_geometric: pip install 'hybonet[graph]'") from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
