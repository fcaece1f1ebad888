"""What pictures of types say: places on the disk, and the title of the distances."""

from pathlib import Path

import pytest
import torch
from scipy.stats import spearmanr

from hybonet import Lorentz
from hybonet.tasks.typing.pictures import draw_level_radii, radial_view, radii_words


def test_one_type_alone_lies_at_its_own_distance() -> None:
    manifold = Lorentz()
    points = manifold.lift(torch.tensor([[0.0, 1.5, 0.0]], dtype=torch.float64))
    flat = radial_view(points, manifold)
    assert flat.shape == (1, 2)
    torch.testing.assert_close(2 * torch.atanh(flat.norm(dim=-1)), manifold.dist0(points))


def test_types_equally_frequent_share_their_rank() -> None:
    frequency = torch.tensor([7.0, 1.0, 1.0, 1.0, 1.0, 3.0])
    radius = torch.tensor([0.1, 0.9, 0.8, 0.7, 0.6, 0.2])
    expected = spearmanr(frequency, radius).statistic
    assert f"frequency {expected:+.2f}" in radii_words({"all": radius}, frequency, radius)


@pytest.mark.parametrize(
    ("radii", "answer"), [((0.2, 0.5, 0.9), "yes"), ((0.2, 0.9, 0.5), "no"), ((0.9, 0.5, 0.2), "no")]
)
def test_the_title_says_whether_general_types_are_nearer(radii: tuple[float, ...], answer: str) -> None:
    parts = {level: torch.tensor([radius]) for level, radius in zip(("a", "b", "c"), radii, strict=True)}
    told = radii_words(parts, torch.tensor([3, 2, 1]), torch.tensor(radii))
    assert told.endswith(f"\ngeneral types nearer to the centre: {answer}")


def test_a_level_without_types_is_left_out(tmp_path: Path) -> None:
    parts = {"a": torch.tensor([0.2]), "b": torch.tensor([]), "c": torch.tensor([0.5])}
    told = radii_words(parts, torch.tensor([3, 1]), torch.tensor([0.2, 0.5]))
    assert told.startswith("a 0.20, c 0.50; ")
    assert told.endswith("centre: yes")
    draw_level_radii(list(parts.values()), list(parts), tmp_path / "radii.png", title=told, dpi=60)


def test_one_type_alone_has_numbers_in_its_title() -> None:
    one = torch.tensor([0.4])
    assert radii_words({"all": one}, torch.tensor([3]), one) == "all 0.40; rank correlation with frequency +0.00"
