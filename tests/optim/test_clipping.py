"""Gradient clipping for manifold, Euclidean and sparse gradients."""

import copy

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

from hybonet import Lorentz
from hybonet.geometry import egrad2rgrad, inner
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam, clip_grad_norm_
from reliability.children import Child

pytestmark = pytest.mark.usefixtures("either_way")


def test_norm_is_riemannian_for_points_and_euclidean_for_the_rest():
    torch.manual_seed(0)
    model = nn.ModuleList(
        [LorentzEmbedding(6, 4, manifold=Lorentz(-0.5), dtype=torch.float64, form="paper"), nn.Linear(3, 3).double()]
    )
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    x = model[0].weight
    x.grad[:, 0] = 0.0  # as layers give it: time follows from space
    r = egrad2rgrad(model[0].points(), x.grad, K=-0.5)
    expected = (inner(r, r).sum() + sum(p.grad.square().sum() for p in model[1].parameters())).sqrt()
    before = x.grad.clone()
    assert clip_grad_norm_(model.parameters(), 0.3).item() == pytest.approx(expected.item(), rel=1e-9)
    torch.testing.assert_close(x.grad, before * (0.3 / (expected.item() + 1e-6)))
    assert clip_grad_norm_(model.parameters(), 10.0).item() == pytest.approx(0.3, rel=1e-4)


def test_sparse_gradients_are_clipped_as_dense_ones():
    torch.manual_seed(0)
    dense = LorentzEmbedding(8, 4, dtype=torch.float64, form="paper")
    sparse = copy.deepcopy(dense)
    sparse.sparse = True
    rows = torch.tensor([1, 1, 5])
    for table in (dense, sparse):
        table(rows).square().sum().backward()
    norms = [clip_grad_norm_(table.parameters(), 0.01) for table in (dense, sparse)]
    assert norms[0].item() == pytest.approx(norms[1].item())
    torch.testing.assert_close(sparse.weight.grad.to_dense(), dense.weight.grad)


def test_gradients_that_are_shared_out_have_the_norm_of_whole_ones():
    """As FSDP2 shares them out by rows; one process has all of them."""
    torch.manual_seed(0)
    table, linear = LorentzEmbedding(6, 4, form="paper"), nn.Linear(4, 3, bias=False)
    for p in (table.weight, linear.weight):
        p.grad = torch.randn_like(p)

    def shared_out(tell):
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        mesh, parts = init_device_mesh("cpu", (1,)), []
        for p in (table.weight, linear.weight):
            part = nn.Parameter(distribute_tensor(p.detach(), mesh, [Shard(0)]))
            part.grad = distribute_tensor(p.grad, mesh, [Shard(0)])
            parts.append(part)
        parts[0].manifold, parts[0].space_only = table.manifold, table.weight.space_only
        return clip_grad_norm_(parts, 0.5).item(), clip_grad_norm_(parts, 0.5).item()

    before, after = Child(shared_out).wait().value
    assert before == pytest.approx(clip_grad_norm_([table.weight, linear.weight], 0.5).item())
    assert after == pytest.approx(0.5, rel=1e-4)


def test_torchs_own_clipping_works_too():
    table = LorentzEmbedding(8, 4, form="paper")
    optimizer = RiemannianAdam(table, lr=0.1)
    (1e6 * table(torch.arange(8)).square().sum()).backward()
    nn.utils.clip_grad_norm_(table.parameters(), 0.5)
    assert table.weight.grad.norm() <= 0.5 + 1e-4
    optimizer.step()
    assert table.manifold.check_point(table.points())


def test_without_gradients_there_is_nothing_to_clip():
    assert clip_grad_norm_(LorentzEmbedding(8, 4, form="paper").parameters(), 1.0) == 0
