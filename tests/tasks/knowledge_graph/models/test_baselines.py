"""Baselines: every way to give candidates scores the same, formulas against a second writing, PyKEEN as the judge."""

import pytest
import torch

from hybonet.tasks.knowledge_graph import models as baselines

NAMES = baselines.__all__
ENTITIES, RELATIONS, DIM = 30, 3, 32


def model_of(name, dtype=torch.float64):
    torch.manual_seed(0)
    model = getattr(baselines, name)(ENTITIES, RELATIONS, DIM).to(dtype).eval()
    for parameter in model.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.3)
    return model


def questions(count=5):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(ENTITIES, (count,), generator=generator), torch.randint(
        2 * RELATIONS, (count,), generator=generator
    )


@pytest.mark.parametrize("name", NAMES)
def test_all_ways_to_give_candidates_agree(name):
    model, (heads, relations) = model_of(name), questions()
    every = model(heads, relations)
    own = torch.randint(ENTITIES, (5, 4))
    pool = torch.randperm(ENTITIES)[:7]
    torch.testing.assert_close(model(heads, relations, own), every.gather(1, own))
    torch.testing.assert_close(model(heads, relations, pool=pool), every[:, pool])
    torch.testing.assert_close(model(heads, relations, own[:, 0]), every.gather(1, own)[:, 0])
    torch.testing.assert_close(
        model(heads, relations, own, pool=pool), torch.cat((every.gather(1, own), every[:, pool]), dim=1)
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0.0, 1e-8, 100.0])
def test_gradients_are_finite_everywhere(name, size):
    model, (heads, relations) = model_of(name, torch.float32).train(), questions()
    with torch.no_grad():
        model.entities.weight.fill_(size)
    model(heads, relations).sum().backward()
    for parameter in model.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()


def ball_add(x, y, c=1.0):
    xy, xx, yy = x @ y, x @ x, y @ y
    return ((1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y) / (1 + 2 * c * xy + c * c * xx * yy)


def ball_distance(x, y, c=1.0):
    root = c**0.5
    return 2 / root * torch.atanh(root * ball_add(-x, y, c).norm())


def exp0(v, c=1.0):
    root, norm = c**0.5, v.norm()
    return torch.tanh(root * norm) * v / (root * norm)


def test_murp_is_its_formula():
    model, (heads, relations) = model_of("MuRP"), questions()
    scores = model(heads, relations)
    for row, (h, r) in enumerate(zip(heads.tolist(), relations.tolist(), strict=True)):
        question = exp0(model.stretch.weight[r] * model.entities.weight[h])
        for t in (0, 7, 29):
            moved = ball_add(exp0(model.entities.weight[t]), exp0(model.shift.weight[r]))
            expected = -(ball_distance(question, moved) ** 2) + model.head_bias[h] + model.tail_bias[t]
            torch.testing.assert_close(scores[row, t], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["RotH", "AttH"])
def test_relation_balls_are_their_formulas(name):
    model, (heads, relations) = model_of(name), questions()
    with torch.no_grad():
        model.curvature.uniform_(-1, 1)
    scores = model(heads, relations)
    for row, (h, r) in enumerate(zip(heads.tolist(), relations.tolist(), strict=True)):
        c = model.c(torch.tensor([r])).item()
        turn = torch.block_diag(
            *(
                torch.stack((torch.stack((a.cos(), -a.sin())), torch.stack((a.sin(), a.cos()))))
                for a in model.angles.weight[r]
            )
        )
        if name == "RotH":
            start = ball_add(exp0(model.entities.weight[h], c), exp0(model.first_shift.weight[r], c), c)
            question = turn @ start
        else:
            mirror = torch.block_diag(
                *(
                    torch.stack((torch.stack((a.cos(), a.sin())), torch.stack((a.sin(), -a.cos()))))
                    for a in model.mirrors.weight[r]
                )
            )
            both = torch.stack((mirror @ model.entities.weight[h], turn @ model.entities.weight[h]))
            weight = torch.softmax(both @ model.context.weight[r] / DIM**0.5, 0)
            question = exp0(weight @ both, c)
        question = ball_add(question, exp0(model.shift.weight[r], c), c)
        for t in (0, 7, 29):
            expected = -(ball_distance(question, exp0(model.entities.weight[t], c), c) ** 2)
            torch.testing.assert_close(scores[row, t], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["RotatE", "ComplEx", "RotH"])
def test_odd_dimensions_are_refused(name):
    with pytest.raises(ValueError, match="use 8"):
        getattr(baselines, name)(4, 2, 7)


def pykeen_scores(name, model, heads, relations):  # noqa: PLR0911 - one for each model
    """The same parameters through PyKEEN's interaction functions."""
    interactions = pytest.importorskip("pykeen.nn.modules", reason="PyKEEN is not installed")
    h, t = model.entities.weight[heads][:, None], model.entities.weight[None]
    if name == "TransE":
        return interactions.TransEInteraction(p=1)(h, model.relations.weight[relations][:, None], t) + model.margin
    if name == "DistMult":
        return interactions.DistMultInteraction()(h, model.relations.weight[relations][:, None], t)
    if name == "MuRE":
        # PyKEEN adds the shift to the head where the paper adds it to the tail.
        parts = (-model.shift.weight[relations][:, None], model.stretch.weight[relations][:, None])
        biases = model.head_bias[heads][:, None], model.tail_bias[None]
        return interactions.MuREInteraction(p=2, power_norm=True)((h, biases[0]), parts, (t, biases[1]))
    complex_h, complex_t = (torch.complex(*x.chunk(2, dim=-1)) for x in (h, t))
    if name == "ComplEx":
        relation = torch.complex(*model.relations.weight[relations][:, None].chunk(2, dim=-1))
        return interactions.ComplExInteraction()(complex_h, relation, complex_t)
    if name == "RotatE":
        # PyKEEN's distance is the root of the squared moduli's sum, the paper's the sum of moduli: in one complex
        # coordinate, where there is one modulus, they are the same.
        angle = model.angles.weight[relations][:, None]
        parts = (x.split(1, dim=-1) for x in (complex_h, torch.polar(torch.ones_like(angle), angle), complex_t))
        return sum(interactions.RotatEInteraction()(*each) for each in zip(*parts, strict=True)) + model.margin
    relation = model.relations.weight[relations][:, None]
    if name == "TuckER":
        tucker = interactions.TuckERInteraction(DIM).to(h.dtype).eval()
        with torch.no_grad():
            tucker.core_tensor.copy_(model.core.transpose(0, 1))  # PyKEEN's first axis is the head's
        return tucker(h, relation, t)
    convolution = interactions.ConvEInteraction(
        embedding_dim=DIM, embedding_width=model.width, embedding_height=DIM // model.width
    ).to(h.dtype)
    ours = [layer for layer in model.layers if list(layer.parameters())]
    theirs = [layer for layer in (*convolution.hr2d, *convolution.hr1d) if list(layer.parameters())]
    for mine, other in zip(ours, theirs, strict=True):
        other.load_state_dict(mine.state_dict())
    return convolution.eval()(h, relation, (t, model.tail_bias[None]))


@pytest.mark.parametrize("name", ["TransE", "DistMult", "ComplEx", "ConvE", "RotatE", "TuckER", "MuRE"])
def test_scores_are_pykeens(name):
    model, (heads, relations) = model_of(name), questions()
    torch.testing.assert_close(model(heads, relations), pykeen_scores(name, model, heads, relations))
