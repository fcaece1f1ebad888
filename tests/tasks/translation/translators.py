"""Tiny translators of every kind, and sentences for them."""

import torch

from hybonet.tasks.translation.models.convolution_translator import ConvolutionTranslator
from hybonet.tasks.translation.models.euclidean_translator import EuclideanTranslator, HyperbolicAttentionTranslator
from hybonet.tasks.translation.models.poincare_translator import PoincareTranslator
from hybonet.tasks.translation.models.translator import Translator

KINDS = (
    Translator,
    EuclideanTranslator,
    HyperbolicAttentionTranslator,
    ConvolutionTranslator,
    PoincareTranslator,
)
SOURCE, TARGET = 30, 25
LAYERS, HEADS, DIM = 2, 2, 8


def build(kind, dtype=torch.float64, source=SOURCE, target=TARGET, **options):
    torch.manual_seed(0)
    model = kind(source, target, DIM, **{"layers": LAYERS, "heads": HEADS, "max_length": 12, **options})
    return model.to(dtype).eval()


def sentences():
    """Three pairs: a whole one, a padded one, and one whose source is empty."""
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(4, SOURCE, (3, 6), generator=generator)
    target_in = torch.randint(4, TARGET, (3, 5), generator=generator)
    labels = torch.randint(4, TARGET, (3, 5), generator=generator)
    source[1, 4:], source[2] = 0, 0
    target_in[:, 0], target_in[1, 3:], labels[1, 3:] = 2, 0, 0
    return source, target_in, labels
