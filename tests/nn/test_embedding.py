"""The table of points: where rows start, what look-ups return, and what the gradients look like."""

import math

import pytest
import torch

from hybonet import Lorentz
from hybonet.geometry import expmap0, projx, to_poincare
from hybonet.nn import LorentzEmbedding

from . import plain


@pytest.mark.parametrize("dim", [4, 64, 256])
def test_rows_start_on_the_sheet_at_radius_one(manifold, dtype, dim):
    table = LorentzEmbedding(400, dim, manifold=manifold, dtype=dtype, form="paper")
    plain.assert_on_sheet(table.points(), manifold.K)
    radius = manifold.dist0(table.points())
    assert radius.square().mean().sqrt().item() == pytest.approx(math.sqrt((dim - 1) / dim), rel=0.1)


def test_scaled_rows_start_where_norms_put_points_and_are_ordinary_parameters(manifold, dtype):
    table = LorentzEmbedding(400, 65, padding_idx=3, manifold=manifold, dtype=dtype)
    plain.assert_on_sheet(table.points(), manifold.K)
    length = table.points()[:, 1:].norm(dim=-1)
    assert length.square().mean().sqrt().item() == pytest.approx(2.0 * (-1 / manifold.K) ** 0.5, rel=0.05)
    assert length[3] == 0
    assert not hasattr(table.weight, "manifold")
    torch.testing.assert_close(table(torch.tensor([5]))[:, 1:], 2.0 * (-1 / manifold.K) ** 0.5 * table.weight[5:6, 1:])
    again = LorentzEmbedding.from_pretrained(table.points().detach(), manifold=manifold)
    torch.testing.assert_close(again.weight, table.weight.detach())


def test_init_std_means_what_it_says(manifold):
    table = LorentzEmbedding(2000, 5, manifold=manifold, init_std=0.02, form="paper")
    tangent = manifold.logmap0(table.points())[:, 1:]
    assert tangent.std().item() == pytest.approx(0.02, rel=0.05)


def test_lookup_has_the_shape_of_the_indices(manifold, dtype):
    table = LorentzEmbedding(10, 4, manifold=manifold, dtype=dtype, form="paper")
    index = torch.tensor([[1, 2, 3], [3, 3, 0]])
    torch.testing.assert_close(table(index), table.points()[index])
    assert table(torch.tensor(3)).shape == (4,)


def test_space_is_stored_and_what_stands_where_time_would_does_not_matter(manifold):
    table = LorentzEmbedding(10, 4, manifold=manifold, form="paper")
    assert not table.weight[:, 0].any()
    points = table.points().detach()
    assert torch.equal(points[:, 1:], table.weight[:, 1:])
    with torch.no_grad():
        table.weight[:, 0] = 7.0
    assert torch.equal(table.points(), points)
    table(torch.arange(10)).square().sum().backward()
    assert not table.weight.grad[:, 0].any()


@pytest.mark.parametrize("assign", [True, False])
def test_older_files_with_points_are_checked_and_loaded(manifold, assign):
    old = LorentzEmbedding(10, 4, manifold=manifold, form="paper")
    points = old.points().detach()
    table = LorentzEmbedding(10, 4, manifold=manifold, form="paper")
    table.load_state_dict({"weight": points}, assign=assign)
    assert torch.equal(table.weight, old.weight)
    assert points[:, 0].all(), "what was given stays"
    with pytest.raises(RuntimeError, match=r"weight is off the hyperboloid at row 0.*\(K = "):
        LorentzEmbedding(10, 4, manifold=Lorentz(-7.0), form="paper").load_state_dict({"weight": points})


def test_padding_row_is_the_origin_and_is_not_trained(manifold, dtype):
    for padding in (2, -8):
        table = LorentzEmbedding(10, 4, padding_idx=padding, manifold=manifold, dtype=dtype, form="paper")
        assert table.padding_idx == 2
        torch.testing.assert_close(table.points()[2], manifold.origin(4, dtype=dtype))
        table(torch.tensor([1, 2, 2])).sum().backward()
        assert bool((table.weight.grad[2] == 0).all())
        assert bool((table.weight.grad[1, 1:] != 0).all())


def test_sparse_gradients_are_the_dense_ones(manifold):
    index = torch.tensor([[1, 2, 2], [5, 1, 0]])
    grads = []
    for sparse in (False, True):
        torch.manual_seed(3)
        table = LorentzEmbedding(7, 4, sparse=sparse, max_norm=0.5, manifold=manifold, form="paper")
        table(index).square().sum().backward()
        assert table.weight.grad.is_sparse == sparse
        grads.append(table.weight.grad.to_dense())
    torch.testing.assert_close(*grads)


class TestMaxNorm:
    def test_shortens_long_rows_and_leaves_short_ones(self, manifold, dtype):
        table = LorentzEmbedding(200, 6, max_norm=0.8, manifold=manifold, dtype=dtype, form="paper")
        before = table.weight.detach().clone()
        rows = table(torch.arange(200))
        assert torch.equal(table.weight, before)  # the table itself stays
        plain.assert_on_sheet(rows, manifold.K)
        length = before[:, 1:].norm(dim=-1)
        long = length > 0.8
        assert 0 < long.sum() < 200
        torch.testing.assert_close(rows[~long, 1:], before[~long, 1:])
        torch.testing.assert_close(rows[long, 1:], 0.8 * before[long, 1:] / length[long, None])

    def test_gradient_is_of_the_clipped_row(self):
        table = LorentzEmbedding(8, 4, max_norm=0.4, dtype=torch.float64, form="paper")
        index = torch.arange(8)

        def look_up(weight):
            return torch.func.functional_call(table, {"weight": weight}, (index,))

        assert torch.autograd.gradcheck(look_up, table.weight.detach().requires_grad_())

    def test_origin_has_a_finite_gradient(self):
        table = LorentzEmbedding(2, 4, padding_idx=0, max_norm=0.4, form="paper")
        with torch.no_grad():
            table.weight[1] = table.weight[0]
        table(torch.tensor([0, 1])).sum().backward()
        assert bool(table.weight.grad.isfinite().all())


def test_rows_follow_a_learned_curvature():
    manifold = Lorentz(-1.0, learnable=True)
    table = LorentzEmbedding(5, 4, manifold=manifold, form="paper")
    with torch.no_grad():
        manifold.log_neg_curvature.fill_(0.7)
    rows = table(torch.arange(5))
    plain.assert_on_sheet(rows, manifold.curvature)
    assert torch.equal(rows[:, 1:], table.weight[:, 1:])
    rows[:, 0].sum().backward()
    assert manifold.log_neg_curvature.grad.abs() > 0


def test_reset_parameters_draws_anew(manifold):
    table = LorentzEmbedding(5, 4, padding_idx=1, manifold=manifold, form="paper")
    before = table.weight.detach().clone()
    with torch.no_grad():
        table.weight[1] = table.weight[0]
    table.reset_parameters()
    assert not torch.isclose(table.weight[[0, 2, 3, 4], 1:], before[[0, 2, 3, 4], 1:]).any()
    torch.testing.assert_close(table.points()[1], manifold.origin(4))


class TestFromPretrained:
    def test_points(self, manifold, dtype):
        given = plain.points(manifold, 6, 4, dtype=dtype)
        table = LorentzEmbedding.from_pretrained(given, manifold=manifold, form="paper")
        torch.testing.assert_close(table.points(), given)
        assert table.weight.dtype == dtype
        assert not table.weight.requires_grad
        assert table.weight.manifold is manifold

    def test_ball_coordinates(self, manifold, dtype):
        given = to_poincare(plain.points(manifold, 6, 4, dtype=dtype), K=manifold.K)
        table = LorentzEmbedding.from_pretrained(given, space="poincare", manifold=manifold, freeze=False, form="paper")
        plain.assert_on_sheet(table.points(), manifold.K)
        torch.testing.assert_close(to_poincare(table.points(), K=manifold.K), given, **plain.tolerance(dtype))
        assert table.weight.requires_grad

    def test_tangent_vectors(self, manifold, dtype):
        given = torch.randn(6, 3, dtype=dtype)
        table = LorentzEmbedding.from_pretrained(given, space="tangent", manifold=manifold, form="paper")
        padded = torch.cat((torch.zeros(6, 1, dtype=dtype), given), dim=-1)
        torch.testing.assert_close(table.points(), expmap0(padded, K=manifold.K), check_stride=False)

    def test_options_reach_the_table(self, manifold):
        given = plain.points(manifold, 6, 4, dtype=torch.float32)
        table = LorentzEmbedding.from_pretrained(
            given, manifold=manifold, padding_idx=-1, max_norm=0.1, sparse=True, form="paper"
        )
        assert (table.padding_idx, table.max_norm, table.sparse) == (5, 0.1, True)
        assert torch.equal(table.weight[5, 1:], given[5, 1:])  # as in nn.Embedding, given rows are kept

    def test_points_off_the_sheet(self, manifold):
        given = plain.points(manifold, 6, 4, dtype=torch.float32)
        given[3, 0] += 0.5
        with pytest.raises(ValueError, match=r"vectors is off the hyperboloid at row 3.*projx"):
            LorentzEmbedding.from_pretrained(given, manifold=manifold, form="paper")
        table = LorentzEmbedding.from_pretrained(given, manifold=manifold, check=False, form="paper")
        plain.assert_on_sheet(table.points(), manifold.K)  # time is never trusted
        LorentzEmbedding.from_pretrained(
            projx(given, K=manifold.K), manifold=manifold, form="paper"
        )  # the remedy works

    def test_vectors_outside_the_ball(self, manifold):
        radius = (-1 / manifold.K) ** 0.5
        given = torch.tensor([[0.1, 0.2], [radius, 0.3]])
        with pytest.raises(ValueError, match=r"inside the ball of radius .*the longest is .*check=False"):
            LorentzEmbedding.from_pretrained(given, space="poincare", manifold=manifold, form="paper")
        table = LorentzEmbedding.from_pretrained(given, space="poincare", manifold=manifold, check=False, form="paper")
        plain.assert_on_sheet(table.points(), manifold.K)
        with pytest.raises(ValueError, match="longest is nan"):
            LorentzEmbedding.from_pretrained(
                torch.tensor([[math.nan, 0.0]]), space="poincare", manifold=manifold, form="paper"
            )

    def test_other_mistakes(self):
        with pytest.raises(ValueError, match=r"a matrix with one row an embedding, got shape \(4,\)"):
            LorentzEmbedding.from_pretrained(torch.ones(4), form="paper")
        with pytest.raises(ValueError, match="'lorentz', 'poincare' or 'tangent', got 'klein'"):
            LorentzEmbedding.from_pretrained(torch.ones(4, 3), space="klein", form="paper")
        with pytest.raises(ValueError, match="NaN or infinite coordinate at row 0"):
            LorentzEmbedding.from_pretrained(torch.full((1, 3), math.nan), form="paper")


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((0, 4), {}, "at least 1 row .*num_embeddings=0"),
        ((3, 1), {}, "2 ambient coordinates.*embedding_dim=1"),
        ((3, 4), {"padding_idx": 3}, "padding_idx within 3 rows, got 3"),
        ((3, 4), {"padding_idx": -4}, "padding_idx within 3 rows, got -4"),
        ((3, 4), {"max_norm": 0.0}, "max_norm > 0, got 0.0"),
    ],
)
def test_wrong_options_are_explained(sizes, options, message):
    with pytest.raises(ValueError, match=message):
        LorentzEmbedding(*sizes, **options, form="paper")


def test_repr_tells_the_options():
    text = repr(LorentzEmbedding(3, 4, padding_idx=1, max_norm=1.5, sparse=True, form="paper"))
    assert "3, 4, padding_idx=1, max_norm=1.5, sparse=True" in text
