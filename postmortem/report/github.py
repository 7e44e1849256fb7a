"""Annotations of a GitHub workflow.

The verdict on the line of the first failure, and the next two candidates.

In: a `Diagnosis`. Out: workflow commands, one a line, and nothing that the log could turn into
another command. Not here: comments (`report.markdown`). Source: docs.github.com, "Workflow commands
for GitHub Actions"; the escapes are those of actions/toolkit.
"""

from typing import Final

from postmortem.core.answer import Cause
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.report import parts
from postmortem.report.display import format_percent
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import Words
from postmortem.rules.vocabulary import Trait, has_trait

_IS_FILE: Final = compile_lazily(r"^[^<\n]*\.pyw?$")
_CHECKOUT: Final = compile_lazily(
    r"^(?:/home/[^/]+/work|/Users/[^/]+/work|/__w|[A-Z]:\\a)[/\\](?P<repository>[^/\\]+)[/\\](?P=repository)[/\\]"
    r"|^/github/workspace/"
)
"""Where runners of GitHub check a repository out: below it paths are the repository's."""
_SHOWN: Final = 3
_LONGEST: Final = 1500


def render_github(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write at most three annotations.

    Error for a failed run's verdict, notice for a healthy one's, warning for what is only possible.
    """
    shown = prepare_redacted(diagnosis, Redactor() if redact else None)
    words = Words(shown.language)
    candidates = (_format_candidate(shown, cause, words) for cause in _list_other_candidates(shown))
    return "\n".join([_format_verdict(shown, words), *candidates]) + "\n"


def _format_verdict(diagnosis: Diagnosis, words: Words) -> str:
    """Annotate the first failure: with the cause and its first fix, or with what would decide."""
    verdict, title = diagnosis.verdict, parts.format_title(diagnosis, words)
    if verdict.cause is None:
        behind = words("semicolon").join(need.what for need in verdict.need)
    else:
        title = f"{title} ({verdict.cause}, {format_percent(verdict.probability)})"
        main = parts.get_main_cause(diagnosis)
        behind = main.fixes[0].title if main is not None and main.fixes else ""
    sentence = " ".join(part for part in (verdict.summary, behind) if part)
    place, own = _find_failure_location(diagnosis), _own_place(diagnosis)
    if own is not None and place is not None:
        sentence = f"{sentence} {parts.describe_first_failure(diagnosis, words)}"
    return _format_workflow_command(_select_level(diagnosis), title, sentence, own or place)


def _select_level(diagnosis: Diagnosis) -> str:
    cause = diagnosis.verdict.cause
    if cause is None:
        return "warning"
    return "notice" if has_trait(cause, Trait.SOUND) else "error"


def _list_other_candidates(diagnosis: Diagnosis) -> tuple[Cause, ...]:
    """Give the candidates annotated after the verdict; none for a healthy run."""
    if diagnosis.verdict.cause is None:
        return diagnosis.causes[: _SHOWN - 1]
    return (
        parts.list_other_causes(diagnosis)[: _SHOWN - 1]
        if _select_level(diagnosis) == "error"
        else ()
    )


def _format_candidate(diagnosis: Diagnosis, cause: Cause, words: Words) -> str:
    return _format_workflow_command(
        "warning" if diagnosis.verdict.cause is None else "notice",
        f"{cause.title} ({cause.id}, {format_percent(cause.probability)})",
        words("semicolon").join(item.text for item in cause.evidence[:2]) or cause.title,
        _find_evidence_location(diagnosis, cause),
    )


def _format_workflow_command(
    level: str, title: str, message: str, place: tuple[str, int] | None
) -> str:
    properties = {"title": format_one_line(title, 200)}
    if place is not None:
        properties = {"file": format_one_line(place[0], 400), "line": str(place[1]), **properties}
    listed = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_escape_data(format_one_line(message, _LONGEST))}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _find_failure_location(diagnosis: Diagnosis) -> tuple[str, int] | None:
    first = diagnosis.first_failure
    return None if first is None else (diagnosis.sources[first.source].path, first.line)


def _own_place(diagnosis: Diagnosis) -> tuple[str, int] | None:
    """Give the user's own line that failed, as the repository names it if a runner shows it."""
    first = diagnosis.first_failure
    frame = None if first is None else first.frame
    if frame is None or frame.line < 1 or not _IS_FILE.search(frame.file):
        return None
    return _CHECKOUT.sub("", frame.file), frame.line


def _find_evidence_location(diagnosis: Diagnosis, cause: Cause) -> tuple[str, int] | None:
    return next(
        (
            (diagnosis.sources[item.source].path, item.line)
            for item in cause.evidence
            if item.source is not None and item.line is not None
        ),
        None,
    )
