"""Environment and settings as printed: the stronger statement beats the weaker, the later one the earlier.

In: (name, value) pairs with the line and strength of the rule that read them.
Out: `FactStore`; `environment()` gives the typed view. Not here: the rules themselves (`patterns/formats`).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.model.diagnosis import Environment, Gpu, Setting

_TRUE: Final = frozenset({"true", "yes", "on", "enabled"})
_FALSE: Final = frozenset({"false", "no", "off", "none", "null", "disabled"})
TOLD: Final = 3
"""Strength of what the caller says, above anything printed."""
_MOST: Final = 2000
_MOST_CHECKPOINTS: Final = 1000
_SAME_LIST: Final = 4
"""Lines between two GPUs of one list; a name that comes again later is another rank's dump."""


class Fact(NamedTuple):
    """A value with its place."""

    value: str
    strength: int
    source: int
    line: int
    time: str | None = None
    """As the line prints it."""


class FactStore:
    """What is known about the run, by name: `package.torch`, `setting.learning_rate`, `env.python`, `framework.deepspeed` and so on."""

    def __init__(self) -> None:
        """Start empty."""
        self.facts: dict[str, Fact] = {}
        self.gpus: dict[str, Fact] = {}
        self.gpu_count: dict[str, int] = {}
        self.gpu_memory: float | None = None
        self._sightings: dict[str, Fact] = {}
        self.framework_lines: dict[str, int] = {}
        self.checkpoints: list[Fact] = []

    def add(self, name: str, value: str, strength: int, source: int, line: int, time: str | None = None) -> None:
        """Take one captured group; names are those of `patterns/README.md`, value an arbitrary printed text, time that of its line."""
        value = value.strip().strip("'\"`,;")
        if not value or len(self.facts) > _MOST:
            return
        kind, _, rest = name.partition("_")
        fact = Fact(value[:400], strength, source, line, time)
        if kind == "gpu":
            self._gpu(rest, fact)
        elif name == "checkpoint":
            self.checkpoints.append(fact)
            if len(self.checkpoints) > _MOST_CHECKPOINTS:
                del self.checkpoints[1:_MOST_CHECKPOINTS // 2:2]     # the older ones are thinned
        elif name == "checkpoint_deleted":
            self.checkpoints = [one for one in self.checkpoints if one.value != fact.value]
        elif kind in {"package", "setting", "env", "framework"}:
            self._put(f"{kind}.{rest.replace('_', '-') if kind == 'package' else rest}", fact)
        else:
            self._put(f"progress.{name}", fact)

    def _put(self, key: str, fact: Fact) -> None:
        known = self.facts.get(key)
        if known is None or fact.strength >= known.strength:
            self.facts[key] = fact

    def _gpu(self, what: str, fact: Fact) -> None:
        if what == "name":
            known = self.gpus.get(fact.value)
            if known is None and len(self.gpus) >= _MOST:
                return
            if known is None or fact.strength > known.strength:
                self.gpus[fact.value] = fact
            sighting = self._sightings.get(fact.value)
            if sighting is None:
                self.gpu_count[fact.value] = 1
            elif sighting.source == fact.source and 0 < fact.line - sighting.line <= _SAME_LIST:
                self.gpu_count[fact.value] += 1
            if sighting is None or fact.line - sighting.line <= _SAME_LIST:
                self._sightings[fact.value] = fact
        elif what == "count" and (count := number(fact.value)) is not None and self.gpus:
            last = next(reversed(self.gpus))
            self.gpu_count[last] = max(1, int(count))
        elif what in {"memory_mib", "memory_gib"} and (size := number(fact.value)) is not None:
            gib = size / 1024 if what == "memory_mib" else size
            self.gpu_memory = max(self.gpu_memory or 0.0, gib)

    def merge(self, other: "FactStore") -> None:
        """Take what another part of the job has gathered."""
        for key, fact in other.facts.items():
            self._put(key, fact)
        for name, fact in other.gpus.items():
            if name not in self.gpus or fact.strength > self.gpus[name].strength:
                self.gpus[name] = fact
            self.gpu_count[name] = max(self.gpu_count.get(name, 0), other.gpu_count.get(name, 0))
        self.gpu_memory = max((size for size in (self.gpu_memory, other.gpu_memory) if size is not None), default=None)
        for name, lines in other.framework_lines.items():
            self.framework_lines[name] = self.framework_lines.get(name, 0) + lines
        self.checkpoints += other.checkpoints

    def get(self, key: str) -> str | None:
        """Give a value by its full name, or None."""
        fact = self.facts.get(key)
        return fact.value if fact else None

    def settings(self) -> dict[str, Setting]:
        """Give the settings with typed values."""
        return {key.removeprefix("setting."): Setting(typed(fact.value), fact.source, fact.line) for key, fact in self.facts.items() if key.startswith("setting.")}


def typed(text: str) -> Any:
    """Read a printed value: a number, a truth value, or the text itself."""
    value = number(text)
    if value is not None:
        return int(value) if value.is_integer() and re.fullmatch(r"[+-]?[\d,_]+", text) else value
    lowered = text.lower()
    return True if lowered in _TRUE else False if lowered in _FALSE else text


def number(text: str) -> float | None:
    """Read a finite number as programs print them (thousands commas, exponents), or None."""
    if not re.fullmatch(r"[+-]?(?:\d[\d,_]*)?\.?\d*(?:[eE][+-]?\d+)?", text) or not any(char.isdigit() for char in text):
        return None
    try:
        value = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def environment(store: FactStore, table: Sequence[Mapping[str, Any]]) -> Environment:
    """Give the typed view; `table` is the list of known GPUs."""
    get = store.get
    return Environment(
        packages={key.removeprefix("package."): fact.value for key, fact in sorted(store.facts.items()) if key.startswith("package.")},
        python=get("env.python"), os=get("env.os"), cuda=get("env.cuda"), driver=get("env.driver"), gpus=gpus(store, table),
        precision=precision(store), world_size=_whole(get("env.world_size")), launcher=get("env.launcher"),
        exit_status=_whole(get("env.exit_status")), signal=get("env.signal"),
    )


def _whole(text: str | None) -> int | None:
    value = number(text) if text else None
    return int(value) if value is not None else None


def gpus(store: FactStore, table: Sequence[Mapping[str, Any]]) -> tuple[Gpu, ...]:
    """Look the printed GPU names up in the table; one entry a model."""
    found: dict[str, Gpu] = {}
    strongest = max((fact.strength for fact in store.gpus.values()), default=0)
    for name in (name for name, fact in store.gpus.items() if fact.strength == strongest):
        entry = next((row for row in table if re.search(row["match"], name, re.IGNORECASE)), None)
        label = entry["name"] if entry else name
        memory = store.gpu_memory or (entry or {}).get("memory_gib")
        count = max(store.gpu_count.get(name, 1), found[label].count if label in found else 0)
        found[label] = Gpu(label, count, memory, (entry or {}).get("capability"))
    return tuple(found.values())


def precision(store: FactStore) -> str | None:
    """Tell the training precision from what is printed; None where nothing says so."""
    said = store.get("env.precision")
    truths = {name: typed(value) for name in ("fp16", "bf16") if (value := store.get(f"setting.{name}")) is not None}
    for name, value in truths.items():
        if value is True:
            return name
    if said:
        return _short(said)
    mixed = store.get("setting.mixed_precision")
    if mixed and _short(mixed) in {"fp16", "bf16", "fp8"}:
        return _short(mixed)
    dtype = store.get("setting.torch_dtype")
    if dtype and _short(dtype) in {"fp16", "bf16", "fp32"}:
        return _short(dtype)
    return "fp32" if truths.get("fp16") is False and truths.get("bf16") is False else None


def _short(text: str) -> str:
    lowered = text.lower().removeprefix("torch.").strip()
    names = {"float16": "fp16", "half": "fp16", "16": "fp16", "16-mixed": "fp16", "bfloat16": "bf16", "bf16-mixed": "bf16", "float32": "fp32", "32": "fp32", "float": "fp32"}
    return names.get(lowered, lowered)
