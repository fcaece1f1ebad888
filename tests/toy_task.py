"""A task of one small file, as another package would declare it: classes of points in the plane."""

import csv
from pathlib import Path

import torch
from pydantic import Field
from torch import Tensor, nn

from hybonet.nn import LorentzDistanceHead, LorentzLinear
from hybonet.optim import RiemannianAdam
from hybonet.reporting.answers import Answers, Measures
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.options import NoOptions, Options, option
from hybonet.tasks.predictor import Predictor
from hybonet.training import LoopSettings


class PointSettings(LoopSettings):
    """How it is trained."""

    lr: float = Field(0.05, gt=0, description="Learning rate.")


class Ask(Options):
    x: float = option(..., "First coordinate.")
    y: float = option(..., "Second coordinate.")


class PointModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.head = LorentzLinear(3, 5), LorentzDistanceHead(5, 2)

    def forward(self, points: Tensor) -> Tensor:
        return self.head(self.linear(self.linear.manifold.expmap0(nn.functional.pad(points, (1, 0)))))


class PointTask:
    name, monitor, higher_is_better = "points", "accuracy", True

    def __init__(self, settings: PointSettings, data: Tensor) -> None:
        self.settings, self.data = settings, data

    build_model = staticmethod(PointModel)

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        return RiemannianAdam(model, lr=self.settings.lr)

    def batches_per_epoch(self) -> int:
        return 1

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1):
        return iter([self.data[rank::world]][start:])

    def loss(self, model: nn.Module, batch: Tensor) -> Tensor:
        return nn.functional.cross_entropy(model(batch[:, :2]), batch[:, 2].long())

    def validate(self, model: nn.Module) -> dict[str, float]:
        right = model(self.data[:, :2]).argmax(-1) == self.data[:, 2]
        return {"accuracy": right.double().mean().item()}

    def describe(self) -> dict[str, object]:
        return {"task": self.name, "data": {"source": "points", "sha256": {}}, "protocol": "accuracy on all points"}


class PointClassifier(Predictor):
    task_name = "points"

    def __init__(self, run) -> None:
        self.model, self.task, self.config = run.model(), run.task, run.config

    of_run = classmethod(lambda cls, run: cls(run))

    def saved(self, folder: Path) -> dict[str, object]:
        return {"settings": self.task.settings.model_dump(), "data": write(folder, self.task.data)}

    @torch.no_grad()
    def predict(self, **options) -> Answers:
        asked = Ask.checked(options)
        scores = self.model(torch.tensor([[asked.x, asked.y]])).softmax(-1)[0].tolist()
        return Answers({"class": number, "probability": score} for number, score in enumerate(scores))

    @torch.no_grad()
    def evaluate(self, **options) -> Measures:
        return Measures({"test": self.task.validate(self.model)})


def load(source, settings, options) -> Tensor:
    if isinstance(source, str):
        source = csv.reader(Path(source).read_text().splitlines())
    return torch.tensor([[float(cell) for cell in row] for row in source])


def write(folder: Path, data: Tensor) -> dict[str, object]:
    (folder / "points.tsv").write_text("".join("\t".join(map(repr, row)) + "\n" for row in data.tolist()))
    return {}


def read(folder: Path, about) -> Tensor:
    return load(csv.reader((folder / "points.tsv").read_text().splitlines(), delimiter="\t"), None, None)


def measures(task: PointTask, result) -> dict[str, object]:
    return {"valid": result.best, "test": task.validate(result.model)}


def pictures(model: PointClassifier, folder: Path, options) -> Pictures:
    (folder / "points.html").write_text(f"<!doctype html>{len(model.task.data)} points")
    return Pictures([folder / "points.html"])


settings, task, predictor = PointSettings, PointTask, PointClassifier
SPEC = TaskSpec(
    "points", "Points", __name__, recipe="points", verbs={"predict": Verb(Ask), "evaluate": Verb(NoOptions)}
)
