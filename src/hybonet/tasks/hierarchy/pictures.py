"""All pictures of a hierarchy's run, drawn from its folder alone."""

from __future__ import annotations

from pathlib import Path

from hybonet.data import display_name
from hybonet.reporting.charts import draw_curves
from hybonet.reporting.tree_pictures import draw_tree
from hybonet.tasks.hierarchy.run import read_run
from hybonet.tasks.hierarchy.task import HierarchyTask
from hybonet.tasks.run_folder import CURVES, source_name
from hybonet.training.history import read_history


def draw_run(run: Path, folder: Path, *, dpi: int = 150) -> list[Path]:
    """Draw a finished run into ``folder``, and say what was drawn.

    ``disk.png`` and the interactive ``disk.html`` (the Poincaré disk), ``curves.png`` (training).

    Example:
        >>> import tempfile
        >>> from hybonet.data import Hierarchy
        >>> from hybonet.tasks.hierarchy.task import HierarchySettings
        >>> from hybonet.tasks.hierarchy.run import start_run, train_run
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run, pictures = Path(folder) / "run", Path(folder) / "pictures"
        ...     start_run(run, HierarchySettings(epochs=1), Hierarchy.from_edges([("dog", "pet"), ("cat", "pet")]))
        ...     result = train_run(run, resume=False)
        ...     [path.name for path in draw_run(run, pictures, dpi=40)]
        ['disk.png', 'disk.html', 'curves.png']
    """
    trained = read_run(run)
    hierarchy, dim, metrics = trained.hierarchy, trained.settings.dim, trained.record["metrics"]
    name = source_name(hierarchy.source)
    space = "on the hyperbolic plane" if dim == 3 else f"in {dim - 1} hyperbolic dimensions"
    note = (
        f"Reconstructed from distances: mean rank {metrics['mean_rank']:.2f}, "
        f"mean average precision {metrics['mean_average_precision']:.3f}."
    )
    if dim > 3:
        note += " Projected to two dimensions, which keeps neither distances nor angles."
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_tree(
        trained.points,
        hierarchy,
        trained.manifold,
        folder,
        title=f"The hierarchy {name}: {len(hierarchy):,} nodes {space}",
        note=note,
        page_note=note,
        shown=[display_name(label) for label in hierarchy.names],
        dpi=dpi,
    )
    history, title = read_history(run), f"Training on {name}"
    draw_curves(history, HierarchyTask.monitor, folder / CURVES, title=title, label="mean average precision", dpi=dpi)
    return [*drawn, folder / CURVES]
