"""A table of points on the hyperboloid."""

from __future__ import annotations

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.geometry.numerics import Curvature, origin_time
from hybonet.kernels.norm_clipping import clip_norms, looked_up
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import NORM_LENGTH


class _Table(nn.Embedding):
    """What is known as a table by DDP (sparse gradients) and Hugging Face (resizing); it makes no parameter itself."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    @property
    def norm_type(self) -> float:  # type: ignore[override]
        """Asked for by those who look rows up past :meth:`forward`, as PEFT's layer for embeddings does."""
        raise ValueError(
            "expected a look-up by the LorentzEmbedding itself: its rows are no points yet, and nothing may be added "
            "to its points; with PEFT, target the parameter: LoraConfig(target_parameters=['….weight'])"
        )


class LorentzEmbedding(LorentzModule, _Table):
    r"""A look-up table whose rows are points, to be trained with any optimiser.

    ``weight`` holds their space coordinates, and zeros where time would stand; time is rebuilt in every look-up, and
    :meth:`points` are the points themselves. So no step, average or cast can take a row off the hyperboloid.

    Args:
        num_embeddings, embedding_dim: rows and *ambient* coordinates.
        form: ``"scaled"``: rows of ``weight`` are in units of the length that norms give points
            (:mod:`hybonet.nn.scales`), and an ordinary parameter; they start at :math:`N(0, \mathtt{init\_std}^2)`, by
            default :math:`1/n` with n space coordinates. ``"paper"``: they are in units of the space, and the
            optimisers of :mod:`hybonet.optim` take Riemannian steps; they start at :math:`\exp_o(u)`,
            :math:`u \sim N(0, \mathtt{init\_std}^2)`, by default :math:`1/\mathtt{embedding\_dim}`, radius ≈ 1.
        padding_idx: a row that is the origin at first and gets no gradient.
        max_norm: largest length of a row's space part; longer rows are clipped on the way out (the table itself is
            not changed), which bounds their radius by asinh(max_norm/√k)·√k.
        sparse: sparse gradients, for the optimisers' lazy row updates.
        init_std: see above.

    Shapes: indices ``(...)`` ``-> (..., embedding_dim)``.

    Example:
        >>> import torch
        >>> table = LorentzEmbedding(1000, 8, max_norm=1.5)
        >>> table(torch.tensor([[1, 2], [3, 4]])).shape
        torch.Size([2, 2, 8])
        >>> LorentzEmbedding(1000, 8, form="paper").weight.manifold
        Lorentz(K=-1)
    """

    manifold_parameters: tuple[str, ...] = ("weight",)

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        form: Literal["scaled", "paper"] = "scaled",
        padding_idx: int | None = None,
        max_norm: float | None = None,
        sparse: bool = False,
        init_std: float | None = None,
        manifold: Lorentz | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(manifold)
        if num_embeddings < 1 or embedding_dim < 2:
            raise ValueError(
                f"expected at least 1 row and 2 ambient coordinates, got num_embeddings={num_embeddings}, "
                f"embedding_dim={embedding_dim}"
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"expected padding_idx within {num_embeddings} rows, got {padding_idx}")
        if max_norm is not None and not max_norm > 0:
            raise ValueError(f"expected max_norm > 0, got {max_norm}")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx % num_embeddings if padding_idx is not None else None
        self.max_norm, self.sparse = max_norm, sparse
        if form not in ("scaled", "paper"):
            raise ValueError(f"expected form 'scaled' or 'paper', got {form!r}")
        self.form = form
        if form == "scaled":
            self.manifold_parameters = ()
        self.init_std = (embedding_dim - (form == "scaled")) ** -0.5 if init_std is None else init_std
        self.weight = nn.Parameter(torch.empty(num_embeddings, embedding_dim, device=device, dtype=dtype))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw every row anew; the padding row becomes the origin."""
        if self.form == "scaled":
            nn.init.normal_(self.weight, std=self.init_std)
        else:
            factory: dict[str, Any] = {"dtype": self.weight.dtype, "device": self.weight.device}
            self.weight.copy_(self.manifold.random_normal(*self.weight.shape, std=self.init_std, **factory))
        self.weight[:, 0] = 0.0
        if self.padding_idx is not None:
            self.weight[self.padding_idx] = 0.0

    def forward(self, index: Tensor) -> Tensor:
        manifold, length = self.manifold, self.length
        if manifold.check:
            manifold.require_point(self.points(), name="the embedding's table")
        if self.max_norm is None and not isinstance(length, Tensor):
            return looked_up(self.weight, index, manifold, length, self.padding_idx, self.sparse)
        return self.on_sheet(F.embedding(index, self.weight, self.padding_idx, sparse=self.sparse))

    def points(self) -> Tensor:
        """All rows as :meth:`forward` gives them, ``(num_embeddings, embedding_dim)``, without a lookup.

        Example:
            >>> LorentzEmbedding(10, 4, max_norm=1.5).points().shape
            torch.Size([10, 4])
        """
        return self.on_sheet(self.weight)

    def on_sheet(self, rows: Tensor) -> Tensor:
        """Points of rows that were read from the table, as :meth:`forward` gives them; ``(..., embedding_dim)``."""
        return clip_norms(rows * self.length if self.form == "scaled" else rows, self.max_norm, self.manifold)

    @property
    def length(self) -> Curvature:
        """What 1 in ``weight`` is in space coordinates."""
        return NORM_LENGTH * origin_time(self.manifold.K) if self.form == "scaled" else 1.0

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls,
        vectors: Tensor,
        *,
        space: Literal["lorentz", "poincare", "tangent"] = "lorentz",
        freeze: bool = True,
        check: bool = True,
        form: Literal["scaled", "paper"] = "scaled",
        padding_idx: int | None = None,
        max_norm: float | None = None,
        sparse: bool = False,
        manifold: Lorentz | None = None,
    ) -> LorentzEmbedding:
        r"""A table from given vectors.

        Args:
            vectors: ``(rows, d)`` points (``space="lorentz"``), or ``(rows, d - 1)`` coordinates in the Poincaré ball
                of the same curvature (``"poincare"``), or Euclidean vectors taken as tangent at the origin
                (``"tangent"``).
            freeze: do not train them.
            form: as of the class.
            check: verify that Lorentz vectors are on the hyperboloid, Poincaré vectors inside the ball.

        Example:
            >>> import torch
            >>> table = LorentzEmbedding.from_pretrained(torch.tensor([[0.0, 0.5]]), space="poincare")
            >>> table.points()
            tensor([[1.6667, 0.0000, 1.3333]])
        """
        manifold = Lorentz() if manifold is None else manifold
        if vectors.dim() != 2:
            raise ValueError(f"expected a matrix with one row an embedding, got shape {tuple(vectors.shape)}")
        if space == "lorentz":
            if check:
                manifold.require_point(vectors, name="vectors")
            points = vectors
        elif space == "poincare":
            radius = (-1.0 / manifold.curvature) ** 0.5
            longest = vectors.norm(dim=-1).max().item() if vectors.numel() else 0.0
            if check and not longest < radius:
                raise ValueError(
                    f"expected Poincaré vectors inside the ball of radius {radius:.6g} (K = {manifold.curvature:.6g}), "
                    f"the longest is {longest:.6g}; rescale them, or pass check=False to draw them inside"
                )
            points = manifold.from_poincare(vectors)
        elif space == "tangent":
            points = manifold.expmap0(F.pad(vectors, (1, 0)))
        else:
            raise ValueError(f"expected space 'lorentz', 'poincare' or 'tangent', got {space!r}")
        table = cls(
            *points.shape,
            form=form,
            padding_idx=padding_idx,
            max_norm=max_norm,
            sparse=sparse,
            manifold=manifold,
            device=points.device,
            dtype=points.dtype,
        )
        with torch.no_grad():
            table.weight[:, 1:] = points[:, 1:] / table.length
        table.weight.requires_grad_(not freeze)
        return table

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += f", padding_idx={self.padding_idx}" if self.padding_idx is not None else ""
        text += f", max_norm={self.max_norm}" if self.max_norm is not None else ""
        text += ", sparse=True" if self.sparse else ""
        return text
