"""What compiled loops promise beyond the numbers, which the tests of their callers compare with torch's."""

import os
import subprocess
import sys

import pytest
import torch

from hybonet import Lorentz, kernels
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam
from hybonet.tasks.knowledge_graph.models.grouped_linear import grouped_linear
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
from hybonet.testing import assert_on_sheet

compiled = pytest.mark.skipif(not kernels.available(), reason="numba is not installed (extra 'fast')")


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
def test_threads_repeat_themselves_and_agree_with_one(update):
    """In a process of its own: the pool of threads has its size from the start."""
    program = f"""
import torch
from hybonet import kernels
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam
results = []
for threads in (1, 2, 2):
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    table = LorentzEmbedding(300, 7, max_norm=1.5, form="paper")
    optimizer = RiemannianAdam(table, lr=0.05, update="{update}")
    index, question = torch.randint(300, (40, 11)), torch.randn(40, 7)
    with kernels.switched(on=True):
        for _ in range(3):
            scores = per_triple_scores(question, table.weight, index, max_norm=1.5, manifold=table.manifold)
            scores.square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    results.append(table.weight.detach())
torch.testing.assert_close(*results[:2])
assert torch.equal(*results[1:])
print("the same")
"""
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
        check=False,
    )
    assert found.stdout == "the same\n", found.stderr


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [0.0, 1e-30, 1.0, 1e10, 1e18])
def test_a_step_stays_finite_and_on_the_sheet_whatever_the_gradient(update, dtype, size):
    torch.manual_seed(0)
    table = LorentzEmbedding(50, 6, manifold=Lorentz(-0.3), dtype=dtype, form="paper")
    optimizer = RiemannianAdam(table, lr=0.1, update=update)
    with kernels.switched(on=True):
        for _ in range(5):
            table.weight.grad = size * torch.randn_like(table.weight)
            optimizer.step()
    assert table.weight.isfinite().all()
    assert not table.weight[:, 0].any()
    assert_on_sheet(table.points(), manifold=table.manifold)


@compiled
def test_nan_is_not_hidden():
    """A diverged training must be seen to be one."""
    question, table = torch.ones(1, 3), torch.ones(4, 3)
    table[2, 1] = torch.nan
    with kernels.switched(on=True):
        scores = per_triple_scores(question, table, torch.tensor([[0, 2]]), max_norm=1.0, manifold=Lorentz())
    assert scores.isnan().tolist() == [[False, True]]


def test_small_half_and_strided_tensors_are_left_to_torch():
    large = torch.zeros(1000, 1000)
    assert kernels.run_on(large) == kernels.available()
    assert not kernels.run_on(torch.zeros(10, 10))
    assert not kernels.run_on(large.half())
    assert not kernels.run_on(large.T)
    assert not kernels.run_on(large, large.half())


def test_a_broken_numba_is_told_and_done_without(monkeypatch, tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 2.4 or less')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    kernels.available.cache_clear()
    try:
        with pytest.warns(UserWarning, match=r"Numba needs NumPy 2\.4 or less"):
            assert not kernels.available()
        assert not kernels.run_on(torch.zeros(1000, 1000))
    finally:
        monkeypatch.undo()
        kernels.available.cache_clear()


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
def test_autograd_knows_that_a_step_has_changed_the_points(update):
    table = LorentzEmbedding(50, 6, form="paper")
    optimizer, before = RiemannianAdam(table, update=update), table.weight._version
    loss = table.weight.pow(3).sum()
    loss.backward(retain_graph=True)
    with kernels.switched(on=True):
        optimizer.step()
    assert table.weight._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
@pytest.mark.parametrize("beta2", [0.99, 0.999, 0.999999])
def test_moments_are_weighed_as_torch_does(update, beta2):
    results = []
    for on in (True, False):
        torch.manual_seed(0)
        table = LorentzEmbedding(50, 6, form="paper")
        optimizer = RiemannianAdam(table, lr=0.05, betas=(0.9, beta2), update=update)
        table.weight.grad = torch.randn_like(table.weight)
        before = table.weight.detach().clone()
        with kernels.switched(on):
            optimizer.step()
        results.append(table.weight - before)
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-6)


@compiled
def test_time_is_not_divided_by_zero():
    """Tables with a max-norm have gradients without time, whose moments stay 0."""
    torch.manual_seed(0)
    table = LorentzEmbedding(50, 6, form="paper")
    optimizer = RiemannianAdam(table, eps=0.0, update="chart", precondition=False)
    table.weight.grad = torch.randn_like(table.weight)
    table.weight.grad[:, 0] = 0.0
    with kernels.switched(on=True):
        optimizer.step()
    assert table.weight.isfinite().all()
    assert not optimizer.state[table.weight]["exp_avg_sq"][:, 0].any()


@compiled
@pytest.mark.parametrize("time", [0.0, 1.0, 1e2, 1e4])
def test_the_time_that_is_stored_does_not_matter_where_rows_are_cut(time):
    torch.manual_seed(0)
    question, rows, index = torch.randn(8, 5), 0.7 * torch.randn(20, 5), torch.randint(20, (8, 6))
    results = []
    for on in (True, False):
        table = rows.clone()
        table[:, 0] = time
        table.requires_grad_()
        with kernels.switched(on):
            scores = per_triple_scores(question, table, index, max_norm=1.0, manifold=Lorentz())
            scores.square().sum().backward()
        results.append((scores, table.grad))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


@compiled
def test_what_loops_would_read_beyond_their_arrays_is_refused():
    x, maps, ok = torch.randn(3, 4), torch.randn(2, 5, 4), torch.tensor([0, 1, 0])
    table, index = torch.randn(7, 4), torch.tensor([[0], [1], [2]])
    with kernels.switched(on=True):
        for group in (torch.tensor([0, -1, 0]), torch.tensor([0, 2, 0])):
            with pytest.raises(IndexError, match="expected groups 0 to 1"):
                grouped_linear(x, maps, group)
        for wrong, group in ((x[:, :3].contiguous(), ok), (x, ok[:2])):
            with pytest.raises(ValueError, match="expected 4 numbers"):
                grouped_linear(wrong, maps, group)
        for question, bias in ((x[:, :3], None), (x[:2], None), (x, torch.zeros(6))):
            with pytest.raises(ValueError, match="expected a question"):
                per_triple_scores(question, table, index, bias=bias)


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_forked_process_does_without_threads():
    program = """
import os, sys, torch
from hybonet import kernels
from hybonet.tasks.knowledge_graph.models.per_triple_scores import per_triple_scores
torch.set_num_threads(2)
def work():
    with kernels.switched(on=True):
        return per_triple_scores(torch.ones(2, 3), torch.ones(4, 3), torch.tensor([[0, 1], [2, 3]])).sum().item()
work()
child = os.fork()
if not child:
    os._exit(0 if work() == 12 else 1)
print(os.waitpid(child, 0)[1])
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert found.stdout == "0\n", found.stderr


@compiled
def test_nothing_need_be_kept_on_disk(monkeypatch):
    from hybonet.kernels import parallel

    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.dispatcher.Dispatcher.enable_caching", nowhere)

    @parallel.serial
    def add_one(values):
        values[0] += 1

    values = torch.zeros(1)
    add_one(values)
    assert values.item() == 1
