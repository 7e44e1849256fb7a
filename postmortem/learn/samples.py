"""Labelled logs as input of a model.

In: labelled cases. Out: `SampledLog`s: the case, and the buckets that its text fills. Not here:
finding them (`learn.labelled_logs`), fitting (`learn.fitting`).
"""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.classifier.text_features import (
    TextPassage,
    compute_buckets,
    extract_failure_passages,
)
from postmortem.diagnosis.inference.case_contents import find_active_conditions
from postmortem.diagnosis.inference.verdict import Ranking, rank
from postmortem.extraction.job import read
from postmortem.learn.labelled_logs import LabelledLog
from postmortem.pipeline import get_matcher
from postmortem.reading.opener import open_log
from postmortem.reading.sources import Stream, iter_lines
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_LONGEST: Final = 4000


class SampledLog(NamedTuple):
    """A labelled log that has been read."""

    label: LabelledLog
    case: Case
    ranking: Ranking
    """What the rules alone make of it."""
    filled: dict[int, TextPassage]

    def fold(self, folds: int) -> int:
        """Give the fold of its group: the same in every run."""
        return fold_of(self.label.group, folds)


def fold_of(group: str, folds: int) -> int:
    """Give the fold of a group."""
    return zlib.crc32(group.encode()) % folds


def read_samples(cases: Iterable[LabelledLog], patterns: Sequence[Path] = ()) -> list[SampledLog]:
    """Read labelled logs."""
    machine = get_matcher(tuple(patterns))
    found = []
    for label in cases:
        env = [label.environment] if label.environment is not None else []
        case = build_case(read([label.log], machine, env_files=env), machine.knowledge)
        ranking = rank(case, machine.knowledge)
        found.append(
            SampledLog(label, case, ranking, _compute_case_buckets(case, machine.knowledge))
        )
    return found


def compute_first_half_buckets(
    samples: Iterable[SampledLog], patterns: Sequence[Path] = ()
) -> list[dict[int, TextPassage]]:
    """Give the buckets that the first half of each log fills: of a run in which nothing has failed.

    A log of several files, or of a sound run, has none.
    """
    machine = get_matcher(tuple(patterns))
    found = []
    for sample in samples:
        log = sample.label.log
        if log.is_file() and not has_trait(sample.label.cause, Trait.SOUND):
            half = Stream(log.name, _read_first_half(log))
            case = build_case(read([half], machine), machine.knowledge)
            found.append(_compute_case_buckets(case, machine.knowledge))
    return [buckets for buckets in found if buckets]


def _compute_case_buckets(case: Case, knowledge: KnowledgeBase) -> dict[int, TextPassage]:
    return compute_buckets(extract_failure_passages(case, find_active_conditions(case, knowledge)))


def _read_first_half(log: Path) -> bytes:
    opened = open_log(str(log))
    try:
        lines = list(iter_lines(opened, _LONGEST))
    finally:
        opened.close()
    return "\n".join(lines[: len(lines) // 2]).encode()
