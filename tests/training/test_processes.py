"""Several processes that train together."""

import pytest

from hybonet.training import LoopSettings
from hybonet.training.processes import joined_processes
from tests.nn.test_distributed import free_port


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_never_comes_is_not_waited_for_without_end(rank, monkeypatch):
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": 2, "RANK": rank}
    for name, value in where.items():
        monkeypatch.setenv(name, str(value))
    with (
        pytest.raises(ValueError, match=r"2 processes that answer within rank_timeout=1 seconds.*--resume"),
        joined_processes(LoopSettings(rank_timeout=1)),
    ):
        pass
