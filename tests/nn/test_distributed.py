"""Two processes with half the batch each train to the same parameters as one process with all of it."""

import socket
import sys
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from hybonet import Lorentz
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzTransformerEncoderLayer
from hybonet.optim import RiemannianAdam, manifold_of

STEPS, BATCH, LENGTH, WORDS, CLASSES = 4, 6, 5, 11, 3


class Classifier(nn.Module):
    """Words to points, one encoder layer, a label for each word."""

    def __init__(self, learnable: bool) -> None:
        super().__init__()
        manifold = Lorentz(-0.5, learnable=learnable)
        self.table = LorentzEmbedding(WORDS, 8, manifold=manifold, form="paper")
        self.encoder = LorentzTransformerEncoderLayer(8, 2, 12, 0.0, manifold=manifold)
        self.head = LorentzDistanceHead(8, CLASSES, manifold=manifold, form="paper")

    def forward(self, words):
        return self.head(self.encoder(self.table(words)))


def train(learnable: bool, rank: int, size: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    model = Classifier(learnable).double()
    wrapped = DistributedDataParallel(model) if size > 1 else model
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
        optimizer.step()
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def worker(rank: int, port: int, learnable: bool, directory: str) -> None:
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0, timeout=timedelta(seconds=60))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    torch.save(train(learnable, rank, 2), f"{directory}/{rank}.pt")
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.skipif(not dist.is_available() or sys.platform == "win32", reason="needs torch.distributed with gloo")
@pytest.mark.parametrize("learnable", [False, True], ids=["fixed K", "learned K"])
def test_two_processes_train_as_one(tmp_path, monkeypatch, learnable):
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # no name lookup
    mp.spawn(worker, args=(free_port(), learnable, str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    alone = train(learnable, 0, 1)
    torch.manual_seed(0)
    start = dict(Classifier(learnable).double().named_parameters())
    for name, expected in alone.items():
        torch.testing.assert_close(first[name], second[name], rtol=0, atol=0)
        torch.testing.assert_close(first[name], expected, rtol=1e-6, atol=1e-6)
        assert not torch.allclose(start[name], expected, rtol=1e-4, atol=1e-4), f"{name} was not trained"
