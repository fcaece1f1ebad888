"""The command line's manners: Ctrl-C, broken pipes, tables of 80 columns, files by their ending, runs that go on."""

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from safetensors.torch import load_file
from typer.main import get_command
from typer.testing import CliRunner, Result

import hybonet.__main__

# Imported before anything is replaced in them: a module first imported meanwhile would keep the replacement.
import hybonet.recipes
import hybonet.tasks.hierarchy.pictures
import hybonet.tasks.knowledge_graph.predictor
from hybonet.cli import app
from hybonet.recipes import recipes
from hybonet.tasks.api import recipes_for
from hybonet.tasks.base import spec, specs
from hybonet.training import describe
from hybonet.training.processes import Processes
from tests.cli.staging import make_template, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manners")
    make_template(folder)
    return folder


# Ctrl-C and pipes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("evaluate run", "hybonet.tasks.knowledge_graph.data.read_graph"),
        ("predict run --head n1 --relation next", "hybonet.tasks.knowledge_graph.predictor.KnowledgeGraphModel.of_run"),
        ("train kg --out new", "hybonet.tasks.knowledge_graph.data.load_knowledge_graph"),
        ("train kg --out run --resume", "hybonet.tasks.run.Run.train"),
        ("data list", "hybonet.data.registry.data_sets"),
        ("data fetch UMLS", "hybonet.data.registry.DataSet.fetch"),
        ("data path UMLS", "hybonet.data.registry.DataSet.paths"),
        ("recipes list", "hybonet.recipes.recipes"),
        ("recipes show default", "hybonet.recipes.recipe"),
        ("train hierarchy --out new", "hybonet.tasks.hierarchy.data.load_hierarchy"),
        ("tune kg --out new", "hybonet.tasks.knowledge_graph.data.load_knowledge_graph"),
    ],
)
def test_ctrl_c_is_one_line(command: str, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    outcome = run(command, folder)
    assert outcome.code == 130
    assert outcome.message.startswith("stopped")
    assert "\n" not in outcome.message
    assert ("--resume" in outcome.message) == ("--resume" in command)
    assert outcome.changed == []


def test_ctrl_c_while_modules_are_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        def find_spec(self, *_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "hybonet.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting()])
    with pytest.raises(SystemExit) as leaving:
        hybonet.__main__.main()
    assert leaving.value.code == 130
    assert capsys.readouterr().err == "stopped by Ctrl-C\n"


def test_ctrl_c_waits_until_torch_is_imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = []

    def slow_import(name: str) -> None:
        signal.raise_signal(signal.SIGINT)
        imported.append(name)

    monkeypatch.setattr(sys.modules["hybonet.cli.app"], "import_module", slow_import)  # .app is also the application
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome = run("recipes list", folder)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert imported == ["torch"]
    assert (outcome.code, outcome.message) == (130, "stopped by Ctrl-C")


def test_ctrl_c_outside_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.argv", ["hybonet", "recipes", "list"])
    monkeypatch.setattr(type(get_command(app)), "resolve_command", interrupted)
    with pytest.raises(SystemExit) as leaving:
        hybonet.cli.main()
    assert leaving.value.code != 0
    assert capsys.readouterr().err == "stopped by Ctrl-C\n"


@pytest.mark.parametrize("command", ["data list", "recipes show default", "recipes show default --json", "--help"])
def test_a_reader_who_leaves_is_no_error(command: str, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "hybonet", *command.split()], stdout=subprocess.PIPE, stderr=errors
        )
        process.stdout.close()
        process.wait(timeout=120)
        errors.seek(0)
        assert errors.read() == ""


def test_a_training_goes_on_when_nobody_reads_it_any_more(folder: Path, tmp_path: Path) -> None:
    command = (
        f"train kg --data {folder / 'triples.tsv'} --out {tmp_path / 'run'} --set epochs=10 --set dim=4 --threads 1"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "hybonet", *command.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    process.stdout.close()
    process.wait(timeout=240)
    assert json.loads((tmp_path / "run/record.json").read_text())["epochs"] == 10


def done(command: str) -> Result:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("verb", ["evaluate", "predict --head n1 --relation next"])
def test_an_unfinished_run_says_so(verb: str, folder: Path, tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    shutil.copytree(folder / "run", run_folder)
    (run_folder / "record.json").unlink()
    name, *rest = verb.split()
    said = done(" ".join([name, str(run_folder), *rest])).stderr
    assert re.match(r"note: .*run is unfinished, after epoch \d+ of \d+: .*best model so far; go on with hybonet", said)
    assert done(" ".join([name, str(run_folder), *rest, "--quiet"])).stderr == ""
    with pytest.warns(UserWarning, match="unfinished"):
        hybonet.load(run_folder)


def test_unknown_names_among_questions_are_told_and_the_others_answered(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("head,relation\nn1,next\nnn,next\nn2,nxt\nn2,next\n")
    result = done(f"predict {folder / 'run'} --questions {tmp_path / 'q.csv'} --top 1 --json")
    assert [row["head"] for row in json.loads(result.stdout)] == ["n1", "n2"]
    notes = result.stderr.splitlines()
    assert [re.sub(".*q.csv, ", "", note)[:27] for note in notes[:2]] == [
        "question 2: expected one of",
        "question 3: expected one of",
    ]


def test_data_with_a_recipe_of_their_own_say_so() -> None:
    settings = recipes()["graph-nc"].settings
    assert recipes_for(spec("graph"), None, settings, "Cora").endswith(": cora-nc, paper-cora-nc")
    assert recipes_for(spec("graph"), "cora-nc", settings, "cora") == ""
    assert recipes_for(spec("kg"), None, recipes()["default"].settings, "umls") == ""


# Flags that mean the same everywhere -----------------------------------------------------------------------------


def test_files_are_replaced_with_overwrite_alone(folder: Path, tmp_path: Path) -> None:
    model, answers, report = (tmp_path / name for name in ("model", "answers.csv", "report.json"))
    for command in (
        f"predict {folder / 'run'} --head n1 --relation next --output {answers}",
        f"evaluate {folder / 'run'} --output {answers.with_suffix('.json')}",
        f"export {folder / 'run'} --output {model}",
        f"export {folder / 'run'} --to vectors --output {tmp_path / 'vectors.tsv'}",
        f"report {folder / 'run'} --json --output {report}",
    ):
        done(command)
        assert CliRunner().invoke(app, command.split()).exit_code == 2, command
        done(f"{command} --overwrite")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["model", "answers.csv", "answers.json", "report.json", "vectors.tsv"]
    )
    assert hybonet.load(model).predict(head="n1", relation="next", top=1)
    refused = CliRunner().invoke(app, f"export {folder / 'run'} --output {folder / 'run'} --overwrite".split())
    assert (refused.exit_code, (folder / "run/record.json").exists()) == (2, True)
    assert "expected an exported model to replace" in refused.stderr


def test_pictures_that_were_drawn_elsewhere_are_replaced_with_overwrite_alone(folder: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "pictures", tmp_path / "relations.png"):
        command = f"plot {folder / 'run'} --output {place} --json"
        assert json.loads(done(command).stdout)["pictures"]
        refused = CliRunner().invoke(app, command.split())
        assert (refused.exit_code, "add --overwrite to replace it" in refused.stderr) == (2, True)
        done(f"{command} --overwrite")


def test_what_is_written_is_told_as_json(folder: Path, tmp_path: Path) -> None:
    told = json.loads(done(f"export {folder / 'run'} --to vectors --output {tmp_path / 'v.tsv'} --json").stdout)
    assert told["output"] == str(tmp_path / "v.tsv")
    assert "vectors of" in told["about"]
    made = json.loads(done(f"data disease-tree --out {tmp_path / 'tree'} --nodes 40 --json").stdout)
    measured = json.loads(done(f"data hyperbolicity {made[0]} --json").stdout)
    assert (measured["nodes"], measured["edges"], measured["delta"]) == (40, 39, 0)


@pytest.mark.parametrize(
    ("words", "offered"), [("predict {run} --", "--relation"), ("predict typing --", "--mention"), ("pr", "predict")]
)
def test_the_shell_completes_what_fits_the_task(
    words: str, offered: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"hybonet {words.format(run=folder / 'run')}"
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    monkeypatch.setenv("_HYBONET_COMPLETE", "complete_bash")
    said = CliRunner().invoke(app, [], prog_name="hybonet").stdout
    assert offered in said.split()


@pytest.mark.parametrize(
    "command", ["recipes list", "evaluate run", "report run", "predict run --head n1 --relation next"]
)
def test_nothing_is_cut_on_a_narrow_screen_or_in_a_pipe(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    narrow = CliRunner(env={"COLUMNS": "50", "NO_COLOR": "1"}).invoke(app, command.split()).stdout
    piped = CliRunner().invoke(app, command.split()).stdout
    assert "…" not in narrow + piped
    if command.startswith(("recipes", "predict")):
        assert max(map(len, narrow.splitlines())) <= 50
    if command == "recipes list":
        assert any(
            line.startswith("wn18rr-500 ") and line.rstrip().endswith("on one core") for line in piped.splitlines()
        )


def test_what_is_read_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    asked, record = tmp_path / "a.csv", tmp_path / "record.json"
    asked.write_text("head,relation,tail\nn1,next,\n")
    record.write_bytes((folder / "run/record.json").read_bytes())
    (tmp_path / "link.csv").symlink_to(asked)
    before = {path: path.read_bytes() for path in (asked, record)}
    for command in (
        f"predict {folder / 'run'} --questions {asked} --output {asked} --overwrite",
        f"predict {folder / 'run'} --questions {asked} --output {tmp_path / 'link.csv'} --overwrite",
        f"report {record} --json --output {record} --overwrite",
    ):
        refused = CliRunner().invoke(app, command.split())
        assert refused.exit_code == 2, command
        assert "expected --output to be another file than that of the" in refused.stderr
    assert {path: path.read_bytes() for path in (asked, record)} == before


def test_json_is_all_that_is_written_to_standard_output(folder: Path, tmp_path: Path) -> None:
    quick = f"--data {folder / 'triples.tsv'} --set epochs=2 --set dim=4 --threads 1 --out {tmp_path}"
    trained = done(f"train kg {quick}/run --json")
    assert json.loads(trained.stdout)["epochs"] == 2
    quiet = done(f"train kg {quick}/run --json --quiet --overwrite")
    assert (json.loads(quiet.stdout)["epochs"], quiet.stderr) == (2, "")
    searched = done(f"tune kg {quick}/search --trials 1 --own-ranges --range lr=0.01,0.02 --json")
    assert json.loads(searched.stdout).keys() == {"best", "trials"}
    assert "trial 1/1" in searched.stderr
    again = done(f"tune kg {quick}/search --trials 1 --own-ranges --range lr=0.01,0.02 --quiet --overwrite")
    assert (again.stdout, again.stderr) == ("", "")
    assert json.loads(done(f"plot {tmp_path / 'run'} --output {tmp_path / 'pictures'} --json").stdout)["pictures"]
    assert {"name": "default", "task": "kg"}.items() <= json.loads(done("recipes list --json").stdout)[0].items()


# What is shown -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["data list", "recipes list", "recipes show default", "evaluate run"])
def test_tables_fit_80_columns(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    result = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, command.split())
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "…" not in result.stdout


def test_a_recipe_is_shown_with_meanings_or_as_json(folder: Path) -> None:
    text = run("recipes show paper-wn18rr-32", folder).output
    row = next(line for line in text.splitlines() if line.startswith("max_norm "))
    assert row.split(maxsplit=2)[1] == "1.5"
    assert row.split(maxsplit=2)[2].startswith("longest space part")
    assert json.loads(run("recipes show paper-wn18rr-32 --json", folder).output)["scale"] == 3.5


def test_every_setting_of_every_recipe_is_explained(folder: Path) -> None:
    for name, recipe in hybonet.recipes.recipes().items():
        assert all(meaning.strip() for _, _, meaning in describe(recipe.settings)), name
    first_of_task = {recipe.task: name for name, recipe in reversed(hybonet.recipes.recipes().items())}
    assert set(first_of_task) == {"kg", "hierarchy", "graph", "translation", "typing", "probe"}
    for name in first_of_task.values():
        shown = run(f"recipes show {name}", folder)
        assert shown.code == 0, shown.output
        explained = {line.split()[0] for line in shown.output.splitlines() if line[:1].strip()}
        assert {key for key, _, _ in describe(hybonet.recipes.recipe(name).settings)} <= explained


def test_the_shipped_graph_is_said_to_be_inside_the_package(folder: Path) -> None:
    assert "nothing to fetch: wordnet is inside the package" in run("data fetch WordNet", folder).output
    shown = run("data path wordnet", folder)
    assert "inside the package" in shown.message
    files = [line for line in shown.output.splitlines() if line.endswith(".xz")]
    assert len(files) == 4
    assert all(Path(file).is_file() for file in files)


@pytest.mark.parametrize(
    "command", ["train kg", "train graph", "tune kg", "tune graph", "tune hierarchy", "evaluate", "predict"]
)
def test_help_teaches_by_examples(command: str) -> None:
    text = " ".join(CliRunner().invoke(app, [*command.split(), "--help"], prog_name="hybonet").stdout.split())
    assert text.split("Examples")[1].count(f"hybonet {command} ") >= 3


def test_every_command_in_help_and_docs_can_be_called() -> None:
    root = Path(__file__).resolve().parents[2]
    texts = [path.read_text() for path in (root / "src/hybonet/cli").glob("*.py")]
    for each in specs().values():
        texts += [options.help_text()[1] for options in (each.options, *each.verbs.values()) if options]
    texts += [
        (root / name).read_text()
        for name in ("README.md", "docs/knowledge-graphs.md", "docs/graph-learning.md", "docs/tuning.md")
    ]
    found = [
        match for text in texts for match in re.findall(r"`hybonet ([^`]*)`|^\$ (?:\S*/)?hybonet ([^#\n]*)", text, re.M)
    ]
    calls = [" ".join((quoted or shown).split()) for quoted, shown in found]
    checked = 0
    for call in calls:
        if "--" not in call or call.endswith("--help") or "…" in call or "{" in call:
            continue
        command, words = get_command(app), call.split()
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        assert "--out" in words or call.split()[0] not in ("train", "tune"), call
        command.make_context("hybonet", words)  # an unknown option or a missing argument raises
        checked += 1
    assert checked >= 20


# Answers by file ending --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "option"), [("a.tsv", ""), ("a.csv", ""), ("a.txt", "--format tsv"), ("a.json", "")])
def test_answers_are_written_as_the_ending_or_the_format_says(name: str, option: str, folder: Path) -> None:
    outcome = run(f"predict run --head n1 --relation next --top 3 --output {name} {option}", folder)
    assert outcome.code == 0, outcome.output
    assert outcome.changed == [name]
    path = folder / name
    if name == "a.json":
        rows = json.loads(path.read_text())
    else:
        rows = list(csv.DictReader(path.open(newline=""), delimiter="," if name == "a.csv" else "\t"))
    assert [int(row["rank"]) for row in rows] == [1, 2, 3]
    assert {row["head"] for row in rows} == {"n1"}
    path.unlink()


# Several processes ---------------------------------------------------------------------------------------------------


def test_only_the_main_process_starts_a_run_and_speaks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []
    second = Processes(rank=1, world=2)
    monkeypatch.setattr(Processes, "agree", lambda self, value: value)
    monkeypatch.setattr(Processes, "wait_for_all", lambda self: None)
    monkeypatch.setattr("hybonet.training.processes.joined_processes", lambda settings: nullcontext(second))
    monkeypatch.setattr("hybonet.tasks.run.Run.train", lambda run, **_: trained.append(run.folder))
    outcome = run("train kg --data triples.tsv --out run", folder)  # which the first process has started
    assert (outcome.code, outcome.output, outcome.changed) == (0, "", [])
    assert trained == [Path("run")]


# Runs that go on ---------------------------------------------------------------------------------------------------


def test_tasks_are_listed_in_the_order_of_the_documentation():
    listed = [
        line.split()[1] for line in CliRunner().invoke(app, ["train", "--help"]).stdout.splitlines() if "│ " in line
    ]
    tasks = ["kg", "graph", "translation", "typing", "hierarchy", "probe"]
    assert [word for word in listed if word in tasks] == tasks


def test_a_run_gets_more_epochs(tmp_path: Path) -> None:
    make_template(tmp_path)
    outcome = run("train kg --out run --resume --set epochs=4 --threads 1", tmp_path)
    assert outcome.code == 0, outcome.output
    assert json.loads((tmp_path / "run/config.json").read_text())["settings"]["epochs"] == 4
    assert json.loads((tmp_path / "run/record.json").read_text())["epochs"] == 4
    assert len((tmp_path / "run/history.jsonl").read_text().splitlines()) == 4
    straight = "--set dim=4 --set epochs=4 --set batch_size=40 --set validate_every=1 --threads 1"
    assert run(f"train kg --data triples.tsv --out straight {straight}", tmp_path).code == 0
    longer, expected = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("run", "straight"))
    assert all(bool((longer[key] == value).all()) for key, value in expected.items())
    assert not list(tmp_path.rglob("*.partial"))


def test_a_change_that_changes_nothing_leaves_the_settings_alone(tmp_path: Path) -> None:
    make_template(tmp_path)
    outcome = run("train kg --out run --resume --set epochs=2 --set patience=6 --set dim=4 --threads 1", tmp_path)
    assert outcome.code == 0, outcome.output
    assert "run/config.json" not in outcome.changed
    assert "run/model.safetensors" not in outcome.changed
