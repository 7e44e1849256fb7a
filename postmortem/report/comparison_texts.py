"""Two runs in words: a line on each run, and on where two of their curves part.

In: a run or a curve of a `Comparison` in one language. Out: a line. Not here: the sections around
it (`report.side_by_side`), the page (`page.two_runs_page`).
"""

from collections.abc import Mapping

from postmortem.core.comparison import Parting
from postmortem.core.diagnosis import Diagnosis
from postmortem.report import parts
from postmortem.report.for_people import prepare_for_display
from postmortem.report.plain import format_number, format_one_line, format_percent
from postmortem.report.words import Words


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
