r"""The constants of the scaled form: how long one is, and where parameters start.

Adam moves every parameter by about its rate, whatever the gradient. A stack therefore trains at the usual rates if its
parameters are of the usual size: those of a Euclidean Transformer, whose coordinates are near 1 and whose weights are
near :math:`1/\sqrt n`. On the hyperboloid a point has a radius, and radius decides what one is. In the following
:math:`R = \sqrt{-1/K}`, d counts ambient coordinates, and n = d - 1.

* **Radius.** Norms put points at :math:`|x_s| = \rho R`. Nearer the origin, space is flat; farther out, centroids fall
  back towards the origin, and distances saturate. ρ = 2, geodesic radius 1.44 R, trained best of .3 to 4.
* **Unit.** A normed point has n coordinates, so each is about :math:`l = \rho R/\sqrt n`: what 1 is in a layer-normed
  Euclidean vector. Biases, positions and class points are stored in units of l.
* **Time.** A normed point has :math:`x_t = R\sqrt{1 + \rho^2}`. A time column is multiplied by
  :math:`a = l/(R\sqrt{1 + \rho^2})`, so that with a weight of 1 it adds one unit, as a bias of 1 does.
* **Logits of attention.** :math:`-s\,d_L^2(q, k) = 2s(q_s \cdot k_s - q_t k_t) + \dots`, and in units
  :math:`q_s \cdot k_s = l^2\, \hat q \cdot \hat k`. Hence :math:`s = 1/(2 l^2 \sqrt m)` gives the Euclidean
  :math:`\hat q \cdot \hat k/\sqrt m` for heads of m space coordinates.
* **Heads side by side.** Attention that is even over values of length r, in units of R, gives a centroid shorter than
  their mean by :math:`\sqrt{1 + r^2}`. Values start at :math:`r = \rho\sqrt{m/2n}`; the output map's weights are in
  units that make up for it.
* **Activations** that are not homogeneous, as GELU, are applied in units: :math:`l\,h(x/l)`.
* **Tables.** Rows w of an embedding are points :math:`x_s = \rho R\, w`, and start at :math:`|w| \approx 1`: where
  norms put them.
* **Logits of classes.** Class points are :math:`c_s = R w` with :math:`|w| \approx 1/\sqrt 3` at the start
  (:math:`\rho R w` if the table of an embedding serves), and
  :math:`-\beta d_L^2(x, c) = 2\beta\, x_s \cdot c_s + \dots = 2\beta\, l R\, \hat x \cdot w + \dots`: the Euclidean
  :math:`\hat x \cdot w` with :math:`\beta = 1/(2 l R)`. Geodesic distances d have the slope :math:`1/(2R \sinh d/R)` in
  :math:`d_L^2`, so :math:`\gamma = 2R\beta \sinh d/R`, with d between a normed point and a class point across.
"""

from __future__ import annotations

import math

from hybonet.geometry.numerics import Curvature, origin_time

#: Deviation of learned positions at the start, in units: as large as sines and cosines are.
POSITION_STD = 0.5**0.5

#: ρ, the length of the space part of a normed point in units of R.
NORM_LENGTH = 2.0


def unit(features: int, *, K: Curvature) -> Curvature:
    r""":math:`l = \rho R/\sqrt n`: the length of one unit in points of that many ambient coordinates.

    Example:
        >>> unit(65, K=-1.0)
        0.25
    """
    return NORM_LENGTH / math.sqrt(features - 1) * origin_time(K)


def time_unit(features: int) -> float:
    r""":math:`a = \rho/\sqrt{n(1 + \rho^2)}`: what a time column is multiplied by.

    Example:
        >>> round(time_unit(65), 3)
        0.112
    """
    return NORM_LENGTH / math.sqrt((features - 1) * (1.0 + NORM_LENGTH**2))


def attention_scale(features: int, head_features: int, *, K: Curvature) -> Curvature:
    r""":math:`s = 1/(2 l^2 \sqrt m)` for heads of m space coordinates.

    Example:
        >>> attention_scale(65, 17, K=-1.0)
        2.0
    """
    return 0.5 / (math.sqrt(head_features - 1) * unit(features, K=K) ** 2)


def centroid_unit(features: int, head_features: int) -> float:
    r""":math:`\sqrt{1 + \rho^2 m/2n}`: what weights of centroids are multiplied by, of values of m space coordinates.

    Example:
        >>> centroid_unit(65, 17)
        1.224744871391589
    """
    return math.sqrt(1.0 + (NORM_LENGTH * head_std(features)) ** 2 * (head_features - 1))


def class_scale(features: int, length: float = 1.0, *, geodesic: bool = False, K: Curvature) -> Curvature:
    r""":math:`\beta = 1/(2 l R \cdot \mathtt{length})` for class points of that length in units of R; or γ.

    Example:
        >>> class_scale(65, K=-1.0), class_scale(65, 2.0, K=-1.0)
        (2.0, 1.0)
    """
    beta = 0.5 / (length * unit(features, K=K) * origin_time(K))
    if not geodesic:
        return beta
    across = math.sqrt((1.0 + NORM_LENGTH**2) * (1.0 + length**2))  # cosh of the distance
    return beta * 2.0 * math.sqrt(across**2 - 1.0) * origin_time(K)


#: e^θ, by which logits of classes are multiplied, starts here: sharper than in torch, which learns faster on both
#: sides.
CLASS_GAIN = 2.0


def head_std(features: int) -> float:
    r"""Weights to queries, keys and values start with this deviation: :math:`\sqrt{1/2n}`, as in torch, where Glorot's
    start counts the three maps as one.
    """
    return math.sqrt(0.5 / (features - 1))


def inner_std(features: int, inner: int) -> float:
    """Glorot's deviation for the first map of a feed-forward block."""
    return math.sqrt(2.0 / (features - 1 + inner - 1))


def residual_std(depth: int) -> float:
    r"""Maps that add to the stream start at :math:`.02/\sqrt{2 \cdot \mathrm{depth}}`: every layer begins near the
    identity, and all of them together add as much as one.
    """
    return 0.02 / math.sqrt(2 * depth)
