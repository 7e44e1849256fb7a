"""Fingerprints: an id that the same failure has in each run, from what does not change.

In: an `Analysis`. Out: a `FailureSummary` (cause, deciding rule, failing line, own code) and its
`Fingerprint`. Not here: failures that are alike but not the same (`fleet.failure_clusters`).

Two jobs have failed the same way when they have the same cause, by the same rule, in the same place
of the user's own code. The process, the machine, the step, sizes and paths do not count. A cause
that curves show and no text has no rule: all of it is one group. So is health. Where the program
abstains, or names a cause only for lack of another, the wording of the failing line takes the place
of the rule, and the group is found by similarity.

What differs from run to run is taken out by the wording that the comparison of two runs goes by
(`extraction.line_noise`): numbers, paths, addresses, hashes, ids, times; and the machines that the
analysis names, and quoted text that is more than a name.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from postmortem.core.answer import Cause, Evidence, Excerpt, SignatureHit
from postmortem.core.diagnosis import Analysis
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message
from postmortem.diagnosis.inference.scoring import WEIGHTS
from postmortem.extraction.frames import is_exception_line, is_library, match_frame
from postmortem.extraction.line_noise import is_uninformative, normalize_line
from postmortem.reading.prefixes import clean
from postmortem.rules.vocabulary import Trait, has_trait

LONGEST: Final = 400
"""Characters of a failing line that are looked at."""
_OPEN: Final = "#"
_DECIDING: Final = frozenset({"signature", "advisory", "traceback"})
"""Kinds of evidence that name a rule about a text; curves and a model's opinion name none."""
_NAMES: Final = (
    "module", "package", "library", "symbol", "attribute", "option", "argument", "keyword",
)  # fmt: skip
"""Captures of a rule that name the thing that failed, the same in every run."""
_QUOTED: Final = compile_lazily(r"(?<!\w)(['\"`])(?P<text>[^'\"`\n]{1,300})\1(?!\w)")
_NAME: Final = compile_lazily(r"[A-Za-z_][A-Za-z_.\[\]-]{0,60}")
_DRAWN: Final = compile_lazily("(?<=\\|)[ \u2500-\u259f]+(?=\\|)|[\u2500-\u259f]+")
"""Bars and boxes: how far a bar has come is a run's own."""
_PROMISING: Final = compile_lazily(
    r"error|fatal|fail|exception|abort|panic|killed|denied|refused|invalid|cannot|can't|unable"
    r"|not found|no such|timed? ?out",
    re.IGNORECASE,
)
_OWN_FILES: Final = (".py", ".ipynb")
_DIGITS: Final = compile_lazily(r"\d+")
_CLASS: Final = compile_lazily(r"(?:[A-Za-z_]\w{0,80}\.){0,8}(?P<name>[A-Za-z_]\w{0,80})(?::|$)")


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """One failure without what is specific to its run."""

    cause: str | None
    """None where the program abstains."""
    rule: str
    """Id of the signature, advisory or exception that tells the cause; may be empty."""
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


def summarize_failure(analysis: Analysis) -> FailureSummary:
    """Give what grouping needs of an analysis."""
    cause = analysis.verdict.cause
    deciding = _find_deciding_evidence(analysis, cause)
    hit = _find_signature_hit(analysis, deciding)
    line = (_get_first_line(hit.text) if hit is not None else _get_failing_line(analysis))[:LONGEST]
    frame = _find_user_frame(analysis, hit)
    return FailureSummary(
        cause=cause,
        rule=deciding.id if deciding is not None else "",
        named=_extract_named_captures(hit),
        line=line,
        template=build_template(line, _collect_hosts(analysis)),
        exception=_extract_exception_class(line),
        frames=(frame,) if frame else (),
    )


def build_template(line: str, machines: frozenset[str] = frozenset()) -> str:
    """Give a line with `#` in place of what is a run's own.

    Args:
        line: without its prefix; what stands behind `LONGEST` characters is not looked at.
        machines: names of machines that may stand in it.
    """
    bare = line[:LONGEST]
    for name in sorted(machines, key=len, reverse=True):
        bare = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", _OPEN, bare)
    return normalize_line(_DRAWN.sub("", _QUOTED.sub(_mask_quoted_value, bare)))


def _mask_quoted_value(match: re.Match[str]) -> str:
    """Keep a quoted name, which the code holds; what else is quoted is a value."""
    return match[0] if _NAME.fullmatch(match["text"]) else _OPEN


def _collect_hosts(analysis: Analysis) -> frozenset[str]:
    """List the hosts that a launcher assigned to processes."""
    places = [source.where for source in analysis.sources]
    if analysis.first_failure is not None:
        places.append(analysis.first_failure.where)
    return frozenset(place.node for place in places if place.node and len(place.node) > 1)


def _find_deciding_evidence(analysis: Analysis, cause: str | None) -> Evidence[Message] | None:
    """Give the evidence for the cause that names a rule: at the first failure, else the loudest."""
    named_cause: Cause[Message] | None = next(
        (candidate for candidate in analysis.causes if candidate.id == cause), None
    )
    if named_cause is None:
        return None
    least = WEIGHTS["weak"]
    speaking = [
        evidence
        for evidence in named_cause.evidence
        if evidence.kind in _DECIDING and evidence.weight > least
    ]
    first = analysis.first_failure
    place = (first.source, first.line) if first is not None else None
    return min(
        speaking,
        key=lambda item: ((item.source, item.line) != place, -item.weight, item.line or 0, item.id),
        default=None,
    )


def _extract_named_captures(hit: SignatureHit[Message] | None) -> tuple[str, ...]:
    captures = dict(hit.captures) if hit is not None else {}
    found = {build_template(captures[name]) for name in _NAMES if captures.get(name)}
    return tuple(sorted(found))


def _find_signature_hit(
    analysis: Analysis, deciding: Evidence[Message] | None
) -> SignatureHit[Message] | None:
    """Find the finding of a piece of evidence, at its line if that is listed."""
    if deciding is None:
        return None
    hits = [hit for hit in analysis.signatures if hit.id == deciding.id]
    place = (deciding.source, deciding.line)
    return next((hit for hit in hits if (hit.source, hit.line) == place), next(iter(hits), None))


def _get_failing_line(analysis: Analysis) -> str:
    """Give the line of the first failure, else the last line that reports a problem."""
    failure = analysis.first_failure
    if failure is None:
        return _find_last_bad_line(analysis.excerpt)
    line = _get_first_line(str(failure.why))
    if is_exception_line(line):
        return line
    for hit in analysis.signatures:
        if (hit.source, hit.line) == (failure.source, failure.line):
            return _get_first_line(hit.text)
    rows = _iter_quoted_lines_from(analysis, failure.source, failure.line)
    first = next(rows, "")
    return f"{first} {next(rows, '')}".strip() if first.endswith(":") else first or line


def _iter_quoted_lines_from(analysis: Analysis, source: int, line: int) -> Iterator[str]:
    """Yield the quoted lines from one on, without their prefixes."""
    for quote in _iter_excerpts_with_line(analysis, source, line):
        yield from (_strip_prefix(raw).strip() for raw in quote.lines[line - quote.first_line :])


def _iter_quoted_lines_before(analysis: Analysis, source: int, line: int) -> Iterator[str]:
    """Yield the quoted lines before one, without their prefixes, indented as they are."""
    for quote in _iter_excerpts_with_line(analysis, source, line):
        yield from (_strip_prefix(raw) for raw in quote.lines[: line - quote.first_line])


def _iter_excerpts_with_line(analysis: Analysis, source: int, line: int) -> Iterator[Excerpt]:
    """Yield the first quote that holds a line, if there is one."""
    quotes = (*analysis.quotes, *((analysis.excerpt,) if analysis.excerpt is not None else ()))
    found = (
        quote
        for quote in quotes
        if quote.source == source and quote.first_line <= line < quote.first_line + len(quote.lines)
    )
    yield from islice(found, 1)


def _strip_prefix(raw: str) -> str:
    return clean(raw[: 4 * LONGEST]).text


def _find_last_bad_line(excerpt: Excerpt | None) -> str:
    """Give the last line that reports a problem, else the last line with text."""
    lines = excerpt.lines if excerpt is not None else ()
    texts = [_strip_prefix(raw).strip() for raw in reversed(lines)]
    texts = [text for text in texts if text]
    bad = (text for text in texts if is_exception_line(text) or _PROMISING.search(text))
    saying = (text for text in texts if not is_uninformative(text, normalize_line(text[:LONGEST])))
    return next(bad, "") or next(saying, "") or next(iter(texts), "")


def _get_first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _extract_exception_class(line: str) -> str:
    """Give the class of the exception that a line begins with."""
    if not is_exception_line(line):
        return ""
    match = _CLASS.match(line)
    return match["name"] if match else ""


def _find_user_frame(analysis: Analysis, hit: SignatureHit[Message] | None) -> str:
    """Name the user code that made the failing call, if a traceback shows it; else ""."""
    first = analysis.first_failure
    place = (hit.source, hit.line) if hit is not None else None
    quoted = _find_quoted_user_frame(analysis, *place) if place is not None else ""
    if first is None or quoted:
        return quoted
    is_there = place is None or (first.source == place[0] and first.line <= place[1])
    frame = first.frame if is_there else None
    location = _format_code_location(frame.file, frame.function) if frame is not None else ""
    return location or (
        _find_quoted_user_frame(analysis, first.source, first.line) if place is None else ""
    )


def _find_quoted_user_frame(analysis: Analysis, source: int, line: int) -> str:
    """Give the innermost frame of the user's own code in a traceback that ends in a quoted line.

    Of a traceback that is not quoted whole, none: how much is quoted differs from run to run.
    """
    own, is_whole = "", False
    for text in _iter_quoted_lines_before(analysis, source, line):
        if "Traceback (most recent call last)" in text:
            own, is_whole = "", True
        elif (match := match_frame(text)) is not None and not is_library(match["file"]):
            own = _format_code_location(match["file"], match["function"] or "") or own
    return own if is_whole else ""


def _format_code_location(file: str, function: str) -> str:
    """Name a place in the code by function and file, without folders, numbers and lines.

    A launcher's own script, which has no suffix, and compiled code are no place of the user's.
    """
    base = file.replace("\\", "/").rsplit("/", 1)[-1]
    if base.startswith("<"):
        base = "notebook"
    elif not base.endswith(_OWN_FILES):
        return ""
    name = "<module>" if function.startswith("<cell line") else function.strip() or "<module>"
    return f"{_DIGITS.sub(_OPEN, name)} ({_DIGITS.sub(_OPEN, base)})"


FINGERPRINT_VERSION: Final = 1
"""Of what counts: it is part of every id, so that ids of two versions are never compared."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What jobs with the same failure share."""

    id: str
    """`g1-3fa9c2d41b07`: version, hash. Of an open one `o1-3fa9c2d4-1b07a1c3`, with the hash of its
    scope, which begins with `p` where the scope holds a place in the user's own code."""
    cause: str | None
    is_open: bool
    """The cause is not known: the group is found by `failure_clusters`, not by this id."""
    template: str


def compute_fingerprint(summary: FailureSummary) -> Fingerprint:
    """Compute the fingerprint of a failure."""
    cause, is_open = summary.cause, is_left_open(summary.cause)
    if is_open:
        scope = compute_short_hash(cause or "", summary.exception, *summary.frames)
        kind = "p" if summary.frames else "o"
        name = f"{kind}{FINGERPRINT_VERSION}-{scope}-{compute_short_hash(scope, summary.template)}"
    else:
        parts = (summary.rule or summary.exception, *summary.named, "in", *summary.frames)
        is_healthy = has_trait(cause, Trait.SOUND)
        digest = compute_short_hash(cause or "", *(() if is_healthy else parts), length=12)
        name = f"g{FINGERPRINT_VERSION}-{digest}"
    return Fingerprint(name, cause, is_open, summary.template)


def is_left_open(cause: str | None) -> bool:
    """Say whether a cause says too little for a group: none, or one for want of another."""
    if cause is None:
        return True
    is_left = has_trait(cause, Trait.RESIDUAL) or has_trait(cause, Trait.UNEXPLAINED)
    return is_left and not has_trait(cause, Trait.SOUND)


def compute_short_hash(*parts: str, length: int = 8) -> str:
    """Give the same few hexadecimal digits for the same texts, on every machine."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=length // 2).hexdigest()
