"""Two runs side by side as text, as a comment, as JSON, as a page.

In: a `Comparison`. Out: text. Not here: finding what differs (`compare`), the page itself
(`page.two_runs_page`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.core.diagnosis import Comparison, Diagnosis, Differing, Wording
from postmortem.core.log_text import format_one_line
from postmortem.core.message import Message
from postmortem.report.comparison import (
    COMPARISON,
    build_redactor,
    describe_divergence,
    describe_run,
    redact_comparison,
    translate_comparison,
)
from postmortem.report.markdown_text import escape_prose, format_code_block
from postmortem.report.wire import convert_to_json_value, dump_json
from postmortem.report.words import Words

FORMS: Final = ("terminal", "markdown", "json", "html")
SCHEMA: Final = "postmortem.comparison/1"
_Section = tuple[str, list[str]]
"""A title and its lines."""
_SHOWN: Final = 30
_WIDTH: Final = 200


def render(
    compared: Comparison[Message],
    form: str = "terminal",
    *,
    language: str = "en",
    redact: bool = True,
) -> str:
    """Render a comparison in one of `FORMS`; the page holds every language, this one first."""
    if form == "html":
        from postmortem.report.page.two_runs_page import render_comparison  # noqa: PLC0415 -- Jinja

        return render_comparison(compared, language=language, redact=redact)
    found = translate_comparison(compared, language)
    hide: Callable[[str], str] = str
    if redact:
        redactor = build_redactor(found)
        hide = redactor.text
        found = redact_comparison(found, redactor)
    if form == "json":
        return dump_json(convert_to_json_value(_build_json(found, hide)))
    say = COMPARISON[found.bad.language if found.bad.language in COMPARISON else "en"]
    write = _render_markdown if form == "markdown" else _render_terminal
    return "\n\n".join(write(say["title"], _iter_sections(found, say, hide))) + "\n"


def _render_markdown(heading: str, sections: Iterable[_Section]) -> Iterator[str]:
    """Yield the paragraphs of a comment."""
    yield f"### {escape_prose(heading)}"
    for title, body in sections:
        yield f"**{escape_prose(title)}**\n\n{format_code_block(chr(10).join(body), 'text')}"


def _render_terminal(heading: str, sections: Iterable[_Section]) -> Iterator[str]:
    """Yield the paragraphs of plain text."""
    yield heading
    for title, body in sections:
        yield "\n".join([title, *(f"  {line}" for line in body)])


def _iter_sections(
    found: Comparison, say: Mapping[str, str], hide: Callable[[str], str]
) -> Iterator[_Section]:
    """Yield the sections of the text."""
    words = Words(found.bad.language)
    for name, run in (("good", found.good), ("bad", found.bad)):
        yield say[name], [format_one_line(hide(describe_run(run, words)), _WIDTH)]
    for title, differing in (("settings", found.settings), ("environment", found.environment)):
        told = [
            f"{format_one_line(name, 80)}{words('colon')}{_format_value(good, say, hide)}"
            f" → {_format_value(bad, say, hide)}"
            for name, good, bad in differing
        ]
        yield say[title], _truncate_lines(told, say)
    yield (
        say["curves"],
        _truncate_lines([describe_divergence(curve, say) for curve in found.curves], say),
    )
    for title, wordings in (("only_bad", found.only_bad), ("only_good", found.only_good)):
        lines = [
            f"{line:>7}  {format_one_line(text, _WIDTH)}" + (f"  ×{times}" if times > 1 else "")
            for text, _, line, times in wordings
        ]
        yield say[title], _truncate_lines(lines, say)


def _format_value(value: str | None, say: Mapping[str, str], hide: Callable[[str], str]) -> str:
    return say["unsaid"] if value is None else format_one_line(hide(value), 80)


def _truncate_lines(lines: list[str], say: Mapping[str, str]) -> list[str]:
    over = len(lines) - _SHOWN
    return ([*lines[:_SHOWN], say["more"].format(count=over)] if over > 0 else lines) or [
        say["none"]
    ]


def _build_json(found: Comparison, hide: Callable[[str], str]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "good": _build_run_json(found.good, hide),
        "bad": _build_run_json(found.bad, hide),
        "settings": _build_differences_json(found.settings, hide),
        "environment": _build_differences_json(found.environment, hide),
        "curves": [
            {
                "name": name,
                "common_steps": count,
                "first_divergence": step,
                "good": good,
                "bad": bad,
                "good_line": mine,
                "bad_line": its,
            }
            for name, count, step, good, bad, mine, its in found.curves
        ],
        "only_bad": _build_lines_json(found.only_bad, hide),
        "only_good": _build_lines_json(found.only_good, hide),
    }


def _build_run_json(run: Diagnosis, hide: Callable[[str], str]) -> dict[str, Any]:
    return {
        "sources": [hide(source.path) for source in run.sources],
        "outcome": run.outcome,
        "cause": run.verdict.cause,
        "probability": run.verdict.probability,
    }


def _build_differences_json(
    facts: Sequence[Differing], hide: Callable[[str], str]
) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "good": None if good is None else hide(good),
            "bad": None if bad is None else hide(bad),
        }
        for name, good, bad in facts
    ]


def _build_lines_json(
    wordings: Sequence[Wording], hide: Callable[[str], str]
) -> list[dict[str, Any]]:
    return [
        {"text": text, "source": hide(source), "line": line, "count": times}
        for text, source, line, times in wordings
    ]
