"""The base of all layers: it holds the manifold and marks which parameters are points on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.manifold import without_curvature
from hybonet.geometry.numerics import working

_checks: Literal["always", "once", "never"] = "once"


def set_checks(when: Literal["always", "once", "never"]) -> None:
    """When layers look at the points that they are given, and warn of what is none: ``"once"`` is the first batch.

    They look whether the input is finite, on the manifold, and of its curvature. Nothing is looked at in compiled and
    exported code. An error instead of a warning: ``Lorentz(check=True)``.

    Example:
        >>> import hybonet
        >>> hybonet.set_checks("never")
        >>> hybonet.set_checks("once")
    """
    global _checks  # noqa: PLW0603 - a switch for the process
    if when not in ("always", "once", "never"):
        raise ValueError(f"expected checks 'always', 'once' or 'never', got {when!r}")
    _checks = when


class LorentzModule(nn.Module):
    """A layer that lives on a :class:`~hybonet.Lorentz` manifold; without one it uses K = -1.

    Parameters named in ``manifold_parameters`` hold the space coordinates of points, and 0 where time would stand, so
    that any optimiser, average or cast leaves them points; whoever reads them rebuilds time. They are ordinary
    ``nn.Parameter`` tensors with an attribute ``manifold`` by which :mod:`hybonet.optim` knows them. The mark is set
    again after ``copy.deepcopy``, unpickling, ``to_empty`` and ``load_state_dict(assign=True)``, which all make new
    parameter objects.

    Example:
        >>> import copy
        >>> from hybonet.nn import LorentzEmbedding
        >>> layer = copy.deepcopy(LorentzEmbedding(10, 4, form="paper"))
        >>> layer.weight.manifold is layer.manifold
        True
    """

    manifold_parameters: tuple[str, ...] = ()
    manifold: Lorentz

    def __init__(self, manifold: Lorentz | None = None, **of_other_base: Any) -> None:
        super().__init__(**of_other_base)  # a layer may be another library's module as well, as graph layers are
        if manifold is not None and not isinstance(manifold, Lorentz):
            raise ValueError(
                f"expected manifold to be a hybonet.Lorentz, got {type(manifold).__name__}; "
                "for a curvature of -2 pass manifold=Lorentz(K=-2.0)"
            )
        self.manifold = Lorentz() if manifold is None else manifold
        self._checked: set[str] = set()

    def check_input(
        self, x: Tensor, features: int | None = None, *, name: str = "input", like: Tensor | None = None
    ) -> None:
        """Refuse points of another width, or of another dtype than the parameter ``like`` that they are multiplied by;
        see whether they are points as :func:`set_checks` says, and warn if not.
        """
        if like is not None and x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
            raise ValueError(
                f"expected {name} of the layer's {like.dtype}, got {x.dtype}; points change their dtype by "
                f"projx({name}.to({like.dtype})), which rebuilds time, layers by .to({x.dtype})"
            )
        self.manifold.validate(x, features, name=name)
        if torch.compiler.is_compiling() or (name in self._checked and _checks == "once") or _checks == "never":
            return
        plain = type(x) in (Tensor, nn.Parameter) and x.layout == torch.strided and not x.is_meta
        if self.manifold.check or not plain or torch.jit.is_tracing() or torch._C._are_functorch_transforms_active():
            return
        self._checked.add(name)
        try:
            self.manifold.require_point(x, name=name)
        except ValueError as error:
            what = f"{type(self).__name__}({self.extra_repr()}) on {self.manifold}"
            warnings.warn(f"{what}: {error} (hybonet.set_checks('never') says nothing)", stacklevel=3)

    def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
        super().register_parameter(name, param)
        if param is not None and name in self.manifold_parameters:
            self._mark(param)

    def __setattr__(self, name: str, value: Any) -> None:
        """As of any module. But since it is here, FSDP2 sets parameters by it, not past :meth:`register_parameter`."""
        super().__setattr__(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_checked": set(), **state})
        self._mark_points()

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
        applied = super()._apply(fn, recurse)
        self._mark_points()
        return applied

    def _mark_points(self) -> None:
        for name in self.manifold_parameters:
            self._mark(getattr(self, name))

    def _mark(self, param: Any) -> None:
        if isinstance(getattr(param, "manifold", None), Lorentz | None):  # else another library has taken it over
            param.manifold, param.space_only = self.manifold, True

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Files of older versions hold points with their time: it is checked, and left out; and scalars."""
        vectors_of_scalars(self, state_dict, prefix)
        older = self.manifold_parameters and without_curvature(state_dict, prefix + "manifold.")
        for name in self.manifold_parameters:
            points = state_dict.get(prefix + name)
            if older and points is not None and not points.is_meta and bool(points[..., 0].any()):
                try:
                    self.manifold.require_point(points, name=prefix + name)
                except ValueError as error:
                    rest[-1].append(f"{error}; or the points are of another K")
                points = points.clone()
                points[..., 0] = 0.0
                state_dict[prefix + name] = points
        super()._load_from_state_dict(state_dict, prefix, *rest)


def vectors_of_scalars(module: nn.Module, state_dict: dict[str, Any], prefix: str) -> None:
    """Make the scalars of an older version's state what they are now, vectors of one number.

    Example:
        >>> state = {"weight": torch.tensor(2.0)}
        >>> vectors_of_scalars(nn.PReLU(), state, "")
        >>> state
        {'weight': tensor([2.])}
    """
    for name, own in (*module._parameters.items(), *module._buffers.items()):
        value = state_dict.get(prefix + name)
        if value is not None and not value.dim() and own is not None and own.shape == (1,):
            state_dict[prefix + name] = value[None]


def wide_in_autocast(x: Tensor) -> Tensor:
    """``x`` as a normalisation takes it under ``torch.autocast``: in float32, not half precision, as torch's own do.

    Example:
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     wide_in_autocast(torch.zeros(2, dtype=torch.bfloat16)).dtype
        torch.float32
    """
    return working(x) if torch.is_autocast_enabled(x.device.type) else x


def require_same_manifold(expected: Lorentz, **modules: nn.Module) -> None:
    """Raise a ``ValueError`` unless every layer inside the given modules lives on the expected manifold.

    Example:
        >>> from hybonet.nn import LorentzLinear
        >>> require_same_manifold(Lorentz(-2.0), encoder=LorentzLinear(3, 3))
        Traceback (most recent call last):
        ValueError: encoder lives on Lorentz(K=-1) but Lorentz(K=-2) was expected; build both with the same manifold object
    """
    for name, module in modules.items():
        for layer in module.modules():
            if isinstance(layer, LorentzModule) and not expected.same_as(layer.manifold):
                raise ValueError(
                    f"{name} lives on {layer.manifold} but {expected} was expected; "
                    "build both with the same manifold object"
                )
