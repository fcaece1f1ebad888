"""The manifold object: it owns the curvature and gives the pure functions geoopt's method names."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import charts, distance, lorentz, maps, transformations
from hybonet.geometry.centroid import centroid, to_sheet
from hybonet.geometry.fused import Fused
from hybonet.geometry.numerics import MAX_LOG_CURVATURE, Curvature, precision


class Lorentz(nn.Module):
    r"""The Lorentz model of hyperbolic space with curvature K < 0.

    Points are ambient vectors, time first, with :math:`-x_t^2 + |x_s|^2 = 1/K`. A fixed curvature is a plain number, a
    learnable one is stored as :math:`\log(-K)`, so it stays negative, and is kept between -1e6 and -1e-6. K is part of
    a ``state_dict``, once for all layers that share the manifold, and a model of another fixed K refuses it.

    Args:
        K: curvature, negative.
        learnable: train K with the model.
        check: verify that points given to layers and to the methods of this manifold are finite and on the hyperboloid, and
            raise a ``ValueError`` if not. For debugging: it reads values, so it cannot be compiled.

    Example:
        >>> import torch
        >>> manifold = Lorentz(K=-0.5)
        >>> x = manifold.random_normal(4, 3)
        >>> manifold.check_point(x)
        True
        >>> torch.allclose(manifold.expmap0(manifold.logmap0(x)), x, atol=1e-5)
        True
    """

    def __init__(self, K: float = -1.0, learnable: bool = False, *, check: bool = False) -> None:
        super().__init__()
        value = float(K)
        if not (value < 0 and math.isfinite(value)):
            raise ValueError(
                f"expected a finite negative curvature K, got {K!r}; hyperbolic space has K < 0, "
                "for example Lorentz(K=-1.0)"
            )
        if learnable and abs(math.log(-value)) > MAX_LOG_CURVATURE:
            raise ValueError(
                f"expected a learnable curvature K between -1e6 and -1e-6, got {K!r}; scale the data so that K is near -1"
            )
        self.learnable = learnable
        self.check = check
        self._fixed = value
        self._number = torch.tensor([value], dtype=torch.float64, device="cpu")  # the K of a state
        self._loaded: list[str] | None = None
        if learnable:
            # One number in float64 costs nothing and never widens a result; in float32 its rounding would show in
            # float64 points. A vector, since FSDP2 shards no scalars.
            self.log_neg_curvature = nn.Parameter(torch.empty(1, dtype=torch.float64))
            self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Back to the K of the constructor, as after ``to_empty``."""
        if self.learnable:
            self.log_neg_curvature.fill_(math.log(-self._fixed))

    @property
    def K(self) -> Curvature:  # noqa: N802
        """The curvature: a float, or a differentiable 0-d tensor if it is learnable."""
        if not self.learnable:
            return self._fixed
        return -_Bounded.apply(self.log_neg_curvature.squeeze()).exp()

    @property
    def curvature(self) -> float:
        """K as a plain number, outside of autograd."""
        if self.sharded:  # a call of all processes
            log: Any = self.log_neg_curvature.detach()
            return -_Bounded.apply(log.full_tensor()).exp().item()
        K = self.K
        return K if isinstance(K, float) else K.item()

    @property
    def sharded(self) -> bool:
        """Whether a learned K is shared out by FSDP2."""
        return self.learnable and hasattr(self.log_neg_curvature, "full_tensor")

    @property
    def k(self) -> Curvature:
        """-1/K, the squared radius of curvature."""
        return -1.0 / self.K

    def extra_repr(self) -> str:
        options = [] if self.sharded else [f"K={self.curvature:.6g}"]
        options += ["learnable=True"] if self.learnable else []
        options += ["check=True"] if self.check else []
        return ", ".join(options)

    def same_as(self, other: Lorentz) -> bool:
        """Whether points of the other manifold are points of this one, now and after training.

        Example:
            >>> Lorentz().same_as(Lorentz(-1.0)), Lorentz().same_as(Lorentz(-2.0))
            (True, False)
        """
        if self.learnable or other.learnable:
            return self is other
        return self._fixed == other._fixed

    # -- state ----------------------------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        # Layers share their manifold: what stands in the state once is not written again under the next layer's name.
        if self.learnable:
            name, own = _LEARNED, self.log_neg_curvature if keep_vars else self.log_neg_curvature.detach()
        else:
            name, own = _FIXED, self._number
        if not any(key.endswith(name) and _same_memory(value, own) for key, value in destination.items()):
            destination[prefix + name] = own

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if self.learnable:
            value = state_dict.get(prefix + _LEARNED)
            if value is None and self._loaded is missing_keys:  # by another layer's name, in this call
                return
            if value is not None and value.dim() == 0:  # of an older version
                state_dict[prefix + _LEARNED] = value[None]
            self._loaded = missing_keys if value is not None else None
            super()._load_from_state_dict(
                state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
            )
            if prefix + _FIXED in missing_keys:
                missing_keys.remove(prefix + _FIXED)
            return
        if strict and prefix + _LEARNED in state_dict:
            unexpected_keys.append(prefix + _LEARNED)
        value = state_dict.get(prefix + _FIXED)  # older files have none
        try:
            self.set_extra_state(value)
        except ValueError as error:
            error_msgs.append(f"{prefix + _FIXED}: {error}")

    def get_extra_state(self) -> Tensor:
        """The K of a state, as other loaders than torch's ask for it."""
        return self._number

    def set_extra_state(self, state: Tensor | None) -> None:
        """Refuse the state of another fixed K."""
        if state is None or state.is_meta or self.learnable:
            return
        number = float(state)
        if not math.isclose(number, self._fixed, rel_tol=4 * torch.finfo(state.dtype).eps):
            raise ValueError(
                f"expected curvature K = {self._fixed:.6g}, got K = {number:.6g}; build the model with "
                f"manifold=Lorentz(K={number:.6g})"
            )

    # -- points ---------------------------------------------------------------------------------------------------

    def check_point(self, x: Tensor, *, tolerance: float | None = None) -> bool:
        """Whether x is finite and on the hyperboloid; :meth:`require_point` says what is wrong.

        Example:
            >>> import torch
            >>> Lorentz().check_point(torch.zeros(3))
            False
        """
        try:
            self.require_point(x, tolerance=tolerance)
        except ValueError:
            return False
        return True

    def require_point(self, x: Tensor, *, name: str = "x", tolerance: float | None = None) -> None:
        """A ``ValueError`` unless x is finite and on the hyperboloid; it says which row is off, and by how much.

        Example:
            >>> import torch
            >>> Lorentz().require_point(torch.zeros(3))
            Traceback (most recent call last):
            ValueError: x is off the hyperboloid at row 0: <x,x> = 0 where 1/K = -1 was expected (K = -1); projx(x) rebuilds the time coordinate
        """
        if x.dim() == 0 or x.shape[-1] < 2:
            raise ValueError(
                f"expected {name} with at least 2 ambient coordinates (time first) in its last dimension, "
                f"got shape {tuple(x.shape)}"
            )
        allowed = precision(x.dtype).sheet_tolerance if tolerance is None else tolerance
        rows = x.detach().double().reshape(-1, x.shape[-1])
        if rows.numel() == 0:
            return
        if not bool(rows.isfinite().all()):
            row = int((~rows.isfinite().all(-1)).nonzero()[0])
            raise ValueError(
                f"{name} has a NaN or infinite coordinate at row {row}; look for it upstream, for example with "
                "torch.autograd.set_detect_anomaly(True)"
            )
        K = self.curvature
        value = rows[:, 1:].square().sum(-1) - rows[:, 0].square()
        off = (value - 1.0 / K).abs() / (rows[:, 0].square() - 1.0 / K)
        bad = (off > allowed) | (rows[:, 0] <= 0)
        if bool(bad.any()):
            row = int(bad.nonzero()[0])
            if bool(rows[row, 0] <= 0) and bool(off[row] <= allowed):
                raise ValueError(
                    f"{name} is on the lower sheet at row {row}: its time coordinate is {rows[row, 0].item():.6g}, and "
                    f"must be positive; projx({name}) rebuilds it"
                )
            if x.dtype == torch.float64 and off[row] <= precision(torch.float32).sheet_tolerance:
                raise ValueError(
                    f"{name} is off the hyperboloid at row {row} by {off[row].item():.1e} of time squared: right in float32, "
                    f"but not in float64; projx({name}) rebuilds the time coordinate in float64"
                )
            raise ValueError(
                f"{name} is off the hyperboloid at row {row}: <x,x> = {value[row].item():.6g} where 1/K = {1 / K:.6g} was "
                f"expected (K = {K:.6g}); {_remedy(rows, value, row, x.dtype, name)}"
            )

    def validate(self, x: Tensor, features: int | None = None, *, name: str = "input") -> None:
        """Check the number of ambient coordinates, and with ``check=True`` the values; layers call it on their input.

        Example:
            >>> import torch
            >>> Lorentz().validate(torch.ones(2, 3), 4)
            Traceback (most recent call last):
            ValueError: expected input with 4 ambient coordinates (time included) in its last dimension, got shape (2, 3)
        """
        if features is not None and x.shape[-1:] != (features,):
            raise ValueError(
                f"expected {name} with {features} ambient coordinates (time included) in its last dimension, "
                f"got shape {tuple(x.shape)}"
            )
        if x.dim() == 0 or x.shape[-1] < 2:
            raise ValueError(f"expected {name} with at least 2 ambient coordinates, got shape {tuple(x.shape)}")
        if self.check:
            self.require_point(x, name=name)

    def origin(self, *size: int, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> Tensor:
        """See :func:`hybonet.geometry.origin`."""
        return lorentz.origin(*size, K=self.K, dtype=dtype, device=device)

    def random_normal(
        self,
        *size: int,
        std: float = 1.0,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """See :func:`hybonet.geometry.random_normal`."""
        return maps.random_normal(*size, K=self.K, std=std, dtype=dtype, device=device, generator=generator)

    def lift(self, space: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.lift`."""
        return lorentz.lift(space, K=self.K)

    def projx(self, x: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.projx`."""
        return lorentz.projx(x, K=self.K)

    def centroid(self, x: Tensor, weights: Tensor | None = None) -> Tensor:
        """See :func:`hybonet.geometry.centroid`."""
        self.validate(x)
        return centroid(x, weights, K=self.K)

    def to_sheet(self, s: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.to_sheet`."""
        return to_sheet(s, K=self.K)

    # -- distances ------------------------------------------------------------------------------------------------

    def inner(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """See :func:`hybonet.geometry.inner`."""
        self._same_width(x, y)
        return lorentz.inner(x, y, keepdim=keepdim)

    def cinner(self, x: Tensor, y: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.cinner`."""
        self._same_width(x, y)
        return lorentz.cinner(x, y)

    def sqdist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """See :func:`hybonet.geometry.sqdist`."""
        self._validate_pair(x, y)
        return distance.sqdist(x, y, K=self.K, keepdim=keepdim)

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """See :func:`hybonet.geometry.dist`."""
        self._validate_pair(x, y)
        return distance.dist(x, y, K=self.K, keepdim=keepdim)

    def dist0(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """See :func:`hybonet.geometry.dist0`."""
        self.validate(x)
        return distance.dist0(x, K=self.K, keepdim=keepdim)

    def cdist(self, x: Tensor, y: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.cdist`."""
        self._validate_pair(x, y)
        return distance.cdist(x, y, K=self.K)

    def csqdist(self, x: Tensor, y: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.csqdist`."""
        self._validate_pair(x, y)
        return distance.csqdist(x, y, K=self.K)

    # -- tangent vectors ------------------------------------------------------------------------------------------

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.expmap`."""
        self._same_width(x, u)
        self.validate(x)
        return maps.expmap(x, u, K=self.K)

    def retr(self, x: Tensor, u: Tensor) -> Tensor:
        """Retraction; as in geoopt, the exponential map itself."""
        return self.expmap(x, u)

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.logmap`."""
        self._validate_pair(x, y)
        return maps.logmap(x, y, K=self.K)

    def expmap0(self, u: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.expmap0`."""
        return maps.expmap0(u, K=self.K)

    def logmap0(self, x: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.logmap0`."""
        self.validate(x)
        return maps.logmap0(x, K=self.K)

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.transp`."""
        self._same_width(x, v)
        self._validate_pair(x, y)
        return maps.transp(x, y, v, K=self.K)

    def transp0(self, y: Tensor, v: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.transp0`."""
        self.validate(y)
        return maps.transp0(y, v, K=self.K)

    def proju(self, x: Tensor, v: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.proju`."""
        self._same_width(x, v)
        self.validate(x)
        return lorentz.proju(x, v, K=self.K)

    def egrad2rgrad(self, x: Tensor, grad: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.egrad2rgrad`."""
        self._same_width(x, grad)
        self.validate(x)
        return lorentz.egrad2rgrad(x, grad, K=self.K)

    # -- other models and isometries ------------------------------------------------------------------------------

    def to_poincare(self, x: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.to_poincare`."""
        self.validate(x)
        return charts.to_poincare(x, K=self.K)

    def from_poincare(self, p: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.from_poincare`."""
        return charts.from_poincare(p, K=self.K)

    def to_klein(self, x: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.to_klein`."""
        self.validate(x)
        return charts.to_klein(x, K=self.K)

    def from_klein(self, c: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.from_klein`."""
        return charts.from_klein(c, K=self.K)

    def boost(self, velocity: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.boost`."""
        return transformations.boost(velocity)

    def rotation(self, matrix: Tensor) -> Tensor:
        """See :func:`hybonet.geometry.rotation`."""
        return transformations.rotation(matrix)

    @staticmethod
    def _same_width(x: Tensor, y: Tensor) -> None:
        if x.shape[-1:] != y.shape[-1:] or x.dim() == 0:
            raise ValueError(
                f"expected two tensors with equally many ambient coordinates, got {tuple(x.shape)} and {tuple(y.shape)}"
            )
        lorentz.require_coordinates(x)

    def _validate_pair(self, x: Tensor, y: Tensor) -> None:
        self._same_width(x, y)
        self.validate(x, name="x")
        self.validate(y, name="y")


#: Names under which K stands in a state.
_LEARNED, _FIXED = "log_neg_curvature", "_extra_state"


def without_curvature(state: dict[str, Any], prefix: str) -> bool:
    """Whether a state is of an older version, which had no fixed K, and a learned one as a scalar in every layer.

    Example:
        >>> without_curvature(Lorentz().state_dict(prefix="manifold."), "manifold.")
        False
    """
    own = state.get(prefix + _LEARNED)
    return (own is not None and own.dim() == 0) or not any(key.endswith((_LEARNED, _FIXED)) for key in state)


def _same_memory(a: Tensor, b: Tensor) -> bool:
    """Whether both are one tensor, or parts of the same memory; sharded ones are known by their part of it."""
    a, b = (getattr(t, "_local_tensor", t) for t in (a, b))
    return a is b or a.untyped_storage()._cdata == b.untyped_storage()._cdata


class _Bounded(Fused):
    """log(-K) within its bound; a gradient that would lead further out is none, and one that leads back is whole."""

    generate_vmap_rule = True

    @staticmethod
    def forward(log: Tensor) -> Tensor:
        return log.clamp(-MAX_LOG_CURVATURE, MAX_LOG_CURVATURE)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (log,) = ctx.saved_tensors
        outward = (log.abs() >= MAX_LOG_CURVATURE) & (log * grad < 0)
        return torch.where(outward, 0.0, grad)


def _remedy(rows: Tensor, value: Tensor, row: int, dtype: torch.dtype, name: str) -> str:
    """What rows that are off the hyperboloid look like, and what is to be done."""
    rebuild, size = f"projx({name}) rebuilds the time coordinate", rows[:, 0].square()
    if bool((rows[:, 0] <= 0).any()) or bool((value > 0).any()):
        return f"Euclidean features have no time coordinate: lift(features) adds it; of points, {rebuild}"
    other = value[row]
    if len(rows) > 1 and bool(((value - other).abs() <= precision(dtype).sheet_tolerance * (size - other)).all()):
        return f"these are points of K = {1 / other.item():.3g}: give all layers the same manifold; {rebuild}"
    return f"{rebuild}; of a sum or mean of points, to_sheet({name}) gives the centroid"
