"""RiemannianAdam beyond geoopt: mixed groups, sparse rows, the chart, learned curvature, state."""

import copy
import itertools
import math

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet.nn import LorentzEmbedding, LorentzLinear
from hybonet.optim import RiemannianAdam, RiemannianSGD, clip_grad_norm_, manifold_of, parameter_groups
from hybonet.testing import assert_on_sheet

pytestmark = pytest.mark.usefixtures("either_way")


def pull_together(table: LorentzEmbedding, index: torch.Tensor) -> torch.Tensor:
    points = table(index)
    return table.manifold.sqdist(points[:-1], points[1:]).sum()


def optimizers():
    return [
        lambda p, **o: RiemannianAdam(p, lr=0.02, **o),
        lambda p, **o: RiemannianAdam(p, lr=0.02, amsgrad=True, **o),
        lambda p, **o: RiemannianAdam(p, lr=0.02, update="chart", **o),
        lambda p, **o: RiemannianAdam(p, lr=0.02, update="chart", precondition=False, **o),
        lambda p, **o: RiemannianSGD(p, lr=0.005, **o),
        lambda p, **o: RiemannianSGD(p, lr=0.005, momentum=0.8, **o),
        lambda p, **o: RiemannianSGD(p, lr=0.005, momentum=0.8, nesterov=True, **o),
    ]


KINDS = ["adam", "amsgrad", "chart", "chart-plain", "sgd", "momentum", "nesterov"]


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
@pytest.mark.parametrize("K", [-1.0, -0.3, -2.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_points_stay_on_the_sheet_and_the_loss_falls(make, K, dtype):
    torch.manual_seed(0)
    table = LorentzEmbedding(20, 6, manifold=Lorentz(K), dtype=dtype, form="paper")
    optimizer = make(table)
    index = torch.arange(20)
    first = pull_together(table, index).item()
    for _ in range(50):
        optimizer.zero_grad()
        loss = pull_together(table, index)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.8 * first
    assert_on_sheet(table.points(), manifold=table.manifold)


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_sparse_equals_dense_when_every_row_is_touched(make):
    torch.manual_seed(0)
    dense = LorentzEmbedding(9, 5, dtype=torch.float64, form="paper")
    sparse = copy.deepcopy(dense)
    sparse.sparse = True
    runs = []
    for table in (dense, sparse):
        optimizer = make(table)
        for step in range(10):
            optimizer.zero_grad()
            pull_together(table, torch.arange(9).roll(step)).backward()
            assert table.weight.grad.is_sparse == table.sparse
            optimizer.step()
        runs.append(table.weight.detach())
    torch.testing.assert_close(runs[0], runs[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_sparse_steps_touch_only_their_rows(make):
    torch.manual_seed(0)
    table = LorentzEmbedding(50, 5, sparse=True, form="paper")
    optimizer = make(table)
    before = table.weight.detach().clone()
    rows = torch.tensor([3, 7, 7, 20])
    pull_together(table, rows).backward()
    optimizer.step()
    moved = (table.weight.detach() != before).any(-1)
    assert moved.nonzero().flatten().tolist() == [3, 7, 20]
    for name, state in optimizer.state[table.weight].items():
        if name != "step":
            untouched = torch.ones(50, dtype=torch.bool)
            untouched[rows] = False
            assert not state[untouched].any(), name


def test_sparse_gradients_of_euclidean_tables():
    torch.manual_seed(0)
    dense = nn.Embedding(9, 4)
    sparse = copy.deepcopy(dense)
    sparse.sparse = True
    for make in (lambda p: RiemannianAdam(p, lr=0.1), lambda p: RiemannianSGD(p, lr=0.1, momentum=0.5)):
        for table in (dense, sparse):
            optimizer = make(table)
            for _ in range(3):
                optimizer.zero_grad()
                table(torch.arange(9)).square().sum().backward()
                optimizer.step()
        torch.testing.assert_close(dense.weight, sparse.weight)


def test_sparse_gradients_of_vectors():
    index = torch.tensor([1, 4, 4])
    ends = []
    for sparse in (False, True):
        bias = nn.Parameter(torch.zeros(6))
        optimizer = RiemannianAdam([bias], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            torch.gather(bias, 0, index, sparse_grad=sparse).cos().add(bias.detach()[index]).sum().backward()
            torch.gather(bias, 0, index, sparse_grad=sparse).sum().backward()
            assert bias.grad.is_sparse == sparse
            clip_grad_norm_([bias], 1.0)
            optimizer.step()
        ends.append(bias.detach())
    torch.testing.assert_close(*ends)  # the other numbers have no gradient, so that dense steps leave them too
    assert ends[0].count_nonzero() == 2


@pytest.mark.parametrize(("decoupled", "peer"), [(False, torch.optim.Adam), (True, torch.optim.AdamW)])
def test_euclidean_parameters_take_torchs_adam_step(decoupled, peer):
    torch.manual_seed(0)
    ours, theirs = nn.Linear(5, 3), nn.Linear(5, 3)
    theirs.load_state_dict(ours.state_dict())
    pair = [
        (ours, RiemannianAdam(ours.parameters(), lr=0.01, weight_decay=0.1, decoupled_weight_decay=decoupled)),
        (theirs, peer(theirs.parameters(), lr=0.01, weight_decay=0.1)),
    ]
    data = torch.randn(20, 5)
    for model, optimizer in pair:
        for _ in range(20):
            optimizer.zero_grad()
            model(data).square().mean().backward()
            optimizer.step()
    torch.testing.assert_close(ours.weight, theirs.weight)


def test_weight_decay_leaves_points_alone_unless_told():
    table = LorentzEmbedding(10, 4, form="paper")
    start = table.weight.detach().clone()
    for told, moves in ((False, False), (True, True)):
        for make in (RiemannianAdam, RiemannianSGD):
            with torch.no_grad():
                table.weight.copy_(start)
            optimizer = make(table.parameters(), lr=0.1, weight_decay=0.5, decay_manifold=told)
            table.weight.grad = torch.zeros_like(table.weight)
            optimizer.step()
            assert (not torch.allclose(table.weight, start, atol=1e-6)) == moves
            if moves:
                closer = table.manifold.dist0(table.weight) < table.manifold.dist0(start)
                assert closer.all(), "decay must pull to the origin"


def test_groups_of_a_module_decay_only_matrices():
    model = nn.ModuleList(
        [
            LorentzEmbedding(10, 8, form="paper"),
            LorentzLinear(8, 8, form="paper", manifold=Lorentz(-1.0, learnable=True)),
        ]
    )
    groups = parameter_groups(model, weight_decay=0.1)
    decayed = {id(p) for group in groups if group["weight_decay"] for p in group["params"]}
    assert decayed == {id(model[1].weight)}
    assert {id(p) for group in groups for p in group["params"]} == {id(p) for p in model.parameters()}


def test_learned_curvature_stays_negative_and_points_follow_their_sheet():
    torch.manual_seed(0)
    manifold = Lorentz(K=-1.0, learnable=True)
    table = LorentzEmbedding(10, 5, manifold=manifold, dtype=torch.float64, form="paper")
    for update in ("exact", "chart"):
        optimizer = RiemannianAdam(table, lr=0.3, update=update)
        seen = []
        for _ in range(20):
            optimizer.zero_grad()
            (manifold.dist(table(torch.arange(9)), table(torch.arange(1, 10))) - 3.0).square().sum().backward()
            optimizer.step()
            seen.append(manifold.curvature)
            assert_on_sheet(table.points(), manifold=manifold, tolerance=1e-12)
        assert max(seen) < 0
        assert len(set(seen)) > 10, "the curvature must move"


@pytest.mark.parametrize("update", ["exact", "chart"])
def test_chart_and_exact_gradients_are_the_same_covector(update):
    """An ambient gradient and its chart form (time 0) lead to the same step."""
    torch.manual_seed(0)
    manifold = Lorentz(-0.7)
    start = manifold.random_normal(6, 4, dtype=torch.float64)
    ambient = torch.randn(6, 4, dtype=torch.float64)
    chart = ambient.clone()
    chart[:, 1:] += ambient[:, :1] * start[:, 1:] / start[:, :1]
    chart[:, 0] = 0.0
    ends = []
    for grad in (ambient, chart):
        x = nn.Parameter(start.clone())
        optimizer = RiemannianAdam([{"params": [x], "manifold": manifold}], lr=0.1, update=update)
        x.grad = grad.clone()
        optimizer.step()
        ends.append(x.detach())
    torch.testing.assert_close(ends[0], ends[1], rtol=1e-12, atol=1e-12)


def test_preconditioned_chart_gradient_is_the_riemannian_gradient():
    from hybonet.geometry import egrad2rgrad
    from hybonet.optim.row_updates import chart_gradient

    torch.manual_seed(0)
    manifold = Lorentz(-0.7)
    x = manifold.random_normal(6, 4, dtype=torch.float64)
    g = torch.randn_like(x)
    ours = chart_gradient(x, g, -1.0 / manifold.K, precondition=True)
    torch.testing.assert_close(ours[:, 1:], egrad2rgrad(x, g, K=manifold.K)[:, 1:])
    assert not ours[:, 0].any()


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_state_survives_save_and_load_with_weights_only(make, tmp_path):
    torch.manual_seed(0)
    table = LorentzEmbedding(10, 4, form="paper")

    def advance(table, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            pull_together(table, torch.arange(10)).backward()
            optimizer.step()

    optimizer = make(table)
    advance(table, optimizer, 3)
    torch.save({"model": table.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "run.pt")
    advance(table, optimizer, 3)

    again = LorentzEmbedding(10, 4, form="paper")
    resumed = make(again)
    saved = torch.load(tmp_path / "run.pt", weights_only=True)
    again.load_state_dict(saved["model"])
    resumed.load_state_dict(saved["optimizer"])
    advance(again, resumed, 3)
    assert torch.equal(again.weight, table.weight)


def test_extreme_gradients_never_give_nan():
    for size in (0.0, 1e-30, 1e-10, 1e10, 1e18):
        for make in optimizers():
            table = LorentzEmbedding(5, 4, form="paper")
            optimizer = make(table)
            for _ in range(3):
                table.weight.grad = torch.full_like(table.weight, size)
                optimizer.step()
            assert table.weight.isfinite().all(), (size, optimizer)


def test_compiled_update_equals_eager():
    torch.manual_seed(0)
    eager = LorentzEmbedding(30, 6, dtype=torch.float64, form="paper")
    compiled = copy.deepcopy(eager)
    for table, option in ((eager, False), (compiled, True)):
        optimizer = RiemannianAdam(table, lr=0.05, compiled=option)
        for _ in range(5):
            optimizer.zero_grad()
            pull_together(table, torch.arange(30)).backward()
            optimizer.step()
    torch.testing.assert_close(eager.weight, compiled.weight, rtol=1e-10, atol=1e-12)


def test_large_tables_are_stepped_in_blocks_with_the_same_result(monkeypatch):
    from hybonet.optim import row_updates

    torch.manual_seed(0)
    whole = LorentzEmbedding(40, 6, dtype=torch.float64, form="paper")
    blocks = copy.deepcopy(whole)
    for table, size in ((whole, 1 << 18), (blocks, 60)):
        monkeypatch.setattr(row_updates, "BLOCK", size)
        optimizer = RiemannianAdam(table, lr=0.05)
        for _ in range(3):
            optimizer.zero_grad()
            pull_together(table, torch.arange(40)).backward()
            optimizer.step()
    torch.testing.assert_close(whole.weight, blocks.weight, rtol=0, atol=1e-14)


def test_marks_and_mismatches():
    manifold = Lorentz(-2.0)
    x = nn.Parameter(manifold.random_normal(3, 4))
    RiemannianAdam([{"params": [x], "manifold": manifold}])
    assert manifold_of(x) is manifold
    with pytest.raises(ValueError, match=r"group's manifold is Lorentz\(K=-1\).*holds points of Lorentz\(K=-2\)"):
        RiemannianAdam([{"params": [x], "manifold": Lorentz()}])
    with pytest.raises(ValueError, match="off the hyperboloid"):
        RiemannianSGD([{"params": [nn.Parameter(torch.zeros(3, 4))], "manifold": manifold}])
    for bad in ({"lr": -1.0}, {"betas": (1.0, 0.9)}, {"update": "newton"}):
        with pytest.raises(ValueError, match="invalid"):
            RiemannianAdam([x], **bad)
    with pytest.raises(ValueError, match="nesterov"):
        RiemannianSGD([x], nesterov=True)


def test_learning_rate_schedulers_work():
    table = LorentzEmbedding(5, 4, form="paper")
    optimizer = RiemannianAdam(table, lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    pull_together(table, torch.arange(5)).backward()
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05)


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_every_kind_of_parameter_takes_a_step(make):
    """0-d scales and a learned curvature, vectors, matrices, 3-D and non-contiguous tensors."""
    torch.manual_seed(0)
    manifold = Lorentz(-1.0, learnable=True)
    model = nn.ModuleList(
        [LorentzEmbedding(6, 8, manifold=manifold, form="paper"), LorentzLinear(8, 8, form="paper", manifold=manifold)]
    )
    extra = [nn.Parameter(torch.randn(2, 3, 4)), nn.Parameter(torch.randn(4, 3).T)]
    optimizer = make([*model.parameters(), *extra])
    before = [p.detach().clone() for p in (*model.parameters(), *extra)]
    loss = model[1](model[0](torch.arange(6)))[:, 1:].sum() + sum(p.square().sum() for p in extra)
    loss.backward()
    optimizer.step()
    assert not any(torch.equal(p, old) for p, old in zip((*model.parameters(), *extra), before, strict=True))


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_a_view_of_a_larger_tensor_is_stepped_without_touching_the_rest(make):
    torch.manual_seed(0)
    manifold = Lorentz()
    wide = torch.randn(7, 9)
    wide[:, :5] = manifold.random_normal(7, 5)
    narrow = nn.Parameter(wide[:, :5])
    packed = nn.Parameter(wide[:, :5].clone())
    rest = wide[:, 5:].clone()
    for parameter in (narrow, packed):
        optimizer = make([{"params": [parameter], "manifold": manifold}])
        for _ in range(3):
            optimizer.zero_grad()
            manifold.dist0(parameter).sum().backward()
            optimizer.step()
    assert torch.equal(wide[:, 5:], rest)
    torch.testing.assert_close(narrow.detach(), packed.detach())


@pytest.mark.parametrize("make", [RiemannianAdam, RiemannianSGD])
def test_decay_of_points_works_with_a_module_too(make):
    radii = []
    for told in (False, True):
        torch.manual_seed(0)
        table = LorentzEmbedding(10, 4, form="paper")
        optimizer = make(table, lr=0.1, weight_decay=0.5, decay_manifold=told)
        for _ in range(3):
            table.weight.grad = torch.zeros_like(table.weight)
            optimizer.step()
        radii.append(table.manifold.dist0(table.weight).mean().item())
    assert radii[1] < 0.9 * radii[0]


def test_all_points_of_a_learned_sheet_follow_it_in_any_order_of_groups():
    ends = []
    for curvature_first in (True, False):
        torch.manual_seed(0)
        manifold = Lorentz(-1.0, learnable=True)
        used, unused = (
            LorentzEmbedding(8, 4, manifold=manifold, form="paper"),
            LorentzEmbedding(8, 4, manifold=manifold, form="paper"),
        )
        groups = [{"params": [manifold.log_neg_curvature]}, {"params": [used.weight, unused.weight]}]
        optimizer = RiemannianAdam(groups if curvature_first else groups[::-1], lr=0.3)
        for _ in range(3):
            optimizer.zero_grad()
            manifold.dist(used(torch.arange(7)), used(torch.arange(1, 8))).sum().backward()
            optimizer.step()
        assert_on_sheet(unused.points(), manifold=manifold)
        ends.append(used.weight.detach().clone())
    torch.testing.assert_close(ends[0], ends[1])


def test_half_precision_gradients_are_clipped_without_overflow():
    parameter = nn.Parameter(torch.zeros(4, dtype=torch.float16))
    parameter.grad = torch.full_like(parameter, 300.0)
    assert clip_grad_norm_([parameter], 1.0).item() == pytest.approx(600.0, rel=1e-3)
    assert parameter.grad.norm().item() == pytest.approx(1.0, rel=1e-2)


SETTINGS = list(itertools.product((-0.4, -1.0, -2.5, -10.0), (0.01, 0.03, 0.1, 0.3, 0.5, 1.0)))


@pytest.mark.parametrize(
    "settings",
    [pytest.param([(-1.0, 0.3)], id="one"), pytest.param(SETTINGS, marks=pytest.mark.slow, id="all 192")],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gradient", ["normal", "outward", "inward", "steady"])
def test_ordinary_gradients_never_give_nan(dtype, gradient, settings):
    """Eight kinds of gradients, 24 settings each, 300 steps."""
    for K, lr in settings:
        torch.manual_seed(0)
        table = LorentzEmbedding(6, 5, form="paper", manifold=Lorentz(K), dtype=dtype)
        optimizer, steady = RiemannianAdam(table, lr=lr), torch.randn(6, 5, dtype=dtype)
        outward = {"outward": -1.0, "inward": 1.0}.get(gradient, 0.0)
        for _ in range(300):
            grad = steady if gradient == "steady" else torch.randn_like(steady)
            table.weight.grad = outward * table.weight.detach() if outward else grad.clone()
            optimizer.step()
        found = [table.weight, table.points(), *optimizer.state[table.weight].values()]
        assert all(value.isfinite().all() for value in found), (K, lr)


def test_a_moment_that_cancels_is_no_reason_for_nan():
    """A gradient that takes back the one before: of the first moment, little more than rounding is left."""
    torch.manual_seed(0)
    manifold, ends = Lorentz(-10.0), []
    start, grad = manifold.random_normal(2000, 8, std=0.5).mul_(torch.arange(8) > 0), torch.randn(2000, 8)
    for dtype in (torch.float32, torch.float64):
        table = LorentzEmbedding(2000, 8, form="paper", manifold=manifold, dtype=dtype)
        table.load_state_dict({**table.state_dict(), "weight": start})
        optimizer = RiemannianAdam(table, lr=0.0)
        for factor, lr in ((1.0, 0.0), (-0.9, 0.01)):
            optimizer.param_groups[0]["lr"], table.weight.grad = lr, factor * grad.to(dtype)
            optimizer.step()
        ends.append(table.weight.detach().double())
        assert all(value.isfinite().all() for value in optimizer.state[table.weight].values())
    torch.testing.assert_close(ends[0], ends[1], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_start_values_and_gradients_far_beyond_the_usable(make, decay):
    torch.manual_seed(0)
    table = LorentzEmbedding(40, 8, form="paper", manifold=Lorentz(-1000.0))
    optimizer = make(table)
    optimizer.param_groups[0].update(weight_decay=decay, decay_manifold=True)
    for _ in range(3):
        table.weight.grad = torch.randn_like(table.weight)
        table.weight.grad[3] = 1e36
        optimizer.step()
        assert table.points().isfinite().all()


@pytest.mark.parametrize("update", ["exact", "chart"])
def test_one_huge_gradient_does_not_destroy_its_row(update):
    ends = []
    for size in (1e10, 1e20, 1e30):
        torch.manual_seed(0)
        table = LorentzEmbedding(20, 6, form="paper")
        optimizer = RiemannianAdam(table, lr=0.1, update=update)
        for step in range(20):
            table.weight.grad = torch.randn_like(table.weight)
            table.weight.grad[:, 0] = 0.0
            if step == 3:
                table.weight.grad[4] *= size
            optimizer.step()
        assert all(value.isfinite().all() for value in optimizer.state[table.weight].values())
        ends.append(table.weight.detach())
    others = torch.arange(20) != 4
    for end in ends[1:]:
        torch.testing.assert_close(end[others], ends[0][others])
        assert (end - ends[0]).abs().max() < 1.0, "it is a direction, whatever its size"


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
def test_to_maximize_is_to_minimize_the_negative(make):
    ends = []
    for maximize in (False, True):
        torch.manual_seed(0)
        model = nn.ModuleList([LorentzEmbedding(9, 5, form="paper"), nn.Linear(5, 2)])
        optimizer = make(model, maximize=maximize)
        for _ in range(3):
            optimizer.zero_grad()
            loss = pull_together(model[0], torch.arange(9)) + model[1](model[0](torch.arange(9))).sum()
            (-loss if maximize else loss).backward()
            optimizer.step()
        ends.append([p.detach() for p in model.parameters()])
    for one, other in zip(*ends, strict=True):
        assert torch.equal(one, other)


def test_foreach_and_fused_give_the_same_steps():
    ends = []
    for options in ({}, {"foreach": True}, {"foreach": False, "fused": False}, {"fused": True}):
        torch.manual_seed(0)
        model = nn.ModuleList([LorentzEmbedding(9, 5, form="paper"), nn.Linear(5, 2)])
        optimizer = RiemannianAdam(model, lr=0.05, **options)
        for _ in range(3):
            optimizer.zero_grad()
            model[1](model[0](torch.arange(9))).square().sum().backward()
            optimizer.step()
        ends.append([p.detach() for p in model.parameters()])
    for other in ends[1:]:
        for one, value in zip(ends[0], other, strict=True):
            torch.testing.assert_close(one, value)


def test_stepping_by_torchs_kernels_gives_sgd_the_same_steps():
    ends = []
    for options in ({}, {"foreach": True}, {"foreach": False, "fused": False}, {"fused": True}):
        torch.manual_seed(0)
        model = nn.ModuleList([LorentzEmbedding(9, 5, form="paper"), nn.Linear(5, 2)])
        optimizer = RiemannianSGD(model, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01, **options)
        for _ in range(3):
            optimizer.zero_grad()
            model[1](model[0](torch.arange(9))).square().sum().backward()
            optimizer.step()
        ends.append([p.detach() for p in model.parameters()])
    for other in ends[1:]:
        for one, value in zip(ends[0], other, strict=True):
            torch.testing.assert_close(one, value)


@pytest.mark.parametrize("learnable", [False, True])
def test_a_capturable_step_waits_for_no_device(learnable):
    """Numbers of the meta device cannot be read, as those of a CUDA graph must not be."""
    for capturable in (True, False):
        manifold = Lorentz(-2.0, learnable=learnable)
        table = LorentzEmbedding(9, 8, form="paper", manifold=manifold, device="meta")
        manifold.to("meta")
        optimizer = RiemannianAdam([table.weight], lr=0.1, capturable=capturable)
        table.weight.grad = torch.ones_like(table.weight)
        if capturable or not learnable:
            optimizer.step()
            assert optimizer.state[table.weight]["step"].device.type == ("meta" if capturable else "cpu")
        else:
            with pytest.raises((RuntimeError, NotImplementedError)):
                optimizer.step()


def test_capturable_changes_nothing_on_processors():
    ends = []
    for capturable in (False, True):
        torch.manual_seed(0)
        model = nn.ModuleList([LorentzEmbedding(9, 5, form="paper"), nn.Linear(5, 2)])
        optimizer = RiemannianAdam(model, lr=0.05, capturable=capturable)
        for _ in range(3):
            optimizer.zero_grad()
            model[1](model[0](torch.arange(9))).square().sum().backward()
            optimizer.step()
        ends.append([p.detach() for p in model.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(*ends, strict=True))


def test_float16_parameters_are_refused_with_a_remedy():
    for layer in (LorentzEmbedding(9, 5, form="paper").half(), nn.Linear(3, 3).half()):
        optimizer = RiemannianAdam(layer, lr=0.1)
        next(layer.parameters()).grad = torch.ones_like(next(layer.parameters()))
        with pytest.raises(ValueError, match=r"got float16 of shape .*GradScaler"):
            optimizer.step()


def test_clipping_can_refuse_what_is_not_finite():
    table = LorentzEmbedding(5, 4, form="paper")
    table.weight.grad = torch.full_like(table.weight, torch.nan)
    with pytest.raises(ValueError, match=r"finite gradients, got a norm of nan of parameters of shape \(5, 4\)"):
        clip_grad_norm_(table.parameters(), 1.0, error_if_nonfinite=True)
    assert not clip_grad_norm_(table.parameters(), 1.0).isfinite()


def test_sparse_gradients_of_more_than_rows_are_refused():
    table = nn.Parameter(torch.zeros(3, 2, 2))
    table.grad = torch.sparse_coo_tensor(torch.tensor([[1]]), torch.ones(1, 2, 2), (3, 2, 2))
    with pytest.raises(ValueError, match="expected a sparse gradient of a vector or of rows"):
        RiemannianAdam([table], lr=0.1).step()


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_coordinates_beyond_all_use_are_cut_at_either_side(make, sign):
    table = LorentzEmbedding(3, 4, form="paper")
    optimizer = make(table)
    with torch.no_grad():
        table.weight[1, 2] = sign * 1e30
    table.weight.grad = torch.zeros_like(table.weight)
    before = table.weight[0].clone()
    optimizer.step()
    assert 1e4 < sign * table.weight[1, 2] < 1e8
    torch.testing.assert_close(table.weight[0], before)


def test_tables_of_more_than_two_dimensions_are_stepped_in_place():
    torch.manual_seed(0)
    flat = nn.Parameter(torch.randn(6, 4))
    deep = nn.Parameter(flat.detach().clone().view(2, 3, 4))
    turned = nn.Parameter(flat.detach().clone().view(2, 3, 4).transpose(0, 1).contiguous().transpose(0, 1))
    for each in (flat, deep, turned):
        optimizer = RiemannianAdam([each], lr=0.1)
        for _ in range(2):
            each.grad = each.detach().sin()
            optimizer.step()
    torch.testing.assert_close(deep.view(6, 4), flat)
    torch.testing.assert_close(turned.reshape(6, 4), flat)


@pytest.mark.parametrize("make", optimizers(), ids=KINDS)
@pytest.mark.parametrize("turned", [False, True])
def test_points_in_more_than_two_dimensions_are_stepped_in_place(make, turned):
    """Of turned memory there are no rows to look at: they are copied, and put back."""
    torch.manual_seed(0)
    manifold = Lorentz(-0.7)
    start = manifold.random_normal(2, 3, 5)
    deep = nn.Parameter(start.transpose(0, 1).contiguous().transpose(0, 1) if turned else start.clone())
    flat = nn.Parameter(start.reshape(6, 5).clone())
    for each in (flat, deep):
        optimizer = make([{"params": [each], "manifold": manifold}])
        for _ in range(2):
            each.grad = each.detach().sin()
            optimizer.step()
    torch.testing.assert_close(deep.reshape(6, 5), flat)
    assert not torch.allclose(deep, start, atol=1e-3)


def far_point(*space):
    table = LorentzEmbedding(1, 4, form="paper")
    with torch.no_grad():
        table.weight[0, 1:] = torch.tensor(space)
    return table


def test_the_moment_of_a_row_that_is_brought_back_is_tangent_there():
    table = far_point(1e30, 1e30, 1e30)
    optimizer = RiemannianAdam(table, lr=0.1)
    table.weight.grad = torch.tensor([[0.0, 1.0, 2.0, 3.0]])
    optimizer.step()
    x, (m_time, *m) = table.weight[0, 1:].double(), optimizer.state[table.weight]["exp_avg"][0].double()
    assert x.norm().item() == pytest.approx(2.0**19, rel=1e-4)
    assert m_time.item() == pytest.approx((x @ torch.stack(m) / (1 + x @ x).sqrt()).item(), rel=1e-4)


def test_a_step_that_leads_out_of_reach_is_cut_and_its_moment_stays_as_long():
    """Nearly across, and a little outward. A moment of length r has no coordinates beyond r times the point's time."""
    table = far_point(math.sinh(12.9), 0.0, 0.0)
    optimizer = RiemannianAdam(table, lr=12.0, betas=(0.9, 0.999))
    table.weight.grad = torch.tensor([[0.0, -1e-13, 1.0, 0.0]])
    optimizer.step()
    x, m = table.weight[0, 1:].double(), optimizer.state[table.weight]["exp_avg"][0, 1:].double()
    assert math.sinh(12.9) < x.norm() <= 2.0**19
    assert m.norm() <= 0.1 * 1.01 * (1 + x @ x).sqrt()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_step_however_long_keeps_its_direction(momentum):
    table = far_point(0.0, 0.0, 0.0)
    table.weight.grad = torch.tensor([[0.0, 3e9, -4e9, 0.0]])
    RiemannianSGD(table, lr=1.0, momentum=momentum).step()
    assert table.weight[0, 1] < -1e5
    torch.testing.assert_close(table.weight[0, 2], -4 / 3 * table.weight[0, 1])
