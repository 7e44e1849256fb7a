"""How far the advice is what an expert of the stack would say first.

    python tools/first_actions.py tests/data/first_actions/*.yaml

In: tables of triples: a log as a stack prints it, the acceptable cause, and what an expert of that
stack would do first (fields: `Triple`). Out: shares, and the misses, but for those of the cases
with `part: check`, which are counted only: nobody shall write fixes for them one by one. Not here:
the thresholds (`tests/diagnosis/fixes/test_first_actions.py`).
"""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

import postmortem
from postmortem.core.answer import Fix

SHOWN: Final = 4
"""An action is met if one of the first so many fixes of the first cause names it."""
OTHER_NAMES: Final = {
    "ray-train": {"ray"},
    "ultralytics": {"yolo"},
    "mmengine": {"mmcv"},
    "pytorch": {"torch"},
}
"""The names that reports may give a stack besides its own."""


@dataclass(frozen=True)
class Triple:
    """A log, the stack that prints it, and an expert's first actions."""

    name: str
    stack: str
    backend: str
    cause: str
    """The acceptable answer; `also` where others are as good."""
    log: str
    actions: tuple[tuple[str, ...], ...]
    """Each a list of alternatives, regexes on the text of one fix; empty where nothing is wrong."""
    because: str
    """The page or source that tells it, or a sentence of reasoning."""
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    """Words of other stacks and platforms, which no fix may hold."""
    env: str = ""
    os: str = "linux"
    part: str = ""
    """`check`: a miss is counted and not shown."""


@dataclass(frozen=True)
class Advised:
    """What the program made of a triple's log."""

    triple: Triple
    cause: str
    titles: tuple[str, ...]
    """Of the fixes that count."""
    unmet: tuple[tuple[str, ...], ...]
    forbidden: tuple[str, ...]
    """What of `never` stands in a fix of the first cause."""
    is_recognised: bool
    """The report names the stack."""

    @property
    def is_met(self) -> bool:
        """Every action is in a fix that counts."""
        return not self.unmet

    @property
    def is_right(self) -> bool:
        """The cause is an acceptable one."""
        return self.cause in {self.triple.cause, *self.triple.also}


def triples(paths: Iterable[Path]) -> list[Triple]:
    """Read tables."""
    return [
        _triple(**entry)
        for path in paths
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


def advised(triple: Triple) -> Advised:
    """Let the program read the log."""
    env = [postmortem.Stream("env.txt", triple.env.encode())] if triple.env else []
    report = postmortem.analyze(postmortem.Stream("run.log", triple.log.encode()), env=env)
    first = report.causes[0]
    texts = [_text(fix) for fix in first.fixes]
    names = {triple.stack, *OTHER_NAMES.get(triple.stack, ())}
    return Advised(
        triple,
        first.id,
        tuple(fix.title for fix in first.fixes[:SHOWN]),
        tuple(
            action
            for action in triple.actions
            if not any(_holds(action, text) for text in texts[:SHOWN])
        ),
        tuple(word for word in triple.never if any(_holds([word], text) for text in texts)),
        any(framework["name"] in names for framework in report.to_dict()["frameworks"]),
    )


def share(judged: Sequence[Advised]) -> float:
    """The share of cases where every action is met."""
    return sum(judgement.is_met for judgement in judged) / len(judged) if judged else 1.0


def by(key: Callable[[Advised], str], judged: Iterable[Advised]) -> dict[str, list[Advised]]:
    """Group what was judged."""
    groups = defaultdict(list)
    for judgement in judged:
        groups[key(judgement)].append(judgement)
    return dict(groups)


def _triple(
    actions: Iterable[Iterable[str]],
    also: Iterable[str] = (),
    never: Iterable[str] = (),
    **texts: str,
) -> Triple:
    return Triple(actions=tuple(map(tuple, actions)), also=tuple(also), never=tuple(never), **texts)


def _text(fix: Fix[str]) -> str:
    return f"{fix.title}\n{fix.why}\n{fix.snippet}"


def _holds(words: Iterable[str], text: str) -> bool:
    return any(re.search(word, text, re.IGNORECASE) for word in words)


def _figures(judged: Sequence[Advised]) -> None:
    keys: dict[str, Callable[[Advised], str]] = {
        "all": lambda _: "all",
        "part": lambda one: one.triple.part or "open",
        "cause": lambda one: "right" if one.is_right else "wrong",
        "stack": lambda one: "recognised" if one.is_recognised else "not recognised",
        "backend": lambda one: one.triple.backend,
        "os": lambda one: one.triple.os,
        "": lambda one: one.triple.stack,
    }
    for title, key in keys.items():
        for name, group in sorted(by(key, judged).items()):
            never = sum(bool(judgement.forbidden) for judgement in group)
            right = sum(judgement.is_right for judgement in group)
            met = sum(judgement.is_met for judgement in group)
            print(
                f"{title:8}{name:22}{met:4} of {len(group):4} met {share(group):7.1%}"
                f"   cause right {right:4}   never {never}"
            )


def _miss(advised: Advised) -> None:
    verdict = "right" if advised.is_right else f"for {advised.triple.cause}"
    seen = "" if advised.is_recognised else ", stack not recognised"
    print(f"\n{advised.triple.name} ({advised.triple.stack}): {advised.cause} {verdict}{seen}")
    for action in advised.unmet:
        print(f"  unmet: {' | '.join(action)}")
    for word in advised.forbidden:
        print(f"  never: {word}")
    for title in advised.titles:
        print(f"  shown: {title}")


def main(paths: Sequence[str]) -> None:
    """Print figures and misses."""
    judged = [advised(triple) for triple in triples(map(Path, paths))]
    _figures(judged)
    misses = [judgement for judgement in judged if not judgement.is_met or judgement.forbidden]
    kept = sum(miss.triple.part == "check" for miss in misses)
    for miss in misses:
        if miss.triple.part != "check":
            _miss(miss)
    print(f"\n{len(misses)} misses, {kept} of them of the check part, which are not shown")


if __name__ == "__main__":
    main(sys.argv[1:])
