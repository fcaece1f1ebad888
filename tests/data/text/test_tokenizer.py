"""Tokenizers: the same text gives the same tokens, and what was cut can be put together."""

import pytest

from hybonet.data import load_corpus
from hybonet.data.io import search_path
from hybonet.data.io.source_file import read_source
from hybonet.data.text.byte_pairs import BytePairs, read_codes
from hybonet.data.text.parallel_text import Pairs, ParallelText
from hybonet.data.text.sentence_pieces import SentencePieces
from hybonet.data.text.token_pairs import TokenBatches, encode_splits
from hybonet.data.text.tokenizer import BOS, EOS, PAD, SPECIAL, UNK, Words, read_tokenizer, train_tokenizer
from hybonet.data.text.translation_data import prepare

TEXT = [*load_corpus("toy").splits["train"].source]


@pytest.mark.parametrize("kind", ["unigram", "bpe", "words"])
def test_a_tokenizer_round_trips_and_survives_the_disk(kind, tmp_path):
    tokenizer, again = (train_tokenizer(kind, TEXT, 150) for _ in range(2))
    assert len(tokenizer) <= 150
    assert tokenizer.tokens([PAD, UNK, BOS, EOS]) == list(SPECIAL)
    tokenizer.write(tmp_path, "source")
    kept = read_tokenizer(tmp_path, "source")
    for sentence in TEXT[:50]:
        numbers = tokenizer.encode(sentence)
        assert min(numbers) > EOS
        assert tokenizer.decode([BOS, *numbers, EOS, PAD]) == sentence
        assert numbers == again.encode(sentence) == kept.encode(sentence)
    assert UNK in tokenizer.encode("☃")
    assert "<unk>" in tokenizer.decode(tokenizer.encode("a ☃"))


def test_a_text_too_small_for_the_vocabulary_gets_a_smaller_one():
    for kind in ("unigram", "bpe"):
        assert 10 < len(SentencePieces.train(TEXT, 30_000, kind)) < 3000


def test_a_foreign_sentencepiece_model_is_refused(tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_prefix=str(tmp_path / "own"), vocab_size=60, minloglevel=2
    )
    (tmp_path / "own.model").rename(tmp_path / "source.spm")
    with pytest.raises(ValueError, match=r"expected the pieces <pad>, <unk>, <s>, </s> first, got <unk>, <s>, </s>"):
        read_tokenizer(tmp_path, "source")
    (tmp_path / "source.spm").write_bytes(b"no model")
    with pytest.raises(ValueError, match=r"source\.spm: expected a sentencepiece model"):
        read_tokenizer(tmp_path, "source")


def test_merges_of_subword_nmt(tmp_path):
    merges = [("t", "h"), ("th", "e</w>"), ("o", "g</w>"), ("d", "og</w>")]
    pairs = BytePairs.from_text(["the dog", "the hog"], merges)
    assert pairs.tokens(pairs.encode("the dog hog")) == ["the", "dog", "h@@", "og"]
    assert pairs.decode(pairs.encode("hog the")) == "hog the"
    pairs.write(tmp_path, "shared")
    assert read_tokenizer(tmp_path, "shared").encode("the dog hog") == pairs.encode("the dog hog")
    with pytest.raises(ValueError, match="expected merges for tokenizer=subword-nmt"):
        train_tokenizer("subword-nmt", TEXT, 100)


def test_the_codes_of_iwslt_cut_as_subword_nmt_does():
    path = search_path.find("iwslt14_de-en/bpe10k.codes")
    if path is None:
        pytest.skip("iwslt14_de-en is not on the search path (HYBONET_DATA)")
    merges = read_codes(read_source(path))
    assert len(merges) == 10_000
    # What `subword-nmt apply-bpe -c bpe10k.codes` writes (version 0.3.8).
    cut = BytePairs.from_text([], merges).pieces("in peterborough starteten wir mit dem längerfristigen programm .")
    assert " ".join(cut) == "in pe@@ ter@@ bor@@ ough star@@ teten wir mit dem län@@ ger@@ fri@@ stigen programm ."


def test_special_tokens_written_in_a_text_are_unknown_words_and_are_told():
    pairs = Pairs(("<s> the dog </s>", "a bird"), ("der <pad> Hund", "ein Vogel"))
    data = prepare(ParallelText("marked", ("en", "de"), {"train": pairs, "valid": pairs}), "words", 100)
    special = {PAD, BOS, EOS}
    assert not special & set(data.tokens["train"].source.values.tolist() + data.tokens["train"].target.values.tolist())
    assert "1 of 2 pairs of train with </s>, <pad>, <s> in the text, taken for unknown words" in data.notes
    batches = TokenBatches(data.tokens["train"], 100)
    assert batches.batch(batches.in_order()[0]).tokens == 7


def test_unknown_tokens_are_counted():
    pairs = {"train": Pairs(("a b", "a c"), ("x y", "x y")), "valid": Pairs(("d a",), ("z z",))}
    words = Words.from_text(["a b c x y"]), Words.from_text(["x y"])
    _, notes = encode_splits(ParallelText("abc", ("en", "de"), pairs), *words, 9)
    assert [note.partition(" (")[0] for note in notes] == ["1 of 2 en tokens of valid", "2 of 2 de tokens of valid"]
    assert notes[1] == "2 of 2 de tokens of valid (100.0%) are not in the vocabulary and taken for one unknown word"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_pieces_rewrite_no_characters(kind):
    pytest.importorskip("sentencepiece")
    text = ["你好，世界！", "Il dit… ½ ﬁn", "a b c d e f g"]
    pieces = SentencePieces.train([*text, "Ω " * 3000], 60, kind)
    assert [pieces.decode(pieces.encode(line)) for line in text] == text
    assert UNK not in pieces.encode("Ω")  # a long line is part of the text, too
