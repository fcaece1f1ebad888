"""``hybonet report`` on real runs of every task: what it shows is what their records say."""

import json
import re
from pathlib import Path

import pytest

from hybonet.reporting.headlines import look_up
from tests.cli.probe_mistakes import probed
from tests.cli.staging import make_template, run
from tests.cli.translation_mistakes import trained

#: By the run: the table's title, and its columns of numbers with their places in the record.
EXPECTED = {
    "run": (
        "Knowledge graphs",
        {
            "MRR": "test.both.mrr",
            "H@1": "test.both.hits@1",
            "H@3": "test.both.hits@3",
            "H@10": "test.both.hits@10",
            "paper_code": "test_paper_code.mrr",
            "ECE": "test.calibration.ece",
        },
    ),
    "net": (
        "Links of graphs",
        {"ROC AUC": "test.roc_auc", "AP": "test.average_precision", "ECE": "test.calibration.ece"},
    ),
    "teams": (
        "Classes of nodes",
        {"F1": "test.f1", "macro F1": "test.macro_f1", "accuracy": "test.accuracy", "ECE": "test.calibration.ece"},
    ),
    "typed": (
        "Entity typing",
        {"total F1": "test.total.f1", "tuned": "test_calibrated.total.f1", "ECE": "test.total.calibration.ece"},
    ),
    "mt": (
        "Translation",
        {
            "BLEU": "test.bleu",
            "tok. BLEU": "test.tokenized_bleu",
            "chrF": "test.chrf",
            "ppl": "test.perplexity",
        },
    ),
    "probed": ("Probes", {"UUAS": "test.uuas", "Dspr": "test.dspr", "Root": "test.root", "Nspr": "test.nspr"}),
    "tree": ("Hierarchies", {"rank": "metrics.mean_rank", "MAP": "metrics.mean_average_precision"}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every task, those of hierarchies with two seeds."""
    folder = tmp_path_factory.mktemp("report")
    make_template(folder)
    trained(folder)
    probed(folder)
    (folder / "family.csv").write_text("dog,canine\nwolf,canine\ncat,feline\ncanine,mammal\nfeline,mammal\n")
    for seed, name in ((0, "tree"), (1, "tree1")):
        quick = f"--set epochs=1 --set seed={seed} --threads 1"
        outcome = run(f"train hierarchy --data family.csv --out {name} {quick}", folder)
        assert outcome.code == 0, outcome.output
    return folder


def tables(text: str) -> dict[str, list[dict[str, str]]]:
    """Rows of Markdown tables by title."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, *lines = [line for line in part.splitlines() if line]
        header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        found[title] = [dict(zip(header, row, strict=True)) for row in rows]
    return found


def test_every_task_has_a_table_with_its_own_measures(folder: Path) -> None:
    shown = tables(run(f"report {' '.join(EXPECTED)} --format markdown", folder).output)
    assert list(shown) == [title for title, _ in EXPECTED.values()]
    for name, (title, columns) in EXPECTED.items():
        record = json.loads((folder / name / "record.json").read_text())
        (row,) = shown[title]
        headers = list(row)
        assert headers[headers.index("seeds") + 1 : -1] == list(columns)
        assert row["run"] == name
        for header, place in columns.items():
            value = look_up(record, *place.split("."))
            if value is None:  # two validation triples are fitted to nothing
                assert (name, header, row[header]) == ("run", "ECE", "–")
            else:
                assert float(row[header]) == pytest.approx(value, abs=0.0051)


def test_a_folder_of_runs_is_read_and_seeds_become_one_row(folder: Path) -> None:
    outcome = run("report . --format json", folder)
    assert outcome.code == 0, outcome.output
    found = json.loads(outcome.output)
    assert {each["task"] for each in found} == {"kg", "hierarchy", "graph", "translation", "typing", "probe"}
    (trees,) = (each for each in found if each["task"] == "hierarchy")
    assert trees["seeds"] == [0, 1]
    assert trees["measures"]["metrics.mean_rank"]["deviation"] is not None


def test_the_terminal_shows_what_runs_have_in_common_once(folder: Path) -> None:
    text = run("report net teams mt probed", folder).output
    for title, _ in (EXPECTED[name] for name in ("net", "teams", "mt", "probed")):
        assert re.search(rf"^{title}: data ", text, re.M)
    assert "control none" in text
    assert "compare it with nothing else" in text.replace("\n", " ")
