"""A Hugging Face model directory on disk as an encoder (extra ``huggingface``); nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.models.word_encoder import ModuleEncoder, Pieces, Sentence


def huggingface_encoder(folder: Path, *, random_weights: bool = False, seed: int = 0) -> ModuleEncoder:
    """The embedding and every layer of a model saved with ``save_pretrained``, tokenizer included.

    Weights are read from safetensors alone, and no code of the folder is run.

    Args:
        folder: of the model.
        random_weights: take the architecture with new weights, drawn by the seed.
    """
    transformers = _transformers()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        if random_weights:
            torch.manual_seed(seed)
            model = transformers.AutoModel.from_config(config)
        else:
            model = transformers.AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0].removesuffix(".")
        raise ValueError(
            f"expected a Hugging Face model with its tokenizer in {str(folder)!r}, weights as safetensors, but: "
            f"{reason}; save both there with save_pretrained"
        ) from None
    if not tokenizer.is_fast:
        raise ValueError(
            f"expected a fast tokenizer in {str(folder)!r}, which knows the word of every piece, got "
            f"{type(tokenizer).__name__}; save the fast one (tokenizer.json) there"
        )
    model = model.get_encoder() if config.is_encoder_decoder else model
    model.eval()
    padding = tokenizer.pad_token_id

    def layers(tokens: Tensor) -> tuple[Tensor, ...]:
        mask = torch.ones_like(tokens) if padding is None else (tokens != padding).long()
        return model(input_ids=tokens, attention_mask=mask, output_hidden_states=True).hidden_states

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
        about={"kind": "huggingface", "model_type": config.model_type, "folder": folder.resolve().name},
        # Without a piece for padding there is no telling it from text: one sentence at a time then.
        sentences_at_once=1 if padding is None else 32,
        longest=getattr(config, "max_position_embeddings", None),
    )


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise ValueError(
            "expected transformers for a Hugging Face model, but it is not installed; run pip install "
            "hybonet[huggingface]"
        ) from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers
