"""What the bot needs of a verdict, and the protocol of a judge.

In: an analysis. Out: `JudgedLog`, which can be sent between processes. Not here: in which process
a log is judged (the service's pool), what is done with the verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from postmortem.core import names
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import PostmortemError
from postmortem.interfaces.trackers.tracker_protocol import NamedLog
from postmortem.report.display import translate_analysis
from postmortem.report.markdown import render_markdown
from postmortem.rules.vocabulary import Trait, has_trait


class NotJudged(PostmortemError):  # noqa: N818 -- what became of it
    """A log could not be judged: it takes too long, wants too much, or cannot be read."""


class JudgeBusy(NotJudged):
    """Not now: as much as can be judged at once is under way."""


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """A verdict."""

    cause: str | None
    category: str
    probability: float
    status: str
    outcome: str
    title: str = field(repr=False)
    """Of the cause, in the language that was asked for."""
    report: str = field(repr=False)
    """In Markdown, redacted and defused."""

    @property
    def is_named(self) -> bool:
        """Say whether a cause is named that is a fault of something."""
        return self.cause is not None and not self.is_sound and self.outcome != "not-a-training-log"

    @property
    def is_sound(self) -> bool:
        """Say whether the run is well."""
        return has_trait(self.cause, Trait.SOUND)

    @property
    def is_open(self) -> bool:
        """Say whether the run went wrong and the log does not show why."""
        return not self.is_named and self.outcome in names.ALARMING


class Judge(Protocol):
    """Whoever judges logs and knows the rules; threads may share it."""

    def judge(self, logs: Sequence[NamedLog], language_code: str, longest: int) -> JudgedLog:
        """Judge logs that are one job.

        Args:
            logs: with labels that stay labels.
            language_code: the language of the report.
            longest: UTF-16 units of the report.

        Raises:
            NotJudged: it could not be done.
        """

    def explain(self, name: str, language_code: str) -> str | None:
        """Give the article of the rules on an id, in Markdown; None if nothing has this id.

        Raises:
            NotJudged: it could not be done.
        """


def summarize_analysis(analysis: Analysis, language_code: str, longest: int) -> JudgedLog:
    """Take from an analysis what the bot needs."""
    verdict = analysis.verdict
    shown = translate_analysis(analysis, language_code)
    named = next((cause for cause in shown.causes if cause.id == verdict.cause), None)
    return JudgedLog(
        cause=verdict.cause,
        category=named.category if named else "",
        probability=verdict.probability,
        status=verdict.status,
        outcome=analysis.outcome,
        title=named.title if named else "",
        report=render_markdown(shown, redact=True, longest=longest),
    )
