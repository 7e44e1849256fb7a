"""Schema of predicates, and of the example cases that test a condition.

In: plain values read from YAML. Out: pydantic models, in which each key of a predicate stands with
what it takes. Not here: whether a predicate holds (`inference.predicates`), whether the names in it
are known (`rules.check`).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from postmortem.core.names import Outcome
from postmortem.rules.engine import compile_pattern

Precision = Literal["fp16", "bf16", "fp32", "fp8", "tf32"]
Scalar = bool | int | float | str


class Strict(BaseModel):
    """A mapping without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_regexes(value: Any) -> Any:
    for expression in value if isinstance(value, list) else [value]:
        if isinstance(expression, str) and expression.startswith("~"):
            compile_pattern(f"(?i){expression[1:]}")
    return value


Comparison = Annotated[
    Scalar | list[Scalar],
    Field(description="equal (case aside), '~regex', '>= 1e-3, < 1', any; a list: one of them"),
]


class _Compared(Strict):
    """A mapping of comparisons: all must hold."""

    @field_validator("*", mode="after")
    @classmethod
    def _are_regexes(cls, value: Any) -> Any:
        return _check_regexes(value)

    @model_validator(mode="after")
    def _asks_something(self) -> "_Compared":
        if not self.model_fields_set:
            raise ValueError("it asks nothing")
        return self


class GpuQuestion(_Compared):
    """Any GPU named in the log or a dump satisfies all of it."""

    capability: Comparison | None = None
    name: Comparison | None = None
    memory_gib: Comparison | None = None
    count: Comparison | None = None


class EnvironmentQuestion(_Compared):
    """What the log and the dumps say about the machine."""

    os: Comparison | None = None
    python: Comparison | None = None
    cuda: Comparison | None = None
    driver: Comparison | None = None
    exit_status: Comparison | None = None
    signal: Comparison | None = None
    world_size: Comparison | None = None
    launcher: Comparison | None = None
    precision: Comparison | None = None


class TracebackQuestion(_Compared):
    """One traceback of the run satisfies all of it."""

    exception: Comparison | None = None
    message: Comparison | None = None
    file: Annotated[Comparison | None, Field(description="of the innermost frame")] = None
    frame: Annotated[Comparison | None, Field(description="path:function of any frame")] = None
    code: Annotated[Comparison | None, Field(description="source line of any frame")] = None
    inner_code: Annotated[
        Comparison | None, Field(description="source line of the innermost frame")
    ] = None
    raised_in: Literal["user", "library"] | None = None


class PredicateEntry(Strict):
    """What is asked of a case: every key must hold; a list means any of it."""

    signature: str | list[str] | None = None
    shape: str | list[str] | None = None
    condition: Annotated[
        str | list[str] | None, Field(description="another condition, by its name")
    ] = None
    precision: Precision | list[Precision] | None = None
    framework: str | list[str] | None = None
    setting: dict[str, Comparison] | None = None
    package: dict[str, str] | None = None
    gpu: GpuQuestion | None = None
    env: EnvironmentQuestion | None = None
    traceback: TracebackQuestion | None = None
    outcome: Outcome | list[Outcome] | None = None
    all_: Annotated["list[PredicateEntry] | None", Field(alias="all")] = None
    any_: Annotated["list[PredicateEntry] | None", Field(alias="any")] = None
    not_: Annotated["PredicateEntry | None", Field(alias="not")] = None

    @field_validator("setting", "package", mode="after")
    @classmethod
    def _are_regexes(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        for condition in (value or {}).values():
            _check_regexes(condition)
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> "PredicateEntry":
        if not self.model_fields_set:
            raise ValueError("a predicate asks something, such as {shape: hidden-nan}")
        return self


class GpuEntry(Strict):
    """A GPU of a made-up case."""

    name: str
    capability: float | None = None
    memory_gib: float | None = None
    count: int = 1


class EnvironmentEntry(Strict):
    """The machine and the software of a made-up case."""

    precision: Precision | None = None
    packages: dict[str, str] = {}
    gpus: list[GpuEntry] = []
    os: str | None = None
    python: str | None = None
    cuda: str | None = None
    driver: str | None = None
    exit_status: int | None = None
    signal: str | None = None
    world_size: int | None = None
    launcher: str | None = None


class TracebackEntry(Strict):
    """A traceback of a made-up case; frames are `path:function` or `path:function: source line`."""

    exception: str = ""
    message: str = ""
    frames: list[Annotated[str, Field(pattern=r"^[^:]+:[^:]+(: .*)?$")]] = []


class CaseEntry(Strict):
    """A made-up case: what was seen, and nothing else."""

    signatures: list[str] = []
    shapes: list[str] = []
    settings: dict[str, Scalar] = {}
    frameworks: list[str] = []
    environment: EnvironmentEntry = EnvironmentEntry()
    tracebacks: list[TracebackEntry] = []
    outcome: Outcome = "unknown"
