"""What grouping needs to know of an analysis: cause, deciding rule, failing line, own code.

In: an `Analysis`. Out: a `FailureSummary`. Not here: which failures are the same
(`triage.fingerprints`), which unknown ones are alike (`triage.failure_clusters`).

What differs from run to run is taken out by the wording that the comparison of two runs goes by
(`compare.line_noise`): numbers, paths, addresses, hashes, ids, times; beside it the machines that
the analysis names, and quoted text that is more than a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from postmortem.compare.line_noise import says_nothing, wording
from postmortem.gathering.frames import is_exception_line
from postmortem.model.answer import Cause, Evidence
from postmortem.model.diagnosis import Analysis
from postmortem.model.said import Said
from postmortem.model.shown import Excerpt, FirstFailure, OwnFrame, SignatureHit
from postmortem.reading.prefixes import clean

LONGEST: Final = 400
"""Characters of a failing line that are looked at."""
_OPEN: Final = "#"
_DECIDING: Final = frozenset({"signature", "advisory", "traceback"})
"""Kinds of evidence that name a rule about a text; curves and a model's opinion name none."""
_NAMES: Final = (
    "module",
    "package",
    "library",
    "symbol",
    "attribute",
    "option",
    "argument",
    "keyword",
)
"""Captures of a rule that name the thing that failed, the same in every run."""
_QUOTED: Final = re.compile(r"(?<!\w)(['\"`])(?P<text>[^'\"`\n]{1,300})\1(?!\w)")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_.\[\]-]{0,60}")
_PROMISING: Final = re.compile(
    r"error|fatal|fail|exception|abort|panic|killed|denied|refused|invalid|cannot|can't|unable"
    r"|not found|no such|timed? ?out",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\d+")
_CLASS: Final = re.compile(r"(?:[A-Za-z_]\w{0,80}\.){0,8}(?P<name>[A-Za-z_]\w{0,80})(?::|$)")


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """What is told of one failure, without what is a run's own."""

    cause: str | None
    """None where the program abstains."""
    rule: str
    """Id of the signature, advisory or exception that speaks loudest for the cause; may be empty."""
    named: tuple[str, ...]
    """What that signature names: a module, an option; sorted."""
    line: str
    """The failing line as printed, without its prefix; not redacted."""
    template: str
    """The line, `#` in place of what is a run's own."""
    exception: str
    """Class of the exception that the line names, without its module; may be empty."""
    frames: tuple[str, ...]
    """The user's own code that made the failing call, innermost first: `collate (data.py)`."""


def summary_of(analysis: Analysis) -> FailureSummary:
    """Give what grouping needs of an analysis."""
    cause = analysis.verdict.cause
    deciding = _deciding(analysis, cause)
    line = _failing_line(analysis, deciding)[:LONGEST]
    failure = analysis.first_failure
    frame = failure.frame if failure is not None else None
    return FailureSummary(
        cause=cause,
        rule=deciding.id if deciding is not None else "",
        named=_named(analysis, deciding),
        line=line,
        template=template_of(line, _machines(analysis)),
        exception=_exception(line),
        frames=(_placed(frame),) if frame is not None else (),
    )


def template_of(line: str, machines: frozenset[str] = frozenset()) -> str:
    """Give a line with `#` in place of what is a run's own.

    Args:
        line: without its prefix; what stands behind `LONGEST` characters is not looked at.
        machines: names of machines that may stand in it.
    """
    bare = line[:LONGEST]
    for name in sorted(machines, key=len, reverse=True):
        bare = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", _OPEN, bare)
    return wording(_QUOTED.sub(_unquoted, bare))


def _unquoted(match: re.Match[str]) -> str:
    """Keep a quoted name, which the code holds; what else is quoted is a value."""
    return match[0] if _NAME.fullmatch(match["text"]) else _OPEN


def _machines(analysis: Analysis) -> frozenset[str]:
    """Name the machines that processes were told to run on."""
    places = [source.where for source in analysis.sources]
    if analysis.first_failure is not None:
        places.append(analysis.first_failure.where)
    return frozenset(place.node for place in places if place.node and len(place.node) > 1)


def _deciding(analysis: Analysis, cause: str | None) -> Evidence[Said] | None:
    """Give the evidence that names a rule and speaks loudest for the cause."""
    told: Cause[Said] | None = next((one for one in analysis.causes if one.id == cause), None)
    if told is None:
        return None
    speaking = [item for item in told.evidence if item.kind in _DECIDING and item.weight > 0]
    return min(speaking, key=lambda item: (-item.weight, item.id), default=None)


def _named(analysis: Analysis, deciding: Evidence[Said] | None) -> tuple[str, ...]:
    hit = _hit_of(analysis, deciding)
    captures = dict(hit.captures) if hit is not None else {}
    found = {template_of(captures[name]) for name in _NAMES if captures.get(name)}
    return tuple(sorted(found))


def _hit_of(analysis: Analysis, deciding: Evidence[Said] | None) -> SignatureHit[Said] | None:
    """Give the finding that a piece of evidence tells of, at its line if that is listed."""
    if deciding is None:
        return None
    hits = [hit for hit in analysis.signatures if hit.id == deciding.id]
    place = (deciding.source, deciding.line)
    return next((hit for hit in hits if (hit.source, hit.line) == place), next(iter(hits), None))


def _failing_line(analysis: Analysis, deciding: Evidence[Said] | None) -> str:
    """Give the line of the first failure, else of the deciding rule, else the last bad one."""
    failure = analysis.first_failure
    if failure is not None:
        return _line_of(analysis, failure)
    hit = _hit_of(analysis, deciding)
    return _first_line(hit.text) if hit is not None else _last_bad_line(analysis.excerpt)


def _line_of(analysis: Analysis, failure: FirstFailure[Said]) -> str:
    """Give a line as it was printed, if it is quoted; else what is said of it."""
    rows = _rows_from(analysis, failure.source, failure.line)
    first = next(rows, "")
    if first.endswith(":"):
        first = f"{first} {next(rows, '')}".strip()
    if first:
        return first
    for hit in analysis.signatures:
        if (hit.source, hit.line) == (failure.source, failure.line):
            return _first_line(hit.text)
    return _first_line(str(failure.why))


def _rows_from(analysis: Analysis, source: int, line: int) -> Iterator[str]:
    """Yield the quoted lines from one on, without their prefixes."""
    for quote in (*analysis.quotes, *([analysis.excerpt] if analysis.excerpt else [])):
        if quote.source == source and quote.first_line <= line < quote.first_line + len(
            quote.lines
        ):
            for raw in quote.lines[line - quote.first_line :]:
                yield clean(raw[: 4 * LONGEST]).text.strip()
            return


def _last_bad_line(excerpt: Excerpt | None) -> str:
    """Give the last line that tells of something bad, else the last that says anything."""
    lines = excerpt.lines if excerpt is not None else ()
    told = [clean(raw[: 4 * LONGEST]).text.strip() for raw in reversed(lines)]
    told = [text for text in told if text]
    bad = (text for text in told if is_exception_line(text) or _PROMISING.search(text))
    saying = (text for text in told if not says_nothing(text, wording(text[:LONGEST])))
    return next(bad, "") or next(saying, "") or next(iter(told), "")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _exception(line: str) -> str:
    """Give the class of the exception that a line begins with."""
    if not is_exception_line(line):
        return ""
    match = _CLASS.match(line)
    return match["name"] if match else ""


def _placed(frame: OwnFrame) -> str:
    """Name a place in the code by function and file, without folders, numbers and lines."""
    base = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
    if base.startswith("<"):
        base = "<code>"
    function = frame.function.strip() or "<module>"
    if function.startswith("<cell line"):
        function = "<module>"
    return f"{_DIGITS.sub(_OPEN, function)} ({_DIGITS.sub(_OPEN, base)})"
