"""The knowledge base as typed rules, ready for a run.

In: the JSON compiled into the wheel; in a checkout, or with folders of the user's own, the YAML
itself (compiled once and cached). Out: `KnowledgeBase`. Not here: checking rules
(`knowledge.check`): a run trusts what the check has passed.
"""

import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import xxhash

from postmortem import resources
from postmortem.errors import PatternError
from postmortem.knowledge.causes import Advisory, CauseRule, FixRule, advisory, cause_rule, fix_rule
from postmortem.knowledge.conditions import Conditions
from postmortem.knowledge.engine import LITTLE, Budget, Match, Pattern, compiled
from postmortem.knowledge.exception_rules import Advice, ExceptionRule, advice, type_rules
from postmortem.knowledge.stack_rules import StackRules, sighting, stack
from postmortem.model.said import Said, both, quote

_FORM: Final = "packed stacks, exceptions"
"""What the cached form is like: one that an earlier program kept is not taken for it."""
BESIDE: Final = 200
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
                self._compiled.append(self._in_its_room(self.match))
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
        if found is None or self._is_another(text, budget):
            return None
        return found if self._is_in_company(found, budget) else None

    def finditer(self, text: str, budget: Budget | None = None) -> Iterable[Match]:
        """Find all matches in a window; where `unless` matches, none.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        return () if self._is_another(text, budget) else self.pattern().finditer(text, budget)

    def _is_another(self, text: str, budget: Budget | None) -> bool:
        unless: str | None = self.raw.get("unless") or None
        return unless is not None and self._in_its_room(unless).search(text, budget) is not None

    def _in_its_room(self, pattern: str) -> Pattern:
        """Compile a pattern, of words in little room."""
        return compiled(pattern, LITTLE) if self.raw.get("broad") else compiled(pattern)

    def _is_in_company(self, found: Match, budget: Budget | None) -> bool:
        """Say whether each of `beside` stands near a match, on either side of it or within it."""
        words = self.raw.get("beside")
        if not words:
            return True
        near = found.string[max(0, found.start() - BESIDE) : found.end() + BESIDE]
        return all(self._in_its_room(word).search(near, budget) is not None for word in words)


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
    def title(self) -> Said:
        """What the signature means."""
        return both(self.raw["title"])

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
    exceptions: tuple[ExceptionRule, ...] = ()
    """What exceptions mean, those that are asked first in front."""

    def title(self, cause: str) -> Said:
        """Give a cause's title; an unknown id stands for itself."""
        known = self.titles.get(cause)
        return quote(cause) if known is None else both(known)

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
    return _typed(compiled_rules(extra))


def compiled_rules(extra: Sequence[Path] = ()) -> dict[str, Any]:
    """Give the rules as their files hold them, those of the user's own folders included.

    Raises:
        PatternError: a file is no valid YAML.
    """
    built_in = resources.compiled()
    if built_in is not None and not extra:
        return dict(json.loads(built_in.read_text(encoding="utf-8")))
    return _cached((resources.folder("patterns"), *extra))


def _cached(folders: tuple[Path, ...]) -> dict[str, Any]:
    """Compile folders once per state of their files."""
    stamp = xxhash.xxh3_128_hexdigest("\n".join([_FORM, *_stamps(folders)]).encode())[:24]
    known = resources.recall("knowledge", stamp)
    try:
        return dict(json.loads(known or b""))
    except ValueError:
        value = _compiled_anew(folders)
    resources.keep("knowledge", stamp, json.dumps(value).encode("ascii"))
    return value


def _compiled_anew(folders: tuple[Path, ...]) -> dict[str, Any]:
    # Only a checkout or own folders come here; a wheel's start does not pay for it.
    from postmortem.knowledge.compile import compile_folders, for_a_run  # noqa: PLC0415

    own = folders[1:]
    try:
        # Whoever works on rules looks at the examples of those that read logs.
        value = for_a_run(compile_folders(folders), ("conditions",))
        if own:
            _typed(value)
    except (KeyError, TypeError, AttributeError, ValueError):
        _refuse_malformed(own)
        raise
    _refuse_malformed(own)
    return value


def _refuse_malformed(folders: Iterable[Path]) -> None:
    """Refuse folders of the user's own with a rule that no run can work with.

    Raises:
        PatternError: the first fault, with file, key and how to mend it.
    """
    for folder in folders:
        # Only folders of the user's own are looked at, and once per state of their files.
        from postmortem.knowledge.check import malformed  # noqa: PLC0415

        for fault in malformed(folder):
            raise fault


def _stamps(folders: tuple[Path, ...]) -> list[str]:
    stamps = []
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith(".yaml"):
                    # Two thousand files at every start of a checkout: no Path for each.
                    status = os.stat(f"{root}/{name}")  # noqa: PTH116
                    stamps.append(f"{root}/{name}:{status.st_mtime_ns}:{status.st_size}")
    return stamps


def _typed(value: dict[str, Any]) -> KnowledgeBase:
    conditions = Conditions(value["conditions"])
    causes = {entry["id"]: cause_rule(entry, conditions) for entry in value["causes"]}
    taxonomy = value["taxonomy"]
    signatures = tuple(_signature(entry) for entry in value["signatures"])
    return KnowledgeBase(
        version=f"{taxonomy.get('date', 'undated')}+{value['hash']}",
        signatures=signatures,
        by_id={rule.id: rule for rule in signatures},
        formats=tuple(_formats(value)),
        causes={
            cause: causes.get(cause) or CauseRule(cause, {})
            for cause in {**taxonomy["causes"], **causes}
        },
        titles={cause: entry["title"] for cause, entry in taxonomy["causes"].items()},
        precedence=tuple((entry["winner"], entry["loser"]) for entry in taxonomy["precedence"]),
        fixes=tuple(fix_rule(entry, conditions) for entry in value["fixes"]),
        stacks=StackRules(map(stack, value["stacks"])),
        advisories=tuple(advisory(entry, conditions) for entry in value["advisories"]),
        gpus=tuple(value["gpus"]),
        keys=tuple(value["keys"]),
        exceptions=type_rules(value["exceptions"]),
    )


def _formats(value: Mapping[str, Any]) -> Iterator[Format]:
    """Yield the rules of `formats`, and those that recognise stacks by their files."""
    yield from map(_format, value["formats"])
    yield from (_format(rule) for one in value["stacks"] if (rule := sighting(one)) is not None)


def _format(entry: Mapping[str, Any]) -> Format:
    return Format(
        entry["id"],
        _anchors(entry),
        entry["match"],
        entry,
        kind=entry["kind"],
        framework=entry.get("framework", ""),
        enough=entry.get("enough", 0),
    )


def _signature(entry: Mapping[str, Any]) -> Signature:
    fatal = entry.get("fatal")
    return Signature(
        entry["id"],
        _anchors(entry),
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


def _anchors(entry: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(anchor.encode() for anchor in entry["anchors"])
