"""The picture of a run, drawn from its files alone."""

from __future__ import annotations

from pathlib import Path

from hybonet.reporting.disk import draw_disk
from hybonet.tasks.run_directory import read_run


def draw_run(folder: Path, picture: Path, *, dpi: int = 150) -> None:
    """Draw the Poincaré disk of the run in ``folder`` to the PNG file ``picture``.

    Example:
        >>> import tempfile
        >>> from hybonet.data import Hierarchy
        >>> from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig, train
        >>> from hybonet.tasks.run_directory import new_run, write_run
        >>> config, family = HierarchyEmbeddingConfig(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with new_run(Path(folder) / "run") as staging:
        ...         record = write_run(staging, config, family, train(config, family))
        ...     draw_run(Path(folder) / "run", Path(folder) / "disk.png", dpi=40)
        ...     (Path(folder) / "disk.png").exists()
        True
    """
    run = read_run(folder)
    metrics = run.record["metrics"]
    space = (
        "the hyperbolic plane"
        if run.config.dim == 3
        else f"hyperbolic space of {run.config.dim - 1} dimensions, projected to two"
    )
    title = (
        f"{Path(run.record['data']['source']).stem}: {len(run.hierarchy):,} nodes in {space} "
        f"(mean rank {metrics['mean_rank']:.2f}, MAP {metrics['mean_average_precision']:.3f})"
    )
    draw_disk(run.table.weight, run.hierarchy, run.table.manifold, picture, title=title, dpi=dpi)
