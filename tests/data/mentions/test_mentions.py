"""Mentions, types and word vectors from files: what is read, how it is trimmed, and what is said to bad rows."""

import gzip
import json
import lzma
import random

import pytest
import torch

from hybonet.data.io import search_path
from hybonet.data.io.source_file import SourceFile
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.mention_data import Mention, as_row, encode, read_mentions
from hybonet.data.mentions.sentence_words import mention_in
from hybonet.data.mentions.type_inventory import TypeInventory, read_inventory
from hybonet.data.mentions.word_vectors import UNKNOWN, WordVectors, read_vectors

GOOD = {"left_context_token": ["the"], "mention_span": "old mill", "right_context_token": ["."], "y_str": ["place"]}


def source(text, name="rows.jsonl"):
    return SourceFile(name, name, text.encode())


def write_folder(folder, rows=30, **files):
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps({**GOOD, "left_context_token": ["the", f"w{n}"]}) + "\n" for n in range(rows))
    for name, content in {"train.jsonl": text, "dev.jsonl": text, "words.txt": "the 1 0\nmill 0 1\n", **files}.items():
        (folder / name).write_text(content)
    return folder


def test_trimming_keeps_the_mention_in_the_middle():
    chance = random.Random(0)
    for _ in range(200):
        left, right, words = (tuple(f"{side}{n}" for n in range(chance.randrange(0, 40))) for side in "lrm")
        mention = Mention(left, words or ("m",), right)
        alone, whole = mention.trimmed()
        assert alone.words == mention.words[:5]
        total = len(whole.left) + len(whole.words) + len(whole.right)
        assert total == min(25, len(left) + len(mention.words) + len(right))
        assert whole.left == left[len(left) - len(whole.left) :]  # words next to the mention stay
        assert whole.right == right[: len(whole.right)]
        taken_left, taken_right = len(whole.left) < len(left), len(whole.right) < len(right)
        if taken_left and taken_right:
            assert abs(len(whole.left) - len(whole.right)) <= 1
        elif taken_left or taken_right:  # only the longer side was cut
            cut, kept = (whole.left, whole.right) if taken_left else (whole.right, whole.left)
            assert len(cut) >= len(kept) - 1


def test_encoding_numbers_words_and_places():
    vectors = WordVectors(("the", "mill"), torch.eye(2))
    batch = encode([Mention(("The", "old"), ("mill",), ("burned", "down"))], vectors)
    assert batch.context[0, :6].tolist() == [2, UNKNOWN, 3, UNKNOWN, UNKNOWN, 0]
    assert batch.place[0, :5].tolist() == [-2, -1, 0, 1, 2]
    assert batch.mention[0].tolist() == [3, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_str": ["plaze"]}, "line 2: expected one of 2 types, got 'plaze'; did you mean 'place'?"),
        ({"y_str": "place"}, "line 2: expected a list of words in y_str, got 'place'"),
        ({"mention_span": "  "}, "line 2: expected the words of the mention as text in mention_span"),
        ({"left_context_token": ["a", 3]}, "line 2: expected a list of words in left_context_token"),
    ],
)
def test_a_bad_row_is_named(change, message):
    text = json.dumps(GOOD) + "\n" + json.dumps({**GOOD, **change}) + "\n"
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        read_mentions(source(text), TypeInventory(("place", "person")))


def test_the_first_bad_rows_are_named_together():
    bad = [
        json.dumps({**GOOD, "y_str": ["plaze"]}),
        "{oops",
        *(json.dumps({**GOOD, "y_str": [f"t{n}"]}) for n in "1234"),
    ]
    text = "\n".join([json.dumps(GOOD), "", *bad, json.dumps(GOOD)])
    with pytest.raises(ValueError, match="rows are not mentions") as caught:
        read_mentions(source(text), TypeInventory(("place", "person")))
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("rows.jsonl: 6 of 8 rows are not mentions as expected; correct or remove them")
    assert lines[1] == "  line 3: expected one of 2 types, got 'plaze'; did you mean 'place'?"
    assert lines[2].startswith("  line 4: expected a JSON object per line, got '{oops'")
    assert [line.split(":")[0] for line in lines[3:]] == ["  line 5", "  line 6", "  line 7", "  and 1 more"]


def test_a_missing_key_names_the_one_that_was_meant():
    row = {("y_strs" if key == "y_str" else key): value for key, value in GOOD.items()}
    with pytest.raises(ValueError, match=r"line 1: expected a key 'y_str'.*rename 'y_strs'"):
        read_mentions(source(json.dumps(row)))
    assert read_mentions(source(json.dumps(row)), labelled=False)[0].types == ()
    with pytest.raises(ValueError, match="line 1: expected a JSON object per line, got"):
        read_mentions(source("{oops"))


def test_rows_survive_writing():
    mention = Mention(("«Oh»",), ("Zoë", "Ö."), (), ("person",))
    assert read_mentions(source(as_row(mention))) == [mention]
    array = f"[\n{as_row(mention)},\n{as_row(mention)}]"
    assert read_mentions(source(array)) == [mention, mention]
    with pytest.raises(ValueError, match="entry 2: expected a key 'mention_span'"):
        read_mentions(source(f'[{as_row(mention)}, {{"left_context_token": []}}]'))
    with pytest.raises(ValueError, match="line 3: expected a JSON array of mentions, got malformed JSON"):
        read_mentions(source(array[:-20]))


def test_inventories_with_and_without_levels():
    assert read_inventory(source("a\tcoarse\nb\tfine\n")).levels == ("coarse", "fine")
    assert read_inventory(source("a\nb\n\n")).levels == ("all",)
    with pytest.raises(ValueError, match="line 2: expected a level for every type or for none"):
        read_inventory(source("a\tcoarse\nb\n"))


def test_a_level_is_not_named_as_the_totals_are():
    with pytest.raises(ValueError, match=r"types.tsv, line 2: expected the name of a level, got 'total', .* rename"):
        read_inventory(source("a\tcoarse\nb\ttotal\n", "types.tsv"))


def test_vectors_are_read_line_by_line(tmp_path):
    text = "3 2\nthe 1 2\n. . 3 4\nowl 5 6\nowl 7 8\n"  # a header, a word with a space, a word twice
    for name, pack in (("v.txt", bytes), ("v.txt.gz", gzip.compress), ("v.txt.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(text.encode()))
        vectors = read_vectors(tmp_path / name, wanted=["OWL"], keep=2)
        assert vectors.words == ("the", ". .", "owl")
        assert vectors.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
        assert "1 repeated" in vectors.notes[0]
    assert read_vectors(tmp_path / "v.txt", keep=2).words == ("the", ". .")
    for bad, message in (
        ("the 1 2\nowl 1\n", "line 2: .*2 numbers"),
        ("the 1 x\n", "line 1: expected numbers"),
        ("the 1 2\nowl 1 1e39\n", "line 2: .* float32 holds, got '1e39' in number 2 after the word"),
    ):
        (tmp_path / "bad.txt").write_text(bad)
        with pytest.raises(ValueError, match=message):
            read_vectors(tmp_path / "bad.txt")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"the 1 2\n" * 5000)[:-20])
    with pytest.raises(ValueError, match="expected gz data"):
        read_vectors(tmp_path / "cut.txt.gz")


def test_a_folder_of_ones_own(tmp_path):
    data = load_mentions(write_folder(tmp_path / "own", **{"types.txt": "place\nperson\n"}))
    assert (len(data.train), len(data.valid), len(data.test)) == (30, 30, 0)
    assert data.types.types == ("place", "person")
    assert set(data.sha256) == {"train.jsonl", "dev.jsonl", "types.txt", "word vectors"}


def test_types_that_nothing_is_learned_of_are_counted(tmp_path):
    rows = [json.dumps({**GOOD, "y_str": [kind]}) + "\n" for kind in ("place", "river", "hill")]
    files = {"train.jsonl": rows[0], "dev.jsonl": "".join(rows[:2]), "test.jsonl": "".join(rows)}
    data = load_mentions(write_folder(tmp_path / "own", **files))
    assert any("2 types of valid and test do not occur in train" in note for note in data.notes)
    (tmp_path / "own/test.jsonl").unlink()
    data = load_mentions(tmp_path / "own")
    assert any("1 types of valid and test do not occur in train" in note for note in data.notes)


def test_mentions_without_types_are_counted(tmp_path):
    bare = json.dumps({**GOOD, "y_str": []}) + "\n"
    data = load_mentions(write_folder(tmp_path / "own", **{"train.jsonl": json.dumps(GOOD) + "\n" + bare * 2}))
    assert any(note.startswith("2 mentions have no types") for note in data.notes)


def test_a_folder_without_training_mentions_is_told_what_it_has(tmp_path):
    with pytest.raises(ValueError, match=r"expected a file train.json or train.jsonl, got an empty folder; name it so"):
        load_mentions(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps(GOOD))
    with pytest.raises(ValueError, match=r"expected a file train.json or train.jsonl, got rows.jsonl; name it so"):
        load_mentions(tmp_path)


def test_glove_on_the_search_path_is_read_where_nothing_else_is_said(tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "own")
    monkeypatch.setenv("HYBONET_DATA", str(tmp_path))
    (folder / "words.txt").rename(tmp_path / "glove.6B.100d.txt")
    assert load_mentions(folder).vectors.source == str(tmp_path / "glove.6B.100d.txt")


def test_one_file_is_split_by_sentence_and_types_are_collected(tmp_path):
    folder = write_folder(tmp_path / "own", rows=40)
    rows = (folder / "train.jsonl").read_text().splitlines()
    (tmp_path / "all.jsonl").write_text("\n".join(rows * 2))  # every sentence twice
    data = load_mentions(tmp_path / "all.jsonl", words=folder / "words.txt")
    assert (len(data.train), len(data.valid), len(data.test)) == (64, 8, 8)
    assert not {each.sentence for each in data.train} & {each.sentence for each in data.test}
    assert data.types.types == ("place",)
    assert data.types.levels == ("all",)


def test_vectors_of_another_language_are_refused(tmp_path):
    with pytest.raises(ValueError, match="has none of the"):
        load_mentions(write_folder(tmp_path / "own", **{"words.txt": "der 1 0\n"}))


@pytest.mark.parametrize(
    ("sentence", "mention", "expected"),
    [
        ("The [mill] burned.", None, ("The", "mill", "burned .")),
        ("Ada's mill burned.", "Ada", ("", "Ada", "'s mill burned .")),
        ("A mill, the miller.", "mill", ("A", "mill", ", the miller .")),
    ],
)
def test_mentions_in_sentences(sentence, mention, expected):
    found = mention_in(sentence, mention)
    assert tuple(" ".join(part) for part in (found.left, found.words, found.right)) == expected


def test_the_open_entity_data_is_what_it_is_said_to_be():
    if search_path.find("ufet") is None or search_path.find("glove_100d_subset") is None:
        pytest.skip("the Open Entity data or GloVe is not on the search path (HYBONET_DATA)")
    data = load_mentions("ufet")
    assert (len(data.train), len(data.valid), len(data.test)) == (1998, 1998, 1998)
    assert torch.bincount(data.types.level_numbers).tolist() == [9, 121, 10_201]
    assert data.types.types[:3] == ("person", "group", "organization")
