"""Settings: every one is explained, and every mistake is told in one line."""

import copy
import json
import pickle
import re
from typing import ClassVar, Literal

import pytest

from hybonet.recipes import recipes
from hybonet.tasks.base import specs
from hybonet.tasks.recipes import read_settings_file
from hybonet.training import LoopSettings, ModelSettings, describe, override
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


def families():
    """The settings of every task with several models, with the values that choose one."""
    for name, spec in specs().items():
        kind = spec.implementation.settings
        if issubclass(kind, ModelSettings):
            yield from (pytest.param(kind, model, id=f"{name} {model}") for model in kind.classes)


@pytest.mark.parametrize(("kind", "model"), list(families()))
def test_a_model_has_its_own_settings(kind, model):
    settings = kind(**{kind.told_apart_by: model.swapcase()})
    assert getattr(settings, kind.told_apart_by) == model
    assert type(settings) is kind.classes[model]
    for same in (copy.deepcopy(settings), pickle.loads(pickle.dumps(settings)), kind.checked(settings.model_dump())):
        assert (type(same), same) == (type(settings), settings)
    assert all(meaning for _, _, meaning in describe(settings))
    others = kind.every_field().keys() - type(settings).model_fields
    for name in others:
        having = ", ".join(kind.models_with(name))
        for mistake in (
            lambda name=name: override(settings, [f"{name}=1"]),
            lambda name=name: kind.checked({kind.told_apart_by: model, name: 1}),
            lambda name=name: override(kind(), [f"{kind.told_apart_by}={model}", f"{name}=1"]),
        ):
            expected = (
                f"expected a setting that {kind.told_apart_by}={model} has, got '{name}', which is one of {having};"
            )
            with pytest.raises(ValueError, match=re.escape(expected)):
                mistake()


@pytest.mark.parametrize(("kind", "model"), list(families()))
def test_what_an_earlier_version_stored_of_other_models_is_left_out(kind, model):
    flat = {name: field.get_default() for name, field in kind.every_field().items()}
    settings = kind(**{kind.told_apart_by: model})
    assert kind.checked(kind.fitting({**flat, **settings.model_dump()})) == settings


def test_another_model_keeps_what_both_have_and_takes_the_rest_as_by_default():
    settings = override(recipes()["paper-wn18rr-32"].settings, ["model=rotate"])
    assert (settings.model, settings.margin, settings.lr, hasattr(settings, "scale")) == ("RotatE", 8.0, 0.005, False)
    back = override(settings, ["model=hybonet"])
    assert (back.scale, back.margin) == (2.5, 8.0)
    with pytest.raises(ValueError, match=r"setting model: expected 'hybonet', .* got 'Rotat'; did you mean 'RotatE'"):
        override(settings, ["model=Rotat"])


def test_a_file_of_settings_may_not_set_what_its_model_lacks(tmp_path):
    path, kind = tmp_path / "mine.json", specs()["kg"].implementation.settings
    path.write_text(json.dumps({"model": "RotH", "scale": 2.5}))  # as an earlier version wrote it
    assert read_settings_file(path, kind) == kind(model="RotH")
    path.write_text(json.dumps({"model": "RotH", "scale": 3}))
    with pytest.raises(ValueError, match=r"mine\.json: expected a setting that model=RotH has, got 'scale'"):
        read_settings_file(path, kind)
