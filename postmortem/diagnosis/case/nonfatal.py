"""Find what ended nothing: recurring errors, noise of a shutdown, exceptions that only echo others.

In: findings and tracebacks of the last attempt, where a source says that the run is through. Out:
the places of the findings that count for nothing; the tracebacks that only forward another one, and
the lines that name their exception; those that an interrupt from the keyboard brought about. Not
here: tracebacks that the run survived (`case.survived_errors`), records that follow a single
finding (`case.failures`), other stops (`case.order`).

A sample that cannot be read, said nine times with training behind eight of them, did not end the
run at the ninth. And whoever stops the processes of a run that is through stops no run.

A data loader, a pool, an actor or whoever reads the output of a child raises an exception of its
own whose message is the traceback of the real one; an exception group lists its members; and what a
pool or a future raises again is chained to the traceback of the worker that raised it first.

Ctrl-C reaches every process of a terminal. What reads from one that has left, a thread that pins
memory or a pool, finds the other end of its pipe gone, often before the main thread has printed the
interrupt itself.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.findings import Finding, ProcessId, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.diagnosis.case.attempts import START
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS
from postmortem.diagnosis.detectors.observed import Anomaly
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.extraction.trailing_context import gives_up, goes_on, is_handled
from postmortem.reading.windows import is_same_process
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import Trait, has_trait

Place = tuple[int, int]
_HANDS_ON: Final = compile_lazily(
    r"(?:ExceptionGroup|ProcessRaisedException|RemoteTraceback|RayTaskError(?:\(\w+\))?)$"
)
_MOST_BETWEEN: Final = 4
"""Lines between an exception's class and the traceback that its message quotes."""
_MOST_CHAINED: Final = 6
"""Lines between a traceback and one that is chained to it."""


def forwarding(tracebacks: Iterable[tuple[Traceback, int]]) -> dict[Place, Place]:
    """Give the tracebacks that hand on another one: source and offset of both."""
    ordered = sorted(
        (traceback for traceback, _ in tracebacks),
        key=lambda traceback: (traceback.source, traceback.offset),
    )
    return dict(_iter_pairs(ordered))


def _iter_pairs(ordered: Sequence[Traceback]) -> Iterator[tuple[Place, Place]]:
    for outer, inner in itertools.pairwise(ordered):
        if not (outer.source == inner.source and is_same_process(outer.where, inner.where)):
            continue
        if _is_quoting(outer, inner):
            yield _place(outer), _place(inner)
        elif _is_raising_again(inner, outer):
            yield _place(inner), _place(outer)


def _is_quoting(outer: Traceback, inner: Traceback) -> bool:
    """Say whether the message of an exception is the traceback of another one."""
    is_on_line = inner.line == outer.exception_line
    is_behind = 0 < inner.line - outer.exception_line <= _MOST_BETWEEN
    is_near = is_on_line or is_behind or outer.exception_line < inner.line <= outer.end_line
    is_quoted = (
        is_on_line
        or inner.wrapped
        or outer.message.rstrip().endswith(":")
        or _HANDS_ON.search(outer.exception) is not None
    )
    return bool(outer.exception) and not inner.chained and is_near and is_quoted


def _is_raising_again(later: Traceback, first: Traceback) -> bool:
    """Say whether an exception is that of the traceback before it, which it is chained to."""
    return (
        later.chained
        and later.line - first.end_line <= _MOST_CHAINED
        and _get_words(later) == _get_words(first)
    )


def _get_words(traceback: Traceback) -> tuple[str, str]:
    return traceback.exception.rpartition(".")[2], (traceback.message.splitlines() or [""])[
        0
    ].strip()


def _place(event: Finding | Traceback) -> Place:
    return event.source, event.offset


_INTERRUPT: Final = "KeyboardInterrupt"
_PEER_GONE: Final = (
    "ConnectionResetError",
    "ConnectionRefusedError",
    "ConnectionAbortedError",
    "BrokenPipeError",
    "EOFError",
    "FileNotFoundError",
)
"""What a process meets whose partner has left; a socket in a folder is then a missing file."""
_BETWEEN_PROCESSES: Final = compile_lazily(
    r"(?:^|[/\\])(?:multiprocessing|concurrent[/\\]futures|asyncio)[/\\]\w+\.py$"
)
_NEAR: Final = 80
"""Lines between both, tracebacks of other helpers among them."""


def find_interrupted(tracebacks: Iterable[tuple[Traceback, int]]) -> list[Traceback]:
    """List the exceptions that an interrupt from the keyboard explains."""
    every = [traceback for traceback, _ in tracebacks]
    interrupts = [found for found in every if found.exception.endswith(_INTERRUPT)]
    return [
        met
        for met in every
        if interrupts and _is_peer_gone(met) and any(_is_near(met, one) for one in interrupts)
    ]


def _is_peer_gone(traceback: Traceback) -> bool:
    """Say whether a connection between processes was found without its other end."""
    inner = traceback.raising_frame()
    return (
        traceback.exception.endswith(_PEER_GONE)
        and traceback.own_frame() is None
        and inner is not None
        and _BETWEEN_PROCESSES.search(inner.file) is not None
    )


def _is_near(met: Traceback, interrupt: Traceback) -> bool:
    behind = interrupt.line - met.end_line
    return met.source == interrupt.source and -_NEAR <= behind <= _NEAR


_OFTEN: Final = 3
"""Times that the run has gone on behind the same before it is taken for its habit."""
_FAR, _FAR_BEHIND_WARNING = 400, 100
"""Lines behind words of an error, and behind a warning, beyond which a run that they ended says
nothing more."""
_PROSE: Final = 400
"""Characters of a line without a level that is no message: a sample, a document, an answer."""
_THROUGH: Final = "closing-words"
_BAR_AT_ZERO: Final = "context.bar-at-zero"


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
