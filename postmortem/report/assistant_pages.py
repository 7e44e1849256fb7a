"""Answers to a coding assistant other than a verdict: a comparison, an excerpt.

In: a comparison, an excerpt. Out: `AssistantAnswer`. Not here: a verdict
(`report.assistant_answer`).
"""

from typing import Any

from postmortem.core.comparison import Comparison
from postmortem.core.diagnosis import Analysis
from postmortem.core.message import Message
from postmortem.report import parts
from postmortem.report.assistant_answer import AssistantAnswer
from postmortem.report.one_language import translate_analysis as in_one
from postmortem.report.plain import format_percent
from postmortem.report.side_by_side import render
from postmortem.report.words import Words
from postmortem.report.words.assistant_words import ASSISTANT


def build_comparison_answer(
    found: Comparison[Message], language: str, *, redact: bool = True
) -> AssistantAnswer:
    """Tell what differs between two runs."""
    words = Words(language)
    phrases, colon = ASSISTANT[words.language], words("colon")
    counts = {
        "settings": len(found.settings),
        "environment": len(found.environment),
        "curves": len(found.curves),
        "only_bad": len(found.only_bad),
    }
    own = [
        f"{phrases[name]}{colon}{_run(analysis, words)}"
        for name, analysis in (("good", found.good), ("bad", found.bad))
    ]
    own.append(phrases["compared"].format(**counts))
    quoted = render(found, "terminal", language=language, redact=redact)
    runs = {"good": _build_verdict_values(found.good), "bad": _build_verdict_values(found.bad)}
    return AssistantAnswer("\n".join(own), quoted, {**runs, **counts})


def _run(analysis: Analysis, words: Words) -> str:
    shown = in_one(analysis, words.language)
    outcome, cause = parts.format_outcome(shown, shown.outcome, words), shown.verdict.cause
    named = (
        ASSISTANT[words.language]["no-cause"]
        if cause is None
        else f"{cause} ({format_percent(shown.verdict.probability)})"
    )
    return f"{outcome} · {named}"


def _build_verdict_values(analysis: Analysis) -> dict[str, Any]:
    verdict = analysis.verdict
    return {
        "cause": verdict.cause,
        "probability": verdict.probability,
        "status": verdict.status,
        "outcome": analysis.outcome,
    }


def build_excerpt_answer(
    text: str, language: str, *, lines: int, of: int, is_same: bool
) -> AssistantAnswer:
    """Tell of an excerpt, whose text holds the verdict and the lines."""
    phrases = ASSISTANT[Words(language).language]
    counts = {"lines": lines, "of": of}
    own = phrases["share-same" if is_same else "share-other"].format(**counts)
    return AssistantAnswer(own, text, {**counts, "is_same": is_same})
