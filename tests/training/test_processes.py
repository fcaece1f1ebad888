"""Several processes that train together."""

import os
import sys
import time

import pytest
from torch import nn

from hybonet.training import LoopSettings
from hybonet.training.processes import joined_processes
from reliability.children import Child
from tests.nn.test_distributed import free_port


def two_processes() -> dict[str, str]:
    """What torchrun would say to each of them, but for the rank."""
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    return {**where, "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_never_comes_is_not_waited_for_without_end(rank, monkeypatch):
    for name, value in {**two_processes(), "RANK": str(rank)}.items():
        monkeypatch.setenv(name, value)
    with (
        pytest.raises(
            ValueError, match=r"2 processes that answer within rank_timeout=1 seconds.*hangs \(\w.{10,}\);.*--resume"
        ),
        joined_processes(LoopSettings(rank_timeout=1)),
    ):
        pass


def test_a_process_whose_peer_hangs_ends(tmp_path):
    """It does not wait for gloo's threads while they wait for it: here they get Python's lock only if it is given."""
    ended, release = os.pipe()

    def hanging(tell):
        os.close(release)
        with joined_processes(LoopSettings(rank_timeout=120)) as processes:
            processes.wrap(nn.Linear(2, 2))
            os.read(ended, 1)
            os._exit(0)

    def waiting(tell):
        sys.setswitchinterval(600)
        with joined_processes(LoopSettings(rank_timeout=2)) as processes:
            step = processes.wrap(nn.Linear(2, 2))
            processes.agree(step)

    where = two_processes()
    first, second = (Child(each, {**where, "RANK": str(rank)}) for rank, each in enumerate((hanging, waiting)))
    outcome = second.wait(120)
    os.close(release)
    first.wait(120)
    assert outcome.kind == "refused"
    assert outcome.value.startswith("expected 2 processes that answer within rank_timeout=2 seconds")


def test_processes_wait_for_one_another(tmp_path, monkeypatch):
    where, come = two_processes(), tmp_path / "come"

    def late(tell):
        with joined_processes(LoopSettings(rank_timeout=120)) as processes:
            time.sleep(1)
            come.touch()
            processes.wait_for_all()

    other = Child(late, {**where, "RANK": "1"})
    for name, value in {**where, "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    with joined_processes(LoopSettings(rank_timeout=120)) as processes:
        processes.wait_for_all()
        assert come.exists()
    assert other.wait().kind == "done"
