"""Find the last error of a process where no rule knows a line, and match broad signatures on it.

In: the end of a source as text, the line of its last metric record, tracebacks and findings, the
signatures. Out: `FinalError` (an exception without its traceback, a fatal error, a line logged as
an error); findings of broad signatures, which go by words of the field. Not here: lines that a rule
knows (`patterns/signatures`), tracebacks (`extraction.traceback`), whether a broad signature counts
(`case.relevance`).

Only the last few lines behind the last record count. A line is passed over if its figures make it a
metric, if it says that the run goes on, or if it does. Elsewhere a broad signature is looked for
only on lines that hold one of its literals, since they may be anything and are many. What a program
said when it ended is one line, and is asked of all.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import Finding, Traceback
from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.case.relevance import is_any_exception
from postmortem.extraction.extract import Extract, Sighting
from postmortem.reading.prefixes import LOUD, Cleaned, clean, has_srun_labels
from postmortem.rules.base import KnowledgeBase, Signature

_LOGS: Final = frozenset({"log", "notebook"})
_MOST_LINES: Final = 5
_MOST_TEXT: Final = 2000
_QUIET: Final = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING"})
_EXCEPTION: Final = compile_lazily(
    r"(?:uncaught (?:exception:? )?)?"
    r"(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w{0,80}"
    r"(?:Error|Exception|Failure|Interrupt|Abort(?:ed)?|Timeout|StopIteration))"
    r"(?::\s?(?P<message>.*))?$",
)
_ERROR_LINE: Final = compile_lazily(
    r"(?:\[?(?:fatal|critical|error|panic)\]?(?: error)?(?:[:!,]| -+) ?|error \(\S{1,160}\) "
    r"|(?:fatal|critical) error\b|" + join_words("error-begins") + r")(?P<message>.*)",
    re.IGNORECASE,
)
_FIGURE: Final = compile_lazily(
    r"[-+]?(?:\d|nan\b|inf\b|\.\d)[\d.e+-]*\s?(?:%|[,;|/)]|$|\s)", re.IGNORECASE
)
_GOES_ON: Final = compile_lazily(
    r"\b(?:ignor(?:ed|ing)|retry(?:ing)?|retries|re-?try|skip(?:ped|ping|s)?"
    r"|continu(?:e|es|ing)|falling back|fall back|will be (?:used|disabled)|disabl(?:ed|ing)"
    r"|recovered|non-fatal|not fatal|harmless)\b"
    r"|\b(?:0|no) errors?\b",
    re.IGNORECASE,
)
_END: Final = 1 << 62
"""Byte offset that stands for the end of a source, whose length its last lines do not tell."""
_MOVES: Final = compile_lazily(r"\d%\|")


class FinalError(NamedTuple):
    """A line at the end of a log that reports an error."""

    traceback: Traceback
    """The line as an exception without frames; of an error line that names no class, the text
    alone."""
    is_end: bool
    """True if whoever prints such a line last has ended; a line that a logger calls an error may
    have been survived."""
    is_last: bool = False
    """Nothing stands behind it."""


def find_final_errors(
    extract: Extract, known: Mapping[int, Container[int]]
) -> Iterator[tuple[int, FinalError]]:
    """Yield the logs that end with an error which nothing explains, with what they say.

    Args:
        extract: holds the ends.
        known: lines that a rule explains, by source.
    """
    for source, tail in extract.tails.items():
        if source < len(extract.sources) and extract.sources[source].kind in _LOGS:
            last_record = extract.last_record.get(source, (0, 0))[0]
            srun = has_srun_labels(extract.heads.get(source, ""))
            words = find_final_error(tail, source, last_record, known.get(source, ()), srun=srun)
            if words is not None:
                yield source, words


def find_final_error(
    tail: tuple[int, str],
    source: int,
    last_record: int,
    known: Container[int],
    *,
    srun: bool = False,
) -> FinalError | None:
    """Find an error that nothing explains in the last lines of a source, behind its last record.

    An exception if there is one, else the first such line.

    Args:
        tail: raw number of the first line of the text, and the text.
        source: index of the source.
        last_record: raw line of the last metric record; 0 if there is none.
        known: lines that a rule explains.
        srun: the file carries task numbers of `srun --label`.
    """
    first, text = tail
    lines = [
        (number, get_last_draw(line))
        for number, line in enumerate(text.split("\n"), first)
        if number > last_record and line.strip()
    ][-_MOST_LINES:]
    found: list[FinalError] = []
    for number, line in lines:
        if _MOVES.search(line):
            found.clear()  # a bar drawn behind the line: the run went on
        elif number not in known:
            is_last = number == lines[-1][0]
            found += _read(clean(line[:_MOST_TEXT], srun=srun), source, number, is_last=is_last)
    return next((words for words in found if words.traceback.exception), next(iter(found), None))


def _read(peeled: Cleaned, source: int, line: int, *, is_last: bool) -> Iterator[FinalError]:
    text = peeled.text.strip()
    if not text or peeled.level in _QUIET or _GOES_ON.search(text):
        return
    exception, error = _EXCEPTION.match(text), _ERROR_LINE.match(text)
    if exception is not None and not _is_figure(exception["message"]):
        message = (exception["message"] or "").strip()
        named = _build_exception(peeled, source, line, exception["name"], message)
        yield FinalError(named, is_end=True)
    elif error is not None and not _is_figure(error["message"]):
        yield FinalError(_build_exception(peeled, source, line, "", text), is_end=True)
    elif peeled.level in LOUD and not _is_figure(text):
        unnamed = _build_exception(peeled, source, line, "", text)
        yield FinalError(unnamed, is_end=peeled.level != "ERROR", is_last=is_last)


def _is_figure(text: str | None) -> bool:
    """Say whether a figure stands where a message would: then it is a measured error."""
    return text is not None and _FIGURE.match(text.strip()) is not None


def _build_exception(peeled: Cleaned, source: int, line: int, name: str, message: str) -> Traceback:
    return Traceback(
        exception=name,
        message=message,
        frames=(),
        source=source,
        where=peeled.where,
        line=line,
        end_line=line,
        exception_line=line,
        offset=_END,
        end_offset=_END,
        time=peeled.time,
        level=peeled.level,
    )


_MOST: Final = 8
"""Exceptions that are asked, the last ones."""
_EXPLAINING: Final = frozenset({"cause", "consequence", "harmless"})
"""Roles of what says what a line means."""


def find_broad_matches(
    extract: Extract, seen: Sequence[Sighting], knowledge: KnowledgeBase
) -> Iterator[Sighting]:
    """Give what broad signatures find in the last exceptions that no signature knows."""
    known = {
        (found.finding.source, line)
        for found in seen
        if found.finding.role in _EXPLAINING
        and not is_any_exception(knowledge.by_id[found.finding.signature])
        for line in range(found.finding.line, found.finding.end_line + 1)
    }
    matched: set[str] = set()
    for traceback, before in _iter_exception_texts(extract, known):
        text = f"{traceback.exception}: {traceback.message}".removeprefix(": ")
        place = (traceback.source, traceback.exception_line)
        if not traceback.message or place in known or text in matched:
            continue
        matched.add(text)
        for rule in _iter_matching_rules(text, knowledge.signatures):
            yield Sighting(_build_finding(rule, traceback, text), before, (0, ""))
        if len(matched) == _MOST:
            return


def _iter_exception_texts(
    extract: Extract, known: Collection[tuple[int, int]]
) -> Iterator[tuple[Traceback, int]]:
    """Give exceptions with their tracebacks, the last one first, then what logs end with."""
    yield from reversed(extract.tracebacks)
    lines: dict[int, set[int]] = {}
    for source, line in known:
        lines.setdefault(source, set()).add(line)
    for _, words in find_final_errors(extract, lines):
        yield words.traceback, sum(extract.records.values())


def _iter_matching_rules(text: str, rules: Collection[Signature]) -> Iterator[Signature]:
    for rule in rules:
        if rule.broad and _is_match(rule, text):
            yield rule


def _is_match(rule: Signature, text: str) -> bool:
    """Search a printed text; where that takes too long, nothing is known."""
    try:
        return rule.search(text) is not None
    except TimeoutError:
        return False


def _build_finding(rule: Signature, traceback: Traceback, text: str) -> Finding:
    return Finding(
        rule.id,
        rule.role,
        traceback.source,
        traceback.where,
        traceback.exception_line,
        traceback.exception_line,
        max(traceback.offset, traceback.end_offset - 1),
        text,
        (),
        traceback.time,
        level=traceback.level,
    )
