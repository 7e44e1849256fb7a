"""What is known of a job: its sources, attempts, frameworks, machines and settings.

In: nothing. Out: frozen values, field for field as the JSON contract names them. Not here: reading
them out of a log (`extraction`).
"""

from dataclasses import dataclass, field
from typing import Any, Generic

from postmortem.core.lines import ProcessId
from postmortem.core.wording import Text, get_no_text


@dataclass(frozen=True, slots=True)
class Source(Generic[Text]):
    """One file (or stream) of the job."""

    path: str
    bytes: int
    lines: int
    encoding: str
    compression: str | None
    where: ProcessId
    kind: str
    """log | metrics | environment | scheduler | kernel | notebook | ignored"""
    note: Text = field(default_factory=get_no_text)
    digest: str | None = None
    """Hash of the stored bytes, its name before it, if all were read; not in the report."""
    is_file: bool = True
    """Whether `path` leads to it: standard input and streams only bear a name."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run within a source that holds several."""

    source: int
    first_line: int
    last_line: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework whose output was recognised."""

    name: str
    version: str | None
    lines: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """One model of GPU and how many there are."""

    name: str
    count: int
    memory_gib: float | None
    compute_capability: float | None


@dataclass(frozen=True, slots=True)
class Environment:
    """What the log and the dumps say about the machine and the software."""

    packages: dict[str, str] = field(default_factory=dict)
    python: str | None = None
    os: str | None = None
    cuda: str | None = None
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    precision: str | None = None
    """fp16 | bf16 | fp32 | fp8 | tf32, or None if nothing says so"""
    world_size: int | None = None
    launcher: str | None = None
    exit_status: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the run as printed."""

    value: Any
    source: int
    line: int
