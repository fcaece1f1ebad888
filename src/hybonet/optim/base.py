"""What the Riemannian optimisers share: telling points from ordinary parameters, and sparse rows from dense tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.numerics import MAX_LOG_CURVATURE
from hybonet.optim.parameters import adopt_groups, has_time, manifold_of, rows_here
from hybonet.optim.row_updates import fill_time


@torch._disable_dynamo
def _ks(manifolds: Iterable[Lorentz | None], *, as_tensors: bool) -> dict[Lorentz, Any]:
    """-1/K by manifold: as numbers, or, where nothing may wait for a device, learned ones as tensors."""
    known = {manifold for manifold in manifolds if manifold is not None}
    ks: dict[Lorentz, Any] = {}
    for each in known:
        K: Any = each.K if as_tensors and each.learnable and not each.sharded else each.curvature
        ks[each] = -1.0 / (K.detach() if isinstance(K, Tensor) else K)
    return ks


class RiemannianOptimizer(torch.optim.Optimizer):
    """Base of the optimisers: one loop over groups that hands each parameter to the Euclidean or the manifold step."""

    def __init__(self, params: nn.Module | Iterable[Any], defaults: dict[str, Any]) -> None:
        super().__init__(adopt_groups(params, defaults), defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        (group,) = adopt_groups([param_group], self.defaults)
        super().add_param_group(group)
        for param in self.param_groups[-1]["params"]:
            manifold_of(param)  # refuses other geometries at once

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # of an older version
            for name, value in self.defaults.items():
                group.setdefault(name, value)
        for param, kept in self.state.items():  # what is a vector of one number was a scalar once
            scalars = [name for name, value in kept.items() if isinstance(value, Tensor) and not value.dim()]
            for name in scalars if param.shape == (1,) else ():
                kept[name] = kept[name] if name == "step" else kept[name][None]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """One step; ``closure`` re-evaluates the model if given."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        points = {param: manifold_of(param) for group in self.param_groups for param in group["params"]}
        # A learned curvature may be among the parameters: every point is stepped with the value the loss was made with.
        devices = [param.device.type for param in points]
        captured = any(group.get("capturable") for group in self.param_groups) and "cpu" not in devices
        ks = _ks(points.values(), as_tensors=captured)
        for group in self.param_groups:
            given = [param for param in group["params"] if param.grad is not None]
            euclidean = [param for param in given if points[param] is None]
            if euclidean:
                self._step_euclidean(euclidean, group)
            for param in given:
                manifold = points[param]
                if manifold is not None:
                    self._step_points(param, ks[manifold], group)
        # The step may have moved the hyperboloid, further than it may go; points that hold their time follow it.
        for manifold in ks:
            if manifold.learnable:
                manifold.log_neg_curvature.clamp_(-MAX_LOG_CURVATURE, MAX_LOG_CURVATURE)
        moved = _ks((m for m in ks if m.learnable), as_tensors=captured)
        for param, manifold in points.items():
            if manifold in moved and has_time(param):
                fill_time(rows_here(param), moved[manifold])
        return loss

    @torch._disable_dynamo  # the loops for points are quick as they are; a compiled step leaves them alone
    def _step_points(self, param: Tensor, k: float | Tensor, group: dict[str, Any]) -> None:
        self._step_manifold(param, k, group)

    def _step_euclidean(self, params: list[Tensor], group: dict[str, Any]) -> None:
        raise NotImplementedError

    def _step_manifold(self, param: Tensor, k: float | Tensor, group: dict[str, Any]) -> None:
        raise NotImplementedError

    @staticmethod
    @contextmanager
    def touched_rows(
        param: Tensor, tables: list[Tensor | None], k: float | Tensor | None = None, *, maximize: bool
    ) -> Iterator[tuple[Tensor, list[Any]]]:
        """The gradient and the rows of the tables that it touches; what is changed in them is written back.

        A dense gradient touches everything, and the rows are views. A sparse one costs as much as it has rows. The
        first table is the parameter; if it holds points, k says where their time belongs.
        """
        grad = param.grad
        assert grad is not None
        tables = [None if table is None else rows_here(table) for table in tables]
        grad = rows_here(grad)
        grad = -grad if maximize else grad
        if grad.is_sparse:
            grad = grad.coalesce()
            if grad.sparse_dim() != 1 or grad.dim() > 2:
                raise ValueError(
                    f"expected a sparse gradient of a vector or of rows of a matrix, got shape {tuple(grad.shape)} "
                    f"with {grad.sparse_dim()} sparse dimensions; use a dense gradient (sparse=False)"
                )
            index = grad.indices()[0]
            rows: list[Any] = [None if t is None else t.index_select(0, index) for t in tables]
            yield grad.values(), rows
            if k is not None and has_time(param):
                fill_time(rows[0], k)
            for table, new in zip(tables, rows, strict=True):
                if table is not None:
                    table.index_copy_(0, index, new)
        else:
            rows = [None if t is None else t.reshape(-1, t.shape[-1]) for t in tables]
            yield grad.reshape(-1, grad.shape[-1]), rows
            if k is not None and has_time(param):
                fill_time(rows[0], k)
            for table, new in zip(tables, rows, strict=True):
                if table is not None and table.data_ptr() != new.data_ptr():
                    table.copy_(new.view(table.shape))  # the table's memory had no rows to view
