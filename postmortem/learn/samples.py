"""Labelled logs as a model sees them.

In: labelled cases. Out: `Sampled` ones: the case, and the buckets that its text fills. Not here:
finding them (`learn.labelled`), fitting (`learn.fitting`).
"""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.case.build import case_of
from postmortem.case.values import Case
from postmortem.classify.failing_text import Saying, said_at_failure
from postmortem.classify.hashed_words import buckets
from postmortem.gathering.job import read
from postmortem.inference.circumstances import holding
from postmortem.inference.verdict import Ranking, rank
from postmortem.knowledge.base import KnowledgeBase
from postmortem.knowledge.traits import Trait, has_trait
from postmortem.learn.labelled import Labelled
from postmortem.pipeline import machine_for
from postmortem.reading.opener import open_log
from postmortem.reading.readable import lines_of
from postmortem.reading.sources import Stream

_LONGEST: Final = 4000


class Sampled(NamedTuple):
    """A labelled log that has been read."""

    label: Labelled
    case: Case
    ranking: Ranking
    """What the rules alone make of it."""
    filled: dict[int, Saying]

    def fold(self, folds: int) -> int:
        """Give the fold of its group: the same in every run."""
        return fold_of(self.label.group, folds)


def fold_of(group: str, folds: int) -> int:
    """Give the fold of a group."""
    return zlib.crc32(group.encode()) % folds


def sampled(cases: Iterable[Labelled], patterns: Sequence[Path] = ()) -> list[Sampled]:
    """Read labelled logs."""
    machine = machine_for(tuple(patterns))
    found = []
    for label in cases:
        env = [label.environment] if label.environment is not None else []
        case = case_of(read([label.log], machine, env_files=env), machine.knowledge)
        ranking = rank(case, machine.knowledge)
        found.append(Sampled(label, case, ranking, _filled(case, machine.knowledge)))
    return found


def beginnings(
    samples: Iterable[Sampled], patterns: Sequence[Path] = ()
) -> list[dict[int, Saying]]:
    """Give the buckets that the first half of each log fills: of a run in which nothing has failed.

    A log of several files, or of a sound run, has none.
    """
    machine = machine_for(tuple(patterns))
    found = []
    for sample in samples:
        log = sample.label.log
        if log.is_file() and not has_trait(sample.label.cause, Trait.SOUND):
            half = Stream(log.name, _first_half(log))
            case = case_of(read([half], machine), machine.knowledge)
            found.append(_filled(case, machine.knowledge))
    return [one for one in found if one]


def _filled(case: Case, knowledge: KnowledgeBase) -> dict[int, Saying]:
    return buckets(said_at_failure(case, holding(case, knowledge)))


def _first_half(log: Path) -> bytes:
    opened = open_log(str(log))
    try:
        lines = list(lines_of(opened, _LONGEST))
    finally:
        opened.close()
    return "\n".join(lines[: len(lines) // 2]).encode()
