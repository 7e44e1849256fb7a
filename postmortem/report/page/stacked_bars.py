"""A stacked bar chart of counts over time as inline SVG; a pure function.

In: spans with a count for each part. Out: SVG text whose colours are CSS classes of
`templates/triage.css`. Not here: which parts there are (`page.triage_trend`).
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from postmortem.core.visible import escape_control_characters

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
