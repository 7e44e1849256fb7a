"""Environment and settings as printed, and the checkpoints that a run saved.

In: (name, value) pairs with the line and strength of the rule that read them; facts `checkpoint` (a
path, `500 iterations`, a number), with their lines and printed times. Out: `FactStore`, whose
`environment()` gives the typed view; `Saved` checkpoints, and the last before a given place of the
run. Not here: the rules themselves (`patterns/formats`), where the run went wrong (`progress`).

The stronger statement beats the weaker, the later one the earlier. A path of a checkpoint that says
no step is written over each time it is saved: only its last saving counts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.findings import Environment, Setting
from postmortem.core.log_text import compile_lazily, parse_number
from postmortem.core.message import cut
from postmortem.extraction.facts.cards import Cards
from postmortem.reading.prefixes import get_time_basis

_TRUE: Final = frozenset({"true", "yes", "on", "enabled"})
_FALSE: Final = frozenset({"false", "no", "off", "none", "null", "disabled"})
STATED_BY_CALLER: Final = 3
"""Strength of what the caller says, above anything printed."""
_MOST: Final = 2000
_MOMENTARY: Final = 3
"""Numbers in one source from which on what reads as a setting is a figure of the moment."""
_MOST_CHECKPOINTS: Final = 1000
_MOST_TESTIMONIES: Final = 2000
_MOST_PHASES: Final = 100
_MODEL: Final = "setting.model"
COURSES: Final = frozenset({"host_free", "host_used", "host_rss", "memory"})
"""What a log prints again and again: its course is kept, thinned where it is long."""
_MOST_OF_A_COURSE: Final = 400
PHASE: Final = "phase"
"""The testimony that tells what the run is about to do."""


class Fact(NamedTuple):
    """A value with its place."""

    value: str
    strength: int
    source: int
    line: int
    time: str | None = None
    """As the line prints it."""


class Testimony(NamedTuple):
    """What a line says of the state of the machine, to be compared with others of its kind."""

    what: str
    """As a rule of `patterns/formats` names it, without `machine_`."""
    value: str
    source: int
    line: int


class FactStore:
    """What is known about the run, by name.

    `package.torch`, `setting.learning_rate`, `env.python`, `framework.deepspeed` and so on.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.facts: dict[str, Fact] = {}
        self.cards = Cards()
        self.framework_lines: dict[str, int] = {}
        self.tellers: set[int] = set()
        """Sources that state anything."""
        self.checkpoints: list[Fact] = []
        self.testimonies: list[Testimony] = []
        self.phases: dict[int, list[Testimony]] = {}
        """Evaluation, loading, saving, training, by source; each where it was last told of."""
        self.courses: dict[tuple[int, str], list[Testimony]] = {}
        """By source and what: figures in the order of their lines."""
        self._stated: dict[tuple[str, int, int], set[str]] = {}
        """The first numbers stated for each setting, by its key, strength and source."""

    def add(
        self, name: str, value: str, strength: int, source: int, line: int, time: str | None = None
    ) -> None:
        """Take one captured group.

        Names are those of `patterns/README.md`, value an arbitrary printed text, time that of its
        line.
        """
        value = value.strip().strip("'\"`,;")
        if not value or len(self.facts) > _MOST:
            return
        self.tellers.add(source)
        kind, _, rest = name.partition("_")
        fact = Fact(cut(value, 400), strength, source, line, time)
        if kind == "gpu":
            self.cards.add(rest, fact.value, strength, source, line)
        elif kind == "machine":
            self._add_testimony(Testimony(rest, fact.value, source, line))
        elif name == "checkpoint":
            self.checkpoints.append(fact)
            if len(self.checkpoints) > _MOST_CHECKPOINTS:
                del self.checkpoints[1 : _MOST_CHECKPOINTS // 2 : 2]  # the older ones are thinned
        elif name == "checkpoint_deleted":
            self.checkpoints = [
                checkpoint for checkpoint in self.checkpoints if checkpoint.value != fact.value
            ]
        elif kind in {"package", "setting", "env", "framework"}:
            if kind == "setting":
                self._state((f"setting.{rest}", strength, source), [fact.value])
            self._put(f"{kind}.{rest.replace('_', '-') if kind == 'package' else rest}", fact)
        else:
            self._put(f"progress.{name}", fact)

    def add_course(
        self, what: str, values: Sequence[str], source: int, lines: Sequence[int]
    ) -> None:
        """Take figures of one of COURSES in order; the same as `add` for each."""
        if len(self.facts) > _MOST:
            return
        self.tellers.add(source)
        course = self.courses.setdefault((source, what), [])
        kept: list[Testimony | int] = [*course]
        at = 0
        while at < len(values):
            stop = at + max(1, _MOST_OF_A_COURSE + 1 - len(kept))
            kept += range(at, min(stop, len(values)))
            at = stop
            if len(kept) > _MOST_OF_A_COURSE:
                del kept[1:-1:2]
        course[:] = [
            Testimony(what, values[index], source, lines[index])
            if isinstance(index, int)
            else index
            for index in kept
        ]

    def _add_testimony(self, testimony: Testimony) -> None:
        """Keep a testimony; of phases, of which a long run has many, the later ones."""
        if testimony.what in COURSES:
            course = self.courses.setdefault((testimony.source, testimony.what), [])
            course.append(testimony)
            if len(course) > _MOST_OF_A_COURSE:
                del course[1:-1:2]
            return
        if testimony.what != PHASE:
            if len(self.testimonies) < _MOST_TESTIMONIES:
                self.testimonies.append(testimony)
            return
        phases = self.phases.setdefault(testimony.source, [])
        if phases and phases[-1].value == testimony.value:
            phases.pop()
        phases.append(testimony)
        del phases[:-_MOST_PHASES]

    def _state(self, place: tuple[str, int, int], values: Iterable[str]) -> None:
        """Keep the first few different numbers that a source states for a setting."""
        stated = self._stated.setdefault(place, set())
        for value in values:
            if len(stated) < _MOMENTARY and parse_number(value) is not None:
                stated.add(value)

    def momentary(self) -> set[str]:
        """Name the settings that are figures of a moment: their source states ever new ones."""
        return {
            key.removeprefix("setting.")
            for key, fact in self.facts.items()
            if len(self._stated.get((key, fact.strength, fact.source), ())) >= _MOMENTARY
        }

    def _put(self, key: str, fact: Fact) -> None:
        known = self.facts.get(key)
        is_shorter = (
            known is not None
            and fact.strength == known.strength
            and key.startswith("package.")
            and known.value.startswith(f"{fact.value}+")
        )
        # What the run saved is not what it began with; "2.4.1" takes nothing back of "2.4.1+cpu".
        is_saved = key == _MODEL and any(
            checkpoint.value == fact.value for checkpoint in self.checkpoints
        )
        is_less = is_shorter or is_saved
        if known is None or (fact.strength >= known.strength and not is_less):
            self.facts[key] = fact

    def merge(self, other: "FactStore") -> None:
        """Take what another part of the job has gathered."""
        for key, fact in other.facts.items():
            self._put(key, fact)
        for place, values in other._stated.items():  # noqa: SLF001 -- of the same kind
            self._state(place, sorted(values))
        self.cards.merge(other.cards)
        self.tellers |= other.tellers
        for name, lines in other.framework_lines.items():
            self.framework_lines[name] = self.framework_lines.get(name, 0) + lines
        self.checkpoints += other.checkpoints
        self.testimonies += other.testimonies
        for phases in other.phases.values():
            for phase in phases:
                self._add_testimony(phase)
        for course in other.courses.values():
            for phase in course:
                self._add_testimony(phase)

    def get(self, key: str) -> str | None:
        """Give a value by its full name, or None."""
        fact = self.facts.get(key)
        return fact.value if fact else None

    def settings(self) -> dict[str, Setting]:
        """Give the settings with typed values."""
        return {
            key.removeprefix("setting."): Setting(parse_value(fact.value), fact.source, fact.line)
            for key, fact in self.facts.items()
            if key.startswith("setting.")
        }


def parse_value(text: str) -> Any:
    """Read a printed value: a number, a truth value, or the text itself."""
    value = parse_number(text)
    if value is not None:
        return int(value) if value.is_integer() and re.fullmatch(r"[+-]?[\d,_]+", text) else value
    lowered = text.lower()
    return True if lowered in _TRUE else False if lowered in _FALSE else text


def build_environment(store: FactStore, table: Sequence[Mapping[str, Any]]) -> Environment:
    """Give the typed view; `table` is the list of known GPUs."""
    get = store.get
    return Environment(
        packages={
            key.removeprefix("package."): fact.value
            for key, fact in sorted(store.facts.items())
            if key.startswith("package.")
        },
        python=get("env.python"),
        os=get("env.os"),
        cuda=get("env.cuda") or _parse_cuda_version(get("package.torch")),
        driver=get("env.driver"),
        gpus=store.cards.models(table),
        precision=infer_precision(store),
        world_size=_parse_int(get("env.world_size")),
        launcher=get("env.launcher"),
        exit_status=_parse_int(get("env.exit_status")),
        signal=get("env.signal"),
    )


def _parse_cuda_version(torch: str | None) -> str | None:
    """Read the CUDA version off a build of torch: `2.4.1+cu121` is built with 12.1."""
    match = re.search(r"\+cu(\d{1,2})(\d)$", torch or "")
    return f"{match[1]}.{match[2]}" if match else None


def _parse_int(text: str | None) -> int | None:
    value = parse_number(text) if text else None
    return int(value) if value is not None else None


def infer_precision(store: FactStore) -> str | None:
    """Infer the training precision from printed settings; None where nothing states it."""
    precision = store.get("env.precision")
    truths = {
        name: parse_value(value)
        for name in ("fp16", "bf16")
        if (value := store.get(f"setting.{name}")) is not None
    }
    for name, value in truths.items():
        if value is True:
            return name
    if precision:
        return _normalise_precision(precision)
    mixed = store.get("setting.mixed_precision")
    if mixed and _normalise_precision(mixed) in {"fp16", "bf16", "fp8"}:
        return _normalise_precision(mixed)
    dtype = store.get("setting.torch_dtype")
    if dtype and _normalise_precision(dtype) in {"fp16", "bf16", "fp32"}:
        return _normalise_precision(dtype)
    return "fp32" if truths.get("fp16") is False and truths.get("bf16") is False else None


def _normalise_precision(text: str) -> str:
    lowered = text.lower().removeprefix("torch.").strip()
    names = {
        "float16": "fp16",
        "half": "fp16",
        "16": "fp16",
        "16-mixed": "fp16",
        "bfloat16": "bf16",
        "bf16-mixed": "bf16",
        "float32": "fp32",
        "32": "fp32",
        "float": "fp32",
    }
    return names.get(lowered, lowered)


_STEP: Final = compile_lazily(
    r"global_?step[-_=]?(\d+)"
    r"|(?<![a-z])(?:step|iter|iteration)s?[-_= ]?(\d+)"
    r"|(?<![a-z])checkpoint-(\d+)(?![\d.]*\.(?:pth|pt|tar)\b)"
    r"|(?<![a-z])checkpoint_\d+_(\d+)\.pt\b"  # fairseq: epoch and updates
    r"|(?<![a-z])model_(\d{7})\.pth\b"  # detectron2
    r"|^(\d+)(?: (?:iterations|iters))?$",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A place of the run, as far as it is known."""

    source: int
    line: int
    time: str | None
    step: float | None


class Saved(NamedTuple):
    """A checkpoint with the place of its last saving."""

    value: str
    place: Place


def parse_step(value: str) -> float | None:
    """Read the step off a checkpoint's name.

    None for an epoch, an ordinal, or a name without a number.
    """
    found = [next(filter(None, match.groups())) for match in _STEP.finditer(value)]
    return float(found[-1]) if found else None


def list_in_save_order(facts: Iterable[Fact]) -> list[Saved]:
    """Order checkpoints as they were saved, each name once."""
    found: dict[str, Saved] = {}
    for fact in facts:
        step = parse_step(fact.value)
        if step is not None and fact.value in found:  # named again: listed, or loaded
            continue
        found.pop(fact.value, None)
        found[fact.value] = Saved(fact.value, Place(fact.source, fact.line, fact.time, step))
    return list(found.values())


def is_before(first: Place, second: Place) -> bool | None:
    """Say whether a place stands before another.

    By line in one file, else by full printed times, else by steps; None if none of them tells.
    """
    if first.source == second.source:
        return first.line < second.line
    if (
        first.time
        and second.time
        and get_time_basis(first.time) == get_time_basis(second.time) == "full"
    ):
        return first.time < second.time
    return None if first.step is None or second.step is None else first.step < second.step


def find_checkpoint_before(
    checkpoints: Iterable[Saved], limit: Place | None
) -> tuple[str, Saved | None]:
    """Say whether a checkpoint stands before a place of the run (yes, no, unknown).

    And which is the last that does.

    Without a place nothing is bad: the last checkpoint is given, and `unknown`.
    """
    listed = list(checkpoints)
    if not listed or limit is None:
        return "unknown", listed[-1] if listed else None
    known = [(checkpoint, is_before(checkpoint.place, limit)) for checkpoint in listed]
    good = [checkpoint for checkpoint, before in known if before]
    if good:
        return "yes", good[-1]
    return ("unknown" if any(before is None for _, before in known) else "no"), None
