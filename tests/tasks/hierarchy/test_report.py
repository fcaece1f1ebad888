"""Tables: nearest nodes by distance, ancestors marked."""

import torch

from hybonet import Lorentz
from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.report import neighbours_table


def test_neighbours_come_by_distance_and_never_name_the_node_itself() -> None:
    names = ["root", *(f"n{i}" for i in range(9))]
    hierarchy = Hierarchy.from_edges([(name, "root") for name in names[1:]])
    torch.manual_seed(0)
    manifold = Lorentz(-0.5)
    points = manifold.random_normal(10, 4)
    table = neighbours_table(points, hierarchy, manifold, count=9)
    nodes = [str(cell) for cell in table.columns[0].cells]
    assert len(nodes) == 3
    for node, line in zip(nodes, table.columns[1].cells, strict=True):
        listed = [entry.split(" ")[0] for entry in str(line).split(", ")]
        distances = manifold.dist(points[hierarchy.names.index(node)], points)
        expected = [hierarchy.names[i] for i in distances.argsort().tolist() if hierarchy.names[i] != node]
        assert listed == ["↑root" if name == "root" else name for name in expected]
