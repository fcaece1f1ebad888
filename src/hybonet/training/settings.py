"""Typed settings: unknown keys are errors that name near matches."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NoReturn, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

S = TypeVar("S", bound="Settings")
#: What may be changed when a stopped or finished run goes on; all else would make it another run.
CHANGEABLE = ("epochs", "minutes", "patience", "validate_every", "checkpoint_seconds", "keep", "rank_timeout", "device")


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

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    #: Names that settings, and measures of a record, had in earlier versions, with those of today.
    old_names: ClassVar[Mapping[str, str]] = {}
    #: By the setting's name of today: the words it took in earlier versions, with those of today.
    old_values: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    #: Settings that earlier versions did not have and that are no longer by default as all runs were then.
    before: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _as_they_are_called(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        named = ((cls._own_name(str(name), values), value) for name, value in values.items())
        return {name: cls._own_word(name, value) for name, value in named}

    @classmethod
    def _own_name(cls, name: str, values: Mapping[str, Any]) -> str:
        """The name of a setting as it is declared, without regard to case."""
        return _same_word(name, cls.model_fields) or unknown_setting(name, cls.model_fields, cls, values)

    @classmethod
    def _own_word(cls, name: str, value: Any) -> Any:
        """A value of a setting that chooses from words: the declared word, without regard to case."""
        field = cls.model_fields.get(name)
        words = [] if field is None else _words(field.annotation)
        if not isinstance(value, str) or not words:
            return value
        own = _same_word(value, words)
        if own is None and value in cls.old_values.get(name, {}):
            raise ValueError(f"{name} has no {value!r} any more; it is now {cls.old_values[name][value]!r}")
        return value if own is None else own

    @classmethod
    def renewed(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Stored settings, or measures of a record, by the names and words of today.

        Example:
            >>> class Bread(Settings):
            ...     old_names: ClassVar[dict[str, str]] = {"meal": "flour"}
            ...     flour: int = 500
            >>> Bread.renewed({"meal": 400, "salt": 10})
            {'flour': 400, 'salt': 10}
        """
        named = {cls.old_names.get(name, name): value for name, value in stored.items()}
        words = {name: value for name, value in named.items() if isinstance(value, str)}
        return {**named, **{name: cls.old_values.get(name, {}).get(word, word) for name, word in words.items()}}

    @classmethod
    def kind_of(cls, values: Mapping[str, Any]) -> type[Settings]:
        """The class whose settings these are: this one, unless there is one per model."""
        return cls

    @classmethod
    def every_field(cls) -> dict[str, FieldInfo]:
        """The fields by name, those of all models where they differ."""
        return cls.model_fields

    @classmethod
    def fitting(cls, stored: Mapping[str, Any], *, strict: bool = False) -> dict[str, Any]:
        """Settings that were stored, without those of other models than theirs, which earlier versions stored, too.

        Args:
            strict: leave out only what is as by default; the rest is somebody's mistake.
        """
        own, known = cls.kind_of(stored).model_fields, cls.every_field()
        return {
            name: value
            for name, value in stored.items()
            if name in own or name not in known or (strict and value != known[name].default)
        }

    @classmethod
    def checked(cls: type[S], values: dict[str, Any]) -> S:
        """Settings from a mapping; what is wrong is said in one line, with the meaning of the setting.

        Example:
            >>> ScheduleSettings.checked({"gamma": 2})
            Traceback (most recent call last):
            ValueError: setting gamma: expected less than or equal to 1, got 2 (exponential: the learning rate is ...
            >>> ScheduleSettings.checked({"kind": "cosin"})
            Traceback (most recent call last):
            ValueError: setting kind: expected ..., got 'cosin'; did you mean 'cosine'? (how the learning rate ...
        """
        try:
            return cls(**values)
        except ValidationError as error:
            raise ValueError(cls.kind_of(values)._first_problem(error)) from None

    @classmethod
    def _first_problem(cls, error: ValidationError) -> str:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "value_error":  # of our own making
            return (f"setting {where}: " if where else "") + str(first["ctx"]["error"])
        model: Any = cls
        for place, part in enumerate(first["loc"]):
            field = model.model_fields.get(part)
            inner = None if field is None else field.annotation
            if not (isinstance(inner, type) and issubclass(inner, Settings)):
                where = ".".join(map(str, first["loc"][: place + 1]))  # what follows is which type was tried
                break
            model = inner
        meaning = f" ({field.description})" if field is not None and field.description else ""
        if first["type"] == "literal_error" and isinstance(first["input"], str):
            near = near_match(first["input"], re.findall(r"'([^']*)'", first["ctx"]["expected"]))
            meaning = (f"; {near}" if near.startswith("did you mean") else "") + meaning
        expected = first["msg"].replace("Input should be ", "expected ").split(", unable to parse")[0]
        return f"setting {where}: {expected}, got {first['input']!r}{meaning}"


def _words(annotation: Any) -> list[str]:
    """The words that a type lets one choose from."""
    if get_origin(annotation) is Literal:
        return [each for each in get_args(annotation) if isinstance(each, str)]
    return [word for each in get_args(annotation) for word in _words(each)]


def _same_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that this is, without regard to case."""
    if word in (known := list(known)):
        return word
    alike = [each for each in known if each.casefold() == word.casefold()]
    return alike[0] if len(alike) == 1 else None


#: What other libraries call some settings.
_ELSEWHERE = {
    "learning_rate": "lr",
    "embedding_dim": "dim",
    "d_model": "dim",
    "hidden_size": "dim",
    "num_epochs": "epochs",
    "num_train_epochs": "epochs",
    "max_steps": "steps",
    "gradient_accumulation_steps": "accumulate",
    "warmup_steps": "schedule.warmup",
    "num_negs_per_pos": "negatives",
}


def near_match(word: str, known: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """What to say after an unknown word: the nearest known one, or all of them; an alias stands for a known one.

    Example:
        >>> near_match("flower", ["flour", "water"])
        "did you mean 'flour'?"
    """
    known = list(known)
    meant = {**(aliases or {}), **{name.lower(): name for name in known}, **{name: name for name in known}}
    near = difflib.get_close_matches(word, meant, n=1, cutoff=0.5)
    near = near or difflib.get_close_matches(word.lower(), meant, n=1, cutoff=0.5)
    return f"did you mean {meant[near[0]]!r}?" if near else f"known: {', '.join(known)}"


def override(settings: S, assignments: list[str]) -> S:
    """Settings with ``key=value`` assignments applied, nested keys with dots, values checked by the fields' types.

    Example:
        >>> class Oven(Settings):
        ...     degrees: int = 230
        >>> class Recipe(Settings):
        ...     oven: Oven = Oven()
        >>> override(Recipe(), ["Oven.degrees=250"]).oven.degrees
        250
        >>> override(Recipe(), ["degree=250"])
        Traceback (most recent call last):
        ValueError: unknown setting 'degree'; did you mean 'oven.degrees'?
    """
    changes = []
    for assignment in assignments:
        key, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise ValueError(f"expected key=value, got {assignment!r}; for example --set epochs=50")
        changes.append((key, text))
        if isinstance(settings, ModelSettings) and key.casefold() == settings.told_apart_by:
            settings = settings.with_model(text)
    values = settings.model_dump()
    for key, text in changes:
        key = check_name(settings, key)
        place = values
        *path, last = key.split(".")
        for part in path:
            place = place[part]
        is_choice = text.lower() in types_of(type(settings), key)  # regularizer=none chooses the word, not the absence
        place[last] = None if text.lower() in ("none", "null") and not is_choice else text
    return settings.kind_of(values).checked(values)  # type: ignore[return-value]


def check_name(settings: Settings, name: str) -> str:
    """The setting of this (dotted) name, without regard to case; else a ``ValueError`` that names a near one.

    Example:
        >>> check_name(LoopSettings(), "Seed")
        'seed'
        >>> check_name(LoopSettings(), "gama")
        Traceback (most recent call last):
        ValueError: unknown setting 'gama'; did you mean 'schedule.gamma'?
    """
    known = [each for each, _, _ in describe(settings)]
    return _same_word(name, known) or unknown_setting(name, known, type(settings), dict(settings))


def unknown_setting(name: str, known: Iterable[str], kind: type[Settings], values: Mapping[str, Any]) -> NoReturn:
    """Raise a ``ValueError`` that says what the setting is called now, which models have it, or names a near one."""
    known, old_names = list(known), kind.old_names
    models = kind.models_with(name) if issubclass(kind, ModelSettings) else []
    if issubclass(kind, ModelSettings) and 0 < len(models) < len(kind.classes):
        raise ValueError(
            f"expected a setting that {kind.told_apart_by}={kind.model_of(values)} has, got {name!r}, which is one of "
            f"{', '.join(models)}; leave it out, or choose another {kind.told_apart_by}"
        )
    if old_names.get(name) in known:
        raise ValueError(f"unknown setting {name!r}; it is called {old_names[name]!r} now")
    inner = [each for each in known if each.startswith(f"{name}.")]
    meant = {each.rpartition(".")[2]: each for each in known}
    meant |= {other: ours for other, ours in _ELSEWHERE.items() if ours in known}
    hint = f"set one of {', '.join(inner)}" if inner else near_match(name, known, meant)
    raise ValueError(f"unknown setting {name!r}; {hint}")


def types_of(kind: type[Settings], name: str) -> tuple[Any, ...]:
    """The types that a setting takes, or the words that it chooses from; nested settings by dotted names."""
    first, _, rest = name.partition(".")
    annotation: Any = kind.every_field()[first].annotation
    return types_of(annotation, rest) if rest else (get_args(annotation) or (annotation,))


def describe(settings: Settings) -> list[tuple[str, Any, str]]:
    """Every setting with its value and its meaning, nested ones by dotted names.

    Example:
        >>> describe(ScheduleSettings())[1]
        ('gamma', 0.97, 'exponential: the learning rate is multiplied by this after every epoch')
    """
    rows: list[tuple[str, Any, str]] = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            rows += [(f"{name}.{inner}", *rest) for inner, *rest in describe(value)]
        else:
            rows.append((name, value, field.description or ""))
    return rows


class ScheduleSettings(Settings):
    """How the learning rate changes; see :mod:`hybonet.training.schedule`."""

    kind: Literal["constant", "exponential", "linear", "cosine", "noam"] = Field(
        "constant",
        description="how the learning rate changes: constant; exponential (times gamma per epoch); linear and cosine "
        "(down to 0 at the last epoch); noam (with the root of the update number after the warm-up)",
    )
    gamma: float = Field(
        0.97, gt=0, le=1, description="exponential: the learning rate is multiplied by this after every epoch"
    )
    warmup: int = Field(0, ge=0, description="updates at the start over which the learning rate rises from 0")
    hold: float = Field(0.0, ge=0, lt=1, description="linear, cosine: share of the training before the fall begins")


class LoopSettings(Settings):
    """What the training loop itself needs to know, the same for every task.

    Example:
        >>> LoopSettings(epochs=3).precision
        'float32'
    """

    epochs: int = Field(100, ge=1, description="passes over the training data")
    steps: int | None = Field(
        None, ge=1, description="stop after so many updates, in the middle of an epoch too; none: the epochs decide"
    )
    minutes: float | None = Field(
        None,
        gt=0,
        description="stop after the epoch in which training (validation apart) has taken so long; none: never",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of all random numbers; the same seed gives the same model")
    max_grad_norm: float | None = Field(
        None, gt=0, description="clipping: gradients longer than this in all are shortened to it; none: leave them"
    )
    accumulate: int = Field(1, ge=1, description="batches whose gradients are added up for one update")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="bfloat16: matrix products in half precision, quicker on recent hardware"
    )
    validate_every: int = Field(5, ge=1, description="epochs between measurements on the validation data")
    patience: int | None = Field(
        None, ge=1, description="stop after so many validations without a better one; none: train all epochs"
    )
    average: int = Field(
        1,
        ge=1,
        description="at the end, average the weights of so many validated epochs, and keep the average if validation "
        "finds it better; 1: no averaging",
    )
    average_of: Literal["last", "best"] = Field("best", description="average: of the last or of the best epochs")
    checkpoint_seconds: float = Field(
        60.0, ge=0, description="save at least so often (and after every epoch of a second or more)"
    )
    keep: int = Field(
        1, ge=1, description="checkpoints that are kept; a resumed run takes the newest that is not damaged"
    )
    rank_timeout: float = Field(
        1800.0,
        gt=0,
        description="of several processes: seconds after which one that does not answer ends the training; a "
        "validation must be shorter",
    )
    schedule: ScheduleSettings = ScheduleSettings()
    device: str = Field("cpu", description="where to compute: cpu, cuda, cuda:1, mps")

    def unused(self) -> dict[str, str]:
        """Settings that change nothing beside the others, and why: who sets one of them should know.

        Example:
            >>> LoopSettings().unused()["schedule.gamma"]
            'schedule.kind is constant'
        """
        schedule = self.schedule
        unused = {}
        if self.average == 1:
            unused["average_of"] = "average is 1"
        if schedule.kind != "exponential":
            unused["schedule.gamma"] = f"schedule.kind is {schedule.kind}"
        if schedule.kind not in ("linear", "cosine"):
            unused["schedule.hold"] = f"schedule.kind is {schedule.kind}"
        return unused


class ModelSettings(LoopSettings):
    """Settings of a task with several models, which are told apart by one of them.

    The task's own class has what all of its models have, and names them all; each is named by a subclass, too, with
    what it alone has. Calling a class gives an instance of the subclass that has the chosen model.

    Example:
        >>> class BakerSettings(ModelSettings):
        ...     model: Literal["bread", "cake"] = "bread"
        >>> class BreadSettings(BakerSettings):
        ...     model: Literal["bread"] = "bread"
        >>> class CakeSettings(BakerSettings):
        ...     model: Literal["cake"] = "cake"
        ...     sugar: int = 200
        >>> BakerSettings(model="cake").sugar, type(BakerSettings()).__name__
        (200, 'BreadSettings')
        >>> override(BakerSettings(), ["model=cake", "sugar=100"]).sugar
        100
        >>> override(BakerSettings(), ["sugar=100"])
        Traceback (most recent call last):
        ValueError: expected a setting that model=bread has, got 'sugar', which is one of cake; leave it out, or ...
    """

    #: The setting that says which class it is.
    told_apart_by: ClassVar[str] = "model"
    #: The task's own class, and the class of each model by name.
    task_class: ClassVar[type[ModelSettings]]
    classes: ClassVar[dict[str, type[ModelSettings]]]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if ModelSettings in cls.__bases__:
            cls.task_class, cls.classes = cls, {}
            return
        field, common = (each.model_fields[cls.told_apart_by] for each in (cls, cls.task_class))
        if field.annotation != common.annotation:
            field.description = common.description
            cls.classes.update(dict.fromkeys(_words(field.annotation), cls))

    def __new__(cls, **values: Any) -> ModelSettings:
        kind = cls.kind_of(values)
        return super().__new__(kind if issubclass(kind, cls) else cls)

    @classmethod
    def _own_name(cls, name: str, values: Mapping[str, Any]) -> str:
        # A model that there is not is what is said first.
        return name if cls is cls.task_class else super()._own_name(name, values)

    @classmethod
    def model_of(cls, values: Mapping[str, Any]) -> str:
        """The model that settings choose."""
        chosen = {name.casefold(): value for name, value in values.items()}
        word = str(chosen.get(cls.told_apart_by, cls.model_fields[cls.told_apart_by].default))
        return _same_word(word, cls.classes) or word

    @classmethod
    def kind_of(cls, values: Mapping[str, Any]) -> type[ModelSettings]:
        return cls.classes.get(cls.model_of(values), cls.task_class)

    @classmethod
    def every_field(cls) -> dict[str, FieldInfo]:
        classes = dict.fromkeys((*cls.classes.values(), cls.task_class))
        return {name: field for each in classes for name, field in each.model_fields.items()}

    @classmethod
    def models_with(cls, name: str) -> list[str]:
        """The models that have a setting of this name, whatever its case."""
        return [model for model, each in cls.classes.items() if _same_word(name, each.model_fields)]

    def with_model(self, model: str) -> Any:
        """The same, not yet checked, for another model: with what it has, too, and what it alone has as by default."""
        kind = self.classes.get(self.model_of({self.told_apart_by: model}), type(self))
        kept = {name: value for name, value in self if name in kind.model_fields}
        return kind.model_construct(**{**kept, self.told_apart_by: model})
