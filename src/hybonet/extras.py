"""Packages that hybonet does without: imported where they are used, or missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def needed(module: str, purpose: str, extra: str, otherwise: str = "") -> Any:
    """A module of an optional package; a ``ValueError`` with the remedy where it is not installed.

    Example:
        >>> needed("no_such_package", "the picture", "plot")
        Traceback (most recent call last):
        ValueError: expected no_such_package for the picture, but it is not installed; run pip install 'hybonet[plot]'
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.rpartition(".")[2]
        raise ValueError(
            f"expected {package} for {purpose}, but it is not installed; run pip install 'hybonet[{extra}]'{otherwise}"
        ) from None


def encoder_in(folder: Path, expected: str = "a Hugging Face model", *, trained: bool = True) -> tuple[Any, Any]:
    """The tokenizer and the encoder that a folder holds (extra ``huggingface``), ready to be asked.

    Weights are read from safetensors alone (without ``trained`` they are drawn), and no code of the folder is run.
    """
    transformers = needed("transformers", "a Hugging Face model", "huggingface")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        if trained:
            model = transformers.AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        else:
            model = transformers.AutoModel.from_config(config)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0].removesuffix(".")
        raise ValueError(
            f"expected {expected} with its tokenizer in {str(folder)!r}, weights as safetensors, but: {reason}; save "
            "both there with save_pretrained"
        ) from None
    return tokenizer, (model.get_encoder() if config.is_encoder_decoder else model).eval()
