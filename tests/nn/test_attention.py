"""Lorentz attention against the n x n definition, its laws, and nn.MultiheadAttention's conventions."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import prune

from hybonet import Lorentz
from hybonet.geometry import centroid, random_boost, random_rotation, sqdist, to_sheet, transform
from hybonet.nn import (
    KVCache,
    LorentzLinear,
    LorentzMultiheadAttention,
    LorentzTransformerEncoderLayer,
    attention_weights,
    lorentz_attention,
)
from hybonet.nn.attention import combine_masks
from hybonet.nn.dropout import kept

from . import plain

N, H, L, S, D, E = 2, 3, 4, 5, 6, 4  # batch, heads, queries, keys, coordinates of keys, coordinates of values


def operands(manifold, dtype, *, keys=S, values=D, std=0.6):
    sizes = ((N, H, L, D), (N, H, keys, D), (N, H, keys, values))
    return [plain.points(manifold, *size, dtype=dtype, std=std).requires_grad_() for size in sizes]


def some_mask(kind, dtype):
    keep = torch.rand(N, 1, L, S) < 0.6
    keep[..., 0] = True
    if kind == "none":
        return None
    if kind == "bool":
        return keep
    return torch.randn(L, S, dtype=dtype).masked_fill(~keep[0, 0], -math.inf)


class TestFunction:
    @pytest.mark.parametrize("mask_kind", ["none", "bool", "float"])
    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("scale", [None, 0.8, "tensor"])
    def test_is_the_definition(self, manifold, dtype, mask_kind, causal, scale):
        q, k, v = operands(manifold, dtype)
        inputs = [q, k, v]
        if scale == "tensor":
            scale = torch.tensor(0.7, dtype=dtype, requires_grad=True)
            inputs.append(scale)
        mask = some_mask(mask_kind, dtype)
        out = lorentz_attention(q, k, v, manifold=manifold, attn_mask=mask, is_causal=causal, scale=scale)
        if causal:
            keep = torch.ones(L, S).tril().bool()
            mask = keep if mask is None else combine_masks(mask, keep)
        expected = plain.attention(q, k, v, manifold.K, 1 / math.sqrt(D) if scale is None else scale, mask)
        plain.assert_on_sheet(out, manifold.K)
        plain.assert_same(out, expected, inputs, dtype)

    @pytest.mark.parametrize("mask_kind", ["bool", "float"])
    def test_causal_beside_a_mask_needs_no_particular_kernel(self, mask_kind):
        """torch documents it as an error to give its attention both; some of its kernels accept it."""
        manifold = Lorentz()
        q, k, v = operands(manifold, torch.float64)
        mask = some_mask(mask_kind, torch.float64)
        expected = lorentz_attention(q, k, v, manifold=manifold, attn_mask=mask, is_causal=True)
        with sdpa_kernel(SDPBackend.MATH):
            out = lorentz_attention(q, k, v, manifold=manifold, attn_mask=mask, is_causal=True)
        torch.testing.assert_close(out, expected)

    @pytest.mark.parametrize("values", [D, E])
    def test_learned_curvature_and_other_value_sizes(self, dtype, K, values):
        manifold = Lorentz(K, learnable=True).to(dtype)
        q, k, v = operands(manifold, dtype, values=values)
        out = lorentz_attention(q, k, v, manifold=manifold)
        curvature = -manifold.log_neg_curvature.exp()
        expected = plain.attention(q, k, v, curvature, 1 / math.sqrt(D))
        assert out.shape == (N, H, L, values)
        plain.assert_same(out, expected, [q, k, v, manifold.log_neg_curvature], dtype)

    def test_is_the_geometrys_centroid_of_the_geometrys_distances(self, manifold):
        q, k, v = operands(manifold, torch.float64)
        square = sqdist(q.unsqueeze(-2), k.unsqueeze(-3), K=manifold.K)
        expected = centroid(v.unsqueeze(-3), torch.softmax(-0.4 * square, dim=-1), K=manifold.K)
        torch.testing.assert_close(lorentz_attention(q, k, v, manifold=manifold, scale=0.4), expected)

    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("std", [0.01, 0.3, 0.8])
    def test_fused_path_is_the_general_path(self, manifold, dtype, causal, std):
        q, k, v = operands(manifold, dtype, std=std)
        fused = lorentz_attention(q, k, v, manifold=manifold, is_causal=causal, scale=0.3)
        scale = torch.tensor(0.3, dtype=dtype)  # a tensor takes the general path
        general = lorentz_attention(q, k, v, manifold=manifold, is_causal=causal, scale=scale)
        assert "FlashCentroid" in type(fused.grad_fn).__name__
        assert "ToSheet" in type(general.grad_fn).__name__
        plain.assert_same(fused, general, [q, k, v], dtype)

    @pytest.mark.parametrize("isometry", [random_boost, random_rotation])
    def test_moves_with_its_inputs(self, manifold, dtype, isometry):
        q, k, v = operands(manifold, dtype)
        matrix = isometry(D - 1, dtype=dtype)
        moved = lorentz_attention(*(transform(matrix, x) for x in (q, k, v)), manifold=manifold)
        expected = transform(matrix, lorentz_attention(q, k, v, manifold=manifold))
        torch.testing.assert_close(moved, expected, **plain.tolerance(dtype))
        other = lorentz_attention(transform(matrix, q), k, v, manifold=manifold)
        assert not torch.allclose(other, expected, atol=0.05)

    @pytest.mark.parametrize("mask_kind", ["bool", "float"])
    @pytest.mark.parametrize("general", [False, True])
    def test_nothing_to_attend_to_is_the_origin(self, manifold, dtype, mask_kind, general):
        q, k, v = operands(manifold, dtype)
        mask = torch.ones(L, S, dtype=torch.bool)
        mask[1] = False
        if mask_kind == "float":
            mask = torch.zeros(L, S, dtype=dtype).masked_fill(~mask, -math.inf)
        scale = torch.tensor(0.5, dtype=dtype) if general else 0.5
        out = lorentz_attention(q, k, v, manifold=manifold, attn_mask=mask, scale=scale)
        torch.testing.assert_close(out[:, :, 1], manifold.origin(N, H, D, dtype=dtype))
        weights = attention_weights(q, k, attn_mask=mask, scale=scale)
        assert bool((weights[:, :, 1] == 0).all())
        loss = (out * torch.randn_like(out)).sum() + (weights * torch.randn_like(weights)).sum()
        grads = plain.gradients(loss, [q, k, v])
        assert all(bool(g.isfinite().all()) for g in grads)
        assert bool((grads[0][:, :, 1] == 0).all())

    def test_no_keys_or_no_queries(self, manifold, dtype):
        q, k, v = operands(manifold, dtype, keys=0)
        out = lorentz_attention(q, k, v, manifold=manifold)
        torch.testing.assert_close(out, manifold.origin(N, H, L, D, dtype=dtype))
        assert lorentz_attention(k, q, q, manifold=manifold).shape == (N, H, 0, D)
        nothing = q[:0]
        assert lorentz_attention(nothing, nothing, nothing, manifold=manifold).shape == (0, H, L, D)

    def test_dropout_changes_weights_but_not_the_sheet(self, manifold, dtype):
        q, k, v = operands(manifold, dtype)
        dropped = lorentz_attention(q, k, v, manifold=manifold, dropout_p=0.5)
        assert not torch.allclose(dropped, lorentz_attention(q, k, v, manifold=manifold), atol=0.01)
        plain.assert_on_sheet(dropped, manifold.K)
        nothing = lorentz_attention(q, k, v, manifold=manifold, dropout_p=1.0)
        torch.testing.assert_close(nothing, manifold.origin(N, H, L, D, dtype=dtype))
        assert all(bool(g.isfinite().all()) for g in plain.gradients(nothing.sum(), [q, k, v]))

    @pytest.mark.parametrize("is_causal", [False, True])
    def test_dropout_is_that_of_the_weights(self, manifold, dtype, is_causal):
        """The centroid of the weights that are left, as they are: the softmax of the keys that are left only scales."""
        q, k, v = operands(manifold, dtype, keys=L)
        padding = torch.ones(L, L, dtype=torch.bool)
        padding[:, 0] = False
        torch.manual_seed(5)
        dropped = lorentz_attention(q, k, v, manifold=manifold, attn_mask=padding, dropout_p=0.3, is_causal=is_causal)
        torch.manual_seed(5)
        left = kept(torch.Size([N, H, L, L]), 0.3)
        assert 0 < left.double().mean() < 1
        weights = attention_weights(q, k, attn_mask=padding, is_causal=is_causal) * left
        expected = to_sheet(weights @ v, K=manifold.K)
        torch.testing.assert_close(dropped, expected, rtol=1e-5, atol=1e-4)

    def test_dropout_shows_nothing_that_a_large_number_hides(self, manifold, dtype):
        """Where all visible keys of a query are dropped, the softmax must not turn to the hidden ones."""
        q, k, v = operands(manifold, dtype, keys=L)
        mask = torch.zeros(L, L, dtype=dtype).masked_fill(torch.ones(L, L).triu(1).bool(), -1e9)
        for _ in range(30):
            out = lorentz_attention(q, k, v, manifold=manifold, attn_mask=mask, dropout_p=0.5)
            (of_values,) = torch.autograd.grad(out[:, :, 0].sum(), v)
            assert bool((of_values[:, :, 1:] == 0).all())

    @pytest.mark.parametrize("wrong", [-0.1, 1.5])
    def test_a_probability_that_is_none(self, manifold, dtype, wrong):
        q, k, v = operands(manifold, dtype)
        with pytest.raises(ValueError, match="expected dropout_p between 0 and 1"):
            lorentz_attention(q, k, v, manifold=manifold, dropout_p=wrong)

    @pytest.mark.parametrize("lead", [(), (H,), (2, N, H)])
    def test_any_number_of_leading_dimensions(self, lead):
        manifold = Lorentz()
        q, k, v = (plain.points(manifold, *lead, n, D, dtype=torch.float64) for n in (L, S, S))
        expected = plain.attention(q, k, v, -1.0, 1 / math.sqrt(D))
        torch.testing.assert_close(lorentz_attention(q, k, v, manifold=manifold), expected)

    def test_broadcast_keys(self):
        manifold = Lorentz()
        q, k, v = operands(manifold, torch.float64)
        out = lorentz_attention(q, k[:1], v[:1], manifold=manifold)
        expected = plain.attention(q, k[:1], v[:1], -1.0, 1 / math.sqrt(D))
        torch.testing.assert_close(out, expected)

    @pytest.mark.parametrize("causal", [False, True])
    def test_fused_path_never_holds_a_matrix_of_all_pairs(self, causal):
        manifold, length = Lorentz(), 1024
        q, k, v = (plain.points(manifold, 1, 1, length, 8, dtype=torch.float32).requires_grad_() for _ in range(3))
        with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            lorentz_attention(q, k, v, manifold=manifold, is_causal=causal).sum().backward()
        largest = max(event.cpu_memory_usage for event in profile.events())
        assert 0 < largest < length * length * 4 / 2
        with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            attention_weights(q, k)
        assert max(event.cpu_memory_usage for event in profile.events()) >= length * length * 4

    def test_fused_path_keeps_only_inputs_output_and_two_numbers_a_row(self):
        manifold, kept = Lorentz(), []
        q, k, v = (plain.points(manifold, 1, 2, 64, 8, dtype=torch.float32).requires_grad_() for _ in range(3))

        def note(tensor):
            kept.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            lorentz_attention(q, k, v, manifold=manifold)
        assert sum(kept) <= 4 * q.numel() + 2 * 2 * 64

    def test_wrong_shapes_are_explained(self):
        manifold = Lorentz()
        q, k, v = operands(manifold, torch.float32)
        with pytest.raises(ValueError, match=r"equally many ambient coordinates.*got q .*6.* and k .*5"):
            lorentz_attention(q, k[..., :5], v, manifold=manifold)
        with pytest.raises(ValueError, match="expected one value a key"):
            lorentz_attention(q, k, v[..., :3, :], manifold=manifold)


class TestWeights:
    @pytest.mark.parametrize("mask_kind", ["none", "bool", "float"])
    @pytest.mark.parametrize("causal", [False, True])
    def test_are_the_softmax_of_negative_squared_distances(self, manifold, dtype, mask_kind, causal):
        q, k, _ = operands(manifold, dtype)
        mask = some_mask(mask_kind, dtype)
        got = attention_weights(q, k, attn_mask=mask, is_causal=causal, scale=0.9)
        if causal:
            keep = torch.ones(L, S).tril().bool()
            mask = keep if mask is None else combine_masks(mask, keep)
        torch.testing.assert_close(got, plain.weights(q, k, manifold.K, 0.9, mask), **plain.tolerance(dtype))

    def test_combined_masks_forbid_what_either_forbids(self):
        flags = torch.tensor([[True, True, False, False]]), torch.tensor([[True, False, True, False]])
        assert combine_masks(*flags).tolist() == [[True, False, False, False]]
        bias = torch.tensor([[1.0, -math.inf, 2.0, 3.0]])
        for merged in (combine_masks(flags[0], bias), combine_masks(bias, flags[0])):
            assert merged.tolist() == [[1.0, -math.inf, -math.inf, -math.inf]]
        assert combine_masks(bias, bias).tolist() == [[2.0, -math.inf, 4.0, 6.0]]


def module(manifold, dtype=torch.float64, **options):
    options = {"form": "paper", **options}
    linear = options.pop("linear", {"scale": 2.0 * (-1 / manifold.curvature) ** 0.5})
    layer = LorentzMultiheadAttention(8, 2, manifold=manifold, dtype=dtype, linear=linear, **options)
    with torch.no_grad():
        for p in layer.parameters():
            if p.numel() > 1:
                p.normal_(std=0.4)
    return layer.eval()


def by_hand(layer, query, key, value, mask=None, residual=None):
    """Separate projections by the written formula, naive attention per head, heads side by side, output map."""
    K, size = layer.manifold.K, layer.head_dim
    heads = []
    for i in range(layer.num_heads):
        rows = slice(i * size, (i + 1) * size)
        q, k, v = (
            plain.linear(x, p.weight[rows], None if p.bias is None else p.bias[rows], p.scale, K)
            for p, x in ((layer.q_proj, query), (layer.k_proj, key), (layer.v_proj, value))
        )
        scale = 1 / math.sqrt(size) if layer.softmax_scale is None else 1 / layer.softmax_scale
        heads.append(plain.attention(q, k, v, K, scale, mask[..., i, :, :] if mask is not None else None))
    out = layer.out_proj
    return plain.linear(torch.cat(heads, -1), out.weight, out.bias, out.scale, K, residual=residual)


def test_scaled_self_attention_is_the_written_definition(manifold, dtype):
    """Logits are those of Euclidean attention in units, with the time coordinates' product beside them."""
    layer = module(manifold, dtype, form="scaled", learnable_scale=True, linear={})
    x = plain.points(manifold, N, L, 8, dtype=dtype).requires_grad_()
    q, k, v = (plain.ungated(p, x) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    unit = 2.0 * (-1.0 / manifold.K) ** 0.5 / 7**0.5
    scale = 1.0 / (2.0 * unit**2 * 3**0.5) / layer.softmax_scale
    heads = [plain.attention(*(each[..., i, :] for each in (q, k, v)), manifold.K, scale) for i in range(2)]
    assert layer.out_proj.in_unit == pytest.approx((1.0 + 4.0 * 3 / (2 * 7)) ** 0.5)
    out = plain.ungated(layer.out_proj, torch.cat(heads, -1), x)
    plain.assert_same(layer(x, residual=x)[0], out, [x, *layer.parameters()], dtype)
    torch.testing.assert_close(layer(x)[0], layer(x, x.clone(), x.clone())[0], **plain.tolerance(dtype))


def test_even_attention_tells_the_output_map_the_mean_of_the_values():
    """The centroid of many values is shorter than their mean; the output map's units make up for it."""
    torch.manual_seed(0)
    layer = LorentzMultiheadAttention(129, 1).double()
    values = layer.manifold.lift(2.0 * F.normalize(torch.randn(4000, 128, dtype=torch.float64), dim=-1) * 0.5**0.5)
    mean = values[:, 1:].mean(0)
    centroid = layer.manifold.centroid(values)[1:]
    torch.testing.assert_close(layer.out_proj.in_unit * centroid, mean, rtol=1e-3, atol=1e-6)


def test_hooks_of_the_projections_fire():
    layer, seen = LorentzMultiheadAttention(8, 2), []
    layer.k_proj.register_forward_hook(lambda *_: seen.append("k"))
    layer(layer.manifold.random_normal(2, 3, 8))
    assert seen == ["k"]


def test_hooks_of_all_modules_fire_for_inner_layers():
    layer, seen = LorentzTransformerEncoderLayer(8, 2, 12), []
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: seen.append(module))
    try:
        layer(layer.manifold.random_normal(2, 3, 8))
    finally:
        handle.remove()
    assert {module for module in layer.modules() if isinstance(module, LorentzLinear)} <= set(seen)


def test_pruning_changes_what_attention_computes():
    layer = LorentzMultiheadAttention(8, 2)
    x = layer.manifold.random_normal(2, 3, 8)
    before = layer(x)[0]
    for part in (layer.q_proj, layer.k_proj, layer.v_proj):
        prune.l1_unstructured(part, "weight", amount=0.5)
    pruned = layer(x)[0]
    assert not torch.allclose(pruned, before, atol=1e-3)
    for part in (layer.q_proj, layer.k_proj, layer.v_proj):
        prune.remove(part, "weight")
    torch.testing.assert_close(layer(x)[0], pruned, rtol=1e-4, atol=1e-4)


class TestModule:
    @pytest.mark.parametrize("options", [{}, {"bias": False}, {"learnable_scale": True}], ids=str)
    def test_self_attention_is_the_written_definition(self, manifold, dtype, options):
        layer = module(manifold, dtype, **options)
        x = plain.points(manifold, N, L, 8, dtype=dtype).requires_grad_()
        out, weights = layer(x, residual=x)
        assert weights is None
        plain.assert_same(out, by_hand(layer, x, x, x, residual=x), [x, *layer.parameters()], dtype)

    def test_packed_projection_is_the_separate_projections(self, manifold, dtype):
        layer = module(manifold, dtype, linear={"scale": 3.0})
        with torch.no_grad():
            layer.k_proj.log_scale.fill_(0.5)  # one λ per projection
        x = plain.points(manifold, N, L, 8, dtype=dtype).requires_grad_()
        packed, _ = layer(x)
        separate, _ = layer(x, x.clone(), x.clone())
        plain.assert_same(packed, separate, [x, *layer.parameters()], dtype)

    def test_options_that_cannot_be_packed(self, manifold, dtype):
        options = {"activation": torch.tanh, "gate_bias": False, "learnable_scale": False}
        layer = module(manifold, dtype, form="paper_code", linear=options)
        x = plain.points(manifold, N, L, 8, dtype=dtype)
        torch.testing.assert_close(layer(x)[0], layer(x, x.clone(), x.clone())[0])

    def test_cross_attention_with_other_sizes(self, manifold, dtype):
        layer = module(manifold, dtype, kdim=5, vdim=7)
        q, k, v = (plain.points(manifold, N, n, d, dtype=dtype) for n, d in ((L, 8), (S, 5), (S, 7)))
        torch.testing.assert_close(layer(q, k, v)[0], by_hand(layer, q, k, v), **plain.tolerance(dtype))
        with pytest.raises(ValueError, match="expected input with 5 ambient coordinates"):
            layer(q)

    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("padding", ["none", "bool", "float"])
    @pytest.mark.parametrize("attn", ["none", "bool", "float", "per head"])
    def test_masks_as_in_torch(self, causal, padding, attn):
        """True = ignore, float = added to the logits; the oracle is told the opposite, True = attend."""
        manifold = Lorentz(-0.3)
        layer = module(manifold)
        x = plain.points(manifold, N, L, 8, dtype=torch.float64)
        expected = torch.zeros(N, 2, L, L, dtype=torch.float64)
        attn_mask = key_padding_mask = None
        if attn != "none":
            attn_mask = (torch.rand(N * 2, L, L) < 0.3) if attn == "per head" else (torch.rand(L, L) < 0.3)
            attn_mask[..., 0] = False
            whole = attn_mask.view(N, 2, L, L) if attn == "per head" else attn_mask
            expected = expected.masked_fill(whole, -math.inf)
            if attn == "float":
                attn_mask = torch.randn(L, L, dtype=torch.float64).masked_fill(attn_mask, -math.inf)
                expected = attn_mask.expand(N, 2, L, L)
        if padding != "none":
            key_padding_mask = torch.tensor([[False, False, True, False], [False, False, False, True]])
            expected = expected.masked_fill(key_padding_mask[:, None, None], -math.inf)
            if padding == "float":
                key_padding_mask = torch.zeros(N, L, dtype=torch.float64).masked_fill(key_padding_mask, -math.inf)
        if causal:
            expected = expected.masked_fill(torch.ones(L, L).triu(1).bool(), -math.inf)
        out, weights = layer(
            x,
            key_padding_mask=key_padding_mask,
            attn_mask=attn_mask,
            is_causal=causal,
            need_weights=True,
            average_attn_weights=False,
        )
        torch.testing.assert_close(out, by_hand(layer, x, x, x, expected))
        assert bool((weights[expected.isinf()] == 0).all())
        torch.testing.assert_close(weights.sum(-1), torch.ones(N, 2, L, dtype=torch.float64))
        _, average = layer(
            x, key_padding_mask=key_padding_mask, attn_mask=attn_mask, is_causal=causal, need_weights=True
        )
        torch.testing.assert_close(average, weights.mean(1))

    def test_all_padding_gives_finite_points(self, manifold, dtype):
        layer = module(manifold, dtype)
        x = plain.points(manifold, N, L, 8, dtype=dtype).requires_grad_()
        padding = torch.tensor([[False] * L, [True] * L])
        out, weights = layer(x, key_padding_mask=padding, need_weights=True, is_causal=True)
        plain.assert_on_sheet(out, manifold.K)
        origins = manifold.origin(2, 4, dtype=dtype).flatten().expand(L, 8)
        torch.testing.assert_close(out[1], layer.out_proj(origins))
        assert bool((weights[1] == 0).all())
        loss = out.square().sum() + weights.square().sum()
        assert all(bool(g.isfinite().all()) for g in plain.gradients(loss, [x, *layer.parameters()]))

    def test_unbatched_and_batch_second(self, dtype):
        manifold = Lorentz(-2.5)
        first = module(manifold, dtype, batch_first=True)
        second = LorentzMultiheadAttention(8, 2, form="paper", batch_first=False, manifold=manifold, dtype=dtype)
        second.load_state_dict(first.state_dict())
        x, memory = (plain.points(manifold, N, n, 8, dtype=dtype) for n in (L, S))
        padding = torch.tensor([[False] * S, [False] * (S - 2) + [True] * 2])
        mask = torch.rand(N * 2, L, S) < 0.3
        mask[..., 0] = False
        options = {"key_padding_mask": padding, "attn_mask": mask, "need_weights": True}
        out, weights = first(x, memory, residual=x, **options)
        swapped, swapped_weights = second(
            x.transpose(0, 1), memory.transpose(0, 1), residual=x.transpose(0, 1), **options
        )
        torch.testing.assert_close(swapped.transpose(0, 1), out)
        torch.testing.assert_close(swapped_weights, weights)
        torch.testing.assert_close(second(x.transpose(0, 1))[0].transpose(0, 1), first(x)[0])
        for layer in (first, second):
            alone, alone_weights = layer(
                x[1], memory[1], residual=x[1], key_padding_mask=padding[1], attn_mask=mask[2:], need_weights=True
            )
            torch.testing.assert_close(alone, out[1])
            torch.testing.assert_close(alone_weights, weights[1])

    def test_agrees_with_torch_on_what_each_argument_means(self):
        """Weights are zero exactly where nn.MultiheadAttention's are, for the same arguments."""
        ours, theirs = LorentzMultiheadAttention(8, 2), torch.nn.MultiheadAttention(8, 2, batch_first=True)
        x = ours.manifold.random_normal(N, L, 8)
        attn_mask = torch.rand(N * 2, L, L) < 0.4
        attn_mask[..., 1] = False
        padding = torch.tensor([[False] * L, [False, False, True, True]])
        arguments = (x, x, x, padding, True, attn_mask, False)
        assert torch.equal(ours(*arguments)[1] == 0, theirs(*arguments)[1] == 0)

    def test_dropout_only_in_training(self):
        layer = LorentzMultiheadAttention(8, 2, dropout=0.5)
        x = layer.manifold.random_normal(N, L, 8)
        assert not torch.allclose(layer(x)[0], layer(x)[0], atol=1e-3)
        plain.assert_on_sheet(layer(x)[0], -1.0)
        layer.eval()
        assert torch.equal(layer(x)[0], layer(x)[0])

    def test_learnable_scale_starts_as_released_and_learns(self):
        layer = LorentzMultiheadAttention(16, 2, form="paper", learnable_scale=True)
        assert layer.softmax_scale.item() == pytest.approx(4.0)
        layer(layer.manifold.random_normal(N, L, 16))[0].sum().backward()
        assert layer.softmax_scale.grad.abs().item() > 0
        with torch.no_grad():
            layer.softmax_scale.fill_(9.0)
        layer.reset_parameters()
        assert layer.softmax_scale.item() == pytest.approx(4.0)

    def test_every_layer_of_the_module_passes_the_value_check(self):
        manifold = Lorentz(check=True)
        layer = LorentzMultiheadAttention(8, 4, manifold=manifold)
        x = manifold.random_normal(N, L, 8)
        plain.assert_on_sheet(layer(x, residual=x)[0], -1.0)
        with pytest.raises(ValueError, match="query is off the hyperboloid"):
            layer(x + 1.0)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                (9, 2),
                r"embed_dim \(9\) to be a multiple of num_heads, got num_heads=2; choose num_heads=1 or embed_dim=10",
            ),
            ((8, 8), "at least 2 ambient coordinates per head.*choose num_heads=4 or embed_dim=16"),
            ((64, 5), "choose num_heads=4 or embed_dim=65"),
            ((64, 0), "got num_heads=0; choose num_heads=1$"),
            ((8, 0), "num_heads=0"),
            ((8, 2, 1.2), "between 0 and 1, got 1.2"),
        ],
    )
    def test_wrong_options_are_explained(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            LorentzMultiheadAttention(*arguments)

    def test_wrong_masks_are_explained(self):
        layer = LorentzMultiheadAttention(8, 2)
        x = layer.manifold.random_normal(N, L, 8)
        for shape in ((N, L + 1), (1, L), (L,)):
            with pytest.raises(ValueError, match=r"key_padding_mask of shape \(batch, keys\) = \(2, 4\).*got"):
                layer(x, key_padding_mask=torch.zeros(shape, dtype=torch.bool))
        for shape in ((L, L + 1), (N, L, L), (1, L)):
            with pytest.raises(ValueError, match=r"attn_mask of shape .*\(4, 4\) or .*\(4, 4, 4\), got"):
                layer(x, attn_mask=torch.zeros(shape, dtype=torch.bool))

    def test_repr_tells_the_sizes(self):
        assert "embed_dim=8, num_heads=2, dropout=0.1" in repr(LorentzMultiheadAttention(8, 2, 0.1))


class TestCache:
    @pytest.mark.parametrize("chunks", [[1] * 6, [2, 1, 3], [6], [1, 5]], ids=str)
    def test_steps_are_the_causal_pass(self, manifold, dtype, chunks):
        layer = module(manifold, dtype)
        x = plain.points(manifold, N, 6, 8, dtype=dtype)
        whole, _ = layer(x, is_causal=True, residual=x)
        cache = KVCache()
        parts = [layer(part, residual=part, cache=cache)[0] for part in x.split(chunks, dim=1)]
        torch.testing.assert_close(torch.cat(parts, 1), whole, **plain.tolerance(dtype))
        assert cache.length == 6

    def test_growth_beyond_a_block(self, monkeypatch):
        monkeypatch.setattr(KVCache, "block", 2)
        layer, cache = module(Lorentz()), KVCache()
        x = plain.points(layer.manifold, N, 11, 8, dtype=torch.float64)
        parts = [layer(x[:, i : i + 1], cache=cache)[0] for i in range(11)]
        torch.testing.assert_close(torch.cat(parts, 1), layer(x, is_causal=True)[0])

    @pytest.mark.parametrize("chunks", [[1] * 6, [3, 3]], ids=str)
    def test_with_masks(self, chunks):
        """A mask beside the cache forbids more; it never lets a position see the future."""
        layer, cache = module(Lorentz()), KVCache()
        x = plain.points(layer.manifold, N, 6, 8, dtype=torch.float64)
        padding = torch.tensor([[False] * 6, [True] + [False] * 5])
        mask = torch.randn(6, 6, dtype=torch.float64)
        whole, _ = layer(x, is_causal=True, key_padding_mask=padding, attn_mask=mask)
        parts, start = [], 0
        for part in x.split(chunks, dim=1):
            end = start + part.shape[1]
            out, _ = layer(part, key_padding_mask=padding[:, :end], attn_mask=mask[start:end, :end], cache=cache)
            parts.append(out)
            start = end
        got = torch.cat(parts, 1)
        torch.testing.assert_close(got, whole)

    def test_reorder_is_what_beam_search_needs(self):
        layer, cache = module(Lorentz()), KVCache()
        x = plain.points(layer.manifold, 3, 5, 8, dtype=torch.float64)
        rows = torch.tensor([2, 0, 0, 1])
        layer(x[:, :3], cache=cache)
        cache.reorder(rows)
        again = layer(x[rows, 3:], cache=cache)[0]
        torch.testing.assert_close(again, layer(x[rows], is_causal=True)[0][:, 3:])
        KVCache().reorder(rows)  # nothing to reorder yet

    def test_static_keys_are_projected_once(self):
        layer, cache = module(Lorentz()), KVCache()
        x, memory = (plain.points(layer.manifold, N, n, 8, dtype=torch.float64) for n in (4, 5))
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
        whole, _ = layer(x, memory, key_padding_mask=padding)
        calls = []
        handle = layer.k_proj.register_forward_hook(lambda *_: calls.append(1))
        parts = [
            layer(x[:, i : i + 1], memory, key_padding_mask=padding, cache=cache, static_kv=True)[0] for i in range(4)
        ]
        handle.remove()
        torch.testing.assert_close(torch.cat(parts, 1), whole)
        assert len(calls) == 1
        assert cache.length == 5

    def test_another_batch_is_explained(self):
        layer, cache = module(Lorentz()), KVCache()
        x = plain.points(layer.manifold, 3, 2, 8, dtype=torch.float64)
        layer(x[:, :1], cache=cache)
        with pytest.raises(ValueError, match=r"expected a batch of 3 .*got 2; use KVCache.reorder"):
            layer(x[:2, 1:], cache=cache)

    def test_empty_cache_has_nothing_stored(self):
        assert KVCache().stored() is None


def test_projections_are_lorentz_linear_layers_of_one_manifold():
    layer = copy.deepcopy(LorentzMultiheadAttention(8, 2, manifold=Lorentz(-2.0, learnable=True)))
    parts = [m for m in layer.modules() if isinstance(m, LorentzLinear)]
    assert len(parts) == 4
    assert all(part.manifold is layer.manifold for part in parts)
