"""Texts on the verdict that several forms show: headline, status, evidence, milestones, redaction.

In: a `Diagnosis` and the phrases of its language. Out: short plain texts, not yet escaped; the
timeline events chosen, each in one line. Not here: texts on the run itself (`report.about_run`),
layout, judging, the timeline (`story.timeline`) and its lanes on the page.
"""

from typing import Final

from postmortem.core import names
from postmortem.core.answer import (
    Cause,
    DecisiveWords,
    Event,
    Evidence,
    Fix,
    SeriesView,
    SignatureHit,
    has_rival,
)
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import escape_control_characters, format_one_line
from postmortem.core.wording import Text
from postmortem.report.display import (
    detect_input_type,
    format_number,
    format_percent,
    format_time,
    list_log_sources,
    place,
    process,
)
from postmortem.report.redaction.redactor import KINDS, Redactor
from postmortem.report.words import Words
from postmortem.rules.vocabulary import Trait, has_trait

_LONGEST_TERM: Final = 80
_OPEN_END: Final = frozenset({"running", "incomplete"})


def get_main_cause(diagnosis: Diagnosis[Text]) -> Cause[Text] | None:
    """Give the cause that the verdict names, or None when it abstains."""
    return next((cause for cause in diagnosis.causes if cause.id == diagnosis.verdict.cause), None)


def list_other_causes(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """Give the causes that the verdict does not name; an input that is no log has none."""
    if detect_input_type(diagnosis):
        return ()
    return tuple(cause for cause in diagnosis.causes if cause.id != diagnosis.verdict.cause)


def select_strongest_evidence(cause: Cause, most: int) -> tuple[Evidence, ...]:
    """Choose the strongest evidence of a cause, in order.

    At least one item against it is kept if there is any.
    """
    items = sorted(cause.evidence, key=lambda item: -abs(item.weight))
    shown, against = items[:most], next((item for item in items if item.weight < 0), None)
    return tuple(
        shown if most < 2 or against is None or against in shown else [*shown[:-1], against]
    )


def format_evidence_terms(diagnosis: Diagnosis, item: Evidence, words: Words) -> str:
    """Name the words that carry evidence of a classifier, each group with its place."""
    groups = [
        format_terms(entry, words)
        + words("bracketed", text=place(diagnosis, entry.source, (entry.line, None), words))
        for entry in item.carried
        if entry.terms
    ]
    return words("carried", what=words("semicolon").join(groups)) if groups else ""


def format_terms(terms: DecisiveWords, words: Words) -> str:
    """Quote the words of a line."""
    return words("listed").join(
        words("quoted", text=format_one_line(term, _LONGEST_TERM)) for term in terms.terms
    )


def list_harmless_signatures(diagnosis: Diagnosis) -> tuple[SignatureHit, ...]:
    """Give the harmless signatures, each once, the first of its kind.

    Of a line that several know the most specific.
    """
    of_line: dict[tuple[int, int], SignatureHit] = {}
    for hit in diagnosis.signatures:
        if hit.role == "harmless":
            place_ = (hit.source, hit.line)
            of_line[place_] = max(of_line.get(place_, hit), hit, key=lambda item: item.literal)
    first: dict[str, SignatureHit] = {}
    for hit in of_line.values():
        first.setdefault(hit.id, hit)
    return tuple(first.values())


def is_sound(diagnosis: Diagnosis) -> bool:
    """Say whether health is the verdict, proved or not."""
    return has_trait(diagnosis.verdict.cause, Trait.SOUND)


def name_fix_kind(diagnosis: Diagnosis, index: int, fix: Fix, words: Words) -> str:
    """Name what kind of fix it is; that to begin with, index 1, unless the run is sound."""
    is_first = index == 1 and not is_sound(diagnosis)
    return words("kind.first") if is_first else words.either("kind", fix.kind)


def get_verdict_color(diagnosis: Diagnosis) -> str:
    """Name the colour of a verdict: good, bad, or open.

    Health that is only a guess is open: a log that just stops does not show that its run goes on.
    """
    if is_sound(diagnosis):
        return "open" if diagnosis.verdict.status == "hypothesis" else "good"
    return "open" if diagnosis.verdict.cause is None else "bad"


def get_outcome_color(diagnosis: Diagnosis) -> str:
    """Name the colour of an outcome: bad only for what failed, whatever its cause."""
    if diagnosis.outcome in names.ALARMING:
        return "bad"
    return "good" if get_verdict_color(diagnosis) == "good" else "open"


def format_outcome(diagnosis: Diagnosis, how: str, words: Words) -> str:
    """Give the word for an outcome.

    With a cause of failure, a log whose end is not shown does not read as running, and one that
    came to its end not as completed.
    """
    cause = diagnosis.verdict.cause
    if detect_input_type(diagnosis):
        return words("outcome.not-a-training-log")
    is_open = (
        how in _OPEN_END
        and get_verdict_color(diagnosis) != "good"
        and (cause is not None or how == "running")
    )
    if how == "completed" and get_verdict_color(diagnosis) == "bad":
        return words("outcome.through")
    return words("outcome.no-end") if is_open else words.either("outcome", how)


def format_title(diagnosis: Diagnosis, words: Words) -> str:
    """Give the headline.

    The title of the cause, that none was found, or what the input is if it is no log.
    """
    kind = detect_input_type(diagnosis)
    if kind:
        return words(f"input.{kind}", count=len(list_log_sources(diagnosis)))
    if diagnosis.verdict.cause is None:
        return words("abstain")
    cause = get_main_cause(diagnosis)
    return (
        format_one_line(cause.title, 300)
        if cause is not None and cause.title
        else diagnosis.verdict.cause
    )


def format_confidence(diagnosis: Diagnosis, words: Words) -> str:
    """Say how sure the verdict is: status word, what it means, probability.

    Nothing if there is no log to judge.
    """
    verdict = diagnosis.verdict
    if detect_input_type(diagnosis):
        return ""
    text = words(
        "standing",
        status=words.either("status", verdict.status),
        means=describe_status(diagnosis, words),
    )
    return text if verdict.cause is None else f"{text} · {format_percent(verdict.probability)}"


def describe_status(diagnosis: Diagnosis, words: Words) -> str:
    """Say what the status word means.

    "No evidence against it" is said only if there is none; "others fit" only if one comes near.
    """
    cause, status = get_main_cause(diagnosis), diagnosis.verdict.status
    is_mixed = (
        status == "supported"
        and cause is not None
        and any(item.weight < 0 for item in cause.evidence)
    )
    is_alone = status == "hypothesis" and not is_rivalled(diagnosis)
    if diagnosis.replay is not None and status == "established" and diagnosis.replay.confirmed:
        return words("means.replayed")
    return words.either("means", "mixed" if is_mixed else "alone" if is_alone else status)


def is_rivalled(diagnosis: Diagnosis) -> bool:
    """Say whether another cause fits about as well as one that is not proved."""
    best, second = next(iter(diagnosis.causes), None), next(iter(diagnosis.causes[1:]), None)
    return (
        diagnosis.verdict.status == "hypothesis"
        and best is not None
        and has_rival(best.probability, best.log_odds, None if second is None else second.log_odds)
    )


def format_owner_and_retry(diagnosis: Diagnosis, words: Words) -> str:
    """Say whose problem it is and whether to run again, as far as that is known.

    Nothing about a healthy run.
    """
    verdict, texts = diagnosis.verdict, []
    if is_sound(diagnosis):
        return ""
    if verdict.whose != "unknown":
        texts.append(words("problem", place=words.either("whose", verdict.whose)))
    if verdict.retry != "unknown":
        texts.append(words("retry") + words("colon") + words.either("retry", verdict.retry))
    return " · ".join(texts)


def format_signature_location(diagnosis: Diagnosis, hit: SignatureHit, words: Words) -> str:
    """Name where a signature was seen, by whom, and how often."""
    parts = [
        place(diagnosis, hit.source, (hit.line, hit.end_line), words),
        process(hit.where, words),
    ]
    if hit.count > 1:
        parts.append(words("times", count=hit.count))
    return words("joint").join(part for part in parts if part)


def describe_first_failure(diagnosis: Diagnosis, words: Words) -> str:
    """Say where the first failure is and why it counts, or nothing."""
    first = diagnosis.first_failure
    if first is None:
        return ""
    parts = [
        place(diagnosis, first.source, (first.line, None), words),
        process(first.where, words),
        format_time(first.time),
    ]
    texts = (words("joint").join(part for part in parts if part), format_one_line(first.why, 400))
    return words("colon").join(part for part in texts if part)


def format_sample_location(step: float | None, line: int, words: Words) -> str:
    """Name the place of a sample: its step, if it was printed, and its line."""
    at_line = words("at-line", value=line)
    return (
        at_line
        if step is None
        else words("at-step", value=format_number(step)) + words("joint") + at_line
    )


def describe_single_point(series: SeriesView, words: Words) -> str:
    """Say what a curve of one point would show."""
    step, value, line = series.samples[0]
    return words(
        "curve.one", value=format_number(value), place=format_sample_location(step, line, words)
    )


def list_advisories(diagnosis: Diagnosis) -> tuple[Evidence, ...]:
    """List the known defects of the installed versions that are evidence for some cause."""
    return tuple(
        {
            item.id: item
            for cause in diagnosis.causes
            for item in cause.evidence
            if item.kind == "advisory"
        }.values()
    )


def list_verdict_changes(diagnosis: Diagnosis) -> tuple[str, ...]:
    """List what would change the verdict, except what is shown with another cause already."""
    shown = tuple(
        cause.separated_by for cause in list_other_causes(diagnosis) if cause.separated_by
    )
    return tuple(
        text for text in diagnosis.verdict.would_change if not shown or not text.endswith(shown)
    )


def describe_redactions(redactor: Redactor | None, words: Words) -> str:
    """Say what was hidden; nothing if nothing was asked to be."""
    if redactor is None:
        return ""
    counts = redactor.counts
    texts = [words(f"hidden.{kind}", count=counts[kind]) for kind in KINDS if kind in counts]
    return words("hidden", what=words("joint").join(texts)) if texts else words("hidden.nothing")


def split_paragraphs(text: str) -> tuple[str, ...]:
    """Split a text of the knowledge base at its empty lines."""
    parts = (" ".join(part.split()) for part in escape_control_characters(text).split("\n\n"))
    return tuple(part for part in parts if part)


def select_milestones(diagnosis: Diagnosis, most: int) -> tuple[Event, ...]:
    """Choose events of the timeline for a short form.

    The first, the last, and those around the first failure.
    """
    events, first = diagnosis.timeline, diagnosis.first_failure
    if len(events) <= most:
        return events
    middle = next(
        (
            index
            for index, event in enumerate(events)
            if first is not None and (event.source, event.line) == (first.source, first.line)
        ),
        len(events) - 1,
    )
    begin = max(1, min(middle - (most - 2) // 2, len(events) - most + 1))
    return (events[0], *events[begin : begin + most - 2], events[-1])


def format_milestone(diagnosis: Diagnosis, event: Event, words: Words) -> tuple[str, str]:
    """Say where and when an event was, and what it was."""
    parts = [
        place(diagnosis, event.source, (event.line, None), words),
        process(event.where, words),
        format_time(event.time),
    ]
    if event.step is not None:
        parts.append(words("at-step", value=format_number(event.step)))
    return "  ".join(part for part in parts if part), format_one_line(
        words("colon").join(part for part in split_event_text(event) if part), 200
    )


def split_event_text(event: Event) -> tuple[str, str]:
    """Give what an event means and the line that says it; either may be empty."""
    line = event.text.removeprefix(event.title).lstrip(" :：") if event.title else event.text
    return event.title, line
