"""The picture of a hierarchy's run, drawn from its files alone."""

from __future__ import annotations

from pathlib import Path

from hybonet.reporting.disk import draw_disk
from hybonet.tasks.hierarchy_run import read_run


def draw_run(folder: Path, picture: Path, *, dpi: int = 150) -> None:
    """Draw the Poincaré disk of the run in ``folder`` to the PNG file ``picture``.

    Example:
        >>> import tempfile
        >>> from hybonet.data import Hierarchy
        >>> from hybonet.tasks.hierarchy_embedding import HierarchySettings
        >>> from hybonet.tasks.hierarchy_run import start_run, train_run
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run, picture = Path(folder) / "run", Path(folder) / "disk.png"
        ...     start_run(run, HierarchySettings(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")]))
        ...     result = train_run(run, resume=False)
        ...     draw_run(run, picture, dpi=40)
        ...     picture.exists()
        True
    """
    run = read_run(folder)
    metrics = run.record["metrics"]
    space = (
        "the hyperbolic plane"
        if run.settings.dim == 3
        else f"hyperbolic space of {run.settings.dim - 1} dimensions, projected to two"
    )
    title = (
        f"{Path(run.record['data']['source']).stem}: {len(run.hierarchy):,} nodes in {space} "
        f"(mean rank {metrics['mean_rank']:.2f}, MAP {metrics['mean_average_precision']:.3f})"
    )
    draw_disk(run.points, run.hierarchy, run.manifold, picture, title=title, dpi=dpi)
