"""Pictures of sentences that are hardly any."""

from pathlib import Path

import pytest
import torch

from hybonet import Lorentz
from hybonet.tasks.probing.pictures import ProbedSentence, draw_sentence

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("manifold", [Lorentz(), None])
@pytest.mark.parametrize("is_punctuation", [False, True])
def test_a_sentence_of_one_word(manifold: Lorentz | None, is_punctuation: bool, tmp_path: Path) -> None:
    points = Lorentz().random_normal(1, 6)
    sentence = ProbedSentence(("Go",), (0,), (0,), torch.tensor([is_punctuation]), points, manifold)
    draw_sentence(sentence, tmp_path / "one.png", title="one word", dpi=40)
    assert (tmp_path / "one.png").read_bytes()[1:4] == b"PNG"
