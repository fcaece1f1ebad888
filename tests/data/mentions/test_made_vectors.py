"""Typing without a file of word vectors: hashed words, and a sentence encoder in a folder."""

from pathlib import Path

import pytest
import torch

import hybonet
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.word_vectors import encoder_vectors, hashed_vectors

ROWS = [(f"the [{name}] of {town} spoke", [kind]) for town in ("rome", "oslo", "bonn", "york", "lima", "cork")
        for name, kind in (("mayor", "person"), ("bridge", "thing"))]  # fmt: skip


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No GloVe is found."""
    monkeypatch.setenv("HYBONET_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("nowhere")
def test_mentions_are_typed_without_vectors(tmp_path: Path) -> None:
    settings = {"epochs": 25, "dim": 16, "heads": 2, "feedforward": 16, "batch_size": 10, "lr": 0.02}
    with pytest.warns(UserWarning, match="words are read by their letters alone"):
        model = hybonet.train("typing", ROWS * 5, out=tmp_path / "run", reporter=False, **settings)
    found = hybonet.load(tmp_path / "run").types_of("the [mayor] of rome spoke")
    assert found == model.types_of("the [mayor] of rome spoke")
    assert found[0].type == "person"


@pytest.mark.usefixtures("nowhere")
def test_vectors_of_a_named_set_are_called_by_its_name_alone() -> None:
    assert load_mentions("little-town").vectors.source == "little-town words"
    assert "little-town" not in load_mentions("little-town", words="hashed").vectors.source


def test_hashed_vectors_are_chosen_by_name_and_always_the_same(nowhere: None) -> None:
    told, default = (load_mentions(ROWS * 2, words=words).vectors for words in ("hashed", None))
    assert told.sha256 == default.sha256 == load_mentions(ROWS * 2, words="hashed").vectors.sha256
    alone = hashed_vectors(["Mayor"])
    assert torch.equal(alone.vectors[0], told.vectors[told.words.index("mayor")])
    assert bool(torch.allclose(told.vectors.norm(dim=1), torch.ones(len(told.words))))
    # A new version must not change them: what was trained would read other words.
    torch.testing.assert_close(
        alone.vectors[0, :4], torch.tensor([0.0239, -0.0578, -0.0815, 0.1006]), rtol=0, atol=1e-4
    )


def test_a_sentence_encoder_in_a_folder_makes_vectors(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    pieces = {piece: number for number, piece in enumerate(["[PAD]", "[UNK]", "may", "##or", "rome"])}
    plain = tokenizers.Tokenizer(tokenizers.models.WordPiece(pieces, unk_token="[UNK]"))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="[PAD]", unk_token="[UNK]")
    fast.save_pretrained(tmp_path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    model = transformers.BertModel(transformers.BertConfig(vocab_size=5, **sizes)).eval()
    model.save_pretrained(tmp_path)
    found = encoder_vectors(tmp_path, ["mayor", "rome"])
    assert found.words == ("mayor", "rome")
    expected = model(input_ids=torch.tensor([[2, 3]])).last_hidden_state.mean(1)[0]
    assert torch.allclose(found.vectors[0], expected, atol=1e-5)
    assert load_mentions([("the [mayor] of rome", ["person"])] * 3 + ROWS, words=tmp_path).vectors.size == 8
    with pytest.raises(ValueError, match="expected a file of word vectors, or a Hugging Face model"):
        encoder_vectors(tmp_path / "none", ["mayor"])
