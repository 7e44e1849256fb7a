"""The result of the library: a job's analysis, readable in each language.

In: an `Analysis`. Out: `Report`. Not here: making an analysis (`pipeline`), the forms.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

from postmortem import report
from postmortem.core import names
from postmortem.core.answer import Cause, Verdict
from postmortem.core.diagnosis import Analysis, Diagnosis
from postmortem.core.errors import UsageError
from postmortem.core.names import LANGUAGES
from postmortem.report.display import translate_analysis
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import to_wire
from postmortem.rules.vocabulary import Trait, has_trait


@dataclass(frozen=True)
class Report:
    """What was found out about one job, to be read in a language."""

    analysis: Analysis
    """All of it, typed, in every language; `render("analysis")` writes it."""
    language: str = "en"

    @functools.cached_property
    def diagnosis(self) -> Diagnosis:
        """The same in the report's language."""
        return translate_analysis(self.analysis, self.language)

    @property
    def verdict(self) -> Verdict:
        """The answer; its `cause` is None when the program abstains."""
        return self.diagnosis.verdict

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The candidates, the most probable first; never empty."""
        return self.diagnosis.causes

    @property
    def is_alarming(self) -> bool:
        """True if the run failed or stalled, or anything but health or nothing is found."""
        cause = self.analysis.verdict.cause
        return self.analysis.outcome in names.ALARMING or (
            cause is not None and not has_trait(cause, Trait.SOUND)
        )

    def in_language(self, language: str) -> "Report":
        """Give the same findings with all texts in `en` or `zh`.

        Raises:
            UsageError: an unknown language.
        """
        _require_language(language)
        return replace(self, language=language)

    def render(
        self,
        form: str = "terminal",
        *,
        width: int = 80,
        color: bool = False,
        full: bool = False,
        redact: bool | None = None,
    ) -> str:
        """Render the report; the log is not looked at again.

        Args:
            form: one of `postmortem.report.FORMS`. The page (`html`) holds every language and opens
                in this one; `analysis` is all that was found, unredacted, for `postmortem render`.
            width: columns of the terminal report.
            color: colours in the terminal report.
            full: the whole terminal report; by default it fits a screen of 24 lines.
            redact: replace secrets; by default everywhere but in the terminal report.

        Raises:
            UsageError: unknown form.
        """
        if form not in report.FORMS:
            raise UsageError(f"unknown format {form!r}", "", f"one of {', '.join(report.FORMS)}")
        return report.render(
            self.analysis,
            form,
            language=self.language,
            width=width,
            color=color,
            full=full,
            redact=form != "terminal" if redact is None else redact,
        )

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read back what `render("analysis")` has written; neither log nor rules are needed.

        Raises:
            InputError: it is no such JSON.
        """
        from postmortem.report.lossless import from_json  # noqa: PLC0415 -- as every other form

        return cls(from_json(text))

    def to_dict(self, *, redact: bool = True) -> dict[str, Any]:
        """Give the JSON report (schema postmortem.report/1) as plain values."""
        return to_wire(self.diagnosis, Redactor() if redact else None)


def _require_language(language: str) -> None:
    if language not in LANGUAGES:
        raise UsageError(f"unknown language {language!r}", "", f"one of {', '.join(LANGUAGES)}")
