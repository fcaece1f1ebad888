"""The type points of a trained model as a table for other tools."""

from __future__ import annotations

from pathlib import Path

from hybonet.files import write_atomically
from hybonet.tasks.typing.predictor import MentionTyper


def write_type_vectors(model: MentionTyper, path: Path) -> tuple[int, int]:
    """Type, level and ambient coordinates (``x0`` is time) of every type as TSV; a file that exists is refused.

    Returns the number of types and of coordinates.
    """
    if path.suffix.lower() != ".tsv":
        raise ValueError(f"expected a file ending in .tsv, got {str(path)!r}; choose another --output")
    if path.exists():
        raise ValueError(f"expected a new file, but {str(path)!r} exists; remove it or choose another --output")
    points, types = model.type_points(), model.data.types
    lines = ["\t".join(["type", "level", *(f"x{number}" for number in range(points.shape[1]))])]
    for number, row in enumerate(points.tolist()):
        lines.append("\t".join([types[number], types.level(number), *(format(value, ".9g") for value in row)]))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda target: target.write_text("\n".join(lines) + "\n", encoding="utf-8"))
    return points.shape[0], points.shape[1]
