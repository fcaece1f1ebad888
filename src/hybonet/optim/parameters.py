"""Which parameters are points on a manifold, and how to group and clip them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from hybonet import kernels
from hybonet.geometry import Lorentz
from hybonet.geometry.numerics import working
from hybonet.kernels.sparse_product import row_dots


def manifold_of(param: Tensor) -> Lorentz | None:
    """The manifold whose points a parameter holds, or None for a Euclidean one; geoopt's Lorentz parameters count too.

    Example:
        >>> from hybonet.nn import LorentzEmbedding
        >>> manifold_of(LorentzEmbedding(10, 4, form="paper").weight)
        Lorentz(K=-1)
    """
    manifold = getattr(param, "manifold", None)
    if manifold is None or isinstance(manifold, Lorentz):
        return manifold
    if isinstance(inside := getattr(manifold, "lorentz", None), Lorentz):  # of hybonet.interop.geoopt
        return inside
    name, k = getattr(manifold, "name", type(manifold).__name__), getattr(manifold, "k", None)
    if name == "Euclidean":
        return None
    if name != "Lorentz" or k is None or k.requires_grad:
        raise ValueError(
            f"expected points of a Lorentz manifold of fixed curvature, got a parameter on {manifold}; step it with an "
            "optimiser of its own library"
        )
    known = getattr(param, "_as_lorentz", None)
    if known is None or -1.0 / float(k) != known.K:
        known = param._as_lorentz = Lorentz(-1.0 / float(k))  # type: ignore[attr-defined]
    return known


def has_time(param: Tensor) -> bool:
    """Whether points are stored with their time, as those from outside are; layers store space, and 0 for time."""
    return not getattr(param, "space_only", False)


def rows_here(table: Any) -> Tensor:
    """The rows that this process holds of a tensor that FSDP2 has shared out; any other tensor itself."""
    if not hasattr(table, "to_local"):
        return table
    if any(placement.is_partial() or placement.is_shard(table.dim() - 1) for placement in table.placements):
        raise ValueError(
            f"expected points shared out by rows, got {table.placements} of a tensor of shape {tuple(table.shape)}; "
            "leave shard_placement_fn out"
        )
    return table.to_local()


def parameter_groups(
    model: nn.Module, *, weight_decay: float = 0.0, decay_manifold: bool = False
) -> list[dict[str, Any]]:
    """Optimiser groups with weight decay only where it makes sense: on Euclidean matrices.

    Points on a manifold, biases, scales and a learned curvature go to groups without decay.

    Example:
        >>> from hybonet.nn import LorentzTransformerEncoderLayer
        >>> groups = parameter_groups(LorentzTransformerEncoderLayer(8, 2, 16), weight_decay=0.01)
        >>> [(group["weight_decay"], len(group["params"])) for group in groups]
        [(0.01, 6), (0.0, 8)]
    """
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    points: list[nn.Parameter] = []
    for param in model.parameters():
        if not param.requires_grad:
            continue
        if manifold_of(param) is not None:
            points.append(param)
        else:
            (decayed if param.dim() >= 2 else plain).append(param)
    groups = [(decayed, weight_decay), (plain, 0.0), (points, weight_decay if decay_manifold else 0.0)]
    return [{"params": params, "weight_decay": decay} for params, decay in groups if params]


def adopt_groups(params: nn.Module | Iterable[Any], defaults: dict[str, Any]) -> list[Any]:
    """What an optimiser was given, as torch's optimisers take it.

    A module is split by :func:`parameter_groups`. A group may name a ``manifold``; it marks the group's parameters
    and is taken out again, so that ``state_dict()`` stays plain data.
    """
    if isinstance(params, nn.Module):
        return parameter_groups(
            params, weight_decay=defaults["weight_decay"], decay_manifold=defaults["decay_manifold"]
        )
    groups = list(params)
    for i, group in enumerate(groups):
        if isinstance(group, dict) and "manifold" in group:
            group = dict(group)
            manifold = group.pop("manifold")
            members = group["params"]
            members = [members] if isinstance(members, Tensor) else list(members)
            for member in members:
                _mark(member[1] if isinstance(member, tuple) else member, manifold)  # torch allows (name, parameter)
            groups[i] = {**group, "params": members}
    return groups


def _mark(param: Tensor, manifold: Lorentz | None) -> None:
    if manifold is None:
        return
    known = manifold_of(param)
    if known is not None and not manifold.same_as(known):
        raise ValueError(
            f"the group's manifold is {manifold}, but a parameter of shape {tuple(param.shape)} holds points of "
            f"{known}; leave the group's manifold out, or give the layer that manifold"
        )
    if known is None:
        manifold.require_point(param, name="parameter")
        param.manifold = manifold  # type: ignore[attr-defined]


@torch.no_grad()
def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor, max_norm: float, *, error_if_nonfinite: bool = False
) -> Tensor:
    r"""Scale gradients in place so that their total norm is at most ``max_norm``; returns the norm before.

    Like ``torch.nn.utils.clip_grad_norm_``, but the gradient of a manifold parameter counts with its Riemannian norm
    :math:`g^T J g + (x \cdot g)^2/k` (a row far out has a large Euclidean gradient for the same slope), and sparse
    gradients are allowed. torch's own function works with these optimisers too. ``error_if_nonfinite`` raises a
    ``ValueError`` that names the shapes, as torch's raises an error; gradients are then left as they are.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzEmbedding
        >>> table = LorentzEmbedding(10, 4, form="paper")
        >>> table(torch.arange(3)).square().sum().backward()
        >>> norm = clip_grad_norm_(table.parameters(), 0.1)
        >>> clip_grad_norm_(table.parameters(), 0.1) <= 0.1 + 1e-6
        tensor(True)
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    params = [p for p in parameters if p.grad is not None]
    if not params:
        return torch.tensor(0.0)
    squares = [_squared_norm(p) for p in params]
    total = torch.stack([s.to(squares[0].device) for s in squares]).sum().sqrt()
    if error_if_nonfinite and not bool(total.isfinite()):
        shapes = ", ".join(str(tuple(p.shape)) for p, s in zip(params, squares, strict=True) if not bool(s.isfinite()))
        raise ValueError(
            f"expected finite gradients, got a norm of {total.item()} of parameters of shape {shapes}; lower the "
            "learning rate, or look for the cause with torch.autograd.set_detect_anomaly(True)"
        )
    factor = max_norm / (total + 1e-6)
    for p in params if not bool(factor >= 1.0) else ():
        grad = p.grad
        assert grad is not None
        (grad._values() if grad.is_sparse else grad).mul_(factor.to(grad.device))
    return total


def _squared_norm(param: Tensor) -> Tensor:
    grad: Any = param.grad
    point: Tensor = param
    manifold = manifold_of(param)
    if hasattr(grad, "to_local"):
        from torch.distributed.tensor import DTensor, Partial, Replicate

        if manifold is not None:
            point = rows_here(point)
        kinds = [Partial() if placement.is_shard() else Replicate() for placement in grad.placements]
        square: Any = DTensor.from_local(_square_of(point, grad.to_local(), manifold), grad.device_mesh, kinds)
        return square.full_tensor()
    if grad.is_sparse:
        grad = param.grad = grad.coalesce()
        point, grad = param[grad.indices()[0]], grad.values()
    return _square_of(point, grad, manifold)


def _square_of(point: Tensor, grad: Tensor, manifold: Lorentz | None) -> Tensor:
    grad = working(grad)  # half precision has no room for squares
    if manifold is None:
        return torch.linalg.vector_norm(grad).square()
    rows = [tensor.reshape(-1, tensor.shape[-1]) for tensor in (working(point), grad)]
    if kernels.run_on(*rows):
        from hybonet.kernels.row_updates import riemannian_squares

        squares = grad.new_empty(len(rows[0]))
        riemannian_squares(*rows, -1.0 / manifold.curvature, squares)
        return squares.sum().clamp_min(0.0)
    square = torch.linalg.vector_norm(grad).square()
    square = square - 2.0 * grad[..., 0].square().sum() - manifold.curvature * row_dots(*rows).square().sum()
    return square.clamp_min(0.0)
