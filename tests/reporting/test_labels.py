"""Labels never cover one another, and the important ones come first."""

import math
import random
from itertools import combinations

from hybonet.data import Hierarchy, load_hierarchy
from hybonet.reporting.labels import Anchor, Box, choose_labels, place_labels


def test_no_two_labels_overlap_and_all_are_inside() -> None:
    rng = random.Random(0)
    frame = Box(200, 200, 400, 400)
    anchors = [Anchor(rng.uniform(0, 400), rng.uniform(0, 400), 60, 12, rng.uniform(-3, 3)) for _ in range(150)]
    dots = [Box(anchor.x, anchor.y, 4, 4) for anchor in anchors]
    placed = place_labels(anchors, frame, dots)
    boxes = [box for box in placed if box is not None]
    assert 20 < len(boxes) < 150  # crowded: some fit, not all
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert not any(box.overlaps(dot) for box in boxes for dot in dots)
    assert all(box.inside(frame) for box in boxes)


def test_a_free_label_takes_its_preferred_side() -> None:
    frame = Box(0, 0, 400, 400)
    (right,) = place_labels([Anchor(0, 0, 40, 10, 0.0)], frame)
    (up,) = place_labels([Anchor(0, 0, 40, 10, math.pi / 2)], frame)
    assert right == Box(24, 0, 40, 10)
    assert up is not None
    assert math.isclose(up.y, 9)


def test_a_narrow_spread_keeps_labels_on_their_side() -> None:
    frame = Box(0, 0, 400, 400)
    anchors = [Anchor(0, 0, 60, 14, 0.0, spread=math.radians(60)) for _ in range(30)]
    boxes = [box for box in place_labels(anchors, frame) if box is not None]
    assert len(boxes) > 3
    assert all(box.x > 0 for box in boxes)


def test_choice_of_labels() -> None:
    mammals = load_hierarchy("wordnet_mammals")
    words = [mammals.names[node].split(".")[0] for node in choose_labels(mammals, 40)]
    assert words[0] == "mammal"
    assert {"dog", "cat", "horse", "whale", "primate", "carnivore", "rodent", "bat"} <= set(words)
    assert len(words) == len(set(words)) == 40
    strange = Hierarchy.from_edges([("p", "q"), ("r", "q"), ("q", "s"), ("t", "s")])
    assert [strange.names[node] for node in choose_labels(strange, 2)] == ["s", "q"]
