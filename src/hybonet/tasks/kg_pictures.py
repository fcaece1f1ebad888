"""All pictures of a knowledge-graph run, drawn from its folder alone."""

from __future__ import annotations

from pathlib import Path

from hybonet.geometry import Lorentz
from hybonet.models import TripleScorer
from hybonet.models.tail_search import all_points
from hybonet.reporting.charts import draw_curves, draw_groups, draw_relation_bars
from hybonet.reporting.disk import draw_disk
from hybonet.reporting.disk_page import DiskNode, write_disk_page
from hybonet.reporting.geodesics import disk_view
from hybonet.tasks.kg_answers import KGModel
from hybonet.tasks.kg_hierarchy import PredictedHierarchy, hierarchical_relations, predicted_hierarchy
from hybonet.tasks.kg_run import CURVES
from hybonet.tasks.radial_layout import radial_layout
from hybonet.tasks.run_folder import RECORD, read_history, read_record

DISK, PAGE, POINTS, RELATIONS = "disk.png", "disk.html", "points.png", "relations.png"

_RADIUS = 4.5  # of the drawn tree: leaves near the rim, labels still apart
_BRANCHES = 10


def draw_run(run: Path, folder: Path, *, hierarchy: list[str] | None = None) -> list[Path]:
    """Draw everything there is to draw of a run into ``folder``, and say what was drawn.

    ``curves.png`` (training), ``relations.png`` (MRR by relation, of a finished run), ``points.png`` (the entities),
    and, if a relation makes a hierarchy, ``disk.png`` and the interactive ``disk.html`` of it. ``hierarchy`` names the
    relations to take for that.
    """
    model = KGModel.load(run)
    relations = hierarchy or hierarchical_relations(model.graph)
    tree = predicted_hierarchy(model, relations) if relations else None
    folder.mkdir(parents=True, exist_ok=True)
    title = Path(model.graph.source).stem
    drawn = []
    if history := read_history(run):
        draw_curves(history, "mrr", folder / CURVES, title=f"{title}: training")
        drawn.append(folder / CURVES)
    if (run / RECORD).exists() and "test" in (record := read_record(run)):
        test = record["test"]
        overall = f"{title}: test MRR by relation (overall {test['both']['mrr']:.3f})"
        draw_relation_bars(test["by_relation"], folder / RELATIONS, title=overall)
        drawn.append(folder / RELATIONS)
    if isinstance(model.scorer, TripleScorer):  # points of other models lie in other spaces
        _draw_points(model, tree, folder / POINTS, title)
        drawn.append(folder / POINTS)
    if tree is not None:
        drawn.extend(_draw_tree(model, tree, relations, folder, title))
    return drawn


def _draw_points(model: KGModel, tree: PredictedHierarchy | None, path: Path, title: str) -> None:
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
        title=f"{title}: {len(points):,} entities in {points.shape[1] - 1} hyperbolic dimensions",
        note="Projected to two: principal components of the tangent vectors at the centroid. Distances are not kept.",
    )


def _draw_tree(model: KGModel, tree: PredictedHierarchy, relations: list[str], folder: Path, title: str) -> list[Path]:
    """The hierarchy as the model sees it, laid out on the hyperbolic plane."""
    plane, found = Lorentz(), tree.hierarchy
    points = radial_layout(found, 3, plane, radius=_RADIUS)
    shown = [model.graph.entities.name(entity) for entity in tree.entities.tolist()]
    new = int(tree.new.sum())
    note = (
        f"Laid out on the hyperbolic plane, each entity under its most probable parent ({', '.join(relations)}) by the "
        f"model.\nRed: {new} parents that are not in the training data; {tree.new_and_true} of them are true by the "
        "held-out triples."
    )
    title = f"{title}: the hierarchy of {len(found):,} entities as the model sees it"
    draw_disk(
        points,
        found,
        plane,
        folder / DISK,
        title=title,
        note=note,
        shown=shown,
        new_edges=tree.new,
    )
    branch, tops = found.branches(_BRANCHES)
    nodes = [
        DiskNode(
            shown[node],
            label=label,
            detail=model.graph.entities.description(int(tree.entities[node])),
            depth=int(found.depths[node]),
            group=shown[tops[int(branch[node])]] if branch[node] >= 0 else "",
        )
        for node, label in enumerate(found.names)
    ]
    centre = plane.centroid(points[found.roots])
    flat = disk_view(points, centre, plane)
    write_disk_page(folder / PAGE, flat, nodes, found.edges, title=title, note=note, new_edges=tree.new)
    return [folder / DISK, folder / PAGE]
