"""Find what the faulty process itself printed where another one reported the failure.

In: the case, a first failure whose line stands in another's file. Out: the first failure in the
process's own file: its own first error, else its last sign of life; and who told of it. Not here:
which process is at fault (`case.faulty_process`), which failure came first (`case.order`).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message, add_label, cut, quote, say
from postmortem.core.shown import FirstFailure
from postmortem.diagnosis.case.failures import is_consequence
from postmortem.diagnosis.case.reported_process import is_of
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.detectors.signs_of_life import list_lines_before
from postmortem.extraction.facts.moments import compute_seconds_between, iter_timed_lines
from postmortem.rules.traits import Trait, has_trait

_MOST_TEXT: Final = 200
_LAST: Final = say("last sign of life: {text}")
_REPORTED_BY: Final = say("{own} (told by {teller}, line {line}: {why})")


class _OwnLine(NamedTuple):
    """A line of the process at fault."""

    source: int
    line: int
    time: str | None
    text: Message


def find_in_own_log(
    case: Case,
    failure: FirstFailure[Message],
    titles: Callable[[str], Message],
    file: int | None = None,
    *,
    may_be_silent: bool = True,
) -> FirstFailure[Message]:
    """Give the same failure where the process at fault shows it, if it has a file that does.

    Args:
        case: the evidence.
        failure: where another tells of it, with the process that is meant.
        titles: gives the title of a signature.
        file: the process's own log, where it is known by its name.
        may_be_silent: a last sign of life will do. It does not where a launcher tells how its
            child ended: nobody but the child has seen it nearer.
    """
    own = [file] if file is not None else _list_logs(case, failure.where)
    if not own or failure.source in own:
        return failure
    found = min(_iter_own_errors(case, own, titles), key=lambda words: words[:2], default=None)
    if found is None and may_be_silent:
        found = _find_last_sign(case, own, failure.time)
    return failure if found is None else _add_reporter(case, failure, found)


def _add_reporter(
    case: Case, failure: FirstFailure[Message], found: _OwnLine
) -> FirstFailure[Message]:
    """Name the process that reported the failure."""
    reporter = _name(case, failure.source)
    why = _REPORTED_BY.fill(
        own=found.text, teller=reporter, line=failure.line, why=failure.why
    ).settled()
    return replace(failure, source=found.source, line=found.line, time=found.time, why=why)


def _list_logs(case: Case, where: ProcessId) -> list[int]:
    """Name the logs of one process; of a machine, where one process of it has logs."""
    logs = {
        number: source.where
        for number, source in enumerate(case.sources)
        if source.kind in {"log", "notebook"} and source.lines and source.where != NOWHERE
    }
    if named := [number for number, own in logs.items() if is_of(own, where)]:
        return named
    return _list_machine_logs(logs, where)


def _list_machine_logs(logs: Mapping[int, ProcessId], where: ProcessId) -> list[int]:
    """Name the logs of a machine, all of one process: of the one that is meant, or of any."""
    here = [number for number, own in logs.items() if own.node == where.node is not None]
    ranks = {logs[number].rank for number in here}
    return here if len(ranks) == 1 and (where.rank is None or ranks == {None}) else []


def _iter_own_errors(
    case: Case, own: Sequence[int], titles: Callable[[str], Message]
) -> Iterator[_OwnLine]:
    """Yield the errors of the process itself."""
    for event in case.events:
        finding = event.finding
        is_its = finding.source in own and finding.role == "cause" and event.is_fatal
        if is_its and not has_trait(finding.signature, Trait.MET_WHEN_OTHERS_ENDED):
            text = add_label(titles(finding.signature), _cut(finding.text))
            yield _OwnLine(finding.source, finding.line, finding.time, text)
    for raised in case.tracebacks:
        if raised.source in own and not is_consequence(raised):
            text = _cut(f"{raised.exception}: {raised.message}")
            yield _OwnLine(raised.source, raised.exception_line, raised.time, text)


def _find_last_sign(case: Case, own: Sequence[int], reported_at: str | None) -> _OwnLine | None:
    """Find the last line of the training's own file that reports no end.

    A process that goes on while others have given it up has its say before they do.
    """
    extract = case.gathered
    source = max(
        own,
        key=lambda source: (extract.records.get(source, 0), case.sources[source].lines, -source),
    )
    if source not in extract.tails:
        return None
    record = extract.last_record.get(source, (0, 0))[0]
    ends = [
        event.finding.line
        for event in case.events
        if event.finding.source == source
        and event.finding.line > record
        and event.finding.role in {"cause", "consequence"}
    ]
    tail = extract.tails[source]
    later = [
        moment.line
        for moment, _ in iter_timed_lines(tail)
        if reported_at is not None and compute_seconds_between(reported_at, moment.time)
    ]
    end = min([*ends, *later], default=math.inf)
    lines = list_lines_before(end, tail) or list_lines_before(min(ends, default=math.inf), tail)
    if not lines:
        return None
    line, text = lines[-1]
    return _OwnLine(source, line, None, _LAST.fill(text=_cut(text)))


def _cut(text: str) -> Message:
    return quote(cut((text.strip().splitlines() or [""])[0], _MOST_TEXT))


def _name(case: Case, source: int) -> str:
    """Name a file as shortly as tells it from the others."""
    parts = [PurePath(source.path).parts for source in case.sources]
    own = parts[source]
    for count in range(1, len(own) + 1):
        if sum(other[-count:] == own[-count:] for other in parts) == 1:
            return "/".join(own[-count:])
    return case.sources[source].path
