"""Users' mistakes: a ValueError each, which says what was expected, what came, and what to do."""

import math

import pytest
import torch

from hybonet import Lorentz
from hybonet.nn import (
    LorentzCentroidPooling,
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzLinear,
    LorentzMultiheadAttention,
    LorentzToEuclidean,
    LorentzTransformer,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    TangentLinear,
    lorentz_attention,
)
from hybonet.optim import RiemannianAdam

from .catalogue import LAYERS, D, K, first

CHECKED = Lorentz(K, check=True)


def encoder(manifold):
    return LorentzTransformerEncoder(LorentzTransformerEncoderLayer(8, 2, 12, manifold=manifold), 1)


TABLE = {
    "points of the wrong size": (
        lambda: LorentzLinear(8, 4)(Lorentz().random_normal(3, 7)),
        "expected input with 8 ambient coordinates (time included)",
        "got shape (3, 7)",
    ),
    "points of the wrong size, attention": (
        lambda: LorentzMultiheadAttention(8, 2)(Lorentz().random_normal(2, 3, 7)),
        "expected query with 8 ambient coordinates",
        "got shape (2, 3, 7)",
    ),
    "points of the wrong size, tangent layer": (
        lambda: TangentLinear(8, 4)(Lorentz().random_normal(3, 7)),
        "expected input with 8 ambient coordinates",
        "got shape (3, 7)",
    ),
    "points of the wrong size, head": (
        lambda: LorentzDistanceHead(8, 4)(Lorentz().random_normal(3, 7)),
        "expected input with 8 ambient coordinates",
        "got shape (3, 7)",
    ),
    "points off the hyperboloid": (
        lambda: LorentzLinear(3, 3, manifold=Lorentz(-2.0, check=True))(torch.tensor([[1.0, 0.0, 0.0]])),
        "input is off the hyperboloid at row 0: <x,x> = -1 where 1/K = -0.5 was expected (K = -2)",
        "projx(input)",
    ),
    "points of another curvature": (
        lambda: LorentzLinear(3, 3, manifold=Lorentz(-2.0, check=True))(Lorentz(-1.0).random_normal(4, 3)),
        "where 1/K = -0.5 was expected (K = -2)",
        "projx(input)",
    ),
    "NaN": (
        lambda: LorentzLinear(3, 3, manifold=CHECKED)(torch.tensor([[math.nan, 0.0, 0.0]])),
        "input has a NaN or infinite coordinate at row 0",
        "set_detect_anomaly",
    ),
    "custom encoder on another manifold": (
        lambda: LorentzTransformer(8, 2, 1, 1, 12, custom_encoder=encoder(Lorentz(-2.0))),
        "custom_encoder lives on Lorentz(K=-2) but Lorentz(K=-1) was expected",
        "same manifold object",
    ),
    "optimiser group on another manifold": (
        lambda: RiemannianAdam(
            [{"params": LorentzEmbedding(5, 4, form="paper").parameters(), "manifold": Lorentz(-2.0)}]
        ),
        "the group's manifold is Lorentz(K=-2), but a parameter of shape (5, 4) holds points of Lorentz(K=-1)",
        "leave the group's manifold out",
    ),
    "manifold where dropout belongs": (
        lambda: LorentzMultiheadAttention(16, 4, Lorentz()),
        "expected dropout to be a number, got Lorentz(K=-1)",
        "a manifold is passed as manifold=",
    ),
    "heads that do not divide": (
        lambda: LorentzMultiheadAttention(10, 4),
        "expected embed_dim (10) to be a multiple of num_heads, got num_heads=4",
        "embed_dim=12",
    ),
    "heads that do not divide, transformer": (
        lambda: LorentzTransformer(10, 3, 1, 1, 12),
        "expected embed_dim (10) to be a multiple of num_heads, got num_heads=3",
        "embed_dim=12",
    ),
    "a number for a manifold": (
        lambda: LorentzEmbedding(5, 4, manifold=-2.0),
        "expected manifold to be a hybonet.Lorentz, got float",
        "Lorentz(K=-2.0)",
    ),
    "positive curvature": (
        lambda: LorentzLinear(3, 3, manifold=Lorentz(1.0)),
        "expected a finite negative curvature K, got 1.0",
        "Lorentz(K=-1.0)",
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_message_has_expectation_and_remedy(name):
    call, expected, remedy = TABLE[name]
    with pytest.raises(ValueError, match=r"\w") as caught:
        call()
    assert expected in str(caught.value)
    assert remedy in str(caught.value)


TAKES_POINTS = [name for name in LAYERS if name not in ("LorentzEmbedding", "EuclideanToLorentz", "FermiDiracDecoder")]


@pytest.mark.parametrize("name", TAKES_POINTS)
def test_every_layer_checks_its_points_if_asked(name):
    build, make_inputs = LAYERS[name]
    layer, (x, *rest) = build(CHECKED), make_inputs()
    assert bool(first(layer(x, *rest)).isfinite().all())
    off, broken = x.clone(), x.clone()
    off[-1, ..., 0] += 0.5
    broken[-1, ..., 1] = math.nan
    with pytest.raises(ValueError, match="is off the hyperboloid at row"):
        layer(off, *rest)
    with pytest.raises(ValueError, match="has a NaN or infinite coordinate at row"):
        layer(broken, *rest)
    build(Lorentz(K))(off, *rest)  # not asked, not checked: nothing to pay for


def test_functions_check_too():
    q = CHECKED.random_normal(1, 1, 3, D)
    with pytest.raises(ValueError, match="v is off the hyperboloid"):
        lorentz_attention(q, q, 2 * q, manifold=CHECKED)
    for layer in (LorentzCentroidPooling(CHECKED), LorentzToEuclidean(manifold=CHECKED)):
        with pytest.raises(ValueError, match="is off the hyperboloid"):
            layer(2 * q[0])
