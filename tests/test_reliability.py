"""The command that injects faults, in its quick form."""

import subprocess
import sys
import time

import pytest

from reliability.children import Child
from reliability.kills import Kills
from reliability.record import RECORD, Record, table
from reliability.runs import Case, Wrong
from reliability.trials import TRIALS

#: Trials by the time they take, for two workers; their names in the command's order.
PARTS = [("kills", "together", "damage"), ("full-disks", "fuzz", "soak"), ("processes",)]


@pytest.mark.parametrize("names", PARTS)
def test_a_tenth_of_every_trial_finds_nothing_lost_or_wrong(names, tmp_path):
    only = [word for name in names for word in ("--only", name)]
    command = [sys.executable, "-m", "reliability", "--quick", *only, "--scratch", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == list(names)


def test_no_trial_is_left_out():
    assert {name for part in PARTS for name in part} == {each.name for each in TRIALS}


def test_a_training_that_lost_something_is_noticed(tmp_path):
    """The comparison can fail: a resumed training of other random numbers is not the straight one."""
    case = Case("hierarchy", tmp_path / "one")
    other = Case("hierarchy", tmp_path / "other", "seed=7")
    with pytest.raises(Wrong, match="differs"):
        case.compare(other.straight)
    (case.straight / "labels.tsv").write_text("dog\n")
    with pytest.raises(Wrong, match=r"labels\.tsv"):
        case.compare(case.straight)


def test_a_child_tells_what_became_of_it(tmp_path):
    kinds = {
        "done": lambda tell: 1,
        "refused": lambda tell: int("x"),
        "broken": lambda tell: {}["x"],
    }
    for kind, work in kinds.items():
        assert Child(work).wait().kind == kind
    assert Child(lambda tell: time.sleep(60)).wait(1.0).kind == "hung"
    killed = Kills(tmp_path).case("hierarchy").child(tmp_path / "run", at=3, kinds=("rename",)).wait()
    assert killed.kind == "killed"
    assert killed.value == "rename"


def test_a_record_is_read_as_it_was_written(tmp_path):
    record = Record()
    record.of("kills").counts["killed: write"] += 2
    record.of("kills").parts = 3
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json").trials == record.trials
    assert "2 killed: write" in table(record)


def test_the_record_says_that_nothing_was_lost():
    record = Record.read(RECORD)
    text = table(record)
    for trial in TRIALS:
        assert record.of(trial.name).wrong == []
        assert trial.title in text
