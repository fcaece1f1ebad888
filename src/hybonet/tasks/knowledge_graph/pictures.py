"""All pictures of a knowledge-graph model."""

from __future__ import annotations

from pathlib import Path

import torch

from hybonet.data.triples.hierarchical import hierarchical_relations
from hybonet.data.triples.triple_data import TripleData
from hybonet.geometry import Lorentz
from hybonet.reporting.charts import NAMED, draw_groups, draw_relation_bars, draw_reliability_of, most_linked
from hybonet.reporting.disk_page import DISK, PAGE, draw_tree
from hybonet.reporting.geodesics import disk_view, radial_layout, view_note
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.knowledge_graph.models.tail_search import all_points
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.options import Plot
from hybonet.tasks.knowledge_graph.predicted_hierarchy import PredictedHierarchy, predicted_hierarchy
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask
from hybonet.tasks.run_folder import source_name

POINTS, RELATIONS = "points.png", "relations.png"

_RADIUS = 4.5  # of the drawn tree: leaves near the rim, labels still apart
_BRANCHES = 10


def pictures(model: KnowledgeGraphModel, folder: Path, options: Plot) -> Pictures:
    """Draw everything there is to draw of a model into ``folder``, and say what was drawn.

    ``curves.png`` (training), ``relations.png`` (MRR by relation, of a finished run), ``reliability.png`` (likewise),
    ``points.png`` (the entities), and, if a relation makes a hierarchy, ``disk.png`` and the page ``disk.html``.
    """
    relations = options.hierarchy or hierarchical_relations(model.graph)
    tree = predicted_hierarchy(model, relations) if relations else None
    name = source_name(model.graph.source)
    drawn = model.draw_curves(folder, KnowledgeGraphTask, f"Training on {name}")
    if model.record is not None and "test" in model.record:
        test = model.record["test"]
        overall = f"{name}: test MRR by relation (overall {test['both']['mrr']:.3f})"
        draw_relation_bars(test["by_relation"], folder / RELATIONS, title=overall)
        drawn.append(folder / RELATIONS)
    else:
        drawn.missing[RELATIONS] = "the run has no record of test triples"
    draw_reliability_of(model.record, folder, drawn, name)
    if isinstance(model.scorer, TripleScorer):  # points of other models lie in other spaces
        _draw_points(model, tree, folder / POINTS, name)
        drawn.append(folder / POINTS)
    else:
        drawn.missing[POINTS] = f"the vectors of {type(model.scorer).__name__} lie in no hyperbolic space"
    if tree is not None:
        drawn.extend(_draw_tree(model, tree, relations, folder, name))
    else:
        drawn.missing |= dict.fromkeys((DISK, PAGE), "no relation makes a hierarchy; name some with --hierarchy")
    return drawn


def _draw_points(model: KnowledgeGraphModel, tree: PredictedHierarchy | None, path: Path, name: str) -> None:
    """The entities' own points, projected to two dimensions; coloured by branch of the hierarchy if there is one."""
    graph, scorer = model.graph, model.hyperbolic_scorer("a picture of its points")
    manifold, points = scorer.manifold, all_points(scorer).double()
    flat = disk_view(points, manifold.centroid(points), manifold)
    group, names = points.new_full((len(points),), -1), list[str]()
    if tree is not None:
        branch, tops = tree.hierarchy.branches(_BRANCHES)
        group[tree.entities] = branch.to(group)
        names = [graph.entities.name(int(tree.entities[node])) for node in tops]
    draw_groups(
        flat,
        group,
        names,
        path,
        title=f"{name}: {len(points):,} entities in {points.shape[1] - 1} hyperbolic dimensions",
        note=view_note(points.shape[1]),
        named={entity: graph.entities.name(entity) for entity in most_linked(graph.train[:, [0, 2]], NAMED)},
    )


def _draw_tree(
    model: KnowledgeGraphModel, tree: PredictedHierarchy, relations: list[str], folder: Path, name: str
) -> list[Path]:
    """The hierarchy as the model sees it, laid out on the hyperbolic plane."""
    graph, plane, found = model.graph, Lorentz(), tree.hierarchy
    note = (
        f"Laid out on the hyperbolic plane, each entity under its most probable parent ({', '.join(relations)}) by the "
        "model."
    )
    new = (
        f": {int(tree.new.sum())} parents that are not in the training data; {tree.new_and_true} of them are true by "
        "the held-out triples."
    )
    if tree.unsure:
        note += f" {tree.unsure:,} predicted parents are left out, of which the model is not sure."
    is_new = bool(tree.new.any())
    entities = tree.entities.tolist()
    return draw_tree(
        radial_layout(found, 3, plane, radius=_RADIUS),
        found,
        plane,
        folder,
        title=f"{name} as the model sees it: {_extent(graph, len(found), relations)}",
        note=f"{note}\nRed{new}" if is_new else note,
        page_note=f"{note} Dashed{new}" if is_new else note,
        shown=[graph.entities.name(entity) for entity in entities],
        details=[graph.entities.description(entity) for entity in entities],
        new_edges=tree.new,
    )


def _extent(graph: TripleData, drawn: int, relations: list[str]) -> str:
    """How many of the entities are drawn, and why not all."""
    if drawn == graph.num_entities:
        return f"all {drawn:,} entities"
    numbers = torch.tensor([graph.relations.find(name) for name in relations])
    joined = graph.train[torch.isin(graph.train[:, 1], numbers)][:, [0, 2]].unique()
    reason = "those that the relation joins" if len(relations) == 1 else "those that the relations join"
    if drawn < len(joined):
        reason += "; small trees left out"
    return f"{drawn:,} of {graph.num_entities:,} entities ({reason})"
