"""Lorentz geometry as pure functions, and the :class:`Lorentz` manifold that owns a curvature."""

from hybonet.geometry.centroid import centroid, to_sheet
from hybonet.geometry.charts import from_klein, from_poincare, to_klein, to_poincare
from hybonet.geometry.distance import cdist, csqdist, dist, dist0, geodesic_of, sqdist
from hybonet.geometry.lorentz import (
    cinner,
    egrad2rgrad,
    inner,
    lift,
    origin,
    proju,
    projx,
    tangent_at,
    tangent_sqnorm,
    time_of,
)
from hybonet.geometry.manifold import Lorentz
from hybonet.geometry.maps import expmap, expmap0, geodesic_norm, logmap, logmap0, random_normal, transp, transp0
from hybonet.geometry.numerics import Curvature, Precision, precision
from hybonet.geometry.transformations import boost, random_boost, random_rotation, rotation, transform

__all__ = [
    "Curvature",
    "Lorentz",
    "Precision",
    "boost",
    "cdist",
    "centroid",
    "cinner",
    "csqdist",
    "dist",
    "dist0",
    "egrad2rgrad",
    "expmap",
    "expmap0",
    "from_klein",
    "from_poincare",
    "geodesic_norm",
    "geodesic_of",
    "inner",
    "lift",
    "logmap",
    "logmap0",
    "origin",
    "precision",
    "proju",
    "projx",
    "random_boost",
    "random_normal",
    "random_rotation",
    "rotation",
    "sqdist",
    "tangent_at",
    "tangent_sqnorm",
    "time_of",
    "to_klein",
    "to_poincare",
    "to_sheet",
    "transform",
    "transp",
    "transp0",
]
