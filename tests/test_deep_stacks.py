"""The measurements of deep stacks stand on what they say."""

import json

import pytest
import torch

from benchmarks.deep_stacks import cells, hypernyms, long_runs, models, nouns, page, tasks
from benchmarks.deep_stacks.__main__ import RECORD
from benchmarks.deep_stacks.plain import Pieces, PlainStack
from hybonet import Lorentz
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzPositionalEncoding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
)

SMALL = {"width": 16, "heads": 2, "inner": 24, "words": 30, "length": 9, "seed": 0}


def cell(task, layers=2, model="ours"):
    return {"task": task, "layers": layers, "model": model, **SMALL}


def words(task):
    """Two rows for each side; of translations, one row is padded."""
    rows = torch.randint(1, SMALL["words"], (2, 2, SMALL["length"]))
    rows[0, 1, 6:] = 0
    return tuple(rows) if task == "multi30k" else (rows[0],)


def scattered(task):
    """A model with all parameters away from their starts, times of tables aside."""
    model = models.build(cell(task))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        for table in (*model.tables(), model.head):
            table.weight[:, 0] = 0.0
    return model


@pytest.mark.parametrize("task", ["brackets", "multi30k"])
def test_all_pieces_on_are_the_librarys_function(task):
    torch.manual_seed(0)
    model, rows = scattered(task).double(), words(task)
    expected = model(*rows)
    learned = PlainStack(model, Pieces(learned_rho=True, learned_scale=True)).double()
    torch.testing.assert_close(learned(*rows), expected)
    for name, pieces in (models.PIECES | models.STARTS).items():
        same = torch.allclose(PlainStack(model, pieces)(*rows), expected, rtol=1e-4)
        assert same == (name in ("all pieces on", "learned ρ by block", "learned scale by head")), name


@pytest.mark.parametrize("task", ["copy", "reversal", "brackets", "multi30k"])
def test_both_sides_start_alike(task):
    torch.manual_seed(0)
    sizes, spread = [], []
    for side in ("ours", "torch"):
        model = models.build(cell(task, model=side))
        sizes.append(sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad))
        spread.append(model(*words(task)).std().item())
    assert sizes[0] == pytest.approx(sizes[1], rel=0.15)
    assert spread[0] == pytest.approx(spread[1], rel=0.35)


def test_brackets_are_nested_and_only_closing_ones_are_asked_for():
    torch.manual_seed(0)
    settings = {**cell("brackets"), "words": 2 * tasks.KINDS, "batch": 5}
    (rows,), labels = next(tasks.batches(settings))
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        waiting = []
        for word, following in zip(row, label, strict=True):
            waiting = waiting[:-1] if word >= tasks.KINDS else [*waiting, word]
            assert following in (tasks.IGNORED, waiting[-1] + tasks.KINDS if waiting else None)


def test_in_the_scaled_form_curvature_is_a_choice_of_units():
    words, logits = torch.randint(30, (2, 7)), []
    for K in (-1.0, -0.3):
        torch.manual_seed(0)
        manifold = Lorentz(K=K, learnable=True)
        given = {"manifold": manifold}
        table, position = LorentzEmbedding(30, 16, **given), LorentzPositionalEncoding(16, 9, **given)
        stack = LorentzTransformerEncoder(LorentzTransformerEncoderLayer(16, 2, 32, 0.0, **given), 3)
        head = LorentzDistanceHead(16, 30, **given)
        parts = torch.nn.ModuleList([table, position, stack, head]).double()
        with torch.no_grad():
            for name, parameter in parts.named_parameters():
                if "manifold" not in name:
                    parameter.add_(0.1 * torch.randn_like(parameter))
            for rows in (table, head):
                rows.weight[:, 0] = 0.0
        logits.append(head(stack(position(table(words)), is_causal=True)))
        (gradient,) = torch.autograd.grad(logits[-1].square().sum(), [*manifold.parameters()])
        assert gradient.abs().max() < 1e-9
    torch.testing.assert_close(*logits)


def test_the_page_is_made_from_the_record():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert page.PAGE.read_text(encoding="utf-8") == page.text(record), "run python -m benchmarks.deep_stacks --page"


def test_average_precision_ranks_without_what_is_known():
    scores = torch.tensor([[9.0, 3.0, 8.0, 1.0, 2.0], [5.0, 0.0, 0.0, 0.0, 0.0]]).repeat(3, 1)[:5]
    wanted, known = torch.zeros(2, 5, 5, dtype=torch.bool)
    wanted[0, [1, 4]] = True
    known[0, [1, 2, 4]] = True  # 2 is known and 0 is the node itself: 1 is first, 4 second
    assert hypernyms.average_precision(scores, wanted, known) == 1.0
    known[0, 2] = False  # 2 is before both now
    assert hypernyms.average_precision(scores, wanted, known) == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_held_out_ancestors_are_no_parents_and_are_not_told():
    true, told, valid, test = hypernyms.split(0, 0.5, 0.0)
    assert not bool((told & (valid | test)).any() or (valid & test).any())
    assert bool(((told | valid | test) == true).all())
    assert bool((told.any(1) == true.any(1)).all())  # a word's parent is always told
    noisy = hypernyms.split(0, 0.5, 0.2)[1]
    assert 0.7 < (noisy & told).sum().item() / told.sum().item() < 0.9


def test_the_sparse_precision_is_the_dense_one(monkeypatch):
    chains = [[], [0], [0, 1], [0], [0, 1, 2]]
    monkeypatch.setattr(nouns, "chains", lambda: chains)
    torch.manual_seed(0)
    scores, held = torch.randn(5, 5), [0, 1]
    wanted, known = torch.zeros(2, 5, 5, dtype=torch.bool)
    wanted[4, held], known[4, chains[4]] = True, True
    expected = hypernyms.average_precision(scores.clone(), wanted, known)
    assert nouns.average_precision(scores[4].clone(), 4, held) == pytest.approx(expected)


def test_the_sparse_loss_is_the_dense_one():
    logits, told = torch.randn(3, 7), [[0], [2, 5], [1, 3, 6]]
    target = torch.zeros(3, 7)
    for row, names in enumerate(told):
        target[row, names] = 1 / len(names)
    expected = torch.nn.functional.cross_entropy(logits, 0.9 * target + 0.1 / 7)
    torch.testing.assert_close(nouns.loss_of(logits, told, 0.1), expected)


def test_rare_ancestors_are_asked_for_alone():
    settings = cells.naming(4, 1, "flat/log", 0, 0.1, 0.3, epochs=10)
    told, test = hypernyms.split(0, 0.5, 0.0)[1::2]
    assert 0 < (test & (told.sum(0) < 5)).sum() < 0.1 * test.sum()
    assert hypernyms.train({**settings, "rare": 5})["map"] < hypernyms.train(settings)["map"]


@pytest.mark.parametrize("name", ["torch/linear", "flat/log", "lorentz/geodesic"])
def test_namers_learn(name):
    settings = cells.naming(4, 1, name, 0, 0.1, 0.3, epochs=10)
    found = hypernyms.train(settings)
    assert found["map"] > 0.4


def test_a_soak_goes_on_where_it_stood(tmp_path, monkeypatch):
    monkeypatch.setattr(long_runs, "STATE", tmp_path / "state.pt")
    part = {**cells.SOAK, "layers": 2, "rate": 1e-3, "steps": 50}
    first = long_runs.soak({**part, "until": 50})
    assert first["finite"]
    assert max(first["samples"]["off_sheet"]) < 1e-5
    long_runs.soak({**part, "until": 100})
    with pytest.raises(ValueError, match="state at step 50, got 100"):
        long_runs.soak({**part, "until": 100})


def test_a_cell_is_measured_once():
    wanted = next(cells.small([]))
    assert not cells.is_done(wanted, [{**wanted, "steps": 1}])
    assert cells.is_done(wanted, [{**wanted, "commit": "abc"}])
    assert {name for topic in cells.TOPICS.values() for each in topic([]) for name in [each["topic"]]} <= {
        *cells.TOPICS
    }
