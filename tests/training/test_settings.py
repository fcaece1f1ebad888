"""Settings: every one is explained, and every mistake is told in one line."""

from typing import ClassVar, Literal

import pytest

from hybonet.recipes import recipes
from hybonet.training import LoopSettings, describe, override
from hybonet.training.settings import CHANGEABLE


def test_every_setting_has_a_meaning():
    rows = describe(recipes()["default"].settings)
    assert {"schedule.gamma", "max_norm", "device", *CHANGEABLE} <= {name for name, _, _ in rows}
    assert [name for name, _, meaning in rows if not meaning] == []


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("epoch=3", r"^unknown setting 'epoch'; did you mean 'epochs'\?$"),
        ("gama=0.5", r"did you mean 'schedule.gamma'\?"),
        ("schedule.gama=0.5", r"did you mean 'schedule.gamma'\?"),
        ("schedul.gamma=0.5", r"did you mean 'schedule.gamma'\?"),
        ("epochs.gamma=0.5", r"unknown setting 'epochs.gamma'"),
        ("schedule=cosine", r"set one of schedule.kind, schedule.gamma, schedule.warmup, schedule.hold$"),
        ("qqqq=1", r"known: epochs, steps, minutes, seed, .*schedule.gamma"),
        ("=1", r"unknown setting ''"),
        (
            "schedule.gamma=2",
            r"^setting schedule.gamma: expected less than or equal to 1, got '2' \(exponential: .*\)$",
        ),
        ("max_grad_norm=nan", r"^setting max_grad_norm: expected a finite number"),
        ("device=none", r"^setting device: expected a valid string, got None"),
    ],
)
def test_a_mistake_is_one_line(assignment, message):
    with pytest.raises(ValueError, match=message) as error:
        override(LoopSettings(), [assignment])
    assert "\n" not in str(error.value)


def test_a_nested_mistake_in_a_file_is_located():
    with pytest.raises(ValueError, match=r"^setting schedule: unknown setting 'gama'; did you mean 'gamma'\?$"):
        LoopSettings.checked({"schedule": {"gama": 1}})


def test_none_is_the_absence_of_a_number_or_a_word_to_choose():
    settings = override(recipes()["default"].settings, ["max_norm=none", "regularizer=none"])
    assert settings.max_norm is None
    assert settings.regularizer == "none"


class Renamed(LoopSettings):
    old_names: ClassVar = {"heat": "warmth"}
    old_values: ClassVar = {"shape": {"ring": "torus"}}
    warmth: float = 1.0
    shape: Literal["torus", "ball"] = "ball"


def test_an_old_name_is_refused_with_the_new_one_and_read_from_what_is_stored():
    with pytest.raises(ValueError, match="unknown setting 'heat'; it is called 'warmth' now"):
        Renamed.checked({"heat": 2})
    with pytest.raises(ValueError, match="unknown setting 'heat'; it is called 'warmth' now"):
        override(Renamed(), ["heat=2"])
    with pytest.raises(ValueError, match="shape has no 'ring' any more; it is now 'torus'"):
        override(Renamed(), ["shape=ring"])
    stored = Renamed.renewed({"heat": 2, "shape": "ring", "epochs": 3})
    assert Renamed.checked(stored) == Renamed(warmth=2, shape="torus", epochs=3)


def test_names_and_words_are_matched_without_regard_to_case():
    assert Renamed.checked({"Warmth": 2, "SHAPE": "Torus"}) == Renamed(warmth=2, shape="torus")
    assert override(Renamed(), ["Schedule.Kind=Linear"]).schedule.kind == "linear"
