"""A task of one small file, as another package would declare it: classes of points in the plane."""

from pathlib import Path

import torch
from pydantic import Field
from torch import Tensor, nn

from hybonet.data.io.source_file import read_source
from hybonet.nn import LorentzDistanceHead, LorentzLinear
from hybonet.optim import RiemannianAdam
from hybonet.reporting.answers import Answers, Measures
from hybonet.reporting.pictures import Pictures
from hybonet.tasks.base import TaskSpec
from hybonet.tasks.options import NoOptions, Options, option
from hybonet.tasks.predictor import Predictor
from hybonet.training import LoopSettings, generator_for


class PointSettings(LoopSettings):
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
    build_model = staticmethod(PointModel)

    def __init__(self, settings: PointSettings, data: Tensor) -> None:
        self.settings, self.data = settings, data

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        return RiemannianAdam(model, lr=self.settings.lr)

    def batches_per_epoch(self) -> int:
        return -(-len(self.data) // 20)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1):
        order = torch.randperm(len(self.data), generator=generator_for(self.settings.seed, epoch))
        return iter([self.data[part[rank::world]] for part in order.split(20)[start:]])

    def loss(self, model: nn.Module, batch: Tensor) -> Tensor:
        return nn.functional.cross_entropy(model(batch[:, :2]), batch[:, 2].long())

    def validate(self, model: nn.Module) -> dict[str, float]:
        right = model(self.data[:, :2]).argmax(-1) == self.data[:, 2]
        return {"accuracy": right.double().mean().item()}

    def describe(self) -> dict[str, object]:
        return {"task": self.name, "data": {"source": "points", "sha256": {}}, "protocol": "accuracy on all points"}


class PointClassifier(Predictor):
    task_name = "points"

    def saved(self, folder: Path) -> dict[str, object]:
        return {"settings": self.task.settings.model_dump(), "data": write(folder, self.task.data)}

    @torch.no_grad()
    def predict(self, **options) -> Answers:
        asked = Ask.checked(options)
        scores = self.model(torch.tensor([[asked.x, asked.y]])).softmax(-1)[0].tolist()
        return Answers({"class": number, "probability": score} for number, score in enumerate(scores))

    @torch.no_grad()
    def evaluate(self, **options) -> Measures:
        NoOptions.checked(options)
        return Measures({"test": self.task.validate(self.model)})


def load(source, settings, options) -> Tensor:
    if isinstance(source, (str, Path)):
        source = [line.split(",") for line in read_source(Path(source)).content.decode().splitlines()]
    return torch.tensor([[float(cell) for cell in row] for row in source])


def write(folder: Path, data: Tensor) -> dict[str, object]:
    (folder / "points.tsv").write_text("".join(",".join(map(repr, row)) + "\n" for row in data.tolist()))
    return {}


def read(folder: Path, about) -> Tensor:
    return load(folder / "points.tsv", None, None)


def measures(task: PointTask, result) -> dict[str, object]:
    return {"valid": result.best, "test": task.validate(result.model)}


def pictures(model: PointClassifier, folder: Path, options) -> Pictures:
    (folder / "points.html").write_text(f"<!doctype html>{len(model.task.data)} points")
    return Pictures([folder / "points.html"])


settings, task, predictor = PointSettings, PointTask, PointClassifier
SPEC = TaskSpec("points", "Points", __name__, recipe="points", verbs={"predict": Ask, "evaluate": NoOptions})
