"""Fully hyperbolic neural networks in the Lorentz model."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybonet.geometry import Lorentz

__version__ = "0.1.0"
__all__ = ["Lorentz", "__version__"]


def __getattr__(name: str) -> object:
    """Import torch with the first use of ``Lorentz``, not before: the command line answers ``--help`` without it."""
    if name == "Lorentz":
        from hybonet.geometry import Lorentz

        return Lorentz
    raise AttributeError(f"module 'hybonet' has no attribute {name!r}")
