"""The Lorentz linear layer (HL), in all its forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.lorentz import lift_onto
from hybonet.geometry.numerics import Curvature
from hybonet.kernels.sparse_points import dropped, is_sparse_rows, linear
from hybonet.nn.dropout import dropout
from hybonet.nn.fused_linear import Units, fused_linear, is_ordinary
from hybonet.nn.gated_lift import gated_lift
from hybonet.nn.module import LorentzModule, wide_in_autocast
from hybonet.nn.scales import time_unit, unit

Activation = Callable[[Tensor], Tensor]

#: What a linear layer computes; of blocks, what all their layers do. ``"pure"`` is of single layers alone.
Form = Literal["scaled", "pure", "paper", "paper_code"]
GATED = ("paper", "paper_code")


class LorentzLinear(LorentzModule):
    r"""Fully hyperbolic linear layer, from points with ``in_features`` ambient coordinates to ``out_features``.

    * ``form="scaled"``: :math:`y_s = W x_s + a\,w_t x_t + l\,b\ [+ r_s]`, :math:`y_t = \sqrt{|y_s|^2 - 1/K}`. The
      constants a and l (:mod:`hybonet.nn.scales`) give parameters the size they have in ``nn.Linear``, so that stacks
      of any depth train at its rates. An activation is applied to :math:`x_s / l`, dropout to :math:`x_s`, and
      :math:`x_t` is rebuilt.
    * ``form="pure"``: the same with a = l = 1, activation and dropout on all of x: the paper's :math:`f_x(M)x`.
    * ``form="paper"`` (its experiments'): :math:`y_t = \lambda\,\sigma(v \cdot x + b_0) + \varepsilon`,
      :math:`z = W h(\mathrm{dropout}(x)) + b\ [+ r_s]`, :math:`y_s = \frac{z}{|z|}\sqrt{y_t^2 + 1/K}`, with
      :math:`\varepsilon = 1.1\sqrt{-1/K}`. Row 0 of ``weight`` is v.
    * ``form="paper_code"`` (the authors' translation and graph code): the gate reads the activated, dropped-out input
      plus the residual's time coordinate.

    The first two contain every boost and rotation; column 0 of ``weight`` is :math:`w_t`.

    Args:
        in_features, out_features: ambient coordinates, time included.
        bias: add :math:`b` (and :math:`b_0`, see ``gate_bias``).
        manifold: a :class:`~hybonet.Lorentz`; K = -1 by default.
        form: see above.
        activation: h, applied to the input; any function of a tensor, or ``"relu"`` or ``"gelu"``.
        dropout: probability of dropping an input coordinate.
        residual_dropout: probability of dropping a coordinate of what is added to a residual, as Transformers do.
        scale: λ > 0. (This and the next two belong to the gate of ``"paper"`` and ``"paper_code"``.)
        learnable_scale: train λ, as its logarithm.
        gate_bias: whether the gate has its own bias :math:`b_0` (the authors' knowledge-graph code has none).
        num_heads: split the output into that many points of ``out_features / num_heads`` coordinates.
        in_heads: the input is that many points side by side, as concatenated heads are.
        width: ambient coordinates of the stream whose unit l is; ``in_features`` by default.
        in_unit: what weights of space coordinates are multiplied by, of the scaled form.
        init_std: deviation of the weights at the start; by default they are uniform within ±1/√in.

    Shapes: ``(..., in_features) -> (..., out_features)``, or ``(..., num_heads, out_features / num_heads)`` with
    ``num_heads``. Points that do not change and are mostly zero may be a matrix in compressed rows (torch's CSR), if
    there is no activation. A ``residual`` must broadcast against ``(..., out_features)``; only its space part is used,
    except by ``form="paper_code"``.

    Example:
        >>> import torch
        >>> from hybonet import Lorentz
        >>> manifold = Lorentz(K=-0.5)
        >>> layer = LorentzLinear(5, 9, manifold=manifold, activation=torch.relu)
        >>> y = layer(manifold.random_normal(2, 5))
        >>> y.shape, manifold.check_point(y)
        (torch.Size([2, 9]), True)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        manifold: Lorentz | None = None,
        form: Form = "scaled",
        activation: Activation | str | None = None,
        dropout: float = 0.0,
        residual_dropout: float = 0.0,
        scale: float = 10.0,
        learnable_scale: bool = True,
        gate_bias: bool = True,
        num_heads: int | None = None,
        in_heads: int = 1,
        width: int | None = None,
        in_unit: float = 1.0,
        init_std: float | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if in_features < 2 or out_features < 2:
            raise ValueError(
                f"expected at least 2 ambient coordinates (time and one of space), got in_features={in_features}, "
                f"out_features={out_features}"
            )
        if form not in get_args(Form):
            raise ValueError(f"expected form {_one_of(get_args(Form))}, got {form!r}")
        if not scale > 0:
            raise ValueError(f"expected scale (λ) > 0, got {scale}")
        for name, probability in (("dropout", dropout), ("residual_dropout", residual_dropout)):
            if not 0.0 <= probability <= 1.0:
                raise ValueError(f"expected {name} probability between 0 and 1, got {probability}")
        head_features(out_features, num_heads or 1, name="out_features")
        head_features(in_features, in_heads, name="in_features", heads_name="in_heads")
        gated = form in GATED
        if not gated and (scale, learnable_scale, gate_bias) != (10.0, True, True):
            raise ValueError(
                f"scale, learnable_scale and gate_bias belong to the time gate, which form={form!r} has not; "
                "leave them out, or use form='paper'"
            )
        if not isinstance(bias, bool):
            raise ValueError(f"expected bias to be True or False, got {bias!r}; a manifold is passed as manifold=...")
        self.in_features, self.out_features = in_features, out_features
        self.form, self.num_heads, self.in_heads = form, num_heads, in_heads
        self.activation, self.dropout = activation_function(activation), dropout
        self.residual_dropout = residual_dropout
        self.gate_bias, self.initial_scale = gate_bias, scale
        self.width, self.in_unit, self.init_std = width, in_unit, init_std
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        rows = out_features if gated else out_features - (num_heads or 1)
        self.weight = nn.Parameter(torch.empty(rows, in_features, **factory))
        self.bias = nn.Parameter(torch.empty(rows, **factory)) if bias else None
        # A vector, since FSDP2 shards no scalars.
        self.log_scale = nn.Parameter(torch.empty(1, **factory)) if gated and learnable_scale else None
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Weights of ``init_std``, zero bias, and zero columns of time, so that far inputs saturate no gate."""
        if self.init_std is None:
            bound = 1.0 / math.sqrt(self.in_features)
            nn.init.uniform_(self.weight, -bound, bound)
        else:
            nn.init.normal_(self.weight, std=self.init_std)
        self._time_columns(self.weight).zero_()
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.log_scale is not None:
            nn.init.constant_(self.log_scale, math.log(self.initial_scale))

    def _time_columns(self, weight: Tensor) -> Tensor:
        """Those that time coordinates of the input meet; of the gated forms, that of the first point alone."""
        return weight[..., :1] if self.form in GATED else weight[..., :: self.in_features // self.in_heads]

    @property
    def scale(self) -> float | Tensor:
        """λ: a number, or a differentiable tensor if it is learnable."""
        return self.initial_scale if self.log_scale is None else self.log_scale.squeeze().exp()

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        if self.in_heads > 1 and x.shape[-1] == self.in_features:
            self.check_input(x.unflatten(-1, (self.in_heads, -1)), like=self.weight)
        else:
            self.check_input(x, self.in_features, like=self.weight)
        return self.mapped(x, residual)

    def mapped(self, x: Tensor, residual: Tensor | None = None, *, done: bool = False) -> Tensor:
        """:meth:`forward` without a look at whether ``x`` holds points; ``done``: activation and dropout are over."""
        if residual is not None and residual.shape[-1] != self.out_features:
            raise ValueError(
                f"expected residual with {self.out_features} ambient coordinates in its last dimension (the output's), "
                f"got shape {tuple(residual.shape)}"
            )
        h = x if done else self._activated(x)
        if self.fuses(h) and (residual is None or residual.shape == (*h.shape[:-1], self.out_features)):
            p = self.residual_dropout if self.training and residual is not None else 0.0
            y = fused_linear(h, self.weight, self.bias, self._units(), residual=residual, dropout=p)
            return y if self.num_heads is None else y.unflatten(-1, (self.num_heads, -1))
        u = self._gate_and_direction(x, h, residual) if self.form in GATED else self._product(h, self.weight, self.bias)
        if self.num_heads is not None:
            u = u.unflatten(-1, (self.num_heads, -1))
            residual = None if residual is None else residual.unflatten(-1, (self.num_heads, -1))
        if self.form in GATED or residual is None:
            return self._lifted(u, self.scale)
        return lift_onto(
            dropout(wide_in_autocast(u), self.residual_dropout, self.training), residual, K=self.manifold.K
        )

    def fuses(self, x: Tensor) -> bool:
        """Whether points may go through :func:`fused_linear`, which is the same in fewer steps."""
        return self.form not in GATED and not self.manifold.learnable and is_ordinary(x, self.weight)

    def _units(self) -> Units:
        head, step = self.out_features // (self.num_heads or 1), self.in_features // self.in_heads
        radius = math.sqrt(-1.0 / self.manifold.curvature)
        if self.form == "pure":
            return Units(head, step, 1.0, 1.0, 1.0, radius)
        width = self.width or self.in_features
        return Units(head, step, self.in_unit, time_unit(width), float(unit(width, K=self.manifold.curvature)), radius)

    def activated(self, x: Tensor, dropout: float) -> Tensor:
        """The output after ReLU and dropout, of a layer that :meth:`fuses` x and has no activation of its own."""
        return fused_linear(x, self.weight, self.bias, self._units(), relu=True, dropout=dropout)

    def without_time(self, x: Tensor) -> Tensor:
        """Of an ungated form: the output, with zero where its time belongs."""
        return self._product(self._activated(x), self.weight, self.bias)

    @property
    def watched(self) -> bool:
        """Whether there are hooks, the layer's own or of all modules, which want the layer to be called."""
        every = nn.modules.module
        hooks = (self._forward_hooks, self._forward_pre_hooks, self._backward_hooks, self._backward_pre_hooks)
        of_all = (every._global_forward_hooks, every._global_forward_pre_hooks)
        of_all_backward = (every._global_backward_hooks, every._global_backward_pre_hooks)
        return any(hooks) or any(of_all) or any(of_all_backward)

    def side_by_side(self, others: Sequence[LorentzLinear], x: Tensor) -> Tensor:
        """What this layer and others of the same sizes and options make of the same points, by one product.

        Shapes: ``(..., in_features) -> (..., 1 + others, num_heads, out_features / num_heads)``.
        """
        self.check_input(x, self.in_features, name="query", like=self.weight)
        layers = (self, *others)
        weight = torch.cat([each.weight for each in layers])
        bias = None if self.bias is None else torch.cat([each.bias for each in layers])  # type: ignore[misc]
        if self.fuses(x):
            return fused_linear(x, weight, bias, self._units()).unflatten(-1, (len(layers), self.num_heads or 1, -1))
        product = linear if self.form in GATED else self._product
        u = product(x, weight, bias).unflatten(-1, (len(layers), self.num_heads or 1, -1))
        if self.form not in GATED:
            return self._lifted(u, 1.0)
        scales = [torch.as_tensor(each.scale, dtype=weight.dtype, device=weight.device) for each in layers]
        return self._lifted(u, torch.stack(scales)[:, None, None])

    def _activated(self, x: Tensor) -> Tensor:
        """The input after dropout and activation."""
        p = self.dropout if self.training else 0.0
        if self.activation is None and not p:
            return x
        if self.form != "scaled" or is_sparse_rows(x):
            h = dropped(x, p, self.training)
            return h if self.activation is None else self.activation(h)
        h = x.unflatten(-1, (self.in_heads, -1)) if self.in_heads > 1 else x
        if self.activation is torch.relu:  # the same in any unit
            h = torch.relu(h)  # number by number: time, which is not read, may go along
        elif self.activation is not None:
            length = unit(self.width or self.in_features, K=self.manifold.K)
            h = F.pad(length * self.activation(h[..., 1:] / length), (1, 0))
        h = lift_onto(dropout(wide_in_autocast(h), p), K=self.manifold.K)
        return h.flatten(-2) if self.in_heads > 1 else h

    def _product(self, h: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """W h + b, with both in the form's units, and zero where times of the output belong."""
        if self.form == "scaled":
            width = self.width or self.in_features
            columns = weight.new_full((self.in_features,), self.in_unit)
            self._time_columns(columns).fill_(time_unit(width))
            weight = weight * columns
            bias = None if bias is None else bias * unit(width, K=self.manifold.K)
        head = self.out_features // (self.num_heads or 1)
        weight = F.pad(weight.unflatten(0, (-1, head - 1)), (0, 0, 1, 0)).flatten(0, 1)
        bias = None if bias is None else F.pad(bias.unflatten(0, (-1, head - 1)), (1, 0)).flatten()
        return linear(h, weight, bias)

    def _lifted(self, u: Tensor, scale: Curvature) -> Tensor:
        if self.form in GATED:
            return gated_lift(u, scale, K=self.manifold.K)
        return lift_onto(wide_in_autocast(u), K=self.manifold.K)

    def _gate_and_direction(self, x: Tensor, h: Tensor, residual: Tensor | None) -> Tensor:
        bias: Tensor | None = self.bias
        if bias is not None and not self.gate_bias:
            bias = bias * self._space_rows(bias)
        u = linear(h, self.weight, bias)
        if h is not x and self.form == "paper":
            heads = self.num_heads or 1
            gates = slice(None, None, self.out_features // heads)
            gate = linear(x, self.weight[gates], None if bias is None else bias[gates])
            u[..., gates] = gate
        if residual is None:
            return u
        if self.residual_dropout and self.training:
            u = torch.where(self._space_rows(u) == 1.0, dropout(u, self.residual_dropout), u)
        if self.form == "paper_code":
            return u + residual
        if u.dtype == residual.dtype:
            return torch.addcmul(u, residual, self._space_rows(residual))
        return u + residual * self._space_rows(residual)  # autocast: the sum is wide

    def _space_rows(self, like: Tensor) -> Tensor:
        """1 for space rows of the output, 0 for the time gates."""
        mask = torch.ones(self.out_features, dtype=like.dtype, device=like.device)
        mask[:: self.out_features // (self.num_heads or 1)] = 0.0
        return mask

    def extra_repr(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        text += f", form={self.form}"
        text += f", dropout={self.dropout}" if self.dropout else ""
        text += f", residual_dropout={self.residual_dropout}" if self.residual_dropout else ""
        text += f", num_heads={self.num_heads}" if self.num_heads else ""
        return text


def _one_of(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:-1]) + f" or {names[-1]!r}"


def activation_function(activation: Activation | str | None) -> Activation | None:
    """The function an activation is given as, or named by as in torch.nn.

    Example:
        >>> activation_function("relu") is torch.relu
        True
    """
    named: dict[str, Activation] = {"relu": torch.relu, "gelu": F.gelu}
    if activation is None or callable(activation):
        return activation
    if activation not in named:
        raise ValueError(f"expected activation 'relu', 'gelu' or a function of a tensor, got {activation!r}")
    return named[activation]


def linear_options(
    manifold: Lorentz,
    given: dict[str, Any] | None,
    device: torch.device | str | None,
    dtype: torch.dtype | None,
    *,
    form: str | None = None,
) -> dict[str, Any]:
    """Options for the linear layers inside a block: those given by the user, on the block's manifold, in its form.

    Example:
        >>> linear_options(Lorentz(), {"manifold": Lorentz(-2.0)}, None, None)
        Traceback (most recent call last):
        ValueError: the linear options name Lorentz(K=-2), but the block lives on Lorentz(K=-1); leave the manifold out
    """
    options = {"device": device, "dtype": dtype, **(given or {})}
    named = options.setdefault("manifold", manifold)
    if not manifold.same_as(named):
        raise ValueError(f"the linear options name {named}, but the block lives on {manifold}; leave the manifold out")
    if form is not None and options.setdefault("form", form) != form:
        raise ValueError(
            f"the linear options name form={options['form']!r}, but the block is of form={form!r}; give the block "
            f"form={options['form']!r}"
        )
    return options


def last_options(options: dict[str, Any], form: Form | None) -> dict[str, Any]:
    """Options for the last linear layer of a block, which may have a form of its own: without a gate to set up.

    Example:
        >>> last_options({"scale": 3.0, "form": "paper"}, "pure")
        {'form': 'pure'}
    """
    if form is None:
        return options
    gate = ("scale", "learnable_scale", "gate_bias")
    return {**{name: value for name, value in options.items() if name not in gate}, "form": form}


def head_features(features: int, num_heads: int, *, name: str = "embed_dim", heads_name: str = "num_heads") -> int:
    """Coordinates per head, or a ``ValueError`` if the heads do not divide the features or leave no space coordinate.

    Example:
        >>> head_features(64, 4)
        16
    """
    if num_heads < 1 or features % num_heads:
        raise ValueError(
            f"expected {name} ({features}) to be a multiple of {heads_name}, got {heads_name}={num_heads}; "
            f"choose {_that_fits(features, num_heads, name, heads_name)}"
        )
    if features // num_heads < 2:
        raise ValueError(
            f"expected at least 2 ambient coordinates per head, got {name}={features} over {num_heads} heads; "
            f"choose {_that_fits(features, num_heads, name, heads_name)}"
        )
    return features // num_heads


def _that_fits(features: int, heads: int, name: str, heads_name: str) -> str:
    """The nearest number of heads, and of features, that leaves at least 2 coordinates per head."""
    divisors = [count for count in range(1, features // 2 + 1) if features % count == 0]
    choices = [f"{heads_name}={min(divisors, key=lambda count: (abs(count - heads), count))}"] if divisors else []
    if heads >= 1:
        choices.append(f"{name}={max(2 * heads, heads * -(-features // heads))}")
    return " or ".join(choices)
