"""Keys and values of earlier positions, for decoding step by step."""

from __future__ import annotations

from torch import Tensor


class KVCache:
    """Keys and values of the positions decoded so far, for one attention layer.

    Room is taken in blocks, so that decoding one position costs one write and no copy of the past. The writes are in
    place: decode under ``torch.no_grad()``.

    Example:
        >>> import torch
        >>> from hybonet.nn import LorentzMultiheadAttention
        >>> attention, cache = LorentzMultiheadAttention(8, 2), KVCache()
        >>> x = attention.manifold.random_normal(1, 3, 8)
        >>> steps = [attention(x[:, i : i + 1], cache=cache)[0] for i in range(3)]
        >>> torch.allclose(torch.cat(steps, 1), attention(x, is_causal=True)[0], atol=1e-5)
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
        return self._keys[..., :end, :], self._values[..., :end, :]

    def stored(self) -> tuple[Tensor, Tensor] | None:
        """Keys and values so far, or None before the first."""
        if self._keys is None or self._values is None:
            return None
        return self._keys[..., : self.length, :], self._values[..., : self.length, :]

    def _store(self, buffer: Tensor | None, new: Tensor, end: int) -> Tensor:
        if buffer is not None and buffer.shape[0] != new.shape[0]:
            raise ValueError(
                f"expected a batch of {buffer.shape[0]} as at the first step, got {new.shape[0]}; "
                "use KVCache.reorder to keep a subset of the rows"
            )
        if buffer is None or end > buffer.shape[-2]:
            room = max(self.block, 2 * end)
            larger = new.new_empty(*new.shape[:-2], room, new.shape[-1])
            if buffer is not None:
                larger[..., : self.length, :] = buffer[..., : self.length, :]
            buffer = larger
        buffer[..., self.length : end, :] = new
        return buffer

    def reorder(self, rows: Tensor) -> None:
        """Keep these batch rows, in this order: what beam search does after each step."""
        if self._keys is not None and self._values is not None:
            self._keys, self._values = self._keys[rows], self._values[rows]
