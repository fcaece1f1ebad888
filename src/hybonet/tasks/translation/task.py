"""Machine translation as a task of the training loop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal

from torch import Tensor, nn

from hybonet.data.text.sentence_pieces import SentencePieces
from hybonet.data.text.subword_sampling import SubwordSampling
from hybonet.data.text.token_pairs import TextBatch, TokenBatches
from hybonet.data.text.tokenizer import BOS, EOS, PAD
from hybonet.data.text.translation_data import TranslationData
from hybonet.geometry import Lorentz
from hybonet.optim import RiemannianAdam
from hybonet.tasks.translation.models.translation_model import TranslatorBase
from hybonet.tasks.translation.settings import HyboNetSettings, TransformerSettings, TranslationSettings
from hybonet.training import generator_for
from hybonet.training.random_numbers import seed_for

__all__ = ["TranslationSettings", "TranslationTask", "build_translation_model", "perplexity"]


#: The models by the names that settings know them by, in their modules.
_MODELS = {
    "hybonet": "translator:Translator",
    "euclidean": "euclidean_translator:EuclideanTranslator",
    "hatt": "euclidean_translator:HyperbolicAttentionTranslator",
    "convolution": "convolution_translator:ConvolutionTranslator",
    "poincare": "poincare_translator:PoincareTranslator",
}


class TranslationTask:
    """Fills in :class:`~hybonet.training.Task` for parallel text."""

    name = "translation"
    monitor, monitor_label = "perplexity", "validation perplexity"
    higher_is_better = False

    def __init__(self, settings: TranslationSettings, data: TranslationData) -> None:
        if not len(data.tokens.get("valid", ())):
            raise ValueError(
                f"expected validation pairs to choose the best model by, but {data.source} has none; give valid files"
            )
        self.settings, self.data = settings, data
        self.train_batches = TokenBatches(data.tokens["train"], settings.batch_tokens)
        self._sampling: SubwordSampling | None = None

    def build_model(self) -> TranslatorBase:
        model = build_translation_model(self.settings, len(self.data.source_tokenizer), len(self.data.target_tokenizer))
        if self.settings.compile:
            model.compile(dynamic=True)
        return model

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        s = self.settings
        exact = isinstance(s, HyboNetSettings) and s.optimizer == "riemannian"
        update: Literal["exact", "chart"] = "exact" if exact else "chart"
        return RiemannianAdam(model, lr=s.lr, weight_decay=s.weight_decay, update=update, precondition=False)

    def batches_per_epoch(self) -> int:
        return len(self.train_batches)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[TextBatch]:
        batches = self.train_batches
        if self.settings.subword_sampling is not None:
            batches = batches.recut(self._sampled_ways().draw(seed_for(self.settings.seed, epoch)))
        for rows in self.train_batches.shuffled(generator_for(self.settings.seed, epoch))[start:]:
            yield batches.batch(rows, rank, world)

    def _sampled_ways(self) -> SubwordSampling:
        """Prepared with the first epoch: it takes a while, and who only reads a run does not need it."""
        if self._sampling is None:
            s, tokenizers = self.settings, (self.data.source_tokenizer, self.data.target_tokenizer)
            source, target = (each for each in tokenizers if isinstance(each, SentencePieces))
            power = s.subword_sampling or 1.0
            self._sampling = SubwordSampling(
                self.data.tokens["train"], source, target, power=power, max_length=s.max_length
            )
        return self._sampling

    def loss(self, model: nn.Module, batch: TextBatch) -> Tensor:
        batch = batch.to(self.settings.device)
        smoothing = self.settings.label_smoothing
        mean = model(batch.source, batch.target_in, batch.target_out, label_smoothing=smoothing)
        return mean if batch.share == 1.0 else mean * batch.share

    def validate(self, model: nn.Module) -> dict[str, float]:
        return {"perplexity": perplexity(model, self.data, "valid", self.settings.batch_tokens)}

    def describe(self) -> dict[str, Any]:
        data = self.data
        return {
            "task": self.name,
            "protocol": "lowest perplexity on valid; beam search; sacreBLEU and chrF of plain text, and BLEU of "
            "lowercased Moses tokens",
            "data": {
                "source": data.source,
                "direction": "-".join(data.languages),
                "sha256": dict(data.sha256),
                **data.statistics(),
                "notes": list(data.notes),
            },
        }


def build_translation_model(
    settings: TranslationSettings, source_vocabulary: int, target_vocabulary: int
) -> TranslatorBase:
    """The untrained model that settings ask for."""
    s = settings
    own: dict[str, Any] = {} if s.positions is None else {"positions": s.positions}
    if isinstance(s, HyboNetSettings):
        own |= {"manifold": Lorentz(s.K, learnable=s.learn_curvature), "init_std": s.init_std}
        own |= {"form": s.form, "residual_dropout": s.residual_dropout, "norm_first": s.norm_first}
    elif isinstance(s, TransformerSettings):
        own["norm_first"] = bool(s.norm_first)
    module, _, name = _MODELS[s.model].partition(":")
    return getattr(import_module(f"hybonet.tasks.translation.models.{module}"), name)(
        source_vocabulary,
        target_vocabulary,
        s.dim,
        layers=s.layers,
        heads=s.heads,
        feedforward=s.feedforward or 4 * s.dim,
        dropout=s.dropout,
        attention_dropout=s.attention_dropout,
        share_vocabulary=s.share_vocabulary,
        max_length=s.max_length + 1,  # the begin of a translation and the end of a sentence take a place
        padding=PAD,
        begin=BOS,
        end=EOS,
        **own,
    )


def perplexity(model: nn.Module, data: TranslationData, split: str, batch_tokens: int) -> float:
    """The exponential of the mean negative log-probability of a token of the translations, ends included."""
    device = next(model.parameters()).device
    batches = TokenBatches(data.tokens[split], batch_tokens)
    total, tokens = 0.0, 0
    for rows in batches.in_order():
        batch = batches.batch(rows).to(device)
        total += batch.tokens * float(model(batch.source, batch.target_in, batch.target_out))
        tokens += batch.tokens
    return math.exp(min(total / tokens, 700.0))  # of an untrained model it may be beyond what a float holds
