"""The text of an issue, or of a question to a language model: the verdict and its log lines.

In: an `Analysis`, lines by source. Out: Markdown, in one language, redacted. Not here: choosing the
lines (`share`), the text of the question (`report.model_question`).
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.diagnosis import Analysis, Diagnosis
from postmortem.core.shown import Excerpt
from postmortem.report import about_run, parts
from postmortem.report.markdown_text import escape_prose, format_code_block
from postmortem.report.model_question import render_question
from postmortem.report.one_language import translate_analysis
from postmortem.report.plain import format_percent, shorten_source_path
from postmortem.report.redacted import redact as hide
from postmortem.report.redacted import redact_excerpt
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import Words

GAP: Final = "[...]"
_LONGEST: Final = 30_000
"""Characters of the lines of a source: a whole traceback goes in."""
_Head = Callable[[Diagnosis, Words, Redactor | None], Iterator[str]]


class IssueText:
    """Writes the text for lines of one job, as often as is asked."""

    def __init__(self, analysis: Analysis, language: str = "en", *, redact: bool = True) -> None:
        """Take what the text is about."""
        self._shown, self._words = translate_analysis(analysis, language), Words(language)
        self._redactor = Redactor() if redact else None
        if self._redactor is not None:
            hide(self._shown, self._redactor)  # learns the names that stand anywhere in the report

    def of(self, bodies: Mapping[int, Sequence[Excerpt]]) -> str:
        """Write verdict and excerpts, these by the source that they are from."""
        return self._written(bodies, _render_head)

    def asking(self, bodies: Mapping[int, Sequence[Excerpt]]) -> str:
        """Write the question for a language model above the excerpts."""
        return self._written(bodies, render_question)

    def _written(self, bodies: Mapping[int, Sequence[Excerpt]], above: _Head) -> str:
        redactor = copy.deepcopy(self._redactor)  # numbers its pseudonyms by this text
        names = {source: shorten_source_path(self._shown, source, self._words) for source in bodies}
        if redactor is not None:
            for body in bodies.values():
                _join_excerpts(body, redactor)
            redactor.settle()
        blocks = [*above(self._shown, self._words, redactor)]
        for source, body in bodies.items():
            name = names[source]
            lines = _join_excerpts(body, redactor)
            blocks += [
                escape_prose(name if redactor is None else redactor.text(name)),
                format_code_block("\n".join(lines), "text", longest=_LONGEST),
            ]
        return "\n\n".join(blocks) + "\n"


def _join_excerpts(body: Sequence[Excerpt], redactor: Redactor | None) -> list[str]:
    """Give the lines of the excerpts of a source, with a mark for each gap."""
    lines: list[str] = []
    for one in body:
        if lines or one.first_line > 1:
            lines.append(GAP)
        lines += one.lines if redactor is None else redact_excerpt(one, redactor)
    return lines


def _render_head(diagnosis: Diagnosis, words: Words, redactor: Redactor | None) -> Iterator[str]:
    """Yield the verdict and what it rests on; a version may look like an address."""
    verdict = diagnosis.verdict
    named = (
        f" ({verdict.cause}, {format_percent(verdict.probability)})"
        if verdict.cause is not None
        else ""
    )
    yield f"### {escape_prose(parts.format_title(diagnosis, words) + named)}"
    lines = [
        parts.format_confidence(diagnosis, words),
        about_run.format_frameworks(diagnosis),
        about_run.format_environment_line(diagnosis, words),
    ]
    yield "  \n".join(
        escape_prose(redactor.text(part, addresses=False) if redactor is not None else part)
        for part in lines
        if part
    )
