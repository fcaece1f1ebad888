"""Reading triples: formats, columns, names, lookups, and what every bad input is told."""

import gzip
import importlib
import lzma
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hybonet.data import TripleData, Vocabulary, load_knowledge_graph
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import parse_table
from hybonet.data.triples.triple_file import read_triple_file

ROWS = [("dog", "is a", "canine"), ("wolf", "is a", "canine"), ("dog", "eats", "meat"), ("wolf", "eats", "meat")]
TSV = "".join("\t".join(row) + "\n" for row in ROWS)
CSV = TSV.replace("\t", ",")


def labelled(graph: TripleData, split: str = "train") -> list[tuple[str, str, str]]:
    rows = graph.triples(split).tolist()
    return [(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in rows]


def write_splits(folder: Path, ending: str = ".txt", **texts: str) -> Path:
    for split, text in texts.items():
        (folder / f"{split}{ending}").write_text(text, encoding="utf-8")
    return folder


def in_memory(content: bytes | str, name: str = "facts.tsv") -> SourceFile:
    return SourceFile(name, name, content.encode() if isinstance(content, str) else content)


# Formats -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.txt", TSV.encode()),
        ("train.tsv", TSV.encode()),
        ("train.csv", CSV.encode()),
        ("train.tsv.gz", gzip.compress(TSV.encode())),
        ("train.csv.xz", lzma.compress(CSV.encode())),
        ("train.tsv", b"\xef\xbb\xbf" + TSV.encode()),
        ("train.tsv", TSV.replace("\n", "\r\n").encode()),
        ("train.tsv", TSV.removesuffix("\n").encode()),
        ("train.tsv", ("\n" + TSV.replace("\n", "\n \n\n")).encode()),
        ("train.tsv", TSV.replace("\t", " \t ").encode()),
        ("train.csv", CSV.replace("canine", '"canine"').encode()),
        ("train.tsv", ("head\trelation\ttail\n" + TSV).encode()),
        ("train.csv", ("Subject,Predicate,Object\n" + CSV).encode()),
    ],
    ids=(
        "txt tsv csv gz xz bom crlf no-last-newline blank-lines spaces quotes header capital-header".split()  # noqa: SIM905
    ),
)
def test_every_format_gives_the_same_triples(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "valid.txt").write_text("wolf\tis a\tcanine\n")
    (tmp_path / "test.txt").write_text("dog\tis a\tcanine\n")
    graph = load_knowledge_graph(tmp_path)
    assert labelled(graph) == ROWS
    assert graph.entities.labels == ("canine", "dog", "meat", "wolf")
    assert graph.relations.labels == ("eats", "is a")


def test_parquet_reads_text_numbers_and_chosen_columns(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    table = arrow.table({"id": [1, 2], "object": ["b", "c"], "subject": [10, 11], "predicate": ["p", "p"]})
    parquet.write_table(table, tmp_path / "facts.parquet")
    content = (tmp_path / "facts.parquet").read_bytes()
    by_header = read_triple_file(in_memory(content, "facts.parquet"))
    assert (by_header.heads, by_header.relations, by_header.tails) == (["10", "11"], ["p", "p"], ["b", "c"])
    chosen = read_triple_file(in_memory(content, "facts.parquet"), columns=("subject", "predicate", "id"))
    assert chosen.tails == ["1", "2"]


def test_parquet_problems_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")

    def read(columns: dict[str, list[object]]) -> object:
        parquet.write_table(arrow.table(columns), tmp_path / "facts.parquet")
        return read_triple_file(in_memory((tmp_path / "facts.parquet").read_bytes(), "facts.parquet"))

    with pytest.raises(ValueError, match=r"facts.parquet, row 2: expected a printable tail, got an empty field"):
        read({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", None]})
    with pytest.raises(ValueError, match=r"expected 3 columns .* got 2: head, tail; choose three"):
        read({"head": ["a"], "tail": ["b"]})
    with pytest.raises(ValueError, match=r"expected text or numbers in the column 'tail', got list"):
        read({"head": ["a"], "relation": ["r"], "tail": [["b"]]})
    with pytest.raises(ValueError, match=r"expected at least one triple, got no rows"):
        read({"head": [], "relation": [], "tail": []})
    with pytest.raises(ValueError, match=r"facts.parquet: expected Parquet data, got a damaged"):
        read_triple_file(in_memory("no parquet", "facts.parquet"))
    monkeypatch.setitem(importlib.import_module("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install hybonet\[parquet\]"):
        read_triple_file(in_memory("anything", "facts.parquet"))


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("id,object,subject,predicate\n1,b,a,r\n", {"columns": ("subject", "predicate", "object")}),
        ("id,object,subject,predicate\n1,b,a,r\n", {}),
        ("x,b,a,r\n", {"columns": (2, 3, 1)}),
        ("from,via,to\na,r,b\n", {"columns": ("from", "via", "to")}),
        ("from,via,to\na,r,b\n", {"header": True}),
        ('"a","r","b"\n', {}),
        ("a;r;b\n", {"separator": ";"}),
        ('id,head,relation,tail,note\n1,a,r,b,"two\nlines"\n', {}),
    ],
)
def test_columns_by_name_position_or_usual_header(content: str, options: dict[str, object]) -> None:
    read = read_triple_file(in_memory(content, "facts.csv"), **options)
    assert (read.heads, read.relations, read.tails) == (["a"], ["r"], ["b"])


def test_a_header_that_was_recognised_is_noted(tmp_path: Path) -> None:
    write_splits(tmp_path, train="o,s,p\n" + CSV, valid=CSV, test=CSV, ending=".csv")
    graph = load_knowledge_graph(tmp_path, valid=0, test=0)
    assert graph.notes == (f"{tmp_path / 'train.csv'}: columns s, p, o of its header read as head, relation, tail",)


def test_a_header_in_unknown_words_is_skipped_in_every_file(tmp_path: Path) -> None:
    rows = [f"n{at},{kind},n{(at + step) % 20}\n" for at in range(20) for step, kind in ((1, "next"), (2, "second"))]
    parts = {"train": rows[:30], "valid": rows[30:35], "test": rows[35:]}
    for split, part in parts.items():
        (tmp_path / f"{split}.csv").write_text("wer,wie,wen\n" + "".join(part))
    graph = load_knowledge_graph(tmp_path)
    assert (len(graph.train), len(graph.valid), len(graph.test)) == (30, 5, 5)
    assert "wer" not in graph.entities
    assert sum("the first row (wer, wie, wen) is read as column names" in note for note in graph.notes) == 3
    assert "wer" in load_knowledge_graph(tmp_path, header=False).entities
    (tmp_path / "train.csv").write_text("wer,wie,wen\n" + "".join(rows[:30]) + "one,of,many\n")
    unsure = load_knowledge_graph(tmp_path)
    assert "wer" in unsure.entities
    assert any("--header" in note for note in unsure.notes)


def test_loops_are_kept_and_counted() -> None:
    graph = load_knowledge_graph([(f"n{at}", "knows", f"n{at // 2}") for at in range(30)])
    assert "1 triples join an entity with itself; they are kept, for a relation may say so" in graph.notes


def test_a_header_is_data_if_the_caller_says_so() -> None:
    assert read_triple_file(in_memory("head\trelation\ttail\n"), header=False).heads == ["head"]


# Bad input ---------------------------------------------------------------------------------------------------------

BAD_FILES = {
    "too few columns": (
        "a\tr\tb\na\tr\n",
        {},
        r"facts.tsv, line 2: expected 3 columns \(head, relation, tail\) .* got 2",
    ),
    "too many columns": ("a\tr\tb\na\tr\tb\tc\n", {}, r"line 2: expected 3 columns .* got 4: 'a\\tr\\tb\\tc'"),
    "two columns throughout": ("a\tb\nc\td\n", {}, r"line 1: .* got 2: 'a\\tb'; write head, relation and tail"),
    "four columns throughout": ("a\tr\tb\tc\n", {}, r"got 4: .* choose three with --columns, e.g. --columns 0,1,2"),
    "wrong separator": ("a r b\nc r d\n", {}, r"seem to be separated by a space: give --separator ' '"),
    "long separator": ("a\tr\tb\n", {"separator": "::"}, r"expected one character between columns, got '::'"),
    "empty field": (
        "a\tr\tb\n\n\tr\tb\n",
        {},
        r"line 3: expected a printable head, got an empty field; correct",
    ),
    "blank field": ("a\tr\t  \n", {}, r"line 1: expected a printable tail, got an empty field"),
    "control character": (
        "a\tr\tb\x07\n",
        {},
        r"line 1: expected a printable tail, got control characters in 'b.x07'",
    ),
    "not UTF-8": (b"a\tr\tb\ncaf\xe9\tr\tb\n", {}, r"facts.tsv, line 2: expected UTF-8 text, got the byte 0xe9"),
    "UTF-16": (
        "a\tr\tb\n".encode("utf-16"),
        {},
        r"line 1: expected UTF-8 text, got the byte 0xff; save",
    ),
    "empty file": ("", {}, r"facts.tsv: expected at least one triple, got an empty file"),
    "blank lines only": ("\n  \n\n", {}, r"expected at least one triple, got an empty file"),
    "header only": ("head\trelation\ttail\n", {}, r"expected at least one triple, got a header alone"),
    "unknown column": (
        "subject\tpredicate\tobject\na\tr\tb\n",
        {"columns": ("subject", "predicat", "object")},
        r"expected a column 'predicat', got subject, predicate, object; did you mean 'predicate'\?",
    ),
    "column twice": (
        "subject\tpredicate\tobject\na\tr\tb\n",
        {"columns": ("subject", "subject", "object")},
        r"expected three different columns",
    ),
    "doubtful column": ("x\tx\ty\na\tr\tb\n", {"columns": ("x", "y", "x")}, r"expected one column called 'x', got 2"),
    "column out of range": ("a\tr\tb\n", {"columns": (0, 1, 3)}, r"expected column positions from 0 to 2, got 3"),
    "columns as text": ("a\tr\tb\n", {"columns": "abc"}, r"expected three columns .* by name or position, got 'abc'"),
    "names without header": (
        "a\tr\tb\n",
        {"columns": ("a", "r", "b"), "header": False},
        r"expected column positions where header=False, got names",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file_is_told_what_is_wrong_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    content, options, message = BAD_FILES[case]
    path = tmp_path / "facts.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=message):
        load_knowledge_graph(path, **options)
    assert [entry.name for entry in tmp_path.iterdir()] == ["facts.tsv"]


def test_every_bad_row_is_counted_and_the_first_ones_shown() -> None:
    content = "".join(f"a\tr\tb{i}\n" if i % 10 else f"only{i}\n" for i in range(100))
    with pytest.raises(ValueError, match="10 of 100 rows") as error:
        read_triple_file(in_memory(content))
    lines = str(error.value).split("\n")
    assert lines[0] == "facts.tsv: 10 of 100 rows are not triples; correct or remove them, nothing was loaded"
    assert lines[2] == "  line 11: expected 3 columns (head, relation, tail) separated by a tab, got 1: 'only10'"
    assert lines[-1] == "  and 5 more"


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 80), (81, "x" * 79 + "…")])
def test_a_bad_row_of_eighty_characters_is_shown_whole_and_a_longer_one_cut(length: int, shown: str) -> None:
    with pytest.raises(ValueError, match=f"got 1: '{shown}'"):
        read_triple_file(in_memory(f"a\tr\tb\n{'x' * length}\n"))


def test_different_faults_are_reported_together() -> None:
    with pytest.raises(ValueError, match="3 of 4 rows") as error:
        read_triple_file(in_memory("a\tr\tb\nonly\n\tr\t\nx\x00\tr\tb\n"))
    assert str(error.value).split("\n")[1:] == [
        "  line 2: expected 3 columns (head, relation, tail) separated by a tab, got 1: 'only'",
        "  line 3: expected a printable head, got an empty field",
        "  line 4: expected a printable head, got control characters in 'x\\x00'",
    ]


cells = st.text(st.sampled_from('ab \r\n\t,"é'), max_size=4)


@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5), separator=st.sampled_from("\t,"))
def test_the_fast_reading_equals_the_careful_one(rows: list[tuple[str, str, str]], separator: str) -> None:
    text = "\n".join(separator.join(row) for row in rows) + "\n"
    table = parse_table(text.encode(), "facts", separator=separator)
    fast = table.columns()
    if fast is not None and all(table.rows):
        assert fast == [list(column) for column in zip(*table.rows, strict=True)]


@pytest.mark.parametrize(("separator", "quoted", "fast"), [(",", "b", True), (",", '"b"', False), ("\t", '"b"', True)])
def test_only_quoted_cells_of_csv_are_read_with_care(separator: str, quoted: str, fast: bool) -> None:
    found = parse_table(f"a{separator}{quoted}\n".encode(), "facts", separator=separator).columns()
    assert found == ([["a"], [quoted]] if fast else None)


def test_line_numbers_survive_quoted_line_breaks() -> None:
    content = 'head,relation,tail,note\na,r,b,"two\nlines"\na,r,,fine\n'
    with pytest.raises(ValueError, match=r"facts.csv, line 4: expected a printable tail"):
        read_triple_file(in_memory(content, "facts.csv"))


def test_unclosed_quote_is_explained() -> None:
    with pytest.raises(ValueError, match=r"facts.csv, line 2: expected one triple per line as CSV, got malformed"):
        read_triple_file(in_memory('a,r,b\n"c,r,d\n', "facts.csv"))


BAD_FOLDERS = {
    "no folder": ({}, "absent", r"got '.*absent', which is neither a path nor a name; check the path"),
    "no train": ({"facts.tsv": b"a\tr\tb\n"}, "", r"expected a file train.txt, .* got facts.tsv; rename"),
    "empty folder": ({}, "", r"got no files"),
    "two trains": (
        {"train.txt": b"", "train.csv.gz": b""},
        "",
        r"one file for train, got train.csv.gz, train.txt;",
    ),
    "unknown ending": ({"facts.docx": b"{}"}, "facts.docx", r"ending in .txt or .tsv or .csv.*got '.docx'"),
    "no ending": ({"facts": b"{}"}, "facts", r"got 'no ending'"),
    "damaged gzip": (
        {"facts.tsv.gz": b"\x1f\x8bno"},
        "facts.tsv.gz",
        r"expected gz data, got a damaged",
    ),
    "cut-off xz": ({"facts.tsv.xz": lzma.compress(b"abc")[:-9]}, "facts.tsv.xz", r"expected xz data, got a damaged"),
    "tree": ({"facts.tsv": b"a\tr\tb\nb\tr\tc\n"}, "facts.tsv", r"2 triples, 0 of which can leave train"),
    "bad test": ({"train.txt": TSV.encode(), "test.txt": b"a\tb\n"}, "", r"test.txt, line 1: expected 3 columns"),
}


@pytest.mark.parametrize("case", BAD_FOLDERS)
def test_bad_folder_is_told_what_is_wrong_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    files, path, message = BAD_FOLDERS[case]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_knowledge_graph(tmp_path / path, valid=0.4, test=0.4)
    assert {entry.name for entry in tmp_path.iterdir()} == set(files)


# Splits, warnings, names -------------------------------------------------------------------------------------------


def test_labels_unknown_in_train_are_kept_and_warned_of(tmp_path: Path) -> None:
    write_splits(tmp_path, train=TSV, valid="cat\tis a\tdog\n", test="dog\tchases\tcat\nwolf\teats\tdog\n")
    graph = load_knowledge_graph(tmp_path)
    assert graph.statistics() == {"entities": 5, "relations": 3, "train": 4, "valid": 1, "test": 2}
    assert any(
        "1 entities of valid do not occur in train" in warning and "cat" in warning for warning in graph.warnings
    )
    assert any("1 relations of test do not occur in train" in warning for warning in graph.warnings)


def test_repeated_rows_are_dropped_and_noted(tmp_path: Path) -> None:
    write_splits(tmp_path, train=TSV + TSV, valid="dog\teats\twolf\n", test="dog\tis a\tcanine\n")
    graph = load_knowledge_graph(tmp_path)
    assert len(graph.train) == 4
    assert "4 repeated triples dropped" in graph.notes[0]
    assert "1 triples of test also occur in train or valid" in graph.warnings


def test_a_given_test_part_that_train_repeats_is_named_without_a_valid_part(tmp_path: Path) -> None:
    rows = "".join(f"a{i}\tnext\ta{i + 1}\n" for i in range(40))
    write_splits(tmp_path, train=rows, test="a1\tnext\ta2\na5\tnext\ta6\n")
    assert "2 triples of test also occur in train" in load_knowledge_graph(tmp_path).warnings


def test_leaks_through_inverse_relations_are_named(tmp_path: Path) -> None:
    train = "".join(f"p{i}\tparent\tc{i}\nc{i}\tchild\tp{i}\n" for i in range(20))
    extra = "p0\tknows\tc5\nc5\tknows\tp3\np20\tknows\tc20\n"
    write_splits(
        tmp_path, train=train + "p20\tparent\tc20\n" + extra, valid="p1\tknows\tc1\n", test="c20\tchild\tp20\n"
    )
    graph = load_knowledge_graph(tmp_path)
    assert graph.warnings == (
        "1 of 1 triples of test are repeated in train by a symmetric, inverse or duplicate relation",
        "'child' and 'parent' are inverses of each other on 100 % of their triples",
    )


def test_what_a_folder_lacks_is_split_off_train(tmp_path: Path) -> None:
    people = [f"p{i}" for i in range(12)]
    everyone = "".join(f"{a}\tknows\t{b}\n" for a in people for b in people if a < b)
    write_splits(tmp_path, train=everyone, test="p3\tknows\tp1\n")
    graph = load_knowledge_graph(tmp_path, valid=0.1, test=0.5)
    assert graph.statistics() == {"entities": 12, "relations": 1, "train": 59, "valid": 7, "test": 1}
    assert graph.notes == ("7 triples for valid held out with seed 0; every entity and relation stays in train",)
    assert load_knowledge_graph(tmp_path, valid=0.1, seed=1).valid.tolist() != graph.valid.tolist()


def test_checksums_do_not_depend_on_packing(tmp_path: Path) -> None:
    write_splits(tmp_path, train=TSV, valid="dog\teats\twolf\n", test="dog\tis a\tmeat\n")
    plain = load_knowledge_graph(tmp_path)
    (tmp_path / "train.txt").unlink()
    (tmp_path / "train.txt.xz").write_bytes(lzma.compress(TSV.encode()))
    assert load_knowledge_graph(tmp_path).sha256 == plain.sha256
    assert set(plain.sha256) == {"train.txt", "valid.txt", "test.txt"}


def test_names_and_descriptions(tmp_path: Path) -> None:
    write_splits(tmp_path, train=TSV, valid="dog\teats\twolf\n", test="dog\tis a\tmeat\n")
    names = tmp_path / "names.tsv"
    names.write_text("dog\thound, a pet\nwolf\tWolf\n\ncat\tunused\n")
    graph = load_knowledge_graph(
        tmp_path, names=names, short_names=True, relation_names={"is a": "is a kind of", "eats": "eats"}
    )
    assert graph.entities.names == ("canine", "hound", "meat", "Wolf")
    assert graph.entities.description(1) == "a pet"
    assert graph.describe(graph.train[0]) == "hound — is a kind of → canine"
    assert graph.notes == ("2 of 4 entities have no name and are shown by their label",)
    assert load_knowledge_graph(tmp_path, names=names).entities.name(1) == "hound, a pet"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog\n", r"names.tsv, line 1: expected a label, a name .* got 1 columns: 'dog'"),
        ("dog\thound\n\tcat\n", r"names.tsv, line 2: expected a label"),
        ("dog\thound\ndog\tpet\n", r"names.tsv, line 2: expected one name a label, got 'pet' for 'dog', named 'hound'"),
        ("", r"names.tsv: expected at least one name, got an empty file"),
    ],
)
def test_bad_names_are_explained(tmp_path: Path, content: str, message: str) -> None:
    write_splits(tmp_path, train=TSV, valid=TSV, test=TSV)
    (tmp_path / "names.tsv").write_text(content)
    with pytest.raises(ValueError, match=message):
        load_knowledge_graph(tmp_path, names=tmp_path / "names.tsv")


# The graph itself --------------------------------------------------------------------------------------------------


def test_reciprocals_double_each_split() -> None:
    graph = TripleData.from_labels(ROWS, ROWS[:1], ROWS[1:2])
    both = graph.with_reciprocals("train")
    head, relation, tail = graph.train.unbind(1)
    assert torch.equal(both[:4], graph.train)
    assert torch.equal(both[4:], torch.stack((tail, relation + graph.num_relations, head), dim=1))
    assert len(graph.with_reciprocals("all")) == 12
    assert graph.describe(both[4]) == "canine — is a (reversed) → dog"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"train": torch.zeros(2, 2, dtype=torch.long)},
            r"expected train as a LongTensor .* shape \(2, 2\)",
        ),
        ({"valid": torch.zeros(1, 3)}, r"expected valid as a LongTensor"),
        ({"test": torch.tensor([[0, 0, 9]])}, r"expected ids of 4 entities in column 2 of test, got 9 to 9"),
        ({"test": torch.tensor([[0, -1, 0]])}, r"expected ids of 2 relations in column 1 of test, got -1 to -1"),
    ],
)
def test_wrong_tensors_are_refused(change: dict[str, torch.Tensor], message: str) -> None:
    graph = TripleData.from_labels(ROWS)
    parts = {"train": graph.train, "valid": graph.valid, "test": graph.test} | change
    with pytest.raises(ValueError, match=message):
        TripleData(graph.entities, graph.relations, **parts)


def test_relations_are_counted_the_most_frequent_first() -> None:
    graph = TripleData.from_labels([("a", "seldom", "b"), ("a", "once", "b"), ("a", "twice", "b"), ("b", "twice", "a")])
    assert [*graph.relation_counts().items()] == [("twice", 2), ("once", 1), ("seldom", 1)]


def test_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a split of train, valid, test or all, got 'dev'"):
        TripleData.from_labels(ROWS).triples("dev")


def test_lookup_by_label_name_and_folded_name() -> None:
    words = Vocabulary(("dog.n.01", "New_York", "bank.n.01", "bank.n.02"), ("dog", "New York", "bank", "Bank"))
    assert words.find("dog.n.01") == words.find("dog") == words.find(" Dog ") == 0
    assert words.find("new_york") == 1
    assert words.find("bank") == 2
    with pytest.raises(ValueError, match=r"several entities are called 'BANK': bank.n.01, bank.n.02; use one of these"):
        words.find("BANK")
    with pytest.raises(ValueError, match=r"got 'dgo'; did you mean 'dog'"):
        words.find("dgo")
    with pytest.raises(ValueError, match=r"got 'xyzzy'; labels look like 'dog.n.01'"):
        words.find("xyzzy")


def test_vocabulary_refuses_repeats_and_uneven_names() -> None:
    with pytest.raises(ValueError, match=r"expected unique labels, got 'a' twice"):
        Vocabulary(("a", "b", "a"))
    with pytest.raises(ValueError, match=r"expected 2 names, one a label, got 1"):
        Vocabulary(("a", "b"), ("A",))
