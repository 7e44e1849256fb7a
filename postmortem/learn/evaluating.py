"""Evaluate each way of judging on labelled logs: rules, text, both together, and baselines.

In: labelled cases that were read, a model for each. Out: `JudgedCase`, one a case and way. Not
here: figures (`learn.metrics`), showing them (`page.metrics_page`, `cli`).

With a model that has not seen a case's group for each case, no case is judged by a model trained on
it. One baseline judges as an engineer with grep, without any rule or model: as `grep -iE
'error|exception|nan|oom|…' run.log` is read, from the last hit upwards, the first line with a word
that one knows (`grep_words.yaml`). Nothing is known of tracebacks, processes, order or curves.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import yaml

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.diagnosis.classifier.models import TextModel
from postmortem.diagnosis.classifier.opinion import Opinion
from postmortem.diagnosis.classifier.text_features import TextPassage, compute_buckets
from postmortem.diagnosis.inference.second_opinion import (
    bound_by_evidence,
    combine_opinions,
    compute_text_only_odds,
)
from postmortem.diagnosis.inference.verdict import Ranking
from postmortem.learn.samples import SampledLog
from postmortem.reading.discover import find_candidates
from postmortem.reading.opener import open_log
from postmortem.reading.sources import iter_lines, list_origins
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_LONGEST: Final = 2000
GREP: Final = compile_lazily(
    r"error|exception|fail|killed|abort|fault|denied|refused|timeout|timed out|cancel|preempt"
    r"|no space|quota|out of memory|\boom\b|\bnan\b|\binf\b|nccl|xid",
    re.IGNORECASE,
)


@functools.cache
def words() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Read the words that one searches for, each with the cause that one takes it to mean."""
    rows = yaml.safe_load(Path(__file__).with_name("grep_words.yaml").read_text(encoding="utf-8"))
    return tuple((re.compile(word, re.IGNORECASE), cause) for cause, word in rows)


def find_causes_by_grep(log: Path) -> list[str]:
    """Give what the last lines with a known word stand for, the last of all first."""
    found: dict[str, None] = {}
    for line in _iter_lines(log):
        if GREP.search(line) and (cause := _match_cause(line)) is not None:
            found.pop(cause, None)
            found[cause] = None
    return list(found)[::-1]


def _match_cause(line: str) -> str | None:
    return next((cause for word, cause in words() if word.search(line)), None)


def _iter_lines(log: Path) -> Iterator[str]:
    """Give the lines of a log, or of all files of a job in their order."""
    for candidate in find_candidates(list_origins(str(log))):
        if candidate.skip is not None:
            continue
        try:
            opened = open_log(candidate.origin)
        except InputError:
            continue
        try:
            yield from iter_lines(opened, _LONGEST)
        finally:
            opened.close()


_SPEAKS: Final = 0.0
"""Log-odds of being right from which on the text alone would speak."""


class JudgedCase(NamedTuple):
    """What one way of judging makes of one case."""

    way: str
    cause: str
    right: frozenset[str]
    is_held_out: bool
    first: str
    three: tuple[str, ...]
    verdict: str | None
    probability: float | None
    """None of a way that gives none."""
    source: str = ""
    """Where the case is from: samples | public | composed, or the name of a folder."""

    @property
    def is_hit(self) -> bool:
        """Say whether the first cause is right; of what cannot be known, so is abstaining."""
        is_open = any(has_trait(cause, Trait.UNEXPLAINED) for cause in self.right)
        return self.first in self.right or (self.verdict is None and is_open)


class CaseToJudge(NamedTuple):
    """The input of a way of judging."""

    sample: SampledLog
    model: TextModel | None
    knowledge: KnowledgeBase


class Guess(NamedTuple):
    """What it says: causes, the likeliest first, the one that it would name, how sure it is."""

    causes: tuple[str, ...]
    verdict: str | None
    probability: float | None


def _guess_by_rules(case: CaseToJudge) -> Guess:
    return _guess_from_ranking(case.sample.ranking)


def _guess_by_text(case: CaseToJudge) -> Guess | None:
    return None if case.model is None else _guess_from_text(case.model, case.sample.filled)


def _guess_by_evidence(case: CaseToJudge) -> Guess | None:
    if case.model is None:
        return None
    return _guess_from_ranking(bound_by_evidence(case.sample.ranking, case.model.evidence))


def _guess_by_all(case: CaseToJudge) -> Guess | None:
    if case.model is None:
        return None
    sample, opinion = case.sample, _build_opinion(case.model, case.sample.filled)
    return _guess_from_ranking(
        combine_opinions(sample.case, case.knowledge, sample.ranking, lambda: opinion)
    )


def _guess_by_last_error(case: CaseToJudge) -> Guess | None:
    return (
        None
        if case.model is None
        else _guess_from_text(case.model, _select_last_error(case.sample))
    )


def _guess_by_grep(case: CaseToJudge) -> Guess:
    causes = find_causes_by_grep(case.sample.label.log)
    return Guess(tuple(causes[:3]), causes[0] if causes else None, None)


WAYS: Final[Mapping[str, Callable[[CaseToJudge], Guess | None]]] = MappingProxyType(
    {
        "rules": _guess_by_rules,
        "text": _guess_by_text,
        "evidence": _guess_by_evidence,
        "all": _guess_by_all,
        "grep": _guess_by_grep,
        "last error line": _guess_by_last_error,
    }
)
"""Ways of judging by name; one that gives nothing needs a model that is not there."""


def evaluate_cases(
    pairs: Iterable[tuple[SampledLog, TextModel | None]], knowledge: KnowledgeBase
) -> Iterator[JudgedCase]:
    """Judge each decidable case in every way; the rows of a case stand together."""
    for sample, model in pairs:
        if not sample.label.is_decidable:
            continue
        case = CaseToJudge(sample, model, knowledge)
        for way, judge in WAYS.items():
            guess = judge(case)
            if guess is not None:
                yield _build_row(way, sample, guess)


def _build_row(way: str, sample: SampledLog, guess: Guess) -> JudgedCase:
    label = sample.label
    return JudgedCase(
        way,
        label.cause,
        label.right,
        label.is_held_out,
        guess.causes[0] if guess.causes else "",
        guess.causes[:3],
        guess.verdict,
        guess.probability,
        label.origin,
    )


def _build_opinion(model: TextModel, filled: dict[int, TextPassage]) -> Opinion:
    return Opinion(model, model.shares(filled) if filled else {}, filled)


def _select_last_error(sample: SampledLog) -> dict[int, TextPassage]:
    """Give what the last telling line alone fills."""
    lines = [
        passage
        for passage in sample.filled.values()
        if passage.line is not None and passage.kind in {"telling", "message"}
    ]
    last = max(lines, key=lambda passage: (passage.source or 0, passage.line or 0), default=None)
    return compute_buckets([last]) if last is not None else {}


def _guess_from_ranking(ranking: Ranking) -> Guess:
    names = tuple(cause.id for cause in ranking.causes)
    return Guess(names, ranking.verdict.cause, ranking.causes[0].probability)


def _guess_from_text(model: TextModel, filled: dict[int, TextPassage]) -> Guess:
    opinion = _build_opinion(model, filled)
    if not opinion.shares:
        return Guess((), None, 0.0)
    names = sorted(opinion.shares, key=lambda cause: -opinion.shares[cause])[:3]
    odds = compute_text_only_odds(opinion, names[0])
    verdict = names[0] if odds >= _SPEAKS else None
    return Guess(tuple(names), verdict, 1.0 / (1.0 + math.exp(-odds)))
