"""A baseline that judges as an engineer with grep: the last error-like line, a table of words.

In: the log of a job. Out: causes that words of such lines stand for, that of the last line first.
Not here: any rule, any model. `postmortem evaluate` compares the program with it.

As `grep -iE 'error|exception|nan|oom|…' run.log` is read: from the last hit upwards, the first line
with a word that one knows. Nothing is known of tracebacks, processes, order or curves.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from postmortem.core.errors import InputError
from postmortem.core.lazy_regex import compile_lazily
from postmortem.reading.byte_streams import iter_lines
from postmortem.reading.discover import find_candidates
from postmortem.reading.opener import open_log
from postmortem.reading.sources import list_origins

_LONGEST: Final = 2000
GREP: Final = compile_lazily(
    r"error|exception|fail|killed|abort|fault|denied|refused|timeout|timed out|cancel|preempt"
    r"|no space|quota|out of memory|\boom\b|\bnan\b|\binf\b|nccl|xid",
    re.IGNORECASE,
)


@functools.cache
def words() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Read the words that one searches for, each with the cause that one takes it to mean."""
    rows = yaml.safe_load(Path(__file__).with_name("grep_words.yaml").read_text(encoding="utf-8"))
    return tuple((re.compile(word, re.IGNORECASE), cause) for cause, word in rows)


def find_causes_by_grep(log: Path) -> list[str]:
    """Give what the last lines with a known word stand for, the last of all first."""
    found: dict[str, None] = {}
    for line in _iter_lines(log):
        if GREP.search(line) and (cause := _match_cause(line)) is not None:
            found.pop(cause, None)
            found[cause] = None
    return list(found)[::-1]


def _match_cause(line: str) -> str | None:
    return next((cause for word, cause in words() if word.search(line)), None)


def _iter_lines(log: Path) -> Iterator[str]:
    """Give the lines of a log, or of all files of a job in their order."""
    for candidate in find_candidates(list_origins(str(log))):
        if candidate.skip is not None:
            continue
        try:
            opened = open_log(candidate.origin)
        except InputError:
            continue
        try:
            yield from iter_lines(opened, _LONGEST)
        finally:
            opened.close()
