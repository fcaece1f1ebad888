"""The page in a browser: what is seen, found, dragged and pressed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from hybonet import Lorentz
from hybonet.reporting.disk_page import DiskNode, write_disk_page
from hybonet.reporting.geodesics import geodesic_arcs
from tests.reporting.chromium import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")

HOSTILE = "</script><img src=x onerror=alert(1)>"
#: name, label, place, parent
TREE = [
    ("entity", "entity.n.01", (0.0, 0.0), None),
    ("animal", "animal.n.01", (0.5, 0.1), 0),
    ("dog", "dog.n.01", (0.75, 0.4), 1),
    ("doghouse", "doghouse.n.01", (-0.6, 0.5), 0),
    (HOSTILE, "Q<1>", (-0.3, -0.6), 0),
    ("hot dog", "frank.n.02", (0.1, -0.85), 4),
    ("ant", "ant.n.01", (0.8, -0.3), 1),
]
NAMES = [name for name, *_ in TREE]
FLAT = torch.tensor([place for _, _, place, _ in TREE], dtype=torch.float64)
EDGES = torch.tensor([(i, parent) for i, (*_, parent) in enumerate(TREE) if parent is not None])
PREDICTED = EDGES[:, 0] == 5


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "disk.html"
    nodes = [
        DiskNode(name, label=label, detail=f"about {label}", group="living" if i in (1, 2, 6) else "")
        for i, (name, label, *_) in enumerate(TREE)
    ]
    write_disk_page(path, FLAT, nodes, EDGES, new_edges=PREDICTED, title="A <b>tree", note="Placed & drawn by hand.")
    return path


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(opened: Browser, page: Path) -> Iterator[Browser]:
    opened.open(page)
    yield opened
    assert opened.messages == []  # no error, and no load that the policy forbade
    assert {address.split("#")[0] for address in opened.requests} <= {page.as_uri(), "about:blank"}


def on_screen(browser: Browser, point: complex) -> tuple[float, float]:
    """Where the first view shows a point of the disk."""
    box = browser.ask("(({x, y, width}) => [x, y, width / 2])(document.getElementById('disk').getBoundingClientRect())")
    left, top, radius = box
    return left + radius * (1 + point.real), top + radius * (1 - point.imag)


def place(node: int) -> complex:
    return complex(*FLAT[node].tolist())


def hovered(browser: Browser, point: complex) -> int:
    browser.mouse("Moved", *on_screen(browser, point))
    browser.settle()
    return int(browser.state()["hovered"])


def selected(browser: Browser) -> tuple[int, int]:
    """The selected node and the one in the middle."""
    browser.rest()
    state = browser.state()
    return int(state["selected"]), int(state["middle"])


def test_the_first_picture(browser: Browser, tmp_path: Path) -> None:
    state = browser.state()
    assert (state["middle"], state["selected"], state["zoom"]) == ("0", "-1", "1.000")
    assert state["labels"] == str(len(TREE))  # room for all
    assert browser.text("h1") == "A <b>tree"
    assert browser.text("#note") == "Placed & drawn by hand."
    assert browser.text("#summary") == "7 nodes, 6 edges"
    assert browser.text("#edges").splitlines() == [
        "in the training data (5)",
        "predicted, not in the training data (1)",
    ]
    assert browser.ask("document.images.length + document.querySelectorAll('b').length") == 0
    browser.photograph(tmp_path / "disk.png")
    assert (tmp_path / "disk.png").read_bytes()[1:4] == b"PNG"


def test_edges_are_geodesics(browser: Browser) -> None:
    def inked(point: complex) -> bool:
        """Whether something is drawn within a pixel of the point."""
        x, y = on_screen(browser, point)
        left, top = browser.ask("(({x, y}) => [x, y])(document.getElementById('ground').getBoundingClientRect())")
        pixels = f"getContext('2d').getImageData({x - left - 1}, {y - top - 1}, 3, 3).data.some(value => value > 0)"
        return bool(browser.ask(f"document.getElementById('ground').{pixels}"))

    for edge in (1, 5):  # from the dog and the ant to the animal: bent to either side
        ends = FLAT[EDGES[edge]]
        arc = geodesic_arcs(ends[:1], ends[1:], steps=33)[0, 16]
        assert inked(complex(*arc.tolist()))
        assert not inked(complex(*ends.mean(0).tolist()))


@pytest.mark.parametrize(("wanted", "found"), [("dog", 2), ("frank.n.02", 5), ("DOGH", 3), ("%3C%2Fscript%3E", 4)])
def test_an_address_opens_at_its_node(browser: Browser, page: Path, wanted: str, found: int) -> None:
    browser.open(page, f"#search={wanted}")
    assert selected(browser) == (found, found)
    assert browser.text("#node h2") == NAMES[found]
    assert browser.ask("decodeURIComponent(location.hash)") == f"#search={TREE[found][1]}"


def test_search_by_keys(browser: Browser) -> None:
    browser.press("/", *"dog")
    options = "[...document.querySelectorAll('#suggestions li')].map(item => item.firstChild.data)"
    assert browser.ask(options) == ["dog", "doghouse", "hot dog"]
    browser.press("Backspace", "Backspace", "Backspace", *"an")
    assert browser.ask(options)[:2] == ["ant", "animal"]
    browser.press("Backspace", "Backspace", *"dog")
    browser.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter")  # round the end and back again
    assert selected(browser) == (5, 5)
    assert browser.text("#node h2") == "hot dog"
    assert browser.text("#node .links") == f"{HOSTILE}\n›\nentity"
    assert browser.ask("document.querySelector('#node button').className") == "new"
    browser.press("/", *"zzz", "Enter")
    assert browser.text("#suggestions") == "no node of this name"
    browser.press("Escape")
    assert browser.ask("document.getElementById('suggestions').hidden")
    assert selected(browser) == (5, 5)


def test_hover_tells_of_the_node(browser: Browser) -> None:
    assert hovered(browser, place(1)) == 1
    told = browser.text("#tip").splitlines()
    assert told == [
        "animal",
        "animal.n.01",
        "about animal.n.01",
        "parent: entity",
        "depth 1 · 2 children · group living",
    ]
    assert hovered(browser, place(5)) == 5
    assert f"parent: {HOSTILE} (predicted)" in browser.text("#tip")
    assert hovered(browser, 0.5j) == -1
    assert browser.ask("document.getElementById('tip').hidden")


def test_a_drag_is_an_isometry(browser: Browser) -> None:
    begin, end = place(1), complex(-0.2, 0.45)
    browser.drag(on_screen(browser, begin), on_screen(browser, end))
    browser.rest()
    # z -> (z + c) / (1 + conj(c) z) with the c that takes the dragged point along
    c = (end - begin + begin * end * (end - begin).conjugate()) / (1 - abs(begin * end) ** 2)
    moved = [(place(i) + c) / (1 + c.conjugate() * place(i)) for i in range(len(TREE))]
    assert [hovered(browser, point) for point in moved] == list(range(len(TREE)))
    before, after = (
        Lorentz().from_poincare(torch.tensor([[z.real, z.imag] for z in points], dtype=torch.float64))
        for points in ([place(i) for i in range(len(TREE))], moved)
    )
    assert torch.allclose(Lorentz().dist(before[:, None], before), Lorentz().dist(after[:, None], after), atol=1e-6)
    browser.ask("document.getElementById('reset').click()")
    browser.settle()
    browser.rest()
    assert [hovered(browser, place(i)) for i in range(len(TREE))] == list(range(len(TREE)))


def test_a_click_brings_a_node_to_the_middle(browser: Browser) -> None:
    browser.click(*on_screen(browser, place(6)))
    assert selected(browser) == (6, 6)
    assert hovered(browser, 0j) == 6
    browser.ask("[...document.querySelectorAll('#node button')].find(b => b.innerText === 'entity').click()")
    assert selected(browser) == (0, 0)
    browser.ask("document.getElementById('ink').focus()")
    browser.press("Escape")
    assert selected(browser) == (-1, 0)


def test_the_wheel_zooms_at_the_pointer(browser: Browser) -> None:
    at = on_screen(browser, place(2))
    for _ in range(3):
        browser.mouse("Wheel", *at, deltaX=0, deltaY=-200)
    browser.rest()
    assert float(browser.state()["zoom"]) > 2
    browser.mouse("Moved", at[0] + 1, at[1])
    browser.settle()
    assert browser.state()["hovered"] == "2"  # the node under the pointer stayed there
    for _ in range(6):
        browser.mouse("Wheel", *at, deltaX=0, deltaY=200)
    browser.rest()
    assert browser.state()["zoom"] == "1.000"
    assert hovered(browser, place(2)) == 2


def test_keys_move_zoom_and_reset(browser: Browser) -> None:
    browser.ask("document.getElementById('ink').focus()")
    browser.press("ArrowLeft", "ArrowLeft", "+")
    browser.rest()
    assert float(browser.state()["zoom"]) > 1.2
    browser.press("-")
    browser.rest()
    assert hovered(browser, complex(0.24 / (1 + 0.12**2))) == 0  # two steps of 0.12, added as velocities are
    browser.press("0")
    browser.rest()
    assert hovered(browser, 0j) == 0


def test_a_double_click_brings_an_empty_place_to_the_middle(browser: Browser) -> None:
    browser.double_click(*on_screen(browser, 0.6j))
    browser.rest()
    assert hovered(browser, -0.6j) == 0


def test_a_double_click_on_a_node_does_what_its_first_click_did(browser: Browser) -> None:
    browser.double_click(*on_screen(browser, place(6)))  # when the second click comes, the node has left
    assert selected(browser) == (6, 6)
    assert hovered(browser, 0j) == 6


def test_colours_by_depth_and_by_group(browser: Browser) -> None:
    assert browser.text("#colours").splitlines() == ["living", "other"]
    browser.ask("document.querySelector('#colours button').click()")
    browser.settle()
    assert browser.state()["labels"] == "3"  # only the chosen group is named
    browser.ask("document.querySelector('#modes button').click()")
    browser.settle()
    assert browser.text("#colours").splitlines() == ["root", "depth 2"]
    assert browser.state()["labels"] == str(len(TREE))


def test_the_page_fits_a_narrow_dark_screen(browser: Browser, page: Path) -> None:
    browser.open(page, "", (400, 800), dark=True)
    assert browser.ask("document.documentElement.scrollWidth") <= 400
    for part in ("#search", "#disk", "#reset"):
        box = browser.ask(f"document.querySelector({json.dumps(part)}).getBoundingClientRect().toJSON()")
        assert box["left"] >= 0
        assert box["right"] <= 400
        assert box["bottom"] <= 800
    red, *_ = browser.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert red < 64


#: What each layer of the picture measures: bitmap and box of both canvases, and the disk.
LAYERS = """(() => {
  const stage = document.getElementById("stage"), size = [stage.clientWidth, stage.clientHeight];
  const canvases = ["ground", "ink"].map((id) => {
    const canvas = document.getElementById(id), box = canvas.getBoundingClientRect();
    const { a, d, e, f } = canvas.getContext("2d").getTransform();
    return { bitmap: [canvas.width, canvas.height], box: [box.width, box.height], transform: [a, d, e, f] };
  });
  const disk = document.getElementById("disk").getBoundingClientRect(), whole = stage.getBoundingClientRect();
  const middle = [disk.x + disk.width / 2 - whole.x, disk.y + disk.height / 2 - whole.y];
  return { size, canvases, middle, disk: [disk.width, disk.height] };
})()"""


def check_layers(layers: dict[str, Any], ratio: int = 1) -> None:
    wide, high = layers["size"]
    for canvas in layers["canvases"]:
        assert canvas["bitmap"] == [ratio * wide, ratio * high]
        assert canvas["box"] == [wide, high]
        assert canvas["transform"] == [ratio, ratio, 0, 0]
    assert layers["middle"] == pytest.approx([wide / 2, high / 2], abs=0.1)
    assert layers["disk"] == pytest.approx([0.944 * min(wide, high)] * 2, abs=0.1)


def test_no_frame_shows_layers_of_different_sizes(browser: Browser) -> None:
    # An observer of our own is told in the same frame as the page's, after it and before anything is painted.
    layers = browser.ask(
        "new Promise((done) => { const stage = document.getElementById('stage'); let first = true;"
        f"new ResizeObserver(() => {{ if (first) first = false; else done({LAYERS}); }}).observe(stage);"
        "requestAnimationFrame(() => requestAnimationFrame(() => {"
        "Object.assign(stage.style, { width: '500px', height: '300px' }); })); })"
    )
    assert layers["size"] == [500, 300]
    check_layers(layers)


def test_a_window_of_another_size_or_sharpness_is_followed(browser: Browser) -> None:
    for size, ratio in (((900, 700), 1), ((950, 700), 2), ((500, 900), 2), ((1400, 900), 1)):
        browser.resize(size, ratio)
        browser.settle()
        check_layers(browser.ask(LAYERS), ratio)
        assert [hovered(browser, place(i)) for i in (1, 5, 6)] == [1, 5, 6]


def test_a_few_very_deep_nodes_do_not_take_the_colours(browser: Browser, tmp_path: Path) -> None:
    flat = torch.zeros(41, 2, dtype=torch.float64)
    flat[:, 0] = torch.linspace(-0.9, 0.9, 41)
    nodes = [DiskNode(f"n{i}", depth=20 if i == 40 else min(i, 3)) for i in range(41)]
    edges = torch.tensor([[i, 0] for i in range(1, 41)])
    write_disk_page(tmp_path / "disk.html", flat, nodes, edges, title="", note="")
    browser.open(tmp_path / "disk.html")
    assert browser.text("#colours").splitlines() == ["root", "depth 3 or more"]
    assert browser.text("#edges") == ""  # one kind of edges needs no legend
    browser.requests.clear()


def test_cycles_and_several_parents_are_drawn(browser: Browser, tmp_path: Path) -> None:
    nodes = [DiskNode(name) for name in "abcde"]
    edges = torch.tensor([[0, 1], [1, 2], [2, 0], [3, 4], [3, 0]])  # a ring of three, and a child of two
    write_disk_page(tmp_path / "disk.html", FLAT[:5], nodes, edges, title="", note="")
    browser.open(tmp_path / "disk.html", "#search=d")
    assert selected(browser) == (3, 3)
    assert "Further parents" in browser.text("#node")
    browser.requests.clear()
