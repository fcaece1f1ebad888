"""Reading edges: what is accepted, and what every error says."""

from pathlib import Path

import pytest

from hybonet.data.hierarchies.loading import parse_edges


@pytest.mark.parametrize(
    ("content", "source"),
    [
        (b"dog\tcanine\nwolf\tcanine\n", "a.tsv"),
        (b"dog,canine\nwolf,canine", "a.csv"),
        (b"child,parent\r\ndog,canine\r\n\r\nwolf,canine\r\n", "A.CSV"),
        (b"\xef\xbb\xbfdog , canine\n wolf,canine\n", "with_mark.csv"),
        (b'"dog","canine"\nwolf,canine\n', "quoted.csv"),
    ],
)
def test_accepted_forms(content: bytes, source: str) -> None:
    assert parse_edges(content, source) == [("dog", "canine"), ("wolf", "canine")]


def test_only_the_first_line_can_be_a_header() -> None:
    assert parse_edges(b"child,parent\nchild,parent\n", "family.csv") == [("child", "parent")]


def test_a_quote_is_part_of_a_name_in_tsv() -> None:
    assert parse_edges(b'the "dog\tcanine\n', "a.tsv") == [('the "dog', "canine")]


@pytest.mark.parametrize(
    ("content", "source", "fragments"),
    [
        (b"", "empty.tsv", ["empty.tsv", "at least one edge", "one edge per line"]),
        (b"child,parent\n", "header.csv", ["header.csv", "at least one edge"]),
        (b"dog,canine\nwolf\n", "a.csv", ["a.csv, line 2", "2 columns", "got 1", "'wolf'"]),
        (b"dog,canine\n", "comma.tsv", ["comma.tsv, line 1", "separated by a tab", "'dog,canine'"]),
        (b"a\tb\n\na\tb\tc\n", "a.tsv", ["line 3", "got 3"]),
        (b"dog,\n", "a.csv", ["line 1", "column parent", "fill it in"]),
        (b" ,canine\n", "a.csv", ["line 1", "column child"]),
        (b"dog,canine\n\xff\xfe,b\n", "a.csv", ["line 2", "UTF-8", "0xff"]),
        (b'dog,canine\n"wolf,canine\n', "a.csv", ["a.csv", "close every quote"]),
        (b'"two\nlines",canine\n', "a.csv", ["printable name", r"'two\nlines'"]),
        (b"dog,canine\n", "edges.xlsx", ["edges.xlsx", ".tsv or .csv", "'.xlsx'", "rename"]),
        (b"dog,canine\n", "edges", ["no ending"]),
    ],
)
def test_errors_name_place_value_and_remedy(content: bytes, source: str, fragments: list[str]) -> None:
    with pytest.raises(ValueError, match=Path(source).stem) as caught:
        parse_edges(content, source)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_header_in_unknown_words_is_skipped_if_nothing_else_stands_alone() -> None:
    tree = "".join(f"n{at},n{at // 2}\n" for at in range(2, 9))
    assert len(parse_edges(f"what,in what\n{tree}".encode(), "tree.csv")) == 7
    assert len(parse_edges(f"what,in what\n{tree}left,alone\n".encode(), "tree.csv")) == 9
