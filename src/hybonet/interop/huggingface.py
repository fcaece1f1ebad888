"""Models of Hugging Face's ``transformers`` with Lorentz layers (extra ``huggingface``)."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn import LorentzDistanceHead, LorentzEmbedding, LorentzModule


class LorentzPreTrainedModel(transformers.PreTrainedModel):
    """A ``PreTrainedModel`` that starts Lorentz layers as they start by themselves, and resizes their tables.

    Derive from it as from ``PreTrainedModel``. That one knows torch's layers alone: what a file lacks of others
    (``ignore_mismatched_sizes``, positions that are not stored) would be left as the memory had it, tables would start
    at its ``initializer_range``, and ``resize_token_embeddings`` would not find a :class:`LorentzDistanceHead`.

    Example:
        >>> class Words(LorentzPreTrainedModel):
        ...     def __init__(self, config):
        ...         super().__init__(config)
        ...         self.embed_tokens, self.lm_head = LorentzEmbedding(9, 4), LorentzDistanceHead(4, 9)
        ...         self.post_init()
        >>> model = Words(transformers.PretrainedConfig(vocab_size=9, tie_word_embeddings=False))
        >>> model.resize_token_embeddings(11).points().shape, model.lm_head.points().shape
        (torch.Size([11, 4]), torch.Size([11, 4]))
    """

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, LorentzModule | Lorentz) and hasattr(module, "reset_parameters"):
            known = [p for p in module.parameters() if getattr(p, "_is_hf_initialized", False)]
            values = [p.clone() for p in known]
            module.reset_parameters()  # type: ignore[operator]
            for param, value in zip(known, values, strict=True):
                param.copy_(value)
        elif not isinstance(module, LorentzModule):
            super()._init_weights(module)

    def _get_resized_embeddings(
        self,
        old_embeddings: Any,
        new_num_tokens: int | None = None,
        pad_to_multiple_of: int | None = None,
        mean_resizing: bool = True,
    ) -> Any:
        before = len(old_embeddings.weight)
        resized = super()._get_resized_embeddings(old_embeddings, new_num_tokens, pad_to_multiple_of, mean_resizing)
        if isinstance(resized, LorentzEmbedding):
            added = resized.weight.data[before:]
            if len(added) and not mean_resizing:
                options: dict[str, Any] = {"manifold": resized.manifold, "form": resized.form}
                added.copy_(LorentzEmbedding(*added.shape, init_std=resized.init_std, **options).weight.data)
            added[:, 0] = 0.0
        return resized

    def _get_resized_lm_head(
        self,
        old_lm_head: Any,
        new_num_tokens: int | None = None,
        transposed: bool = False,
        mean_resizing: bool = True,
    ) -> Any:
        if not isinstance(old_lm_head, LorentzDistanceHead) or new_num_tokens is None:
            return super()._get_resized_lm_head(old_lm_head, new_num_tokens, transposed, mean_resizing)
        if len(old_lm_head.weight) != new_num_tokens:  # else they are the rows of a table that has been resized
            table = nn.Embedding.from_pretrained(old_lm_head.weight.detach().clone())
            resized = super()._get_resized_embeddings(table, new_num_tokens, None, mean_resizing)
            _replace(old_lm_head.weight, resized.weight.detach())
            old_lm_head.weight.data[:, 0] = 0.0
        if old_lm_head.bias is not None:
            bias = old_lm_head.bias.new_zeros(new_num_tokens)
            kept = min(new_num_tokens, len(old_lm_head.bias))
            bias[:kept] = old_lm_head.bias.detach()[:kept]
            _replace(old_lm_head.bias, bias)
        old_lm_head.num_classes = new_num_tokens
        return old_lm_head


def _replace(param: Tensor, value: Tensor) -> None:
    param.data = value  # the parameter itself stays: optimisers and tied layers hold it
