"""Two processes with half the batch each train to the same parameters as one process with all of it."""

import socket
import sys
from datetime import timedelta
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from hybonet import Lorentz
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzTransformerEncoderLayer
from hybonet.optim import RiemannianAdam, clip_grad_norm_, manifold_of

STEPS, BATCH, LENGTH, WORDS, CLASSES = 4, 6, 5, 11, 3


class Classifier(nn.Module):
    """Words to points, one encoder layer, a label for each word."""

    def __init__(self, learnable: bool, sparse: bool = False) -> None:
        super().__init__()
        manifold = Lorentz(-0.5, learnable=learnable)
        self.table = LorentzEmbedding(WORDS, 8, manifold=manifold, form="paper", sparse=sparse)
        self.encoder = LorentzTransformerEncoderLayer(8, 2, 12, 0.0, manifold=manifold)
        self.head = LorentzDistanceHead(8, CLASSES, manifold=manifold, form="paper")

    def forward(self, words):
        return self.head(self.encoder(self.table(words)))


def in_parts(model: Classifier, learnable: bool) -> nn.Module:
    """Shared out by FSDP2; a curvature that several blocks share wants them in one group."""
    model = model.float()  # of one dtype, K too
    for block in () if learnable else (model.table, model.encoder, model.head):
        fully_shard(block, mesh=init_device_mesh("cpu", (2,)))
    return fully_shard(model, mesh=init_device_mesh("cpu", (2,)))


def train(learnable: bool, how: str, rank: int, size: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    model: Any = Classifier(learnable, sparse=how == "sparse rows").double()
    wrapped = DistributedDataParallel(model) if size > 1 and how != "FSDP2" else model
    if how == "FSDP2":
        wrapped = in_parts(model, learnable) if size > 1 else model.float()
    optimizer = RiemannianAdam(wrapped, lr=0.02)
    points = [p for group in optimizer.param_groups for p in group["params"] if manifold_of(p) is not None]
    assert len(points) == 2  # wrapped or not, the optimiser knows the points
    generator = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        words = torch.randint(WORDS, (BATCH, LENGTH), generator=generator)
        labels = torch.randint(CLASSES, (BATCH, LENGTH), generator=generator)
        own = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        optimizer.zero_grad()
        nn.functional.cross_entropy(wrapped(words[own]).flatten(0, 1), labels[own].flatten()).backward()
        clip_grad_norm_(wrapped.parameters(), 1.0)
        optimizer.step()
    found = {name: p.detach() for name, p in model.named_parameters()}
    return {name: (p.full_tensor() if hasattr(p, "full_tensor") else p).clone() for name, p in found.items()}


#: Whether K is learned, and how a step is shared out.
WAYS = [(learnable, how) for how in ("all rows", "sparse rows", "FSDP2") for learnable in (False, True)]


def worker(rank: int, port: int, directory: str) -> None:
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0, timeout=timedelta(seconds=60))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    torch.save([train(*way, rank, 2) for way in WAYS], f"{directory}/{rank}.pt")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What each of two processes has trained, in every way."""
    folder = tmp_path_factory.mktemp("processes")
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            patch.setenv("GLOO_SOCKET_IFNAME", "lo")  # no name lookup
        mp.spawn(worker, args=(free_port(), str(folder)), nprocs=2)
    return [dict(zip(WAYS, torch.load(folder / f"{rank}.pt", weights_only=True), strict=True)) for rank in range(2)]


@pytest.mark.skipif(not dist.is_available() or sys.platform == "win32", reason="needs torch.distributed with gloo")
@pytest.mark.parametrize(("learnable", "how"), WAYS)
def test_two_processes_train_as_one(trained, learnable, how):
    first, second = (each[learnable, how] for each in trained)
    alone = train(learnable, how, 0, 1)
    torch.manual_seed(0)
    start = dict(Classifier(learnable).named_parameters())
    for name, expected in alone.items():
        torch.testing.assert_close(first[name], second[name], rtol=0, atol=0)
        torch.testing.assert_close(first[name], expected, rtol=1e-6, atol=1e-4 if how == "FSDP2" else 1e-6)
        trained_on = (start[name].to(expected.dtype) - expected).abs().max()
        assert trained_on > 1e-4, f"{name} was not trained"
