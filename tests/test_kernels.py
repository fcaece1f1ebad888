"""What compiled loops promise beyond the numbers, which the tests of their callers compare with torch's."""

import subprocess
import sys

import pytest
import torch

from hybonet import Lorentz, kernels
from hybonet.models.own_scores import own_scores
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam

compiled = pytest.mark.skipif(not kernels.available(), reason="numba is not installed (extra 'fast')")


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
def test_threads_repeat_themselves_and_agree_with_one(update):
    """In a process of its own: the pool of threads has its size from the start."""
    program = f"""
import torch
from hybonet import kernels
from hybonet.models.own_scores import own_scores
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam
results = []
for threads in (1, 2, 2):
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    table = LorentzEmbedding(300, 7, max_norm=1.5)
    optimizer = RiemannianAdam(table, lr=0.05, update="{update}")
    index, question = torch.randint(300, (40, 11)), torch.randn(40, 7)
    with kernels.switched(on=True):
        for _ in range(3):
            scores = own_scores(question, table.weight, index, max_norm=1.5, manifold=table.manifold)
            scores.square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    results.append(table.weight.detach())
torch.testing.assert_close(*results[:2])
assert torch.equal(*results[1:])
print("the same")
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"OMP_NUM_THREADS": "2"}, check=False
    )
    assert found.stdout == "the same\n", found.stderr


@compiled
@pytest.mark.parametrize("update", ["exact", "chart"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [0.0, 1e-30, 1.0, 1e10, 1e18])
def test_a_step_stays_finite_and_on_the_sheet_whatever_the_gradient(update, dtype, size):
    torch.manual_seed(0)
    table = LorentzEmbedding(50, 6, manifold=Lorentz(-0.3), dtype=dtype)
    optimizer = RiemannianAdam(table, lr=0.1, update=update)
    with kernels.switched(on=True):
        for _ in range(5):
            table.weight.grad = size * torch.randn_like(table.weight)
            optimizer.step()
    assert table.weight.isfinite().all()
    x = table.weight.double()
    off = (x[:, 0].square() - x[:, 1:].square().sum(1) - 1 / 0.3) / x[:, 0].square()
    assert off.abs().max() < 1e-5


@compiled
def test_nan_is_not_hidden():
    """A diverged training must be seen to be one."""
    question, table = torch.ones(1, 3), torch.ones(4, 3)
    table[2, 1] = torch.nan
    with kernels.switched(on=True):
        scores = own_scores(question, table, torch.tensor([[0, 2]]), max_norm=1.0, manifold=Lorentz())
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
