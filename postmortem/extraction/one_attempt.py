"""Select from an extract what stands within some lines of its sources.

In: an `Extract`, by source the first and the last line that count. Out: another `Extract`; lines
keep their numbers, and sources that are not named all they have. Not here: where an attempt begins
(`case.run_starts`).
"""

import bisect
import copy
import dataclasses
import math
from collections import deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.extract import FIRST, LAST, Extract, KeptFindings, Sighting
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.kept_lines import BEFORE, TextSample, unfold_lines

Lines = tuple[int, int]
"""First and last raw line."""
_get_line: Final = attrgetter("line")
_MOST_END: Final = 6000
"""Characters of an end that is put together from the lines that are kept."""


def select_lines(extract: Extract, lines: Mapping[int, Lines]) -> Extract:
    """Select what stands within some lines.

    What was counted over a whole source is counted over what is kept of it.
    """
    if not lines:
        return extract
    before = _count_records(extract, {source: (0, at[0] - 1) for source, at in lines.items()})
    return dataclasses.replace(
        extract,
        findings=_select_findings(extract, lines, before),
        tracebacks=[
            (traceback, max(0, count - _count_of(before, traceback.source, traceback.where)))
            for traceback, count in extract.tracebacks
            if _is_within(lines, traceback.source, traceback.line)
        ],
        series={
            key: part
            for key, curve in extract.series.items()
            if (part := curve.within(*lines[key[2]]) if key[2] in lines else curve).values
        },
        facts=_select_facts(extract.facts, lines),
        **_select_records(extract, lines),
        **_select_texts(extract, lines),
    )


def _is_within(lines: Mapping[int, Lines], source: int, line: int) -> bool:
    first, last = lines.get(source, (line, line))
    return first <= line <= last


def _count_records(
    extract: Extract, lines: Mapping[int, Lines]
) -> dict[tuple[int, ProcessId], int]:
    """Count the records of each process within the lines of its source."""
    found: dict[tuple[int, ProcessId], int] = {}
    for (_, _, source, where), curve in extract.series.items():
        if source in lines:
            count = curve.count_within(*lines[source])
            found[source, where] = max(found.get((source, where), 0), count)
    return found


def _count_of(counts: Mapping[tuple[int, ProcessId], int], source: int, where: ProcessId) -> int:
    """Count the records that show the progress of a process, as `Extract.count_records_of`."""
    if where == NOWHERE:
        return sum(count for (index, _), count in counts.items() if index == source)
    return counts.get((source, where), 0) + counts.get((source, NOWHERE), 0)


def _select_findings(
    extract: Extract, lines: Mapping[int, Lines], before: Mapping[tuple[int, ProcessId], int]
) -> dict[tuple[str, int, ProcessId], KeptFindings]:
    """Select the findings, each with the records before it in the same lines."""
    findings = {}
    for key, kept in extract.findings.items():
        _, source, where = key
        if source not in lines:
            findings[key] = kept
        elif (part := _select_kept(kept, lines[source])) is not None:
            shift = _count_of(before, source, where)
            part.first = [_shift(sighting, shift) for sighting in part.first]
            part.last = deque([_shift(sighting, shift) for sighting in part.all()[FIRST:]], LAST)
            findings[key] = part
    return findings


def _shift(sighting: Sighting, records: int) -> Sighting:
    return sighting._replace(records_before=max(0, sighting.records_before - records))


def _select_kept(kept: KeptFindings, lines: Lines) -> KeptFindings | None:
    """Select findings of one kind; None if none is left.

    Those that were not kept stand between the first ones and the last.
    """
    found = kept.all()
    inside = [sighting for sighting in found if lines[0] <= sighting.finding.line <= lines[1]]
    if not inside:
        return None
    middle = found[min(len(kept.first), len(found) - 1)].finding.line
    has_middle = lines[0] <= kept.first[-1].finding.line and middle <= lines[1]
    count = kept.count - (len(found) - len(inside)) if has_middle else len(inside)
    return KeptFindings(inside[:FIRST], deque(inside[FIRST:], LAST), count, inside[-1].finding.line)


def _select_records(extract: Extract, lines: Mapping[int, Lines]) -> dict[str, Any]:
    """Count the records again, and find the first and the last of them."""
    counts = {key: count for key, count in _count_records(extract, lines).items() if count}
    others = {key: count for key, count in extract.records_of.items() if key[0] not in lines}
    records, first, last = {**extract.records}, {**extract.first_record}, {**extract.last_record}
    for source, within in lines.items():
        records[source] = sum(count for key, count in counts.items() if key[0] == source)
        ends = _find_record_ends(extract, source, within)
        for known, at in ((first, min(ends, default=0)), (last, max(ends, default=0))):
            place = known.pop(source, (0, 0))
            if at:
                known[source] = place if place[0] == at else (at, 0)
    return {
        "records": records,
        "records_of": others | counts,
        "first_record": first,
        "last_record": last,
        "total_steps": extract.total_steps if last else math.nan,
    }


def _find_record_ends(extract: Extract, source: int, lines: Lines) -> list[int]:
    """Give the first and the last line of each curve within some lines of a source."""
    return [
        line
        for key, curve in extract.series.items()
        if key[2] == source and curve.count_within(*lines)
        for line in curve.get_ends(*lines)
    ]


def _select_texts(extract: Extract, lines: Mapping[int, Lines]) -> dict[str, Any]:
    """Select head, end and sample; an earlier end is put together from the lines that are kept."""
    heads, tails, samples = {**extract.heads}, {**extract.tails}, {**extract.samples}
    recurring = {**extract.recurring}
    for source, (first, last) in lines.items():
        if first > 1:
            heads[source] = ""
        every = extract.recurring.get(source, ())
        at = bisect.bisect_left(every, first, key=_get_line)
        recurring[source] = every[at : bisect.bisect_right(every, last, key=_get_line)]
        begin, text = extract.tails.get(source, (1, ""))
        if last >= extract.lines.get(source, 0):
            kept = dict(enumerate(text.split("\n"), begin))
        else:
            kept = unfold_lines(
                line
                for line in every[at : bisect.bisect_right(every, last + BEFORE, key=_get_line)]
                if line.line <= last + len(line.before)
            )
        tails[source] = _join_end(kept, first, last)
        sample = samples.get(source, TextSample())
        samples[source] = TextSample(
            *(tuple(line for line in part if first <= line[0] <= last) for part in sample)
        )
    return {"heads": heads, "tails": tails, "samples": samples, "recurring": recurring}


def _join_end(kept: Mapping[int, str], first: int, last: int) -> tuple[int, str]:
    """Join the lines up to the last one, as far back as none is missing."""
    end, size = [], 0
    line = last
    while line >= first and line in kept and size < _MOST_END:
        end.append(kept[line])
        size += len(kept[line]) + 1
        line -= 1
    return line + 1, "\n".join(reversed(end))


def _select_facts(facts: FactStore, lines: Mapping[int, Lines]) -> FactStore:
    """Leave out the checkpoints of other lines; what is known of the run holds for all of it."""
    part = copy.copy(facts)
    part.checkpoints = [
        fact for fact in facts.checkpoints if _is_within(lines, fact.source, fact.line)
    ]
    return part
