"""Find what ended nothing: errors that recur while training goes on, and noise of a shutdown.

In: findings and tracebacks of the last attempt, where a source says that the run is through. Out:
the places of the findings that count for nothing. Not here: tracebacks (`case.survived_errors`),
records that follow a single finding (`case.failures`).

A sample that cannot be read, said nine times with training behind eight of them, did not end the
run at the ninth. And whoever stops the processes of a run that is through stops no run.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.findings import Finding, Traceback
from postmortem.core.lines import ProcessId
from postmortem.diagnosis.case.attempts import START
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.extraction.trailing_context import gives_up, goes_on, is_handled
from postmortem.reading.windows import is_same_process
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait

_OFTEN: Final = 3
"""Times that the run has gone on behind the same before it is taken for its habit."""
_FAR, _FAR_BEHIND_WARNING = 400, 100
"""Lines behind words of an error, and behind a warning, beyond which a run that they ended says
nothing more."""
_PROSE: Final = 400
"""Characters of a line without a level that is no message: a sample, a document, an answer."""
_THROUGH: Final = "closing-words"
_BAR_AT_ZERO: Final = "context.bar-at-zero"
Place = tuple[int, int]
"""A source and a byte offset."""


def find_nonfatal(
    seen: Sequence[Sighting],
    tracebacks: Iterable[tuple[Traceback, int]],
    extract: Extract,
    rules: Mapping[str, Signature],
    known: Mapping[str, Anomaly],
    ends: Mapping[int, int],
) -> frozenset[Place]:
    """Name the findings that ended nothing.

    Args:
        seen: the findings.
        tracebacks: each with the number of records before it.
        extract: tells how many records there are beside them.
        rules: signatures by id.
        known: the shapes by id.
        ends: the line, by source, at which a process says that its run is through.
    """
    uncaught = [traceback for traceback, _ in tracebacks]
    survived = [
        *_find_repeatedly_survived(seen, extract, rules),
        *_iter_handled(seen, extract, ends),
        *_iter_far_from_end(seen, extract, rules),
    ]
    usual = {_place(finding) for finding in survived if not _is_within(finding, uncaught)}
    return frozenset(
        usual | {_place(finding) for finding in _find_shutdown_noise(seen, extract, known)}
    )


def _place(finding: Finding) -> Place:
    return finding.source, finding.offset


def _find_repeatedly_survived(
    seen: Iterable[Sighting], extract: Extract, rules: Mapping[str, Signature]
) -> Iterator[Finding]:
    """Yield what was survived several times, the last times included.

    No process survives the signal that ends it: records behind that are of another start.
    """
    same: dict[tuple[str, int, ProcessId], list[Sighting]] = defaultdict(list)
    for sighting in seen:
        signature = sighting.finding.signature
        is_end = has_trait(signature, Trait.ENDS_THE_JOB) or has_trait(
            signature, Trait.NATIVE_CRASH
        )
        if sighting.finding.role == "cause" and rules[signature].fatal and not is_end:
            same[signature, sighting.finding.source, sighting.finding.where].append(sighting)
    for (_, source, where), group in same.items():
        count = extract.count_records_of(source, where)
        survived = sorted({count - sighting.records_before for sighting in group}, reverse=True)
        if sum(left >= SURVIVED_RECORDS for left in survived) >= _OFTEN:
            yield from (sighting.finding for sighting in group)


def _iter_handled(
    seen: Iterable[Sighting], extract: Extract, ends: Mapping[int, int]
) -> Iterator[Finding]:
    """Yield errors that were handled: the run completed, began or trained on after them."""
    begun = _find_last_lines(seen, START)
    for sighting in seen:
        finding = sighting.finding
        if finding.role != "cause" or not _may_be_handled(finding):
            continue
        behind = count_records_after(extract, finding, sighting.records_before)
        is_through = ends.get(finding.source, 0) > finding.line
        is_between = sighting.records_before > 0 and behind > 0
        is_survived = is_through and (is_between or is_handled(finding.text, finding.level))
        is_quiet = finding.level in {"", *QUOTED} and goes_on(finding.text)
        is_quiet |= finding.line < begun.get(finding.source, 0)
        if is_survived or (is_quiet and behind):
            yield finding


def _may_be_handled(finding: Finding) -> bool:
    """Say whether an error may be handled: no value is, nor what a program gives up on."""
    is_of_values = has_trait(finding.signature, Trait.ABOUT_VALUES) and not goes_on(finding.text)
    return not is_of_values and not gives_up(finding.text, finding.level)


def _iter_far_from_end(
    seen: Sequence[Sighting], extract: Extract, rules: Mapping[str, Signature]
) -> Iterator[Finding]:
    """Yield what only words show far before the end of a log and before any failure it reports.

    That is what broad rules find, and an error that is quoted in a warning.
    """
    reported: dict[int, list[int]] = defaultdict(list)
    words = []
    for finding in (sighting.finding for sighting in seen):
        rule = rules[finding.signature]
        is_quoted = rule.fatal and finding.level in QUOTED
        if rule.broad or is_quoted:
            words.append((finding, _FAR_BEHIND_WARNING if is_quoted else _FAR))
        elif finding.role in {"cause", "consequence"}:
            reported[finding.source].append(finding.line)
    for finding, far in words:
        behind = extract.lines.get(finding.source, 0) - finding.end_line
        is_prose = not finding.level and len(finding.text) >= _PROSE
        if is_prose or (behind >= far and not _is_before(finding, reported[finding.source], far)):
            yield finding


def _is_before(finding: Finding, lines: Iterable[int], far: int) -> bool:
    """Say whether one of some lines stands less than so many behind a finding."""
    return any(0 <= line - finding.line < far for line in lines)


def _find_last_lines(seen: Iterable[Sighting], signatures: str | tuple[str, ...]) -> dict[int, int]:
    """Give the last line of each source at which one of some signatures is found."""
    found = (one.finding for one in seen if one.finding.signature.startswith(signatures))
    return {finding.source: finding.line for finding in found}


def _is_within(finding: Finding, tracebacks: Iterable[Traceback]) -> bool:
    """Say whether a finding is part of an exception that nobody caught."""
    return any(
        traceback.source == finding.source
        and traceback.line <= finding.line <= traceback.end_line
        and is_same_process(finding.where, traceback.where)
        for traceback in tracebacks
    )


def _find_shutdown_noise(
    seen: Sequence[Sighting], extract: Extract, known: Mapping[str, Anomaly]
) -> Iterator[Finding]:
    """Yield what the processes print when they are stopped behind the end of the run.

    A signal behind something that has begun since stopped that.
    """
    ends = {
        sighting.finding.source: sighting.finding.line
        for sighting in seen
        if has_trait(sighting.finding.signature, Trait.SOUND)
        and sighting.finding.line > extract.last_record.get(sighting.finding.source, (0, 0))[0]
    }
    if _THROUGH in known:
        ends.setdefault(known[_THROUGH].source, known[_THROUGH].line)
    begun = _find_last_lines(seen, (START, _BAR_AT_ZERO))
    for finding in (sighting.finding for sighting in seen):
        end = ends.get(finding.source, finding.line)
        is_of_next = end < begun.get(finding.source, 0) < finding.line
        is_next_ended = is_of_next and has_trait(finding.signature, Trait.ENDS_THE_JOB)
        is_noise = has_trait(finding.signature, Trait.TAKE_DOWN) and not is_next_ended
        if finding.line > end and is_noise:
            yield finding
