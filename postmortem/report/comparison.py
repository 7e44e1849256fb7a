"""A comparison of two runs for its reader: in one language, redacted, each run in a line.

In: a `Comparison`, or a run or a curve of one. Out: a `Comparison`; a line on each run, and on
where two of their curves part; the phrases. Not here: the forms (`report.side_by_side`,
`page.two_runs_page`), the patterns (`redaction.redactor`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

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
from postmortem.core.message import Message, say, say_in
from postmortem.report import parts
from postmortem.report.display import (
    format_number,
    format_percent,
    prepare_for_display,
    translate_analysis,
)
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import PhraseTable, Words

COMPARISON: Final = PhraseTable(
    {
        "title": say("Two runs compared"),
        "good": say("good"),
        "bad": say("bad"),
        "settings": say("Settings that differ"),
        "environment": say("Environment that differs"),
        "curves": say("Curves"),
        "part": say("{name}: part at step {step}: {good} (good) against {bad} (bad)"),
        "together": say(
            "{name}: no parting over {count} common steps; at the last {good} and {bad}"
        ),
        "only_bad": say("Lines that only the bad run prints"),
        "only_good": say("Lines that only the good run prints"),
        "none": say("nothing"),
        "more": say_in("assistant", "{count} more"),
        "unsaid": say("not said"),
        "lines": say(
            "without bars, banners, launchers and imports; numbers and paths do not count"
        ),
    }
)


def describe_run(run: Diagnosis, words: Words) -> str:
    """Say of a run what was read, how it ended, and why."""
    shown, verdict = prepare_for_display(run), run.verdict
    paths = ", ".join(source.path for source in run.sources[:4])
    named = f" · {verdict.cause} {format_percent(verdict.probability)}" if verdict.cause else ""
    outcome, title = (
        parts.format_outcome(shown, run.outcome, words),
        parts.format_title(shown, words),
    )
    return f"{paths}{words('colon')}{outcome} · {title}{named}"


def describe_divergence(curve: Parting, say: Mapping[str, str]) -> str:
    """Say where two curves part, or how far they go together."""
    name, good, bad = (
        format_one_line(curve.name, 80),
        format_number(curve.good),
        format_number(curve.bad),
    )
    if curve.step is None:
        return say["together"].format(name=name, count=curve.common, good=good, bad=bad)
    return say["part"].format(name=name, step=format_number(curve.step), good=good, bad=bad)


def translate_comparison(compared: Comparison[Message], language: str) -> Comparison:
    """Choose the language of what is said of both runs."""
    return Comparison(
        translate_analysis(compared.good, language),
        translate_analysis(compared.bad, language),
        compared.settings,
        compared.environment,
        compared.curves,
        compared.only_good,
        compared.only_bad,
        compared.drawn,
    )


def build_redactor(found: Comparison) -> Redactor:
    """Learn the names first, so that one that comes late is hidden early too."""
    redactor = Redactor()
    redactor.learn(
        source.where.node
        for run in (found.good, found.bad)
        for source in run.sources
        if source.where.node
    )
    for text in (
        *(source.path for run in (found.good, found.bad) for source in run.sources),
        *(wording.text for wording in (*found.only_bad, *found.only_good)),
    ):
        redactor.text(text)
    redactor.settle()
    return redactor


def redact_comparison(found: Comparison, redactor: Redactor) -> Comparison:
    """Hide in what differs; paths and values are hidden where they are written."""
    return replace(
        found,
        only_bad=_redact_lines(found.only_bad, redactor),
        only_good=_redact_lines(found.only_good, redactor),
        settings=_redact_differences(found.settings, redactor),
        environment=_redact_differences(found.environment, redactor),
        curves=tuple(curve._replace(name=redactor.text(curve.name)) for curve in found.curves),
        drawn=tuple(
            PairOfSeries(_redact_series(pair.good, redactor), _redact_series(pair.bad, redactor))
            for pair in found.drawn
        ),
    )


def _redact_series(series: SeriesView | None, redactor: Redactor) -> SeriesView | None:
    """Hide in the name of a series; its process is not shown."""
    if series is None:
        return None
    return replace(series, name=redactor.text(series.name), unit=redactor.text(series.unit))


def _redact_lines(wordings: Sequence[Wording], redactor: Redactor) -> tuple[Wording, ...]:
    """Hide in lines as they follow one another: a key may run over several."""
    texts = redactor.lines([wording.text for wording in wordings])
    return tuple(wording._replace(text=text) for wording, text in zip(wordings, texts, strict=True))


def _redact_differences(facts: Sequence[Differing], redactor: Redactor) -> tuple[Differing, ...]:
    """Hide the values whose names say that they are secrets.

    What the values themselves show is hidden where they are written.
    """
    return tuple(
        Differing(
            redactor.text(name),
            *(
                None if value is None else str(redactor.setting(name, value))
                for value in (good, bad)
            ),
        )
        for name, good, bad in facts
    )
