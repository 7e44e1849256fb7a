"""The page: one self-contained HTML file, no network, light and dark, fit for a phone and for paper; whole without its one script.

In: a `Diagnosis`. Out: HTML. Not here: the layout (`templates/report.html.j2`, `templates/style.css`).
Every value passes `plain.safe` and then Jinja's escaping; only our own SVG, style sheet and script are marked as safe. The page's policy names the script by its
hash, so that nothing else can run.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from postmortem.model.diagnosis import Cause, Diagnosis, Evidence, Excerpt, SeriesView
from postmortem.reading.redaction import Redactor
from postmortem.report import parts
from postmortem.report.chart import described, svg
from postmortem.report.curves import chosen, detail, fault
from postmortem.report.plain import cut, file_name, number, percent, place, process, safe, weight, when
from postmortem.report.presentable import input_kind, presentable
from postmortem.report.redacted import redact as hide
from postmortem.report.wire import tool_version
from postmortem.report.words import Words
from postmortem.resources import folder

_CHARTS_SHOWN: Final = 12
_LISTED: Final = 200
_LONGEST_LINE: Final = 1000
_LOG_KINDS: Final = ("signature", "traceback", "setting")


def render_html(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the report as a page."""
    redactor = Redactor() if redact else None
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    environment = _environment()
    style = (folder("templates") / "style.css").read_text(encoding="utf-8")
    script = (folder("templates") / "page.js").read_text(encoding="utf-8")
    script_hash = f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
    template = environment.get_template("report.html.j2")
    return template.render(style=Markup(style), script=Markup(script), script_hash=script_hash, **_context(shown, words, redactor))  # noqa: S704 -- our own files


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(folder("templates")), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, finalize=_shown,
    )  # fmt: skip


def _shown(value: Any) -> Any:
    """Neutralise control characters in whatever the template prints."""
    return safe(value) if type(value) is str else value


def _context(diagnosis: Diagnosis, words: Words, redactor: Redactor | None) -> dict[str, Any]:
    """Gather what the template shows."""
    cause = parts.main_cause(diagnosis)
    drawn = chosen(diagnosis.series)[:_CHARTS_SHOWN]
    return {
        "d": diagnosis,
        "say": words,
        "mood": parts.mood(diagnosis),
        "title": parts.title(diagnosis, words),
        "outcome": parts.outcome(diagnosis, diagnosis.outcome, words),
        "has_log": not input_kind(diagnosis),
        "share": percent,
        "number": number,
        "weight": weight,
        "when": when,
        "paragraphs": parts.paragraphs,
        "cause": cause,
        "evidence": _evidence(diagnosis, cause, words) if cause is not None else [],
        "others": [(one, _evidence(diagnosis, one, words)) for one in parts.other_causes(diagnosis)],
        "harmless": [(hit, _spot(diagnosis, hit.source, (hit.line, hit.end_line), words)) for hit in parts.harmless(diagnosis)],
        "charts": _charts(diagnosis, [one for one in drawn if len(one.samples) > 1], words),
        "points": [(one.name, parts.single_point(one, words)) for one in drawn if len(one.samples) == 1],
        "charts_more": len(diagnosis.series) - len(drawn),
        "excerpt": _excerpt(diagnosis, words),
        "first": _first(diagnosis, words),
        "timeline": [(event, _spot(diagnosis, event.source, (event.line, None), words), process(event.where, words)) for event in diagnosis.timeline[:_LISTED]],
        "facts": parts.facts(diagnosis.environment, words),
        "frameworks": parts.frameworks(diagnosis),
        "settings": [(name, parts.setting_value(one.value), _spot(diagnosis, one.source, (one.line, None), words)) for name, one in diagnosis.settings.items()],
        "progress": parts.progress(diagnosis, words),
        "sources": [parts.source(one, words) for one in diagnosis.sources[:_LISTED]],
        "attempts": [_attempt(diagnosis, index, words) for index in range(len(diagnosis.attempts))],
        "is_link": lambda text: text.startswith("https://"),
        "made": words("made", version=tool_version(), base=diagnosis.knowledge_base),
        "hidden": parts.hidden(redactor, words),
    }


def _spot(diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words) -> dict[str, str]:
    """Name a place, with the anchor of its line if the excerpt shows it."""
    excerpt, line = _kept(diagnosis), lines[0]
    is_shown = excerpt is not None and line is not None and source == excerpt.source and excerpt.first_line <= line < excerpt.first_line + len(excerpt.lines)
    name = place(diagnosis, source, lines, words) if line is not None else ""
    return {"text": name, "anchor": f"#L{line}" if is_shown else ""}


def _evidence(diagnosis: Diagnosis, cause: Cause, words: Words) -> list[dict[str, Any]]:
    items = sorted(cause.evidence, key=lambda item: -abs(item.weight))
    return [_item(diagnosis, item, words) for item in items]


def _item(diagnosis: Diagnosis, item: Evidence, words: Words) -> dict[str, Any]:
    return {
        "weight": weight(item.weight),
        "side": "for" if item.weight >= 0 else "against",
        "text": cut(item.text, _LONGEST_LINE),
        "is_log": item.kind in _LOG_KINDS,
        "kind": words.either("by", item.kind),
        "id": item.id,
        "spot": _spot(diagnosis, item.source, (item.line, item.end_line), words),
        "process": process(item.where, words),
    }


def _charts(diagnosis: Diagnosis, series: Sequence[SeriesView], words: Words) -> list[dict[str, Any]]:
    """Draw the series, and the neighbourhood of a fault that stands at the very edge of one."""
    first = diagnosis.first_failure
    failure = None if first is None else (first.source, first.line)
    charts = []
    for index, one in enumerate(series):
        charts.append({"svg": Markup(svg(one, key=f"chart-{index}", language=words.language)), "text": described(one, words)})  # noqa: S704 -- our own drawing
        near = detail(one, failure)
        if near is not None:
            drawing = svg(near, key=f"chart-{index}-detail", language=words.language, is_detail=True, mark=fault(near, failure))
            charts.append({"svg": Markup(drawing), "text": described(near, words)})  # noqa: S704 -- our own drawing
    return charts


def _kept(diagnosis: Diagnosis) -> Excerpt | None:
    """Give the lines around the failure; what is no log has none."""
    return None if input_kind(diagnosis) else diagnosis.excerpt


def _excerpt(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    excerpt = _kept(diagnosis)
    if excerpt is None or not excerpt.lines:
        return None
    lines = [_line(excerpt.first_line + index, text, excerpt.marked, words) for index, text in enumerate(excerpt.lines)]
    return {"name": file_name(diagnosis, excerpt.source, words), "lines": lines}


def _line(line: int, text: str, marked: tuple[int, ...], words: Words) -> Mapping[str, Any]:
    shown = safe(text).replace("\n", "␊")
    over = len(shown) - _LONGEST_LINE
    return {"number": line, "text": shown[:_LONGEST_LINE], "cut": words("excerpt.cut", count=over) if over > 0 else "", "is_marked": line in marked}


def _first(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    first = diagnosis.first_failure
    if first is None:
        return None
    spot = _spot(diagnosis, first.source, (first.line, None), words)
    return {"spot": spot, "process": process(first.where, words), "time": when(first.time), "why": first.why}


def _attempt(diagnosis: Diagnosis, index: int, words: Words) -> str:
    one = diagnosis.attempts[index]
    said = words("attempt", first=one.first_line, last=one.last_line, outcome=parts.outcome(diagnosis, one.outcome, words))
    return file_name(diagnosis, one.source, words) + words("colon") + said
