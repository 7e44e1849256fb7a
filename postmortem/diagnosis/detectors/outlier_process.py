"""Find the one process among many that is not where the others are.

In: what processes say of one another, their watchdogs, the last steps of each. Out: the anomalies
`peer-named`, `silent-rank`; both stand for the process that is meant, at the line that shows it.
Not here: the operations and counts of collectives (`detectors.collectives`), values that go wrong
(`detectors.ranks`).

What waits for a process tells of it; the process itself may say nothing at all. So the one whom
several others name as gone or missing is looked at first, then the one that keeps silent where its
peers report, or whose last step is before theirs.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily, compile_lazily_with_words
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import say
from postmortem.core.numerals import parse_whole_number
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.collectives import WATCHDOG
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.reading.prefixes import clean

_FEWEST: Final = 3
"""Processes among which one can be odd."""
_MOST_TEXT: Final = 600
_MOST_RANKS: Final = 1 << 16
_LIST: Final = r"[\[({]?(?P<ranks>\d{1,6}(?:(?:, ?|,? and )\d{1,6}){0,8})[\])}]?"
_MISSED: Final = compile_lazily_with_words(
    "rank",
    r"(?i)\b(?:missing|absent|waiting (?:for|on)|lost|lost (?:connection|contact) (?:to|with)"
    r"|(?:no|not received) (?:\w+ ){1,4}from|not heard from|unresponsive|lagging|dead"
    r"|straggl\w+|blocked (?:by|on)|timed? ?out (?:waiting )?(?:for|on)"
    r"|disconnected from)(?: \w+){0,3}? \(?(?:global )?ranks?\b[ :=#]{0,3}" + _LIST,
)
_DID_NOT: Final = compile_lazily_with_words(
    "rank",
    r"(?i)\branks? " + _LIST + r" (?:(?:is|are|was|were|has|have|had) )?(?:(?:not|never) "
    r"(?:join|reach|arriv|respond|enter|report|show|call)\w*|did ?n[o']t \w+"
    r"|failed to (?:pass|join|reach|arrive|enter|respond)|missing|absent|unresponsive"
    r"|lagging|unreachable|lost|the lagging|stuck|gone|disconnected|timed out)",
)
_HOST: Final = r"(?P<host>[A-Za-z][\w-]{0,60}(?:\.[A-Za-z][\w-]{0,60}){0,4})"
_GONE: Final = compile_lazily_with_words(
    "peer node ssh",
    r"(?:(?:closed by|from|to|with) (?:remote )?peer|remote peer) " + _HOST + r"<\d{1,6}>"
    r"|\b[Nn]odes? (?:failure on )?(?P<node>[A-Za-z][\w.-]{0,80}?),? "
    r"(?:(?:is|are|was|has been|state) )?(?:not responding|unreachable|down\b|DOWN|lost|NotReady"
    r"|failed)"
    r"|Node failure on (?P<failed>[A-Za-z][\w.-]{0,80})"
    r"|^(?:pdsh@\S{1,80}: )?(?P<ssh>[A-Za-z][\w.-]{0,80}): ssh exited with exit code 255",
)
_DOWN_NODE: Final = compile_lazily(
    r"^NodeName=(?P<record>\S{1,80})[^\n]*\n(?:[ \t](?![ \t]{0,7}State=)[^\n]*\n){0,16}"
    r"[ \t]{1,8}State=[\w+*]*(?:DOWN|NOT_RESPONDING|FAIL)"
    r"|^(?P<row>[A-Za-z][\w.-]{0,79})[ \t]{1,20}\d{1,9}[ \t]{1,20}\S{1,80}[ \t]{1,20}"
    r"(?:down|fail|no_respond)\w*[*~#!%$@^-]?\s",
    re.MULTILINE,
)
"""Of `scontrol show node` and `sinfo -N -l`."""
_BEGUN: Final = compile_lazily_with_words(
    "rank", r"(?i)\b(?:(?:missing|stalled|absent) ranks? ?|ranks that caused the desync are): *$"
)
_LISTED: Final = compile_lazily(
    r"^\s*(?:(?P<rank>\d{1,6}): \[|(?:- )?\[(?P<ranks>[\d, -]{1,200})\] (?:joined|finished) )"
)
_SPAN: Final = compile_lazily(r"(\d{1,6})(?:-(\d{1,6}))?")
_FEW: Final = 16
"""Ranks of a list that are looked at."""
_NAMES: Final = ("host", "node", "failed", "ssh")
_WORDS: Final = frozenset({"is", "was", "has", "set", "state", "the", "a", "this", "that", "on"})


class _MissingReport(NamedTuple):
    """A line that names a process, or a machine, as missing."""

    by: tuple[int, ProcessId]
    source: int
    line: int


def detect_reported_missing(observed: Observed) -> Iterable[Anomaly]:
    """Find the process, or the machine, that most of the others name as gone or missing."""
    tellers: dict[ProcessId, dict[tuple[int, ProcessId], _MissingReport]] = defaultdict(dict)
    for report, missing in _iter_missing_reports(observed):
        for process in missing:
            tellers[process].setdefault(report.by, report)
    ranked = sorted(tellers.items(), key=lambda entry: -len(entry[1]))
    if not ranked or (
        len(ranked) > 1 and len(ranked[0][1]) == len(ranked[1][1]) and _is_ambiguous(ranked)
    ):
        return []
    where, by = ranked[0]
    first = min(by.values(), key=lambda report: (report.source, report.line))
    message = say(
        "{rank} is missed by {count} that tell of it",
        rank=where.describe(),
        count=len(by),
    )
    return [Anomaly("peer-named", message, first.source, where, first.line)]


def _is_ambiguous(
    ranked: list[tuple[ProcessId, dict[tuple[int, ProcessId], _MissingReport]]],
) -> bool:
    """Say whether the first two are reported alike, so that neither is the outlier."""
    return (ranked[0][0].rank is None) == (ranked[1][0].rank is None)


def _iter_missing_reports(observed: Observed) -> Iterator[tuple[_MissingReport, list[ProcessId]]]:
    """Yield the lines that name a process as missing: findings, and the ends of the sources."""
    for finding, _ in observed.findings:
        if missing := _parse_missing_processes(finding.text[:_MOST_TEXT]):
            by = (finding.source, finding.where)
            yield _MissingReport(by, finding.source, finding.line), missing
    for source, (first, text) in observed.tails.items():
        if source in observed.processes:
            yield from _iter_down_nodes(observed, source)
            begun = False
            for number, line in enumerate(text.split("\n"), first):
                if missing := _parse_missing_processes(line[:_MOST_TEXT], begun=begun):
                    yield _MissingReport((source, NOWHERE), source, number), missing
                begun = _BEGUN.search(line) is not None or (begun and bool(missing))


def _iter_down_nodes(
    observed: Observed, source: int
) -> Iterator[tuple[_MissingReport, list[ProcessId]]]:
    """Yield the nodes that a report of Slurm's states calls down, if another source names them.

    The others have nothing to do with the job.
    """
    first, text = observed.tails[source]
    if "NodeName=" not in text and "NODELIST" not in text:
        return
    down = {match["record"] or match["row"]: match.start() for match in _DOWN_NODE.finditer(text)}
    if not down:
        return
    name = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, down))})(?![\w-])")
    others = (other for other in observed.tails if other != source)
    texts = (
        end for other in others for end in (observed.heads.get(other, ""), observed.tails[other][1])
    )
    for node in sorted({found for other in texts for found in name.findall(other)}):
        line = first + text.count("\n", 0, down[node])
        yield _MissingReport((source, NOWHERE), source, line), [ProcessId(node=node)]


def _parse_missing_processes(text: str, *, begun: bool = False) -> list[ProcessId]:
    """Read whom a line names as missing, or one of a list that has begun."""
    if begun and (match := _LISTED.search(clean(text).text)) is not None:
        return [ProcessId(rank=rank) for rank in _expand_ranks(match["rank"] or match["ranks"])]
    for pattern in (_MISSED, _DID_NOT):
        if (match := pattern.search(text)) is not None:
            return [ProcessId(rank=int(rank)) for rank in re.findall(r"\d+", match["ranks"])]
    if (match := _GONE.search(text)) is not None:
        name = next(match[group] for group in _NAMES if match[group]).rstrip(".,:;")
        return [] if name.lower() in _WORDS else [ProcessId(node=name)]
    return []


def _expand_ranks(listed: str) -> list[int]:
    """Read a list with ranges, as far as it may name an outlier: `0-1, 3`."""
    spans = ((int(first), int(last or first)) for first, last in _SPAN.findall(listed))
    return [*islice((rank for first, last in spans for rank in range(first, last + 1)), _FEW)]


def detect_silent_process(observed: Observed) -> Iterable[Anomaly]:
    """Find the one process that keeps silent where its peers report, or stops before them."""
    last = _collect_last_steps(observed)
    waiting = _collect_watchdog_reports(observed)
    ranks = {where.rank for where in (*last, *observed.processes.values())}
    ranks.update(_list_ranks_in_shared_log(observed, waiting))
    quiet = sorted(rank for rank in ranks if rank is not None and rank not in waiting)
    if len(waiting) >= _FEWEST - 1 and len(quiet) == 1:
        finding = next(iter(waiting.values()))
        message = say(
            "the watchdogs of {count} ranks report, that of rank {rank} does not",
            count=len(waiting),
            rank=quiet[0],
        )
        return [
            Anomaly("silent-rank", message, finding.source, ProcessId(rank=quiet[0]), finding.line)
        ]
    return _detect_first_to_stop(last)


def _list_ranks_in_shared_log(observed: Observed, waiting: Mapping[int, Finding]) -> Iterable[int]:
    """Give the ranks of a job that writes one log, in which the watchdogs of several report.

    There all that have one report; of several files some may not be there.
    """
    if len(waiting) < _FEWEST - 1 or len({finding.source for finding in waiting.values()}) > 1:
        return ()
    named = parse_whole_number(observed.facts.get("env.world_size")) or 0
    return range(min(max(named, max(waiting) + 1), _MOST_RANKS))


def _collect_watchdog_reports(observed: Observed) -> Mapping[int, Finding]:
    """Give the first report of each rank's watchdog."""
    found: dict[int, Finding] = {}
    for finding, _ in observed.findings:
        rank = re.search(r"\bRank (\d{1,6})\]", finding.text)
        if finding.signature == WATCHDOG and rank is not None:
            found.setdefault(int(rank[1]), finding)
    return found


class _Step(NamedTuple):
    """The last step that a process records, and where."""

    step: float
    source: int
    line: int


def _collect_last_steps(observed: Observed) -> Mapping[ProcessId, _Step]:
    """Give the last recorded step of each process: of a rank, or of the only one of a machine."""
    found: dict[ProcessId, _Step] = {}
    for series in observed.series:
        last = series.last
        if last is None or math.isnan(last.step):
            continue
        where = _shorten_process(series.where)
        if where == NOWHERE:
            continue
        if where not in found or found[where].step < last.step:
            found[where] = _Step(last.step, series.source, last.line)
    return found


def _shorten_process(where: ProcessId) -> ProcessId:
    if where.rank is not None:
        return ProcessId(rank=where.rank)
    if where.local_rank is not None:
        return ProcessId(local_rank=where.local_rank, node=where.node)
    return ProcessId(node=where.node, pid=where.pid if where.node is None else None)


def _detect_first_to_stop(last: Mapping[ProcessId, _Step]) -> list[Anomaly]:
    """Find the one process whose last step is before that of all the others, which agree."""
    if len(last) < _FEWEST:
        return []
    (odd, first), *others = sorted(last.items(), key=lambda entry: entry[1].step)
    if first.step >= others[0][1].step or others[0][1].step != others[-1][1].step:
        return []
    message = say(
        "{name} records up to step {step:g}, the other {count} up to step {other:g}",
        name=odd.describe(),
        step=first.step,
        count=len(others),
        other=others[0][1].step,
    )
    return [Anomaly("silent-rank", message, first.source, odd, first.line)]
