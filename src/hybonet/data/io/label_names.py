"""Names and descriptions of labels, from a file of `label, name` rows."""

from __future__ import annotations

import json

from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import SEPARATOR_NAMES, decode, parse_table, separator_for
from hybonet.files import parse_json

#: Column separator by file ending.
SEPARATORS = {".txt": "\t", ".tsv": "\t", ".csv": ","}


def read_names(file: SourceFile, *, short_names: bool = False) -> dict[str, tuple[str, str]]:
    r"""Name and description of every label in a TSV, CSV or JSON file.

    Args:
        file: rows of label, name and optionally description, or a JSON object ``{"P6": {"label": …, "description":
            …}}``; a label may be one that the graph does not have.
        short_names: the name ends at its first comma and the rest is the description, as in ``dog, a member of ...``.

    Example:
        >>> read_names(SourceFile("names.tsv", "names.tsv", b"02084071\tdog, a canine\n"), short_names=True)
        {'02084071': ('dog', 'a canine')}
        >>> read_names(SourceFile("names.tsv", "names.tsv", b"02084071\n"))
        Traceback (most recent call last):
        ValueError: names.tsv, line 1: expected a label, a name and perhaps a description separated by a tab, got 1 ...
    """
    if file.bare_name.lower().endswith(".json"):
        return _json_names(file)
    table = parse_table(file.content, file.source, separator=separator_for(file.bare_name, SEPARATORS), row_is="name")
    names: dict[str, tuple[str, str]] = {}
    for number, row in enumerate(table):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
            raise table.error(
                number,
                "expected a label, a name and perhaps a description separated by "
                f"{SEPARATOR_NAMES[table.separator]}, got {len(cells)} columns: {table.separator.join(row)!r}; "
                "write label, then name",
            )
        label, name, description = cells[0], cells[1], cells[2] if len(cells) == 3 else ""
        if short_names and "," in name:
            short, rest = (part.strip() for part in name.split(",", 1))
            if short:  # a name that begins with a comma has nothing to cut
                name, description = short, description or rest
        if names.setdefault(label, (name, description)) != (name, description):
            raise table.error(
                number, f"expected one name a label, got {name!r} for {label!r}, named {names[label][0]!r}; keep one"
            )
    if not names:
        raise ValueError(f"{file.source}: expected at least one name, got an empty file; write label and name per line")
    return names


def _json_names(file: SourceFile) -> dict[str, tuple[str, str]]:
    text = decode(file.content, file.source)
    try:
        entries = parse_json(text).items()
        return {label: (str(entry["label"]), str(entry.get("description") or "")) for label, entry in entries}
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{file.source}: expected a JSON object with a label of each identifier, got other data ({error!r}); "
            "write label and name to a .tsv instead"
        ) from None
