"""Word vectors where there is no file of them: hashed from the letters of words, or made by a sentence encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from hybonet.data.mentions.word_vectors import WordVectors
from hybonet.extras import encoder_in

#: What is said instead of a file.
HASHED = "hashed"
_SIZE = 100
#: Parts of words have one of so many random vectors; parts of so many letters.
_BUCKETS, _LETTERS = 1 << 14, (3, 4, 5)
_AT_A_TIME = 128


def hashed_vectors(words: Collection[str]) -> WordVectors:
    """A vector for every word, from its letters alone: the mean of random ones of its parts, which are hashed.

    Words that share parts (run, runs, runner) are near each other; of meaning they know nothing more. The same word has
    the same vector everywhere.

    Example:
        >>> found = hashed_vectors(["runner", "runners", "violet"])
        >>> unit = torch.nn.functional.normalize(found.vectors)
        >>> bool(unit[0] @ unit[1] > 0.5), bool((unit[0] @ unit[2]).abs() < 0.5)
        (True, True)
    """
    forms = sorted({word.lower() for word in words}) or [""]
    vectors = torch.stack([_random()[torch.tensor(_parts(word))].sum(0) for word in forms])
    vectors = torch.nn.functional.normalize(vectors)
    note = "words are read by their letters alone (hashed); vectors with meaning (--words, such as GloVe's) do better"
    return WordVectors(tuple(forms), vectors, HASHED, _checksum(vectors), (note,))


@lru_cache(maxsize=1)
def _random() -> Tensor:
    return torch.randn(_BUCKETS, _SIZE, generator=torch.Generator().manual_seed(0))


def _parts(word: str) -> list[int]:
    """Buckets of a word and of its parts; those at its ends know that they are there."""
    marked = f"<{word}>"
    parts = [marked, *(marked[at : at + n] for n in _LETTERS for at in range(len(marked) - n + 1))]
    return [
        int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") % _BUCKETS
        for part in parts
    ]


@torch.no_grad()
def encoder_vectors(folder: Path, words: Collection[str]) -> WordVectors:
    """What a Hugging Face sentence encoder in a folder makes of every word by itself: the mean of its last layer."""
    tokenizer, model = encoder_in(folder, "a file of word vectors, or a Hugging Face model")
    forms, parts = sorted(words) or [""], []
    for start in range(0, len(forms), _AT_A_TIME):
        # One by one where there is no piece for padding.
        some = forms[start : start + _AT_A_TIME]
        batches = [some] if tokenizer.pad_token_id is not None else [[word] for word in some]
        for batch in batches:
            coded = tokenizer(batch, return_tensors="pt", padding=len(batch) > 1, truncation=True)
            last = model(input_ids=coded["input_ids"], attention_mask=coded["attention_mask"]).last_hidden_state
            mask = coded["attention_mask"][..., None].to(last)
            parts.append((last * mask).sum(1) / mask.sum(1).clamp_min(1))
    vectors = torch.cat(parts).float()
    note = f"words are read by the sentence encoder {folder.name}, each by itself"
    return WordVectors(tuple(forms), vectors, str(folder), _checksum(vectors), (note,))


def _checksum(vectors: Tensor) -> str:
    return hashlib.sha256(vectors.contiguous().numpy().tobytes()).hexdigest()
