"""Every public layer with inputs for it, small enough to compile."""

from importlib.util import find_spec

import torch
from torch import Tensor

from hybonet import Lorentz
from hybonet.nn import (
    EuclideanToLorentz,
    FermiDiracDecoder,
    LorentzCentroidPooling,
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzFeedForward,
    LorentzHyperplaneLinear,
    LorentzLinear,
    LorentzMultiheadAttention,
    LorentzNorm,
    LorentzPositionalEncoding,
    LorentzToEuclidean,
    LorentzTransformer,
    LorentzTransformerDecoder,
    LorentzTransformerDecoderLayer,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    TangentLinear,
)

K = -0.5
D = 8

#: A small λ: with the default 10 and so few coordinates attention is saturated and its gradients are mostly rounding.
PAPER = {"form": "paper", "linear": {"scale": 2.0}}


def points(*size: int) -> Tensor:
    return Lorentz(K).random_normal(*size, D, std=0.4)


def edges() -> Tensor:
    return torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])


def padding() -> Tensor:
    return torch.tensor([[False] * 4, [False] * 3 + [True]])


def encoder_layer(manifold: Lorentz, **options) -> LorentzTransformerEncoderLayer:
    return LorentzTransformerEncoderLayer(D, 2, 12, 0.0, manifold=manifold, **options)


def decoder_layer(manifold: Lorentz) -> LorentzTransformerDecoderLayer:
    return LorentzTransformerDecoderLayer(D, 2, 12, 0.0, manifold=manifold)


#: name: (build a layer on a manifold, make its inputs)
LAYERS = {
    "LorentzLinear": (lambda m: LorentzLinear(D, 6, manifold=m, activation=torch.relu), lambda: (points(3),)),
    "LorentzLinear pure": (lambda m: LorentzLinear(D, 6, manifold=m, form="pure"), lambda: (points(3),)),
    "LorentzLinear paper": (
        lambda m: LorentzLinear(D, 6, manifold=m, form="paper", activation=torch.relu),
        lambda: (points(3),),
    ),
    "LorentzLinear released": (
        lambda m: LorentzLinear(D, D, manifold=m, form="paper_code", gate_bias=False),
        lambda: (points(3), points(3)),
    ),
    "LorentzHyperplaneLinear": (lambda m: LorentzHyperplaneLinear(D, 6, manifold=m), lambda: (points(3),)),
    "LorentzMultiheadAttention": (lambda m: LorentzMultiheadAttention(D, 2, manifold=m), lambda: (points(2, 4),)),
    "LorentzMultiheadAttention paper": (
        lambda m: LorentzMultiheadAttention(D, 2, manifold=m, **PAPER),
        lambda: (points(2, 4),),
    ),
    "LorentzMultiheadAttention masked": (
        lambda m: LorentzMultiheadAttention(D, 2, manifold=m, learnable_scale=True),
        lambda: (points(2, 4), points(2, 4), points(2, 4), padding(), False, None, True, True),
    ),
    "LorentzEmbedding": (
        lambda m: LorentzEmbedding(9, D, manifold=m, max_norm=0.5, padding_idx=0),
        lambda: (torch.tensor([[1, 2], [0, 4]]),),
    ),
    "LorentzPositionalEncoding": (lambda m: LorentzPositionalEncoding(D, manifold=m), lambda: (points(2, 4),)),
    "LorentzFeedForward": (lambda m: LorentzFeedForward(D, 12, manifold=m), lambda: (points(3), points(3))),
    "LorentzNorm": (lambda m: LorentzNorm(D, manifold=m), lambda: (points(3),)),
    "LorentzTransformerEncoderLayer": (encoder_layer, lambda: (points(2, 4), None, padding())),
    "LorentzTransformerEncoderLayer paper": (
        lambda m: encoder_layer(m, **PAPER),
        lambda: (points(2, 4), None, padding()),
    ),
    "LorentzTransformerEncoder": (
        lambda m: LorentzTransformerEncoder(encoder_layer(m), 1),
        lambda: (points(2, 4), None, None, True),
    ),
    "LorentzTransformerDecoderLayer": (decoder_layer, lambda: (points(2, 4), points(2, 3))),
    "LorentzTransformerDecoder": (
        lambda m: LorentzTransformerDecoder(decoder_layer(m), 1),
        lambda: (points(2, 4), points(2, 3), LorentzTransformer.generate_square_subsequent_mask(4)),
    ),
    "LorentzTransformer": (
        lambda m: LorentzTransformer(D, 2, 1, 1, 12, 0.0, manifold=m),
        lambda: (points(2, 4), points(2, 3)),
    ),
    "LorentzDistanceHead": (lambda m: LorentzDistanceHead(D, 5, manifold=m), lambda: (points(3),)),
    "LorentzCentroidPooling": (LorentzCentroidPooling, lambda: (points(2, 4), padding())),
    "TangentLinear": (lambda m: TangentLinear(D, 6, manifold=m), lambda: (points(3),)),
    "EuclideanToLorentz": (lambda m: EuclideanToLorentz(manifold=m), lambda: (torch.randn(3, D),)),
    "LorentzToEuclidean": (lambda m: LorentzToEuclidean(manifold=m), lambda: (points(3),)),
    "FermiDiracDecoder": (lambda m: FermiDiracDecoder(learnable=True), lambda: (torch.rand(5),)),
}


if find_spec("torch_geometric") is not None:
    from hybonet.nn import LorentzGraphAttention, LorentzGraphConv

    LAYERS |= {
        "LorentzGraphConv": (lambda m: LorentzGraphConv(D, 6, manifold=m), lambda: (points(4), edges())),
        "LorentzGraphConv weighted": (
            lambda m: LorentzGraphConv(D, 6, manifold=m, activation="relu"),
            lambda: (points(4), edges(), torch.rand(5)),
        ),
        "LorentzGraphAttention": (
            lambda m: LorentzGraphAttention(D, 6, 2, manifold=m, scale=2.0),
            lambda: (points(4), edges(), torch.rand(5)),
        ),
    }


def first(output):
    """The points of an output; attention gives weights as well."""
    return output[0] if isinstance(output, tuple) else output


def outputs_and_gradients(call, layer, inputs):
    """Everything a training step sees: the output, and gradients of the inputs and the parameters."""
    inputs = [
        x.detach().clone().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in inputs
    ]
    out = first(call(*inputs))
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    wanted += [p for p in layer.parameters() if p.requires_grad]
    pull = torch.linspace(-1, 1, out.numel()).view_as(out)
    return [out, *torch.autograd.grad((out * pull).sum(), wanted, allow_unused=True)]


def assert_compiles(layer, inputs, **options):
    """Compiled as one graph, a layer gives the same outputs and gradients."""
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, **options)
    expected = outputs_and_gradients(layer, layer, inputs)
    got = outputs_and_gradients(compiled, layer, inputs)
    assert any(g is not None for g in expected[1:]) or not list(layer.parameters())
    for a, b in zip(got, expected, strict=True):
        if a is None or b is None:
            assert a is b
        else:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=2e-5)
