"""The mean of a model's weights after several epochs, which is often better than each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Literal

from torch import Tensor, nn

from hybonet.training.checkpoint import load_model, read_file, read_tensors, save_model


class Snapshots:
    """Weights of the last or best epochs as files ``epoch-N.safetensors`` of a run."""

    def __init__(self, folder: Path, count: int, of: Literal["last", "best"], higher_is_better: bool) -> None:
        self.folder, self.count, self.of, self.sign = folder, count, of, 1.0 if higher_is_better else -1.0

    def add(self, model: nn.Module, epoch: int, value: float) -> None:
        """Keep an epoch's weights with the value of its validation, and drop what no longer counts."""
        for path, number in ((path, _epoch(path)) for path in self._present()):
            if number >= epoch:  # of a run that was killed after this and goes on from before
                path.unlink()
        save_model(self.folder / f"epoch-{epoch}.safetensors", model, epoch=epoch, value=value)
        for path in self._ranked()[self.count :]:
            path.unlink()

    def paths(self) -> list[Path]:
        """The files that count, by epoch."""
        return sorted(self._ranked()[: self.count], key=_epoch)

    def epochs(self) -> list[int]:
        return [_epoch(path) for path in self.paths()]

    def _present(self) -> list[Path]:
        return list(self.folder.glob("epoch-*.safetensors"))

    def _ranked(self) -> list[Path]:
        """What counts most first; of equal values the later."""
        if self.of == "last":
            return sorted(self._present(), key=_epoch, reverse=True)
        values = {path: self.sign * _value(path, path.stat().st_mtime_ns) for path in self._present()}
        return sorted(values, key=lambda path: (values[path], _epoch(path)), reverse=True)


@contextmanager
def averaged_weights(model: nn.Module, paths: Sequence[Path]) -> Iterator[None]:
    """While the block runs, the model has the mean of the weights of files; then its own again.

    Points are stored as their space coordinates, so that the mean is a point again.
    """
    before = {name: value.detach().clone() for name, value in model.state_dict().items()}
    load_model(paths[0], model)  # says so if the files are not this model's
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, value in read_tensors(path).items():
            total[name] = total[name] + value.double() if name in total else value.double()
    device = next(iter(before.values())).device
    mean = {name: (value / len(paths)).to(before[name].dtype).to(device) for name, value in total.items()}
    whole = {name: value for name, value in before.items() if not value.is_floating_point()}
    model.load_state_dict({**mean, **whole})
    try:
        yield
    finally:
        model.load_state_dict(before)


def _epoch(path: Path) -> int:
    return int(path.stem.removeprefix("epoch-"))


@lru_cache(maxsize=64)
def _value(path: Path, written: int) -> float:
    """Of a file as it was written at a time: each is read once."""
    return read_file(path)[0]["value"]
