"""Pieces of words that sentencepiece learns from a text (extra ``translation``)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from hybonet.data.text.tokenizer import BOS, EOS, PAD, PIECES, SPECIAL, UNK
from hybonet.extras import needed

_PIECES = ("pieces of words", "translation", ", or cut the text yourself and use tokenizer=words")
#: What sentencepiece says if a text has too few different words for so many pieces.
_TOO_MANY = re.compile(r"Vocabulary size (?:is )?too high \(\d+\).*?<= (\d+)")

#: And if it has more different characters than pieces are allowed.
_TOO_FEW = re.compile(r"smaller than required_chars\W+(\d+) vs (\d+)")


class SentencePieces:
    """A sentencepiece model whose first four pieces are our special tokens.

    Args:
        model: the bytes of a sentencepiece model file (a protocol buffer: reading it runs no code).

    Example:
        >>> pieces = SentencePieces.train(["the dog sleeps", "the cat sleeps", "a dog and a cat"] * 9, 40, "unigram")
        >>> pieces.decode(pieces.encode("the cat and the dog"))
        'the cat and the dog'
    """

    def __init__(self, model: bytes, source: str = "the sentencepiece model") -> None:
        self.model = model
        try:
            self._processor = needed("sentencepiece", *_PIECES).SentencePieceProcessor(model_proto=model)
        except RuntimeError:
            raise ValueError(
                f"{source}: expected a sentencepiece model, got something else; restore the file"
            ) from None
        found = tuple(self._processor.id_to_piece(number) for number in (PAD, UNK, BOS, EOS) if number < len(self))
        if found != SPECIAL:
            raise ValueError(
                f"{source}: expected the pieces {', '.join(SPECIAL)} first, got {', '.join(found)}; train the "
                f"model with pad_id={PAD}, unk_id={UNK}, bos_id={BOS}, eos_id={EOS}"
            )

    @classmethod
    def train(cls, lines: Sequence[str], size: int, kind: Literal["unigram", "bpe"]) -> SentencePieces:
        """Learn at most ``size`` pieces; the same text gives the same pieces."""
        try:
            return cls(_train(lines, size, kind))
        except RuntimeError as error:
            fewer, too_few = _TOO_MANY.search(str(error)), _TOO_FEW.search(str(error))
            if too_few is not None:
                needed = int(too_few[2])
                raise ValueError(
                    f"expected a vocabulary of more than {needed:,}, since the text has about so many different "
                    f"characters, got {size:,}; set vocabulary to {2 * needed:,} or more"
                ) from None
            if fewer is None:
                raise ValueError(
                    f"expected a text to learn pieces of words from, but sentencepiece says: {str(error).strip()}; "
                    "give more text, or another vocabulary size"
                ) from None
            return cls(_train(lines, int(fewer[1]), kind))

    def __len__(self) -> int:
        return self._processor.get_piece_size()

    def encode(self, text: str) -> list[int]:
        return self._processor.encode(text)

    def scores(self) -> dict[int, tuple[str, float]]:
        """Number, text and log probability of every piece of text; special tokens are none."""
        processor = self._processor
        return {
            number: (processor.id_to_piece(number), processor.get_score(number))
            for number in range(len(self))
            if not (processor.is_control(number) or processor.is_unknown(number) or processor.is_unused(number))
        }

    def decode(self, numbers: Iterable[int]) -> str:
        shown = [number for number in numbers if number not in (PAD, BOS, EOS)]
        return self._processor.decode(shown).strip()

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        return [self._processor.id_to_piece(number) for number in numbers]

    def write(self, folder: Path, name: str) -> None:
        (folder / f"{name}{PIECES}").write_bytes(self.model)


def _train(lines: Sequence[str], size: int, kind: str) -> bytes:
    written = io.BytesIO()
    needed("sentencepiece", *_PIECES).SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=size,
        model_type=kind,
        character_coverage=1.0,
        normalization_rule_name="identity",  # or a model could never write … or a full-width comma
        # Longer ones are left out; it takes no number below 10.
        max_sentence_length=max(10, max((len(line.encode()) for line in lines), default=0) + 1),
        pad_id=PAD,
        unk_id=UNK,
        bos_id=BOS,
        eos_id=EOS,
        pad_piece=SPECIAL[PAD],
        unk_surface=SPECIAL[UNK],
        num_threads=1,  # sums in one order: the same text gives the same pieces
        minloglevel=2,
    )
    return written.getvalue()
