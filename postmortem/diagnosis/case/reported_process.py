"""Find the process or file that a launcher, a cluster or an agent names as failed.

In: the case, the finding that tells. Out: a process by its ranks, or the index of the file whose
name is said. Not here: process numbers and machines (`case.faulty_process`), the order of failures.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.numerals import parse_whole_number
from postmortem.diagnosis.case.reporter_rank import ROOT_CAUSE
from postmortem.diagnosis.case.values import Case

_CHILD: Final = compile_lazily(r"\blocal_rank: (?P<local_rank>\d{1,4})\b")
_WORLD: Final = compile_lazily(
    r"(?i)\bworld(?:[ _-]?size)?['\"]?\s?[:=]?\s?(?P<size>[1-9]\d{0,2})\b(?![.%])"
)
_SUFFIXES: Final = compile_lazily(
    r"(?:\.(?:log|txt|out|err|stdout|stderr|gz|xz|zst|bz2))+\Z", re.IGNORECASE
)
_ENTRY: Final = "context.elastic-entry"
_FEWEST: Final = 5
"""Characters of a file's name that is no chance word."""
_MOST_OF_ONE: Final = 8
"""Processes that one machine commonly runs."""
_MOST_ABOVE: Final = 40
"""Lines above the one that tells, in which a record names what it is about."""


def find_child_process(case: Case, finding: Finding) -> ProcessId | None:
    """Give the process that an agent names with its exit, else as the root cause."""
    if (match := _CHILD.search(finding.text)) is None:
        return None
    local_rank = parse_whole_number(match["local_rank"])
    roots = {
        ProcessId(rank=parse_whole_number(captures["rank"]), local_rank=local_rank)
        for event in case.signatures(ROOT_CAUSE)
        if event.finding.source == finding.source
        and parse_whole_number((captures := dict(event.finding.captures))["local_rank"])
        == local_rank
    }
    if len(roots) == 1:
        return roots.pop()
    return ProcessId(rank=local_rank if _is_one_machine(case) else None, local_rank=local_rank)


def find_process_in_agent_table(case: Case, finding: Finding) -> ProcessId | None:
    """Give the process in whose entry of an agent's table a line stands."""
    for event in case.signatures(_ENTRY):
        reported = event.finding
        if reported.source == finding.source and reported.line <= finding.line <= reported.end_line:
            captures = dict(reported.captures)
            return ProcessId(
                parse_whole_number(captures["rank"]),
                parse_whole_number(captures["local_rank"]),
                captures["host"],
                None,
            )
    return None


def _is_one_machine(case: Case) -> bool:
    """Say whether the ranks of the files are those of one machine."""
    ranks = [source.where.rank for source in case.sources if source.where.rank is not None]
    nodes = {source.where.node for source in case.sources}
    return nodes == {None} and max(ranks, default=_MOST_OF_ONE) < _MOST_OF_ONE


def infer_global_rank(case: Case, where: ProcessId) -> ProcessId:
    """Give a process of which only the local rank is printed its rank, where both are the same.

    They are where as many local ranks are seen as the job has processes.
    """
    if where.rank is not None or where.local_rank is None:
        return where
    world_size = case.environment.world_size
    sizes = (
        {world_size}
        if world_size is not None
        else {
            parse_whole_number(match["size"])
            for head in case.gathered.heads.values()
            for match in _WORLD.finditer(head)
        }
    )
    seen = {source.where.local_rank for source in case.sources}
    seen.update(event.finding.where.local_rank for event in case.events)
    size = sizes.pop() if len(sizes) == 1 else None
    is_all = size is not None and seen - {None} == set(range(size))
    return where._replace(rank=where.local_rank) if is_all else where


def find_named_log(case: Case, finding: Finding) -> int | None:
    """Give the log whose name stands in the reporting line, or nearest above it."""
    names = {
        number: name
        for number in case.logs
        if number != finding.source
        and len(name := _SUFFIXES.sub("", PurePath(case.sources[number].path).name)) >= _FEWEST
        and any(not character.isalpha() for character in name)
    }
    for line in (finding.text, *_iter_lines_above(case, finding)):
        named = [number for number, name in names.items() if _has_whole_name(name, line)]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def _has_whole_name(name: str, line: str) -> bool:
    """Say whether a line holds a name as a whole."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line) is not None


def _iter_lines_above(case: Case, finding: Finding) -> Iterator[str]:
    """Yield the lines above the reporting line, as far as they are kept."""
    head = (1, case.gathered.heads.get(finding.source, ""))
    for begin, text in (case.gathered.tails.get(finding.source, head), head):
        lines = text.split("\n")
        if begin <= finding.line < begin + len(lines):
            yield from reversed(lines[: finding.line - begin][-_MOST_ABOVE:])
            return


def is_of(own: ProcessId, where: ProcessId) -> bool:
    """Say whether a file is that of a process, by its rank or its local rank."""
    if own == NOWHERE:
        return False
    if where.rank is not None and own.rank is not None:
        return own.rank == where.rank
    is_here = own.node is None or where.node is None or own.node == where.node
    return is_here and where.local_rank is not None and own.local_rank == where.local_rank
