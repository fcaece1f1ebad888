"""Parallel text by name, or a person's own: a table, two aligned files, or a folder of splits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hybonet.data.io.in_memory import SPLIT_NAMES, MemoryTable, is_path, memory_splits, memory_table
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

_TABLES = (".tsv", ".txt")
#: Languages of text of which nothing is said.
_UNNAMED = "src-tgt"
_LEAST = 10  # pairs that can be split
_HELD_OUT = 1000  # pairs for valid and for test at most


def load_corpus(
    data: Any = None,
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
        data: a name (``toy``, ``multi30k``), a table (source, tab, target per line), or a folder with ``train``,
            ``valid`` and ``test`` as tables or, with a direction, as ``train.en`` and ``train.de``; or a frame or rows
            of two columns, a Hugging Face data set (``translation`` by language, with a direction), or a mapping of
            parts.
        direction: ``en-de``: translated from which language into which.
        source_file, target_file: two aligned files, instead of ``data``.
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
    if bool(two) == (data is not None):
        raise ValueError("expected either a corpus (--data) or two aligned files (--source and --target)")
    if two and len(two) < 2:
        raise ValueError(f"expected two aligned files, got {str(two[0])!r} alone; give --source and --target together")
    if isinstance(data, ParallelText):
        return data
    path = Path()
    if data is not None and is_path(data):
        given = given_options(load_corpus, locals())
        found = locate(data, "translation", {name: value for name, value in given.items() if name != "direction"})
        if isinstance(found, DataSet):
            return _load_named(found, direction)
        path = found
    notes: list[str] = []
    languages = check_direction(direction or _UNNAMED)
    files: dict[str, tuple[SourceFile, ...]] = {}
    checksums: dict[str, str] = {}
    if data is not None and not is_path(data):
        splits = {}
        for split, part in memory_splits(data).items():
            splits[split], checksums[split] = _memory_pairs(part, languages if direction else None, notes)
    elif two:
        files = {"train": (read_source(two[0]), read_source(two[1]))}
    else:
        files = _folder_files(path, direction) if path.is_dir() else {"train": (read_source(path),)}
    if files:
        splits = {split: _read(parts, notes) for split, parts in files.items()}
        checksums = _checksums([file for parts in files.values() for file in parts])
    if "valid" not in splits:
        splits = _hold_out(splits, seed, notes)
    notes += note_shared(splits)
    if direction:
        notes += without_rules(languages[1], tokenized=tokenized)
    elif not tokenized:
        notes.append("tokenised BLEU uses Moses's rules for English; name the languages with --direction for others")
    return ParallelText(
        (str(data) if is_path(data) else type(data).__name__) if data is not None else str(source_file),
        languages,
        splits,
        sha256=checksums,
        tokenized=tokenized,
        merges=tuple(read_codes(read_source(codes))) if codes is not None else (),
        notes=tuple(notes),
    )


def _memory_pairs(data: Any, languages: tuple[str, str] | None, notes: list[str]) -> tuple[Pairs, str]:
    """Pairs of another library's table, and their checksum."""
    table = memory_table(data)
    if table.names == ("translation",):
        rows: list[dict[str, str]] = table.columns[0]
        both = languages or tuple(rows[0])
        if len(both) != 2 or not all(set(both) <= set(row) for row in rows):
            raise ValueError(
                f"{table.source}: expected translations with the languages {' and '.join(both)}, got "
                f"{', '.join(rows[0])}; choose two with direction=, such as 'en-de'"
            )
        table = MemoryTable(table.source, both, [[row[language] for row in rows] for language in both])
    elif languages and set(languages) <= set(table.names):
        columns = [table.columns[table.names.index(language)] for language in languages]
        table = MemoryTable(table.source, languages, columns)
    if len(table.columns) != 2:
        raise ValueError(
            f"{table.source}: expected two columns, a sentence and its translation, got {len(table.columns)}"
            f"{': ' + ', '.join(table.names) if table.names else ''}; keep these two, or name languages with direction="
        )
    return whole_pairs(table.texts[0], table.texts[1], table.source, notes, lines_are="row"), table.sha256


def _load_named(entry: DataSet, direction: str | None) -> ParallelText:
    first, second = entry.options["languages"]
    languages = check_direction(direction or f"{first}-{second}", (f"{first}-{second}", f"{second}-{first}"))
    files = entry.read()
    notes = [entry.options["note"]] if "note" in entry.options else []
    splits: dict[str, Pairs] = {}
    for split in entry.statistics:
        both = (split,) if split in files else (f"{split}.{first}", f"{split}.{second}")
        pairs = _read(tuple(files[part] for part in both), notes)
        if split == "train" and (first_pairs := entry.options.get("first")):
            pairs = Pairs(pairs.source[:first_pairs], pairs.target[:first_pairs])
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
    for split, stems in SPLIT_NAMES.items():
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
