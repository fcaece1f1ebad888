"""The setting by which the radius of an entity says how general it is, and what an export says without it."""

import pytest
import torch

import hybonet

TREE = [(f"n{at}", "is a", f"n{(at - 1) // 3}") for at in range(1, 120)]
TREE += [(f"n{at}", "next", f"n{at + 1}") for at in range(0, 118)]
SETTINGS = {"epochs": 15, "dim": 8, "batch_size": 50, "lr": 0.05, "max_norm": 0.8, "reporter": False}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return hybonet.train("kg", TREE, out=tmp_path_factory.mktemp("plain") / "run", **SETTINGS)


def radii_by_depth(model):
    graph, scorer = model.graph, model.scorer
    radius = scorer.manifold.dist0(scorer.points().detach())
    inner = [graph.entities.find(f"n{at}") for at in range(13)]  # three levels of five
    leaf = torch.ones(len(radius), dtype=torch.bool)
    leaf[inner] = False
    return float(radius[~leaf].mean()), float(radius[leaf].mean())


def test_parents_lie_nearer_to_the_origin(plain, tmp_path):
    ordered = hybonet.train("kg", TREE, out=tmp_path / "run", radius_order=10.0, **SETTINGS)
    inner, outer = radii_by_depth(ordered)
    assert inner < outer - 0.1
    assert abs(radii_by_depth(plain)[0] - radii_by_depth(plain)[1]) < 0.05
    assert ordered.radius_note() == ""
    assert ordered.record["radius"]["spearman"] > 0.5 > abs(plain.record["radius"]["spearman"])
    assert ordered.record["radius"]["farther_out"] > 0.5


def test_an_export_says_that_all_radii_are_equal(plain, tmp_path):
    said = plain.export(tmp_path / "vectors.tsv", to="vectors")
    assert "have the same radius, 0.733, that of max_norm=0.8" in said
    assert "radius_order" in (plain.export(tmp_path / "saved"), (tmp_path / "saved/README.md").read_text())[1]


def test_a_graph_without_a_hierarchy_is_refused():
    ring = [(f"n{at}", "next", f"n{(at + 1) % 20}") for at in range(20)]
    with pytest.raises(ValueError, match=r"expected a relation of .* that makes a hierarchy with radius_order"):
        hybonet.train("kg", ring, radius_order=1.0, **SETTINGS)
