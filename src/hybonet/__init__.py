"""Fully hyperbolic neural networks in the Lorentz model."""

from hybonet.geometry import Lorentz

__version__ = "0.1.0"
__all__ = ["Lorentz", "__version__"]
