"""Annotations of a GitHub workflow.

The verdict on the line of the first failure, and the next two candidates.

In: a `Diagnosis`. Out: workflow commands, one a line, and nothing that the log could turn into
another command. Not here: comments (`report.markdown`). Source: docs.github.com, "Workflow commands
for GitHub Actions"; the escapes are those of actions/toolkit.
"""

from typing import Final

from postmortem.model.diagnosis import Cause, Diagnosis
from postmortem.redaction.redactor import Redactor
from postmortem.report import parts
from postmortem.report.plain import one_line, percent
from postmortem.report.presentable import presentable
from postmortem.report.redacted import redact as hide
from postmortem.report.words import Words

_SHOWN: Final = 3
_LONGEST: Final = 1500


def render_github(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write at most three annotations.

    Error for a failed run's verdict, notice for a healthy one's, warning for what is only possible.
    """
    shown = presentable(diagnosis)
    shown = hide(shown, Redactor()) if redact else shown
    words = Words(shown.language)
    verdict = shown.verdict
    if verdict.cause is None:
        need = words("semicolon").join(one.what for one in verdict.need)
        lines = [
            _command(
                "warning",
                parts.title(shown, words),
                " ".join(part for part in (verdict.summary, need) if part),
                _failure(shown),
            )
        ]
        candidates = shown.causes[: _SHOWN - 1]
    else:
        main = parts.main_cause(shown)
        fix = main.fixes[0].title if main is not None and main.fixes else ""
        level = "notice" if verdict.cause.startswith("healthy.") else "error"
        lines = [
            _command(
                level,
                f"{parts.title(shown, words)} ({verdict.cause}, {percent(verdict.probability)})",
                " ".join(part for part in (verdict.summary, fix) if part),
                _failure(shown),
            )
        ]
        candidates = parts.other_causes(shown)[: _SHOWN - 1] if level == "error" else ()
    lines += [
        _command(
            "warning" if verdict.cause is None else "notice",
            f"{one.title} ({one.id}, {percent(one.probability)})",
            _why(one, words),
            _first_line(shown, one),
        )
        for one in candidates
    ]
    return "\n".join(lines) + "\n"


def _command(level: str, title: str, message: str, place: tuple[str, int] | None) -> str:
    properties = (
        {"title": one_line(title, 200)}
        if place is None
        else {"file": one_line(place[0], 400), "line": str(place[1]), "title": one_line(title, 200)}
    )
    return (
        f"::{level}"
        f" {','.join(f'{name}={_property(value)}' for name, value in properties.items())}::{_data(one_line(message, _LONGEST))}"
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _failure(diagnosis: Diagnosis) -> tuple[str, int] | None:
    first = diagnosis.first_failure
    return None if first is None else (diagnosis.sources[first.source].path, first.line)


def _first_line(diagnosis: Diagnosis, cause: Cause) -> tuple[str, int] | None:
    return next(
        (
            (diagnosis.sources[item.source].path, item.line)
            for item in cause.evidence
            if item.source is not None and item.line is not None
        ),
        None,
    )


def _why(cause: Cause, words: Words) -> str:
    return words("semicolon").join(item.text for item in cause.evidence[:2]) or cause.title
