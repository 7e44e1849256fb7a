"""Choose timeline events and write each in one line.

In: a `Diagnosis`. Out: events chosen, short plain texts, not yet escaped. Not here: the timeline
itself (`story.timeline`), its lanes on the page.
"""

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import Event
from postmortem.report.plain import format_number, format_one_line, format_time, place, process
from postmortem.report.words import Words


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
