"""List what may have ended the run: fatal findings, and tracebacks that no signature explains.

In: findings and tracebacks of all sources, how many records followed each. Out: `Failure`s, in no
order yet, each in the process that it belongs to: that of an exception that another process prints
(collected, sent back, raised again) is the one that a line above names. Not here: which of them
came first, who tells of a failure in other words (`case.order`), which process is meant by the
first failure (`case.faulty_process`), what each of the other findings is still worth
(`case.relevance`).

A failure that the run survived is none: records follow it, or it was logged below ERROR by whoever
caught it while something else failed.
"""

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId, Traceback
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.extraction.trailing_context import CAUGHT
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import Trait, has_trait

NAMED: Final = "context.exception-of-another"
_BELOW: Final = 2
"""Lines below the one that names a process, within which its traceback begins."""


def build_process_lookup(
    seen: Iterable[Sighting], tracebacks: Iterable[tuple[Traceback, int]]
) -> Callable[[int, int], ProcessId]:
    """Give a function from a source and a line to the process whose exception stands there.

    It gives `NOWHERE` where a process speaks for itself, or where nothing tells.
    """
    named: dict[int, list[Finding]] = defaultdict(list)
    for sighting in seen:
        if sighting.finding.signature == NAMED:
            named[sighting.finding.source].append(sighting.finding)
    spans: dict[int, list[tuple[int, int, ProcessId]]] = defaultdict(list)
    for traceback, _ in tracebacks if named else ():
        for finding in named.get(traceback.source, ()):
            if finding.line <= traceback.line <= finding.line + _BELOW:
                span = (traceback.line, traceback.end_line, _find_process(finding))
                spans[traceback.source].append(span)

    def find_process(source: int, line: int) -> ProcessId:
        known = sorted(spans.get(source, ()))
        index = bisect.bisect_right(known, line, key=lambda span: span[0]) - 1
        return known[index][2] if index >= 0 and line <= known[index][1] else NOWHERE

    return find_process


def _find_process(finding: Finding) -> ProcessId:
    """Read the process off a line that names one."""
    return ProcessId(
        parse_whole_number(finding.capture("rank")),
        parse_whole_number(finding.capture("local_rank")),
        finding.capture("node"),
        parse_whole_number(finding.capture("pid")),
    )


SURVIVED_RECORDS: Final = 3
BUFFERED_RECORDS: Final = 20
_NEAR: Final = 8
"""Lines behind a traceback within which the next one begins that has torn it."""
QUOTED: Final = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING", CAUGHT})
CONSEQUENCE_EXCEPTIONS: Final = (
    "ChildFailedError",
    "CalledProcessError",
    "SignalException",
    "ProcessExitedException",
    "BrokenProcessPool",
    "KeyboardInterrupt",
    "SystemExit",
)
_RUNS_TOOL: Final = compile_lazily(
    r"Command (?!\W{0,3}(?:\S*[/\\])?(?:python|torchrun|accelerate|deepspeed|colossalai|mpi\w*|srun"
    r"|sbatch|ba?sh|conda|docker|ninja|nvcc|cmake|make|gcc|g\+\+|cl|which|where)\b)"
)
"""A command that is no other part of the run, and no build."""
_MAX_TEXT: Final = 160


class Failure(NamedTuple):
    """An event that ends a run.

    A fatal finding of role cause, or a traceback that no signature explains.
    """

    source: int
    line: int
    offset: int
    time: str | None
    end_line: int
    finding: Finding | None
    traceback: Traceback | None
    reported_process: ProcessId = NOWHERE
    """The process whose exception another one prints."""

    @property
    def where(self) -> ProcessId:
        """The process, as far as it is printed."""
        reporter = self.finding or self.traceback
        return NOWHERE if reporter is None else reporter.where

    @property
    def kind(self) -> str:
        """What failed: the signature or the exception, wherever it stands."""
        if self.finding is not None:
            return self.finding.signature
        return "" if self.traceback is None else self.traceback.exception

    def format_line(self) -> str:
        """Give what a copy of it in another file says as well."""
        if self.traceback is not None:
            text = f"{self.traceback.exception}: {self.traceback.message}"
        else:
            text = self.finding.text if self.finding is not None else ""
        return text.split("\n")[0].strip()[:_MAX_TEXT]


def build_from_finding(finding: Finding) -> Failure:
    """Take what a signature has recognised as what ended the run."""
    return Failure(
        finding.source, finding.line, finding.offset, finding.time, finding.end_line, finding, None
    )


def build_from_traceback(traceback: Traceback) -> Failure:
    """Take an exception as what ended the run."""
    return Failure(
        traceback.source,
        traceback.exception_line,
        traceback.offset,
        traceback.time,
        traceback.end_line,
        None,
        traceback,
    )


class _Suspect(NamedTuple):
    """A possible failure and what the run did after it."""

    failure: Failure
    records_after: int
    is_quoted: bool
    """Logged below ERROR: whoever logged it has caught it."""
    most_after: int = SURVIVED_RECORDS
    """Records behind it from which on the run has survived it."""


def list_possible_failures(
    seen: Sequence[Sighting],
    tracebacks: Iterable[tuple[Traceback, int]],
    extract: Extract,
    rules: Mapping[str, Signature],
) -> list[Failure]:
    """List what could have ended the run; what it demonstrably survived is left out.

    Args:
        seen: the findings.
        tracebacks: each with the number of records before it.
        extract: tells how many records there are beside them.
        rules: signatures by id.
    """
    suspects = [
        *_list_finding_suspects(seen, extract, rules),
        *_list_traceback_suspects(tracebacks, extract),
    ]
    final = [suspect for suspect in suspects if suspect.records_after < suspect.most_after]
    unquoted = [suspect for suspect in final if not suspect.is_quoted]
    kept = unquoted or final or _keep_delayed_tracebacks(suspects, seen)
    find_process = build_process_lookup(seen, extract.tracebacks)
    return [
        suspect.failure._replace(
            reported_process=find_process(suspect.failure.source, suspect.failure.line)
        )
        for suspect in kept
    ]


def _list_finding_suspects(
    seen: Iterable[Sighting], extract: Extract, rules: Mapping[str, Signature]
) -> list[_Suspect]:
    return [
        _Suspect(
            build_from_finding(found.finding),
            count_records_after(extract, found.finding, found.records_before),
            found.finding.level in QUOTED,
            _get_most_after(rules[found.finding.signature]),
        )
        for found in seen
        if found.finding.role == "cause" and rules[found.finding.signature].fatal
    ]


def _get_most_after(rule: Signature) -> int:
    """Give the records that may follow a failure: what a scheduler stops writes on for seconds."""
    is_stopped = has_trait(rule.id, Trait.ENDS_THE_JOB) and not rule.broad
    return BUFFERED_RECORDS if is_stopped else SURVIVED_RECORDS


def _list_traceback_suspects(
    tracebacks: Iterable[tuple[Traceback, int]], extract: Extract
) -> list[_Suspect]:
    tracebacks = list(tracebacks)
    torn = _find_torn([traceback for traceback, _ in tracebacks])
    return [
        _Suspect(
            build_from_traceback(traceback),
            count_records_after(extract, traceback, before),
            traceback.level in QUOTED,
        )
        for traceback, before in tracebacks
        if not is_consequence(traceback) and (traceback.source, traceback.line) not in torn
    ]


def _find_torn(tracebacks: Iterable[Traceback]) -> set[tuple[int, int]]:
    """Find the tracebacks without an exception that others tear, of which one names its own."""
    torn: set[tuple[int, int]] = set()
    starts: dict[int, int] = {}
    """By source, where the next traceback begins that is whole or torn by a whole one."""
    for traceback in sorted(tracebacks, key=lambda item: item.line, reverse=True):
        start = starts.get(traceback.source)
        is_torn = start is not None and start - traceback.end_line <= _NEAR
        if not traceback.exception and is_torn:
            torn.add((traceback.source, traceback.line))
        if traceback.exception or is_torn:
            starts[traceback.source] = traceback.line
    return torn


def is_consequence(traceback: Traceback) -> bool:
    """Say whether an exception only reports that another process failed.

    What the user's own code starts as a tool, and waits for, reports its failure nowhere else.
    """
    if not traceback.exception.endswith(CONSEQUENCE_EXCEPTIONS):
        return False
    return not (_RUNS_TOOL.match(traceback.message) and _is_called_by_user(traceback))


def _is_called_by_user(traceback: Traceback) -> bool:
    """Say whether the user's own frame calls the module that raised it."""
    frames = traceback.frames
    inner = frames[-1].file if frames else ""
    caller = next((frame for frame in reversed(frames) if frame.file != inner), None)
    return caller is not None and not caller.is_library


def _keep_delayed_tracebacks(
    suspects: Iterable[_Suspect], seen: Iterable[Sighting]
) -> list[_Suspect]:
    """Keep the tracebacks that may still have ended the run, some records behind them.

    Standard output may arrive long after standard error. One in front of the program's own end
    marker has not.
    """
    ends = {
        found.finding.source: found.finding.offset
        for found in seen
        if has_trait(found.finding.signature, Trait.SOUND)
    }
    return [
        suspect
        for suspect in suspects
        if suspect.failure.traceback is not None
        and suspect.records_after < BUFFERED_RECORDS
        and ends.get(suspect.failure.source, -1) < suspect.failure.offset
    ]


def move_to_front(first: Failure | None, failures: list[Failure]) -> list[Failure]:
    """Put one of some failures before the others, if there is one to be put there."""
    if first is None:
        return failures
    return [first, *(failure for failure in failures if failure is not first)]


def has_end_marker(seen: Iterable[Sighting]) -> bool:
    """Say whether a program stated that it is complete."""
    return any(has_trait(found.finding.signature, Trait.SOUND) for found in seen)


def find_reporting_sources(
    seen: Iterable[Sighting],
    tracebacks: Iterable[tuple[Traceback, int]],
    rules: Mapping[str, Signature],
) -> set[int]:
    """List the sources that may hold a failure reported by the process itself."""
    found = {
        sight.finding.source
        for sight in seen
        if sight.finding.role == "cause"
        and rules[sight.finding.signature].fatal
        and not rules[sight.finding.signature].told_by
    }
    return found | {
        traceback.source for traceback, _ in tracebacks if not is_consequence(traceback)
    }
