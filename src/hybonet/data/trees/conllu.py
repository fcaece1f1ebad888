"""Dependency trees from CoNLL-U, the format of Universal Dependencies and of most parsers; errors name the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hybonet.data.io.source_file import SourceFile, read_source
from hybonet.data.io.text_table import decode
from hybonet.data.trees.dependency_tree import DependencyTree

#: Columns of the format, in this order.
COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_WORD, _RANGE, _EMPTY = re.compile(r"[1-9]\d*"), re.compile(r"([1-9]\d*)-([1-9]\d*)"), re.compile(r"\d+\.[1-9]\d*")
_HINT = "a CoNLL-U file has ten columns separated by tabs, and an empty line after every sentence"


def read_conllu(path: str | Path) -> list[DependencyTree]:
    """The trees of a ``.conllu`` file, which may be packed (``.gz``, ``.xz``).

    Words alone are read: lines of multiword tokens (``3-4``) tell where spaces stand, empty nodes (``5.1``) and
    comments are passed over.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mine.conllu"
        >>> write_conllu(path, [DependencyTree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))])
        >>> read_conllu(path)[0].words
        ('dogs', 'bark')
    """
    return parse_conllu(read_source(path))


def parse_conllu(source: SourceFile) -> list[DependencyTree]:
    """The trees of a file that was read."""
    trees = [_tree(source.source, block) for block in _blocks(decode(source.content, source.source))]
    if not trees:
        raise ValueError(f"{source.source}: expected at least one sentence, got none; {_HINT}")
    return trees


def write_conllu(path: Path, trees: Iterable[DependencyTree]) -> None:
    """Write trees to a new file, or over an old one."""
    path.write_text(conllu_text(trees), encoding="utf-8", newline="\n")


def conllu_text(trees: Iterable[DependencyTree]) -> str:
    """Trees as CoNLL-U; what they do not know (lemmas, features) is left as ``_``."""
    lines: list[str] = []
    for tree in trees:
        lines.append(f"# text = {tree.text}")
        relations = tree.relations or ("_",) * len(tree)
        spaces = tree.space_after or (True,) * len(tree)
        rows = zip(tree.words, tree.tags, tree.heads, relations, spaces, strict=True)
        for number, (word, tag, head, relation, space) in enumerate(rows, 1):
            misc = "_" if space else "SpaceAfter=No"
            lines.append(f"{number}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t{misc}")
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Lines of a sentence with their numbers, comments left out."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            if block:
                yield block
            block = []
        elif not line.startswith("#"):
            block.append((number, line))
    if block:
        yield block


def _tree(source: str, block: list[tuple[int, str]]) -> DependencyTree:
    rows: list[tuple[str, str, int, str, bool]] = []  # word, tag, head, relation, and whether a space follows
    lines: list[int] = []
    token_end, token_space = 0, True
    for number, line in block:
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise ValueError(
                f"{source}, line {number}: expected 10 columns separated by tabs, got {len(cells)}; {_HINT}"
            )
        name, word, tag, head, relation, misc = (cells[place] for place in (0, 1, 3, 6, 7, 9))
        count, space = len(rows) + 1, "SpaceAfter=No" not in misc.split("|")
        if _EMPTY.fullmatch(name):
            continue
        if token := _RANGE.fullmatch(name):
            # The words of one token are written together: only after its last one the token's own space counts.
            token_end, token_space = int(token[2]), space
            if int(token[1]) != count or token_end <= int(token[1]):
                raise ValueError(
                    f"{source}, line {number}: expected a multiword token that starts with word {count}, got {name!r}; "
                    f"write it before its first word, such as {count}-{count + 1}"
                )
            continue
        if not _WORD.fullmatch(name) or int(name) != count:
            raise ValueError(
                f"{source}, line {number}: expected word {count} of the sentence in column ID, got {name!r}; "
                "number the words of every sentence from 1, and leave an empty line between sentences"
            )
        if not word.strip():
            raise ValueError(f"{source}, line {number}: expected a word in column FORM, got an empty field")
        if not head.isdecimal():
            raise ValueError(
                f"{source}, line {number}: expected the number of a word or 0 in column HEAD, got {head!r}; the file "
                "needs trees, so run a parser over it"
            )
        if count <= token_end:
            space = token_space and count == token_end
        rows.append((word, tag, int(head), relation, space))
        lines.append(number)
    if not rows:
        raise ValueError(f"{source}, line {block[0][0]}: expected words, got empty nodes or multiword tokens alone")
    if token_end > len(rows):
        raise ValueError(f"{source}, line {lines[-1]}: expected word {token_end} of a multiword token, found its end")
    try:
        return DependencyTree(*zip(*rows, strict=True))
    except ValueError as error:
        raise ValueError(
            f"{source}, lines {lines[0]} to {lines[-1]}: {error}; correct column HEAD of this sentence"
        ) from None
