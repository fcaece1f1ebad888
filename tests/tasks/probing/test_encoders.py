"""Translators and Hugging Face models as encoders: every layer, the right pieces, controls with other weights."""

from pathlib import Path

import pytest
import torch

from hybonet.data import load_corpus, load_treebank
from hybonet.data.text.tokenizer import EOS, Words
from hybonet.data.text.translation_data import prepare
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.tasks.probing.encoders import load_encoder
from hybonet.tasks.probing.models.word_encoder import ModuleEncoder
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.translator import SourceText
from hybonet.tasks.run import start
from hybonet.tasks.translation.task import TranslationSettings, TranslationTask
from hybonet.training.checkpoint import save_model
from hybonet.training.loop import BEST

TREES = load_treebank("toy").test[:6]


@pytest.fixture(scope="module", params=["hybonet", "euclidean"])
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translation run with a model, though not a trained one."""
    folder = tmp_path_factory.mktemp("translators") / request.param
    settings = TranslationSettings(model=request.param, dim=16, heads=2, layers=2, max_length=40, tokenizer="words")
    data = prepare(load_corpus("toy"), "words", 500)
    start(folder, "translation", settings, data)
    torch.manual_seed(5)
    save_model(folder / BEST, TranslationTask(settings, data).build_model())
    return folder


def test_every_layer_of_a_translator(translator: Path) -> None:
    encoder = load_encoder(translator, ProbeSettings())
    states = encoder.states(TREES)
    assert states.shape == (sum(map(len, TREES)), 3, 16)
    is_lorentz = translator.name == "hybonet"
    assert (encoder.manifold is not None) == is_lorentz
    if is_lorentz:
        encoder.manifold.require_point(states)
    # A sentence by hand: its words and the end of it through the model.
    assert isinstance(encoder, ModuleEncoder)
    pieces = encoder.tokenize(TREES[0])
    assert pieces.tokens[-1] == EOS
    by_hand = torch.stack(list(encoder.layers(torch.tensor([pieces.tokens]))), dim=2)[0]
    torch.testing.assert_close(states[0], by_hand[pieces.of_words[0][0]], atol=1e-5, rtol=1e-5)
    assert encoder.describe()["model"] == translator.name


@pytest.mark.parametrize("model", ["convolution", "poincare"])
def test_a_translator_whose_layers_differ_in_width(model: str, tmp_path: Path) -> None:
    settings = TranslationSettings(model=model, dim=16, heads=2, layers=3, max_length=40, tokenizer="words")
    start(tmp_path / model, "translation", settings, prepare(load_corpus("toy"), "words", 500))
    states = load_encoder(tmp_path / model, ProbeSettings(control="random-weights")).states(TREES)
    assert states.shape[:2] == (sum(map(len, TREES)), 4)
    assert states.shape[2] > 16
    assert (states[:, [0, 3], 16:] == 0).all()
    assert (states[:, [1, 2], 16:] != 0).any()


def test_random_weights_are_others_and_follow_the_seed(translator: Path) -> None:
    trained = load_encoder(translator, ProbeSettings()).states(TREES)
    first, again, other = (
        load_encoder(translator, ProbeSettings(control="random-weights", seed=seed)).states(TREES) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=1e-3)
    assert not torch.allclose(first, trained, atol=1e-3)


def test_sentences_too_long_do_not_fit(translator: Path) -> None:
    encoder = load_encoder(translator, ProbeSettings())
    long = DependencyTree(("dog",) * 50, ("X",) * 50, tuple(range(50)))
    assert encoder.fits(TREES[0])
    assert not encoder.fits(long)


def test_text_as_it_was_in_training() -> None:
    tree = DependencyTree(("Dogs", "do", "n't", "bark", "."), ("X",) * 5, (0, 1, 2, 3, 4),
                          space_after=(True, False, True, False, True))  # fmt: skip
    plain = Words.from_text(["Dogs don't bark."])
    pieces = SourceText(plain, lowercase=False, word_by_word=False, escapes=False)(tree)
    assert plain.decode(pieces.tokens) == "Dogs don't bark."
    assert pieces.of_words == [[0], [1], [1], [2], [2]]
    moses = Words.from_text(["dogs do n&apos;t bark ."])
    pieces = SourceText(moses, lowercase=True, word_by_word=True, escapes=True)(tree)
    assert moses.decode(pieces.tokens) == "dogs do n&apos;t bark ."
    assert pieces.of_words == [[0], [1], [2], [3], [4]]


@pytest.fixture(scope="module")
def huggingface(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights and a tokenizer of words and their ends."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("huggingface") / "tiny-bert"
    words = sorted({word.lower() for tree in TREES for word in tree.words})
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *(word[:3] for word in words),
        *(f"##{word[3:]}" for word in words),
    ]
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    config = transformers.BertConfig(
        vocab_size=len(numbers), hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def test_every_layer_of_a_huggingface_model(huggingface: Path) -> None:
    import transformers

    encoder = load_encoder(huggingface, ProbeSettings())
    states = encoder.states(TREES)
    assert states.shape == (sum(map(len, TREES)), 3, 12)
    assert encoder.manifold is None
    # The same by hand: one sentence, the hidden states of the pieces of each word averaged.
    tree = TREES[3]
    tokenizer = transformers.AutoTokenizer.from_pretrained(huggingface)
    model = transformers.AutoModel.from_pretrained(huggingface).eval()
    coded = tokenizer(list(tree.words), is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        hidden = torch.stack(model(**coded, output_hidden_states=True).hidden_states, dim=2)[0]
    word_of = coded.word_ids(0)
    start = sum(map(len, TREES[:3]))
    for word in range(len(tree)):
        own = [place for place, of in enumerate(word_of) if of == word]
        torch.testing.assert_close(states[start + word], hidden[own].mean(0), atol=1e-5, rtol=1e-4)
    assert max(word_of.count(word) for word in range(len(tree))) > 1  # some word has several pieces
    random = load_encoder(huggingface, ProbeSettings(control="random-weights", seed=1)).states(TREES)
    assert not torch.allclose(random, states, atol=1e-3)


@pytest.fixture
def roberta(huggingface: Path, tmp_path: Path) -> Path:
    """A tiny RoBERTa of 20 rows of positions, of which the first two are unused, with the tokenizer of the BERT."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(huggingface, pad_token="[UNK]")
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=12, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=20, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    assert config.pad_token_id == 1
    transformers.RobertaModel(config).save_pretrained(tmp_path / "tiny-roberta")
    tokenizer.save_pretrained(tmp_path / "tiny-roberta")
    return tmp_path / "tiny-roberta"


def test_positions_that_start_behind_the_padding(roberta: Path) -> None:
    word = next(word.lower() for word in TREES[0].words if len(word) <= 3)
    encoder = load_encoder(roberta, ProbeSettings())
    assert isinstance(encoder, ModuleEncoder)
    assert encoder.longest == 18
    trees = [DependencyTree((word,) * count, ("X",) * count, tuple(range(count))) for count in range(1, 20)]
    fitting = [tree for tree in trees if encoder.fits(tree)]
    assert len(fitting[-1]) == 16  # and two pieces around
    assert encoder.states(fitting).isfinite().all()
    with pytest.raises(ValueError, match=r"expected pieces and positions that the model .* has vectors for, got"):
        encoder.states([trees[16]])


def test_a_huggingface_folder_without_weights(huggingface: Path) -> None:
    (huggingface / "model.safetensors").rename(huggingface / "weights.away")
    try:
        with pytest.raises(ValueError, match=r"expected a Hugging Face model with its tokenizer .* save both there"):
            load_encoder(huggingface, ProbeSettings())
    finally:
        (huggingface / "weights.away").rename(huggingface / "model.safetensors")
