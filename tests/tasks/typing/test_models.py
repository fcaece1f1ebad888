"""The typing models: what they compute, and that padding, batches and curvature change nothing they should not."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.tasks.typing.models import HY, LabelGCN, MultiTask
from hybonet.tasks.typing.models.entity_typer import EntityTyper, TypePoints

WORDS, TYPES, DIM = 30, 11, 16
TYPERS = {
    "lorentz": {"form": "paper"},
    "scaled": {},
    "scaled-merge": {"merge_feedforward": 20},
    "lorentz-adding": {"form": "paper", "norm_first": True, "merge_feedforward": 20},
    "tangent": {"transform": "tangent"},
    "tangent-adding": {"transform": "tangent", "merge_feedforward": 20},
}


def build(name, dtype=torch.float32, K=-1.0):
    torch.manual_seed(0)
    words = torch.cat((torch.zeros(1, 6), torch.randn(WORDS - 1, 6)))
    options = {"merge_dropout": 0.0}
    if name == "LabelGCN":
        model = LabelGCN(words, TYPES, DIM, together=torch.eye(TYPES)[:4].to_sparse_coo(), **options)
    elif name in ("HY", "MultiTask"):
        model = {"HY": HY, "MultiTask": MultiTask}[name](words, TYPES, DIM, **options)
    else:
        model = EntityTyper(
            words,
            TYPES,
            DIM,
            heads=4,
            feedforward=24,
            attention_dropout=0.0,
            manifold=Lorentz(K),
            **options,
            **TYPERS[name],
        )
    return model.to(dtype)


def batch(rows=6, seed=1):
    generator = torch.Generator().manual_seed(seed)
    mention = torch.randint(1, WORDS, (rows, 5), generator=generator)
    context = torch.randint(1, WORDS, (rows, 12), generator=generator)
    place = torch.arange(-4, 8).clamp_min(-4).repeat(rows, 1)
    mention[:, 3:], context[:, 9:], place[:, 9:] = 0, 0, 0
    return mention, context, place


MODELS = [*TYPERS, "MultiTask", "LabelGCN", "HY"]


@pytest.mark.parametrize("name", MODELS)
def test_padding_and_company_do_not_matter(name):
    model = build(name, torch.float64).eval()
    mention, context, place = batch()
    whole = model(mention, context, place)
    shorter = model(mention[:1, :3], context[:1, :9], place[:1, :9])
    assert torch.allclose(whole[:1], shorter, atol=1e-9)
    assert not torch.allclose(whole[0], whole[1], atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_reach_every_parameter(name):
    model = build(name)
    torch.nn.functional.binary_cross_entropy_with_logits(model(*batch()), torch.zeros(6, TYPES)).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.isfinite().all(), key


@pytest.mark.parametrize("name", MODELS)
def test_unknown_and_missing_words_give_numbers(name):
    model = build(name)
    mention, context, place = batch()
    model.words.zero_() if name in ("MultiTask", "LabelGCN", "HY") else model.words.copy_(
        model.manifold.origin(*model.words.shape)
    )
    logits = model(torch.zeros_like(mention), torch.zeros_like(context), place)
    logits.sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("K", [-1.0, -0.4, -2.5])
@pytest.mark.parametrize("name", TYPERS)
def test_everything_stays_on_the_sheet(K, name):
    model = build(name, torch.float64, K).eval()
    with torch.no_grad():  # in float64, what was rounded to float32 is off
        model.words.copy_(model.manifold.projx(model.words))
        if isinstance(model.types, TypePoints):
            model.types.points.weight.copy_(model.manifold.projx(model.types.points.weight))
    point = model.represent(*batch())
    assert model.manifold.check_point(point)
    assert model.manifold.check_point(model.type_points())
    if not isinstance(model.types, TypePoints):
        return
    expected = torch.stack(
        [
            -model.manifold.sqdist(point, t.expand_as(point)) / torch.exp(model.types.log_alpha[n])
            + model.types.beta[n]
            for n, t in enumerate(model.types.points.points())
        ],
        dim=1,
    )
    assert torch.allclose(model(*batch()), expected, atol=1e-9)


def test_alpha_and_beta_scale_and_shift():
    head = TypePoints(8, 3, manifold=Lorentz()).double()
    point = head.manifold.random_normal(2, 8, dtype=torch.float64)
    plain = head(point)
    with torch.no_grad():
        head.log_alpha.fill_(torch.tensor(2.0).log())
        head.beta.fill_(5.0)
    assert torch.allclose(head(point), plain / 2 + 5)


@pytest.mark.parametrize("name", MODELS)
def test_the_bias_starts_where_it_is_told(name):
    model = build(name)
    odds = torch.linspace(-3, 3, TYPES)
    model.start_bias(odds, *batch())
    model.eval()
    assert torch.allclose(model(*batch()).mean(0), odds, atol=1e-4)


@pytest.mark.parametrize(("name", "form"), [("lorentz", "paper"), ("lorentz-adding", "pure")])
def test_blocks_add_with_norm_first(name, form):
    model = build(name)
    blocks = [layer.feed_forward for layer in model.encoder.layers]
    blocks += [model.merge_feedforward] if model.merge_feedforward is not None else []
    assert [block.linear2.form for block in blocks] == [form] * len(blocks)
    assert all(layer.self_attn.out_proj.form == form for layer in model.encoder.layers)


def test_label_propagation_is_the_dense_formula():
    together = torch.zeros(3, TYPES)
    together[0, :2], together[1, 1:4], together[2, 5] = 1, 1, 1
    model = LabelGCN(torch.randn(WORDS, 6), TYPES, DIM, together=together.to_sparse_coo()).double().eval()
    adjacency = ((together.T @ together + torch.eye(TYPES)) > 0).double()
    mixed = adjacency / adjacency.sum(1, keepdim=True) @ (model.types.weight @ model.mix.weight.T)
    expected = model.represent(*batch()) @ mixed.T + model.types.bias
    assert torch.allclose(model(*batch()), expected)


def test_positions_count_from_the_mention():
    model = build("lorentz", torch.float64).eval()
    mention, context, place = batch()
    assert not torch.allclose(model(mention, context, place), model(mention, context, (place + 1) * (context != 0)))


def test_parameters_are_about_equal_at_the_sizes_compared():
    words, sizes = torch.zeros(3, 100), {}
    for name in ("lorentz", "tangent"):
        model = EntityTyper(words, 10_331, 64, feedforward=128, merge_feedforward=64, transform=name)
        sizes[name] = sum(parameter.numel() for parameter in model.parameters())
    for kind in (MultiTask, HY):
        sizes[kind.__name__] = sum(parameter.numel() for parameter in kind(words, 10_331, 64).parameters())
    assert max(sizes.values()) < 1.1 * min(sizes.values()), sizes


@pytest.mark.slow  # half a minute of tracing
def test_it_compiles_as_a_whole():
    model = build("lorentz").eval()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(*batch()), model(*batch()), atol=1e-5)
