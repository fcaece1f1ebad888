"""Let geoopt's optimisers step hybonet's parameters (extra ``geoopt``)."""

from __future__ import annotations

from typing import Any

import geoopt
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import LorentzModule


class GeooptLorentz(geoopt.manifolds.base.Manifold):
    """A hybonet manifold in geoopt's clothes.

    Example:
        >>> import torch
        >>> manifold = GeooptLorentz(Lorentz(K=-2.0))
        >>> manifold.projx(torch.zeros(3))
        tensor([0.7071, 0.0000, 0.0000])
    """

    name = "Lorentz (hybonet)"
    ndim = 1
    reversible = False

    def __init__(self, lorentz: Lorentz) -> None:
        super().__init__()
        self.lorentz = lorentz

    def _check_point_on_manifold(self, x: Tensor, **_: Any) -> tuple[bool, str | None]:
        try:
            self.lorentz.require_point(x)
        except ValueError as error:
            return False, str(error)
        return True, None

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, **_: Any
    ) -> tuple[bool, str | None]:
        inner = self.lorentz.inner(x, u).abs().max().item()
        return inner <= atol, f"<x,u> = {inner:.3g} where 0 was expected"

    def retr(self, x: Tensor, u: Tensor) -> Tensor:
        return self.lorentz.retr(x, self.lorentz.proju(x, u))

    expmap = retr

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        return self.lorentz.logmap(x, y)

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        return self.lorentz.transp(x, y, v)

    def projx(self, x: Tensor) -> Tensor:
        return self.lorentz.projx(x)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        return self.lorentz.proju(x, u)

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        return self.lorentz.egrad2rgrad(x, u)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:
        return self.lorentz.inner(u, u if v is None else v, keepdim=keepdim)


def with_geoopt_parameters(model: nn.Module) -> nn.Module:
    """Turn a model's points into geoopt ``ManifoldParameter`` objects, in place, for use with geoopt's optimisers.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzEmbedding
        >>> model = with_geoopt_parameters(LorentzEmbedding(10, 4, form="paper"))
        >>> optimizer = geoopt.optim.RiemannianAdam(model.parameters(), lr=0.01)
        >>> model.manifold.dist0(model(torch.arange(10))).sum().backward()
        >>> optimizer.step()
        >>> model.manifold.check_point(model.points())
        True
    """
    converted: dict[int, Any] = {}  # tied parameters stay tied
    for layer in model.modules():
        if isinstance(layer, LorentzModule):
            for name in layer.manifold_parameters:
                param = getattr(layer, name)
                if id(param) not in converted:
                    converted[id(param)] = geoopt.ManifoldParameter(
                        layer.manifold.projx(param.detach()),
                        manifold=GeooptLorentz(layer.manifold),
                        requires_grad=param.requires_grad,
                    )
                layer._parameters[name] = converted[id(param)]  # past our own mark, which names our manifold
    return model
