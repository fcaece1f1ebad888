"""How much a file may hold: what is packed, or promises much in its header, is refused before it fills the memory."""

from __future__ import annotations

import os

_BYTES, _RATIO = "HYBONET_MAX_BYTES", "HYBONET_MAX_RATIO"
_DEFAULT_BYTES, _DEFAULT_RATIO = 8e9, 100.0
#: What is smaller than this when it is unpacked may be packed as tightly as can be.
_SMALL = 64_000_000


def max_bytes() -> int:
    """The most bytes that a file may have, unpacked: 8 GB, or what ``HYBONET_MAX_BYTES`` of the environment says."""
    return int(_number(_BYTES, _DEFAULT_BYTES))


def most_unpacked(packed: int) -> int:
    """The most bytes that so many packed ones may become: a hundred times as many (``HYBONET_MAX_RATIO``), or 64 MB.

    Example:
        >>> most_unpacked(10), most_unpacked(1_000_000)
        (64000000, 100000000)
    """
    return min(max_bytes(), max(_SMALL, int(packed * _number(_RATIO, _DEFAULT_RATIO))))


def check_size(source: str, size: int, packed: int | None = None) -> None:
    """Raise a ``ValueError`` if a file holds more than it may, unpacked; ``packed`` is its size on disk, if it is less.

    Example:
        >>> check_size("big.tsv", 9 * 10**9)
        Traceback (most recent call last):
        ValueError: big.tsv: expected at most 8,000,000,000 bytes, got 9,000,000,000; ...
        >>> check_size("bomb.npz", 10**9, packed=1000)
        Traceback (most recent call last):
        ValueError: bomb.npz: expected at most 64,000,000 bytes unpacked from 1,000, got 1,000,000,000 or more; ...
    """
    most = max_bytes() if packed is None else most_unpacked(packed)
    if size <= most:
        return
    whole = most == max_bytes()
    unpacked = "" if packed is None else f" unpacked from {packed:,}"
    more = "" if packed is None else " or more"
    raise ValueError(
        f"{source}: expected at most {most:,} bytes{unpacked}, got {size:,}{more}; if you trust the file, set the "
        f"environment variable {_BYTES if whole else _RATIO} higher"
    )


def _number(name: str, default: float) -> float:
    given = os.environ.get(name, "")
    try:
        value = float(given or default)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e18:
        raise ValueError(f"expected a positive number in the environment variable {name}, got {given!r}; correct it")
    return value
