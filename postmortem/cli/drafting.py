"""The line of a log for which a rule is drafted.

In: a log, the number of a line or none. Out: its text, without its prefix. Not here: the rule
(`knowledge.skeleton`).
"""

from pathlib import Path

from postmortem.case.build import case_of
from postmortem.case.values import Case
from postmortem.errors import UsageError
from postmortem.gathering.job import read
from postmortem.pipeline import machine_for
from postmortem.reading.excerpt import lines_again
from postmortem.reading.prefixes import clean


def line_to_draft(log: str, number: int | None, patterns: tuple[Path, ...]) -> str:
    """Give the line that is asked for, else what failed first, else the last line of the log.

    Raises:
        UsageError: there is no such line, or nothing in the log.
        InputError: the log cannot be read.
    """
    machine = machine_for(patterns)
    case = case_of(read(log, machine), machine.knowledge)
    text = _line(case, number) if number else _failing(case) or _last(case)
    if not text.strip():
        what = f"there is no text in line {number}" if number else "there is no text in the log"
        raise UsageError(what, log, "name a line with --line, counted as sed -n does")
    return clean(text).text


def _failing(case: Case) -> str:
    if case.first is None:
        return ""
    told = case.first.traceback
    return _line(case, case.first.line if told is None else told.exception_line, case.first.source)


def _line(case: Case, number: int, source: int = 0) -> str:
    found = lines_again(case.gathered.origins[source], [(number, number)])
    return found[number].text if number in found else ""


def _last(case: Case) -> str:
    text = next((text for _, text in case.gathered.tails.values()), "")
    return next((line for line in reversed(text.split("\n")) if line.strip()), "")
