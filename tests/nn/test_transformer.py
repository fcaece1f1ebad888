"""Encoder, decoder and Transformer: composition, masks, padding, step-by-step decoding, one manifold throughout."""

import inspect
import math

import pytest
import torch
from torch import nn

from hybonet import Lorentz
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzModule,
    LorentzTransformer,
    LorentzTransformerDecoder,
    LorentzTransformerDecoderLayer,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
)
from hybonet.nn.scales import NORM_LENGTH
from hybonet.optim import RiemannianAdam

from . import plain

D, HEADS, FF = 8, 2, 12


def encoder(manifold, dtype=torch.float64, layers=2, **options):
    layer = LorentzTransformerEncoderLayer(D, HEADS, FF, 0.0, manifold=manifold, dtype=dtype, **options)
    return LorentzTransformerEncoder(layer, layers)


def decoder(manifold, dtype=torch.float64, layers=2, **options):
    layer = LorentzTransformerDecoderLayer(D, HEADS, FF, 0.0, manifold=manifold, dtype=dtype, **options)
    return LorentzTransformerDecoder(layer, layers)


def test_encoder_layer_is_its_two_blocks_before_norms(manifold, dtype):
    """Norms first, as the default has it; and after the sums."""
    x = plain.points(manifold, 2, 5, D, dtype=dtype)
    for first in (True, False):
        (layer,) = encoder(manifold, dtype, layers=1, norm_first=first).layers
        with torch.no_grad():
            for part in (layer.self_attn.out_proj, layer.feed_forward.linear2):
                part.weight.normal_(std=0.4)
        if first:
            hidden, _ = layer.self_attn(layer.norm1(x), residual=x)
            expected = layer.feed_forward(layer.norm2(hidden), hidden)
        else:
            hidden = layer.norm1(layer.self_attn(x, residual=x)[0])
            expected = layer.norm2(layer.feed_forward(hidden, hidden))
        y = layer(x)
        plain.assert_on_sheet(y, manifold.K)
        torch.testing.assert_close(y, expected)
        assert not torch.allclose(y, x, atol=1e-2)


def test_decoder_layer_is_its_three_blocks_before_norms(manifold, dtype):
    (layer,) = decoder(manifold, dtype, layers=1).layers
    x, memory = (plain.points(manifold, 2, n, D, dtype=dtype) for n in (5, 4))
    a, _ = layer.self_attn(layer.norm1(x), is_causal=True, residual=x)
    b, _ = layer.cross_attn(layer.norm2(a), memory, memory, residual=a)
    y = layer(x, memory, tgt_is_causal=True)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y, layer.feed_forward(layer.norm3(b), b))


def test_stack_ends_with_a_norm_where_layers_begin_with_one():
    manifold = Lorentz(-0.3)
    x = plain.points(manifold, 2, 5, D, dtype=torch.float64)
    for options in ({}, {"norm_first": False}, {"form": "paper"}):
        layer = LorentzTransformerEncoderLayer(D, HEADS, FF, manifold=manifold, dtype=torch.float64, **options)
        assert (LorentzTransformerEncoder(layer, 1).norm is None) == bool(options)
        assert LorentzTransformerEncoder(layer, 1, norm=False).norm is None
        radius = manifold.dist0(LorentzTransformerEncoder(layer, 1, norm=True)(x))
        torch.testing.assert_close(radius, torch.full_like(radius, math.asinh(NORM_LENGTH) * (1 / 0.3) ** 0.5))
    own = nn.Identity()
    assert LorentzTransformerEncoder(layer, 1, norm=own).norm is own


def test_deeper_stacks_start_with_smaller_additions():
    shallow, deep = (encoder(Lorentz(), torch.float32, layers=n).layers[0] for n in (2, 18))
    for name in ("self_attn.out_proj.weight", "feed_forward.linear2.weight"):
        one, other = (layer.get_parameter(name).std().item() for layer in (shallow, deep))
        assert one == pytest.approx(0.01, rel=0.4)
        assert other == pytest.approx(one / 3, rel=0.4)


@pytest.mark.parametrize("K", [-1.0, -0.3])
def test_six_layers_learn_to_copy_within_forty_steps(K):
    """With the defaults, and the default optimiser at the rate of Euclidean Transformers."""
    manifold, words = Lorentz(K), 20
    table = LorentzEmbedding(words, 16, manifold=manifold)
    encoder = LorentzTransformerEncoder(LorentzTransformerEncoderLayer(16, 2, 32, 0.0, manifold=manifold), 6)
    model = nn.Sequential(table, encoder, LorentzDistanceHead(16, words, manifold=manifold))
    optimizer = RiemannianAdam(model, lr=3e-3)
    for _ in range(40):
        x = torch.randint(words, (16, 8))
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.5


def test_papers_encoder_layer_is_its_two_blocks(manifold, dtype):
    (layer,) = encoder(manifold, dtype, layers=1, form="paper").layers
    x = plain.points(manifold, 2, 5, D, dtype=dtype)
    hidden, _ = layer.self_attn(x, residual=x)
    y = layer(x)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y, layer.feed_forward(hidden, hidden))
    assert not torch.allclose(y, layer.feed_forward(hidden), atol=1e-3)  # the residual counts
    assert not torch.allclose(hidden, layer.self_attn(x)[0], atol=1e-3)


def test_papers_decoder_layer_is_its_three_blocks(manifold, dtype):
    (layer,) = decoder(manifold, dtype, layers=1, form="paper").layers
    x, memory = (plain.points(manifold, 2, n, D, dtype=dtype) for n in (5, 4))
    a, _ = layer.self_attn(x, is_causal=True, residual=x)
    b, _ = layer.cross_attn(a, memory, memory, residual=a)
    y = layer(x, memory, tgt_is_causal=True)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y, layer.feed_forward(b, b))


def test_with_norm_first_the_input_passes_by_and_the_blocks_add_to_it(manifold, dtype):
    enc, dec = (stack(manifold, dtype, form="paper", norm_first=True) for stack in (encoder, decoder))
    x, memory = (plain.points(manifold, 2, n, D, dtype=dtype) for n in (5, 4))
    (block, _), h = enc.layers, plain.points(manifold, 2, 5, FF, dtype=dtype)
    y = block.feed_forward.linear2(h, x)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close((y - x)[..., 1:], block.feed_forward.linear2(h)[..., 1:])
    with torch.no_grad():
        for stack in (enc, dec):
            for layer in stack.layers:
                blocks = [layer.self_attn.out_proj, layer.feed_forward.linear2]
                blocks += [layer.cross_attn.out_proj] if stack is dec else []
                for last in blocks:
                    last.weight.zero_()
                    last.bias.zero_()
    torch.testing.assert_close(enc(x), x)
    torch.testing.assert_close(dec(x, memory, tgt_is_causal=True), x)
    assert not torch.allclose(encoder(manifold, dtype, form="paper")(x), x, atol=1e-2)


def test_norm_first_bears_options_of_gates():
    model = LorentzTransformer(D, HEADS, 1, 1, FF, form="paper_code", norm_first=True, linear={"scale": 3.0})
    (layer,) = model.decoder.layers
    assert [layer.self_attn.q_proj.form, layer.feed_forward.linear1.initial_scale] == ["paper_code", 3.0]
    assert {layer.self_attn.out_proj.form, layer.cross_attn.out_proj.form, layer.feed_forward.linear2.form} == {"pure"}


def test_heads_may_have_a_scale_of_their_own():
    model = LorentzTransformer(D, HEADS, 1, 1, FF, form="paper", attention={"head_scale": 2.5}, linear={"scale": 7.0})
    for layer in (*model.encoder.layers, *model.decoder.layers):
        heads = [layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj]
        assert [each.initial_scale for each in heads] == [2.5] * 3
        assert [layer.self_attn.out_proj.initial_scale, layer.feed_forward.linear1.initial_scale] == [7.0, 7.0]


def test_stacked_layers_differ_and_share_one_manifold():
    for learnable in (False, True):
        manifold = Lorentz(-0.5, learnable=learnable)
        model = LorentzTransformer(D, HEADS, 2, 3, FF, manifold=manifold)
        for stack in (model.encoder, model.decoder):
            first, second = stack.layers[:2]
            for a, b in zip(first.named_parameters(), second.named_parameters(), strict=True):
                if a[0].endswith("proj.weight"):
                    assert not torch.equal(a[1], b[1]), a[0]
        layers = [m for m in model.modules() if isinstance(m, LorentzModule)]
        assert len(layers) > 20
        assert all(layer.manifold is manifold for layer in layers)
        assert len(model.encoder.layers) == 2
        assert len(model.decoder.layers) == 3


def test_original_layer_stays_as_it_was():
    layer = LorentzTransformerEncoderLayer(D, HEADS, FF)
    before = [p.clone() for p in layer.parameters()]
    stack = LorentzTransformerEncoder(layer, 1)
    assert all(torch.equal(a, b) for a, b in zip(before, layer.parameters(), strict=True))
    assert stack.layers[0] is not layer


def test_causal_flag_is_the_causal_mask():
    manifold = Lorentz(-0.3)
    model = LorentzTransformer(D, HEADS, 2, 2, FF, 0.0, manifold=manifold, dtype=torch.float64)
    src, tgt = (plain.points(manifold, 2, n, D, dtype=torch.float64) for n in (4, 5))
    mask = LorentzTransformer.generate_square_subsequent_mask(5)
    out = model(src, tgt, tgt_is_causal=True)
    torch.testing.assert_close(out, model(src, tgt, tgt_mask=mask))
    torch.testing.assert_close(out, model(src, tgt, tgt_mask=mask, tgt_is_causal=True))
    # No position sees what comes after it.
    torch.testing.assert_close(out[:, :3], model(src, tgt[:, :3], tgt_is_causal=True))
    assert not torch.allclose(out, model(src, tgt), atol=1e-3)
    mask = LorentzTransformer.generate_square_subsequent_mask(4)
    torch.testing.assert_close(model(src, tgt, src_mask=mask), model(src, tgt, src_is_causal=True))


def test_arguments_and_sizes_are_torchs():
    ours, torchs = (inspect.signature(each).parameters for each in (LorentzTransformer, nn.Transformer))
    sizes = ("d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward", "dropout")
    assert {name: ours[name].default for name in sizes} == {name: torchs[name].default for name in sizes}


def test_transformer_is_encoder_then_decoder():
    model = LorentzTransformer(D, HEADS, 1, 1, FF, 0.0, dtype=torch.float64)
    src, tgt = (plain.points(model.manifold, 2, n, D, dtype=torch.float64) for n in (4, 5))
    memory_mask = torch.rand(5, 4) < 0.3
    memory_mask[:, 0] = False
    padding = torch.tensor([[False] * 4, [False, False, False, True]])
    expected = model.decoder(tgt, model.encoder(src), memory_mask=memory_mask, memory_key_padding_mask=padding)
    got = model(src, tgt, memory_mask=memory_mask, memory_key_padding_mask=padding)
    torch.testing.assert_close(got, expected)
    assert not torch.allclose(got, model(src, tgt), atol=1e-4)


@pytest.mark.parametrize("garbage", [0.5, 3.0])
def test_padding_changes_nothing_at_real_positions(manifold, dtype, garbage):
    model = LorentzTransformer(D, HEADS, 2, 2, FF, 0.0, manifold=manifold, dtype=dtype)
    src, tgt = (plain.points(manifold, 1, n, D, dtype=dtype) for n in (4, 5))
    padded_src, padded_tgt = (
        torch.cat((x, plain.points(manifold, 1, 3, D, dtype=dtype, std=garbage)), dim=1) for x in (src, tgt)
    )
    src_padding, tgt_padding = (torch.arange(n + 3)[None] >= n for n in (4, 5))
    got = model(
        padded_src,
        padded_tgt,
        src_key_padding_mask=src_padding,
        tgt_key_padding_mask=tgt_padding,
        memory_key_padding_mask=src_padding,
    )
    plain.assert_on_sheet(got, manifold.K)
    torch.testing.assert_close(got[:, :5], model(src, tgt), **plain.tolerance_of_stacks(dtype))
    assert not torch.allclose(model(padded_src, padded_tgt)[:, :5], model(src, tgt), atol=1e-3)


@pytest.mark.parametrize("chunks", [[1] * 6, [3, 1, 2]], ids=str)
def test_decoding_with_a_cache_is_the_causal_pass(manifold, dtype, chunks):
    stack = decoder(manifold, dtype)
    x, memory = (plain.points(manifold, 2, n, D, dtype=dtype) for n in (6, 4))
    padding = torch.tensor([[False] * 4, [False, False, True, True]])
    expected = stack(x, memory, tgt_is_causal=True, memory_key_padding_mask=padding)
    cache = stack.new_cache()
    assert len(cache) == 2
    parts = [stack(part, memory, memory_key_padding_mask=padding, cache=cache) for part in x.split(chunks, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), expected, **plain.tolerance_of_stacks(dtype))


def test_batch_second():
    manifold = Lorentz(-2.5)
    first, second = (
        LorentzTransformer(D, HEADS, 1, 1, FF, 0.0, manifold=manifold, dtype=torch.float64, batch_first=flag)
        for flag in (True, False)
    )
    second.load_state_dict(first.state_dict())
    src, tgt = (plain.points(manifold, 2, n, D, dtype=torch.float64) for n in (4, 5))
    swapped = second(src.transpose(0, 1), tgt.transpose(0, 1), tgt_is_causal=True)
    torch.testing.assert_close(swapped.transpose(0, 1), first(src, tgt, tgt_is_causal=True))


def test_dropout_is_for_training():
    model = LorentzTransformer(D, HEADS, 1, 1, FF, 0.3)
    src, tgt = model.manifold.random_normal(2, 4, D), model.manifold.random_normal(2, 5, D)
    plain.assert_on_sheet(model(src, tgt), -1.0)
    assert not torch.allclose(model(src, tgt), model(src, tgt), atol=1e-3)
    model.eval()
    assert torch.equal(model(src, tgt), model(src, tgt))


def test_options_reach_every_part():
    options = {"form": "paper_code", "attention": {"learnable_scale": True}, "linear": {"scale": 2.0}}
    model = LorentzTransformer(D, HEADS, 1, 1, FF, 0.2, torch.tanh, bias=False, **options)
    encoder_layer, decoder_layer = model.encoder.layers[0], model.decoder.layers[0]
    for attend in (encoder_layer.self_attn, decoder_layer.self_attn, decoder_layer.cross_attn):
        assert attend.softmax_scale is not None
        assert attend.dropout == 0.2
        assert attend.q_proj.form == attend.out_proj.form == "paper_code"
        assert attend.q_proj.bias is None
    for layer in (encoder_layer, decoder_layer):
        assert layer.feed_forward.linear2.activation is torch.tanh
        assert layer.feed_forward.linear2.dropout == 0.2
        assert layer.feed_forward.linear1.initial_scale == 2.0
    for kind in (LorentzTransformerEncoderLayer, LorentzTransformerDecoderLayer):
        special = kind(D, HEADS, FF, form="paper", attention={"linear": {"scale": 3.0}})
        assert special.self_attn.q_proj.initial_scale == 3.0
        assert special.feed_forward.linear1.initial_scale == 10.0


def test_every_value_passes_the_check():
    manifold = Lorentz(-0.5, check=True)
    model = LorentzTransformer(D, 4, 2, 2, FF, manifold=manifold)
    src, tgt = manifold.random_normal(2, 4, D), manifold.random_normal(2, 5, D)
    plain.assert_on_sheet(model(src, tgt, tgt_is_causal=True), -0.5)


class TestCustomParts:
    def test_are_used_even_if_they_look_empty(self):
        class Nothing(nn.Sequential):
            def forward(self, src, *_):
                return src

        custom = Nothing()
        model = LorentzTransformer(D, HEADS, 1, 1, FF, custom_encoder=custom)
        assert model.encoder is custom
        own = decoder(model.manifold, torch.float32, layers=1)
        model = LorentzTransformer(D, HEADS, 1, 1, FF, custom_decoder=own, manifold=own.manifold)
        assert model.decoder is own

    def test_must_live_on_the_same_manifold(self):
        with pytest.raises(
            ValueError, match=r"custom_encoder lives on Lorentz\(K=-2\) but Lorentz\(K=-1\) was expected"
        ):
            LorentzTransformer(D, HEADS, 1, 1, FF, custom_encoder=encoder(Lorentz(-2.0)))
        learned = Lorentz(-1.0, learnable=True)
        with pytest.raises(ValueError, match=r"custom_decoder lives on .*build both with the same manifold object"):
            LorentzTransformer(D, HEADS, 1, 1, FF, custom_decoder=decoder(Lorentz(-1.0)), manifold=learned)


def test_reset_parameters_draws_every_layer_anew():
    model = LorentzTransformer(8, 2, 1, 1, 16)
    before = {
        name: value.clone()
        for name, value in model.state_dict().items()
        if name.endswith("weight") and "norm" not in name
    }
    model.reset_parameters()
    assert before
    assert not any(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
