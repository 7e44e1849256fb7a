"""A replay on a page: a section of a report, or a page of its own.

In: a `Replayed` and words. Out: what the template shows, with the chart of the largest value at
each module against the limit of its dtype, as SVG with a title and a description; HTML. Not here:
the frame of the page and its policy (`page.frame`), sections as text (`report.replay_texts`).
"""

import math
from typing import Any, Final

from markupsafe import Markup, escape

from postmortem.core.diagnosis import ModulePeak, Replayed
from postmortem.core.log_text import format_one_line
from postmortem.core.message import Message
from postmortem.core.names import LANGUAGES
from postmortem.report import parts, replay_texts
from postmortem.report.display import format_number, translate_replay
from postmortem.report.page.frame import build_article, render_page, render_template
from postmortem.report.redacted import redact_report
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.replay_texts import is_over
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

_WIDTH, _HEIGHT = 720, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 14, 22, 30
_MOST: Final = 240
"""Modules that are drawn; of more, each stretch's greatest."""
_LEAST: Final = -12.0
_NAMED: Final = 60


def draw_peaks(found: Replayed, words: Words) -> Markup | None:
    """Draw the peaks; nothing if there are none."""
    shown = _select_peaks(found)
    if not shown or not any(peak.output > 0 for peak in shown):
        return None
    low, high = _compute_range(shown, found.limit)
    over = sum(is_over(peak, found) for peak in found.peaks)
    description = words(
        "replay.peaks.said",
        count=len(found.peaks),
        over=over,
        dtype=found.limit_of,
        limit=format_number(found.limit),
    )
    name = f"{words.language}-peaks"
    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}">',
        f'<title id="{name}">{escape(description)}</title>',
        *_draw_grid(low, high),
        *_draw_bars(shown, found, (low, high), words),
        *_draw_limit(found, low, high, words),
        "</svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 -- our own drawing, its text escaped


def _select_peaks(found: Replayed) -> list[ModulePeak]:
    """Choose of each stretch the one that says most, in order."""
    count = len(found.peaks)
    if count <= _MOST:
        return list(found.peaks)
    wide = count / _MOST
    return [
        max(
            found.peaks[int(place * wide) : max(int(place * wide) + 1, int((place + 1) * wide))],
            key=lambda peak: (is_over(peak, found), peak.output),
        )
        for place in range(_MOST)
    ]


def _compute_range(shown: list[ModulePeak], limit: float) -> tuple[float, float]:
    """Give the powers of ten between which all values stand; the limit if they come near it."""
    logs = [_log(peak.output) for peak in shown if peak.output > 0]
    low, high = math.floor(min(logs)), math.ceil(max(logs)) + 0.5
    near = _log(limit)
    return max(float(low) - 0.5, _LEAST), max(high, near + 0.7) if near < high + 6 else high


def _log(value: float) -> float:
    return math.log10(max(value, 10.0**_LEAST))


def _compute_y(value: float, low: float, high: float) -> float:
    share = (min(max(value, low), high) - low) / max(high - low, 1e-9)
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _draw_grid(low: float, high: float) -> list[str]:
    every = max(1, math.ceil((high - low) / 7))
    lines = []
    for power in range(math.ceil(low), math.floor(high) + 1, every):
        y = _compute_y(power, low, high)
        lines.append(f'<path class="grid" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>')
        lines.append(
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">1e{power}</text>'
        )
    return lines


def _draw_bars(
    shown: list[ModulePeak], found: Replayed, span: tuple[float, float], words: Words
) -> list[str]:
    room = (_WIDTH - _LEFT - _RIGHT) / len(shown)
    wide = max(1.0, min(24.0, room * 0.7))
    foot, drawn, is_named = _HEIGHT - _BOTTOM, list[str](), False
    for place, peak in enumerate(shown):
        x = round(_LEFT + room * (place + 0.5) - wide / 2, 1)
        is_bad = is_over(peak, found)
        top = (
            _TOP if not peak.is_finite and not peak.output else _compute_y(_log(peak.output), *span)
        )
        title = escape(
            format_one_line(
                f"{peak.module or '–'} · {peak.kind}{words('colon')}{format_number(peak.output)}",
                160,
            )
        )
        drawn.append(
            f'<rect class="peak{" over" if is_bad else ""}" x="{x}" y="{top}" width="{wide:.1f}"'
            f' height="{max(1.0, foot - top):.1f}"><title>{title}</title></rect>'
        )
        if is_bad and not is_named:
            is_named = True
            drawn.append(_name(peak, x + wide / 2))
    first, last = escape(_shorten_module_name(shown[0])), escape(_shorten_module_name(shown[-1]))
    drawn.append(f'<text class="tick" x="{_LEFT}" y="{_HEIGHT - 10}">{first}</text>')
    if len(shown) > 1:
        drawn.append(
            f'<text class="tick" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 10}"'
            f' text-anchor="end">{last}</text>'
        )
    return drawn


def _shorten_module_name(peak: ModulePeak) -> str:
    return format_one_line(peak.module or "–", 32)


def _name(peak: ModulePeak, x: float) -> str:
    """Name the first module beyond the limit, above its bar."""
    anchor = "end" if x > _WIDTH * 0.6 else "start"
    text = escape(format_one_line(peak.module or "–", _NAMED))
    return (
        f'<text class="bad-label" x="{x:.1f}" y="{_TOP - 8}" text-anchor="{anchor}">{text}</text>'
    )


def _draw_limit(found: Replayed, low: float, high: float, words: Words) -> list[str]:
    limit = _log(found.limit)
    if not low <= limit <= high:
        return []
    y = _compute_y(limit, low, high)
    label = escape(f"{found.limit_of}{words('colon')}{format_number(found.limit)}")
    return [
        f'<path class="peak-limit" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>',
        f'<text class="chart-note" x="{_LEFT + 4}" y="{y - 5}">{label}</text>',
    ]


MOODS: Final = {
    "confirmed": "bad",
    "refuted": "good",
    "not-reproduced": "open",
    "not-testable": "",
}


def render_replay(found: Replayed[Message], language: str, redactor: Redactor | None) -> str:
    """Write a page that opens in a language and can be switched to the others."""
    languages = [language, *(other for other in LANGUAGES if other != language)]
    return render_page([_render_article(found, code, redactor) for code in languages], [])


def _render_article(
    found: Replayed[Message], language: str, redactor: Redactor | None
) -> dict[str, Any]:
    words = Words(language)
    shown = redact_report(translate_replay(found, language), redactor)
    body = render_template(
        "replay.html.j2",
        say=words,
        replay=replay_context(shown, words),
        made=f"postmortem {get_tool_version()}",
        hidden=parts.describe_redactions(redactor, words),
    )
    return build_article(words, words("replay.title"), body, charts=[])


def replay_context(found: Replayed | None, words: Words) -> dict[str, Any] | None:
    """Give what the section shows; None if nothing was replayed."""
    if found is None:
        return None
    shown = replay_texts.sort_trials(found)
    return {
        "summary": found.summary,
        "facts": replay_texts.list_replay_facts(found, words),
        "verdicts": [
            (
                words("replay.verdict." + cause.verdict),
                MOODS[cause.verdict],
                cause.title or cause.cause,
                cause.cause,
                words("semicolon").join(cause.reasons),
            )
            for cause in replay_texts.sort_tested_causes(found)
        ],
        "culprits": [
            replay_texts.describe_faulty_sample(culprit, words) for culprit in found.culprits
        ],
        "trials": [
            (trial.title, words("replay.outcome." + trial.outcome), trial.text)
            for trial in shown
            if trial.outcome != "skipped"
        ],
        "skipped": [(trial.title, trial.text) for trial in shown if trial.outcome == "skipped"],
        "drawing": draw_peaks(found, words),
        "peaks_of": words(
            "replay.peaks.of",
            of=found.peaks_of,
            dtype=found.limit_of,
            limit=format_number(found.limit),
        ),
        "notes": replay_texts.list_notes(found, words),
        "mood": "bad" if found.confirmed else "open",
    }
