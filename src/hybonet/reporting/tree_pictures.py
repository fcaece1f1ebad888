"""The two pictures of a hierarchy on the Poincaré disk, ``disk.png`` and ``disk.html``, whatever run it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz
from hybonet.reporting.disk import draw_disk
from hybonet.reporting.disk_page import DiskNode, write_disk_page
from hybonet.reporting.geodesics import disk_view

#: The files.
DISK, PAGE = "disk.png", "disk.html"
_BRANCHES = 10  # that the page gives a colour to


def draw_tree(
    points: Tensor,
    hierarchy: Hierarchy,
    manifold: Lorentz,
    folder: Path,
    *,
    title: str,
    note: str,
    page_note: str,
    shown: Sequence[str],
    details: Sequence[str] = (),
    new_edges: Tensor | None = None,
    dpi: int = 150,
) -> list[Path]:
    """Draw an embedded hierarchy into a folder, and say what was drawn; ``points (nodes, d)``, ``new_edges (edges,)``.

    Args:
        note: how the points came about, for the PNG file.
        page_note: the same for the page, which draws new edges in another way.
        shown: what people call the nodes.
        details: a line more on each node, if there is one.
    """
    draw_disk(
        points, hierarchy, manifold, folder / DISK, title=title, note=note, shown=shown, new_edges=new_edges, dpi=dpi
    )
    branch, tops = hierarchy.branches(_BRANCHES)
    nodes = [
        DiskNode(
            shown[node],
            label=label,
            detail=details[node] if details else "",
            depth=int(hierarchy.depths[node]),
            group=shown[tops[int(branch[node])]] if branch[node] >= 0 else "",
        )
        for node, label in enumerate(hierarchy.names)
    ]
    flat = disk_view(points, manifold.centroid(points[hierarchy.roots]), manifold)
    write_disk_page(folder / PAGE, flat, nodes, hierarchy.edges, title=title, note=page_note, new_edges=new_edges)
    return [folder / DISK, folder / PAGE]
