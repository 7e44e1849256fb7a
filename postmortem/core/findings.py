"""What was read from the logs of a job: processes, findings, tracebacks, machines and settings.

In: nothing. Out: frozen values: `ProcessId`, the process that printed a line, and the distinct ones
that a source names (`ProcessRegistry`); `Source`, `Attempt`, `Environment` and what else is known
of a job, field for field as the JSON contract names it; `Finding`, `Frame`, `Traceback`;
`RankDump`, what the flight recorder of a rank holds. Not here: reading them (`reading`,
`extraction`), judging them (`inference`). A finding says nothing yet about the cause.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.core.message import SEMICOLON, Message, join_list, quote, say
from postmortem.core.wording import Text, get_no_text


class ProcessId(NamedTuple):
    """The process that printed a line, as far as the line says so.

    Every part is None if not printed.
    """

    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    pid: int | None = None

    def filled(self, known: "ProcessId") -> "ProcessId":
        """Fill in the missing parts from another label of the same process."""
        return ProcessId._make(
            mine if mine is not None else its for mine, its in zip(self, known, strict=True)
        )

    def describe(self) -> Message:
        """Give a short name for people: `rank 3`, `local rank 0 on node-2`, or nothing."""
        name = (
            f"rank {self.rank}"
            if self.rank is not None
            else f"local rank {self.local_rank}"
            if self.local_rank is not None
            else ""
        )
        if self.node is not None:
            return (
                say("{name} on {node}", name=name, node=self.node)
                if name
                else say("on {node}", node=self.node)
            )
        return quote(name or (f"pid {self.pid}" if self.pid is not None else ""))


NOWHERE = ProcessId()


MOST_PROCESSES: Final = 4096
"""Processes of a source that are told apart; what the others print is of none."""


class ProcessRegistry:
    """The processes that a source has named so far."""

    def __init__(self, where: ProcessId) -> None:
        """Start empty; `where` is the process in the file's name, for lines without a label."""
        self.where = where
        self.strangers = 0
        """Lines of processes that are one too many, so far."""
        self._known: set[ProcessId] = set()

    @property
    def count(self) -> int:
        """How many processes are kept apart so far."""
        return len(self._known)

    def process(self, where: ProcessId) -> ProcessId:
        """Fill in what the file's name tells, and bound how many a hostile log can invent."""
        if self.where != NOWHERE:
            where = where.filled(self.where)
        if where not in self._known:
            if len(self._known) >= MOST_PROCESSES:
                return self.stranger()
            self._known.add(where)
        return where

    def stranger(self) -> ProcessId:
        """Give the process that stands for all those beyond the limit."""
        self.strangers += 1
        return self.where


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


_OUTERMOST: Final = compile_lazily(
    r"(?:<(?:cell line|module).*|_bootstrap\w*|_run_module_as_main|_?_wrap|)"
)
"""Functions with which a program, a cell, a thread or a spawned process begins."""
_PASSES_ON: Final = compile_lazily(r"_wrapped_call_impl|_call_impl|__getattr__|__getattribute__")
"""Library functions that only call, or look up, what they were asked for: an exception of theirs
about it is the caller's."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A signature or an anomaly found in the log."""

    signature: str
    role: str
    """One of `names.ROLES`."""
    source: int
    """Index into the report's sources."""
    where: ProcessId
    line: int
    end_line: int
    offset: int
    """Byte offset in its source: the order of findings."""
    text: str
    captures: tuple[tuple[str, str], ...] = ()
    """Named groups of the match; a tuple, so that the value stays hashable."""
    time: str | None = None
    count: int = 1
    """How often it was seen by this process; only the first and last few are kept one by one."""
    level: str = ""
    """The logger's level of the line, as printed."""

    def capture(self, name: str) -> str | None:
        """Give a captured group, or None."""
        return next((value for key, value in self.captures if key == name), None)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a Python traceback."""

    file: str
    line: int
    function: str
    code: str
    is_library: bool
    """True for an installed package or the standard library, False for the user's own code."""


_LOOKS_UP: Final = compile_lazily(
    r"__getitem__|__getattr__|__getattribute__|__setitem__|__delitem__"
)
"""Functions that give what somebody asks for."""
_NOT_THERE: Final = ("KeyError", "IndexError", "AttributeError")


def _is_forwarding(frame: Frame) -> bool:
    """Say whether a frame only hands on what it was called with, or is text that was executed."""
    return frame.file.startswith("<") or _PASSES_ON.fullmatch(frame.function) is not None


@dataclass(frozen=True, slots=True)
class Traceback:
    """A Python traceback joined across its lines; frames from the outermost to the innermost."""

    exception: str
    """The exception class as printed, dots included; empty if the log ends before it."""
    message: str
    frames: tuple[Frame, ...]
    source: int
    where: ProcessId
    line: int
    end_line: int
    exception_line: int
    """Raw line of `Class: message`; the last line where the traceback is cut."""
    offset: int
    end_offset: int
    chained: bool = False
    """True if it follows another one by "During handling of …" or "… direct cause of …"."""
    wrapped: bool = False
    """True if it is quoted inside another exception's message ("Original Traceback")."""
    time: str | None = None
    level: str = ""
    """The logger's level of its first line; a traceback that was logged as a warning was caught."""
    aside: str = ""
    """Who tells of it, if not the run itself: `exit` for finalizers, exit handlers and the logging
    module, which end nothing; `thread` for a thread of its own, which may end alone; `test` for a
    test, behind which what it printed is shown; `logged` for a logger of a program that goes on;
    `reported` for a program that announces it; `between` for one whose count goes on behind it."""
    went_on: int = 0
    """Raw line of the first ordinary output of the same process right behind it; 0 if none."""

    def raising_frame(self) -> Frame | None:
        """Give the innermost frame but those that only pass on what they were called with."""
        frames = [
            frame for frame in self.frames if not (frame.is_library and _is_forwarding(frame))
        ]
        own = max((at for at, frame in enumerate(frames) if not frame.is_library), default=-1)
        failed_lookup = frames[own + 1] if 0 <= own < len(frames) - 1 else None
        if (
            failed_lookup is not None
            and self.exception.endswith(_NOT_THERE)
            and _LOOKS_UP.fullmatch(failed_lookup.function)
        ):
            return frames[own]  # what it looked up is not there, however deep that came to light
        return frames[-1] if frames else next(reversed(self.frames), None)

    def raised_in_library(self) -> bool:
        """Say whether library code raised it."""
        inner = self.raising_frame()
        return inner is not None and inner.is_library

    def raised_by_user(self) -> bool:
        """Say whether the user's own code raised it."""
        inner = self.raising_frame()
        return inner is not None and (not inner.is_library or inner.file == "<string>")

    def was_caught(self) -> bool:
        """Say whether code below the script caught and printed it, so that it alone ended nothing.

        What ends a program is printed from the script's outermost frame on.
        """
        return bool(self.frames) and not _OUTERMOST.fullmatch(self.frames[0].function)

    def own_frame(self) -> Frame | None:
        """Give the innermost frame of the user's own code, or None."""
        return next((frame for frame in reversed(self.frames) if not frame.is_library), None)


_MOST_BETWEEN: Final = 8
"""Lines between a traceback and one that is chained to it."""


def iter_chained(traceback: Traceback, tracebacks: Iterable[Traceback]) -> Iterator[Traceback]:
    """Yield the tracebacks that are chained to one, each to the one before it.

    Of an exception that a library has caught and raised again only the last one comes up to the
    user's code.
    """
    end = traceback.end_line
    for behind in sorted(tracebacks, key=lambda found: found.line):
        is_next = behind.source == traceback.source and end < behind.line <= end + _MOST_BETWEEN
        if is_next and behind.chained:
            yield behind
            end = behind.end_line


_MOST_SHOWN: Final = 3


class RecordedGroup(NamedTuple):
    """The state of one process group in a dump."""

    name: str
    description: str
    """What the program calls it: `TENSOR_MODEL_PARALLEL_GROUP`; may be empty."""
    ranks: tuple[int, ...]
    """Its members, by their place in it; empty where the dump does not list them."""
    enqueued: int
    """The number of the last collective that was enqueued; -1 where none was."""
    completed: int
    last: str
    """The operation that was enqueued last; empty where no entry of it is kept."""

    @property
    def label(self) -> str:
        """Give the name, with what the program calls it."""
        return f"{self.name} ({self.description})" if self.description else self.name

    def describe(self) -> Message:
        """Say it in a few words."""
        return say(
            "group {group}: last enqueued {number}{last}, last completed {completed}",
            group=self.name,
            number=self.enqueued,
            last=f" ({self.last})" if self.last else "",
            completed=self.completed,
        )


class PendingWork(NamedTuple):
    """An operation that a rank had enqueued and not completed."""

    group: str
    number: int
    """Its place among the collectives of the group; of a point-to-point operation no place."""
    operation: str
    sizes: str
    peer: int | None = None
    """Of a point-to-point operation the other end, by its place in the group."""
    is_let_go: bool = False
    """The program no longer waits for it: it is completed, or has failed."""


class RankDump(NamedTuple):
    """What the dump of one rank holds."""

    rank: int
    source: int
    groups: Mapping[str, RecordedGroup]
    pending: tuple[PendingWork, ...]
    """The first ones that are not completed, in the order in which they were enqueued."""

    def describe(self) -> Message:
        """Say what it holds in a few words."""
        head = say("NCCL flight recorder")
        shown = sorted(self.groups.values(), key=lambda group: -group.enqueued)[:_MOST_SHOWN]
        return join_list([head, *(group.describe() for group in shown)], SEMICOLON)
