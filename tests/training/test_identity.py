"""Which run a checkpoint belongs to, also when it is older than the package."""

from typing import ClassVar

from hybonet.training import LoopSettings
from hybonet.training.checkpoint import Identity
from tests.training.toy import ToyTask


class Younger(LoopSettings):
    """Settings of a later version, which has one more."""

    invented_later: float = 0.5


class WithData(ToyTask):
    def __init__(self, settings, **data):
        super().__init__(settings)
        self.data = data

    def describe(self):
        return {"task": "toy", "protocol": "in our words", "data": self.data}


def facts(settings=None, **data):
    return Identity.of(WithData(settings or LoopSettings(), **data)).facts


def test_a_setting_that_the_checkpoint_does_not_know_must_have_its_default():
    old = facts()
    assert Identity.of(WithData(Younger())).differences(old) == []
    assert Identity.of(WithData(Younger(invented_later=0.7))).differences(old) == ["invented_later=0.5 instead of 0.7"]


def test_a_setting_that_was_called_otherwise_is_the_same_setting():
    class Renamed(Younger):
        old_names: ClassVar = {"heat": "invented_later"}

    run = Identity.of(WithData(Renamed(invented_later=0.7)))
    assert run.differences({**facts(), "settings.heat": 0.7}) == []
    assert run.differences({**facts(), "settings.heat": 0.8}) == ["invented_later=0.8 instead of 0.7"]


def test_data_count_and_words_do_not():
    run = Identity.of(WithData(LoopSettings(), sha256={"train": "ab"}, notes=["so it is"]))
    assert run.differences(facts(sha256={"train": "ab"}, notes=["it is so"])) == []
    assert run.differences({**facts(sha256={"train": "ab"}), "protocol": "in other words"}) == []
    assert run.differences(facts(sha256={"train": "cd"})) == ["data.sha256.train=cd instead of ab"]


def test_files_that_have_come_or_gone_are_other_data():
    run = Identity.of(WithData(LoopSettings(), sha256={"train": "ab"}))
    assert run.differences(facts(sha256={})) == ["data.sha256.train=None instead of ab"]
    assert run.differences(facts(sha256={"train": "ab", "valid": "cd"})) == ["data.sha256.valid=cd instead of None"]


def test_settings_need_no_defaults():
    class Wide(LoopSettings):
        width: int

    run = Identity.of(WithData(Wide(width=3)))
    assert run.differences(run.facts) == []
    assert run.differences(facts(Wide(width=4))) == ["width=4 instead of 3"]


def test_what_may_change_on_the_way_does_not_count():
    assert Identity.of(WithData(LoopSettings(epochs=99, minutes=3.0))).differences(facts()) == []
