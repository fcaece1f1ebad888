"""Random numbers that depend on nothing but the seed and the place they are used in: a resumed run draws the same."""

from __future__ import annotations

import torch


def generator_for(seed: int, *place: int) -> torch.Generator:
    """A generator for one place of a training, such as an epoch and a batch number.

    Example:
        >>> first, again = (torch.rand(1, generator=generator_for(0, 3, 7)) for _ in range(2))
        >>> other = torch.rand(1, generator=generator_for(0, 7, 3))
        >>> bool(first == again), bool(first == other)
        (True, False)
    """
    return torch.Generator().manual_seed(seed_for(seed, *place))


def seed_for(seed: int, *place: int) -> int:
    """The seed of :func:`generator_for`."""
    mixed = 0
    for word in (seed, *place):
        mixed = (mixed * 0x9E3779B97F4A7C15 + word + 1) % (1 << 63)
    return mixed
