"""Sampled neighbourhoods: complete where they may be, bounded where not."""

import pytest
import torch

from hybonet.data import load_graph
from hybonet.data.graphs.neighbour_sampling import NeighbourSampler
from hybonet.tasks.graph.models.graph_network import GraphNetwork

GRAPH = load_graph("disease-small")
SAMPLER = NeighbourSampler(GRAPH.edges, GRAPH.num_nodes)


@pytest.mark.parametrize("hops", [1, 2])
def test_with_all_neighbours_nodes_are_where_the_whole_graph_puts_them(hops):
    model = GraphNetwork(11, layers=hops).eval()
    whole = model.encode(GRAPH.features, GRAPH.edge_index())
    asked = torch.tensor([5, 0, 599, 77])
    part = SAMPLER.sample(asked, hops, fan_out=1000)
    assert part.nodes[:4].tolist() == asked.tolist()
    assert len(part.nodes) == len(part.nodes.unique()) < GRAPH.num_nodes
    torch.testing.assert_close(model.encode(GRAPH.features[part.nodes], part.edge_index)[:4], whole[asked])


def test_no_node_has_more_neighbours_than_the_fan_out_nor_one_twice():
    part = SAMPLER.sample(torch.arange(100), hops=2, fan_out=3)
    assert int(torch.bincount(part.edge_index[1]).max()) == 3
    assert len(part.edge_index.T.unique(dim=0)) == part.edge_index.shape[1]
    known = {tuple(edge) for edge in GRAPH.edge_index().T.tolist()}
    assert all(tuple(edge) in known for edge in part.nodes[part.edge_index].T.tolist())


def test_the_same_generator_gives_the_same_part_whatever_came_before():
    def sample(seed):
        return SAMPLER.sample(torch.arange(50), 2, 2, torch.Generator().manual_seed(seed))

    first, other, again = sample(1), sample(2), sample(1)
    assert torch.equal(first.nodes, again.nodes)
    assert torch.equal(first.edge_index, again.edge_index)
    assert not torch.equal(first.nodes, other.nodes)


def test_every_neighbour_is_drawn_as_often():
    star = NeighbourSampler(torch.stack((torch.zeros(10).long(), torch.arange(1, 11)), dim=1), 11)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.cat([star.sample(torch.tensor([0]), 1, 2, generator).nodes[1:] for _ in range(500)])
    counts = torch.bincount(drawn, minlength=11)[1:]
    assert int(counts.min()) > 0.7 * float(counts.float().mean())
    assert int(counts.max()) < 1.3 * float(counts.float().mean())
