"""Models on graphs by name."""

from __future__ import annotations

from typing import Any

from hybonet.geometry import Lorentz
from hybonet.tasks.graph.models.node_model import NodeModel
from hybonet.tasks.graph.settings import (
    AttentionSettings,
    GATSettings,
    GraphSettings,
    HyboNetSettings,
    HyperbolicSettings,
    TangentSettings,
)


def build_graph_model(
    settings: GraphSettings, *, num_features: int, num_classes: int, num_nodes: int = 0, cached: bool = False
) -> NodeModel:
    """The untrained model that settings ask for, on a graph of these sizes."""
    try:
        from hybonet.tasks.graph.models import euclidean as euclidean_graphs
        from hybonet.tasks.graph.models import tangent as tangent_graphs
        from hybonet.tasks.graph.models.graph_network import GraphNetwork
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch_geometric":
            raise
        raise ValueError(
            "expected PyTorch Geometric for models on graphs, but it is not installed; run pip install hybonet[graph]"
        ) from None
    s = settings
    shared: dict[str, Any] = {
        "num_features": num_features,
        "num_classes": num_classes,
        "num_nodes": num_nodes,
        "dim": s.dim,
        "layers": s.layers,
        "dropout": s.dropout,
        "cached": cached,
        "radius": s.radius,
        "temperature": s.temperature,
        # A margin is undone by a temperature that learns; after a training by margins both are fitted.
        "learn_decoder": s.learn_decoder and s.loss == "cross_entropy",
    }
    if isinstance(s, HyperbolicSettings):
        shared["manifold"] = Lorentz(s.K, learnable=s.learn_curvature)
    if isinstance(s, HyboNetSettings):
        shared |= {"scale": s.scale, "time_gate": s.time_gate}
    if isinstance(s, AttentionSettings | GATSettings):
        shared["heads"] = s.heads
    if isinstance(s, TangentSettings):
        kind: Any = s.model.partition("-")[2] or "convolution"
        return GraphNetwork(**shared, layer=kind, activation=None if s.activation == "none" else s.activation)
    return getattr(tangent_graphs if isinstance(s, HyperbolicSettings) else euclidean_graphs, s.model)(**shared)
