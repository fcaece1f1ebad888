"""``hybonet data``: networks listed, shown, measured and made."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet.cli import app


@pytest.fixture(autouse=True)
def empty_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYBONET_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def call(*arguments: object) -> tuple[int, str, str]:
    environment = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}
    result = CliRunner(env=environment).invoke(app, [str(each) for each in arguments], prog_name="hybonet")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_list_knows_networks() -> None:
    code, text, _ = call("data", "list")
    assert code == 0
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["cora"][1:] == ["2,708", "5,278", "1,433", "7", "no"]
    assert rows["disease-small"][-1] == "generated"
    assert max(map(len, text.splitlines())) <= 80


def test_show_tells_sizes_classes_and_checksums() -> None:
    code, text, _ = call("data", "show", "Disease-Small")
    assert code == 0
    for fragment in ("nodes: 600", "edges: 599", "class infected: 124", "sha256", "generated with seed 0"):
        assert fragment in text
    assert "entities: 4,156" in call("data", "show", "wordnet")[1]


def test_show_tells_what_was_left_out_of_own_files(tmp_path: Path) -> None:
    Path("e.tsv").write_text("a\tb\nb\ta\nb\tc\nc\tc\n")
    Path("l.csv").write_text("node,label\na,x\nb,y\nc,x\n")
    code, text, _ = call("data", "show", "e.tsv", "--labels", "l.csv")
    assert code == 0
    assert "left out: 1 repeated edges, 1 self loops" in text
    assert "class x: 2 nodes" in text


def test_hyperbolicity_of_a_name_and_of_a_file() -> None:
    code, text, _ = call("data", "hyperbolicity", "disease-small")
    assert code == 0
    assert "δ: 0 (exact" in text
    assert "those of a tree" in text
    Path("ring.csv").write_text("from,to\n" + "".join(f"{i},{(i + 1) % 12}\n" for i in range(12)))
    code, text, _ = call("data", "hyperbolicity", "ring.csv", "--samples", 500, "--seed", 3)
    assert code == 0
    assert "500 random quadruples" in text
    assert "relative δ: 1.000 (2δ over the diameter, 6)" in text
    assert "far from a tree" in text


def test_disease_tree_writes_files_that_can_be_shown() -> None:
    code, text, _ = call("data", "disease-tree", "--out", "made/tree", "--nodes", 40, "--seed", 2)
    assert code == 0
    assert text.split() == ["made/tree/edges.csv", "made/tree/features.csv", "made/tree/labels.csv"]
    first = Path("made/tree/features.csv").read_bytes()
    given = ("--features", "made/tree/features.csv", "--labels", "made/tree/labels.csv")
    assert "features: 11" in call("data", "show", "made/tree/edges.csv", *given)[1]
    code, _, error = call("data", "disease-tree", "--out", "made/tree", "--nodes", 50)
    assert code == 2
    assert "holds files" in error
    assert Path("made/tree/features.csv").read_bytes() == first
    call("data", "disease-tree", "--out", "again", "--nodes", 40, "--seed", 2)
    assert Path("again/features.csv").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["show", "coro"], ["did you mean 'cora'?"]),
        (["show", "wordnett"], ["did you mean 'wordnet'?"]),
        (["show", "cora"], ["files of cora", "hybonet data fetch cora"]),
        (["show", "disease-small", "--labels", "x.csv"], ["no options with the named data", "labels"]),
        (["show", "bad.csv"], ["bad.csv, line 2", "got 1"]),
        (["hyperbolicity", "airpot"], ["did you mean 'airport'?"]),
        (["path", "cora"], ["hybonet data fetch cora"]),
        (["path", "disease-small"], ["generated"]),
        (["fetch", "disease-small"], ["nothing to fetch"]),
    ],
)
def test_mistakes_are_clean_and_leave_nothing(tmp_path: Path, arguments: list[str], fragments: list[str]) -> None:
    Path("bad.csv").write_text("a,b\nc\n")
    code, text, error = call("data", *arguments)
    assert code == 2
    for fragment in fragments:
        assert fragment in error
    assert text == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.csv"]


def test_tables_of_more_columns_are_shown_and_measured(tmp_path: Path) -> None:
    Path("e.csv").write_text("who,whom,how often\n" + "".join(f"n{i},n{i + 1},3\n" for i in range(5)))
    Path("l.csv").write_text("node,shape,colour\n" + "".join(f"n{i},o,{'red' if i else ''}\n" for i in range(6)))
    for command in ("show", "hyperbolicity"):
        code, _, errors = call("data", command, "e.csv", "--header")
        assert (code, "(--columns)" in errors) == (2, True)
    code, text, _ = call("data", "hyperbolicity", "e.csv", "--columns", "who,whom")
    assert (code, "6 nodes, 5 edges" in text) == (0, True)
    given = ("data", "show", "e.csv", "--columns", "0,1", "--header", "--labels", "l.csv")
    assert "(--label-column)" in call(*given)[2]
    assert "(--allow-unlabelled)" in call(*given, "--label-column", "2")[2]
    code, text, _ = call(*given, "--label-column", "colour", "--allow-unlabelled")
    assert (code, "class red: 5 nodes" in text) == (0, True)
    assert "note: of the edges two columns are read; left out, weights included: how often" in text


RING = "".join(f"n{n},step {by},n{(n + by) % 30}\n" for n in range(30) for by in (1, 2))
FILES = {
    "triples": ("facts.tsv", RING.replace(",", "\t"), "kg"),
    "triples with a header": ("facts.csv", f"subject,predicate,object\n{RING}", "kg"),
    "edges": ("edges.csv", "1,2\n2,3\n3,1\n", "graph"),
    "edges with weights": ("edges.csv", "source,target,weight\nann,bob,1\nbob,cat,2\n", "graph"),
    "child and parent": ("kinds.csv", "child,parent\ndog,canine\nwolf,canine\n", "hierarchy"),
    "paths": ("shop.txt", "Pets\nPets > Dogs\nPets > Cats\n", "hierarchy"),
    "an ontology": ("some.obo", "[Term]\nid: a\nname: A\n\n[Term]\nid: b\nname: B\nis_a: a ! A\n", "hierarchy"),
    "sentences": ("text.tsv", "".join(f"a dog saw {n}\tein Hund sah {n}\n" for n in range(20)), "translation"),
    "trees": ("mine.conllu", "1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n" * 10, "probe"),
    "mentions": (
        "mine.json",
        '[{"left_context_token": [], "mention_span": "Ada", "right_context_token": ["."], "y_str": ["person"]}]',
        "typing",
    ),
    "triples of JSON": ("facts.json", json.dumps([row.split(",") for row in RING.splitlines()]), "kg"),
    "triples with semicolons": ("facts.csv", RING.replace(",", ";"), "kg"),
    "edges with weights and odd names": (
        "e.csv",
        "who,whom,how\n" + "".join(f"n{n},n{n + 1},{n}.5\n" for n in range(9)),
        "graph",
    ),
    "a table with words": ("eyes.csv", "node,eyes,age\nann,blue,3\nbob,grey,4\ncat,blue,5\n", "features"),
    "labels": ("labels.csv", "node,label\nann,x\nbob,y\n", "labels"),
    "features": ("ages.csv", "node,age,height\nann,31,1.7\nbob,47,1.8\n", "features"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_is_recognised_and_a_command_proposed(what: str) -> None:
    name, text, kind = FILES[what]
    Path(name).write_text(text)
    options = ["--columns", "0,1"] if what == "edges with weights" else []
    code, shown, error = call("data", "show", name, "--json", *options)
    assert (code, error) == (0, "")
    found = json.loads(shown)
    assert found["kind"] == kind
    assert all(count > 0 for part, count in found["statistics"].items() if part in ("train", "nodes", "names", "types"))
    if not options:
        assert name in found["command"]
        assert found["command"] in call("data", "show", name)[1]


def test_what_is_too_small_to_train_on_is_recognised_all_the_same() -> None:
    Path("few.csv").write_text("ann,knows,bob\nbob,knows,cat\n")
    code, shown, _ = call("data", "show", "few.csv")
    assert code == 0
    assert "triples of a knowledge graph" in shown
    assert "as it is it cannot be trained on: expected a graph of which 5%" in " ".join(shown.split())


def test_lists_paths_and_names_are_there_for_programs(tmp_path: Path) -> None:
    entries = json.loads(call("data", "list", "--json")[1])
    assert {"kg", "graph", "translation", "probe", "typing", "hierarchy"} == {entry["kind"] for entry in entries}
    assert next(each for each in entries if each["name"] == "CoDEx-M")["statistics"]["relations"] == 51
    assert json.loads(call("data", "path", "wordnet", "--json")[1])["train"].endswith("wordnet_graph_train.tsv.xz")
    assert json.loads(call("data", "show", "disease-small", "--json")[1])["classes"] == {
        "healthy": 476,
        "infected": 124,
    }
