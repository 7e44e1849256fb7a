"""The library: `postmortem.analyze(...)` and the `Report` it gives.

The command line is a thin shell over it.

In: paths. Out: `Report`. Not here: anything that the rooms below can do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from postmortem import pipeline, report
from postmortem.errors import UsageError
from postmortem.model.diagnosis import Cause, Diagnosis, Verdict
from postmortem.names import LANGUAGES
from postmortem.reading.sources import LogSource
from postmortem.redaction.redactor import Redactor
from postmortem.report.wire import to_wire


@dataclass(frozen=True, slots=True)
class Report:
    """What was found out about one job; `diagnosis` holds everything, typed."""

    diagnosis: Diagnosis
    job: pipeline.Job = field(repr=False, compare=False)
    """What was read; keeps what was found in the log, and the bytes of a log that was given as such."""

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
        """True if the run failed or stalled, or the verdict is neither healthy nor an abstention."""
        cause = self.verdict.cause
        return self.diagnosis.outcome in {"failed", "stalled"} or (
            cause is not None and not cause.startswith("healthy.")
        )

    def in_language(self, language: str) -> "Report":
        """Give the same findings with all texts in `en` or `zh`; nothing is read again.

        Raises:
            UsageError: an unknown language.
        """
        _require_language(language)
        return (
            self
            if language == self.diagnosis.language
            else replace(
                self, diagnosis=pipeline.diagnose(self.job, language, self.diagnosis.excerpt)
            )
        )

    def render(
        self,
        form: str = "terminal",
        *,
        width: int = 80,
        color: bool = False,
        full: bool = False,
        redact: bool | None = None,
    ) -> str:
        """Render the report; the page (`html`) holds every language and opens in this one, and for the lines it quotes the log may be read again.

        Args:
            form: one of `postmortem.report.FORMS`.
            width: columns of the terminal report.
            color: colours in the terminal report.
            full: the whole terminal report; by default it fits a screen of 24 lines.
            redact: replace secrets; by default everywhere but in the terminal report.

        Raises:
            UsageError: unknown form.
        """
        if form not in report.FORMS:
            raise UsageError(f"unknown format {form!r}", "", f"one of {', '.join(report.FORMS)}")
        is_hiding = form != "terminal" if redact is None else redact
        others = (
            [
                self.in_language(language).diagnosis
                for language in LANGUAGES
                if language != self.diagnosis.language
            ]
            if form == "html"
            else []
        )
        return report.render(
            self.diagnosis,
            form,
            width=width,
            color=color,
            full=full,
            redact=is_hiding,
            translations=others,
        )

    def to_dict(self, *, redact: bool = True) -> dict[str, Any]:
        """Give the JSON report (schema postmortem.report/1) as plain values."""
        return to_wire(self.diagnosis, Redactor() if redact else None)


def analyze(
    paths: LogSource | Sequence[LogSource],
    *,
    env: Sequence[LogSource] = (),
    language: str = "en",
    patterns: Sequence[str | Path] = (),
    facts: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Name the cause of a failed (or doubtful) training run.

    Args:
        paths: log files, folders, or `-` for standard input; the bytes of a log, a binary stream,
            or either with a name (`postmortem.Stream`); all together are one job.
        env: environment dumps that are not in the log.
        language: `en` or `zh`.
        patterns: further folders of rules, of the shape that patterns/README.md describes.
        facts: what the caller knows besides: `env_exit_status`, `env_signal`, `package_torch`,
            `setting_learning_rate` and so on.
        progress: called with a source's path, its bytes and its lines read so far, now and then.

    Raises:
        InputError: nothing could be read.
        PatternError: a pattern folder is missing or invalid.
        UsageError: no path, or an unknown language.

    >>> import postmortem
    >>> postmortem.analyze("sample_logs/deepspeed/scale-exhausted-yi.log").verdict.cause
    'numerics.loss-scale-exhausted'
    """
    _require_language(language)
    if isinstance(paths, (list, tuple)) and not paths:
        raise UsageError("no log was named", "", "postmortem analyze run.log")
    job = pipeline.read(
        paths, env_files=env, patterns=patterns, facts=facts or {}, progress=progress
    )
    return Report(pipeline.diagnose(job, language), job)


def _require_language(language: str) -> None:
    if language not in LANGUAGES:
        raise UsageError(f"unknown language {language!r}", "", f"one of {', '.join(LANGUAGES)}")
