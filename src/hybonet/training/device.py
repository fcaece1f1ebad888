"""Whether this machine has the device that a training asks for."""

from __future__ import annotations

import torch


def check_device(name: str) -> None:
    """Raise a ValueError unless torch can compute on the device ``name``.

    Example:
        >>> check_device("cpu")
        >>> check_device("gpu")
        Traceback (most recent call last):
        ValueError: expected a device of this machine, got 'gpu'; use device=cpu
    """
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError):
        # AssertionError: what torch raises if it was built without CUDA. NotImplementedError: devices without values.
        usable = "cpu or device=cuda" if torch.cuda.is_available() else "cpu"
        raise ValueError(f"expected a device of this machine, got {name!r}; use device={usable}") from None
