"""Parallel text by name, or a person's own: a table, two aligned files, or a folder of splits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hybonet.data.io.source_file import PACKED, SourceFile, read_source
from hybonet.data.registry import DataSet, given_options, locate
from hybonet.data.text.byte_pairs import read_codes
from hybonet.data.text.parallel_text import (
    Pairs,
    ParallelText,
    check_direction,
    note_shared,
    read_aligned,
    read_table,
    whole_pairs,
)
from hybonet.metrics.bleu import without_rules

#: Names that the files of a split may have.
_STEMS = {"train": ("train", "training"), "valid": ("valid", "val", "dev", "validation"), "test": ("test",)}
_TABLES = (".tsv", ".txt")
#: Languages of text of which nothing is said.
_UNNAMED = "src-tgt"
_LEAST = 10  # pairs that can be split
_HELD_OUT = 1000  # pairs for valid and for test at most


def load_corpus(
    source: str | Path | None = None,
    *,
    direction: str | None = None,
    source_file: str | Path | None = None,
    target_file: str | Path | None = None,
    tokenized: bool = False,
    codes: str | Path | None = None,
    seed: int = 0,
) -> ParallelText:
    """A parallel corpus by name, or a person's own.

    Args:
        source: a name (``toy``, ``multi30k``), a table (source, tab, target a line), or a folder with ``train``,
            ``valid`` and ``test`` as tables or, with a direction, as ``train.en`` and ``train.de``.
        direction: ``en-de``: translated from which language into which.
        source_file, target_file: two aligned files, instead of ``source``.
        tokenized: whether punctuation stands apart already, as Moses does it.
        codes: a file of subword-nmt's merges.
        seed: of the choice of what is held out, where there is no file for it.

    All files may be packed with gzip or xz.

    Example:
        >>> load_corpus("toy").languages
        ('en', 'toy')
        >>> load_corpus("multi30")
        Traceback (most recent call last):
        ValueError: expected a corpus, got 'multi30', which is neither a path nor a name; did you mean 'multi30k'?
    """
    two = [file for file in (source_file, target_file) if file is not None]
    if bool(two) == (source is not None):
        raise ValueError("expected either a corpus (--data) or two aligned files (--source and --target)")
    if two and len(two) < 2:
        raise ValueError(f"expected two aligned files, got {str(two[0])!r} alone; give --source and --target together")
    path = Path()
    if source is not None:
        given = given_options(load_corpus, locals())
        found = locate(source, "translation", {name: value for name, value in given.items() if name != "direction"})
        if isinstance(found, DataSet):
            return _load_named(found, direction)
        path = found
    notes: list[str] = []
    files: dict[str, tuple[SourceFile, ...]]
    if two:
        files = {"train": (read_source(two[0]), read_source(two[1]))}
    else:
        files = _folder_files(path, direction) if path.is_dir() else {"train": (read_source(path),)}
    languages = check_direction(direction or _UNNAMED)
    splits = {split: _read(parts, notes) for split, parts in files.items()}
    return _complete(
        str(source if source is not None else source_file),
        languages,
        splits,
        sha256=_checksums([file for parts in files.values() for file in parts]),
        named=direction is not None,
        tokenized=tokenized,
        codes=codes,
        seed=seed,
        notes=notes,
    )


def corpus_of_pairs(
    pairs: Iterable[Any],
    *,
    direction: str | None = None,
    tokenized: bool = False,
    codes: str | Path | None = None,
    seed: int = 0,
) -> ParallelText:
    """A parallel corpus from objects of Python; some pairs are held out for validation and test.

    Args:
        pairs: tuples of a sentence and its translation; a pandas or polars data frame of two columns; rows as mappings,
            of two columns or with ``translation``, as Hugging Face's data sets have them.
        direction, tokenized, codes, seed: as for :func:`load_corpus`; columns named by the languages are taken by name.

    Example:
        >>> text = corpus_of_pairs([(f"dog {n}", f"Hund {n}") for n in range(40)], direction="en-de")
        >>> text.statistics(), text.languages
        ({'train': 36, 'valid': 2, 'test': 2}, ('en', 'de'))
        >>> corpus_of_pairs(["a dog"])
        Traceback (most recent call last):
        ValueError: row 1: expected a sentence and its translation, got 'a dog'; give pairs of two strings
    """
    languages, notes = check_direction(direction or _UNNAMED), list[str]()
    if hasattr(pairs, "itertuples"):
        pairs = pairs.to_dict("records")  # type: ignore[attr-defined]
    elif hasattr(pairs, "iter_rows"):
        pairs = pairs.iter_rows(named=True)
    found = [_pair(number, row, languages) for number, row in enumerate(pairs, 1)]
    if not found:
        raise ValueError("expected pairs of a sentence and its translation, got none")
    kept = whole_pairs([pair[0] for pair in found], [pair[1] for pair in found], "pairs", notes)
    digest = hashlib.sha256("".join(f"{source}\t{target}\n" for source, target in kept).encode()).hexdigest()
    return _complete(
        "pairs",
        languages,
        {"train": kept},
        sha256={"pairs": digest},
        named=direction is not None,
        tokenized=tokenized,
        codes=codes,
        seed=seed,
        notes=notes,
    )


def _pair(number: int, row: Any, languages: tuple[str, str]) -> tuple[str, str]:
    parts = row.get("translation", row) if isinstance(row, Mapping) else row
    if isinstance(parts, Mapping):
        parts = [parts[each] for each in (languages if set(languages) <= parts.keys() else parts)]
    if not isinstance(parts, Sequence) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        raise ValueError(
            f"row {number}: expected a sentence and its translation, got {row!r:.60}; give pairs of two strings"
        )
    return parts[0], parts[1]


def _complete(
    source: str,
    languages: tuple[str, str],
    splits: dict[str, Pairs],
    *,
    sha256: dict[str, str],
    named: bool,
    tokenized: bool,
    codes: str | Path | None,
    seed: int,
    notes: list[str],
) -> ParallelText:
    """A corpus with pairs held out where it has none to measure on, and notes of what is odd."""
    if "valid" not in splits:
        splits = _hold_out(splits, seed, notes)
    notes += note_shared(splits)
    if named:
        notes += without_rules(languages[1], tokenized=tokenized)
    elif not tokenized:
        notes.append("tokenised BLEU uses Moses's rules for English; name the languages with --direction for others")
    merges = tuple(read_codes(read_source(codes))) if codes is not None else ()
    return ParallelText(
        source, languages, splits, sha256=sha256, tokenized=tokenized, merges=merges, notes=tuple(notes)
    )


def _load_named(entry: DataSet, direction: str | None) -> ParallelText:
    first, second = entry.options["languages"]
    languages = check_direction(direction or f"{first}-{second}", (f"{first}-{second}", f"{second}-{first}"))
    files = entry.read()
    notes = [entry.options["note"]] if "note" in entry.options else []
    splits: dict[str, Pairs] = {}
    for split in entry.statistics:
        both = (split,) if split in files else (f"{split}.{first}", f"{split}.{second}")
        pairs = _read(tuple(files[part] for part in both), notes)
        splits[split] = pairs if languages[0] == first else pairs.reversed()
    return ParallelText(
        entry.name,
        languages,
        splits,
        sha256={file.bare_name: file.sha256 for file in files.values()},
        tokenized=entry.options.get("tokenized", False),
        merges=tuple(read_codes(files["codes"])) if "codes" in files else (),
        notes=tuple(notes),
    )


def _checksums(files: list[SourceFile]) -> dict[str, str]:
    """By the names of the files or, where two have one name, by their paths."""
    names = [file.bare_name for file in files]
    alike = len(set(names)) < len(names)
    return {file.source if alike else name: file.sha256 for name, file in zip(names, files, strict=True)}


def _read(parts: tuple[SourceFile, ...], notes: list[str]) -> Pairs:
    return read_table(parts[0], notes) if len(parts) == 1 else read_aligned(parts[0], parts[1], notes)


def _folder_files(folder: Path, direction: str | None) -> dict[str, tuple[SourceFile, ...]]:
    present = {entry.name: entry for entry in sorted(folder.iterdir()) if entry.is_file()}
    bare = {name.removesuffix(next((p for p in PACKED if name.endswith(p)), "")): name for name in present}
    found: dict[str, tuple[SourceFile, ...]] = {}
    languages = check_direction(direction) if direction else None
    for split, stems in _STEMS.items():
        wanted = [tuple(f"{stem}.{language}" for language in languages) for stem in stems] if languages else []
        wanted += [(f"{stem}{ending}",) for stem in stems for ending in _TABLES]
        matches = [names for names in wanted if all(name in bare for name in names)]
        for names in wanted:
            there = [name for name in names if name in bare]
            if 0 < len(there) < len(names):
                (missing,) = set(names) - set(there)
                raise ValueError(
                    f"{folder}: expected {missing} beside {there[0]}, got only one of them; add it, or move the other "
                    "elsewhere"
                )
        if len(matches) > 1:
            raise ValueError(
                f"{folder}: expected one text for {split}, got {' and '.join(', '.join(m) for m in matches)}; move all "
                "but one elsewhere"
            )
        if matches:
            found[split] = tuple(read_source(present[bare[name]]) for name in matches[0])
    if "train" not in found:
        by_language = f"train.{languages[0]} and train.{languages[1]}" if languages else "train.en and train.de"
        hint = "rename the files" if languages else "for files by language give --direction, such as en-de"
        raise ValueError(
            f"{folder}: expected train.tsv, or {by_language} (also .gz or .xz), got "
            f"{', '.join(list(present)[:6]) or 'no files'}; {hint}"
        )
    return found


def _hold_out(splits: dict[str, Pairs], seed: int, notes: list[str]) -> dict[str, Pairs]:
    """Validation pairs (and test pairs, if there is no file) out of the training pairs; equal sources stay together."""
    pairs = splits["train"]
    missing = [split for split in ("valid", "test") if split not in splits]
    sources = list(dict.fromkeys(pairs.source))
    if len(sources) < _LEAST:
        raise ValueError(
            f"expected {_LEAST} different sentences or more to hold some out for validation, got {len(sources)}; give "
            "more, or a folder with train and valid files"
        )
    share = max(1, min(_HELD_OUT, len(sources) // 20))
    chosen = random.Random(seed).sample(sources, share * len(missing))
    split_of = {text: missing[place // share] for place, text in enumerate(chosen)}
    parts: dict[str, list[tuple[str, str]]] = {split: [] for split in ("train", *missing)}
    for pair in pairs:
        parts[split_of.get(pair[0], "train")].append(pair)
    held = " and ".join(f"{len(parts[split]):,} pairs for {split}" for split in missing)
    notes.append(f"{held} held out with seed {seed}")
    made = {split: Pairs(*(tuple(side) for side in zip(*rows, strict=True))) for split, rows in parts.items()}
    return {split: made.get(split, splits.get(split, pairs)) for split in ("train", "valid", "test")}
