"""Prepare a diagnosis for display: name an input that is no log, fill in a blank first failure.

In: a `Diagnosis`. Out: a `Diagnosis` with the same findings and better texts. Not here: judging,
layout, redaction.
"""

from dataclasses import replace
from typing import Final

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.job_facts import Source
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.shown import Event, FirstFailure
from postmortem.report.plain import iter_kept_lines, read_sources, shorten_source_path
from postmortem.report.words import Words

_LARGEST_BLANK: Final = 4096
"""Bytes up to which the end of a file is all of it: if that holds nothing, the file is blank."""
_WITHOUT_LOG: Final = frozenset({"not-a-training-log", "incomplete"})
_NO_CONTENT: Final = compile_lazily(r"[\s:：,;.—-]*")
_BARE_EXCEPTION: Final = compile_lazily(r"([\w.]+)\s*:\s*")


def prepare_for_display(diagnosis: Diagnosis) -> Diagnosis:
    """Mend the texts of a diagnosis; findings, numbers and places stay."""
    words = Words(diagnosis.language)
    first = _fill_first_failure(diagnosis)
    shown = replace(
        diagnosis,
        first_failure=first,
        timeline=tuple(
            _update_failure_event(event, diagnosis.first_failure, first, words)
            for event in diagnosis.timeline
        ),
    )
    kind = detect_input_type(diagnosis)
    if not kind:
        return shown
    name = next(
        (
            shorten_source_path(diagnosis, index, words)
            for index, source in enumerate(diagnosis.sources)
            if source.kind == "environment" and source.path != "-"
        ),
        "env.txt",
    )
    return replace(
        shown,
        verdict=replace(
            shown.verdict,
            summary=words(f"input.{kind}.says", name=name),
            need=(),
            not_checked=(),
            would_change=(),
        ),
    )


def detect_input_type(diagnosis: Diagnosis) -> str:
    """Tell what an input without any log is: `empty`, `blank`, `environment` or `other`.

    An empty string if there is a log.
    """
    read = read_sources(diagnosis)
    if diagnosis.verdict.cause is not None or not read:
        return ""
    logs = list_log_sources(diagnosis)
    if not logs:
        return "" if diagnosis.outcome == "stalled" else "environment"
    if not any(log.bytes for log in logs):
        return "empty"
    if diagnosis.outcome in _WITHOUT_LOG and _is_blank(diagnosis, logs):
        return "blank"
    return "other" if diagnosis.outcome == "not-a-training-log" else ""


def list_log_sources(diagnosis: Diagnosis) -> tuple[Source, ...]:
    """Give the sources that were read as a log, not as an environment dump."""
    return tuple(source for source in read_sources(diagnosis) if source.kind != "environment")


def _is_blank(diagnosis: Diagnosis, logs: tuple[Source, ...]) -> bool:
    """Say whether a log holds blank lines only: then no end of it was kept to be quoted."""
    excerpt = diagnosis.excerpt
    is_quoted = excerpt is not None and diagnosis.sources[excerpt.source].kind != "environment"
    return (
        not is_quoted
        and not diagnosis.signatures
        and not diagnosis.series
        and sum(log.bytes for log in logs) <= _LARGEST_BLANK
    )


def _fill_first_failure(diagnosis: Diagnosis) -> FirstFailure | None:
    """Give the first failure with words for it.

    An exception without name and message is quoted from the log, or left unsaid.
    """
    first = diagnosis.first_failure
    if first is None:
        return None
    bare = _BARE_EXCEPTION.fullmatch(first.why)
    if bare:
        return replace(first, why=bare[1])
    if not _NO_CONTENT.fullmatch(first.why):
        return first
    sentence = (
        quote.strip().partition("\n")[0]
        for quote in iter_kept_lines(diagnosis, first.source, first.line)
    )
    return replace(
        first, why=next((quote for quote in sentence if not _NO_CONTENT.fullmatch(quote)), "")
    )


def _update_failure_event(
    event: Event, before: FirstFailure | None, first: FirstFailure | None, words: Words
) -> Event:
    """Give the timeline's entry of the first failure the same words."""
    if (
        before is None
        or first is None
        or before.why == first.why
        or (event.source, event.line) != (first.source, first.line)
        or not event.text.endswith(before.why)
    ):
        return event
    label = event.text.removesuffix(before.why).rstrip(" :：")
    return replace(event, text=words("colon").join(part for part in (label, first.why) if part))
