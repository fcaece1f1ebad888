"""Stochastic gradient descent on manifolds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn
from torch.optim.sgd import sgd as euclidean_sgd

from hybonet.optim.base import RiemannianOptimizer
from hybonet.optim.row_updates import in_blocks, sgd_rows


class RiemannianSGD(RiemannianOptimizer):
    r"""SGD with momentum for points on the hyperboloid and ordinary parameters together; the same numbers as geoopt's.

    A point moves along the geodesic, :math:`x \leftarrow \exp_x(-\eta\, m)`, and its momentum is carried along by
    parallel transport. Sparse gradients update only the touched rows.

    Args:
        params: a module, parameters, or groups (see :class:`~hybonet.optim.RiemannianAdam`).
        lr, momentum, dampening, nesterov, maximize: as in ``torch.optim.SGD``. As in geoopt, the momentum buffer
            starts at the first Euclidean gradient, so that the first step counts it twice (Euclidean parameters' too).
        weight_decay: L2 penalty on Euclidean parameters; on points too with ``decay_manifold``.
        foreach, fused: how torch is to step Euclidean parameters.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzEmbedding
        >>> table = LorentzEmbedding(10, 4, form="paper")
        >>> optimizer = RiemannianSGD(table, lr=0.1, momentum=0.5)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     table.manifold.dist0(table.points()).square().sum().backward()
        ...     optimizer.step()
        >>> bool((table.manifold.dist0(table.points()) < 1e-3).all())
        True
    """

    def __init__(
        self,
        params: nn.Module | Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        decay_manifold: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        if min(lr, momentum, weight_decay) < 0:
            raise ValueError(
                f"expected lr, momentum and weight_decay >= 0, got lr={lr}, momentum={momentum}, "
                f"weight_decay={weight_decay}"
            )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(f"nesterov needs momentum > 0 and dampening 0, got {momentum} and {dampening}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "decay_manifold": decay_manifold,
            "foreach": foreach,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _momentum_buffer(self, param: Tensor, group: dict[str, Any]) -> Tensor | None:
        if not group["momentum"]:
            return None
        state = self.state[param]
        if "momentum_buffer" not in state:
            grad = param.grad
            assert grad is not None
            grad = -grad if group["maximize"] else grad
            state["momentum_buffer"] = grad.to_dense() if grad.is_sparse else grad.clone().contiguous()
        return state["momentum_buffer"]

    def _step_euclidean(self, params: list[Tensor], group: dict[str, Any]) -> None:
        dense = [param for param in params if not param.grad.is_sparse]  # type: ignore[union-attr]
        if dense:
            grads: list[Any] = [param.grad for param in dense]
            grads = [-grad for grad in grads] if group["maximize"] else grads
            _sgd(dense, grads, [self._momentum_buffer(param, group) for param in dense], group)
        for param in params:
            if param.grad.is_sparse:  # type: ignore[union-attr]
                tables = [param, self._momentum_buffer(param, group)]
                with self.touched_rows(param, tables, maximize=group["maximize"]) as (grad, (x, buffer)):
                    _sgd([x], [grad], [buffer], group)

    def _step_manifold(self, param: Tensor, k: float | Tensor, group: dict[str, Any]) -> None:
        tables = [param, self._momentum_buffer(param, group)]
        with self.touched_rows(param, tables, k, maximize=group["maximize"]) as (g, (x, m)):
            in_blocks(
                sgd_rows,
                [x, g, m],
                k=k,
                lr=group["lr"],
                momentum=group["momentum"],
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                weight_decay=group["weight_decay"] if group["decay_manifold"] else 0.0,
            )


def _sgd(params: list[Tensor], grads: list[Any], buffers: list[Tensor | None], group: dict[str, Any]) -> None:
    """torch's own step, in place."""
    euclidean_sgd(
        params,
        grads,
        buffers,
        foreach=group["foreach"],
        fused=group["fused"],
        maximize=False,
        **{name: group[name] for name in ("lr", "momentum", "dampening", "nesterov", "weight_decay")},
    )
