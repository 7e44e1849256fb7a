"""The trend of failed jobs over time by cause: bars, legend and values.

In: the plain values of `postmortem.triage/1`. Out: plain values for the template. Not here: the
drawing itself (`page.stacked_bars`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.report.page.stacked_bars import StackedBar, draw_stacked_bars
from postmortem.report.page.triage_cells import FilterLink, count, format_timestamp, get_title
from postmortem.report.words.triage_words import TRIAGE

_COLOURS: Final = 6
"""Causes with a colour of their own; then the others together, then jobs without a cause."""
_OTHERS, _REST = 6, 7
_UNNAMED: Final = ""
"""What a span calls failed jobs without a cause."""
_Value = Mapping[str, Any]


def build_trend(value: _Value, language: str) -> dict[str, Any] | None:
    """Give the trend in a language; None if no job has a time."""
    spans = value["trend"]
    if not spans:
        return None
    phrases = TRIAGE[language]
    causes = _select_top_causes(value)
    bars = [
        StackedBar(format_timestamp(span["from"]), _split_by_cause(span, causes)) for span in spans
    ]
    shown = [part for part in range(_REST + 1) if any(bar.parts[part] for bar in bars)]
    titles = {
        cause["cause"]: get_title(cause, language, phrases["unnamed"]) for cause in value["causes"]
    }
    legend = [_build_legend_entry(part, causes, titles, phrases) for part in shown]
    most = max(bars, key=lambda bar: sum(bar.parts))
    described = phrases["trend.described"].format(
        buckets=len(bars),
        first=bars[0].label,
        last=bars[-1].label,
        most=count(sum(most.parts)),
        when=most.label,
    )
    drawing = draw_stacked_bars(bars, f"{language}-trend-bars", phrases["trend"], described)
    return {
        "drawing": Markup(drawing),  # noqa: S704 -- our own, its texts escaped
        "legend": legend,
        "head": [
            phrases["from"],
            phrases["jobs"],
            phrases["failed"],
            *(name.text for _, name in legend),
        ],
        "rows": [
            [
                bar.label,
                count(span["jobs"]),
                count(sum(bar.parts)),
                *(count(bar.parts[part]) for part in shown),
            ]
            for bar, span in zip(bars, spans, strict=True)
        ],
    }


def _select_top_causes(value: _Value) -> list[str]:
    """Give the causes that have a colour: the most frequent over all spans."""
    total: dict[str, int] = {}
    for span in value["trend"]:
        for cause, jobs in span["causes"].items():
            if cause != _UNNAMED:
                total[cause] = total.get(cause, 0) + jobs
    return sorted(total, key=lambda cause: (-total[cause], cause))[:_COLOURS]


def _split_by_cause(span: _Value, causes: Sequence[str]) -> list[int]:
    """Split the failed jobs of a span: causes with a colour, others, none."""
    by_cause = span["causes"]
    own = [by_cause.get(cause, 0) for cause in causes]
    own += [0] * (_COLOURS - len(own))
    rest = by_cause.get(_UNNAMED, 0)
    return [*own, sum(by_cause.values()) - sum(own) - rest, rest]


def _build_legend_entry(
    part: int, causes: Sequence[str], titles: Mapping[str | None, str], phrases: Mapping[str, str]
) -> tuple[int, FilterLink]:
    if part == _OTHERS:
        return part, FilterLink("", "", phrases["trend.others"])
    if part == _REST:
        return part, FilterLink("", "", phrases["trend.rest"])
    return part, FilterLink("cause", causes[part], titles.get(causes[part], causes[part]))
