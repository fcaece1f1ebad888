"""Keys and values of earlier positions, for decoding step by step."""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """Keys and values of the positions decoded so far, for one attention layer.

    Room is taken in blocks, so that decoding one position costs one write and no copy of the past. The writes are in
    place: decode under ``torch.no_grad()``. Positions lie outermost in memory: :meth:`reorder` copies what is filled
    and not the room beyond.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzMultiheadAttention
        >>> attention, cache = LorentzMultiheadAttention(8, 2), KVCache()
        >>> x = attention.manifold.random_normal(1, 3, 8)
        >>> steps = [attention(x[:, i : i + 1], cache=cache)[0] for i in range(3)]
        >>> torch.allclose(torch.cat(steps, 1), attention(x, is_causal=True)[0], atol=1e-4)
        True
    """

    block = 64

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add positions ``(batch, heads, new, d)`` and return all keys and values so far."""
        end = self.length + key.shape[-2]
        self._keys = self._store(self._keys, key, end)
        self._values = self._store(self._values, value, end)
        self.length = end
        return _outside_in(self._keys[:end]), _outside_in(self._values[:end])

    def stored(self) -> tuple[Tensor, Tensor] | None:
        """Keys and values so far, or None before the first."""
        if self._keys is None or self._values is None:
            return None
        return _outside_in(self._keys[: self.length]), _outside_in(self._values[: self.length])

    def _store(self, buffer: Tensor | None, new: Tensor, end: int) -> Tensor:
        new = new.movedim(-2, 0)
        if buffer is not None and buffer.shape[1] != new.shape[1]:
            raise ValueError(
                f"expected a batch of {buffer.shape[1]} as at the first step, got {new.shape[1]}; "
                "use KVCache.reorder to keep a subset of the rows"
            )
        if buffer is None or end > len(buffer):
            larger = new.new_empty(max(self.block, 2 * end), *new.shape[1:])
            if buffer is not None:
                larger[: self.length] = buffer[: self.length]
            buffer = larger
        buffer[self.length : end] = new
        return buffer

    @torch.no_grad()
    def reorder(self, rows: Tensor) -> None:
        """Keep these batch rows, in this order: what beam search does after each step. No gradient flows through."""
        if self._keys is not None and self._values is not None:
            self._keys, self._values = self._chosen(self._keys, rows), self._chosen(self._values, rows)

    def _chosen(self, buffer: Tensor, rows: Tensor) -> Tensor:
        other = buffer.new_empty(len(buffer), len(rows), *buffer.shape[2:])
        torch.index_select(buffer[: self.length], 1, rows, out=other[: self.length])
        return other


def _outside_in(buffer: Tensor) -> Tensor:
    """From ``(length, batch, heads, d)`` to ``(batch, heads, length, d)``, a view."""
    return buffer.movedim(0, -2)


def fold_copies(query: Tensor, rows: int) -> Tensor:
    """Queries of neighbours that share keys, as more queries of one row: ``(rows·c, h, L, d) -> (rows, h, c·L, d)``.

    Example:
        >>> import torch
        >>> fold_copies(torch.zeros(6, 4, 1, 8), 2).shape
        torch.Size([2, 4, 3, 8])
    """
    if len(query) == rows:
        return query
    if len(query) % rows:
        raise ValueError(f"expected a multiple of the memory's {rows} rows, got {len(query)} queries")
    return query.unflatten(0, (rows, -1)).transpose(1, 2).flatten(2, 3)


def unfold_copies(context: Tensor, queries: int) -> Tensor:
    """Back from :func:`fold_copies`: ``(rows, h, c·L, d) -> (queries, h, L, d)``.

    Example:
        >>> import torch
        >>> x = torch.randn(6, 4, 2, 8)
        >>> torch.equal(unfold_copies(fold_copies(x, 2), 6), x)
        True
    """
    if len(context) == queries:
        return context
    return context.unflatten(2, (queries // len(context), -1)).transpose(1, 2).flatten(0, 1)
