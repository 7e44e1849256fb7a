"""Translate a comparison of two runs into one language, and redact it.

In: a `Comparison`. Out: a `Comparison`. Not here: writing it (`report.side_by_side`), the patterns
(`redaction.redactor`).
"""

from collections.abc import Sequence
from dataclasses import replace

from postmortem.core.comparison import Comparison, Differing, PairOfSeries, Wording
from postmortem.core.message import Message
from postmortem.core.shown import SeriesView
from postmortem.report.one_language import translate_analysis
from postmortem.report.redaction.redactor import Redactor


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
