"""The results pages say what the stored records say, and the records say where each figure comes from."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from hybonet.reporting.run_report import load_records
from hybonet.tasks.base import spec
from hybonet.training import override
from hybonet.training.ranges import read_ranges
from results import catalog, pages, stale, store
from results.__main__ import main
from results.cells import Search, Training, plain_settings, run_cell, that_apply

PROVENANCE = {"run", "task", "commit", "created", "versions", "machine", "threads"}
TRIALS_WITHOUT_DATA_FILES = {"kill-kg", "kill-translation"}


@pytest.fixture
def records(tmp_path, monkeypatch):
    """An empty store."""
    monkeypatch.setattr(store, "RECORDS", tmp_path / "records")
    return tmp_path / "records"


@pytest.mark.parametrize("name", pages.PAGES)
def test_the_page_is_made_from_the_records(name):
    assert pages.path(name).read_text(encoding="utf-8") == pages.text(name), "run python -m results pages"


def test_every_stored_record_is_of_a_known_run_and_says_where_it_comes_from():
    tables = {name: cell.table for name, cell in catalog.experiments().items()}
    tables |= {f"search-{name}": cell.table for name, cell in catalog.searches().items()}
    for table, rows in store.tables().items():
        for row in rows:
            assert tables[row["run"].partition("-seed")[0]] == table
            assert row.keys() >= PROVENANCE, row["run"]
            assert "settings" in row or "grid" in row
            assert row["run"] in TRIALS_WITHOUT_DATA_FILES or row["data"]["sha256"]
            assert table == "trials" or {"seed", "protocol", "recipe"} <= row.keys(), row["run"]


def test_stored_records_are_small_and_hold_neither_sentences_nor_places_of_a_machine():
    paths = sorted(store.RECORDS.rglob("*.jsonl"))
    assert sum(path.stat().st_size for path in paths) < 3e6
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert '"examples"' not in text, path
        assert re.search(r'":"(/|[A-Z]:\\\\)', text) is None, path


def test_a_record_is_stored_without_sentences_and_with_the_parts_to_keep():
    measured = {"bleu": 1 / 3, "examples": [{"source": "ein Haus"}], "by_relation": {"r": {"mrr": 1.0}}}
    record = {"settings": {"lr": 1 / 3}, "test": measured, "validations": [{"epoch": 1}, {"epoch": 2}]}
    assert store.compact(record) == {
        "settings": {"lr": 1 / 3}, "test": {"bleu": 0.33333333}, "validations": [{"epoch": 2}],
    }  # fmt: skip
    kept = store.compact(record, ("validations", "test.by_relation"))
    assert kept["validations"] == record["validations"]
    assert kept["test"]["by_relation"] == measured["by_relation"]


def test_a_record_gives_way_to_one_of_the_same_run_alone(records):
    row = {"task": "kg", "data": {"source": "UMLS"}, "recipe": "default", "seed": 0}
    store.put("kg/small", "umls-seed0", row | {"seconds": 1})
    store.put("kg/small", "umls-seed1", row | {"seed": 1})
    first, second = (records / "kg/small.jsonl").read_text().splitlines()
    store.put("kg/small", "umls-seed0", row | {"seconds": 2})
    assert [each["seconds"] for each in store.records("umls") if each["seed"] == 0] == [2]
    assert (records / "kg/small.jsonl").read_text().splitlines()[1] == second
    with pytest.raises(ValueError, match="umls-seed0: expected a record of kg UMLS default 0"):
        store.put("kg/small", "umls-seed0", row | {"data": {"source": "Nations"}})
    assert first != (records / "kg/small.jsonl").read_text().splitlines()[0]


def test_records_that_are_stored_at_once_are_all_there(records):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seed: store.put("kg/small", f"umls-seed{seed}", {"seed": seed}), range(20)))
    assert sorted(row["seed"] for row in store.records("umls")) == list(range(20))


def test_a_cell_is_run_stored_reported_and_not_run_again(records, tmp_path, capsys):
    triples = tmp_path / "tiny.tsv"
    triples.write_text("".join(f"n{i}\tr\tn{(i * j) % 30}\n" for i in range(30) for j in (2, 3)))
    changes = ("epochs=2", "dim=4", "validate_every=1")
    cell = Training("kg", "tiny", str(triples), changes=changes)
    [run] = cell.runs("tiny")
    run_cell(cell, run, tmp_path / "runs", threads=1)
    [row] = store.records("tiny")
    assert row["settings"]["dim"] == 4
    assert [each["epoch"] for each in row["validations"]] == [2]
    assert load_records([records / "kg"], {"kg": spec("kg").headline})[0] == row | {"source": "tiny-seed0"}
    capsys.readouterr()
    run_cell(cell, run, tmp_path / "runs", threads=1)
    assert capsys.readouterr().out == "tiny-seed0: stored already\n"
    with pytest.raises(SystemExit, match="move it away"):
        run_cell(cell, run, tmp_path / "runs", threads=1, again=True)


def test_the_command_lists_checks_and_refuses_unknown_names(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["results", "list", "umls", "search cora-lp-*"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "umls: 5/5 stored in kg/small; two minutes in all"
    assert lines[-1].startswith("search cora-lp-mlp: 1/1 stored in searches/graph")
    monkeypatch.setattr("sys.argv", ["results", "run", "no-such"])
    with pytest.raises(SystemExit, match="got 'no-such'"):
        main()
    monkeypatch.setattr("sys.argv", ["results", "pages", "--check"])
    monkeypatch.setattr(pages, "text", lambda name: "other")
    with pytest.raises(SystemExit, match="graphs, translation, probing, entity-typing, claims, cold-start: not what"):
        main()


def test_figures_are_stale_when_their_code_has_changed_and_not_when_it_has_moved(tmp_path):
    def commit(text: str, path: str, moved_from: str = "") -> str:
        file = tmp_path / "src/hybonet" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if moved_from:
            (tmp_path / "src/hybonet" / moved_from).unlink()
        git("add", "-A")
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", path)
        return git("rev-parse", "HEAD")

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", tmp_path, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init")
    body = "".join(f"line{number} = {number}\n" for number in range(9))
    old = commit(f"import a\n{body}", "models/conv.py")
    moved = commit(f"import b\n{body}", "tasks/graph/conv.py", "models/conv.py")
    elsewhere = commit("x = 1\n", "tasks/typing/task.py")
    record = {"task": "graph", "created": "2020-01-01T00:00:00+00:00"}
    stored = {"records/graph/cora": [record | {"commit": old}, record | {"commit": moved + "+changes"}]}
    assert stale.report(stored, stale.history(tmp_path)) == []
    commit(f"import b\n{body}".replace("line8 = 8", "line8 = 9"), "tasks/graph/conv.py")
    stored["records/graph/new"] = [record | {"commit": commit("no code", "../../notes.md")}]
    stored["records/typing/ufet"] = [record | {"task": "typing", "commit": elsewhere}]
    commit("drawn = 1\n", "tasks/graph/pictures.py")
    said = f"2 line(s) of code in 1 commit(s) since the oldest (2020-01-01, {old[:7]})"
    expected = [f"records/graph/cora: 2 of 2 figures are older than {said}"]
    assert stale.report(stored, stale.history(tmp_path)) == expected


def test_every_stored_figure_says_when_and_from_which_commit_it_is(monkeypatch, capsys):
    stored = stale.stored_figures()
    files = [path.stem for path in (pages.ROOT / "benchmarks/results").glob("*.json")]
    assert {f"benchmarks/{name}" for name in files} <= stored.keys()
    for name, rows in stored.items():
        for row in rows:
            assert "commit" in row, name
            assert row.keys() & {"created", "date"}, name
    # All that is stored is older than a commit that changes what everything stands on.
    newest = stale.Commit("f" * 40, "9999", stale.Counter({"geometry/distance.py": 3}))
    monkeypatch.setattr(stale, "history", lambda root: [newest])
    monkeypatch.setattr("sys.argv", ["results", "stale"])
    main()
    assert len(capsys.readouterr().out.splitlines()) == len(stored)


def test_what_a_task_is_said_to_depend_on_is_there():
    source = pages.ROOT / "src/hybonet"
    for part in {*stale.SHARED, *(part for parts in stale.OWN.values() for part in parts)}:
        assert (source / part).is_dir() or (source / f"{part}py").is_file(), part


def test_every_experiment_and_every_search_has_settings_that_are_accepted():
    for name, cell in (catalog.experiments() | catalog.searches()).items():
        if isinstance(cell, Training | Search):
            settings = override(plain_settings(cell), that_apply(cell))
            assert all(f"model={settings.model}" == each for each in cell.changes if each.startswith("model=")), name
        if isinstance(cell, Search):
            assert read_ranges(settings, cell.ranges), name
