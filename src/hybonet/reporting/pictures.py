"""Pictures as files: what was drawn, what is missing and why, and how a notebook shows them."""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybonet.reporting.lettering import dress_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Endings of single pictures.
_ENDINGS = (".png", ".html")


class Pictures(list[Path]):
    """The files that were drawn; a notebook shows them.

    Attributes:
        missing: pictures that there are not, and why.

    Example:
        >>> Pictures([Path("runs/kg/disk.png")], missing={"points.png": "the vectors are Euclidean"}).missing
        {'points.png': 'the vectors are Euclidean'}
    """

    def __init__(self, drawn: Iterable[Path] = (), *, missing: Mapping[str, str] | None = None) -> None:
        super().__init__(drawn)
        self.missing = dict(missing or {})

    def _repr_html_(self) -> str:
        return "<br>".join(map(_shown, self))


def saved(figure: Figure, path: Path | None, **options: Any) -> Figure:
    """The figure, written to a file if one is named; ``options`` are those of ``savefig``."""
    dress_all(figure)
    if path is not None:
        figure.savefig(path, **options)
    return figure


def draw_into(place: Path, draw: Callable[[Path], Pictures]) -> Pictures:
    """Draw into a folder, or, if the place is that of a single picture, draw this one."""
    if place.suffix.lower() not in _ENDINGS or place.is_dir():
        made = [folder for folder in (place, *place.parents) if not folder.exists()]
        place.mkdir(parents=True, exist_ok=True)
        try:
            return draw(place)
        except BaseException:  # what was refused leaves no empty folders
            for folder in made:
                if not any(folder.iterdir()):
                    folder.rmdir()
            raise
    with tempfile.TemporaryDirectory() as there:
        drawn = draw(Path(there))
        found = next((path for path in drawn if path.name == place.name), None)
        if found is None:
            why = f" ({drawn.missing[place.name]})" if place.name in drawn.missing else ""
            names = ", ".join(path.name for path in drawn) or "none"
            raise ValueError(f"expected the name of a picture, got {place.name!r}{why}; there are {names}")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, place)
    return Pictures([place])


def _shown(path: Path) -> str:
    if path.suffix == ".png":
        content = base64.b64encode(path.read_bytes()).decode()
        return f'<img alt="{escape(path.name)}" style="max-width: 100%" src="data:image/png;base64,{content}">'
    if path.suffix == ".html":
        page = escape(path.read_text(encoding="utf-8"))
        style = "width: 100%; height: 600px; border: 0"
        return f'<iframe title="{escape(path.name)}" style="{style}" srcdoc="{page}"></iframe>'
    return escape(str(path))
