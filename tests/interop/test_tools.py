"""Tools that people use leave points on the manifold: any optimiser, averages of weights, sharding, other libraries."""

import copy

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzTransformerEncoderLayer
from hybonet.optim import RiemannianAdam
from hybonet.testing import assert_on_sheet

INDEX = torch.arange(20).view(4, 5)


def model(K: float = -2.0, *, learnable: bool = False) -> nn.Sequential:
    torch.manual_seed(0)
    manifold = Lorentz(K, learnable=learnable)
    table = LorentzEmbedding(20, 8, form="paper", manifold=manifold)
    return nn.Sequential(table, LorentzDistanceHead(8, 5, form="paper", manifold=manifold))


def train(net: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 5) -> None:
    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(INDEX).flatten(0, 1), INDEX.flatten() % 5)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)


def assert_sound(net: nn.Module) -> None:
    for layer in net.modules():
        if isinstance(layer, LorentzEmbedding | LorentzDistanceHead):
            assert not layer.weight[:, 0].any()
            assert_on_sheet(layer.points(), manifold=layer.manifold)


OPTIMIZERS = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1),
    "AdamW foreach": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1, foreach=True),
    "AdamW fused": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1, fused=True),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "LBFGS": lambda p: torch.optim.LBFGS(p, lr=0.1),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_of_torch(name):
    net = model()
    before = net[0].weight.detach().clone()
    train(net, OPTIMIZERS[name](net.parameters()))
    assert not torch.equal(before, net[0].weight)
    assert_sound(net)


def test_muon():
    net = model()
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("this torch has no Muon")
    train(net, torch.optim.Muon([net[0].weight], lr=0.1))
    assert_sound(net)


@pytest.mark.parametrize("make", [torch.optim.AdamW, RiemannianAdam])
def test_schedulers(make):
    kinds = torch.optim.lr_scheduler
    for schedule in (lambda o: kinds.OneCycleLR(o, 0.1, total_steps=6), lambda o: kinds.CosineAnnealingLR(o, 6)):
        net = model()
        optimizer = make(net.parameters(), lr=0.1)
        scheduler, rates = schedule(optimizer), set()
        for _ in range(5):
            train(net, optimizer, 1)
            scheduler.step()
            rates.add(optimizer.param_groups[0]["lr"])
        assert len(rates) == 5
        assert_sound(net)


@pytest.mark.parametrize("kind", ["mean", "ema"])
@pytest.mark.parametrize("make", [torch.optim.AdamW, RiemannianAdam])
def test_averaged_weights(kind, make):
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    net = model()
    averaged = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9) if kind == "ema" else None)
    optimizer = make(net.parameters(), lr=0.1)
    for _ in range(5):
        train(net, optimizer, 1)
        averaged.update_parameters(net)
    assert_sound(averaged)
    assert averaged(INDEX).isfinite().all()


def test_a_hand_written_average_as_of_callbacks():
    net = model()
    shadow = {name: value.clone() for name, value in net.state_dict().items()}
    for _ in range(3):
        train(net, torch.optim.AdamW(net.parameters(), lr=0.1), 1)
        for name, value in net.state_dict().items():
            shadow[name].lerp_(value, 0.1)
    net.load_state_dict(shadow)
    assert_sound(net)


def test_other_libraries_start_values():
    net = model()
    for module in net.modules():
        if hasattr(module, "weight"):
            nn.init.normal_(module.weight, std=0.02)
    points = net[0](INDEX)
    assert_on_sheet(points, manifold=net[0].manifold)
    train(net, torch.optim.AdamW(net.parameters(), lr=0.1))
    assert_on_sheet(net[0](INDEX), manifold=net[0].manifold)


@pytest.mark.parametrize("learnable", [False, True])
def test_fsdp2(learnable, tmp_path):
    distributed = pytest.importorskip("torch.distributed")
    fsdp = pytest.importorskip("torch.distributed.fsdp")
    if not hasattr(fsdp, "fully_shard"):
        pytest.skip("this torch has no FSDP2")
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        mesh = distributed.device_mesh.init_device_mesh("cpu", (1,))
        plain, sharded = model(learnable=learnable).float(), model(learnable=learnable).float()  # K in one dtype
        fsdp.fully_shard(sharded, mesh=mesh)
        for net in (plain, sharded):
            train(net, torch.optim.AdamW(net.parameters(), lr=0.1))
        for (name, one), other in zip(plain.state_dict().items(), sharded.state_dict().values(), strict=True):
            torch.testing.assert_close(getattr(other, "full_tensor", lambda o=other: o)(), one, msg=name)
    finally:
        distributed.destroy_process_group()


@pytest.mark.parametrize("learnable", [False, True])
def test_a_compiled_step_is_the_step(learnable):
    ends = []
    for compiled in (False, True):
        net = model(learnable=learnable)
        optimizer = RiemannianAdam(net, lr=0.1)
        step = torch.compile(optimizer.step, backend="eager") if compiled else optimizer.step
        for _ in range(2):
            optimizer.zero_grad()
            net(INDEX).square().mean().backward()
            step()
        ends.append(copy.deepcopy(net[0].weight.detach()))
    torch.testing.assert_close(*ends)


def test_geoopts_parameters_in_our_optimizer():
    geoopt = pytest.importorskip("geoopt")
    start, target = Lorentz(-2.0).random_normal(2, 6, 5, dtype=torch.float64)
    ends = []
    for make in (RiemannianAdam, geoopt.optim.RiemannianAdam):
        manifold = geoopt.Lorentz(k=torch.tensor(0.5, dtype=torch.float64))
        x = geoopt.ManifoldParameter(start.clone(), manifold=manifold)
        plain = geoopt.ManifoldParameter(torch.ones(3, dtype=torch.float64))
        optimizer = make([x, plain], lr=0.02)
        for _ in range(10):
            optimizer.zero_grad()
            (Lorentz(-2.0).sqdist(x, target).sum() + plain.square().sum()).backward()
            optimizer.step()
        ends.append((x.detach(), plain.detach()))
    torch.testing.assert_close(ends[0], ends[1], rtol=0, atol=1e-7)
    assert_on_sheet(ends[0][0], manifold=Lorentz(-2.0))
    sphere = geoopt.ManifoldParameter(torch.eye(3), manifold=geoopt.Sphere())
    with pytest.raises(ValueError, match="Lorentz manifold of fixed curvature, got a parameter on Sphere"):
        RiemannianAdam([sphere], lr=0.1).step()


def test_a_compiled_step_of_a_transformer():
    ends = []
    for compiled in (False, True):
        torch.manual_seed(0)
        net = LorentzTransformerEncoderLayer(8, 2, 12, 0.0, bias=False)
        optimizer = RiemannianAdam(net, lr=0.01)
        step = torch.compile(optimizer.step, backend="eager") if compiled else optimizer.step
        x = Lorentz().random_normal(2, 3, 8, generator=torch.Generator().manual_seed(0))
        for _ in range(2):
            optimizer.zero_grad()
            net(x).square().mean().backward()
            step()
        ends.append(list(net.parameters()))
    for one, other in zip(*ends, strict=True):
        torch.testing.assert_close(one, other)


def test_scikit_learn_takes_distances():
    cluster, metrics = pytest.importorskip("sklearn.cluster"), pytest.importorskip("sklearn.metrics")
    manifold = Lorentz()
    centres = manifold.lift(torch.tensor([[4.0, 0.0], [-4.0, 0.0], [0.0, 4.0]])).repeat(20, 1)
    x = manifold.expmap(centres, manifold.proju(centres, 0.1 * torch.randn(60, 3)))
    distances = manifold.cdist(x, x.clone()).numpy()  # a copy: of what is equal, too, the distance is 0
    found = cluster.AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(distances)
    assert metrics.adjusted_rand_score(torch.arange(60) % 3, found.labels_) == 1.0
    assert metrics.silhouette_score(distances, found.labels_, metric="precomputed") > 0.5


@pytest.mark.parametrize("copied", [False, True])
def test_distances_of_points_to_themselves_are_zero(copied):
    x = Lorentz().random_normal(50, 6, std=2.0).requires_grad_()
    distances = Lorentz().cdist(x, x.clone() if copied else x)
    assert not distances.diagonal().any()
    distances.sum().backward()
    assert x.grad.isfinite().all()
