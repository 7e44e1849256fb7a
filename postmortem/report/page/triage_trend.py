"""The trend of failed jobs over time by cause: bars, legend and values.

In: the plain values of `postmortem.triage/1`. Out: plain values for the template, with a stacked
bar chart of counts over time as inline SVG whose colours are CSS classes of `templates/triage.css`.
Not here: the other sections (`page.triage_sections`).
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from postmortem.core.log_text import escape_control_characters
from postmortem.report.page.triage_cells import (
    TRIAGE,
    FilterLink,
    count,
    format_timestamp,
    get_title,
)

_WIDTH: Final = 900
_HEIGHT: Final = 190
_LEFT: Final = 46
_RIGHT: Final = 4
_TOP: Final = 12
_BOTTOM: Final = 24
_GAP: Final = 0.18
"""Of a bar's room that stays free."""
_STEPS: Final = (1, 2, 5)
_TICKS: Final = 4


class StackedBar(NamedTuple):
    """One bar: what stands below it, and the height of each part from the bottom up."""

    label: str
    parts: Sequence[int]


def draw_stacked_bars(bars: Sequence[StackedBar], key: str, title: str, described: str) -> str:
    """Draw bars; `key` makes the ids unique within a page."""
    most = max((sum(bar.parts) for bar in bars), default=0)
    step = _select_grid_step(most)
    top = max(step, -(-most // step) * step)
    name = escape(key)
    return "".join(
        (
            f'<svg class="chart stacked" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
            f' aria-labelledby="{name}-t {name}-d" xmlns="http://www.w3.org/2000/svg">',
            f'<title id="{name}-t">{escape(title)}</title>',
            f'<desc id="{name}-d">{escape(escape_control_characters(described))}</desc>',
            *_draw_grid(top, step),
            *(part for at, bar in enumerate(bars) for part in _draw_bar(bar, at, len(bars), top)),
            *_draw_labels(bars),
            "</svg>",
        )
    )


def _select_grid_step(most: int) -> int:
    """Choose the distance of the lines: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in _STEPS:
            if step * power * _TICKS >= most:
                return step * power
        power *= 10


def _compute_y(value: float, top: int) -> float:
    return round(_HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP), 1)


def _compute_slot_width(count: int) -> float:
    return (_WIDTH - _LEFT - _RIGHT) / max(1, count)


def _draw_grid(top: int, step: int) -> Iterator[str]:
    for value in range(0, top + 1, step):
        y = _compute_y(value, top)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>'
        yield (
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>'
        )


def _draw_bar(bar: StackedBar, at: int, count: int, top: int) -> Iterator[str]:
    room, below = _compute_slot_width(count), 0
    x, width = _LEFT + at * room + room * _GAP / 2, room * (1 - _GAP)
    for number, part in enumerate(bar.parts):
        if part:
            y = _compute_y(below + part, top)
            yield (
                f'<rect class="part-{number}" x="{x:.1f}" y="{y}" width="{width:.1f}"'
                f' height="{_compute_y(below, top) - y:.1f}"/>'
            )
        below += part


def _draw_labels(bars: Sequence[StackedBar]) -> Iterator[str]:
    """Name the first bar, the one in the middle and the last."""
    last, room = len(bars) - 1, _compute_slot_width(len(bars))
    for at in sorted({0, last // 2, last} if last > 3 else {0, last}):
        anchor = "start" if at == 0 else "end" if at == last else "middle"
        x = _LEFT + (at + {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]) * room
        yield (
            f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">'
            f"{escape(escape_control_characters(bars[at].label))}</text>"
        )


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
