"""The measurements of deep stacks stand on what they say."""

import pytest
import torch

from benchmarks.deep_stacks import models, tasks
from benchmarks.deep_stacks.plain import Pieces, PlainStack

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
    for name in models.PIECES:
        same = torch.allclose(PlainStack(model, models.PIECES[name])(*rows), expected, rtol=1e-4)
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
