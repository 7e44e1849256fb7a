"""The knowledge base as typed rules, ready for a run.

In: the JSON compiled into the wheel; in a checkout, or with folders of the user's own, the YAML
itself (compiled once and cached). Out: `KnowledgeBase`. Not here: checking rules
(`rules.check`): a run trusts what the check has passed.
"""

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import xxhash

from postmortem.core import resources
from postmortem.core.errors import PatternError
from postmortem.core.message import Message, parse_bilingual, quote
from postmortem.rules.cause_rules import (
    ActionRule,
    Advisory,
    CauseRule,
    Conditions,
    FixRule,
    build_action_rule,
    build_advisory,
    build_cause_rule,
    build_fix_rules,
)
from postmortem.rules.engine import BROAD_MEMORY, Budget, Match, Pattern, compile_pattern
from postmortem.rules.exception_rules import Advice, ExceptionRule, advice, type_rules
from postmortem.rules.vocabulary import (
    AnomalyType,
    MetricTable,
    StackRules,
    build_anomaly_types,
    build_file_format,
    build_stack_rule,
)

_FORM: Final = "packed stacks, exceptions with words, anomalies by features, metrics, actions"
"""What the cached form is like: one that an earlier program kept is not taken for it."""
NEARBY: Final = 200
"""Characters on either side of a match in which what `beside` asks for stands."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What signatures and formats share.

    Anchors and a pattern that is compiled when its first candidate comes.
    """

    id: str
    anchors: tuple[bytes, ...]
    match: str
    raw: Mapping[str, Any]
    _compiled: list[Pattern] = field(default_factory=list, compare=False, repr=False)

    def pattern(self) -> Pattern:
        """Give the compiled pattern.

        Raises:
            PatternError: `match` is no valid regex.
        """
        if not self._compiled:
            try:
                self._compiled.append(self._compile_within_limit(self.match))
            except ValueError as error:
                raise PatternError(
                    f"{self.id}: not a valid regex: {error}",
                    self.raw.get("file", ""),
                    "run: postmortem patterns check",
                ) from error
        return self._compiled[0]

    def search(self, text: str, budget: Budget | None = None) -> Match | None:
        """Search a window; where `unless` matches, or one of `beside` is missing, nothing is found.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        found = (self._compiled[0] if self._compiled else self.pattern()).search(text, budget)
        if found is None or self._is_excluded(text, budget):
            return None
        return found if self._has_nearby_words(found, budget) else None

    def finditer(self, text: str, budget: Budget | None = None) -> Iterable[Match]:
        """Find all matches in a window; where `unless` matches, none.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        return () if self._is_excluded(text, budget) else self.pattern().finditer(text, budget)

    def _is_excluded(self, text: str, budget: Budget | None) -> bool:
        unless: str | None = self.raw.get("unless") or None
        return (
            unless is not None
            and self._compile_within_limit(unless).search(text, budget) is not None
        )

    def _compile_within_limit(self, pattern: str) -> Pattern:
        """Compile a pattern; for a broad signature, within a lower memory limit."""
        return (
            compile_pattern(pattern, BROAD_MEMORY)
            if self.raw.get("broad")
            else compile_pattern(pattern)
        )

    def _has_nearby_words(self, found: Match, budget: Budget | None) -> bool:
        """Say whether each of `beside` stands near a match, on either side of it or within it."""
        words = self.raw.get("beside")
        if not words:
            return True
        near = found.string[max(0, found.start() - NEARBY) : found.end() + NEARBY]
        return all(
            self._compile_within_limit(word).search(near, budget) is not None for word in words
        )


@dataclass(frozen=True, slots=True)
class Signature(Rule):
    """A signature: what a log shows."""

    role: str = "cause"
    lines: int = 1
    fatal: bool = True
    suggests: Mapping[str, str] = field(default_factory=dict)
    group: str = "signature"
    told_by: str = ""
    """Who prints it, if not the process to which it happened: `launcher` or `peer`."""
    broad: bool = False
    """It goes by words of the field in any order; beside a narrower rule it says nothing."""

    @property
    def title(self) -> Message:
        """What the signature means."""
        return parse_bilingual(self.raw["title"])

    @property
    def advice(self) -> Advice | None:
        """What its line means for the run, and what to do about it, where its file says so."""
        return advice(self.raw) if self.raw.get("fixes") or self.raw.get("meaning") else None


@dataclass(frozen=True, slots=True)
class Format(Rule):
    """A metric line or a fact that programs print."""

    kind: str = "facts"
    framework: str = ""
    enough: int = 0
    """Matches in a source after which more of them say nothing new; 0: all count."""


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeBase:
    """All rules of a run, equal to itself alone."""

    version: str
    """<date>+<hash>"""
    signatures: tuple[Signature, ...]
    by_id: Mapping[str, Signature]
    """The signatures by their ids."""
    formats: tuple[Format, ...]
    causes: Mapping[str, CauseRule]
    """By id; an id of the taxonomy without a file has one without evidence."""
    titles: Mapping[str, Mapping[str, str]]
    """Titles of all ids of the taxonomy, by language."""
    precedence: tuple[tuple[str, str], ...]
    """(winner, loser)"""
    fixes: tuple[FixRule, ...]
    stacks: StackRules
    advisories: tuple[Advisory, ...]
    gpus: tuple[Mapping[str, Any], ...]
    keys: tuple[Mapping[str, Any], ...] = ()
    """What the keys of configurations mean."""
    metrics: MetricTable = field(default_factory=lambda: MetricTable(()))
    """What the names of metrics mean."""
    actions: tuple[ActionRule, ...] = ()
    """Kinds of action that a fix may take, and what refutes them."""
    anomalies: Mapping[str, AnomalyType] = field(default_factory=dict)
    """What is known of the anomalies that detectors find, by id."""
    exceptions: tuple[ExceptionRule, ...] = ()
    """What exceptions mean, those that are asked first in front."""

    def title(self, cause: str) -> Message:
        """Give a cause's title, or its id where there is none."""
        known = self.titles.get(cause)
        return quote(cause) if known is None else parse_bilingual(known)

    def cause(self, name: str) -> CauseRule:
        """Give what is known of a cause; of an unknown id, nothing but the id."""
        return self.causes.get(name) or CauseRule(name, {})


def load(extra: Sequence[Path] = ()) -> KnowledgeBase:
    """Load the built-in rules and those of the user's own folders.

    A rule of the user's own replaces a built-in one of the same id.

    Raises:
        PatternError: a folder is missing, or holds invalid YAML or rules that cannot be used.
    """
    for folder in extra:
        if not folder.is_dir():
            raise PatternError(
                "no such pattern folder",
                folder,
                "give a folder of the shape that patterns/README.md describes",
            )
    try:
        return _load(tuple(extra))
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        if not extra or os.environ.get("POSTMORTEM_DEBUG"):
            raise
        raise PatternError(
            f"the rules cannot be used: {type(error).__name__}: {error}",
            ", ".join(map(str, extra)),
            "run: postmortem patterns check FOLDER",
        ) from error


@functools.lru_cache(maxsize=4)
def _load(extra: tuple[Path, ...]) -> KnowledgeBase:
    return _build_knowledge_base(load_compiled_rules(extra))


def load_compiled_rules(extra: Sequence[Path] = ()) -> dict[str, Any]:
    """Give the rules as their files hold them, those of the user's own folders included.

    Raises:
        PatternError: a file is no valid YAML.
    """
    built_in = resources.find_compiled_knowledge()
    if built_in is not None and not extra:
        return dict(json.loads(built_in.read_text(encoding="utf-8")))
    return _load_or_compile((resources.find_folder("patterns"), *extra))


def _load_or_compile(folders: tuple[Path, ...]) -> dict[str, Any]:
    """Compile folders once per state of their files."""
    stamp = xxhash.xxh3_128_hexdigest("\n".join([_FORM, *_collect_file_stamps(folders)]).encode())[
        :24
    ]
    known = resources.read_cached("knowledge", stamp)
    try:
        return dict(json.loads(known or b""))
    except ValueError:
        value = _compile_uncached(folders)
    resources.keep("knowledge", stamp, json.dumps(value).encode("ascii"))
    return value


def _compile_uncached(folders: tuple[Path, ...]) -> dict[str, Any]:
    # Only a checkout or own folders come here; a wheel's start does not pay for it.
    from postmortem.rules.compile import compile_folders, strip_examples  # noqa: PLC0415

    own = folders[1:]
    try:
        # Whoever works on rules looks at the examples of those that read logs.
        value = strip_examples(compile_folders(folders), ("anomalies", "conditions", "metrics"))
        if own:
            _build_knowledge_base(value)
    except (KeyError, TypeError, AttributeError, ValueError):
        _reject_malformed(own)
        raise
    _reject_malformed(own)
    return value


def _reject_malformed(folders: Iterable[Path]) -> None:
    """Refuse folders of the user's own with a rule that no run can work with.

    Raises:
        PatternError: the first fault, with file, key and how to mend it.
    """
    for folder in folders:
        # Only folders of the user's own are looked at, and once per state of their files.
        from postmortem.rules.check import find_malformed_rules  # noqa: PLC0415

        for fault in find_malformed_rules(folder):
            raise fault


def _collect_file_stamps(folders: tuple[Path, ...]) -> list[str]:
    stamps = []
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith(".yaml"):
                    # Two thousand files at every start of a checkout: no Path for each.
                    status = os.stat(f"{root}/{name}")  # noqa: PTH116
                    stamps.append(f"{root}/{name}:{status.st_mtime_ns}:{status.st_size}")
    return stamps


def _build_knowledge_base(value: dict[str, Any]) -> KnowledgeBase:
    anomalies = build_anomaly_types(value["anomalies"])
    conditions = Conditions(value["conditions"], anomalies)
    causes = {entry["id"]: build_cause_rule(entry, conditions) for entry in value["causes"]}
    taxonomy = value["taxonomy"]
    signatures = tuple(_build_signature(entry) for entry in value["signatures"])
    return KnowledgeBase(
        version=f"{taxonomy.get('date', 'undated')}+{value['hash']}",
        signatures=signatures,
        by_id={rule.id: rule for rule in signatures},
        formats=tuple(_iter_formats(value)),
        causes={
            cause: causes.get(cause) or CauseRule(cause, {})
            for cause in {**taxonomy["causes"], **causes}
        },
        titles={cause: entry["title"] for cause, entry in taxonomy["causes"].items()},
        precedence=tuple((entry["winner"], entry["loser"]) for entry in taxonomy["precedence"]),
        fixes=build_fix_rules(value["fixes"], conditions),
        stacks=StackRules(map(build_stack_rule, value["stacks"])),
        advisories=tuple(build_advisory(entry, conditions) for entry in value["advisories"]),
        gpus=tuple(value["gpus"]),
        keys=tuple(value["keys"]),
        metrics=MetricTable(value["metrics"]),
        actions=tuple(build_action_rule(row, conditions) for row in value["actions"]),
        anomalies=anomalies,
        exceptions=type_rules(value["exceptions"]),
    )


def _iter_formats(value: Mapping[str, Any]) -> Iterator[Format]:
    """Yield the rules of `formats`, and those that recognise stacks by their files."""
    yield from map(_format, value["formats"])
    yield from (
        _format(rule)
        for file_format in value["stacks"]
        if (rule := build_file_format(file_format)) is not None
    )


def _format(entry: Mapping[str, Any]) -> Format:
    return Format(
        entry["id"],
        _encode_anchors(entry),
        entry["match"],
        entry,
        kind=entry["kind"],
        framework=entry.get("framework", ""),
        enough=entry.get("enough", 0),
    )


def _build_signature(entry: Mapping[str, Any]) -> Signature:
    fatal = entry.get("fatal")
    return Signature(
        entry["id"],
        _encode_anchors(entry),
        entry["match"],
        entry,
        role=entry["role"],
        lines=entry.get("lines", 1),
        suggests=entry.get("suggests") or {},
        group=entry.get("group", "signature"),
        told_by=entry.get("told_by", ""),
        broad=entry.get("broad", False),
        fatal=entry["role"] in {"cause", "consequence"} if fatal is None else fatal,
    )


def _encode_anchors(entry: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(anchor.encode() for anchor in entry["anchors"])
