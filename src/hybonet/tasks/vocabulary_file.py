"""Labels of a run with their names, as a table on disk."""

from __future__ import annotations

from pathlib import Path

from hybonet.data.vocabulary import Vocabulary


def write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    """Label, name and description of everything, one per line, under a header.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "entities.tsv"
        >>> write_vocabulary(path, Vocabulary(("Q90",), ("Paris",)))
        >>> read_vocabulary(path, "entity").find("paris")
        0
    """
    lines = ["label\tname\tdescription"]
    for number, label in enumerate(vocabulary):
        lines.append("\t".join((label, vocabulary.name(number), vocabulary.description(number))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_vocabulary(path: Path, kind: str) -> Vocabulary:
    """What :func:`write_vocabulary` wrote; a ``ValueError`` says which line is not as it should be."""
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[1:-1]]
        odd = next((number for number, row in enumerate(rows, 2) if len(row) != 3), None)
        if odd is not None or not rows:
            raise ValueError(f"line {odd or 2} is not one")
        labels, names, descriptions = zip(*rows, strict=True)
        return Vocabulary(labels, names, descriptions, kind=kind)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: expected a label, a name and a description per line, but {str(error).split(';')[0]}; restore it "
            "or train again"
        ) from None
