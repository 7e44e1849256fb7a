"""Find the lines for which a rule is drafted: one of a log, or those of a group of failures.

In: a log and the number of a line or none; or a file of failures and the id of a group or none.
Out: texts, without prefixes. Not here: the rule (`rules.signature_draft`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from postmortem.core.errors import InputError, UsageError
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher
from postmortem.reading.excerpt import read_lines_again
from postmortem.reading.prefixes import clean

_MOST_LINES: Final = 20_000
_LONGEST: Final = 400
_LONGEST_ROW: Final = 1 << 20


def select_draft_line(log: str, number: int | None, patterns: tuple[Path, ...]) -> str:
    """Give the line that is asked for, else what failed first, else the last line of the log.

    Raises:
        UsageError: there is no such line, or nothing in the log.
        InputError: the log cannot be read.
    """
    machine = get_matcher(patterns)
    case = build_case(read(log, machine), machine.knowledge)
    text = _read_line(case, number) if number else _find_failing_line(case) or _find_last_line(case)
    if not text.strip():
        what = f"there is no text in line {number}" if number else "there is no text in the log"
        raise UsageError(what, log, "name a line with --line, counted as sed -n does")
    return clean(text).text


def read_cluster_lines(path: Path, group: str | None = None) -> list[str]:
    """Give the failing lines of a group: a text of one a line, or the `results.jsonl` of a triage.

    Args:
        path: the file.
        group: which group of a triage; needed where the file holds several.

    Raises:
        InputError: the file cannot be read.
        UsageError: it holds no failing line, none of the group, or those of several groups.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            rows = list(_iter_cluster_rows(iter(lambda: stream.readline(_LONGEST_ROW), ""), group))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path, "check the path") from error
    groups = sorted({name for name, _ in rows})
    if len(groups) > 1:
        listed = ", ".join(groups[:8])
        raise UsageError(f"it holds {len(groups)} groups", path, f"name one with --group: {listed}")
    if not rows:
        what = f"it holds no failing line of {group}" if group else "it holds no failing line"
        raise UsageError(what, path, "name the results.jsonl of a triage, or a text of lines")
    return [clean(text[:_LONGEST]).text for _, text in rows]


def _iter_cluster_rows(lines: Iterator[str], group: str | None) -> Iterator[tuple[str, str]]:
    """Yield group and failing line of each row; a row that is no JSON is a line itself."""
    count = 0
    for line in lines:
        name, text = _parse_cluster_row(line.strip())
        if text and (group is None or name == group):
            yield name, text
            count += 1
        if count >= _MOST_LINES:
            return


def _parse_cluster_row(line: str) -> tuple[str, str]:
    if not line.startswith("{"):
        return "", line
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "", line
    text = row.get("failing_line") or ""
    return str(row.get("group") or ""), text if isinstance(text, str) else ""


def _find_failing_line(case: Case) -> str:
    if case.first is None:
        return ""
    traceback = case.first.traceback
    return _read_line(
        case, case.first.line if traceback is None else traceback.exception_line, case.first.source
    )


def _read_line(case: Case, number: int, source: int = 0) -> str:
    found = read_lines_again(case.gathered.origins[source], [(number, number)])
    return found[number].text if number in found else ""


def _find_last_line(case: Case) -> str:
    text = next((text for _, text in case.gathered.tails.values()), "")
    return next((line for line in reversed(text.split("\n")) if line.strip()), "")
