"""What pictures of types say: places on the disk, and the title of the distances."""

import torch

from hybonet import Lorentz
from hybonet.tasks.typing_pictures import radial_view


def test_one_type_alone_lies_at_its_own_distance() -> None:
    manifold = Lorentz()
    points = manifold.lift(torch.tensor([[0.0, 1.5, 0.0]], dtype=torch.float64))
    flat = radial_view(points, manifold)
    assert flat.shape == (1, 2)
    torch.testing.assert_close(2 * torch.atanh(flat.norm(dim=-1)), manifold.dist0(points))
