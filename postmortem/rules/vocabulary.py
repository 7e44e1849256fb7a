"""What rules and code refer to by name: anomalies, classes of metrics, traits, and stacks.

In: compiled rows of `patterns/anomalies`, `patterns/metrics.yaml`, `patterns/traits.json` and
`patterns/stacks`; a name. Out: `AnomalyType`, what an anomaly means whatever the run; the
`MetricClass`es of a name; whether an id has a `Trait`; `StackRules`, in whose terms a fix is
written, and what recognises their files. Not here: an anomaly that was found
(`detectors.observed`), the names of series (`core.names`), the stacks of a job (`case.outcomes`).

Code asks for a trait and never names a cause. A trait lists ids, or beginnings of ids.
"""

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from postmortem.core import resources
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, parse_bilingual
from postmortem.core.resources import read_compiled_stack
from postmortem.rules.cause_rules import Snippet, parse_snippet


class FeatureCondition(NamedTuple):
    """Bounds of features that all have to be kept (`detectors.curve_features` names them)."""

    role: str
    """The curve that is told and marked, a role of `detectors.curve_roles`.

    Empty in `contradicted_by`.
    """
    above: Mapping[str, float]
    below: Mapping[str, float]
    not_above: Mapping[str, float]
    """Bounds that a feature without a value keeps, too."""

    def holds(self, features: Mapping[str, float]) -> bool:
        """Say whether all bounds are kept; a feature that is NaN is neither above nor below."""
        told = {name: features.get(name, math.nan) for name in self.list_features()}
        return (
            all(told[name] >= bound for name, bound in self.above.items())
            and all(told[name] <= bound for name, bound in self.below.items())
            and not any(told[name] > bound for name, bound in self.not_above.items())
        )

    def list_features(self) -> list[str]:
        """List the features that are bounded."""
        return [*self.above, *self.below, *self.not_above]


class AnomalyType(NamedTuple):
    """A row of `patterns/anomalies`."""

    id: str
    meaning: Message
    is_bad: bool = False
    """A run that shows it is not sound: nobody says of it that no failure is shown."""
    is_grave: bool = False
    """In the story of the run it comes before whatever else is known of its line, and is kept where
    there is too much to show."""
    can_be_first: bool = False
    """Where it stands may be the first failure of the run."""
    spoils: bool = False
    """From its place on the weights are lost: a checkpoint behind it is nothing to go back to."""
    is_turn: bool = False
    """It happens at a place of the run and is shown there in the story of the run."""
    spreads: bool = False
    """The all-reduce carries it from the process that went wrong first, which shows how, to the
    others, which show only what came of it."""
    curve_class: str | None = None
    """The class of the model of curves whose runs look like this; none for what is detected."""
    when: tuple["FeatureCondition", ...] = ()
    """Each of them alone shows it; none for what a detector or the model finds."""
    contradicted_by: tuple["FeatureCondition", ...] = ()
    """Each of them alone contradicts the model, which then only doubts."""


def build_anomaly_types(rows: Iterable[Mapping[str, Any]]) -> dict[str, AnomalyType]:
    """Give the types by id."""
    return {
        row["id"]: AnomalyType(
            **{key: value for key, value in row.items() if key in AnomalyType._fields}
            | {
                "meaning": parse_bilingual(row["meaning"]),
                **{
                    key: tuple(_build_condition(entry) for entry in row.get(key) or ())
                    for key in ("when", "contradicted_by")
                },
            }
        )
        for row in rows
    }


def _build_condition(entry: Mapping[str, Any]) -> FeatureCondition:
    bounds = (entry.get(side) or {} for side in ("above", "below", "not_above"))
    return FeatureCondition(entry.get("role", ""), *bounds)


_WORD: Final = (
    r"(?:^|[_/ .@-]|(?<=^val)|(?<=^(?:test|eval))|(?<=^(?:train|valid)))(?:{})(?:$|[_/ .-])"
)
"""A word of a name: between the separators that programs put there, or glued to that of a split."""
_ANY_VALUE: Final = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class MetricClass:
    """A row of the table."""

    id: str
    pattern: re.Pattern[str]
    """Searched in the whole name."""
    excluded: tuple[str, ...] = ()
    """Classes of which a name of this one is none."""
    better: str = ""
    """`higher`, `lower`, or empty where neither is."""
    bounds: tuple[float, float] = _ANY_VALUE
    """A share, which may be printed in per cent, is of 0 to 1."""


class MetricTable:
    """The classes of metrics; several rows of one id add names to it."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take the compiled rows."""
        self._rows = tuple(rows)
        self._classes: dict[str, list[MetricClass]] = {}

    def __getitem__(self, name: str) -> list[MetricClass]:
        """Give the rows of a class.

        Raises:
            KeyError: there is no such class.
        """
        if not self._classes:
            for row in self._rows:
                self._classes.setdefault(row["id"], []).append(_build_class(row))
        return self._classes[name]

    def is_any(self, name: str, *classes: str) -> bool:
        """Say whether a name belongs to one of these classes."""
        return any(
            bool(row.pattern.search(name)) and not self.is_any(name, *row.excluded)
            for one in classes
            for row in self[one]
        )

    def classify(self, name: str) -> MetricClass | None:
        """Give the first class of the table to which a name belongs."""
        ids = dict.fromkeys(row["id"] for row in self._rows)
        return next((self[one][0] for one in ids if self.is_any(name, one)), None)


def _build_class(row: Mapping[str, Any]) -> MetricClass:
    pattern = _WORD.format(row["names"]) if "names" in row else row["match"]
    least, most = row.get("bounds") or _ANY_VALUE
    return MetricClass(
        row["id"],
        compile_lazily(pattern, re.IGNORECASE),
        tuple(row.get("not") or ()),
        row.get("better", ""),
        (float(least), float(most)),
    )


class Trait(Enum):
    """The traits that code asks for; the file explains each."""

    SOUND = "sound"
    COMPLETED = "completed"
    RUNNING = "running"
    UNEXPLAINED = "unexplained"
    NO_CAUSE_SHOWN = "no-cause-shown"
    USER_EXCEPTION = "user-exception"
    PEER_FAILURE = "peer-failure"
    NONFINITE_UNEXPLAINED = "nonfinite-unexplained"
    RESIDUAL = "residual"
    SHOWN_BY_CURVES = "shown-by-curves"
    SLOW = "slow"
    STANDSTILL = "standstill"
    ABOUT_VALUES = "about-values"
    ABOUT_VERSIONS = "about-versions"
    ABOUT_PACKAGES = "about-packages"
    AMONG_PROCESSES = "among-processes"
    STOPPED_FROM_OUTSIDE = "stopped-from-outside"
    CANCELS_THE_RUN = "cancels-the-run"
    STOPPED_BY_SOMEBODY = "stopped-by-somebody"
    SIGNAL_WITHOUT_REASON = "signal-without-reason"
    ENDS_THE_JOB = "ends-the-job"
    STOPPED_ON_REQUEST = "stopped-on-request"
    MACHINE_LOST = "machine-lost"
    FAULTY_HARDWARE = "faulty-hardware"
    NATIVE_CRASH = "native-crash"
    SPOILS_A_CHECKPOINT = "spoils-a-checkpoint"
    ECHO_OF_A_FAILURE = "echo-of-a-failure"
    ECHO_OR_STOP = "echo-or-stop"
    TAKE_DOWN = "take-down"
    NAMES_NO_PROCESS = "names-no-process"
    NAMES_A_PEER = "names-a-peer"
    FOLLOWS_A_PEER = "follows-a-peer"
    ENDS_WHAT_STOOD_STILL = "ends-what-stood-still"
    MET_WHEN_OTHERS_ENDED = "met-when-others-ended"
    END_OF_A_SILENT_RUN = "end-of-a-silent-run"
    NO_SIGN_OF_LIFE = "no-sign-of-life"
    ENDS_AT_THE_CALL = "ends-at-the-call"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash costs a call in Python


@functools.cache
def list_ids(trait: Trait) -> tuple[str, ...]:
    """List the ids, and beginnings of ids, that have a trait."""
    return tuple(_read_table()[trait.value]["ids"])


def has_trait(name: str | None, trait: Trait) -> bool:
    """Say whether a cause or signature has a trait; None, a verdict without a cause, has none."""
    return name is not None and name.startswith(list_ids(trait))


def get_id(trait: Trait) -> str:
    """Get the one id that has a trait.

    Raises:
        ValueError: the trait lists several ids.
    """
    (name,) = list_ids(trait)
    return name


@functools.cache
def _read_table() -> dict[str, dict[str, list[str]]]:
    file = resources.find_folder("patterns") / "traits.json"
    table: dict[str, dict[str, list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return table


PLAIN: Final = "pytorch"
"""The stack of whoever writes the training loop in plain PyTorch."""
MODEL: Final = "model"
"""The key of code on the model, the data or a batch in PyTorch, without a loop."""
ANY: Final = "any"
"""The key of a snippet that names no stack."""
TRAINER: Final = "trainer"
_FOLDERS: Final = ("site-packages/", "dist-packages/", "site-packages\\", "dist-packages\\")
ENOUGH: Final = 3
"""Lines of a source that show a stack's files; more of them say nothing new."""


class StackRule(NamedTuple):
    """What is known of a stack."""

    id: str
    title: str
    kind: str = TRAINER
    """trainer | backend | system"""
    packages: tuple[str, ...] = ()
    """Names under which it is installed, the one that tells its version first."""
    over: tuple[str, ...] = (PLAIN,)
    """StackRules on which it stands, the nearest first."""
    takes: tuple[str, ...] = ()
    """StackRules whose snippets hold here as they stand."""
    beside: tuple[str, ...] = ()
    """StackRules whose own options its users write too, where they are in the job."""
    has_loop: bool = True
    """Whether the user writes the training loop."""
    has_model: bool = True
    """Whether the user's own code holds the model, as a PyTorch module, and the data."""
    defaults: Mapping[str, str] = MappingProxyType({})
    """Settings that are in force where nothing else is printed, under their common names."""
    causes: frozenset[str] = frozenset()
    """Causes of which it is the subject: their fixes speak of it, whatever else the log shows."""
    words: tuple[str, ...] = ()
    """Words that only its users type."""
    packed: str | None = "{}"
    """Its snippets, as JSON; None where they lie apart, in a wheel."""

    @property
    def snippets(self) -> Mapping[str, Snippet]:
        """Its snippets, by the id of the fix."""
        return _parse_snippets(self.id, self.packed)

    def find_snippet(self, *fixes: str) -> Snippet | None:
        """Give its snippet for the first of these fixes that has one."""
        return next((self.snippets[fix] for fix in fixes if fix in self.snippets), None)


class StackRules:
    """All stacks, and how they stand to each other."""

    def __init__(self, stacks: Iterable[StackRule] = ()) -> None:
        """Take them all."""
        self._by_id = {stack.id: stack for stack in stacks}

    def __iter__(self) -> Iterator[StackRule]:
        """Give them in the order of their ids."""
        return iter(self._by_id.values())

    def get(self, name: str) -> StackRule:
        """Give a stack; one without a file is a trainer over PyTorch of which nothing is known."""
        return self._by_id.get(name) or StackRule(name, name)

    def list_below(self, name: str) -> frozenset[str]:
        """Name all stacks on which a stack stands."""
        return frozenset(self._collect_reached(name, lambda stack: stack.over))

    def list_taken(self, name: str) -> list[str]:
        """Name the stacks whose snippets hold for a stack, its own first, the nearest next."""
        return [name, *self._collect_reached(name, lambda stack: stack.takes)]

    def _collect_reached(
        self, name: str, nearest: Callable[[StackRule], Iterable[str]]
    ) -> list[str]:
        found: list[str] = []
        left = list(nearest(self.get(name)))
        while left:
            stack = left.pop(0)
            if stack not in found and stack != name:
                found.append(stack)
                left += nearest(self.get(stack))
        return found


def build_stack_rule(entry: Mapping[str, Any]) -> StackRule:
    """Type a stack as its file describes it."""
    return StackRule(
        entry["id"],
        entry["title"],
        entry.get("kind", TRAINER),
        tuple(entry.get("packages") or ()),
        tuple(entry.get("over") or ()),
        tuple(entry.get("takes") or ()),
        tuple(entry.get("beside") or ()),
        bool(entry.get("loop", False)),
        bool(entry.get("model", entry.get("loop", False))),
        {name: str(value) for name, value in (entry.get("defaults") or {}).items()},
        frozenset(entry.get("causes") or ()),
        tuple(entry.get("words") or ()),
        _dump_snippets(entry),
    )


def _dump_snippets(entry: Mapping[str, Any]) -> str | None:
    raw = entry.get("snippets") or {}
    if entry.get("apart"):
        return None
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)


def load_snippets(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give the snippets of a compiled stack, wherever they lie."""
    return _load_packed_snippets(entry["id"], _dump_snippets(entry))


def _load_packed_snippets(name: str, packed: str | None) -> dict[str, Any]:
    return dict(json.loads(read_compiled_stack(name) if packed is None else packed))


@functools.lru_cache(maxsize=256)
def _parse_snippets(name: str, packed: str | None) -> dict[str, Snippet]:
    return {
        fix: parse_snippet(snippet) for fix, snippet in _load_packed_snippets(name, packed).items()
    }


def build_file_format(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the rule that recognises a stack by its files; None where it names none.

    Literals are its `paths`, and the folders of its modules among installed packages.
    """
    modules = entry.get("imports")
    if modules is None:
        modules = [name.replace("-", "_") for name in entry.get("packages") or ()]
    anchors = [
        *(entry.get("paths") or ()),
        *(f"{folder}{name}{folder[-1]}" for name in modules for folder in _FOLDERS),
    ]
    if not anchors:
        return None
    return {
        "id": f"stack.{entry['id']}",
        "kind": "facts",
        "framework": entry["id"],
        "anchors": anchors,
        "match": "|".join(map(re.escape, anchors)),
        "enough": ENOUGH,
    }


def compile_word_pattern(word: str) -> "re.Pattern[str]":
    """Give the pattern of a word of a stack: as it stands, at the borders of words."""
    before = r"(?<![\w-])" if re.match(r"[\w-]", word) else ""
    behind = r"(?![\w-])" if re.search(r"\w$", word) else ""
    return re.compile(before + re.escape(word) + behind)
