"""The page of a comparison: one self-contained HTML file in all languages, as the report's is.

In: a `Comparison`. Out: HTML, with the curves of both runs on one axis, a figure for each series,
with the point of divergence. Not here: finding what differs, where curves diverge (`compare`),
drawing (`page.chart`), the frame of the page and its policy (`page.frame`). The bad run comes
first: line numbers in a figure are from its log.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.answer import SeriesView
from postmortem.core.diagnosis import (
    Comparison,
    Diagnosis,
    Differing,
    PairOfSeries,
    Parting,
    Wording,
)
from postmortem.core.log_text import format_one_line
from postmortem.core.message import Message
from postmortem.core.names import EPOCH, LANGUAGES
from postmortem.report import parts
from postmortem.report.comparison import (
    COMPARISON,
    build_redactor,
    describe_divergence,
    redact_comparison,
    translate_comparison,
)
from postmortem.report.curves import build_curve
from postmortem.report.display import format_number, format_percent, prepare_for_display
from postmortem.report.page.chart import SHAPES, STANDING, draw_panel, name_of
from postmortem.report.page.frame import build_article, render_page, render_template
from postmortem.report.page.panel import NonfiniteMark, Panel, Spot, Track
from postmortem.report.page.panel_figures import (
    build_value_table,
    describe_series,
    dump_script_phrases,
)
from postmortem.report.page.panel_layout import find_first_nonfinite
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.report.words import Words

_MOST: Final = 8


def build_comparison_panels(found: Comparison) -> tuple[Panel, ...]:
    """Arrange what is drawn, the training loss first."""
    partings = {parting.name: parting for parting in found.curves}
    made: list[Panel] = []
    for pair in found.drawn:
        series = [curve for curve in (pair.bad, pair.good) if curve is not None]
        is_drawn = any(len(curve.samples) > 1 for curve in series) and series[0].name != EPOCH
        if is_drawn and len(made) < _MOST:
            made.append(_build_panel(pair, series, partings.get(series[0].name)))
    return tuple(made)


def _build_panel(
    pair: PairOfSeries, series: Sequence[SeriesView], parting: Parting | None
) -> Panel:
    axis = "step" if all(_has_steps(curve) for curve in series) else "record"
    tracks = tuple(
        Track(curve, _compute_positions(curve, axis), "odd" if curve is pair.bad else "dash-0")
        for curve in series
    )
    bad = None if pair.bad is None else find_first_nonfinite(pair.bad)
    spots = list(_iter_spots(tracks[0], bad, parting))
    places = [x for track in tracks for x in track.xs] + [spot.x for spot in spots]
    left, right = min(places), max(places)
    return Panel(
        tracks,
        axis,
        _is_log(series),
        left - 0.5 * (left == right),
        right + 0.5 * (left == right),
        tuple(spots),
        tuple((spot.kind, 1) for spot in spots),
        bad,
        None,
        is_of_processes=True,
    )


def _iter_spots(track: Track, bad: NonfiniteMark | None, parting: Parting | None) -> Iterator[Spot]:
    """Yield where the bad run stops being finite, and where the runs part."""
    if bad is not None:
        index = next(at for at, (_, _, line) in enumerate(track.series.samples) if line == bad.line)
        yield Spot("bad", track.xs[index], bad.line, bad.step)
    if parting is not None and parting.step is not None:
        yield Spot("parting", parting.step, parting.bad_line, parting.step)


def _has_steps(series: SeriesView) -> bool:
    return all(step is not None and math.isfinite(step) for step, _, _ in series.samples)


def _compute_positions(series: SeriesView, axis: str) -> tuple[float, ...]:
    if axis == "record":
        return tuple(map(float, range(1, len(series.samples) + 1)))
    return tuple(step or 0.0 for step, _, _ in series.samples)


def _is_log(series: Sequence[SeriesView]) -> bool:
    return any(build_curve(curve).is_log for curve in series) and all(
        value > 0 or not math.isfinite(value) for curve in series for _, value, _ in curve.samples
    )


def build_comparison_contexts(
    panels: Sequence[Panel], found: Comparison, divergences: dict[str, str], words: Words
) -> list[dict[str, Any]]:
    """Give what the template shows of each panel.

    Args:
        panels: what is drawn.
        found: the comparison that they are of.
        divergences: a sentence for each series, by its name.
        words: the phrases of the language.
    """
    good = {id(pair.good) for pair in found.drawn}
    return [
        _build_panel_context(panel, index, good, divergences, words)
        for index, panel in enumerate(panels)
    ]


def _build_panel_context(
    panel: Panel, index: int, good: set[int], divergences: dict[str, str], words: Words
) -> dict[str, Any]:
    key, title = f"{words.language}-chart-{index}", name_of(panel.main)
    runs = ["good" if id(track.series) in good else "bad" for track in panel.tracks]
    names = [words(f"compare.{run}") for run in runs]
    texts = [divergences[panel.main.name]] if panel.main.name in divergences else []
    texts += [
        name + words("colon") + describe_series(track.series, words)
        for name, track in zip(names, panel.tracks, strict=True)
    ]
    drawing = draw_panel(panel, words, key=key, title=title, description=words("stop").join(texts))
    return {
        "index": index,
        "key": key,
        "source": 0,
        "title": title,
        "note": words("curve.log") if panel.is_log else "",
        "drawing": Markup(drawing),  # noqa: S704 -- our own drawing
        "close": None,
        "texts": texts,
        "tracks": [(at, track.form, names[at], "") for at, track in enumerate(panel.tracks)],
        "names": json.dumps(names, ensure_ascii=False),
        "marks": [
            (spot.kind, SHAPES[spot.kind], spot.kind in STANDING, _mark(spot, words))
            for spot in panel.spots
        ],
        "table": build_value_table(panel, names, words),
    }


def _mark(spot: Spot, words: Words) -> str:
    label = words(f"mark.{spot.kind}")
    return (
        label
        if spot.step is None
        else label + words("colon") + words("at-step", value=format_number(spot.step))
    )


_PATHS_SHOWN: Final = 4
_AT_ONCE: Final = 40
"""Lines and facts of a section, the others of which are folded."""
_LISTED: Final = 1000
_LONGEST: Final = 400


def render_comparison(
    compared: Comparison[Message], *, language: str = "en", redact: bool = True
) -> str:
    """Write a comparison as a page that opens in a language and can be switched to the others."""
    redactor = build_redactor(translate_comparison(compared, language)) if redact else None
    languages = [language, *(other for other in LANGUAGES if other != language)]
    articles = [
        _render_article(translate_comparison(compared, code), redactor) for code in languages
    ]
    return render_page(articles, articles[0]["charts"])


def _render_article(found: Comparison, redactor: Redactor | None) -> dict[str, Any]:
    """Render a comparison in one language; the same redactor serves all of them."""
    words = Words(found.bad.language)
    phrases = COMPARISON[words.language]
    hide: Callable[[str], str] = str
    if redactor is not None:
        found, hide = redact_comparison(found, redactor), redactor.text
    charts = build_comparison_panels(found)
    body = render_template(
        "comparison.html.j2",
        say=words,
        told=phrases,
        phrases=dump_script_phrases(words),
        at_once=_AT_ONCE,
        listed=_LISTED,
        made=words("made", version=get_tool_version(), base=found.bad.knowledge_base),
        hidden=parts.describe_redactions(redactor, words),
        **_build_differences(found, charts, hide, words),
    )
    return build_article(words, phrases["title"], body, charts=charts)


def _build_differences(
    found: Comparison, charts: Sequence[Panel], hide: Callable[[str], str], words: Words
) -> dict[str, Any]:
    """Give what stands side by side."""
    phrases, drawn = COMPARISON[words.language], {panel.main.name for panel in charts}
    divergences = {curve.name: describe_divergence(curve, phrases) for curve in found.curves}
    return {
        "mood": parts.get_verdict_color(found.bad),
        "lead": next(iter(divergences.values()), ""),
        "runs": [
            (phrases["good"], _run(found.good, hide, words)),
            (phrases["bad"], _run(found.bad, hide, words)),
        ],
        "facts": [
            ("settings", _build_difference_rows(found.settings, hide)),
            ("environment", _build_difference_rows(found.environment, hide)),
        ],
        "figures": build_comparison_contexts(charts, found, divergences, words),
        "sentences": [sentence for name, sentence in divergences.items() if name not in drawn],
        "lines": [
            ("only_bad", _build_line_rows(found.only_bad, hide)),
            ("only_good", _build_line_rows(found.only_good, hide)),
        ],
    }


def _run(run: Diagnosis, hide: Callable[[str], str], words: Words) -> dict[str, str]:
    """Say of a run what was read, how it ended, and why."""
    shown, verdict = prepare_for_display(run), run.verdict
    paths = [source.path for source in run.sources if source.kind != "ignored"]
    more = [words("more", count=len(paths) - _PATHS_SHOWN)] if len(paths) > _PATHS_SHOWN else []
    return {
        "paths": hide(words("joint").join([*paths[:_PATHS_SHOWN], *more])),
        "outcome": parts.format_outcome(shown, run.outcome, words),
        "title": hide(parts.format_title(shown, words)),
        "cause": f"{verdict.cause} · {format_percent(verdict.probability)}"
        if verdict.cause
        else "",
        "mood": parts.get_verdict_color(run),
    }


def _build_difference_rows(
    differing: Sequence[Differing], hide: Callable[[str], str]
) -> list[tuple[str | None, ...]]:
    """Give rows of name, good and bad."""
    return [
        (
            format_one_line(name, 80),
            *(
                None if value is None else format_one_line(hide(value), _LONGEST)
                for value in (good, bad)
            ),
        )
        for name, good, bad in differing
    ]


def _build_line_rows(
    wordings: Sequence[Wording], hide: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Give the lines of one run, with their files where there are several."""
    is_several = len({wording.source for wording in wordings}) > 1
    return [
        {
            "text": format_one_line(wording.text, _LONGEST),
            "line": wording.line,
            "times": wording.times,
            "file": hide(wording.source).replace("\\", "/").rsplit("/", 1)[-1]
            if is_several
            else "",
        }
        for wording in wordings[:_LISTED]
    ]
