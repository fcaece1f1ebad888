"""A trained model of any task: loaded, asked, measured, drawn and saved in the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.metrics.calibration import Calibration
from hybonet.reporting.answers import Answers, Measures
from hybonet.reporting.charts import draw_curves
from hybonet.reporting.pictures import Pictures, draw_into
from hybonet.tasks import vector_files
from hybonet.tasks.base import TaskSpec, refuse_verb, spec
from hybonet.tasks.card import CARD, model_card
from hybonet.tasks.integrity import FILES, checksums
from hybonet.tasks.new_folder import new_folder
from hybonet.tasks.run_folder import CONFIG, CURVES, RECORD, write_sealed
from hybonet.training.checkpoint import save_model
from hybonet.training.history import read_history
from hybonet.training.loop import BEST

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

P = TypeVar("P", bound="Predictor")


@dataclass(frozen=True)
class Embedding:
    """Where a model puts what it knows by name.

    Attributes:
        labels, names: of each row; a name is what people call it.
        points: ``(rows, dim)``.
        manifold: where the points are; None for Euclidean vectors.
    """

    labels: Sequence[str]
    names: Sequence[str]
    points: Tensor
    manifold: Lorentz | None


class Predictor:
    """Base of all trained models.

    A task fills in :meth:`saved` and what it can do: :meth:`predict`, :meth:`evaluate`, :meth:`embedding`; and
    :meth:`of_run` if its models are made of something else than a task.

    Args:
        model: trained.
        task: what it was trained for, and on.
        config: ``config.json`` of its run.
        record: its figures, as ``record.json`` of its run has them; None if they are not known.
        folder: the run that it comes from, if it comes from one.
    """

    #: The name of the task.
    task_name: ClassVar[str]
    model: nn.Module
    config: dict[str, Any]
    run: Run | None = None
    _record: Mapping[str, Any] | None = None
    _record_of_run = False

    def __init__(
        self,
        model: nn.Module,
        task: Any = None,
        *,
        config: Mapping[str, Any] | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.task = model.eval(), task
        self.config, self.record = dict(config or {}), record

    @property
    def record(self) -> Mapping[str, Any] | None:
        """Its figures; those of a run are read when they are asked for, so that a damaged file hinders nothing else."""
        return self.run.record if self.run is not None and self._record_of_run else self._record

    @record.setter
    def record(self, record: Mapping[str, Any] | None) -> None:
        self._record, self._record_of_run = record, False

    def comes_from(self, run: Run) -> None:
        """Keep the run that the model is from, whose figures are its own."""
        self.run, self._record_of_run = run, True

    # -- loading and saving --------------------------------------------------------------------------------------------

    @classmethod
    def of_run(cls: type[P], run: Run) -> P:
        """The best model of a run, or a saved one."""
        return cls(run.model(), run.task, config=run.config)

    @classmethod
    def from_pretrained(cls: type[P], folder: str | Path) -> P:
        """A model from a folder on disk: a run, or what :meth:`save_pretrained` wrote."""
        from hybonet.tasks.run import Run

        return Run(folder, cls.task_name).predictor()  # type: ignore[return-value]

    @classmethod
    def load(cls: type[P], folder: str | Path) -> P:
        """The same as :meth:`from_pretrained`."""
        return cls.from_pretrained(folder)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write a new folder with what use needs and nothing else, in the layout that the Hugging Face hub knows.

        ``config.json``, ``model.safetensors``, what the model must know of its data, ``README.md`` (a model card), and
        ``record.json`` if the figures are known. It appears complete or not at all; one that holds files is refused.
        """
        folder = Path(folder)
        with new_folder(folder) as staging:
            content = {**self.config, **self.saved(staging), "task": self.task_name, "library_name": "hybonet"}
            save_model(staging / BEST, self.model)
            if self.record is not None:
                write_sealed(staging / RECORD, self.saved_record())
            write_sealed(staging / CONFIG, {**content, FILES: checksums(staging)})
            (staging / CARD).write_text(model_card(self, folder.name), encoding="utf-8")

    def saved(self, folder: Path) -> dict[str, Any]:
        """Write what a saved model must know of its data, and return what its configuration is to say."""
        raise NotImplementedError

    def saved_record(self) -> Mapping[str, Any]:
        """The record as a saved model has it: without what may not be handed on."""
        return self.record or {}

    @cached_property
    def spec(self) -> TaskSpec:
        """The task."""
        return spec(self.task_name)

    def to(self: P, device: str | torch.device) -> P:
        """Move the model, as ``torch.nn.Module.to`` does."""
        self.model.to(device)
        return self

    # -- asking --------------------------------------------------------------------------------------------------------

    def predict(self, **question: Any) -> Answers:
        """Answer a question; the options are those of ``hybonet predict``."""
        raise refuse_verb(self.spec, "predict")

    def evaluate(self, **options: Any) -> Measures:
        """Measure the model; the options are those of ``hybonet evaluate``."""
        raise refuse_verb(self.spec, "evaluate")

    def embedding(self) -> Embedding:
        """Where the model puts what it knows by name."""
        raise ValueError(f"expected a model with vectors of something named, got {self!r}, which has none")

    def vectors(self, chart: vector_files.Chart | None = None) -> vector_files.Vectors:
        """Coordinates of everything that the model knows by name, as a table: labels, names, values.

        Args:
            chart: ``"lorentz"`` (the default; time first), ``"poincare"``, ``"klein"`` or ``"tangent"``.
        """
        found = self.embedding()
        if found.manifold is None and chart is not None:
            raise ValueError(f"expected no chart for {self!r}, whose vectors are Euclidean, got {chart}; leave it out")
        kind = None if found.manifold is None else chart or "lorentz"
        values = found.points if kind is None else vector_files.in_chart(found.points, kind, found.manifold)  # type: ignore[arg-type]
        curvature = None if found.manifold is None else found.manifold.curvature
        return vector_files.Vectors(
            list(found.labels), list(found.names), values.detach().cpu().numpy(), kind, curvature
        )

    @torch.no_grad()
    def similar(self, name: str | int, top: int = 10) -> Answers:
        """What lies nearest to something that the model knows by name."""
        found = self.embedding()
        labels = list(found.labels)
        place = self._place_of(name, labels, list(found.names))
        at = found.points[place]
        distance = (found.points - at).norm(dim=-1) if found.manifold is None else found.manifold.dist(at, found.points)
        near = distance.index_fill(0, torch.tensor([place], device=distance.device), torch.inf)
        near = near.topk(min(top, len(labels) - 1), largest=False)
        return Answers(
            {"rank": rank, "label": labels[number], "name": found.names[number], "distance": value}
            for rank, (number, value) in enumerate(zip(near.indices.tolist(), near.values.tolist(), strict=True), 1)
        )

    @staticmethod
    def _place_of(name: str | int, labels: list[str], names: list[str]) -> int:
        from hybonet.training.settings import near_match

        name = str(name)
        for known in (labels, names):
            if name in known:
                return known.index(name)
        raise ValueError(f"expected a name that the model knows, got {name!r}; {near_match(name, labels)}")

    # -- showing and writing -------------------------------------------------------------------------------------------

    def plot(self, output: str | Path | None = None, **options: Any) -> Pictures:
        """Draw the model, and return the files, which a notebook shows; the options are those of ``hybonet plot``.

        Args:
            output: a folder, that of the run by default; or the name of a single picture, such as ``disk.html``.
        """
        verb = self.spec.verb("plot")
        pictures = self.spec.part("pictures")
        if verb is None or pictures is None:
            raise refuse_verb(self.spec, "plot")
        place = Path(output) if output is not None else None if self.run is None else self.run.folder
        if place is None:
            raise ValueError("expected a folder to draw into: this model comes from no run; say plot('pictures')")
        asked = verb.checked(options)
        return draw_into(place, lambda folder: pictures(self, folder, asked))

    def draw_curves(self, folder: Path, task: Any, title: str) -> Pictures:
        """The curves of the training that it comes from, of such a task, or why there are none."""
        history = [] if self.run is None else read_history(self.run.folder)
        if not any(task.monitor in row for row in history):
            return Pictures(missing={CURVES: "there is no history of a training"})
        label, log = task.monitor_label, not task.higher_is_better
        draw_curves(history, task.monitor, folder / CURVES, title=title, label=label, log=log)
        return Pictures([folder / CURVES])

    def export(self, output: str | Path, **options: Any) -> str:
        """Write the model in a format that other tools read, and say what was written; the options are those of
        ``hybonet export``.
        """
        verb = self.spec.verb("export")
        assert verb is not None
        asked = verb.checked(options)
        to, chart = getattr(asked, "to", "pretrained"), getattr(asked, "chart", None)
        if to == "pretrained":
            if chart is not None:
                raise ValueError(f"expected --chart with vectors only, got --chart {chart} --to pretrained")
            self.save_pretrained(output)
            return f"Model: {output}"
        return self.export_as(to, Path(output), chart, safe_csv=getattr(asked, "safe_csv", False))

    def export_as(self, to: str, output: Path, chart: vector_files.Chart | None, *, safe_csv: bool = False) -> str:
        """Formats beside ``pretrained``."""
        table = self.vectors(chart)
        rows, columns = vector_files.write_vectors(table, output, safe_csv=safe_csv)
        kind = f"{table.chart} coordinates (K = {table.K:.6g})" if table.chart else "Euclidean coordinates"
        return f"{rows:,} vectors of {columns} {kind}: {output}"

    # -- the model card ------------------------------------------------------------------------------------------------

    def card_header(self) -> str:
        """Further lines of YAML that tell the Hugging Face hub what it is."""
        return ""

    def card_text(self) -> str:
        """What a model card says the model is, in a paragraph."""
        return f"A model of {self.spec.title.lower()}."

    def card_example(self) -> str:
        """Lines of Python that ask ``model`` something."""
        return "print(model.evaluate())"

    def _repr_html_(self) -> str:
        from html import escape

        figures = "" if self.record is None else self.spec.headline(self.record).line(self.record)
        return f"<b>{escape(repr(self))}</b><br>{escape(figures)}"


class CalibratedPredictor(Predictor):
    """Base of models whose scores become probabilities by a calibration in their record."""

    @property
    def calibration(self) -> Calibration | None:
        """What turns scores into probabilities; None of a model whose record has none, or that scores otherwise now."""
        try:
            content = (self.record or {}).get("calibration")
        except ValueError:  # a damaged record hinders no answer
            return None
        return None if content is None else Calibration.from_dict(content)
