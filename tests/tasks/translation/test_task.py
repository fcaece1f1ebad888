"""Translation from text to scores: a run trained once, and everything that is done with it."""

import json
import shutil
from dataclasses import replace

import pandas
import pytest
import torch

import hybonet
from hybonet import TranslationModel
from hybonet.data import load_corpus
from hybonet.data.text.translation_data import prepare
from hybonet.nn import LorentzLinear
from hybonet.tasks.run import Run, start
from hybonet.tasks.run_folder import read_json, read_record
from hybonet.tasks.translation.decoding import Decoding
from hybonet.tasks.translation.evaluation import evaluate
from hybonet.tasks.translation.task import TranslationSettings, TranslationTask, build_translation_model, perplexity
from hybonet.training import Interrupted, ScheduleSettings
from hybonet.training.checkpoint import read_tensors
from tests.training.toy import StopAt

SETTINGS = TranslationSettings(
    epochs=4,
    dim=16,
    heads=2,
    layers=1,
    feedforward=32,
    dropout=0.1,
    tokenizer="words",
    vocabulary=300,
    batch_tokens=400,
    max_length=12,
    lr=0.02,
    schedule=ScheduleSettings(warmup=5),
    validate_every=1,
    average=2,
    beam=2,
    checkpoint_seconds=0,
)


def small_data(**changes):
    corpus = load_corpus("toy")
    splits = {name: type(p)(p.source[:120], p.target[:120]) for name, p in corpus.splits.items()}
    splits["test"] = type(splits["test"])(splits["test"].source[:8], splits["test"].target[:8])
    options = {"share": False, "max_length": 12, **changes}
    return prepare(replace(corpus, splits=splits), "words", 300, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translation") / "run"
    start(folder, "translation", SETTINGS, small_data()).train()
    return folder


@pytest.fixture(scope="module")
def model(run):
    return TranslationModel.load(run)


def test_training_learns_and_the_record_says_how_it_was_measured(run):
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    assert history[-1]["loss"] < 0.9 * history[0]["loss"]
    assert history[-1]["perplexity"] < 0.6 * history[0]["perplexity"]
    record = read_record(run)
    signature = record["test"]["signatures"]["bleu"]
    assert signature.startswith("nrefs:1|bs:"), "the resamples of the interval stand in it"
    assert "|case:mixed|" in signature
    assert record["test"]["sentences"] == 8
    assert record["data"]["direction"] == "en-toy"
    tokens = Run(run).data.tokens["train"].target_tokens * record["epochs"]
    assert record["target_tokens_per_second"] == pytest.approx(tokens / record["seconds"], rel=0.05)
    best = min(row["perplexity"] for row in history)
    assert record["valid"]["perplexity"] == best


def test_perplexity_is_that_of_the_logits(run, model):
    data = Run(run).data
    total, count = 0.0, 0
    for row in range(len(data.tokens["valid"])):
        pairs = data.tokens["valid"]
        target = pairs.target.padded([row], end=True)
        logits = model.model(pairs.source.padded([row], end=True), pairs.target.padded([row], begin=True))
        total -= float(torch.log_softmax(logits[0].double(), -1).gather(-1, target[0][:, None]).sum().detach())
        count += target.shape[1]
    with torch.no_grad():
        found = perplexity(model.model, data, "valid", 400)
    assert found == pytest.approx(torch.tensor(total / count).exp().item(), rel=1e-4)


def test_a_run_stopped_at_any_place_ends_with_the_same_weights(run, tmp_path):
    folder = tmp_path / "stopped"
    start(folder, "translation", SETTINGS, small_data())
    for batches in (2, 5):
        with pytest.raises(Interrupted):
            Run(folder).train(resume=True, reporter=StopAt(batches))
    Run(folder).train(resume=True)
    for file in ("model.safetensors", "checkpoint.safetensors"):
        alone, stopped = read_tensors(run / file), read_tensors(folder / file)
        assert all(torch.equal(alone[name], stopped[name]) for name in alone)
    assert read_record(run)["test"]["bleu"] == read_record(folder)["test"]["bleu"]


def test_translations_are_in_order_scored_and_do_not_depend_on_their_company(model):
    sentences = ["The dog saw a cat.", "", "Two big birds love the old red house today.", "A man."]
    together = model.translations(sentences, Decoding(beam=3, n_best=2))
    assert [len(each) for each in together] == [2, 1, 2, 2]
    assert together[1][0].text == ""
    for sentence, found in zip(sentences, together, strict=True):
        alone = model.translations([sentence], Decoding(beam=3, n_best=2))[0]
        assert [each.text for each in alone] == [each.text for each in found]
        assert [each.score for each in alone] == pytest.approx([each.score for each in found], abs=1e-4)
        assert found[0].score >= found[-1].score
    assert model.translate(sentences[0], Decoding(beam=3)) == together[0][0].text


def test_a_sentence_over_the_limit_is_cut_and_says_so(model):
    long = " ".join(["the", "dog"] * 20)
    cut, whole = model.translations([long, "the dog"])
    assert cut[0].cut
    assert not whole[0].cut
    assert cut[0].text == model.translate(" ".join(["the", "dog"] * 6))


def test_predictions_are_the_translations_with_their_scores(model):
    sentences = ["The dog saw a cat.", ""]
    assert model.predict(sentences, beam=3).text.splitlines() == model.translate(sentences, Decoding(beam=3))
    several = model.predict(sentences, beam=3, n_best=2)
    assert [each["line"] for each in several] == [1, 1, 2]
    assert several.text is None
    assert several.as_json()[0]["translations"][1]["text"] == several[1]["translation"]
    assert several.notes[0] == "1 empty line stays empty"


def test_pairs_of_python_are_text(tmp_path):
    pairs = [(f"number {i}", f"Nummer {i}") for i in range(40)]
    changes = {"dim": 4, "heads": 2, "layers": 1, "epochs": 1, "validate_every": 1, "tokenizer": "words"}
    with pytest.warns(UserWarning, match="2 pairs for valid and 2 pairs for test held out with seed 0"):
        model = hybonet.train("translation", pairs, direction="en-de", out=tmp_path / "run", reporter=False, **changes)
    assert model.about["languages"] == ["en", "de"]
    assert model.evaluate()["sentences"] == 2
    assert load_corpus(pandas.DataFrame(pairs)).splits == load_corpus(pairs, direction="en-de").splits


def test_one_sentence_is_not_several(model):
    with pytest.raises(ValueError, match="expected several sentences, got one"):
        model.translations("The dog.")
    assert len(model.translate(each for each in ("The dog.", "A cat."))) == 2


@pytest.mark.parametrize(
    "wrong", [{"beam": 0}, {"n_best": 0}, {"length_penalty": -1.0}, {"temperature": -1.0}, {"top_p": 2.0}, {"top_k": 0}]
)
def test_decoding_that_cannot_be_is_refused_at_once(wrong):
    ((name, value),) = wrong.items()
    chance = {"temperature": 1.0} if name.startswith("top") else {}
    with pytest.raises(ValueError, match=rf"expected {name} .*, got {value}"):
        Decoding(**{**chance, **wrong})


def test_draws_follow_the_seed(model):
    how = Decoding(temperature=1.0, top_p=0.95, n_best=3)
    first, again, other = (model.translations(["The dog."], replace(how, seed=seed))[0] for seed in (1, 1, 2))
    assert first == again
    assert [each.text for each in first] != [each.text for each in other]
    with pytest.raises(ValueError, match="top_k and top_p with a temperature"):
        Decoding(top_k=3)


def test_attention_is_a_distribution_over_the_source(model):
    attention = model.attention("The dog saw a cat.")
    assert attention.source[-1] == attention.target[-1] == "</s>"
    assert attention.weights.shape == (1, 2, len(attention.target), len(attention.source))
    torch.testing.assert_close(attention.weights.sum(-1), torch.ones(attention.weights.shape[:-1]))


def test_an_exported_model_translates_as_the_run_and_is_no_run(run, model, tmp_path):
    model.save_pretrained(tmp_path / "model")
    kept = {path.name for path in (tmp_path / "model").iterdir()}
    assert kept == {
        "config.json",
        "model.safetensors",
        "source.tokens.json",
        "target.tokens.json",
        "record.json",
        "README.md",
    }
    sentences = ["The dog saw a cat.", "Many women draw."]
    assert TranslationModel.from_pretrained(tmp_path / "model").translate(sentences) == model.translate(sentences)
    card = (tmp_path / "model/README.md").read_text()
    assert "`BLEU: nrefs:1|bs:" in card
    assert "pipeline_tag: translation\nlanguage:\n- en\n- toy\n" in card
    assert "examples" in read_record(run)["test"]
    assert "examples" not in read_record(tmp_path / "model")["test"], "the text stays behind"
    with pytest.raises(ValueError, match="holds a model saved for use, without the state of its training"):
        Run(tmp_path / "model").change_settings([])
    with pytest.raises(ValueError, match="is a model saved for use, without its text; give the run's folder"):
        hybonet.load(tmp_path / "model").evaluate()


def test_a_shared_vocabulary_is_one_table_and_one_file(tmp_path):
    settings = SETTINGS.model_copy(update={"share_vocabulary": True, "epochs": 1, "average": 1})
    start(tmp_path / "run", "translation", settings, small_data(share=True))
    assert (tmp_path / "run/shared.tokens.json").exists()
    data = Run(tmp_path / "run").data
    assert data.shared
    model = TranslationTask(settings, data).build_model()
    assert model.source_embedding is model.target_embedding


def test_long_pairs_are_left_out_of_training_and_cut_elsewhere():
    data = small_data(max_length=6)
    assert data.statistics()["train"] < 120
    assert data.statistics()["test"] == 8
    assert "of 120 pairs of train with a sentence of more than 6 tokens left out" in data.notes[0]
    assert any(
        note.endswith("of valid with a sentence of more than 6 tokens cut there for the model") for note in data.notes
    )
    assert max(int(data.tokens["valid"].source.lengths.max()), int(data.tokens["train"].target.lengths.max())) <= 6


def test_bfloat16_has_the_loss_of_float32():
    losses = {}
    for precision in ("float32", "bfloat16"):
        torch.manual_seed(0)
        task = TranslationTask(SETTINGS.model_copy(update={"dropout": 0.0, "attention_dropout": 0.0}), small_data())
        model = task.build_model()
        optimizer = task.build_optimizer(model)
        for batch in [*task.batches(0, 0), *task.batches(1, 0)]:
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
                loss = task.loss(model, batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        losses[precision] = loss.item()
        assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)


@pytest.mark.parametrize("name", ["euclidean", "hatt"])
def test_norms_stand_where_norm_first_puts_them(name):
    for first in (False, True):
        settings = TranslationSettings(model=name, norm_first=first, dim=8, heads=2, layers=1)
        model = build_translation_model(settings, 20, 20)
        assert isinstance(model.encoder_norm, torch.nn.LayerNorm) == first
        assert all(layer.norm_first == first for layer in model.repeated_layers())


def test_norm_first_of_the_papers_form_lets_the_blocks_add_to_their_input():
    for first in (False, True):
        settings = TranslationSettings(form="paper", norm_first=first, dim=8, heads=2, layers=1)
        model = build_translation_model(settings, 20, 20)
        form = "pure" if first else "paper"
        assert all(layer.feed_forward.linear2.form == form for layer in model.repeated_layers())
        assert all(layer.self_attn.out_proj.form == form for layer in model.repeated_layers())
        assert all(layer.cross_attn.out_proj.form == form for layer in model.decoder_layers)
        reach = {"pure": 0.02, "paper": 0.3 if first else 0.02}  # of the weights at the start
        for module in model.modules():
            if isinstance(module, LorentzLinear):
                assert 0.5 * reach[module.form] < float(module.weight.detach().abs().max()) <= reach[module.form]


def test_measuring_follows_the_model_wherever_its_settings_say_it_was_trained(run, model):
    data = Run(run).data
    elsewhere = SETTINGS.model_copy(update={"device": "cuda"})  # and then moved to a machine that has none
    found = evaluate(model.model, data, "test", Decoding(beam=2), settings=elsewhere)
    assert found["perplexity"] == pytest.approx(read_record(run)["test"]["perplexity"])


def test_residual_dropout_is_for_the_blocks_of_hybonet():
    for form, default in (("scaled", 0.1), ("paper", 0.0)):
        model = build_translation_model(TranslationSettings(form=form, dim=8, heads=2, layers=1), 20, 20)
        assert model.encoder_layers[0].feed_forward.linear2.residual_dropout == default
    settings = TranslationSettings(form="paper", residual_dropout=0.3, dim=8, heads=2, layers=1)
    model = build_translation_model(settings, 20, 20)
    assert model.encoder_layers[0].feed_forward.linear2.residual_dropout == 0.3
    assert model.decoder_layers[0].cross_attn.out_proj.residual_dropout == 0.3
    assert model.source_position.linear.residual_dropout == 0.0
    with pytest.raises(ValueError, match="model=euclidean has, got 'residual_dropout', which is one of hybonet;"):
        TranslationSettings.checked({"residual_dropout": 0.1, "model": "euclidean"})


def test_hybonet_has_norms_before_its_blocks_and_at_the_ends():
    model = build_translation_model(TranslationSettings(dim=8, heads=2, layers=1), 20, 20)
    assert all(layer.norm_first and layer.form == "scaled" for layer in model.repeated_layers())
    source = torch.tensor([[5, 6, 3]])
    memory = model.encode(source).states
    length = memory[..., 1:].norm(dim=-1)
    torch.testing.assert_close(length, torch.full_like(length, 2.0))


def test_runs_of_before_the_scaled_form_are_the_papers(run, tmp_path):
    folder = tmp_path / "older"
    shutil.copytree(run, folder)
    config = read_json(folder, "config.json")
    del config["settings"]["form"]
    (folder / "config.json").write_text(json.dumps(config))
    assert Run(folder).settings.form == "paper"
    assert Run(run).settings.form == SETTINGS.form


def test_norm_first_is_for_transformers():
    with pytest.raises(
        ValueError, match="convolution has, got 'norm_first', which is one of hybonet, euclidean, hatt;"
    ):
        TranslationSettings.checked({"norm_first": True, "model": "convolution"})
