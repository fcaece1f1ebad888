"""What trained models answer to questions, kept for another model to learn from (knowledge distillation)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.models.triple_model import TripleModel
from hybonet.training.checkpoint import read_tensors, write_tensors


@dataclass(frozen=True)
class TeacherAnswers:
    """The best answers to questions, with probabilities that add up to 1.

    Args:
        keys: questions, ascending: head · ``both`` + relation, reciprocal relations included.
        entities, probability: ``(questions, answers)``, best first.
        both: relations, reciprocal ones included.
    """

    keys: Tensor
    entities: Tensor
    probability: Tensor
    both: int

    def of(self, heads: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Answers to questions that are among the kept ones, and their probabilities."""
        places = torch.searchsorted(self.keys, heads * self.both + relations)
        return self.entities[places].long(), self.probability[places]

    def save(self, path: Path) -> None:
        """Write them to a safetensors file."""
        tensors = {"keys": self.keys, "entities": self.entities, "probability": self.probability}
        write_tensors(path, {**tensors, "both": torch.tensor(self.both)})

    @classmethod
    def load(cls, path: Path) -> TeacherAnswers:
        """Read what :meth:`save` wrote."""
        tensors = read_tensors(path)
        try:
            return cls(both=int(tensors.pop("both")), **tensors)
        except (KeyError, TypeError):
            raise ValueError(f"{path}: expected answers of teachers, found something else; start a new run") from None


@torch.no_grad()
def ask_teachers(
    teachers: Sequence[TripleModel],
    data: TripleData,
    *,
    logit_scale: Tensor,
    answers: int,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> TeacherAnswers:
    """Ask models of one graph together, their scores averaged, all questions that training triples answer.

    Args:
        logit_scale: what each relation's scores are multiplied with before they become probabilities.
    """
    both, triples = 2 * data.num_relations, data.with_reciprocals("train")
    keys = (triples[:, 0] * both + triples[:, 1]).unique()
    # By relation, which models like that read both ways.
    order = (keys % both).argsort(stable=True)
    heads, relations = keys[order].div(both, rounding_mode="floor"), keys[order] % both
    entities, probability, done = [], [], 0
    for blocks in zip(*(teacher.all_scores(heads, relations) for teacher in teachers), strict=True):
        scores = torch.stack(blocks).sum(0)
        best = scores.topk(min(answers, data.num_entities), dim=1)
        asked = relations[done : done + len(scores)] % data.num_relations
        entities.append(best.indices.int())
        probability.append((best.values * logit_scale[asked, None] / len(teachers)).softmax(1))
        done += len(scores)
        advance(len(scores), len(keys))
    place = order.argsort()
    return TeacherAnswers(keys, torch.cat(entities)[place], torch.cat(probability)[place], both)
