"""The page: one file that holds everything, says it truly, and takes no name for markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import torch

from hybonet.reporting import disk_page
from hybonet.reporting.disk_page import DiskNode, write_disk_page

HOSTILE = "</script><img src=x onerror=alert(1)>"
NODES = [
    DiskNode("beast", label="beast.n.01", detail="an animal", group="animal"),
    DiskNode(HOSTILE, label="<!--", detail="&lt;b&gt; \u2028 \ud800 @@DATA@@ 犬", depth=7),
    DiskNode("cat", label="cat", group=HOSTILE),
]
FLAT = torch.tensor([[0.0, 0.0], [0.5, -0.25], [1 / 3, 0.1]], dtype=torch.float64)
EDGES = torch.tensor([[1, 0], [2, 0]])


class Elements(HTMLParser):
    """The tags of a page in order, and what stands in scripts, styles and the other elements."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append((self.tags[-1][0] if self.tags else "", data))

    def inside(self, tag: str) -> list[str]:
        return [text for place, text in self.text if place == tag and text.strip()]


def write(path: Path, **changes: Any) -> Elements:
    given: dict[str, Any] = {"flat": FLAT, "nodes": NODES, "edges": EDGES, "title": "Beasts", "note": "By hand."}
    write_disk_page(path, **(given | changes))
    elements = Elements()
    elements.feed(path.read_text(encoding="utf-8"))
    return elements


def read_data(page: Elements) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.inside("script")[0])
    return data


def test_data_comes_back_as_it_was_given(tmp_path: Path) -> None:
    data = read_data(write(tmp_path / "disk.html", new_edges=torch.tensor([False, True])))
    assert torch.equal(torch.tensor([data["x"], data["y"]], dtype=torch.float64).T, FLAT)
    assert data["names"] == ["beast", HOSTILE, "cat"]
    assert data["labels"] == ["beast.n.01", "<!--", ""]  # a label that is the name need not be said twice
    assert data["details"] == [node.detail for node in NODES]
    assert data["depths"] == [None, 7, None]
    assert [data["groups"][i] if i >= 0 else "" for i in data["group"]] == ["animal", "", HOSTILE]
    assert list(zip(data["child"], data["parent"], strict=True)) == [(1, 0), (2, 0)]
    assert data["predicted"] == [1]


def test_no_text_becomes_markup(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.html", nodes=[DiskNode("a"), DiskNode("b"), DiskNode("c")])
    page = write(tmp_path / "disk.html", title=HOSTILE, note="@@TITLE@@ <b>\ud800")
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert page.inside("title") == page.inside("h1") == [HOSTILE]
    assert "@@TITLE@@ <b>" in "".join(text for _, text in page.text)
    assert not set("<>&") & set(page.inside("script")[0])


def test_the_page_holds_everything_and_its_policy_allows_nothing_else(tmp_path: Path) -> None:
    page = write(tmp_path / "disk.html")
    addresses = [attributes for _, attributes in page.tags if {"src", "href", "srcset", "action"} & attributes.keys()]
    assert not addresses
    content = (tmp_path / "disk.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|url\(|@import|\bfetch\(|XMLHttpRequest|\bimport\b", content)
    policy = next(attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for element, name in ((page.inside("script")[1], "script-src"), (page.inside("style")[0], "style-src")):
        checksum = base64.b64encode(hashlib.sha256(element.encode()).digest()).decode()
        assert f"{name} 'sha256-{checksum}'" in policy
    assert [path.name for path in tmp_path.iterdir()] == ["disk.html"]


def test_every_file_of_the_page_is_used() -> None:
    files = {file.name for file in resources.files("hybonet.reporting").joinpath("page").iterdir()}
    assert files == {"disk_page.html", "disk_page.css", *(f"{name}.js" for name in disk_page._SCRIPTS)}


def test_points_on_the_rim_are_drawn_inside(tmp_path: Path) -> None:
    flat = torch.tensor([[1.0, 0.0], [0.6000001, 0.8], [0.0, 0.9999]])  # the second is beyond it by rounding
    data = read_data(write(tmp_path / "disk.html", flat=flat))
    points = torch.tensor([data["x"], data["y"]], dtype=torch.float64).T
    assert (points.norm(dim=-1) < 1).all()
    assert torch.allclose(points, flat.double(), atol=1e-6)
    assert torch.equal(points[2], flat[2].double())


def test_a_large_page_stays_small(tmp_path: Path) -> None:
    count = 5000
    angle = torch.linspace(0, 6.28, count, dtype=torch.float64)
    flat = 0.99 * torch.stack((angle.cos(), angle.sin()), dim=-1)
    edges = torch.stack((torch.arange(1, count), torch.arange(count - 1) // 2), dim=-1)
    write(tmp_path / "disk.html", flat=flat, nodes=[DiskNode(f"node {i}") for i in range(count)], edges=edges)
    assert (tmp_path / "disk.html").stat().st_size < 100_000 + 100 * count


def test_a_page_without_edges_is_written(tmp_path: Path) -> None:
    data = read_data(write(tmp_path / "disk.html", edges=torch.empty(0, 2, dtype=torch.long)))
    assert data["child"] == data["parent"] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": [], "flat": torch.empty(0, 2)}, "at least one node"),
        ({"flat": FLAT[:2]}, r"shape \(3, 2\).*got \(2, 2\)"),
        ({"flat": FLAT * 2}, r"unit disk, got \[1.0, -0.5\] for node 1"),
        ({"flat": FLAT * torch.nan}, "unit disk.*node 0"),
        ({"edges": torch.tensor([[3, 0]])}, "nodes 0 to 2, got 0 to 3"),
        ({"edges": torch.tensor([[-1, 0]])}, "nodes 0 to 2, got -1 to 0"),
        ({"edges": EDGES.double()}, "whole numbers"),
        ({"edges": EDGES.flatten()}, r"shape \(edges, 2\)"),
        ({"new_edges": torch.tensor([True])}, r"mask of shape \(2,\)"),
        ({"new_edges": torch.tensor([0, 1])}, "torch.int64"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_written(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "disk.html", **changes)
    assert not list(tmp_path.iterdir())
