"""The base class: which parameters are points, and that the mark survives everything that makes new parameters."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzLinear,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    require_same_manifold,
)
from hybonet.optim import RiemannianAdam, manifold_of

MARKED = {
    "embedding": lambda m: LorentzEmbedding(7, 4, manifold=m, form="paper"),
    "head": lambda m: LorentzDistanceHead(4, 7, manifold=m, form="paper"),
}


@pytest.fixture(params=MARKED)
def marked(request):
    return MARKED[request.param](Lorentz(-2.0))


def test_only_points_are_marked(marked):
    assert manifold_of(marked.weight) is marked.manifold
    others = [p for name, p in marked.named_parameters() if name != "weight"]
    assert all(manifold_of(p) is None for p in others)
    assert all(manifold_of(p) is None for p in LorentzLinear(4, 4).parameters())


def test_mark_survives_deepcopy(marked):
    twin = copy.deepcopy(marked)
    assert twin.manifold is not marked.manifold
    assert twin.weight.manifold is twin.manifold
    assert torch.equal(twin.weight, marked.weight)


def test_mark_survives_pickle_and_torch_save(marked):
    twin = pickle.loads(pickle.dumps(marked))
    assert twin.weight.manifold is twin.manifold
    buffer = io.BytesIO()
    torch.save(marked, buffer)
    buffer.seek(0)
    twin = torch.load(buffer, weights_only=False)
    assert twin.weight.manifold is twin.manifold


@pytest.mark.parametrize("assign", [True, False])
def test_mark_survives_load_state_dict(marked, assign):
    twin = copy.deepcopy(marked)
    twin.reset_parameters()
    twin.load_state_dict(marked.state_dict(), assign=assign)
    assert torch.equal(twin.weight, marked.weight)
    assert twin.weight.manifold is twin.manifold


def test_mark_survives_conversion_and_replacement(marked):
    assert marked.double().weight.manifold is marked.manifold
    marked.weight = nn.Parameter(marked.weight.detach().clone())
    assert marked.weight.manifold is marked.manifold


@pytest.mark.parametrize("assign", [True, False])
@pytest.mark.parametrize("name", MARKED)
def test_meta_device_then_real_values(name, assign):
    with torch.device("meta"):
        empty = MARKED[name](Lorentz(-2.0))
    assert empty.weight.is_meta
    full = MARKED[name](Lorentz(-2.0))
    if not assign:
        empty.to_empty(device="cpu")
        assert empty.weight.manifold is empty.manifold
    empty.load_state_dict(full.state_dict(), assign=assign)
    assert torch.equal(empty.weight, full.weight)
    assert empty.weight.manifold is empty.manifold


def test_copied_model_is_trained_on_its_sheet(marked):
    twin = copy.deepcopy(marked)
    optimizer = RiemannianAdam(twin, lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        twin.weight[:, 1:].sum().backward()
        optimizer.step()
    assert not torch.allclose(twin.weight, marked.weight, atol=0.1)
    assert twin.manifold.check_point(twin.points())


def test_curvature_stands_once_in_the_state():
    def encoder(manifold):
        return LorentzTransformerEncoder(LorentzTransformerEncoderLayer(8, 2, 16, manifold=manifold), 2)

    assert [key for key in encoder(Lorentz(-2.0)).state_dict() if "manifold" in key] == ["manifold._extra_state"]
    learned = encoder(Lorentz(-2.0, learnable=True))
    curvatures = [p for name, p in learned.named_parameters() if "curvature" in name]
    assert len(curvatures) == 1


def test_manifold_must_be_one():
    with pytest.raises(ValueError, match=r"expected manifold to be a hybonet.Lorentz, got float.*Lorentz\(K=-2.0\)"):
        LorentzLinear(4, 4, manifold=-1.0)


def test_require_same_manifold():
    one, other = Lorentz(-1.0, learnable=True), Lorentz(-1.0, learnable=True)
    require_same_manifold(Lorentz(-1.0), a=LorentzLinear(3, 3), b=nn.Sequential(LorentzLinear(3, 3), nn.Linear(3, 3)))
    require_same_manifold(one, a=LorentzLinear(3, 3, manifold=one))
    for manifold in (other, Lorentz(-1.0)):  # equal now, but not after a step of training
        with pytest.raises(ValueError, match=r"inside lives on .*same manifold object"):
            require_same_manifold(one, inside=nn.Sequential(nn.Linear(3, 3), LorentzLinear(3, 3, manifold=manifold)))


@pytest.mark.parametrize("learnable", [False, True])
def test_what_stands_where_time_would_does_no_harm(marked, learnable):
    """Start values by another library fill it; the state of that loads."""
    layer = type(marked)(7, 4, form="paper", manifold=Lorentz(-2.0, learnable=learnable))
    nn.init.uniform_(layer.weight, 0.1, 0.2)
    twin = copy.deepcopy(layer)
    twin.load_state_dict(layer.state_dict())
    assert torch.equal(twin.points(), layer.points())


def test_scalars_of_older_versions_are_vectors_now():
    layer = LorentzLinear(4, 4, form="paper")
    state = {**layer.state_dict(), "log_scale": torch.tensor(0.5)}
    layer.load_state_dict(state)
    assert layer.log_scale.tolist() == [0.5]
    head = LorentzDistanceHead(4, 3)
    optimizer = RiemannianAdam(head, lr=0.1)
    head(Lorentz().random_normal(2, 4)).sum().backward()
    optimizer.step()
    older = optimizer.state_dict()
    for kept in older["state"].values():
        if kept["exp_avg"].shape == (1,):
            kept["exp_avg"], kept["exp_avg_sq"] = kept["exp_avg"][0], kept["exp_avg_sq"][0]
    optimizer.load_state_dict(older)
    assert optimizer.state[head.log_scale]["exp_avg"].shape == (1,)
    assert optimizer.state[head.log_scale]["step"].dim() == 0
    optimizer.step()
