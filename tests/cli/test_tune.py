"""``hybonet tune`` from outside: from a file of triples to settings that ``hybonet train`` takes."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Imported before anything is replaced in it: a module first imported meanwhile would keep the replacement.
import hybonet.tasks.knowledge_graph.task as task_module
from hybonet.tasks.knowledge_graph.evaluation import rank_split
from tests.cli.staging import GOOD, run
from tests.cli.translation_mistakes import PAIRS

pytest.importorskip("optuna")

QUICK = "--set dim=4 --set epochs=2 --set validate_every=1 --set batch_size=40 --threads 1"
TUNE = f"tune kg --data triples.tsv --out found {QUICK}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "triples.tsv").write_text(GOOD)
    return tmp_path


def rows(folder: Path, name: str = "found") -> list[dict[str, str]]:
    with open(folder / name / "trials.csv", newline="") as file:
        return list(csv.DictReader(file))


def tried(folder: Path, name: str = "found") -> list[dict[str, str]]:
    """The trials without what depends on the machine's speed."""
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows(folder, name)]


def test_from_triples_to_settings_that_train_takes(folder: Path) -> None:
    outcome = run(f"{TUNE} --trials 4 --range lr=0.0001:0.1:log --range negatives=5,10", folder)
    assert outcome.code == 0, outcome.output
    names = {path.name for path in (folder / "found").iterdir()}
    assert names == {"search.json", "journal.log", "trials", "trials.csv", "best.json", "tune.png"}
    lines = re.findall(
        r"^trial (\d)/4  mrr 0\.\d{4} \((?:the best so far|best 0\.\d+, trial \d)\)", outcome.output, re.M
    )
    assert lines == list("1234")
    assert "loss" not in outcome.output  # validations are no lines of their own
    found = rows(folder)
    assert [row["trial"] for row in found] == list("1234")
    searched = {"lr", "schedule.gamma", "label_smoothing", "dropout", "max_norm", "scale", "negatives"}
    assert searched < found[0].keys()
    assert "batch_size" not in found[0]  # --set takes it out
    best = max(found, key=lambda row: float(row["mrr"]))
    settings = json.loads((folder / "found/best.json").read_text())
    assert (settings["lr"], settings["schedule"]["gamma"]) == (float(best["lr"]), float(best["schedule.gamma"]))
    assert (settings["dim"], settings["epochs"]) == (4, 2)
    command = outcome.output.split("Train with the best settings:\n")[1].splitlines()[0]
    assert command == "hybonet train kg --data triples.tsv --recipe found/best.json --out found/best"
    trained = run(command.removeprefix("hybonet "), folder)
    assert trained.code == 0, trained.output
    record = json.loads((folder / "found/best/record.json").read_text())
    assert record["settings"] == settings
    assert record["recipe"] == "found/best.json"


def test_the_first_trial_is_the_recipe_and_the_end_compares_with_it(folder: Path) -> None:
    # Groups, said by two relations: a small step learns nothing of it.
    facts = [f"n{i}\t{name}\tgroup {i % 4}\n" for name in ("is in", "belongs to") for i in range(24)]
    (folder / "groups").mkdir()
    for name, part in (("train", facts[:40]), ("valid", facts[40:44]), ("test", facts[44:])):
        (folder / f"groups/{name}.tsv").write_text("".join(part))
    quick = "--set epochs=10 --set batch_size=20 --set dim=8 --threads 1 --trials 4"
    outcome = run(f"tune kg --data groups --out found {quick} --set lr=1e-5 --range lr=1e-5:0.2:log", folder)
    assert outcome.code == 0, outcome.output
    first = rows(folder)[0]
    assert (float(first["lr"]), float(first["schedule.gamma"]), float(first["scale"])) == (1e-5, 0.94, 2.5)
    assert f"The recipe as it is (trial 1) has mrr {float(first['mrr']):.4f}" in outcome.output
    assert json.loads((folder / "found/best.json").read_text())["lr"] > 1e-3
    alone = run(f"{TUNE.replace('found', 'alone')} --trials 1", folder)
    assert "None was better than the recipe as it is (trial 1)" in alone.output


def test_a_recipe_outside_the_ranges_is_not_the_first_trial_and_that_is_said(folder: Path) -> None:
    outcome = run(f"{TUNE} --trials 1 --range lr=0.03:0.04 --range negatives=5,6", folder)
    assert outcome.code == 0, outcome.output
    assert re.search(r"^note: the recipe's lr=0\.0\d+ is not in the range 0.03:0.04, so that", outcome.output, re.M)
    assert outcome.output.count("note: the recipe's") == 2
    assert 0.03 <= float(rows(folder)[0]["lr"]) <= 0.04


def test_test_triples_are_never_ranked_nor_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked = []

    def watched(model: object, data: object, split: str, **options: object) -> object:
        ranked.append((split, len(data.test)))
        return rank_split(model, data, split, **options)

    monkeypatch.setattr(task_module, "rank_split", watched)
    monkeypatch.setattr("hybonet.tasks.knowledge_graph.evaluation.rank_split", None)  # what evaluate calls
    outcome = run(f"{TUNE} --trials 2", folder)
    assert outcome.code == 0, outcome.output
    assert set(ranked) == {("valid", 0)}
    assert "The search knows no test triples" in outcome.output


def test_a_recipe_shows_what_it_searches(folder: Path) -> None:
    shown = run("recipes show default", folder).output
    assert "hybonet tune kg --recipe default searches lr 0.002:0.05:log, schedule.gamma 0.88:0.99" in shown
    assert "hybonet tune hierarchy --recipe hierarchy searches lr" in run("recipes show hierarchy", folder).output


def test_the_same_seed_tries_the_same(folder: Path) -> None:
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        assert run(f"{TUNE.replace('found', name)} --trials 3 --seed {seed}", folder).code == 0
    assert tried(folder, "one") == tried(folder, "two") != tried(folder, "three")


def test_a_search_goes_on_with_nothing_but_its_folder_and_gets_more_trials(folder: Path) -> None:
    assert run(f"{TUNE} --trials 2 --range lr=0.001:0.1", folder).code == 0
    before = tried(folder)
    outcome = run("tune kg --out found --resume --trials 4 --threads 1", folder)
    assert outcome.code == 0, outcome.output
    assert re.findall(r"^trial (\d)/4", outcome.output, re.M) == ["3", "4"]
    assert tried(folder)[:2] == before
    again = run("tune kg --out found --resume", folder)  # it has more than the two that it was begun with
    assert (again.code, re.findall(r"^trial \d/", again.output, re.M)) == (0, [])
    assert len(rows(folder)) == 4
    straight = run(f"{TUNE.replace('found', 'straight')} --trials 4 --range lr=0.001:0.1", folder)
    assert straight.code == 0
    assert tried(folder, "straight") == tried(folder)


@pytest.mark.parametrize(
    ("command", "fragments"),
    [
        (TUNE, ["'found' holds this search already; go on with hybonet tune kg --out found --resume"]),
        (f"{TUNE} --range lr=0.1:1", ["range of lr (0.002:0.05:log there, 0.1:1 now)", "choose another --out"]),
        (f"{TUNE} --set dim=6", ["dim (4 there, 6 now)"]),
        (f"{TUNE} --set dropout=0", ["dropout (0.1 there, 0 now)", "range of dropout (0:0.3 there, none now)"]),
        (f"{TUNE} --seed 1", ["seed (0 there, 1 now)"]),
        (TUNE.replace("triples.tsv", "other.tsv"), ["data (triples.tsv there, other.tsv now)"]),
        (f"{TUNE} --recipe paper-wn18rr-32", ["recipe (default there, paper-wn18rr-32 now)"]),
        ("tune kg --out found --resume --data other.tsv", ["data (triples.tsv there, other.tsv now)"]),
        ("tune kg --out found --resume --range lr=0.1:1", ["range of lr (0.002:0.05:log there, 0.1:1 now)"]),
        (
            "tune kg --out found --resume --set dim=6 --set epochs=9",
            ["differ: epochs (2 there, 9 now); dim (4 there, 6 now); choose another"],
        ),
        (f"{TUNE} --set dim=6 --set epochs=9 --set dropout=0", ["epochs", "dim (4", "dropout (0.1", "and 1 more"]),
        ("tune hierarchy --out found --resume", ["made by hybonet tune kg"]),
        ("tune hierarchy --out found", ["task (kg there, hierarchy now)", "hybonet tune kg --out found --resume"]),
        ("tune kg --out absent --resume", ["expected a search in 'absent', but search.json is missing"]),
        ("train kg --out found", ["'found' holds files"]),
    ],
)
def test_the_folder_of_another_search_is_refused_and_left_alone(
    started: Path, command: str, fragments: list[str]
) -> None:
    outcome = run(command, started)
    assert outcome.code == 2, outcome.output
    for fragment in fragments:
        assert fragment in outcome.message
    assert outcome.changed == []


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("started")
    (folder / "triples.tsv").write_text(GOOD)
    (folder / "other.tsv").write_text(GOOD + "n1\tdouble\tn7\n")
    assert run(f"{TUNE} --trials 1", folder).code == 0
    return folder


def test_data_that_has_changed_is_noticed(folder: Path) -> None:
    assert run(f"{TUNE} --trials 1", folder).code == 0
    (folder / "triples.tsv").write_text(GOOD + "n1\tdouble\tn7\n")
    outcome = run("tune kg --out found --resume --trials 2", folder)
    assert (outcome.code, outcome.changed) == (2, [])
    assert "data (triples.tsv has changed)" in outcome.message


def test_ctrl_c_in_a_trial_says_how_to_go_on_and_nothing_is_lost(folder: Path) -> None:
    more = "--set epochs=30 --set patience=none --trials 3"
    process = subprocess.Popen(
        [sys.executable, "-m", "hybonet", *f"{TUNE} {more}".split()],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (folder / "found/trials/0002/history.jsonl").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate()
    assert process.returncode == 130, output + error
    stop = error.splitlines()[-1]
    assert re.match(r"trial 2: stopped by SIGINT at epoch \d+, batch \d+; everything is saved, go on with ", stop)
    assert stop.endswith("hybonet tune kg --out found --resume")
    assert len(rows(folder)) == 1
    outcome = run(f"{shlex.join(shlex.split(stop.split(' hybonet ')[1]))} --threads 1", folder)
    assert outcome.code == 0, outcome.output
    assert re.findall(r"^trial (\d)/3", outcome.output, re.M) == ["2", "3"]
    assert [row["trial"] for row in rows(folder)] == ["1", "2", "3"]


def test_own_ranges_alone_are_searched_until_nothing_is_left(folder: Path) -> None:
    outcome = run(f"{TUNE} --own-ranges --range lr=0.01,0.1", folder)
    assert outcome.code == 0, outcome.output
    assert "Searching the best validation mrr over lr 0.01,0.1\n" in outcome.output
    assert "All 2 combinations have been tried\n" in outcome.output
    assert "The time is over" not in outcome.output
    assert sorted(row["lr"] for row in rows(folder)) == ["0.01", "0.1"]
    assert "--own-ranges" not in outcome.output  # no option of the training that is printed
    again = run("tune kg --out found --resume --range lr=0.01,0.1,0.2 --threads 1", folder)
    assert again.code == 2, again.output  # another search
    nothing = run("tune kg --data triples.tsv --out other --own-ranges", folder)
    assert nothing.code == 2, nothing.output
    assert "--own-ranges comes without --range" in nothing.output


def test_the_time_limit_says_how_to_go_on(folder: Path) -> None:
    outcome = run(f"{TUNE} --trials 3 --minutes 0", folder)
    assert outcome.code == 0, outcome.output
    assert "The time is over after 1 of 3 trials; go on with hybonet tune kg --out found --resume\n" in outcome.output
    outcome = run("tune kg --out found --resume --trials 9 --minutes 0 --threads 1", folder)
    assert "after 2 of 9 trials; go on with hybonet tune kg --out found --resume --trials 9\n" in outcome.output


def test_a_hierarchy_has_its_search_too(folder: Path) -> None:
    (folder / "family.csv").write_text(
        "dog,canine\nwolf,canine\ncat,feline\nlion,feline\ncanine,mammal\nfeline,mammal\n"
    )
    outcome = run(
        "tune hierarchy --data family.csv --out found --trials 3 --set epochs=4 --set validate_every=2", folder
    )
    assert outcome.code == 0, outcome.output
    assert {"lr", "negatives", "temperature", "start_radius", "schedule.hold"} < rows(folder)[0].keys()
    command = outcome.output.split("Train with the best settings:\n")[1].splitlines()[0]
    trained = run(f"{command.removeprefix('hybonet ')}", folder)
    assert trained.code == 0, trained.output
    best = max(float(row["mean_average_precision"]) for row in rows(folder))
    metrics = json.loads((folder / "found/best/record.json").read_text())["metrics"]
    assert metrics["mean_average_precision"] == best  # the same training again


def test_all_trials_failed_is_an_error_that_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = task_module.KnowledgeGraphTask.loss
    monkeypatch.setattr(task_module.KnowledgeGraphTask, "loss", lambda *args: original(*args) * float("nan"))
    outcome = run(f"{TUNE} --trials 2", folder)
    assert outcome.code == 2
    assert "none of the 2 trials finished, the last one because the loss became nan" in outcome.message
    assert [row["state"] for row in rows(folder)] == ["failed", "failed"]
    assert not (folder / "found/best.json").exists()


def test_a_settings_file_is_a_recipe_without_ranges(folder: Path) -> None:
    assert run("recipes show default --json", folder).code == 0
    (folder / "mine.json").write_text(json.dumps({"dim": 4, "epochs": 1}))
    outcome = run("tune kg --data triples.tsv --recipe mine.json --out found --trials 2", folder)
    assert (outcome.code, outcome.changed) == (2, [])
    assert "recipe mine.json leaves nothing; give a range" in outcome.message
    ranged = "--range lr=0.001:0.1:log --threads 1"
    assert run(f"tune kg --data triples.tsv --recipe mine.json --out found --trials 2 {ranged}", folder).code == 0
    assert json.loads((folder / "found/best.json").read_text())["dim"] == 4


def test_without_optuna_the_remedy_is_named_and_training_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not there
    outcome = run(f"{TUNE} --trials 2", folder)
    assert (outcome.code, outcome.changed) == (2, [])
    assert "run pip install 'hybonet[tune]'" in outcome.message
    assert run(f"train kg --data triples.tsv --out run {QUICK}", folder).code == 0


def test_training_does_not_import_optuna() -> None:
    code = "import sys, hybonet.cli, hybonet.recipes, hybonet.tuning; sys.exit('optuna' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_best_trials_fit_80_columns(started: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hybonet", *shlex.split("tune kg --out found --resume --trials 5 --threads 1")],
        cwd=started, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    table = done.stdout.split("best trials")[1].split("Trials:")[0].splitlines()
    assert max(map(len, table)) <= 80
    for name in ("schedule.gamma", "label_smoothing", "validation mrr"):
        assert sum(line.startswith(name) for line in table) == 1


def test_translation_is_searched_without_its_test_sentences(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    quick = "--set dim=4 --set heads=2 --set layers=1 --set epochs=2 --set validate_every=1 --set tokenizer=words"
    command = f"tune translation --data pairs.tsv --direction en-de --trials 2 --out found {quick} --threads 1"
    outcome = run(command, tmp_path)
    assert outcome.code == 0, outcome.output
    assert {"lr", "dropout", "schedule.warmup"} < rows(tmp_path)[0].keys()
    best = min(rows(tmp_path), key=lambda row: float(row["perplexity"]))
    assert json.loads((tmp_path / "found/best.json").read_text())["lr"] == float(best["lr"])
    described = json.loads((tmp_path / "found/search.json").read_text())
    assert "test" not in described["data"]
    shown = outcome.output.split("Train with the best settings:\n")[1].splitlines()[0]
    wanted = "hybonet train translation --data pairs.tsv --direction en-de --recipe found/best.json --out found/best"
    assert shown == wanted
    assert run(f"{command} --resume --trials 3", tmp_path).code == 0
    assert len(rows(tmp_path)) == 3
