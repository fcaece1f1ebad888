"""Adam on manifolds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim.adam import adam as euclidean_adam

from hybonet import kernels
from hybonet.optim.base import RiemannianOptimizer
from hybonet.optim.row_updates import (
    adam_rows,
    adam_rows_in_one_pass,
    chart_adam_in_one_pass,
    chart_step,
    in_blocks,
)


class RiemannianAdam(RiemannianOptimizer):
    r"""Adam for points on the hyperboloid and ordinary parameters together.

    * ``update="exact"`` (the paper's rAdam, the same numbers as geoopt's): Riemannian gradient, exponential map,
      first moment carried by parallel transport, second moment one number per row.
    * ``update="chart"``: the hyperboloid is globally parametrised by its space part: Adam (torch's fused kernel) runs
      on :math:`x_s` with no constraint at all. With ``precondition`` the gradient is Riemannian,
      :math:`g + (-K)\, x_s \langle x_s, g\rangle`; without, it is the plain chart gradient.

    Euclidean parameters take torch's own Adam step. Sparse gradients update only the touched rows, moments included, as
    ``torch.optim.SparseAdam`` does.

    Args:
        params: a module (grouped by :func:`~hybonet.optim.parameter_groups`), parameters, or groups; a group may name a
            ``manifold`` for parameters that do not come from a hybonet layer.
        lr, betas, eps, amsgrad: as in ``torch.optim.Adam``.
        weight_decay: L2 penalty on Euclidean parameters.
        decoupled_weight_decay: shrink them by lr · weight_decay a step instead, apart from the gradient, as
            ``torch.optim.AdamW`` does. Where gradients are small, as those of normalised maps are, a penalty inside
            them is all that Adam sees.
        decay_manifold: apply it to points as well (as geoopt does); they are then pulled to the origin.
        update, precondition: see above.
        maximize: climb instead of descend.
        foreach, fused: how torch is to step Euclidean parameters (and points with ``update="chart"``); by default it is
            fused on processors, elsewhere torch chooses.
        capturable: keep counts of steps on the device and wait for nothing, as CUDA graphs need it; without effect on
            processors.
        compiled: run the exact update through ``torch.compile`` (needs a C++ compiler; faster after the first step).

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzEmbedding
        >>> table = LorentzEmbedding(10, 4, form="paper")
        >>> optimizer = RiemannianAdam(table, lr=0.05)
        >>> for _ in range(200):
        ...     optimizer.zero_grad()
        ...     table.manifold.dist0(table.points()).sum().backward()
        ...     optimizer.step()
        >>> bool((table.manifold.dist0(table.points()) < 0.1).all()), table.manifold.check_point(table.points())
        (True, True)
    """

    def __init__(
        self,
        params: nn.Module | Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        update: Literal["exact", "chart"] = "exact",
        precondition: bool = True,
        decoupled_weight_decay: bool = False,
        decay_manifold: bool = False,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
        capturable: bool = False,
        compiled: bool = False,
    ) -> None:
        for name, value, valid in (
            ("lr", lr, lr >= 0),
            ("betas", betas, all(0.0 <= b < 1.0 for b in betas)),
            ("eps", eps, eps >= 0),
            ("weight_decay", weight_decay, weight_decay >= 0),
            ("update", update, update in ("exact", "chart")),
        ):
            if not valid:
                raise ValueError(
                    f"invalid {name}={value!r}: expected lr, eps and weight_decay >= 0, betas in [0, 1), "
                    "update 'exact' or 'chart'"
                )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "update": update,
            "precondition": precondition,
            "decoupled_weight_decay": decoupled_weight_decay,
            "decay_manifold": decay_manifold,
            "maximize": maximize,
            "foreach": foreach,
            "fused": fused,
            "capturable": capturable,
            "compiled": compiled,
        }
        super().__init__(params, defaults)

    def _step_euclidean(self, params: list[Tensor], group: dict[str, Any]) -> None:
        dense = [p for p in params if not p.grad.is_sparse]  # type: ignore[union-attr]
        if dense:
            tables = [self._tables(p, group) for p in dense]
            grads = [-p.grad if group["maximize"] else p.grad for p in dense]  # type: ignore[operator]
            _adam(tables, grads, [self._steps(p) for p in dense], group, group["weight_decay"])
        for param in params:
            if param.grad.is_sparse:  # type: ignore[union-attr]
                with self.touched_rows(param, self._tables(param, group), maximize=group["maximize"]) as (g, rows):
                    _adam([rows], [g], [self._steps(param)], group, group["weight_decay"])

    def _step_manifold(self, param: Tensor, k: float | Tensor, group: dict[str, Any]) -> None:
        decay = group["weight_decay"] if group["decay_manifold"] else 0.0
        if group["update"] == "chart":
            self._step_chart(param, k, group, decay)
            return
        tables = self._tables(param, group, second=lambda p: torch.zeros_like(p[..., :1]))
        constants = _constants(self._steps(param).add_(1), k, group, decay)
        with self.touched_rows(param, tables, k, maximize=group["maximize"]) as (g, (x, m, v, largest)):
            if group["compiled"]:
                # Numbers that change from step to step enter as tensors, or each would be compiled anew.
                for name in ("step_size", "correction2"):
                    constants[name] = torch.as_tensor(constants[name], dtype=x.dtype)
                _compiled_adam_rows()(x, g, m, v, largest, **constants)
            elif largest is None and kernels.run_on(x, g, m, v):
                adam_rows_in_one_pass(x, g, m, v, **constants)
            else:
                in_blocks(adam_rows, [x, g, m, v, largest], **constants)

    def _step_chart(self, param: Tensor, k: float | Tensor, group: dict[str, Any], decay: float) -> None:
        precondition = group["precondition"]
        with self.touched_rows(param, self._tables(param, group), k, maximize=group["maximize"]) as (g, rows):
            x, m, v, largest = rows
            if largest is None and kernels.run_on(x, g, m, v):
                constants = _constants(self._steps(param).add_(1), k, group, decay)
                chart_adam_in_one_pass(x, g, m, v, precondition=precondition, **constants)
                return

            def step(h: Tensor) -> None:
                _adam([rows], [h], [self._steps(param)], group, 0.0)

            chart_step(x, g, k, step, precondition=precondition, weight_decay=decay)

    def _tables(
        self, param: Tensor, group: dict[str, Any], second: Callable[[Tensor], Tensor] = torch.zeros_like
    ) -> list[Tensor | None]:
        """The parameter with its moments: first, second and, for amsgrad, the largest second."""
        state = self.state[param]
        if not state:
            if param.dtype == torch.float16:
                raise ValueError(
                    f"expected parameters with room for squares of gradients, got float16 of shape "
                    f"{tuple(param.shape)}; keep them in float32 and compute under torch.autocast with "
                    "torch.amp.GradScaler, or use bfloat16"
                )
            device = param.device if _captured(group, param) else None
            state["step"] = torch.zeros((), dtype=torch.float32, device=device)
            state["exp_avg"] = torch.zeros_like(param)
            state["exp_avg_sq"] = second(param)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = second(param)
        return [param, state["exp_avg"], state["exp_avg_sq"], state.get("max_exp_avg_sq")]

    def _steps(self, param: Tensor) -> Tensor:
        return self.state[param]["step"]


def _constants(steps: Tensor, k: float | Tensor, group: dict[str, Any], weight_decay: float) -> dict[str, Any]:
    """What all rows of a table have in common in the step of that number."""
    (beta1, beta2), count = group["betas"], steps if steps.device.type != "cpu" else float(steps)
    return {
        "k": k,
        "beta1": beta1,
        "beta2": beta2,
        "eps": group["eps"],
        "step_size": group["lr"] / (1 - beta1**count),
        "correction2": 1 - beta2**count,
        "weight_decay": weight_decay,
    }


def _adam(
    tables: list[list[Tensor | None]],
    grads: list[Any],
    steps: list[Tensor],
    group: dict[str, Any],
    weight_decay: float,
) -> None:
    """torch's own Adam on the given tables, in its fused kernel where there is one."""
    params, first, second, largest = ([t for t in column if t is not None] for column in zip(*tables, strict=True))
    if weight_decay and group["decoupled_weight_decay"]:
        torch._foreach_mul_(params, 1.0 - group["lr"] * weight_decay)
        weight_decay = 0.0
    euclidean_adam(
        params,
        grads,
        first,
        second,
        largest,
        steps,
        amsgrad=group["amsgrad"],
        beta1=group["betas"][0],
        beta2=group["betas"][1],
        lr=group["lr"],
        weight_decay=weight_decay,
        eps=group["eps"],
        maximize=False,
        capturable=_captured(group, params[0]),
        foreach=group["foreach"],
        fused=_fused(group, (*params, *grads, *first, *second, *largest)),
    )


def _captured(group: dict[str, Any], param: Tensor) -> bool:
    return group["capturable"] and param.device.type != "cpu"


def _fused(group: dict[str, Any], tensors: tuple[Tensor, ...]) -> bool | None:
    if group["fused"] is not None or group["foreach"]:
        return group["fused"]
    # The kernel walks raw memory, so it must be the tensors' own; elsewhere torch chooses.
    return all(t.device.type == "cpu" and t.is_contiguous() for t in tensors) or None


@lru_cache(maxsize=1)
def _compiled_adam_rows() -> Callable[..., None]:
    return torch.compile(adam_rows, fullgraph=True)
