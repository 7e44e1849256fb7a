"""The page: one self-contained HTML file in all languages, no network, light and dark, fit for a phone and for paper; whole without its one script.

In: a `Diagnosis`, and the same in other languages. Out: HTML. Not here: the layout (`templates/`),
which lines are quoted (`story.quotes`). Every value passes `plain.safe` and then Jinja's escaping;
only our own SVG, style sheet and script are marked as safe. The page's policy names both by their
hashes, so that nothing else can run or restyle it.
"""

import base64
import functools
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from postmortem.model.diagnosis import Attempt, Cause, Diagnosis, Evidence, Excerpt, SeriesView
from postmortem.model.said import cut
from postmortem.redaction.redactor import Redactor
from postmortem.report import figures, parts
from postmortem.report.curves import chosen
from postmortem.report.lanes import lanes
from postmortem.report.panels import Panel, panels
from postmortem.report.plain import file_name, number, percent, place, process, safe, weight, when
from postmortem.report.presentable import input_kind, presentable
from postmortem.report.redacted import redact as hide
from postmortem.report.wire import tool_version
from postmortem.report.words import Words
from postmortem.resources import folder

_TAGS: Final = {"en": "en", "zh": "zh-CN"}
_NO_SPOT: Final = {"text": "", "anchor": ""}
_FIXES_SHOWN: Final = 4
_FULL_WEIGHT: Final = 5.0
"""Log-odds from which the bar of a piece of evidence is full."""
_CHARTS_SHOWN: Final = 12
_STYLES: Final = ("vendor/uPlot.min.css", "style.css", "chart.css")
_CHART_SCRIPTS: Final = ("vendor/uPlot.LICENSE", "vendor/uPlot.iife.min.js", "chart.js")
_LISTED: Final = 200
_AT_ONCE: Final = 12
"""Entries of a list, the others of which are folded."""
_FILES_OPEN: Final = 3
"""Quoted files that are all open; of more, those that have to do with the failure."""
_LONGEST_LINE: Final = 1000
_LOG_KINDS: Final = ("signature", "traceback", "setting")


def render_html(
    diagnosis: Diagnosis, *, redact: bool = True, translations: Sequence[Diagnosis] = ()
) -> str:
    """Write the report as a page, which opens in the language of the diagnosis and can be switched to those of its translations."""
    redactor = Redactor() if redact else None
    environment = _environment()
    articles = [_article(shown, environment, redactor) for shown in (diagnosis, *translations)]
    charts = articles[0]["charts"]
    style, script = _own(*_STYLES), _own("page.js", *(_CHART_SCRIPTS if charts else ()))
    template = environment.get_template("report.html.j2")
    return template.render(
        articles=articles,
        charts=figures.data(charts) if charts else "",
        style=Markup(style),  # noqa: S704 -- our own files
        style_hash=_hash("\n" + style),
        script=Markup(script),  # noqa: S704 -- our own files
        script_hash=_hash(script),
    )


def anchor(language: str, source: int, line: int) -> str:
    """Name a quoted line within the page."""
    return f"{language}-{source}-L{line}"


def _own(*names: str) -> str:
    """Join files of ours; a licence becomes a comment."""
    texts = [
        (folder("templates") / name).read_text(encoding="utf-8").rstrip("\n") for name in names
    ]
    return "".join(
        f"/*\n{text}\n*/\n" if name.endswith("LICENSE") else f"{text}\n"
        for name, text in zip(names, texts, strict=True)
    )


def _hash(text: str) -> str:
    """Name a script or style as a content-security policy does."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _article(
    diagnosis: Diagnosis, environment: Environment, redactor: Redactor | None
) -> dict[str, Any]:
    """Render the report in one language.

    The same redactor gives a name the same pseudonym in all of them.
    """
    shown = presentable(diagnosis)
    shown = hide(shown, redactor) if redactor is not None else shown
    words = Words(shown.language)
    first = shown.first_failure
    drawn = chosen(shown.series, failing=None if first is None else first.source)[:_CHARTS_SHOWN]
    charts = panels(shown, drawn)
    body = environment.get_template("article.html.j2").render(
        curves=_curves(shown, drawn, charts, words), **_context(shown, words, redactor)
    )
    title = f"{parts.title(shown, words)} · {words('report')}"
    return {
        "language": words.language,
        "lang": _TAGS[words.language],
        "title": title,
        "say": words,
        "charts": charts,
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


@functools.cache
def _environment() -> Environment:
    """Give the templates, compiled once."""
    return Environment(
        loader=FileSystemLoader(folder("templates")), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, finalize=_shown,
    )  # fmt: skip


def _prose(text: str) -> Markup:
    """Show what a text of ours puts between backticks as code."""
    pieces = safe(text).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if index % 2 else piece
        for index, piece in enumerate(pieces)
    )


def _shown(value: Any) -> Any:
    """Neutralise control characters in whatever the template prints."""
    return safe(value) if type(value) is str else value


def _context(diagnosis: Diagnosis, words: Words, redactor: Redactor | None) -> dict[str, Any]:
    """Gather what the template shows."""
    cause, attempts = parts.main_cause(diagnosis), parts.attempts(diagnosis)
    return {
        "d": diagnosis,
        "say": words,
        "mood": parts.mood(diagnosis),
        "title": parts.title(diagnosis, words),
        "outcome": parts.outcome(diagnosis, diagnosis.outcome, words),
        "meaning": parts.meaning(diagnosis, words),
        "has_log": not input_kind(diagnosis),
        "share": percent,
        "number": number,
        "weight": weight,
        "when": when,
        "paragraphs": lambda text: [_prose(one) for one in parts.paragraphs(text)],
        "prose": _prose,
        "cause": cause,
        "fixes_shown": _FIXES_SHOWN,
        "evidence": _evidence(diagnosis, cause, words, is_cited=True) if cause is not None else [],
        "others": [
            (one, _evidence(diagnosis, one, words)) for one in parts.other_causes(diagnosis)
        ],
        "harmless": [
            (hit, _spot(diagnosis, hit.source, (hit.line, hit.end_line), words))
            for hit in parts.harmless(diagnosis)
        ],
        "quotes": _quotes(diagnosis, cause, words),
        "first": _first(diagnosis, words),
        "lanes": lanes(diagnosis, words),
        "timeline": [
            (
                event,
                _spot(diagnosis, event.source, (event.line, None), words),
                process(event.where, words),
                parts.told(event),
            )
            for event in diagnosis.timeline[:_LISTED]
        ],
        "events_left": max(0, len(diagnosis.timeline) - _LISTED) + diagnosis.events_left,
        "facts": parts.facts(diagnosis.environment, words),
        "frameworks": parts.frameworks(diagnosis),
        "would_change": parts.would_change(diagnosis),
        "advisories": parts.advisories(diagnosis),
        "packages": [
            (name, version, _NO_SPOT) for name, version in diagnosis.environment.packages.items()
        ],
        "settings": [
            (
                name,
                parts.setting_value(one.value),
                _spot(diagnosis, one.source, (one.line, None), words),
            )
            for name, one in diagnosis.settings.items()
        ],
        "progress": parts.progress(diagnosis, words),
        "sources": _listed(
            [parts.source(one, words) for one in diagnosis.sources[:_LISTED]],
            len(diagnosis.sources),
            words,
        ),
        "attempts": _listed(
            [_attempt(diagnosis, one, words) for one in attempts[:_LISTED]], len(attempts), words
        ),
        "at_once": _AT_ONCE,
        "is_link": lambda text: text.startswith("https://"),
        "made": words("made", version=tool_version(), base=diagnosis.knowledge_base),
        "hidden": parts.hidden(redactor, words),
        "share_command": "" if input_kind(diagnosis) else parts.share_command(diagnosis),
    }


def _spot(
    diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words
) -> dict[str, str]:
    """Name a place, with the anchor of its line if the page quotes it."""
    line = lines[0]
    if source is None or line is None:
        return dict(_NO_SPOT)
    is_quoted = any(
        one.source == source and one.first_line <= line < one.first_line + len(one.lines)
        for one in _kept(diagnosis)
    )
    return {
        "text": place(diagnosis, source, lines, words),
        "anchor": anchor(words.language, source, line) if is_quoted else "",
    }


def _evidence(
    diagnosis: Diagnosis, cause: Cause, words: Words, *, is_cited: bool = False
) -> list[dict[str, Any]]:
    return [
        _item(diagnosis, item, words, _number_of(words, index) if is_cited else "")
        for index, item in enumerate(_weighed(cause), 1)
    ]


def _weighed(cause: Cause) -> list[Evidence]:
    return sorted(cause.evidence, key=lambda item: -abs(item.weight))


def _number_of(words: Words, index: int) -> str:
    """Name a piece of evidence within the page."""
    return f"{words.language}-e{index}"


def _item(diagnosis: Diagnosis, item: Evidence, words: Words, name: str) -> dict[str, Any]:
    return {
        "anchor": name,
        "weight": weight(item.weight),
        "share": min(1.0, abs(item.weight) / _FULL_WEIGHT),
        "side": "for" if item.weight >= 0 else "against",
        "text": cut(item.text, _LONGEST_LINE),
        "is_log": item.kind in _LOG_KINDS,
        "kind": words.either("by", item.kind),
        "id": item.id,
        "spot": _spot(diagnosis, item.source, (item.line, item.end_line), words),
        "process": process(item.where, words),
    }


def _curves(
    diagnosis: Diagnosis, drawn: Sequence[SeriesView], charts: Sequence[Panel], words: Words
) -> dict[str, Any]:
    """Give the curves in one language.

    Figures, what the script says, what is told in words, how many series are left out.
    """
    in_charts = {id(track.series) for panel in charts for track in panel.tracks}
    return {
        "figures": figures.figures(diagnosis, charts, words),
        "phrases": figures.phrases(words),
        "points": [
            (one.name, parts.single_point(one, words))
            for one in drawn
            if id(one) not in in_charts and len(one.samples) < 2
        ],
        "more": len(diagnosis.series) - len(in_charts.union(map(id, drawn))),
    }


def _kept(diagnosis: Diagnosis) -> tuple[Excerpt, ...]:
    """Give the quoted lines; what is no log has none."""
    return () if input_kind(diagnosis) else diagnosis.quotes


def _quotes(diagnosis: Diagnosis, cause: Cause | None, words: Words) -> list[dict[str, Any]]:
    """Give the quoted lines of each file, that of the first failure first, with what cites them and the gaps between them."""
    cited: defaultdict[tuple[int, int], list[dict[str, str]]] = defaultdict(list)
    for index, item in enumerate(_weighed(cause) if cause is not None else (), 1):
        if item.source is not None and item.line is not None:
            cited[item.source, item.line].append(
                {"anchor": _number_of(words, index), "number": str(index)}
            )
    files: list[dict[str, Any]] = []
    first, involved = diagnosis.first_failure, _involved(diagnosis, cause)
    for source, stretches in groupby(
        sorted(_kept(diagnosis), key=lambda one: first is None or one.source != first.source),
        key=lambda one: one.source,
    ):
        lines: list[dict[str, Any]] = []
        following = 1
        for one in stretches:
            if one.first_line > following:
                lines.append({"gap": words("excerpt.gap", count=one.first_line - following)})
            lines += [
                _line(one, index, cited[source, one.first_line + index], words)
                for index in range(len(one.lines))
            ]
            following = one.first_line + len(one.lines)
        if following <= diagnosis.sources[source].lines:
            lines.append(
                {"gap": words("excerpt.gap", count=diagnosis.sources[source].lines + 1 - following)}
            )
        files.append(
            {
                "name": file_name(diagnosis, source, words),
                "lines": lines,
                "is_open": source in involved,
            }
        )
    if len(files) <= _FILES_OPEN or not any(file["is_open"] for file in files):
        files = [
            file | {"is_open": index < _FILES_OPEN or len(files) <= _FILES_OPEN}
            for index, file in enumerate(files)
        ]
    return files


def _involved(diagnosis: Diagnosis, cause: Cause | None) -> set[int | None]:
    """Give the sources of the first failure and of what speaks for the cause, or for the first candidate."""
    first = diagnosis.first_failure
    return {
        first.source if first is not None else None,
        *(
            item.source
            for one in (cause, *diagnosis.causes[:1])
            if one is not None
            for item in one.evidence
        ),
    }


def _line(quote: Excerpt, index: int, cited: list[dict[str, str]], words: Words) -> dict[str, Any]:
    number_, shown = quote.first_line + index, safe(quote.lines[index]).replace("\n", "␊")
    over = max(0, len(shown) - _LONGEST_LINE) + dict(quote.over).get(number_, 0)
    return {
        "gap": "",
        "anchor": anchor(words.language, quote.source, number_),
        "number": number_,
        "text": shown[:_LONGEST_LINE],
        "cut": words("excerpt.cut", count=over) if over else "",
        "is_marked": number_ in quote.marked,
        "cited": cited,
    }


def _first(diagnosis: Diagnosis, words: Words) -> dict[str, Any] | None:
    first = diagnosis.first_failure
    if first is None:
        return None
    spot = _spot(diagnosis, first.source, (first.line, None), words)
    return {
        "spot": spot,
        "process": process(first.where, words),
        "time": when(first.time).replace("T", " "),
        "why": first.why,
    }


def _listed(items: list[str], count: int, words: Words) -> list[str]:
    """Say of a list what it leaves out."""
    return [*items, words("more", count=count - len(items))] if count > len(items) else items


def _attempt(diagnosis: Diagnosis, one: Attempt, words: Words) -> str:
    said = words(
        "attempt",
        first=one.first_line,
        last=one.last_line,
        outcome=parts.outcome(diagnosis, one.outcome, words),
    )
    return file_name(diagnosis, one.source, words) + words("colon") + said
