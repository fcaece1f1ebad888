"""Parallel text: what is read, what is refused, and what is counted."""

import gzip
import importlib.util
import lzma
from pathlib import Path

import pytest

from hybonet.data import data_sets, load_corpus, named
from hybonet.data.io.source_file import SourceFile
from hybonet.data.text.parallel_text import Pairs, read_aligned, read_table

ROOT = Path(__file__).resolve().parents[3]


def table(rows: int) -> str:
    return "".join(f"sentence {i}\tSatz {i}\n" for i in range(rows))


def test_only_line_feeds_end_a_line():
    odd = "one\u2028still one\nthree\x85still three\r\n".encode()
    pairs = read_aligned(SourceFile("a", "a", odd), SourceFile("b", "b", b"eins\ndrei\n"), [])
    assert pairs == Pairs(("one\u2028still one", "three\x85still three"), ("eins", "drei"))


def test_two_packed_files_are_read_as_they_are(tmp_path):
    (tmp_path / "a.en.gz").write_bytes(gzip.compress(b"".join(b"dog %d\n" % i for i in range(40))))
    (tmp_path / "a.de.xz").write_bytes(lzma.compress(b"".join(b"Hund %d\n" % i for i in range(40))))
    corpus = load_corpus(source_file=tmp_path / "a.en.gz", target_file=tmp_path / "a.de.xz", direction="en-de")
    assert corpus.statistics() == {"train": 36, "valid": 2, "test": 2}
    assert all(target == source.replace("dog", "Hund") for pairs in corpus.splits.values() for source, target in pairs)
    assert set(corpus.sha256) == {"a.en", "a.de"}
    assert corpus.notes == ("2 pairs for valid and 2 pairs for test held out with seed 0",)


def test_files_of_one_name_have_a_checksum_each(tmp_path):
    for language, word in (("en", "dog"), ("de", "Hund")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "talks.txt").write_text("".join(f"{word} {i}\n" for i in range(40)))
    files = {"source_file": tmp_path / "en/talks.txt", "target_file": tmp_path / "de/talks.txt"}
    assert set(load_corpus(**files).sha256) == {str(path) for path in files.values()}


def test_a_language_that_moses_does_not_know_is_told(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"a {i}\tb {i}\n" for i in range(40)))
    assert not [note for note in load_corpus(path, direction="en-de").notes if "Moses" in note]
    assert (
        "Moses has no rules for 'qq': tokenised BLEU uses those for English"
        in load_corpus(path, direction="en-qq").notes
    )
    tokenized = load_corpus(path, direction="en-qq", tokenized=True).notes
    assert "Moses has no rules for 'qq': text is put together for BLEU and chrF by those for English" in tokenized


def test_what_is_held_out_depends_on_the_seed_and_shares_no_sentence_with_training(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(table(60) + table(60).replace("Satz", "Spruch"))  # every sentence has two translations
    first, again, other = (load_corpus(path, seed=seed) for seed in (0, 0, 1))
    assert first.splits == again.splits
    assert first.splits["valid"] != other.splits["valid"]
    seen = set(first.splits["train"].source)
    assert not seen & set(first.splits["valid"].source)
    assert not seen & set(first.splits["test"].source)
    assert sum(first.statistics().values()) == 120


def test_a_folder_by_language_and_a_folder_of_tables(tmp_path):
    for split in ("train", "dev"):
        (tmp_path / f"{split}.en").write_text(f"a {split}\n")
        (tmp_path / f"{split}.de").write_text(f"ein {split}\n")
    corpus = load_corpus(tmp_path, direction="de-en")
    assert corpus.splits == {"train": Pairs(("ein train",), ("a train",)), "valid": Pairs(("ein dev",), ("a dev",))}
    (tmp_path / "tables").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / "tables" / f"{split}.tsv").write_text("a dog\tein Hund\n")
    corpus = load_corpus(tmp_path / "tables")
    assert corpus.notes == (
        "1 of 1 pairs of valid also occur in train",
        "1 of 1 pairs of test also occur in train",
        "tokenised BLEU uses Moses's rules for English; name the languages with --direction for others",
    )


def test_the_toy_corpus_is_what_the_script_makes():
    spec = importlib.util.spec_from_file_location("build_toy_corpus", ROOT / "scripts/build_toy_corpus.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shipped = load_corpus("toy")
    assert {split: list(pairs) for split, pairs in shipped.splits.items()} == script.corpus()
    backwards = load_corpus("toy", direction="toy-en")
    assert backwards.splits["test"] == shipped.splits["test"].reversed()
    assert not set(shipped.splits["train"].source) & set(shipped.splits["test"].source)


@pytest.mark.parametrize("name", [entry.name for entry in data_sets("translation") if not entry.packaged])
def test_a_named_corpus_has_the_published_sizes_both_ways(name):
    if named(name).folder() is None:
        pytest.skip(f"{name} is not on the search path (HYBONET_DATA)")
    entry = named(name)
    there, back = (
        load_corpus(name, direction="-".join(pair))
        for pair in (entry.options["languages"], entry.options["languages"][::-1])
    )
    assert there.statistics() == entry.statistics
    assert back.splits["valid"] == there.splits["valid"].reversed()
    assert there.sha256 == {file.name: file.sha256 for file in entry.files.values()}


def test_a_changed_file_of_a_named_corpus_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBONET_DATA", str(tmp_path))
    (tmp_path / "multi30k").mkdir()
    for file in named("multi30k").files.values():
        (tmp_path / "multi30k" / file.name).write_text("one line\n")
    with pytest.raises(ValueError, match=r"train\.en: expected a file with sha256 460a15.*, got .*get it again"):
        load_corpus("multi30k")


def test_a_header_of_a_table_is_skipped() -> None:
    notes: list[str] = []
    file = SourceFile("a.tsv", "a.tsv", b"Source\tTarget\na dog\tein Hund\n\tleer\n")
    assert read_table(file, notes).source == ("a dog",)
    assert notes[0] == "a.tsv: the first row (Source, Target) is read as column names"
    assert "(line 3)" in notes[1]
    assert len(read_table(SourceFile("a.tsv", "a.tsv", b"yes\tja\nno\tne\n"), [])) == 2
