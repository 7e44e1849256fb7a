"""Judge causes by a replay's observations (`verdicts.yaml`); weigh the verdicts for the ranking.

In: observations; a `Replayed`. Out: a verdict for each cause (`judge_causes`); pairs for
`rank(extra=…)` (`iter_evidence`); the same value with titles for a report (`fill_titles`). Not
here: observing (`rerun.baseline_run`), ranking. No torch: the pipeline imports this.

At most one cause is confirmed, the narrowest first: a poisoned sample also stays finite in float32,
a broken weight also at a lower rate. A row holds if all its words were observed; a missing one
proves nothing, so lack of time or a trial that could not be run never confirms or refutes.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from postmortem.core.answer import Evidence
from postmortem.core.diagnosis import CauseTested, Replayed
from postmortem.core.message import NOTHING, SEMICOLON, Message, join_list, parse_bilingual, say

CONFIRMED, REFUTED = "confirmed", "refuted"
NOT_REPRODUCED, NOT_TESTABLE = "not-reproduced", "not-testable"


class VerdictRow(NamedTuple):
    """What proves or disproves a cause."""

    cause: str
    verdict: str
    words: tuple[str, ...]
    """All of them must have been seen; one with `!` must not, by a trial that ran to its end."""
    because: Message


class Judged(NamedTuple):
    """One cause, and why."""

    cause: str
    verdict: str
    because: Message


class Judgeable(NamedTuple):
    """A cause that replay can judge."""

    id: str
    otherwise: Message | None = None
    """What is said where no row of the table holds."""
    is_intermittent: bool = False
    """A failure that does not come again speaks for it."""


@functools.cache
def _read_table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(
        Path(__file__).with_name("verdicts.yaml").read_text(encoding="utf-8")
    )
    return table


@functools.cache
def causes() -> tuple[Judgeable, ...]:
    """Read the causes that replay judges, the narrowest first."""
    table = _read_table()
    return tuple(
        Judgeable(
            row["id"],
            parse_bilingual(table["texts"][row["otherwise"]]) if "otherwise" in row else None,
            row.get("intermittent", False),
        )
        for row in table["causes"]
    )


@functools.cache
def read_verdict_rows() -> tuple[VerdictRow, ...]:
    """Read what proves or disproves each cause."""
    table = _read_table()
    texts = {name: parse_bilingual(text) for name, text in table["texts"].items()}
    return tuple(
        VerdictRow(row["cause"], row["verdict"], tuple(row["seen"].split()), texts[row["because"]])
        for row in table["rows"]
    )


_UNSURE: Final = say("the trials that were run do not decide")
_EXPLAINED: Final = say("another cause explains it already")


def judge_causes(words: frozenset[str]) -> Iterator[Judged]:
    """Give a verdict for every cause."""
    confirmed = next(
        filter(None, (_find_row(cause.id, words, CONFIRMED) for cause in causes())), None
    )
    seen = words | {"explained"} if confirmed is not None else words
    for cause in causes():
        is_it = confirmed is not None and confirmed.cause == cause.id
        row = confirmed if is_it else _find_row(cause.id, seen, REFUTED)
        if row is not None:
            yield Judged(cause.id, row.verdict, row.because)
        else:
            otherwise = _UNSURE if confirmed is None else _EXPLAINED
            yield Judged(cause.id, NOT_TESTABLE, cause.otherwise or otherwise)


def judge_all_alike(verdict: str, because: Message = NOTHING) -> Iterator[Judged]:
    """Give every cause the same verdict: nothing failed, or it did not fail again."""
    for cause in causes():
        yield Judged(cause.id, verdict, because)


def _find_row(cause: str, seen: frozenset[str], verdict: str) -> VerdictRow | None:
    return next(
        (
            row
            for row in read_verdict_rows()
            if (row.cause, row.verdict) == (cause, verdict)
            and all(_holds(word, seen) for word in row.words)
        ),
        None,
    )


def _holds(word: str, seen: frozenset[str]) -> bool:
    """Say whether a condition holds; a trial that was not decided denies nothing."""
    if word[0] != "!":
        return word in seen
    trial, is_trial, _ = word[1:].partition(":")
    undecided = {f"{trial}:error", f"{trial}:stopped"} if is_trial else set()
    return not seen & {word[1:], *undecided}


CONFIRMING: Final = 10.0
"""Log-odds: more than all that a log can say."""
_REFUTING: Final = -6.0
_INTERMITTENT: Final = 0.7


def iter_evidence(found: Replayed[Message]) -> Iterator[tuple[str, Evidence[Message]]]:
    """Yield evidence for or against each tested cause."""
    for cause in found.tested:
        weight = _get_weight(cause)
        if weight:
            yield cause.cause, _build_item(cause, weight)


def _get_weight(tested: CauseTested[Message]) -> float:
    if tested.verdict == "confirmed":
        return CONFIRMING
    if tested.verdict == "refuted":
        return _REFUTING
    intermittent = {cause.id for cause in causes() if cause.is_intermittent}
    is_one = tested.verdict == "not-reproduced" and tested.cause in intermittent
    return _INTERMITTENT if is_one else 0.0


def _build_item(tested: CauseTested[Message], weight: float) -> Evidence[Message]:
    texts = {
        "confirmed": say("confirmed by replay"),
        "refuted": say("refuted by replay"),
    }.get(tested.verdict, say("not reproduced by replay"))
    because = join_list(list(tested.reasons), SEMICOLON)
    text = say("{said}: {because}", said=texts, because=because)
    return Evidence("replay", f"replay.{tested.verdict}", "replay", text, weight)


def fill_titles(found: Replayed[Message], title: Callable[[str], Message]) -> Replayed[Message]:
    """Give each cause its title."""
    return replace(
        found, tested=tuple(replace(cause, title=title(cause.cause)) for cause in found.tested)
    )
