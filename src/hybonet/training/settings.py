"""Typed settings: unknown keys are errors that name near matches."""

from __future__ import annotations

import difflib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class Settings(BaseModel):
    """Base of all settings: frozen, and strict about names.

    Example:
        >>> class Bread(Settings):
        ...     flour: int = 500
        >>> try:
        ...     Bread(flower=400)
        ... except ValueError as error:
        ...     print("did you mean 'flour'?" in str(error))
        True
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _name_near_matches(cls, values: Any) -> Any:
        for key in values if isinstance(values, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(f"unknown setting {key!r}; {near_match(str(key), cls.model_fields)}")
        return values


def near_match(word: str, known: Any) -> str:
    """What to say after an unknown word: the nearest known one, or all of them.

    Example:
        >>> near_match("flower", ["flour", "water"])
        "did you mean 'flour'?"
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(map(str, known))}"


def override(settings: Settings, assignments: list[str]) -> Any:
    """Settings with ``key=value`` assignments applied, nested keys with dots, values checked by the fields' types.

    Example:
        >>> class Oven(Settings):
        ...     degrees: int = 230
        >>> class Recipe(Settings):
        ...     oven: Oven = Oven()
        >>> override(Recipe(), ["oven.degrees=250"]).oven.degrees
        250
    """
    values = settings.model_dump()
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, got {assignment!r}; for example --set epochs=50")
        place, model = values, type(settings)
        *path, last = key.strip().split(".")
        for part in path:
            inner = model.model_fields.get(part)
            if inner is None or not isinstance(place.get(part), dict):
                raise ValueError(f"unknown setting {key!r}; {near_match(part, model.model_fields)}")
            place, model = place[part], inner.annotation  # type: ignore[assignment]
        if last not in model.model_fields:
            raise ValueError(f"unknown setting {key!r}; {near_match(last, model.model_fields)}")
        place[last] = None if text.strip().lower() in ("none", "null") else text.strip()
    try:
        return type(settings)(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"setting {where}: {first['msg']}, got {first['input']!r}") from None


class ScheduleSettings(Settings):
    """How the learning rate changes; see :mod:`hybonet.training.schedule`."""

    kind: Literal["constant", "exponential", "linear", "cosine", "noam"] = "constant"
    gamma: float = Field(0.97, gt=0, le=1, description="exponential: factor an epoch")
    warmup: int = Field(0, ge=0, description="updates of linear warm-up at the start")
    hold: float = Field(0.0, ge=0, lt=1, description="linear, cosine: share of the training before the fall begins")


class LoopSettings(Settings):
    """What the training loop itself needs to know, the same for every task.

    Example:
        >>> LoopSettings(epochs=3).precision
        'float32'
    """

    epochs: int = Field(100, ge=1)
    seed: int = Field(0, ge=0, lt=2**63)
    max_grad_norm: float | None = Field(None, gt=0, description="clip the gradient's total norm")
    accumulate: int = Field(1, ge=1, description="batches whose gradients make one update")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="bfloat16: autocast matrix products")
    validate_every: int = Field(5, ge=1, description="epochs between validations")
    patience: int | None = Field(None, ge=1, description="stop after so many validations without a better one")
    checkpoint_seconds: float = Field(60.0, ge=0, description="save at least so often (and after every epoch)")
    schedule: ScheduleSettings = ScheduleSettings()
    device: str = "cpu"
