"""Hugging Face's transformers and PEFT with Lorentz layers: training, saving, resizing, adapters."""

import pytest
import torch
from torch import nn

pytest.importorskip("transformers")

import transformers

from hybonet import Lorentz
from hybonet.interop.huggingface import LorentzPreTrainedModel
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzPositionalEncoding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
)
from hybonet.testing import assert_on_sheet

INDEX = torch.arange(20).view(4, 5)


class Config(transformers.PretrainedConfig):
    model_type = "hybonet-toy"

    def __init__(self, vocab_size=20, classes=5, K=-2.0, learnable=False, **options):
        super().__init__(**options)
        self.K, self.vocab_size, self.classes, self.learnable = K, vocab_size, classes, learnable


def build(net, config, form):
    manifold = Lorentz(config.K, learnable=config.learnable)
    layer = LorentzTransformerEncoderLayer(8, 2, 12, 0.0, manifold=manifold)
    net.table = LorentzEmbedding(config.vocab_size, 8, form=form, manifold=manifold)
    net.positions = LorentzPositionalEncoding(8, 32, kind="sinusoidal", manifold=manifold)
    net.encoder = LorentzTransformerEncoder(layer, 1)
    net.head = LorentzDistanceHead(8, config.classes, form=form, manifold=manifold)
    net.post_init()


class Ours(LorentzPreTrainedModel):
    config_class = Config

    def __init__(self, config, form="scaled"):
        super().__init__(config)
        build(self, config, form)

    def get_input_embeddings(self):
        return self.table

    def set_input_embeddings(self, table):
        self.table = table

    def set_output_embeddings(self, head):
        self.head = head

    def get_output_embeddings(self):
        return self.head if self.config.classes == self.config.vocab_size else None

    def forward(self, input_ids, labels=None):
        logits = self.head(self.encoder(self.positions(self.table(input_ids))))
        loss = None if labels is None else nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return {"loss": loss, "logits": logits}


class Plain(transformers.PreTrainedModel):
    """As users write it who know nothing of :class:`LorentzPreTrainedModel`."""

    config_class = Config

    def __init__(self, config, form="paper"):
        super().__init__(config)
        build(self, config, form)

    get_input_embeddings, set_input_embeddings = Ours.get_input_embeddings, Ours.set_input_embeddings
    forward = Ours.forward


def assert_sound(net):
    assert_on_sheet(net.table.points(), manifold=net.table.manifold)
    assert_on_sheet(net.head.points(), manifold=net.head.manifold)


@pytest.mark.parametrize("learnable", [False, True])
def test_trainer_with_its_default_optimizer(learnable, tmp_path):
    pytest.importorskip("accelerate")
    torch.manual_seed(0)
    data = [{"input_ids": (ids := torch.randint(20, (5,))), "labels": ids % 5} for _ in range(32)]
    options = {"report_to": [], "use_cpu": True, "disable_tqdm": True, "learning_rate": 0.01, "save_steps": 4}
    arguments = transformers.TrainingArguments(str(tmp_path), max_steps=8, logging_steps=1, **options)
    trainer = transformers.Trainer(Plain(Config(learnable=learnable)), arguments, train_dataset=data)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[-1] < losses[0]
    assert_sound(trainer.model)
    again = transformers.Trainer(Plain(Config(learnable=learnable)), arguments, train_dataset=data)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    for one, other in zip(trainer.model.parameters(), again.model.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("learnable", [False, True])
def test_what_a_file_lacks_starts_as_ever(learnable, tmp_path):
    net = Ours(Config(learnable=learnable))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    net(INDEX, INDEX % 5)["loss"].backward()
    optimizer.step()
    net.save_pretrained(tmp_path)
    twin = Ours.from_pretrained(tmp_path)
    assert twin.table.manifold.curvature == pytest.approx(net.table.manifold.curvature)
    torch.testing.assert_close(net(INDEX)["logits"], twin(INDEX)["logits"])  # positions, which are not stored, too
    other = Ours.from_pretrained(tmp_path, config=Config(classes=9, learnable=learnable), ignore_mismatched_sizes=True)
    assert torch.equal(other.table.weight, net.table.weight)
    weight = other.head.weight.detach()
    assert 0.5 < weight[:, 1:].std() * (3 * 7) ** 0.5 < 2.0, "drawn by the head's own rule"
    assert not weight[:, 0].any()
    assert_sound(other)


def test_a_file_of_another_curvature_is_refused(tmp_path):
    Ours(Config()).save_pretrained(tmp_path)
    with pytest.raises((RuntimeError, ValueError), match="expected curvature K = -1, got K = -2"):
        Ours.from_pretrained(tmp_path, config=Config(K=-1.0))


@pytest.mark.parametrize("form", ["scaled", "paper"])
def test_models_start_as_layers_do(form):
    torch.manual_seed(0)
    net = Ours(Config(vocab_size=500), form)
    torch.manual_seed(0)
    alone = LorentzEmbedding(500, 8, form=form, manifold=Lorentz(-2.0))
    assert net.table.weight.std().item() == pytest.approx(alone.weight.std().item(), rel=0.05)
    plain = Plain(Config(vocab_size=500), form)  # by transformers' own rule for embeddings: points all the same
    assert_sound(plain)


@pytest.mark.parametrize("kind", [Plain, Ours])
@pytest.mark.parametrize("mean_resizing", [False, True])
def test_tables_are_resized(kind, mean_resizing):
    net = kind(Config())
    before = net.table.points().detach()
    net.resize_token_embeddings(24, mean_resizing=mean_resizing)
    assert net.table.num_embeddings == 24
    torch.testing.assert_close(net.table.points()[:20], before)
    assert_sound(net)
    if kind is Ours and not mean_resizing:
        assert net.table.weight[20:, 1:].norm(dim=1).mean() > 0.5, "drawn by the table's own rule"
    net(torch.arange(24)[None])["logits"].sum().backward()
    assert net.table.weight.grad.shape == (24, 8)
    net.resize_token_embeddings(10)
    assert net.table.points().shape == (10, 8)


def test_heads_are_resized_with_their_tables():
    net = Ours(Config(classes=20))
    before = net.head.points().detach()
    net.resize_token_embeddings(24)
    assert net(INDEX)["logits"].shape == (4, 5, 24)
    torch.testing.assert_close(net.head.points()[:20], before)
    assert_sound(net)


def test_low_rank_adapters_of_the_parameters():
    peft = pytest.importorskip("peft")
    net = Ours(Config())
    names = ["q_proj.weight", "v_proj.weight", "linear1.weight", "table.weight", "head.weight"]
    adapted = peft.get_peft_model(net, peft.LoraConfig(target_parameters=names, r=2))
    before = adapted(INDEX)["logits"].detach()
    optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=0.05)
    seen = []
    handle = net.encoder.register_forward_hook(lambda *given: seen.append(given[-1]))
    for _ in range(5):
        optimizer.zero_grad()
        adapted(INDEX, INDEX % 5)["loss"].backward()
        optimizer.step()
    handle.remove()
    assert_on_sheet(seen[-1], manifold=net.encoder.manifold)
    trained = adapted(INDEX)["logits"].detach()
    assert (trained - before).abs().max() > 0.1
    merged = adapted.merge_and_unload()
    torch.testing.assert_close(merged(INDEX)["logits"], trained, rtol=1e-4, atol=1e-4)
    assert_sound(merged)


def test_adapters_that_would_add_to_points_are_refused():
    peft = pytest.importorskip("peft")
    adapted = peft.get_peft_model(Ours(Config()), peft.LoraConfig(target_modules=["table"], r=2))
    with pytest.raises(ValueError, match=r"nothing may be added to its points.*target_parameters"):
        adapted(INDEX)
    with pytest.raises(ValueError, match="not supported"):
        peft.get_peft_model(Ours(Config()), peft.LoraConfig(target_modules=["q_proj"], r=2))
