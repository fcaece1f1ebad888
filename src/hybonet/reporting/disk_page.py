"""The Poincaré disk as a page to move through (one HTML file that works offline), and as that page and a picture."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.files import write_atomically
from hybonet.geometry import Lorentz
from hybonet.reporting.disk import draw_disk
from hybonet.reporting.geodesics import disk_view

_SCRIPTS = ("mobius", "tree", "view", "colours", "drawing", "labels", "panel", "search", "page", "pointer", "start")
_RIM = 1 - 1e-12  # where points that rounding put on the rim or just beyond it are drawn
_ROUNDING = 1e-6  # of float32 coordinates close to one


@dataclass(frozen=True)
class DiskNode:
    """What the page says of a node. All text may come from users' files: it is shown as it is, never as markup."""

    name: str
    #: The identifier in the data, if it differs from the name: found by the search, and used in links to the node.
    label: str = ""
    #: One line more, such as a description.
    detail: str = ""
    #: Edges up to the root; counted on the page along the edges if it is not given.
    depth: int | None = None
    #: What the node belongs to, for the colour; "" for nothing.
    group: str = ""


def write_disk_page(
    path: str | Path,
    flat: Tensor,
    nodes: Sequence[DiskNode],
    edges: Tensor,
    *,
    title: str,
    note: str,
    new_edges: Tensor | None = None,
) -> None:
    """Write an interactive picture of an embedded hierarchy to an HTML file.

    Dragging moves the plane by isometries, so that every region can be brought to the middle; the wheel zooms; a search
    box finds nodes. ``disk.html#search=dog`` opens the page with that node in the middle. The page loads nothing from
    elsewhere, and its security policy forbids it to. Cycles and several parents are allowed; the way to the root is
    then a shortest one.

    Args:
        flat: coordinates in the unit disk, for instance of :func:`~hybonet.reporting.geodesics.disk_view`;
            shape (nodes, 2).
        nodes: names and what else is known, in the order of ``flat``.
        edges: node numbers (child, parent); shape (edges, 2).
        note: the sentence that says how the positions came about.
        new_edges: True for edges that a model predicts and its training data does not contain; shape (edges,). Without
            it, all edges count as training data.

    Raises:
        ValueError: if shapes or numbers do not fit, or a point is not in the disk.
    """
    data = _page_data(flat, nodes, edges, new_edges)
    script = "(() => {\n" + "\n".join(('"use strict";', *(_read(f"{name}.js") for name in _SCRIPTS))) + "})();\n"
    style = _read("disk_page.css")
    parts = {
        "TITLE": html.escape(title),
        "NOTE": html.escape(note),
        "STYLE": style,
        "STYLE_HASH": _content_hash(style),
        "SCRIPT": script,
        "SCRIPT_HASH": _content_hash(script),
        "DATA": _json_for_html(data),
    }
    # One pass: text that was put in is not searched for marks again.
    page = re.sub("@@([A-Z_]+)@@", lambda mark: parts[mark[1]], _read("disk_page.html"))
    # Half of a surrogate pair has no UTF-8; as a character reference it shows as a replacement sign.
    content = page.encode("utf-8", errors="xmlcharrefreplace")
    write_atomically(Path(path), lambda target: target.write_bytes(content))


def _page_data(flat: Tensor, nodes: Sequence[DiskNode], edges: Tensor, new_edges: Tensor | None) -> dict[str, Any]:
    """What the script reads, in columns: small, and quick to load."""
    count = len(nodes)
    if count == 0:
        raise ValueError("expected at least one node, got none; give the nodes of the hierarchy")
    if flat.shape != (count, 2):
        raise ValueError(
            f"expected coordinates of shape ({count}, 2), one row per node, got {tuple(flat.shape)}; use disk_view for "
            "points with more coordinates"
        )
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.is_floating_point():
        raise ValueError(
            f"expected edges as whole numbers of shape (edges, 2), got {edges.dtype} of shape {tuple(edges.shape)}; "
            "give rows (child, parent)"
        )
    if len(edges) and not 0 <= int(edges.min()) <= int(edges.max()) < count:
        raise ValueError(
            f"expected edges between the nodes 0 to {count - 1}, got {int(edges.min())} to {int(edges.max())}; "
            "number the nodes by their place"
        )
    if new_edges is not None and (new_edges.dtype != torch.bool or new_edges.shape != edges.shape[:1]):
        raise ValueError(
            f"expected new_edges as a mask of shape ({len(edges)},), got {new_edges.dtype} of shape "
            f"{tuple(new_edges.shape)}; give True or False for every edge"
        )
    x, y = _inside(flat).T.tolist()
    child, parent = edges.T.tolist()
    groups = sorted({node.group for node in nodes if node.group})
    number = {group: i for i, group in enumerate(groups)} | {"": -1}
    return {
        "x": x,
        "y": y,
        "names": [node.name for node in nodes],
        "labels": ["" if node.label == node.name else node.label for node in nodes],
        "details": [node.detail for node in nodes],
        "depths": [node.depth for node in nodes],
        "groups": groups,
        "group": [number[node.group] for node in nodes],
        "child": child,
        "parent": parent,
        "predicted": [] if new_edges is None else new_edges.nonzero().flatten().tolist(),
    }


def _inside(flat: Tensor) -> Tensor:
    flat = flat.detach().cpu().double()
    length = flat.norm(dim=-1, keepdim=True)
    outside = ~(length <= 1 + _ROUNDING).flatten()  # NaN is not inside either
    if outside.any():
        first = int(outside.nonzero()[0])
        raise ValueError(
            f"expected points of the unit disk, got {flat[first].tolist()} for node {first}; convert with disk_view"
        )
    return torch.where(length > _RIM, flat / length.clamp_min(_RIM) * _RIM, flat)


def _json_for_html(value: Any) -> str:
    """JSON that no text in it can end early: without any of the characters that begin a tag, comment or reference."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _content_hash(content: str) -> str:
    """The name by which the page's security policy allows one script or style, and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _read(name: str) -> str:
    return resources.files("hybonet.reporting").joinpath("page", name).read_text(encoding="utf-8")


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
