"""A parallel corpus ready for training: tokenizers, numbers, and the held-out sentences as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hybonet.data.text.parallel_text import Pairs, ParallelText
from hybonet.data.text.token_pairs import TokenPairs, encode_splits
from hybonet.data.text.tokenizer import Tokenizer, TokenizerKind, train_tokenizer


@dataclass(frozen=True)
class TranslationData:
    """What a translation model is trained and measured on."""

    source: str
    languages: tuple[str, str]
    sha256: Mapping[str, str]
    tokenized: bool
    source_tokenizer: Tokenizer = field(repr=False)
    #: The same as the source's if they share one.
    target_tokenizer: Tokenizer = field(repr=False)
    #: All splits as numbers.
    tokens: Mapping[str, TokenPairs] = field(repr=False)
    #: The splits to measure on, as text.
    texts: Mapping[str, Pairs] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def shared(self) -> bool:
        """Whether both languages have one vocabulary."""
        return self.source_tokenizer is self.target_tokenizer

    def without_test(self) -> TranslationData:
        """The same without any sentences to test on, for whatever must not know them."""
        tokens = {name: self.tokens[name] for name in ("train", "valid") if name in self.tokens}
        texts = {name: pairs for name, pairs in self.texts.items() if name == "valid"}
        return replace(self, tokens=tokens, texts=texts)

    def statistics(self) -> dict[str, int]:
        """Sizes of splits and vocabularies."""
        vocabularies = {
            "source_vocabulary": len(self.source_tokenizer),
            "target_vocabulary": len(self.target_tokenizer),
        }
        return {**{name: len(pairs) for name, pairs in self.tokens.items()}, **vocabularies}


def prepare(
    text: ParallelText, kind: TokenizerKind, vocabulary: int | None, *, share: bool = False, max_length: int = 100
) -> TranslationData:
    """Learn tokenizers from the training pairs, and turn everything into numbers."""
    train = text.splits["train"]
    if share:
        both = train_tokenizer(kind, [*train.source, *train.target], vocabulary, merges=text.merges)
        tokenizers = (both, both)
    else:
        tokenizers = (
            train_tokenizer(kind, train.source, vocabulary, merges=text.merges),
            train_tokenizer(kind, train.target, vocabulary, merges=text.merges),
        )
    tokens, notes = encode_splits(text, *tokenizers, max_length)
    if not len(tokens["train"]):
        raise ValueError(
            f"expected training pairs of at most {max_length} tokens, but {text.source} has none; set max_length higher"
        )
    return TranslationData(
        text.source,
        text.languages,
        text.sha256,
        text.tokenized,
        *tokenizers,
        tokens,
        {name: pairs for name, pairs in text.splits.items() if name != "train"},
        (*text.notes, *notes),
    )
