"""Parts of the report page: lanes of the timeline, quoted log lines, the small loss curve.

In: a `Diagnosis` with quotes, and words. Out: plain values for the template: a lane for each
process that has an event, and the lane of each event; the quoted lines, and links to them; next to
the verdict one line with the failure marked, without axes, as SVG with a title and a description,
and a caption, or None if there is no curve worth showing. Not here: which events there are
(`story.timeline`), which lines are quoted (`story.shown_places`), the charts (`page.chart`),
escaping and markup.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from postmortem.core.answer import Cause, Event, Evidence, Excerpt, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import escape_control_characters
from postmortem.report.curves import Curve, build_curve, is_constant
from postmortem.report.display import (
    detect_input_type,
    format_number,
    place,
    process,
    shorten_source_path,
)
from postmortem.report.key_figures import select_main_series
from postmortem.report.page.chart import name_of
from postmortem.report.words import Words

_MOST_LANES: Final = 8
"""Lanes with a place of their own; the processes beyond share one more."""


class Lanes(NamedTuple):
    """Lanes by the order in which their processes first appear.

    For each event the index of its lane.
    """

    names: tuple[str, ...]
    of: tuple[int, ...]


def build_lanes(diagnosis: Diagnosis, words: Words) -> Lanes:
    """Give each process a lane.

    A file whose lines name a single process is its, one that names several or none has a lane for
    what it tells of itself.
    """
    events = diagnosis.timeline
    named: dict[int, set[str]] = {}
    for event in events:
        named.setdefault(event.source, set()).update(
            filter(None, (_process(diagnosis, event, words),))
        )
    owners = {source: next(iter(names)) for source, names in named.items() if len(names) == 1}
    names = [
        _process(diagnosis, event, words)
        or owners.get(event.source)
        or shorten_source_path(diagnosis, event.source, words)
        for event in events
    ]
    known = list(dict.fromkeys(names))
    if len(known) > _MOST_LANES + 1:
        known = [*known[:_MOST_LANES], words("lanes.rest", count=len(known) - _MOST_LANES)]
    places = {name: index for index, name in enumerate(known)}
    return Lanes(tuple(known), tuple(places.get(name, len(known) - 1) for name in names))


def _process(diagnosis: Diagnosis, event: Event, words: Words) -> str:
    """Name the process that a line or its file names, or nothing."""
    own = (
        diagnosis.sources[event.source].where
        if event.source < len(diagnosis.sources)
        else event.where
    )
    return process(event.where, words) or process(own, words)


NO_SPOT: Final = {"text": "", "anchor": ""}
_FILES_OPEN: Final = 3
"""Quoted files that are all open; of more, those that have to do with the failure."""
LONGEST_LINE: Final = 1000
_Cited = Mapping[tuple[int, int], list[dict[str, str]]]
"""By source and line what cites it."""


def build_line_anchor(language: str, source: int, line: int) -> str:
    """Name a quoted line within the page."""
    return f"{language}-{source}-L{line}"


def build_spot(
    diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words
) -> dict[str, str]:
    """Name a place, with the anchor of its line if the page quotes it."""
    line = lines[0]
    if source is None or line is None:
        return dict(NO_SPOT)
    is_quoted = any(
        quote.source == source and quote.first_line <= line < quote.first_line + len(quote.lines)
        for quote in _list_quotes(diagnosis)
    )
    return {
        "text": place(diagnosis, source, lines, words),
        "anchor": build_line_anchor(words.language, source, line) if is_quoted else "",
    }


def sort_evidence(cause: Cause) -> list[Evidence]:
    """Give the evidence of a cause, the weightiest first."""
    return sorted(cause.evidence, key=lambda item: -abs(item.weight))


def build_evidence_anchor(words: Words, index: int) -> str:
    """Name a piece of evidence within the page."""
    return f"{words.language}-e{index}"


def _list_quotes(diagnosis: Diagnosis) -> tuple[Excerpt, ...]:
    """Give the quoted lines; what is no log has none."""
    return () if detect_input_type(diagnosis) else diagnosis.quotes


def build_quoted_files(
    diagnosis: Diagnosis, cause: Cause | None, words: Words
) -> list[dict[str, Any]]:
    """Give the quoted lines of each file, that of the first failure first.

    With them stands what cites them, and between them the gaps.
    """
    cited, involved = _collect_citations(cause, words), _find_involved_sources(diagnosis, cause)
    first = diagnosis.first_failure
    kept = sorted(
        _list_quotes(diagnosis), key=lambda quote: first is None or quote.source != first.source
    )
    return _mark_open_files(
        [
            {
                "name": shorten_source_path(diagnosis, source, words),
                "lines": _build_lines(stretches, diagnosis.sources[source].lines, cited, words),
                "is_open": source in involved,
            }
            for source, stretches in groupby(kept, key=lambda quote: quote.source)
        ]
    )


def _collect_citations(cause: Cause | None, words: Words) -> _Cited:
    cited: defaultdict[tuple[int, int], list[dict[str, str]]] = defaultdict(list)
    for index, item in enumerate(sort_evidence(cause) if cause is not None else (), 1):
        if item.source is not None and item.line is not None:
            cited[item.source, item.line].append(
                {"anchor": build_evidence_anchor(words, index), "number": str(index)}
            )
    return cited


def _build_lines(
    stretches: Iterable[Excerpt], count: int, cited: _Cited, words: Words
) -> list[dict[str, Any]]:
    """Give the quoted lines of a file of `count` lines, and the gaps between them."""
    lines: list[dict[str, Any]] = []
    following = 1
    for quote in stretches:
        if quote.first_line > following:
            lines.append({"gap": words("excerpt.gap", count=quote.first_line - following)})
        lines += [
            _build_line(
                quote, index, cited.get((quote.source, quote.first_line + index), []), words
            )
            for index in range(len(quote.lines))
        ]
        following = quote.first_line + len(quote.lines)
    if following <= count:
        lines.append({"gap": words("excerpt.gap", count=count + 1 - following)})
    return lines


def _mark_open_files(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Open all of few files; of more, where none has to do with the failure, the first."""
    if len(files) > _FILES_OPEN and any(file["is_open"] for file in files):
        return files
    return [file | {"is_open": index < _FILES_OPEN} for index, file in enumerate(files)]


def _find_involved_sources(diagnosis: Diagnosis, cause: Cause | None) -> set[int | None]:
    """Give the sources of the first failure and of the evidence of the cause or first candidate."""
    first = diagnosis.first_failure
    return {
        first.source if first is not None else None,
        *(
            item.source
            for text in (cause, *diagnosis.causes[:1])
            if text is not None
            for item in text.evidence
        ),
    }


def _build_line(
    quote: Excerpt, index: int, cited: list[dict[str, str]], words: Words
) -> dict[str, Any]:
    number, shown = (
        quote.first_line + index,
        escape_control_characters(quote.lines[index]).replace("\n", "␊"),
    )
    over = max(0, len(shown) - LONGEST_LINE) + dict(quote.over).get(number, 0)
    return {
        "gap": "",
        "anchor": build_line_anchor(words.language, quote.source, number),
        "number": number,
        "text": shown[:LONGEST_LINE],
        "cut": words("excerpt.cut", count=over) if over else "",
        "is_marked": number in quote.marked,
        "cited": cited,
    }


_WIDTH, _HEIGHT, _EDGE = 300, 84, 6
_MOST_SAMPLES: Final = 70
_LEAST: Final = 4


class Sketch(NamedTuple):
    """A drawing and its caption."""

    drawing: Markup
    caption: str


def draw_sketch(diagnosis: Diagnosis, words: Words) -> Sketch | None:
    """Draw the loss of the source that failed first."""
    series = select_main_series(diagnosis)
    if series is None or len(series.samples) < _LEAST or is_constant(series):
        return None
    one = build_curve(series)
    if not any(map(math.isfinite, one.values)):
        return None
    ends = f"{format_number(series.first[1])} → {format_number(series.last[1])}"
    caption = name_of(series) + words("colon") + ends
    if series.nonfinite:
        caption += words("joint") + words("curve.nonfinite", count=series.nonfinite)
    name = f"{words.language}-sketch"
    drawing = (
        f'<svg class="sketch" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}">'
        f'<title id="{name}">{escape(caption)}</title>'
        f"{_draw_fault(diagnosis, series, one)}{_draw_lines(one)}</svg>"
    )
    return Sketch(Markup(drawing), caption)  # noqa: S704 -- our own drawing, its text escaped


def _compute_x(curve: Curve, index: int) -> int:
    span = curve.xs[-1] - curve.xs[0]
    share = (curve.xs[index] - curve.xs[0]) / span if span else 0.5
    return round(_EDGE + share * (_WIDTH - 2 * _EDGE))


def _draw_lines(curve: Curve) -> str:
    """Draw each finite run as a line, and crosses at the foot for what is not finite."""
    drawn, crosses, last = [], "", -math.inf
    for is_finite, run in groupby(
        _select_samples(curve), key=lambda index: math.isfinite(curve.values[index])
    ):
        if is_finite:
            places = " ".join(
                f"{_compute_x(curve, index)},{_compute_y(curve, index)}" for index in run
            )
            drawn.append(f'<polyline class="curve series-0" points="{places}"/>')
            continue
        for x in (_compute_x(curve, index) for index in run):
            if x - last >= _EDGE:
                crosses, last = f"{crosses}M{x - 2} {_HEIGHT - 8}l4 4m0-4l-4 4", x
    return "".join(drawn) + (f'<path class="mark mark-gap" d="{crosses}"/>' if crosses else "")


def _select_samples(curve: Curve) -> list[int]:
    """Choose samples: of each stretch its lowest and highest, and both ends of what is finite."""
    count = len(curve.values)
    if count <= _MOST_SAMPLES:
        return list(range(count))
    kept, wide = {0, count - 1}, 2 * count / _MOST_SAMPLES
    for number_ in range(_MOST_SAMPLES // 2):
        stretch = range(int(number_ * wide), min(count, int((number_ + 1) * wide)))
        finite = [index for index in stretch if math.isfinite(curve.values[index])]
        others = [index for index in stretch if not math.isfinite(curve.values[index])]
        kept.update(others[:1])
        if finite:
            kept |= {
                min(finite, key=curve.values.__getitem__),
                max(finite, key=curve.values.__getitem__),
            }
    return sorted(kept)


def _compute_y(curve: Curve, index: int) -> int:
    return round(_HEIGHT - 10 - curve.height(curve.values[index]) * (_HEIGHT - 16))


def _draw_fault(diagnosis: Diagnosis, series: SeriesView, curve: Curve) -> str:
    """Draw a line where the run failed, if this source did."""
    first = diagnosis.first_failure
    if first is None or first.source != series.source:
        return ""
    at = next(
        (index for index, (_, _, line) in enumerate(series.samples) if line >= first.line),
        len(series.samples) - 1,
    )
    return f'<path class="standing mark-failure" d="M{_compute_x(curve, at)} 2V{_HEIGHT - 2}"/>'
