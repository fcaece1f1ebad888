"""Ranges: what is declared, what is typed, and what is refused."""

import pytest

from hybonet.cli.tune import tune_app
from hybonet.recipes import Recipe, recipe, recipes
from hybonet.training import override
from hybonet.training.ranges import Between, OneOf, check_ranges, value_of, with_values
from hybonet.tuning import read_ranges

SETTINGS = recipe("default").settings


def test_the_three_forms():
    ranges = read_ranges(SETTINGS, ["lr=0.001:0.1:log", " dropout = 0 : 0.5 ", "batch_size=250,500,1000"])
    assert ranges == {
        "lr": Between(0.001, 0.1, log=True),
        "dropout": Between(0, 0.5),
        "batch_size": OneOf((250, 500, 1000)),
    }
    assert all(isinstance(value, int) for value in ranges["batch_size"].values)


def test_choices_have_the_types_of_the_setting():
    ranges = read_ranges(
        SETTINGS, ["max_norm=none,1.5", "loop_bias=true,false", "loss=softmax,bce", "schedule.gamma=1,0.9"]
    )
    assert ranges["max_norm"].values == (None, 1.5)
    assert ranges["loop_bias"].values == (True, False)
    assert ranges["loss"].values == ("softmax", "bce")
    assert ranges["schedule.gamma"].values == (1.0, 0.9)


@pytest.mark.parametrize("text", ["lr=0.001:0.1:log", "dim=8:64", "max_norm=none,1.5", "loop_bias=true,false"])
def test_a_range_is_written_as_it_is_read(text):
    name = text.partition("=")[0]
    assert f"{name}={read_ranges(SETTINGS, [text])[name]}" == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lr", r"expected a setting and its range, got 'lr'; for example --range lr=0.001:0.1:log"),
        ("lrr=0.1:1", r"^unknown setting 'lrr'; did you mean 'lr'\?"),
        ("gamma=0.9:1", r"did you mean 'schedule.gamma'\?"),
        ("schedule=a,b", r"set one of schedule.kind, schedule.gamma"),
        ("lr=0.1:0.01", r"^range of lr: expected the lower end first, got 0.1:0.01; write 0.01:0.1"),
        ("lr=0.1:0.1", r"expected two different ends"),
        ("lr=0.1", r"expected low:high, low:high:log or a,b,c, got '0.1'; fix a setting with --set lr=0.1"),
        ("lr=0.1:1:lin", r"expected low:high, low:high:log or a,b,c, got '0.1:1:lin'"),
        ("lr=a:b", r"expected numbers around the colon, got 'a:b'"),
        ("lr=0.1:inf", r"expected two finite ends, got 0.1:inf"),
        ("lr=nan:1", r"expected two finite ends"),
        ("dropout=0:0.5:log", r"expected ends above 0 with log, got 0:0.5:log"),
        ("lr=0:0.5", r"^range of lr: expected greater than 0, got '0' \(learning rate"),
        ("dropout=0:1.5", r"^range of dropout: expected less than 1, got '1.5' \(share of a head's"),
        ("dim=2.5:8", r"^range of dim: expected a valid integer, got '2.5'"),
        ("batch_size=250,many", r"^range of batch_size: setting batch_size: expected a valid integer, got 'many'"),
        ("batch_size=250,250", r"expected two or more different values, got 250,250"),
        ("loss=0.1:0.5", r"expected values to choose from, such as a,b,c, got 0.1:0.5"),
        ("loss=softmax,bcee", r"got 'bcee'"),
        ("seed=0,1,2", r"range of seed: expected a setting that makes a better model; fix it with --set seed="),
        ("validate_every=1:5", r"range of validate_every"),
        ("regularization=0.01:0.1", r"^range of regularization: expected regularizer and regularization together"),
    ],
)
def test_nonsense_is_told_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as error:
        read_ranges(SETTINGS, [text])
    assert "\n" not in str(error.value)


def test_one_range_a_setting():
    with pytest.raises(ValueError, match="expected one range a setting, got two for lr"):
        read_ranges(SETTINGS, ["lr=0.1:1", "lr=0.1:2"])


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"learning_rate": Between(0.1, 1)}, "unknown setting 'learning_rate'"),
        ({"batch_size": Between(0.5, 10)}, "range of batch_size: expected a valid integer"),
        ({"batch_size": OneOf((250, "500"))}, "range of batch_size: expected 500, got '500'"),
        ({"loss": Between(0, 1)}, "range of loss: expected values to choose from"),
        ({"dropout": Between(0, 2)}, "range of dropout: expected less than 1"),
    ],
)
def test_a_recipe_with_a_wrong_range_cannot_be_made(ranges, message):
    with pytest.raises(ValueError, match=message):
        Recipe("mine", "kg", "for trial", SETTINGS, ranges=ranges)


TUNED = [command.name for command in tune_app.registered_commands]


@pytest.mark.parametrize("each", [r for r in recipes().values() if r.task in TUNED], ids=lambda each: each.name)
def test_every_recipe_has_ranges_around_its_own_values(each):
    assert each.ranges
    check_ranges(each.settings, each.ranges)
    for name, tried in each.ranges.items():
        assert value_of(each.settings, name) in tried, name


def test_values_come_back_unchanged():
    values = {"lr": 0.012345678901234567, "schedule.gamma": 1.0, "max_norm": None, "loop_bias": False, "loss": "bce"}
    changed = with_values(SETTINGS, values)
    assert {name: value_of(changed, name) for name in values} == values
    assert changed == override(SETTINGS, [f"{name}={value}" for name, value in values.items()])
