"""Prepare an analysis for display: in one language, with what readers need filled in.

In: an `Analysis` or a `Replayed`, a language. Out: a `Diagnosis`, a `Replayed` in it; the same
findings with better texts: an input that is no log is named, a blank first failure filled in. Not
here: labels of the reports (`report.words`), judging, layout, redaction. This is the one place
where a language is chosen.
"""

from dataclasses import replace
from typing import Final

from postmortem.core.answer import Event, FirstFailure
from postmortem.core.diagnosis import Analysis, Diagnosis, Replayed
from postmortem.core.findings import Source
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message
from postmortem.core.wording import convert_texts
from postmortem.report.plain import iter_kept_lines, read_sources, shorten_source_path
from postmortem.report.words import Words


def translate_analysis(analysis: Analysis, language: str) -> Diagnosis:
    """Give the same with all texts in `en` or `zh`."""
    diagnosis: Diagnosis = convert_texts(analysis, lambda message: message.text(language))
    return replace(diagnosis, language=language)


def translate_replay(found: Replayed[Message], language: str) -> Replayed:
    """Give the same with all texts in `en` or `zh`."""
    chosen: Replayed = convert_texts(found, lambda said: said.text(language))
    return chosen


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
