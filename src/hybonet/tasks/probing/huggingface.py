"""A Hugging Face model directory on disk as an encoder (extra ``huggingface``); nothing is downloaded."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor, nn

from hybonet.extras import encoder_in
from hybonet.tasks.probing.models.word_encoder import ModuleEncoder, Pieces, Sentence

#: What PyTorch says of a number that a table has no row for.
_OUTSIDE = re.compile(r"out of (range|bounds)")


def huggingface_encoder(folder: Path, *, random_weights: bool = False, seed: int = 0) -> ModuleEncoder:
    """The embedding and every layer of a model saved with ``save_pretrained``, tokenizer included."""
    if random_weights:
        torch.manual_seed(seed)
    tokenizer, model = encoder_in(folder, trained=not random_weights)
    if not tokenizer.is_fast:
        raise ValueError(
            f"expected a fast tokenizer in {str(folder)!r}, which knows the word of every piece, got "
            f"{type(tokenizer).__name__}; save the fast one (tokenizer.json) there"
        )
    padding = tokenizer.pad_token_id
    longest = _longest(model, getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length)

    def layers(tokens: Tensor) -> tuple[Tensor, ...]:
        mask = torch.ones_like(tokens) if padding is None else (tokens != padding).long()
        try:
            return model(input_ids=tokens, attention_mask=mask, output_hidden_states=True).hidden_states
        except (IndexError, RuntimeError) as error:
            if not _OUTSIDE.search(str(error)):
                raise
            raise ValueError(
                f"expected pieces and positions that the model in {str(folder)!r} has vectors for, got sentences of "
                f"{tokens.shape[1]} pieces with numbers up to {int(tokens.max())}; save the tokenizer that belongs to "
                "the model there, with its model_max_length"
            ) from None

    def tokenize(sentence: Sentence) -> Pieces:
        coded = tokenizer(list(sentence.words), is_split_into_words=True)
        of_words: list[list[int]] = [[] for _ in sentence.words]
        for place, word in enumerate(coded.word_ids()):
            if word is not None:
                of_words[word].append(place)
        return Pieces(coded["input_ids"], of_words)

    return ModuleEncoder(
        layers,
        tokenize,
        padding=padding or 0,
        name=folder.resolve().name,
        about={"kind": "huggingface", "model_type": model.config.model_type, "folder": folder.resolve().name},
        # Without a piece for padding there is no telling it from text: one sentence at a time then.
        sentences_at_once=1 if padding is None else 32,
        longest=longest,
    )


def _longest(model: nn.Module, positions: int | None, tokenizer_limit: int) -> int:
    """Pieces that a sentence may have: what the tokenizer says, and no more than there are positions.

    RoBERTa and its kin number positions from the padding's number + 1, so that the first rows of the table are unused.

    Example:
        >>> table = nn.ModuleDict({"position_embeddings": nn.Embedding(514, 2, padding_idx=1)})
        >>> _longest(table, 514, 10**30), _longest(table, 514, 128)
        (512, 128)
    """
    if positions is None:
        return tokenizer_limit
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "num_embeddings", None) == positions:
            unused = getattr(part, "padding_idx", None)
            return min(tokenizer_limit, positions - (0 if unused is None else unused + 1))
    return min(tokenizer_limit, positions)
